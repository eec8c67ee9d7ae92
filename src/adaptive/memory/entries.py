"""Entries: what is kept of users, whatever its kind, as far as tables of one kind need it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol, TypeVar

from pydantic import TypeAdapter

EntryKind = Literal[
    "archive", "audit", "chat", "chat_notes", "command", "suggestion", "usage"
]
Body = TypeVar("Body")


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
        self,
        kind: EntryKind,
        user_id: str,
        entries: Iterable[Entry],
        newest: int = 0,
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

    async def keys(
        self,
        kind: EntryKind,
        user_id: str,
        first: str = "",
        most: int | None = None,
    ) -> list[str]:
        """The keys of entries that are not settled, from the ``first`` on, the last one first.

        With ``most`` they are no more than the last ones of that number.
        """
        ...

    async def unopened(self, user_id: str = "") -> Counter[EntryKind]:
        """How many entries of a user, or of all, another secret has sealed, by kind."""
        ...

    async def replace(
        self, kind: EntryKind, user_id: str, entry: Entry, body: Any
    ) -> bool:
        """Give an entry another body unless somebody else has changed it since it was read."""
        ...

    async def drop(
        self, kind: EntryKind, user_id: str, keys: Collection[str]
    ) -> None:
        """Drop entries that are not settled."""

    async def drop_deleted(
        self, kind: EntryKind, user_id: str, current: str
    ) -> None:
        """Drop entries of chats that the host has no more, the current one excepted."""


@dataclass(frozen=True, slots=True)
class EntryTable:
    """A table of one kind of entries."""

    entries: Entries


def read_as(kind: type[Body], entries: Iterable[Entry]) -> tuple[Body, ...]:
    """The bodies of entries; one that another release has written in another shape is absent."""
    bodies: list[Body] = []
    for entry in entries:
        with suppress(ValueError):
            bodies.append(_reader(kind).validate_python(entry.body))
    return tuple(bodies)


_reader = cache(TypeAdapter[Any])
