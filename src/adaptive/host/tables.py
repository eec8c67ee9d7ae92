"""Our tables in the host's database, each constructed once; the one of vectors stands here."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Column, LargeBinary, String, Table, delete, select

from adaptive.core.model import HostError, Memory, StoredVector, Vectors
from adaptive.host.entries import HostLeases, SealedEntries
from adaptive.host.memory_vectors import HOST_MEMORIES, memory_collection
from adaptive.host.own_table import TABLES, OwnTable, Sessions, portions
from adaptive.host.pending_table import HostPendingTable
from adaptive.host.vector_database import (
    HOST_VECTORS,
    WHOLE_COLLECTION_SECONDS,
)
from adaptive.memory.audit import AuditTable
from adaptive.memory.tables import (
    DAY_SECONDS,
    YEAR_SECONDS,
    ArchiveTable,
    ChatNotes,
    ChatNotesTable,
    ChatTable,
    CommandTable,
    SuggestionTable,
    UsageTable,
)
from adaptive.privacy.sealing import Sealer
from adaptive.search.vectors import content_hash

VECTORS = Table(
    "adaptive_memory_vector",
    TABLES,
    Column("user_id", String(64), primary_key=True),
    Column("memory_id", String(64), primary_key=True),
    Column("embedder", String(32), primary_key=True),
    Column("content_hash", String(32), nullable=False),
    Column("vector", LargeBinary, nullable=False),
)


class HostVectorTable:
    """Vectors by user, memory and embedder; little-endian float32, scaled to length 1."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(VECTORS, sessions)

    async def read(
        self,
        user_id: str,
        embedder: str,
        memory_ids: Sequence[str] | None = None,
    ) -> dict[str, StoredVector]:
        """A user's vectors of one embedder, by memory id; of at most 900 memories, or of all."""
        row = VECTORS.c
        query = select(row.memory_id, row.content_hash, row.vector).where(
            row.user_id == user_id, row.embedder == content_hash(embedder)
        )
        if memory_ids is not None:
            query = query.where(VECTORS.c.memory_id.in_(memory_ids))
        return {
            row.memory_id: StoredVector(
                row.content_hash, np.frombuffer(row.vector, "<f4")
            )
            for row in await self._table.rows("reading vectors", query)
        }

    async def write(
        self, user_id: str, embedder: str, vectors: Mapping[str, StoredVector]
    ) -> None:
        """Store vectors by memory id, replacing former ones of the same memories."""
        key = content_hash(embedder)
        rows = [
            {
                "user_id": user_id,
                "memory_id": memory_id,
                "embedder": key,
                "content_hash": stored.content_hash,
                "vector": stored.vector.astype("<f4").tobytes(),
            }
            for memory_id, stored in vectors.items()
        ]
        await self._table.upsert("writing vectors", rows)

    async def tidy(self, user_id: str, embedder: str) -> None:
        """Drop vectors of memories that the host has no more, and those of other embedders."""
        row = VECTORS.c
        memory = select(HOST_MEMORIES.c.id).where(
            HOST_MEMORIES.c.id == row.memory_id,
            HOST_MEMORIES.c.user_id == user_id,
        )
        is_foreign = row.embedder != content_hash(embedder)
        dropping = delete(VECTORS).where(
            row.user_id == user_id,
            is_foreign | ~memory.exists(),
        )
        await self._table.change("dropping vectors", dropping)

    async def held(
        self, user_id: str, memories: Sequence[Memory]
    ) -> dict[str, Vectors]:
        """The host's own vectors of just these texts (see ``VectorTable``)."""
        contents = {memory.id: memory.content for memory in memories}
        reading = partial(
            _held, collection=memory_collection(user_id), contents=contents
        )
        with suppress(HostError):
            doing = "reading the host's vectors"
            return await HOST_VECTORS.ask(
                doing, reading, WHOLE_COLLECTION_SECONDS
            )
        return {}


def _held(
    client: Any, collection: str, contents: Mapping[str, str]
) -> dict[str, Vectors]:
    """Vectors of Chroma, the default, and pgvector; some are of former texts, or of a path, too.

    The host's clients give none (host: retrieval/vector/main.py), so these two are asked below.
    """
    rows: list[tuple[str, str, Any]] = []
    if type(client).__name__ == "ChromaClient":
        chroma = client.client.get_collection(
            name=collection, embedding_function=None
        )
        for ids in portions(contents):
            got = chroma.get(ids=ids, include=["documents", "embeddings"])
            rows += zip(
                got["ids"], got["documents"], got["embeddings"], strict=True
            )
    elif type(client).__name__ == "PgvectorClient":
        chunk: Any = vars(sys.modules[type(client).__module__])[
            "DocumentChunk"
        ]
        with client.session.session_factory() as session:
            # With encryption the text comes as bytes, which are no memory's.
            query = session.query(chunk.id, chunk.text, chunk.vector)
            rows = query.filter(chunk.collection_name == collection).all()
    return {
        memory_id: np.asarray(vector, np.float32)
        for memory_id, text, vector in rows
        if contents.get(memory_id) == text
    }


class HostTables:
    """What an instance of the plug-in keeps in the host's database, for all users and workers.

    Nothing is asked of the database before a table is used; ``sessions`` opens another one.
    """

    def __init__(
        self, sealer: Sealer, sessions: Sessions | None = None
    ) -> None:
        entries = SealedEntries(sealer, sessions)
        self.vectors = HostVectorTable(sessions)
        self.pending = HostPendingTable(sealer, sessions)
        self.leases = HostLeases(sessions)
        self.archive = ArchiveTable(entries)
        self.audit = AuditTable(entries)
        self.usage = UsageTable(entries)
        self.suggestions = SuggestionTable(entries, self.leases)
        self.chats = ChatTable(entries, "chat", str, "", DAY_SECONDS)
        self.chat_notes = ChatNotesTable(
            entries, "chat_notes", ChatNotes, ChatNotes()
        )
        self.commands = CommandTable(entries, "command", str, "", YEAR_SECONDS)


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
