"""What is kept of each user beside the memories, kind by kind, in one table for all of it.

Any call may raise ``TablesUnavailable``. Times are epoch seconds.
"""

import time
from collections import Counter
from collections.abc import (
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import chain
from typing import Generic, Literal, Protocol, TypeVar, cast

from pydantic import TypeAdapter

from adaptive.core import Memory, PlaceChoices, frozen

DAY_SECONDS = 24 * 3600
# A user may ask in spring what happened in the spring before.
YEAR_SECONDS = 400 * DAY_SECONDS

EntryKind = Literal[
    "archive",
    "audit",
    "chat",
    "chat_notes",
    "command",
    "cost",
    "done",
    "erased_history",
    "history",
    "numbers",
    "past_run",
    "places",
    "rejection",
    "suggestion",
    "waiting",
]
Body = TypeVar("Body")


@frozen
class Entry:
    """One thing that is kept of a user; ``body`` is any JSON value."""

    key: str
    body: object
    created_at: int
    chat_id: str = ""
    message_id: str = ""
    expires_at: int | None = None


class Entries(Protocol):
    """What is kept of users, by kind and key, for all workers."""

    async def put(
        self,
        kind: EntryKind,
        user_id: str,
        entries: Iterable[Entry],
        *,
        replacing: bool = True,
        ends: EntryKind | None = None,
    ) -> None:
        """Store all or none in place of former ones; those stay unless that is ``replacing``.

        Entries of the kind that this ``ends`` go in the same moment, as far as they have its keys.
        """

    async def read(
        self,
        kind: EntryKind,
        user_id: str,
        keys: Collection[str] | None = None,
        since: int = 0,
        most: int | None = None,
    ) -> list[Entry]:
        """The entries that can be opened, the newest first; of these keys, from a second on.

        With ``most`` they are no more than the newest ones of that number.
        """
        ...

    async def read_since(
        self, user_id: str, since: Mapping[EntryKind, int]
    ) -> dict[EntryKind, list[Entry]]:
        """The entries that can be opened of several kinds, each from a second on."""
        ...

    async def keys(
        self,
        kind: EntryKind,
        user_id: str,
        first: str = "",
        most: int | None = None,
    ) -> list[str]:
        """The keys of entries from the ``first`` on, the last one first.

        With ``most`` they are no more than the last ones of that number.
        """
        ...

    async def unopened(self, user_id: str = "") -> Counter[str]:
        """How many entries of a user, or of all, another secret has sealed, by kind."""
        ...

    async def drop(
        self, kind: EntryKind, user_id: str, keys: Collection[str]
    ) -> None:
        """Drop entries."""


class Leases(Protocol):
    """Names that one holds at a time, across workers; of some it is noted who does."""

    async def acquire(
        self, name: str, now: float, seconds: float, owner: str = ""
    ) -> bool:
        """Take a name that is free or whose lease has ended."""
        ...

    async def is_taken(self, name: str) -> bool:
        """Whether somebody has a name, or had it before."""
        ...

    async def renew(self, name: str, owner: str, until: float) -> bool:
        """Prolong an owner's lease; whether it is that owner's still."""
        ...

    async def end(self, names: Iterable[str], owner: str = "") -> bool:
        """End leases, whosever they are or an owner's; whether there were any."""
        ...


def bodies_by_key(
    kind: type[Body], entries: Iterable[Entry]
) -> dict[str, Body]:
    """The bodies of entries; one that another release has written in another shape is absent."""
    read = _reader(kind).validate_python
    bodies: dict[str, Body] = {}
    for entry in entries:
        with suppress(ValueError):
            bodies[entry.key] = cast(Body, read(entry.body))
    return bodies


def read_as(kind: type[Body], entries: Iterable[Entry]) -> tuple[Body, ...]:
    """The same without the keys."""
    return tuple(bodies_by_key(kind, entries).values())


_reader = cache(TypeAdapter[object])


@dataclass(frozen=True)
class EntryTable:
    """A table of one kind of entries."""

    entries: Entries


@dataclass(frozen=True)
class ValueTable(EntryTable, Generic[Body]):
    """One value for each chat, or each message, of a user; of two writers the last one wins.

    What is absent, or of another release's shape, is ``otherwise``; values last for a ``lifetime``
    in seconds, if one is given.
    """

    kind: EntryKind
    form: type[Body]
    otherwise: Body
    lifetime: int | None = None

    def __post_init__(self) -> None:
        # At once: annotations are looked up in the module, whose name the host may drop.
        _reader(self.form)

    async def read(self, user_id: str, key: str) -> Body:
        """The value of a chat or a message."""
        return (await self.values(user_id, [key])).get(key, self.otherwise)

    async def values(
        self, user_id: str, keys: Collection[str]
    ) -> dict[str, Body]:
        """The values that are there, by chat or message."""
        entries = await self.entries.read(self.kind, user_id, keys)
        return bodies_by_key(self.form, entries)

    async def write(
        self,
        user_id: str,
        chat_id: str,
        value: Body,
        now: int,
        message_id: str = "",
    ) -> None:
        """Replace the value of a message where one is named, else of a chat."""
        entry = Entry(
            key=message_id or chat_id,
            body=_reader(self.form).dump_python(value),
            created_at=now,
            chat_id=chat_id,
            message_id=message_id,
            expires_at=self.lifetime and now + self.lifetime,
        )
        await self.entries.put(self.kind, user_id, [entry])


@frozen
class ArchivedMemory:
    """A memory that was taken out of the store; a summary may stand for it now, by its id."""

    memory: Memory
    reason: str
    archived_at: int
    summary_id: str = ""


@frozen
class ChatNotes:
    """What is noted of a chat: a summary and tags, without the contents of memories."""

    summary: str = ""
    tags: tuple[str, ...] = ()


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


class CostTable(EntryTable):
    """What models were asked for a user, by day (UTC): calls, tokens and milliseconds.

    Of two workers that count at once one may be lost.
    """

    async def add(self, user_id: str, spent: Counter[str], now: int) -> None:
        """Count what was spent today."""
        day = time.strftime("%Y-%m-%d", time.gmtime(now))
        former = await self.entries.read("cost", user_id, [day])
        for counted in read_as(Counter[str], former):
            spent = spent + counted
        entry = Entry(day, spent, now, expires_at=now + YEAR_SECONDS)
        await self.entries.put("cost", user_id, [entry])

    async def days(self, user_id: str) -> dict[str, Counter[str]]:
        """What was spent, by day."""
        entries = await self.entries.read("cost", user_id)
        return bodies_by_key(Counter[str], entries)


@frozen
class AddedText:
    """A text that stands with a message beside memories; ``quoted`` are messages of the past.

    Each of those is the ids of a chat and of a message of it, and a digest of its words.
    """

    text: str
    quoted: Sequence[tuple[str, str, str]] = ()


@frozen
class Addition:
    """What a chat was given with one of its messages, by ids: core facts, and what was retrieved.

    One that ``begins`` stands in the system prompt, and nothing that the chat was given before.
    ``digests`` tell by id how a memory read. ``texts`` are what stands there besides.
    """

    core: Sequence[str] = ()
    retrieved: Sequence[str] = ()
    begins: bool = False
    digests: Mapping[str, str] = field(default_factory=dict[str, str])
    texts: Sequence[AddedText] = ()

    def size(self) -> int:
        """How many memories and texts it holds."""
        return len(self.core) + len(self.retrieved) + len(self.texts)


# What each chat was given, by a key for each message of its user; it goes with its chat.
ChatTable = ValueTable[dict[str, Addition]]
# Notes by chat; they go with their chat.
ChatNotesTable = ValueTable[ChatNotes]
# What each user has chosen for folders and models, by their scopes.
PlaceTable = ValueTable[PlaceChoices]
# The answers of commands that change something, by the message that gave the command.
CommandTable = ValueTable[str]


class NumberTable(EntryTable):
    """The numbers of each user's memories, in the order in which they were first listed.

    An entry holds the ids that a listing has added. Of two workers that add at once the second
    finds its key taken, and reads again.
    """

    async def numbers(
        self, user_id: str, listed: Collection[str]
    ) -> dict[str, int]:
        """The numbers of all by their ids; those ``listed`` that have none get one."""
        while True:
            keys = await self.entries.keys("numbers", user_id)
            entries = await self.entries.read("numbers", user_id, keys)
            entries.sort(key=lambda entry: entry.key)
            ids = chain.from_iterable(read_as(list[str], entries))
            numbers = {memory_id: at for at, memory_id in enumerate(ids, 1)}
            added = [each for each in listed if each not in numbers]
            if not added:
                return numbers
            entry = Entry(f"{len(keys):09}", added, int(time.time()))
            await self.entries.put(
                "numbers", user_id, [entry], replacing=False
            )
