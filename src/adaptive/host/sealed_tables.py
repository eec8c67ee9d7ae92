"""Our tables with every text in them sealed; ids, times and counts stay as they are."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from adaptive.errors import TablesUnavailable
from adaptive.model import Memory
from adaptive.privacy.sealing import Sealer, is_sealed
from adaptive.shapes import listing, mapping
from adaptive.table_ports import (
    ArchivedMemory,
    ArchiveTable,
    AuditEntry,
    AuditTable,
    PendingTable,
    PendingTurn,
    RetainedChats,
    TurnLease,
    WaitingTurns,
)

log_sealed = logging.getLogger("adaptive_memory.host")

_PAYLOAD, _JOURNAL = "pending.payload", "pending.journal"
_CHANGE, _ARCHIVED_TEXTS, _CHAT_STATE = "audit", "archive", "chat"
# Stands in a column of its own, so that no damage of the sealed text makes it look unsealed.
_SEALED_ROW = "sealed"


class SealedPendingTable:
    """A ``PendingTable`` whose payloads and journals are sealed.

    A turn whose payload can't be opened is marked as done when it is taken, so that it keeps no
    other one waiting; a journal that can't be opened is absent, and the model is asked again.
    """

    def __init__(self, table: PendingTable, sealer: Sealer) -> None:
        self._table, self._sealer = table, sealer

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait, sealed."""
        payload = self._sealed(turn.user_id, _PAYLOAD, turn.payload)
        journal = self._sealed(turn.user_id, _JOURNAL, turn.journal)
        await self._table.put(replace(turn, payload=payload, journal=journal))

    async def waiting(self, user_id: str, since: float) -> WaitingTurns:
        """What waits of a user, without payload and journal."""
        return await self._table.waiting(user_id, since)

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[PendingTurn, ...] | None:
        """Take a lease and open its turns; ``None`` where one of them can't be opened.

        That one is done then, and the lease has ended, to be taken without it.
        """
        taken = await self._table.take(lease, now, until)
        if taken is None:
            return None
        opened = [self._opened(turn) for turn in taken]
        whole = tuple(turn for turn in opened if turn is not None)
        if len(whole) == len(taken):
            return whole
        lost = [old.message_id for old, new in zip(taken, opened, strict=True) if new is None]
        if await self._table.finish(replace(lease, message_ids=tuple(lost)), 0, now):
            log_sealed.error(
                "turns that are lost to learning, sealed with another secret or damaged: %d",
                len(lost),
            )
        return None

    async def renew(
        self, lease: TurnLease, until: float, journal: str | None = None, calls: int = 0
    ) -> bool:
        """Prolong a lease, and keep the journal of its turns, sealed."""
        if journal is not None:
            journal = self._sealed(lease.user_id, _JOURNAL, journal)
        return await self._table.renew(lease, until, journal, calls)

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Mark the turns as learned."""
        return await self._table.finish(lease, calls, now)

    async def give_back(self, lease: TurnLease, due_at: float, *, failed: bool, calls: int) -> bool:
        """End a lease, the work undone."""
        return await self._table.give_back(lease, due_at, failed=failed, calls=calls)

    def _sealed(self, user_id: str, purpose: str, text: str) -> str:
        return self._sealer.seal(user_id, purpose, text) if text else ""

    def _opened(self, turn: PendingTurn) -> PendingTurn | None:
        payload, journal = turn.payload, turn.journal
        if payload:
            text = self._sealer.open(turn.user_id, _PAYLOAD, payload)
            if text is None:
                return None
            payload = text
        if journal:
            journal = self._sealer.open(turn.user_id, _JOURNAL, journal) or ""
        return replace(turn, payload=payload, journal=journal)


class SealedAuditTable:
    """An ``AuditTable`` whose contents and reasons are sealed, together, in ``before``.

    A change that can't be opened still tells its kind, its time and its ids.
    """

    def __init__(self, table: AuditTable, sealer: Sealer) -> None:
        self._table, self._sealer = table, sealer

    async def append(self, user_id: str, entries: Sequence[AuditEntry], now: int) -> None:
        """Add changes in the order they were made, sealed."""
        sealed = [self._sealed(user_id, entry) for entry in entries]
        await self._table.append(user_id, sealed, now)

    async def changes(self, user_id: str, since: int, limit: int) -> tuple[AuditEntry, ...]:
        """A user's changes at or after an epoch second, the newest first."""
        entries = await self._table.changes(user_id, since, limit)
        return tuple(self._opened(user_id, entry) for entry in entries)

    def _sealed(self, user_id: str, entry: AuditEntry) -> AuditEntry:
        texts = json.dumps([entry.before, entry.after, entry.reason])
        sealed = self._sealer.seal(user_id, _CHANGE, texts)
        return replace(entry, before=sealed, after="", reason=_SEALED_ROW)

    def _opened(self, user_id: str, entry: AuditEntry) -> AuditEntry:
        if entry.reason != _SEALED_ROW and not is_sealed(entry.before):
            return entry  # as it was written before texts were sealed
        match listing(_json(self._sealer.open(user_id, _CHANGE, entry.before))):
            case [str(before), str(after), str(reason)]:
                return replace(entry, before=before, after=after, reason=reason)
            case _:
                return replace(entry, before="", after="", reason="")


