"""What is kept of each user beside the memories, kind by kind, in one table for all of it.

Any call may raise ``TablesUnavailable``. Times are epoch seconds.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import asdict, dataclass

from adaptive.core.model import Draft, Memory, Provenance
from adaptive.memory.entries import Entry, EntryTable, read_as

_DAY_SECONDS = 24 * 3600
# A user may ask in spring what happened in the spring before.
YEAR_SECONDS = 400 * _DAY_SECONDS
# More would be a long list to answer.
MOST_WAITING_SUGGESTIONS = 20
# Longer than a dialog stays open; whoever left one unanswered is not asked with every turn.
_ASKED_REST_SECONDS = 600


@dataclass(frozen=True, slots=True)
class ArchivedMemory:
    """A memory that was taken out of the store; ``summary`` is what stands for it now, if any."""

    memory: Memory
    reason: str
    archived_at: int
    summary: str = ""


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


class ArchiveTable(EntryTable):
    """Memories that were pruned or summarised, whole and restorable."""

    async def put(
        self, user_id: str, archived: Sequence[ArchivedMemory]
    ) -> None:
        """Store all or none, replacing former ones of the same memories."""
        new = [
            Entry(
                key=one.memory.id, body=asdict(one), created_at=one.archived_at
            )
            for one in archived
        ]
        await self.entries.put("archive", user_id, new)

    async def read(
        self, user_id: str, memory_ids: Sequence[str] | None = None
    ) -> tuple[ArchivedMemory, ...]:
        """A user's archived memories, the last archived first; those that are named, or all."""
        return read_as(
            ArchivedMemory,
            await self.entries.read("archive", user_id, memory_ids),
        )

    async def count(self, user_id: str) -> int:
        """How many memories of a user are archived."""
        return len(await self.entries.keys("archive", user_id))

    async def unopened(self, user_id: str) -> int:
        """How many of a user's archived memories another secret has sealed."""
        return (await self.entries.unopened(user_id))["archive"]

    async def discard(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """Drop memories from the archive."""
        await self.entries.drop("archive", user_id, memory_ids)


class UsageTable(EntryTable):
    """How often each memory was recalled, until it was not for 400 days.

    Of two workers that count at once one may be lost.
    """

    async def record(
        self, user_id: str, memory_ids: Sequence[str], now: int
    ) -> None:
        """Count one recall of each of the named memories."""
        known = await self.read(user_id, set(memory_ids))
        await self._write(
            user_id, {one: known.get(one, 0) + 1 for one in memory_ids}, now
        )

    async def read(
        self, user_id: str, memory_ids: Collection[str] | None = None
    ) -> dict[str, int]:
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

    async def merge(
        self, user_id: str, memory_ids: Sequence[str], into: str
    ) -> None:
        """Give the recalls of memories to the one that stands for them now."""
        given = await self.read(user_id, {*memory_ids, into})
        if given.keys() - {into}:
            await self._write(
                user_id, {into: sum(given.values())}, int(time.time())
            )
            await self.entries.drop("usage", user_id, given.keys() - {into})

    async def _write(
        self, user_id: str, counts: dict[str, int], now: int
    ) -> None:
        until = now + YEAR_SECONDS
        new = [
            Entry(one, count, now, expires_at=until)
            for one, count in counts.items()
        ]
        await self.entries.put("usage", user_id, new)


class ChatTable(EntryTable):
    """What each of a user's chats was given, as one short text, for a day after its last change."""

    async def read(self, user_id: str, chat_id: str) -> str:
        """The text of a chat, empty where there is none."""
        return "".join(
            one.body
            for one in await self.entries.read("chat", user_id, [chat_id])
        )

    async def write(
        self, user_id: str, chat_id: str, state: str, now: int
    ) -> None:
        """Replace the text of a chat."""
        entry = Entry(
            key=chat_id,
            body=state,
            created_at=now,
            chat_id=chat_id,
            expires_at=now + _DAY_SECONDS,
        )
        await self.entries.put("chat", user_id, [entry])


class ChatNotesTable(EntryTable):
    """Notes by user and chat; of two writers the last one wins, and notes go with their chat."""

    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """The notes of a chat, empty ones where there are none."""
        found = await self.entries.read("chat_notes", user_id, [chat_id])
        return (*read_as(ChatNotes, found), ChatNotes())[0]

    async def write(
        self, user_id: str, chat_id: str, notes: ChatNotes, now: int
    ) -> None:
        """Replace the notes of a chat, and drop those of chats that the host has no more."""
        entry = Entry(
            key=chat_id, body=asdict(notes), created_at=now, chat_id=chat_id
        )
        await self.entries.put("chat_notes", user_id, [entry])
        await self.entries.drop_deleted("chat_notes", user_id, chat_id)


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What a command was answered, empty while it is carried out; begun at an epoch second."""

    text: str
    begun_at: int


class CommandTable(EntryTable):
    """The answers of commands that change something, by the message that gave the command.

    They are kept as long as the audit, so that no command is carried out twice for its message.
    """

    async def read(
        self, user_id: str, message_id: str
    ) -> CommandAnswer | None:
        """The answer to a message's command, ``None`` where it was never begun."""
        entries = await self.entries.read("command", user_id, [message_id])
        answers = [
            CommandAnswer(text=str(one.body), begun_at=one.created_at)
            for one in entries
        ]
        return answers[0] if answers else None

    async def write(
        self,
        user_id: str,
        chat_id: str,
        message_id: str,
        answer: CommandAnswer,
    ) -> None:
        """Keep the answer to a message's command in place of a former one."""
        entry = Entry(
            key=message_id,
            body=answer.text,
            created_at=answer.begun_at,
            chat_id=chat_id,
            message_id=message_id,
            expires_at=answer.begun_at + YEAR_SECONDS,
        )
        await self.entries.put("command", user_id, [entry])


class SuggestionTable(EntryTable):
    """Suggestions that wait for an answer, at most 20 of a user, until they are answered.

    Of what was rejected the digest is kept, for good.
    """

    async def put(
        self, user_id: str, waiting: Sequence[WaitingSuggestion]
    ) -> None:
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
        await self.entries.put(
            "suggestion", user_id, new, MOST_WAITING_SUGGESTIONS
        )

    async def waiting(self, user_id: str) -> tuple[WaitingSuggestion, ...]:
        """A user's waiting suggestions, the oldest first."""
        return read_as(
            WaitingSuggestion,
            (await self.entries.read("suggestion", user_id))[::-1],
        )

    async def claim(
        self, user_id: str, chat_id: str, now: int, most: int
    ) -> tuple[WaitingSuggestion, ...]:
        """The newest suggestions that may be asked about in this chat; then they rest a while."""
        claimed: list[Entry] = []
        resting = {"rests_until": now + _ASKED_REST_SECONDS, "rests_in": ""}
        for entry in await self.entries.read("suggestion", user_id):
            body = {**entry.body, **resting}
            free = entry.body["rests_until"] <= now or entry.body[
                "rests_in"
            ] not in ("", chat_id)
            taken = free and len(claimed) < most
            if taken and await self.entries.replace(
                "suggestion", user_id, entry, body
            ):
                claimed.append(entry)
        return read_as(WaitingSuggestion, claimed)

    async def release(
        self, user_id: str, chat_id: str, digests: Collection[str]
    ) -> None:
        """Let claimed suggestions rest in this chat alone: others may ask about them at once."""
        for entry in await self.entries.read("suggestion", user_id, digests):
            body = {**entry.body, "rests_in": chat_id}
            await self.entries.replace("suggestion", user_id, entry, body)

    async def discard(self, user_id: str, digests: Collection[str]) -> None:
        """Drop suggestions that wait; rejected ones stay rejected."""
        await self.entries.drop("suggestion", user_id, digests)

    async def reject(self, user_id: str, digest: str, now: int) -> None:
        """Remember a digest for good, and drop everything else that is held of it."""
        await self.entries.put(
            "suggestion", user_id, [Entry(digest, None, now)]
        )

    async def rejected(
        self, user_id: str, digests: Collection[str]
    ) -> frozenset[str]:
        """Those of the digests that the user has rejected."""
        found = await self.entries.read(
            "suggestion", user_id, digests, settled=True
        )
        return frozenset(one.key for one in found)
