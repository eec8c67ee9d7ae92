"""Memories that were pruned or summarised, whole and restorable, in a table of ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    MetaData,
    String,
    Table,
    Text,
    delete,
    insert,
    select,
)

from adaptive.host.own_table import OwnTable, Sessions
from adaptive.model import Memory
from adaptive.shapes import listing, mapping
from adaptive.table_ports import ArchivedMemory

_ARCHIVE = Table(
    "adaptive_memory_archive",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("memory_id", String(64), primary_key=True),
    Column("content", Text, nullable=False),
    # Tags, bank, confidence, importance, meta and end date, as JSON.
    Column("details", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("archived_at", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("summary", Text, nullable=False),
)
# SQLite takes 32,766 parameters in one statement, older ones 999.
_ARCHIVED_PER_STATEMENT = 100


class HostArchiveTable:
    """Whole rows by user and memory; texts are opaque to it."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(_ARCHIVE, sessions)

    async def put(self, user_id: str, archived: Sequence[ArchivedMemory]) -> None:
        """Store all or none in one transaction, replacing former ones of the same memories."""
        if not archived:
            return
        async with self._table.session("archiving memories") as session:
            rows = {one.memory.id: _archive_row(user_id, one) for one in archived}
            await _drop_archived(session, user_id, list(rows))
            await session.execute(insert(_ARCHIVE), list(rows.values()))
            await session.commit()

    async def find(self, user_id: str, memory_ids: Sequence[str]) -> dict[str, ArchivedMemory]:
        """Those of the named memories that are archived, by memory id."""
        found: dict[str, ArchivedMemory] = {}
        async with self._table.session("looking into the archive") as session:
            for start in range(0, len(memory_ids), _ARCHIVED_PER_STATEMENT):
                some = memory_ids[start : start + _ARCHIVED_PER_STATEMENT]
                query = select(_ARCHIVE).where(
                    _ARCHIVE.c.user_id == user_id, _ARCHIVE.c.memory_id.in_(some)
                )
                rows = (await session.execute(query)).all()
                found.update((row.memory_id, _archived(row)) for row in rows)
        return found

    async def read(self, user_id: str) -> tuple[ArchivedMemory, ...]:
        """All of a user's archived memories, the last archived first."""
        query = (
            select(_ARCHIVE)
            .where(_ARCHIVE.c.user_id == user_id)
            .order_by(_ARCHIVE.c.archived_at.desc(), _ARCHIVE.c.memory_id)
        )
        async with self._table.session("reading the archive") as session:
            rows = (await session.execute(query)).all()
        return tuple(_archived(row) for row in rows)

    async def restore(self, user_id: str, memory_id: str) -> ArchivedMemory | None:
        """The archived memory, to be written back; it stays until it is discarded."""
        return (await self.find(user_id, [memory_id])).get(memory_id)

    async def discard(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """Drop memories from the archive."""
        async with self._table.session("clearing the archive") as session:
            await _drop_archived(session, user_id, memory_ids)
            await session.commit()


async def _drop_archived(session: Any, user_id: str, memory_ids: Sequence[str]) -> None:
    for start in range(0, len(memory_ids), _ARCHIVED_PER_STATEMENT):
        some = memory_ids[start : start + _ARCHIVED_PER_STATEMENT]
        mine = (_ARCHIVE.c.user_id == user_id) & _ARCHIVE.c.memory_id.in_(some)
        await session.execute(delete(_ARCHIVE).where(mine))


def _archive_row(user_id: str, archived: ArchivedMemory) -> dict[str, Any]:
    memory = archived.memory
    details = {
        "tags": memory.tags,
        "bank": memory.bank,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "meta": dict(memory.meta),
        "until": memory.until,
    }
    return {
        "user_id": user_id,
        "memory_id": memory.id,
        "content": memory.content,
        # What is no JSON can't come back, so the reading back tells that it is not archived.
        "details": json.dumps(details, default=str),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "archived_at": archived.archived_at,
        "reason": archived.reason,
        "summary": archived.summary,
    }


def _archived(row: Any) -> ArchivedMemory:
    """A row as it was put; one with damaged details still has its content and its dates."""
    try:
        details = mapping(json.loads(row.details))
    except ValueError:
        details = mapping({})
    memory = Memory(
        row.memory_id,
        row.content,
        row.created_at,
        row.updated_at,
        tuple(listing(details.get("tags"))),
        details.get("bank", ""),
        details.get("confidence", 1.0),
        details.get("importance", 5),
        mapping(details.get("meta")),
        details.get("until", ""),
    )
    return ArchivedMemory(memory, row.reason, row.archived_at, row.summary)