class SealedArchiveTable:
    """An ``ArchiveTable`` whose memories are sealed whole but for their ids and times.

    One that can't be opened is absent: it can't be restored, and its row is never deleted from the
    store on its account, since that is read back first.
    """

    def __init__(self, table: ArchiveTable, sealer: Sealer) -> None:
        self._table, self._sealer = table, sealer

    async def put(self, user_id: str, archived: Sequence[ArchivedMemory]) -> None:
        """Store all or none, sealed.

        Raises:
            TablesUnavailable: the table refuses, or a row's meta can't be written down.
        """
        try:
            sealed = [self._sealed(user_id, one) for one in archived]
        except (TypeError, ValueError, RecursionError) as error:  # its text may quote the meta
            raise TablesUnavailable("archiving memories: one can't be written as JSON") from error
        await self._table.put(user_id, sealed)

    async def find(self, user_id: str, memory_ids: Sequence[str]) -> dict[str, ArchivedMemory]:
        """Those of the named memories that are archived, by memory id."""
        found = await self._table.find(user_id, memory_ids)
        return {one.memory.id: one for one in self._all_opened(user_id, found.values())}

    async def read(self, user_id: str) -> tuple[ArchivedMemory, ...]:
        """All of a user's archived memories, the last archived first."""
        return tuple(self._all_opened(user_id, await self._table.read(user_id)))

    async def restore(self, user_id: str, memory_id: str) -> ArchivedMemory | None:
        """The archived memory, to be written back; it stays until it is discarded."""
        archived = await self._table.restore(user_id, memory_id)
        return self._opened(user_id, archived) if archived else None

    async def discard(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """Drop memories from the archive."""
        await self._table.discard(user_id, memory_ids)

    def _all_opened(
        self, user_id: str, archived: Iterable[ArchivedMemory]
    ) -> Iterable[ArchivedMemory]:
        opened = (self._opened(user_id, one) for one in archived)
        return (one for one in opened if one is not None)

    def _sealed(self, user_id: str, archived: ArchivedMemory) -> ArchivedMemory:
        memory = archived.memory
        texts = {
            "content": memory.content,
            "tags": memory.tags,
            "bank": memory.bank,
            "confidence": memory.confidence,
            "importance": memory.importance,
            "meta": dict(memory.meta),
            "until": memory.until,
            "reason": archived.reason,
            "summary": archived.summary,
        }
        # What is no JSON comes back different, so the reading back tells that it is not archived.
        sealed = self._sealer.seal(user_id, _ARCHIVED_TEXTS, json.dumps(texts, default=str))
        row = Memory(memory.id, sealed, memory.created_at, memory.updated_at)
        return ArchivedMemory(row, _SEALED_ROW, archived.archived_at)

    def _opened(self, user_id: str, archived: ArchivedMemory) -> ArchivedMemory | None:
        row = archived.memory
        if archived.reason != _SEALED_ROW and not is_sealed(row.content):
            return archived  # as it was written before memories were sealed
        texts = mapping(_json(self._sealer.open(user_id, _ARCHIVED_TEXTS, row.content)))
        content = texts.get("content")
        if not isinstance(content, str):
            return None
        memory = Memory(
            row.id,
            content,
            row.created_at,
            row.updated_at,
            tuple(listing(texts.get("tags"))),
            texts.get("bank", ""),
            texts.get("confidence", 1.0),
            texts.get("importance", 5),
            mapping(texts.get("meta")),
            texts.get("until", ""),
        )
        return ArchivedMemory(
            memory, texts.get("reason", ""), archived.archived_at, texts.get("summary", "")
        )


class SealedChatTable:
    """A ``RetainedChats`` whose states are sealed; one that can't be opened is absent."""

    def __init__(self, table: RetainedChats, sealer: Sealer) -> None:
        self._table, self._sealer = table, sealer

    async def read(self, user_id: str, chat_id: str) -> str | None:
        """The state of a chat, ``None`` where there is none."""
        state = await self._table.read(user_id, chat_id)
        return self._sealer.open(user_id, _CHAT_STATE, state) if state else state

    async def write(self, user_id: str, chat_id: str, state: str, now: int) -> None:
        """Replace the state of a chat, sealed."""
        sealed = self._sealer.seal(user_id, _CHAT_STATE, state) if state else ""
        await self._table.write(user_id, chat_id, sealed, now)

    async def keep_newest(self, user_id: str, chats: int, since: int) -> int:
        """Drop a user's states but those of the newest chats (see ``RetainedChats``)."""
        return await self._table.keep_newest(user_id, chats, since)

    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """Drop a user's states of chats that the host has no more (see ``RetainedChats``)."""
        return await self._table.drop_deleted(user_id, current)


def _json(text: str | None) -> Any:
    """The value that an opened text holds; it was sealed by us, and is no proof of its shape."""
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
