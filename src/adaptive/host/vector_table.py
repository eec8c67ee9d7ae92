"""Vectors of memories in a table of ours, so that no worker embeds what another has embedded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import Column, Integer, LargeBinary, MetaData, String, Table, delete, select

from adaptive.core.table_ports import StoredVector
from adaptive.host.own_table import OwnTable, Sessions, portions

VECTORS = Table(
    "adaptive_memory_vector",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("memory_id", String(64), primary_key=True),
    Column("embedder", String(32), primary_key=True),
    Column("content_hash", String(32), nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
)


class HostVectorTable:
    """Vectors by user, memory and embedder; little-endian float32, scaled to length 1."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(VECTORS, sessions)

    async def read(
        self, user_id: str, embedder: str, memory_ids: Sequence[str] | None = None
    ) -> dict[str, StoredVector]:
        """A user's vectors of one embedder, by memory id; damaged ones are left out.

        Of all memories, or of at most 900 that are named.
        """
        query = select(VECTORS).where(
            VECTORS.c.user_id == user_id, VECTORS.c.embedder == embedder_key(embedder)
        )
        if memory_ids is not None:
            query = query.where(VECTORS.c.memory_id.in_(memory_ids))
        return {
            row.memory_id: StoredVector(row.content_hash, np.frombuffer(row.vector, "<f4"))
            for row in await self._table.rows("reading vectors", query)
            if len(row.vector) == 4 * row.dimension
        }

    async def write(self, user_id: str, embedder: str, vectors: Mapping[str, StoredVector]) -> None:
        """Store vectors by memory id, replacing former ones of the same memories."""
        key = embedder_key(embedder)
        # Portion by portion, or SQLite's one writer would be taken for long.
        for some in portions(vectors.items()):
            rows = [
                {
                    "user_id": user_id,
                    "memory_id": memory_id,
                    "embedder": key,
                    "content_hash": one.content_hash,
                    "dimension": len(one.vector),
                    "vector": one.vector.astype("<f4").tobytes(),
                }
                for memory_id, one in some
            ]
            await self._table.upsert("writing vectors", rows)

    async def keep_only(self, user_id: str, embedder: str, memory_ids: Sequence[str]) -> None:
        """Drop vectors of memories that are gone, and those of other embedders."""
        mine = VECTORS.c.user_id == user_id
        query = select(VECTORS.c.memory_id).where(mine).distinct()
        known = {row.memory_id for row in await self._table.rows("reading vectors", query)}
        these = [VECTORS.c.memory_id.in_(it) for it in portions(sorted(known - set(memory_ids)))]
        gone = [*these, VECTORS.c.embedder != embedder_key(embedder)]
        dropped = [delete(VECTORS).where(mine, one) for one in gone]
        await self._table.change("dropping vectors", *dropped)


def embedder_key(name: str) -> str:
    """A short key for an embedder's name, which may be an address of any length."""
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
