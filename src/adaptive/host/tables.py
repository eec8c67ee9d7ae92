"""Our tables in the host's database, each constructed once; the one of vectors stands here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import Column, LargeBinary, MetaData, String, Table, column, delete, select, table

from adaptive.core.ports import StoredVector
from adaptive.host.entries import HostLeases, SealedEntries
from adaptive.host.own_table import OwnTable, Sessions
from adaptive.host.pending_table import HostPendingTable
from adaptive.privacy.kept import (
    ArchiveTable,
    AuditTable,
    ChatNotesTable,
    ChatTable,
    SuggestionTable,
    UsageTable,
)
from adaptive.privacy.sealing import Sealer
from adaptive.search.vectors import content_hash

VECTORS = Table(
    "adaptive_memory_vector",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("memory_id", String(64), primary_key=True),
    Column("embedder", String(32), primary_key=True),
    Column("content_hash", String(32), nullable=False),
    Column("vector", LargeBinary, nullable=False),
)
# The host's own (host: models/memories.py).
_HOST_MEMORIES = table("memory", column("id"), column("user_id"))


class HostVectorTable:
    """Vectors by user, memory and embedder; little-endian float32, scaled to length 1."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(VECTORS, sessions)

    async def read(
        self, user_id: str, embedder: str, memory_ids: Sequence[str] | None = None
    ) -> dict[str, StoredVector]:
        """A user's vectors of one embedder, by memory id; of at most 900 memories, or of all."""
        query = select(VECTORS).where(
            VECTORS.c.user_id == user_id, VECTORS.c.embedder == content_hash(embedder)
        )
        if memory_ids is not None:
            query = query.where(VECTORS.c.memory_id.in_(memory_ids))
        return {
            row.memory_id: StoredVector(row.content_hash, np.frombuffer(row.vector, "<f4"))
            for row in await self._table.rows("reading vectors", query)
        }

    async def write(self, user_id: str, embedder: str, vectors: Mapping[str, StoredVector]) -> None:
        """Store vectors by memory id, replacing former ones of the same memories."""
        key = content_hash(embedder)
        rows = [
            {
                "user_id": user_id,
                "memory_id": memory_id,
                "embedder": key,
                "content_hash": one.content_hash,
                "vector": one.vector.astype("<f4").tobytes(),
            }
            for memory_id, one in vectors.items()
        ]
        await self._table.upsert("writing vectors", rows)

    async def tidy(self, user_id: str, embedder: str) -> None:
        """Drop vectors of memories that the host has no more, and those of other embedders."""
        row, memory = VECTORS.c, _HOST_MEMORIES.c
        known = select(memory.id).where(memory.id == row.memory_id, memory.user_id == user_id)
        gone = (row.embedder != content_hash(embedder)) | ~known.exists()
        dropped = delete(VECTORS).where(row.user_id == user_id, gone)
        await self._table.change("dropping vectors", dropped)


class HostTables:
    """What an instance of the plug-in keeps in the host's database, for all users and workers.

    Nothing is asked of the database before a table is used; ``sessions`` opens another one.
    """

    def __init__(self, sealer: Sealer, sessions: Sessions | None = None) -> None:
        entries = SealedEntries(sealer, sessions)
        self.vectors = HostVectorTable(sessions)
        self.pending = HostPendingTable(sealer, sessions)
        self.leases = HostLeases(sessions)
        self.archive, self.audit = ArchiveTable(entries), AuditTable(entries)
        self.usage, self.suggestions = UsageTable(entries), SuggestionTable(entries)
        self.chats, self.chat_notes = ChatTable(entries), ChatNotesTable(entries)


def host_secret() -> str:
    """The host's ``WEBUI_SECRET_KEY`` as this process was started with it, empty where it has none.

    The host takes it from the environment, where its start scripts and ``open-webui serve`` put
    what they have generated into a file (host: env.py, __init__.py, start.sh). With sign-in it
    refuses to start without one, so only a host without sign-in may have none.
    """
    try:
        from open_webui.env import WEBUI_SECRET_KEY
    except ImportError:
        return ""
    # One start script reads the end of the file's last line, too.
    return str(WEBUI_SECRET_KEY or "").strip()
