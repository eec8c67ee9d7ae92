"""What is kept of each user beside the memories, kind by kind, in one table for all of it.

Any call may raise ``TablesUnavailable``. Times are epoch seconds.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from adaptive.core.cache import UserCache
from adaptive.core.model import Draft, Memory, Provenance
from adaptive.privacy.entries import Entry, KeptTable, read_as

_KEPT_DAY = 24 * 3600
# A user may ask in spring what happened in the spring before.
_YEAR_KEPT_SECONDS = 400 * _KEPT_DAY
_AUDIT_ENTRIES_KEPT = 10_000
# A log is trimmed with the first changes in a process, and with each hundredth after them.
_TRIMMED_EACH = 100
_COUNTED_USERS = 5000
# Who was not asked for a month would not know any more what it is about.
MOST_WAITING_SUGGESTIONS = 20
# Longer than a dialog stays open; whoever left one unanswered is not asked with every turn.
_ASKED_REST_SECONDS = 600

_Learned = Literal["saved", "updated", "deleted", "ended", "flagged", "refused"]
ChangeKind = Literal[_Learned, "pruned", "summarised", "restored", "imported", "undone"]


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


@dataclass(frozen=True, slots=True)
class ChangeKey:
    """What the key of a change tells without its sealed text.

    Keys are in the order of writing, by their ``place``; ``undoes`` is the place of the change that
    this one takes back.
    """

    text: str
    place: str
    step: str
    undoes: str
    kind: str
    memory_id: str

    @classmethod
    def read(cls, text: str) -> ChangeKey:
        """The parts of a key, as ``written`` puts them together."""
        head, kind, memory_id = ["", "", *text.rsplit(":", 2)][-3:]
        place, step, undoes = [*head.split("~"), "", ""][:3]
        return cls(text, place, step, undoes, kind, memory_id)

    @staticmethod
    def written(place: str, entry: AuditEntry) -> str:
        """The key of a change at a place."""
        undone = ChangeKey.read(entry.undoes).place if entry.undoes else ""
        return f"{place}~{entry.step}~{undone}:{entry.kind}:{entry.memory_id}"


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


class ArchiveTable(KeptTable):
    """Memories that were pruned or summarised, whole and restorable."""

    async def put(self, user_id: str, archived: Sequence[ArchivedMemory]) -> None:
        """Store all or none, replacing former ones of the same memories."""
        new = [Entry(one.memory.id, asdict(one), one.archived_at) for one in archived]
        await self.entries.put("archive", user_id, new)

    async def read(
        self, user_id: str, memory_ids: Sequence[str] | None = None
    ) -> tuple[ArchivedMemory, ...]:
        """A user's archived memories, the last archived first; those that are named, or all."""
        return read_as(ArchivedMemory, await self.entries.read("archive", user_id, memory_ids))

    async def count(self, user_id: str) -> int:
        """How many memories of a user are archived."""
        return len(await self.entries.keys("archive", user_id))

    async def unopened(self, user_id: str) -> int:
        """How many of a user's archived memories another secret has sealed."""
        return (await self.entries.unopened(user_id))["archive"]

    async def discard(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """Drop memories from the archive."""
        await self.entries.drop("archive", user_id, memory_ids)


@dataclass(frozen=True, slots=True)
class AuditTable(KeptTable):
    """What was changed in each store, and why: a user's newest 10,000 changes, for 400 days.

    A log that is full holds some more until it is trimmed, now and then.
    """

    _untrimmed: UserCache[int] = field(default_factory=lambda: UserCache[int](_COUNTED_USERS))

    async def keys(self, user_id: str, since: float = 0.0) -> list[ChangeKey]:
        """The keys of a user's changes since an epoch second, the newest first."""
        first = f"{int(since * 1e9):020}"
        return [ChangeKey.read(one) for one in await self.entries.keys("audit", user_id, first)]

    async def read(self, user_id: str, keys: Sequence[str]) -> tuple[AuditEntry, ...]:
        """The changes of these keys, the newest first."""
        found = await self.entries.read("audit", user_id, keys)
        keyed = [replace(one, body={**one.body, "key": one.key}) for one in found]
        return read_as(AuditEntry, sorted(keyed, key=lambda one: one.key, reverse=True))

    async def append(self, user_id: str, entries: Sequence[AuditEntry], now: int) -> None:
        """Add changes in the order they were made."""
        at, until = time.time_ns(), now + _YEAR_KEPT_SECONDS
        new: list[Entry] = []
        for number, one in enumerate(entries):
            # What is told by no sealed text alone: when, in which step, of which kind and memory.
            key = ChangeKey.written(f"{at:020}{number:04}", one)
            where = (one.changed_at, one.chat_id, one.message_id, until)
            new.append(Entry(key, asdict(one), *where))
        untrimmed = self._untrimmed.get((user_id,))
        untrimmed = len(new) + (_TRIMMED_EACH if untrimmed is None else untrimmed)
        is_due = untrimmed >= _TRIMMED_EACH
        await self.entries.put("audit", user_id, new, _AUDIT_ENTRIES_KEPT if is_due else 0)
        self._untrimmed.put((user_id,), 0 if is_due else untrimmed)


class UsageTable(KeptTable):
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

    async def count_hint(self, user_id: str, hint: str, most: int) -> bool:
        """Count a hint for good, up to a number of times; whether the user is given it now."""
        key = f"hint:{hint}"
        given = (await self.read(user_id, [key])).get(key, 0)
        if given < most:
            new = Entry(key, given + 1, int(time.time()))
            await self.entries.put("usage", user_id, [new])
        return given < most

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


class ChatTable(KeptTable):
    """What was injected into each of a user's chats, as one short text, for a day."""

    async def read(self, user_id: str, chat_id: str) -> str:
        """The text of a chat, empty where there is none."""
        return "".join(one.body for one in await self.entries.read("chat", user_id, [chat_id]))

    async def write(self, user_id: str, chat_id: str, state: str, now: int) -> None:
        """Replace the text of a chat."""
        new = Entry(chat_id, state, now, chat_id, "", now + _KEPT_DAY)
        await self.entries.put("chat", user_id, [new])


class ChatNotesTable(KeptTable):
    """Notes by user and chat; of two writers the last one wins, and notes go with their chat."""

    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """The notes of a chat, empty ones where there are none."""
        found = await self.entries.read("chat_notes", user_id, [chat_id])
        return (*read_as(ChatNotes, found), ChatNotes())[0]

    async def write(self, user_id: str, chat_id: str, notes: ChatNotes, now: int) -> None:
        """Replace the notes of a chat, and drop those of chats that the host has no more."""
        await self.entries.put("chat_notes", user_id, [Entry(chat_id, asdict(notes), now, chat_id)])
        await self.entries.drop_deleted("chat_notes", user_id, chat_id)


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What a command was answered, empty while it is carried out; begun at an epoch second."""

    text: str
    begun_at: int


class CommandTable(KeptTable):
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


class SuggestionTable(KeptTable):
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
        return read_as(WaitingSuggestion, (await self.entries.read("suggestion", user_id))[::-1])

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
        return read_as(WaitingSuggestion, claimed)

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
