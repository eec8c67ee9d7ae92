"""Vectors of memories in a table of ours, so that no worker embeds what another has embedded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import (
    Column,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    delete,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from adaptive.host.own_table import OwnTable, Sessions
from adaptive.host.uninterrupted import uninterrupted
from adaptive.table_ports import StoredVector

_VECTORS = Table(
    "adaptive_memory_vector",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("memory_id", String(64), primary_key=True),
    Column("embedder", String(32), primary_key=True),
    Column("content_hash", String(32), nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
)
# SQLite takes 32,766 parameters in one statement, older ones 999.
_ROWS_PER_STATEMENT = 150


class HostVectorTable:
    """Vectors by user, memory and embedder; little-endian float32, scaled to length 1."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(_VECTORS, sessions)

    @uninterrupted
    async def read(
        self, user_id: str, embedder: str, memory_ids: Sequence[str] | None = None
    ) -> dict[str, StoredVector]:
        """A user's vectors of one embedder, by memory id; damaged ones are left out.

        Of all memories, or of at most 900 that are named.
        """
        columns = (_VECTORS.c.memory_id, _VECTORS.c.content_hash, _VECTORS.c.dimension)
        query = select(*columns, _VECTORS.c.vector).where(
            _VECTORS.c.user_id == user_id, _VECTORS.c.embedder == embedder_key(embedder)
        )
        if memory_ids is not None:
            query = query.where(_VECTORS.c.memory_id.in_(memory_ids))
        async with self._table.session("reading vectors") as session:
            rows = (await session.execute(query)).all()
        return {
            memory_id: StoredVector(content_hash, np.frombuffer(raw, "<f4"))
            for memory_id, content_hash, dimension, raw in rows
            if len(raw) == 4 * dimension
        }

    @uninterrupted
    async def write(self, user_id: str, embedder: str, vectors: Mapping[str, StoredVector]) -> None:
        """Store vectors by memory id, replacing former ones of the same memories."""
        key = embedder_key(embedder)
        records = [
            {
                "user_id": user_id,
                "memory_id": memory_id,
                "embedder": key,
                "content_hash": one.content_hash,
                "dimension": len(one.vector),
                "vector": one.vector.astype("<f4").tobytes(),
            }
            for memory_id, one in sorted(vectors.items())
        ]
        async with self._table.session("writing vectors") as session:
            dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
            for start in range(0, len(records), _ROWS_PER_STATEMENT):
                new = dialect.insert(_VECTORS).values(records[start : start + _ROWS_PER_STATEMENT])
                replaced = ("content_hash", "dimension", "vector")
                await session.execute(
                    new.on_conflict_do_update(
                        index_elements=["user_id", "memory_id", "embedder"],
                        set_={name: new.excluded[name] for name in replaced},
                    )
                )
                await session.commit()

    @uninterrupted
    async def keep_only(self, user_id: str, embedder: str, memory_ids: Sequence[str]) -> None:
        """Drop vectors of memories that are gone, and those of other embedders."""
        key = embedder_key(embedder)
        kept = set(memory_ids)
        mine = _VECTORS.c.user_id == user_id
        async with self._table.session("dropping vectors") as session:
            rows = await session.execute(select(_VECTORS.c.memory_id).where(mine).distinct())
            gone = [memory_id for (memory_id,) in rows.all() if memory_id not in kept]
            for start in range(0, len(gone), _ROWS_PER_STATEMENT):
                some = gone[start : start + _ROWS_PER_STATEMENT]
                await session.execute(delete(_VECTORS).where(mine, _VECTORS.c.memory_id.in_(some)))
            await session.execute(delete(_VECTORS).where(mine, _VECTORS.c.embedder != key))
            await session.commit()


def embedder_key(name: str) -> str:
    """A short key for an embedder's name, which may be an address of any length."""
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
