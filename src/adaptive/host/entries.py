"""What is kept of each user beside the memories: one table for every kind, its texts sealed."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Executable,
    String,
    Table,
    Text,
    delete,
    func,
    select,
)

from adaptive.host.own_table import TABLES, OwnTable, Sessions
from adaptive.memory.tables import Entry, EntryKind
from adaptive.privacy.sealing import MARKED, Sealer

ENTRIES = Table(
    "adaptive_memory_entries",
    TABLES,
    Column("user_id", String(64), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("chat_id", String(255), nullable=False),
    Column("message_id", String(255), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, index=True),
    # Sealed JSON; of a lease its owner.
    Column("body", Text, nullable=False),
)
_ROW = ENTRIES.c
_FIELDS = ("key", "chat_id", "message_id", "created_at", "expires_at")
# Counts and states of chats, which are written anew with every turn.
_MADE_ANEW: tuple[EntryKind, ...] = ("usage", "chat")


class SealedEntries:
    """``Entries`` in the host's database, each body sealed for its user and kind."""

    def __init__(
        self, sealer: Sealer, sessions: Sessions | None = None
    ) -> None:
        self._sealer = sealer
        self._table = OwnTable(ENTRIES, sessions)
        self._own = _ROW.body.startswith(sealer.mark, autoescape=True)
        self._foreign = (
            _ROW.body.startswith(MARKED, autoescape=True) & ~self._own
        )

    async def put(
        self,
        kind: EntryKind,
        user_id: str,
        entries: Iterable[Entry],
        newest: int = 0,
    ) -> None:
        """Store all or none (see ``Entries``)."""
        rows = {
            entry.key: self._row(kind, user_id, entry) for entry in entries
        }
        if not rows:
            return
        afterwards: list[Executable] = []
        if newest:
            surplus = (
                select(_ROW.key)
                .where(_of(kind, user_id))
                .order_by(_ROW.key.desc())
                .offset(newest)
            )
            trimming = delete(ENTRIES).where(_of(kind, user_id))
            afterwards.append(trimming.where(_ROW.key.in_(surplus)))
        await self._table.upsert(
            f"writing {kind} entries",
            [*rows.values()],
            *afterwards,
            # What another secret has sealed comes back with it: only what is told by others may go.
            where=None if kind in _MADE_ANEW else ~self._foreign,
        )

    async def read(
        self,
        kind: EntryKind,
        user_id: str,
        keys: Collection[str] | None = None,
    ) -> list[Entry]:
        """The entries that can be opened, the newest first (see ``Entries``)."""
        query = (
            select(ENTRIES)
            .where(_of(kind, user_id))
            .order_by(_ROW.created_at.desc(), _ROW.key.desc())
        )
        if keys is not None:
            query = query.where(_ROW.key.in_(keys))
        rows = await self._table.rows(f"reading {kind} entries", query)
        # In a thread: opening a hundred takes longer than others may wait.
        return await asyncio.to_thread(self._opened, rows)

    async def keys(
        self,
        kind: EntryKind,
        user_id: str,
        first: str = "",
        most: int | None = None,
    ) -> list[str]:
        """Keys in their order, the last one first (see ``Entries``); no entry is opened."""
        query = (
            select(_ROW.key)
            .where(_of(kind, user_id), _ROW.key >= first)
            .order_by(_ROW.key.desc())
            .limit(most)
        )
        rows = await self._table.rows(f"looking into {kind} entries", query)
        return [row.key for row in rows]

    async def unopened(self, user_id: str = "") -> Counter[str]:
        """How many entries of a user, or of all, another secret has sealed, by kind."""
        query = (
            select(_ROW.kind, func.count())
            .where(self._foreign)
            .group_by(_ROW.kind)
        )
        if user_id:
            query = query.where(_ROW.user_id == user_id)
        rows = await self._table.rows("counting what can't be opened", query)
        return Counter(dict(map(tuple, rows)))

    async def drop(
        self, kind: EntryKind, user_id: str, keys: Collection[str]
    ) -> None:
        """Drop entries."""
        dropping = delete(ENTRIES).where(
            _of(kind, user_id),
            _ROW.key.in_(keys),
        )
        await self._table.change(f"dropping {kind} entries", dropping)

    def _row(
        self, kind: EntryKind, user_id: str, entry: Entry
    ) -> dict[str, Any]:
        # What is no JSON comes back different, which whoever must not lose it looks for.
        text = json.dumps(entry.body, default=str)
        return {
            "user_id": user_id,
            "kind": kind,
            "body": self._sealer.seal(user_id, kind, text),
            **{name: getattr(entry, name) for name in _FIELDS},
        }

    def _opened(self, rows: Sequence[Any]) -> list[Entry]:
        """Entries of those rows that this secret has sealed."""
        entries: list[Entry] = []
        for row in rows:
            text = self._sealer.open(row.user_id, row.kind, row.body)
            if text is not None:
                fields = {name: getattr(row, name) for name in _FIELDS}
                entries.append(Entry(body=json.loads(text), **fields))
        return entries


def _of(kind: EntryKind, user_id: str) -> ColumnElement[bool]:
    return (_ROW.user_id == user_id) & (_ROW.kind == kind)


class HostLeases:
    """``Leases`` as entries in clear; the lease on a user's turns stands beside the turns."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(ENTRIES, sessions)

    async def acquire(
        self, name: str, owner: str, now: float, seconds: float
    ) -> bool:
        """Take or prolong a lease by one INSERT; behind the colon of its name is whose it is."""
        lease = {
            "user_id": name.rpartition(":")[2],
            "kind": "lease",
            "key": name,
            "chat_id": "",
            "message_id": "",
            "created_at": int(now),
            "expires_at": math.ceil(now + seconds),
            "body": owner,
        }
        free = (_ROW.expires_at < now) | (_ROW.body == owner)
        return bool(
            await self._table.upsert("taking a lease", [lease], where=free)
        )
