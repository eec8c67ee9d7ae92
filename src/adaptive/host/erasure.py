"""Erasing what is held of a user: everything, or what came from one chat, one time or one source.

One loop over memories, tables and past conversation. Whatever fails, the rest is erased all the
same and the report tells. What is gone already is no error, so that an erasure can be repeated.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from sqlalchemy import (
    ColumnElement,
    delete,
    select,
    true,
    tuple_,
    update,
)

from adaptive.core.model import Memory, frozen
from adaptive.core.queued_turns import LEASE_PROOF_SECONDS
from adaptive.host.application import account, isolated_request
from adaptive.host.database import portions
from adaptive.host.hook import HostHook
from adaptive.host.memories import STALE_VECTORS, HostMemoryStore
from adaptive.host.pending_table import learned_values
from adaptive.host.schema import ENTRIES, PENDING, VECTORS
from adaptive.host.tables import HostTables
from adaptive.memory.audit import ChangeKey
from adaptive.memory.erasure import (
    ErasureReport,
    Origin,
    bereft_originals,
    origin_ids,
)
from adaptive.settings.hook import Hook

_MEMORIES_AT_ONCE = 100
# Who works on what, and what the memory was told to do, is erased without being counted.
_UNCOUNTED = ("lease", "command")
# They tell where memories came from, so what they hold of one that could not be erased stays.
_TELLING = ("archive", "audit")

Forget = Callable[[str], object]


class HeldHistory(Protocol):
    """Counts, or erases, what is indexed of a user's chats, or of one; may raise ``HostError``."""

    async def held(self, user_id: str, chat_id: str = "") -> int:
        """How many chats are indexed."""
        ...

    async def erase(self, user_id: str, chat_id: str = "") -> int:
        """Remove them; how many there were."""
        ...


