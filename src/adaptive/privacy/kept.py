"""What is kept of each user beside the memories, kind by kind, in one table for all of it.

Any call may raise ``TablesUnavailable``. Times are epoch seconds.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Literal, Protocol, TypeVar

from pydantic import TypeAdapter

from adaptive.core.model import Draft, Memory, Provenance

_KEPT_DAY = 24 * 3600
# A user may ask in spring what happened in the spring before.
_YEAR_KEPT_SECONDS = 400 * _KEPT_DAY
_AUDIT_ENTRIES_KEPT = 10_000
# Who was not asked for a month would not know any more what it is about.
MOST_WAITING_SUGGESTIONS = 20
# Longer than a dialog stays open; whoever left one unanswered is not asked with every turn.
_ASKED_REST_SECONDS = 600

EntryKind = Literal["archive", "audit", "chat", "chat_notes", "command", "suggestion", "usage"]
_Learned = Literal["saved", "updated", "deleted", "ended", "flagged", "refused"]
ChangeKind = Literal[_Learned, "pruned", "summarised", "restored", "imported", "undone"]
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class ArchivedMemory:
    """A memory that was taken out of the store; ``summary`` is what stands for it now, if any."""

    memory: Memory
    reason: str
    archived_at: int
    summary: str = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change of a user's store: the row as it was, and the content that it has since.

    Without ``before`` the row is new, without ``after`` it is gone. ``archived`` is what went into
    the archive with it, or came out of it where there is no ``before``. Changes of one ``step`` are
    taken back together, and ``undoes`` is the ``key`` of the change that this one takes back. What
    is ``flagged`` or ``refused`` is no change: it names no memory, and says why alone.
    """

    kind: ChangeKind
    memory_id: str
    changed_at: int
    before: Memory | None = None
    after: str = ""
    reason: str = ""
    chat_id: str = ""
    message_id: str = ""
    archived: ArchivedMemory | None = None
    step: str = ""
    undoes: str = ""
    key: str = ""