@frozen
class HostEraser:
    """An ``Eraser`` of all that is held of one user; raises nothing of ours.

    Each of ``caches`` forgets a user within this process, while other workers' look at the tables;
    what ``waits`` in this process only is forgotten with everything else.
    """

    memories: HostMemoryStore
    user_id: str
    tables: HostTables
    history: HeldHistory
    caches: Sequence[Forget] = ()
    waits: Sequence[Forget] = ()

    async def find(self, origin: Origin | None) -> ErasureReport:
        """What ``erase`` would remove."""
        report = ErasureReport()
        await self._sweep(origin, report, erasing=False)
        return report

    async def erase(self, origin: Origin | None) -> ErasureReport:
        """Remove all that is held of the user, or what came from an origin and was made of it.

        A memory goes when its meta or the audit names the origin, be it for a former content; so
        does a summary of one that goes. For everything it is looked twice: a write may have begun.
        """
        report = ErasureReport()
        for _ in range(1 if origin else 2):
            report.failed.clear()
            # What is being prepared behind the turns is not kept then.
            self._forget(origin)
            await self._sweep(origin, report, erasing=True)
        self._forget(origin)
        return report

    def _forget(self, origin: Origin | None) -> None:
        for forget in self.caches if origin else (*self.caches, *self.waits):
            forget(self.user_id)

    async def _sweep(
        self, origin: Origin | None, report: ErasureReport, *, erasing: bool
    ) -> None:
        """Count or erase what there is of an origin, or of everything."""
        # Turns first, so that nobody learns from them meanwhile.
        turns = self._sweep_turns(origin, erasing=erasing)
        report.counts["pending"] += await report.tried(turns, 0)
        entries = await report.tried(self._entries(), ())
        archived = await report.tried(
            self.tables.archive.read(self.user_id), ()
        )
        stored = await report.tried(self.memories.read(), ())
        ids = origin_ids(
            stored, archived, origin, _learned_ids(entries, origin)
        )
        report.memories = tuple(
            memory for memory in stored if memory.id in ids
        )
        gone = report.memories
        if erasing:
            gone = await self._erase_memories(
                report, everything=origin is None
            )
            report.bereft = bereft_originals(archived, gone, ids)
        report.counts["memory"] += len(gone)
        gone_ids = {memory.id for memory in gone}
        is_incomplete = origin is not None and bool(report.failed)
        going: list[Any] = []
        for entry in entries:
            memory_id = _memory_id(entry)
            is_named = memory_id in ids or _came_from(entry, origin)
            # What helps to find again what could not be erased stays.
            is_needed = is_incomplete and entry.kind in _TELLING
            if memory_id in gone_ids or (is_named and not is_needed):
                going.append(entry)
        if erasing:
            vectors = (
                true() if origin is None else VECTORS.c.memory_id.in_(ids)
            )
            going = await report.tried(self._erase_notes(going, vectors), [])
        report.counts.update(
            entry.kind for entry in going if entry.kind not in _UNCOUNTED
        )
        chat_id = origin.chat_id if origin else ""
        if origin is None or chat_id:
            sweep = self.history.erase if erasing else self.history.held
            chats = sweep(self.user_id, chat_id)
            report.counts["history"] += await report.tried(chats, 0)

    async def _sweep_turns(
        self, origin: Origin | None, *, erasing: bool
    ) -> int:
        """Count or erase turns; how many there were.

        Of an origin they are emptied, and nobody learns from them: their rows stay for their month,
        since an answer made anew to such a message would be learned from otherwise.
        """
        database = self.tables.database
        row = PENDING.c
        query = select(
            row.message_id,
            row.chat_id,
            row.lease_until,
            row.state.label("kind"),
            row.queued_at.label("created_at"),
        ).where(row.user_id == self.user_id)
        turns = [
            turn
            for turn in await database.rows("looking for turns", query)
            if origin is None
            or (turn.kind == "waiting" and _came_from(turn, origin))
        ]
        if erasing and turns:
            erasure: Any = delete(PENDING)
            if origin is not None:
                erasure = update(PENDING).values(learned_values(time.time()))
            these = erasure.where(
                row.user_id == self.user_id,
                row.message_id.in_([turn.message_id for turn in turns]),
            )
            await database.change("erasing turns", these)
            # A worker that has them in its hands surely writes no more then.
            if max(turn.lease_until for turn in turns) >= time.time():
                await asyncio.sleep(LEASE_PROOF_SECONDS)
        return len(turns)

    async def _entries(self) -> Sequence[Any]:
        """The user's entries without their texts, but for the note for the day's sweep."""
        columns = (column for column in ENTRIES.c if column.name != "body")
        query = select(*columns).where(
            ENTRIES.c.user_id == self.user_id,
            ENTRIES.c.kind != STALE_VECTORS,
        )
        return await self.tables.database.rows("looking for entries", query)

    async def _erase_notes(
        self, entries: list[Any], vectors: ColumnElement[bool]
    ) -> list[Any]:
        """Delete entries and vectors, all or none; the entries."""
        names = tuple_(ENTRIES.c.kind, ENTRIES.c.key)
        keys = [(entry.kind, entry.key) for entry in entries]
        mine = ENTRIES.c.user_id == self.user_id
        await self.tables.database.change(
            "erasing what is noted of memories",
            delete(VECTORS).where(VECTORS.c.user_id == self.user_id, vectors),
            *(
                delete(ENTRIES).where(mine, names.in_(some))
                for some in portions(keys)
            ),
        )
        return entries

    async def _erase_memories(
        self, report: ErasureReport, *, everything: bool
    ) -> tuple[Memory, ...]:
        """Erase the rows that were found, or all with whatever vectors there are; what went."""
        if everything:
            await report.tried(self.memories.delete_all(), None)
        else:
            for memories in portions(report.memories, _MEMORIES_AT_ONCE):
                await report.tried(self.memories.write(gone=memories), [])
        left = await report.tried(self.memories.read(), report.memories)
        left_ids = {memory.id for memory in left}
        return tuple(
            memory for memory in report.memories if memory.id not in left_ids
        )


def _memory_id(entry: Any) -> str:
    """The id of the memory that an entry is about, if any: most have it for their key."""
    return (
        ChangeKey.read(entry.key).memory_id
        if entry.kind == "audit"
        else entry.key
    )


def _came_from(entry: Any, origin: Origin | None) -> bool:
    """Whether an entry was made of what was said there, or anywhere; of a source none tells."""
    if origin is None:
        return True
    if origin.period is None:
        return bool(origin.chat_id) and entry.chat_id == origin.chat_id
    since, until = origin.period
    # Later ones repeat what was said on that day.
    if entry.kind == "chat_notes":
        return entry.created_at >= since
    # What upkeep does has no message.
    return bool(entry.message_id) and since <= entry.created_at < until


def _learned_ids(entries: Sequence[Any], origin: Origin | None) -> set[str]:
    """Ids of the memories that were learned from an origin, as the keys of the audit tell."""
    changes = [
        ChangeKey.read(entry.key)
        for entry in entries
        if entry.kind == "audit" and _came_from(entry, origin)
    ]
    return {
        change.memory_id
        for change in changes
        if change.kind in ("saved", "updated")
    }


async def host_eraser(
    tables: HostTables,
    history: HeldHistory,
    caches: Sequence[Forget],
    waits: Sequence[Forget],
    hook: Hook,
) -> HostEraser:
    """What erases of a hook's user; ``HostError`` where the host does not know the user."""
    host = cast(HostHook, hook)  # this room has made it
    return HostEraser(
        memories=HostMemoryStore(
            isolated_request(host.request), await account(host.user)
        ),
        user_id=hook.user_id,
        tables=tables,
        history=history,
        caches=caches,
        waits=waits,
    )