# Adds changes of a user at an epoch second to the audit; raises nothing.
RecordChanges = Callable[[str, Sequence[AuditEntry], int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ChatNotes:
    """What is noted of a chat: a summary and tags, without the contents of memories."""

    summary: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitingSuggestion:
    """A memory that is proposed to the user; its ``digest`` is what is left when it is rejected.

    ``memory_id`` is the row whose content it replaces, if any.
    """

    digest: str
    draft: Draft
    memory_id: str
    source: Provenance


# Saves what the user has said yes to; false where it is neither a memory nor refused as one.
KeepSuggestion = Callable[[WaitingSuggestion], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is kept of a user.

    ``body`` is any JSON value, ``None`` for an entry that is settled: nothing replaces or drops it.
    ``sealed`` is the body as it stands in the table, which tells whether it was changed since.
    """

    key: str
    body: Any
    created_at: int
    chat_id: str = ""
    message_id: str = ""
    expires_at: int | None = None
    sealed: str = ""


class Entries(Protocol):
    """What is kept of users, by kind and key, for all workers."""

    async def put(
        self, kind: EntryKind, user_id: str, entries: Iterable[Entry], newest: int = 0
    ) -> None:
        """Store all or none in place of former ones; keep no more than the ``newest``, if given."""

    async def read(
        self,
        kind: EntryKind,
        user_id: str,
        keys: Collection[str] | None = None,
        *,
        settled: bool = False,
    ) -> list[Entry]:
        """Entries that are not settled, or those that are, the newest first, if readable."""
        ...

    async def replace(self, kind: EntryKind, user_id: str, entry: Entry, body: Any) -> bool:
        """Give an entry another body unless somebody else has changed it since it was read."""
        ...

    async def drop(self, kind: EntryKind, user_id: str, keys: Collection[str]) -> None:
        """Drop entries that are not settled."""

    async def drop_deleted(self, kind: EntryKind, user_id: str, current: str) -> None:
        """Drop entries of chats that the host has no more, the current one excepted."""


@dataclass(frozen=True, slots=True)
class _KeptTable:
    entries: Entries


class ArchiveTable(_KeptTable):
    """Memories that were pruned or summarised, whole and restorable."""

    async def put(self, user_id: str, archived: Sequence[ArchivedMemory]) -> None:
        """Store all or none, replacing former ones of the same memories."""
        new = [Entry(one.memory.id, asdict(one), one.archived_at) for one in archived]
        await self.entries.put("archive", user_id, new)

    async def read(
        self, user_id: str, memory_ids: Sequence[str] | None = None
    ) -> tuple[ArchivedMemory, ...]:
        """A user's archived memories, the last archived first; those that are named, or all."""
        return _built(ArchivedMemory, await self.entries.read("archive", user_id, memory_ids))

    async def discard(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """Drop memories from the archive."""
        await self.entries.drop("archive", user_id, memory_ids)


class AuditTable(_KeptTable):
    """What was changed in each store, and why: a user's newest 10,000 changes, for 400 days."""

    async def read(self, user_id: str) -> tuple[AuditEntry, ...]:
        """A user's changes, the newest first."""
        found = await self.entries.read("audit", user_id)
        keyed = [replace(one, body={**one.body, "key": one.key}) for one in found]
        return _built(AuditEntry, sorted(keyed, key=lambda one: one.key, reverse=True))

    async def append(self, user_id: str, entries: Sequence[AuditEntry], now: int) -> None:
        """Add changes in the order they were made."""
        at, until = time.time_ns(), now + _YEAR_KEPT_SECONDS
        new: list[Entry] = []
        for number, one in enumerate(entries):
            # In the order of writing; kind and memory are told by no sealed text alone.
            key = f"{at:020}{number:04}:{one.kind}:{one.memory_id}"
            where = (one.changed_at, one.chat_id, one.message_id, until)
            new.append(Entry(key, asdict(one), *where))
        # Changes that come one by one are counted with the next that come together.
        await self.entries.put("audit", user_id, new, _AUDIT_ENTRIES_KEPT * (len(new) > 1))


class UsageTable(_KeptTable):
    """How often each memory was recalled, until it was not for 400 days.

    Of two workers that count at once one may be lost.
    """

    async def record(self, user_id: str, memory_ids: Sequence[str], now: int) -> None:
        """Count one recall of each of the named memories."""
        known = await self.read(user_id, set(memory_ids))
        await self._write(user_id, {one: known.get(one, 0) + 1 for one in memory_ids}, now)

    async def read(self, user_id: str, memory_ids: Collection[str] | None = None) -> dict[str, int]:
        """The recalls of memories by id, of those named or all; those never recalled are absent."""
        found = await self.entries.read("usage", user_id, memory_ids)
        return {one.key: int(one.body) for one in found}

    async def merge(self, user_id: str, memory_ids: Sequence[str], into: str) -> None:
        """Give the recalls of memories to the one that stands for them now."""
        given = await self.read(user_id, {*memory_ids, into})
        if given.keys() - {into}:
            await self._write(user_id, {into: sum(given.values())}, int(time.time()))
            await self.entries.drop("usage", user_id, given.keys() - {into})

    async def _write(self, user_id: str, counts: dict[str, int], now: int) -> None:
        until = now + _YEAR_KEPT_SECONDS
        new = [Entry(one, count, now, expires_at=until) for one, count in counts.items()]
        await self.entries.put("usage", user_id, new)


class ChatTable(_KeptTable):
    """What was injected into each of a user's chats, as one short text, for a day."""

    async def read(self, user_id: str, chat_id: str) -> str:
        """The text of a chat, empty where there is none."""
        return "".join(one.body for one in await self.entries.read("chat", user_id, [chat_id]))

    async def write(self, user_id: str, chat_id: str, state: str, now: int) -> None:
        """Replace the text of a chat."""
        new = Entry(chat_id, state, now, chat_id, "", now + _KEPT_DAY)
        await self.entries.put("chat", user_id, [new])


class ChatNotesTable(_KeptTable):
    """Notes by user and chat; of two writers the last one wins, and notes go with their chat."""

    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """The notes of a chat, empty ones where there are none."""
        found = await self.entries.read("chat_notes", user_id, [chat_id])
        return (*_built(ChatNotes, found), ChatNotes())[0]

    async def write(self, user_id: str, chat_id: str, notes: ChatNotes, now: int) -> None:
        """Replace the notes of a chat, and drop those of chats that the host has no more."""
        await self.entries.put("chat_notes", user_id, [Entry(chat_id, asdict(notes), now, chat_id)])
        await self.entries.drop_deleted("chat_notes", user_id, chat_id)


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What a command was answered, empty while it is carried out; begun at an epoch second."""

    text: str
    begun_at: int


class CommandTable(_KeptTable):
    """The answers of commands that change something, by the message that gave the command.

    They are kept as long as the audit, so that no command is carried out twice for its message.
    """

    async def read(self, user_id: str, message_id: str) -> CommandAnswer | None:
        """The answer to a message's command, ``None`` where it was never begun."""
        entries = await self.entries.read("command", user_id, [message_id])
        answers = [CommandAnswer(text=str(one.body), begun_at=one.created_at) for one in entries]
        return answers[0] if answers else None

    async def write(
        self, user_id: str, chat_id: str, message_id: str, answer: CommandAnswer
    ) -> None:
        """Keep the answer to a message's command in place of a former one."""
        entry = Entry(
            key=message_id,
            body=answer.text,
            created_at=answer.begun_at,
            chat_id=chat_id,
            message_id=message_id,
            expires_at=answer.begun_at + _YEAR_KEPT_SECONDS,
        )
        await self.entries.put("command", user_id, [entry])


class SuggestionTable(_KeptTable):
    """Suggestions that wait for an answer, at most 20 of a user, until they are answered.

    Of what was rejected the digest is kept, for good.
    """

    async def put(self, user_id: str, waiting: Sequence[WaitingSuggestion]) -> None:
        """Let suggestions wait, replacing former ones of the same digest; not rejected ones.

        Of more than may wait the oldest are dropped.
        """
        new = [
            Entry(
                key=one.digest,
                body={**asdict(one), "rests_until": 0, "rests_in": ""},
                created_at=one.source.said_at,
                chat_id=one.source.chat_id,
                message_id=one.source.message_id,
            )
            for one in waiting
        ]
        await self.entries.put("suggestion", user_id, new, MOST_WAITING_SUGGESTIONS)

    async def waiting(self, user_id: str) -> tuple[WaitingSuggestion, ...]:
        """A user's waiting suggestions, the oldest first."""
        return _built(WaitingSuggestion, (await self.entries.read("suggestion", user_id))[::-1])

    async def claim(
        self, user_id: str, chat_id: str, now: int, most: int
    ) -> tuple[WaitingSuggestion, ...]:
        """The newest suggestions that may be asked about in this chat; then they rest a while."""
        claimed: list[Entry] = []
        resting = {"rests_until": now + _ASKED_REST_SECONDS, "rests_in": ""}
        for entry in await self.entries.read("suggestion", user_id):
            body = {**entry.body, **resting}
            free = entry.body["rests_until"] <= now or entry.body["rests_in"] not in ("", chat_id)
            taken = free and len(claimed) < most
            if taken and await self.entries.replace("suggestion", user_id, entry, body):
                claimed.append(entry)
        return _built(WaitingSuggestion, claimed)

    async def release(self, user_id: str, chat_id: str, digests: Collection[str]) -> None:
        """Let claimed suggestions rest in this chat alone: others may ask about them at once."""
        for entry in await self.entries.read("suggestion", user_id, digests):
            body = {**entry.body, "rests_in": chat_id}
            await self.entries.replace("suggestion", user_id, entry, body)

    async def discard(self, user_id: str, digests: Collection[str]) -> None:
        """Drop suggestions that wait; rejected ones stay rejected."""
        await self.entries.drop("suggestion", user_id, digests)

    async def reject(self, user_id: str, digest: str, now: int) -> None:
        """Remember a digest for good, and drop everything else that is held of it."""
        await self.entries.put("suggestion", user_id, [Entry(digest, None, now)])

    async def rejected(self, user_id: str, digests: Collection[str]) -> frozenset[str]:
        """Those of the digests that the user has rejected."""
        found = await self.entries.read("suggestion", user_id, digests, settled=True)
        return frozenset(one.key for one in found)


def _built(kind: type[Kept], entries: Iterable[Entry]) -> tuple[Kept, ...]:
    """What entries hold; one that another release has written in another shape is absent."""
    found: list[Kept] = []
    for entry in entries:
        with suppress(ValueError):
            found.append(_reader(kind).validate_python(entry.body))
    return tuple(found)


_reader = cache(TypeAdapter[Any])
