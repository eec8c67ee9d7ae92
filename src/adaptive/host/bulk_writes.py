"""Whole rows of the host's memory table, many in one transaction, and their vectors in one call.

The router writes no provenance and embeds each row by itself (host: routers/memories.py,
add_memory), which would take three times as many statements and a second vector of each content.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fastapi import Request
from sqlalchemy import delete, insert, update

from adaptive.core.errors import EmbeddingError, HostError, with_detail
from adaptive.core.model import Memory
from adaptive.core.ports import Embedder, NewMemory, Vectors
from adaptive.host.faults import HostFaults
from adaptive.host.memory_rows import memory_fields, memory_meta, memory_of_row, meta_with_history
from adaptive.host.own_table import host_session
from adaptive.host.providers import HostEmbedder
from adaptive.host.vector_database import HOST_VECTORS

log_bulk_writes = logging.getLogger("adaptive_memory.host")

# While Chroma writes or deletes, no other thread of the process runs: 30 ms for so many rows, 80
# for 100.
VECTORS_AT_ONCE = 25
_EVENT_PAUSE_SECONDS = 0.005
# A service that takes longer over a portion hangs.
_EMBEDDING_SECONDS = 10.0

RowEvent = Literal["MEMORY_CREATED", "MEMORY_UPDATED", "MEMORY_DELETED"]


def new_row(user_id: str, memory: NewMemory, former: Memory | None = None) -> dict[str, Any]:
    """A memory as a new row, or in the place of a former one, which its meta keeps."""
    from open_webui.routers.memories import AddMemoryForm

    (draft, source, extra), now = memory, int(time.time())
    row_id, created_at = str(uuid.uuid4()), min(source.said_at, now)
    if former is not None:
        row_id, created_at, extra = former.id, former.created_at, meta_with_history(former)
    row = memory_fields(AddMemoryForm, draft) | {"id": row_id, "user_id": user_id}
    row |= {"path": row.get("path") or None, "meta": memory_meta(draft, source, extra or {})}
    return row | {"created_at": created_at, "updated_at": now}


def former_row(user_id: str, memory: Memory) -> dict[str, Any]:
    """A row as it stood."""
    content, kind, path = memory.stored
    row = {"id": memory.id, "user_id": user_id, "content": content}
    row |= {"type": kind or "context", "path": path, "meta": dict(memory.meta) or None}
    return row | {"created_at": memory.created_at, "updated_at": int(time.time())}


async def write_rows(table: Any, rows: Sequence[Mapping[str, Any]], event: RowEvent) -> None:
    """Add rows or change those that stand, as far as the release has columns for what is in them.

    A row that somebody has deleted meanwhile does not come back by a change.
    """
    columns = [{name: value for name, value in row.items() if name in table.c} for row in rows]
    async with host_session() as session:
        if event == "MEMORY_CREATED":
            await session.execute(insert(table), columns)
        for row in columns if event == "MEMORY_UPDATED" else ():
            this = (table.c.id == row["id"], table.c.user_id == row["user_id"])
            await session.execute(update(table).where(*this).values(row))
        await session.commit()


async def delete_rows(table: Any, user_id: str, row_ids: Sequence[str] | None = None) -> None:
    """Delete a user's rows of these ids, or all, by one statement."""
    deleting = delete(table).where(table.c.user_id == user_id)
    if row_ids is not None:
        deleting = deleting.where(table.c.id.in_(row_ids))
    async with host_session() as session:
        await session.execute(deleting)
        await session.commit()


async def index_rows(
    request: Request, user: Any, rows: Sequence[Any], embedder: Embedder | None
) -> None:
    """Put rows into the user's collection as the router does.

    A content that ``embedder`` has embedded just now for ourselves is not embedded again.

    Raises:
        EmbeddingError: no vectors were made, or not in time.
        HostError: the vector database refuses them, or does not answer.
    """
    from open_webui.routers import memories as router

    # A path stands before the content (host: utils/memory.py, memory_vector_text); 0.9 has none.
    texts = ["\n".join(filter(None, (getattr(row, "path", ""), row.content))) for row in rows]
    # Before 0.11 the router put the prefix for contents before no memory.
    prefix = getattr(router, "RAG_EMBEDDING_CONTENT_PREFIX", None)
    hosts = embedder if isinstance(embedder, HostEmbedder) else HostEmbedder(request, user)
    vectors = [hosts.made.get((prefix, memory_of_row(row).content)) for row in rows]
    new = [text for text, vector in zip(texts, vectors, strict=True) if vector is None]
    made = iter(await _embedded(hosts, prefix, new))
    metadata: Any = getattr(router, "_memory_metadata", None)
    items = [
        {
            "id": row.id,
            "text": text,
            "vector": (next(made) if vector is None else vector).tolist(),
            "metadata": metadata(row) if metadata else {"created_at": row.created_at},  # 0.9
        }
        for row, text, vector in zip(rows, texts, vectors, strict=True)
    ]
    for start in range(0, len(items), VECTORS_AT_ONCE):
        await _upsert(request, user, items[start : start + VECTORS_AT_ONCE])


async def _embedded(
    embedder: HostEmbedder, prefix: str | None, texts: Sequence[str]
) -> Sequence[Vectors]:
    """Vectors of contents; a service that hangs is not waited for, a model at work here is."""
    if not texts:
        return ()
    limit = None if await embedder.in_process() else _EMBEDDING_SECONDS
    try:
        async with asyncio.timeout(limit):
            return [*await embedder.embed_behind(prefix, texts, query=False)]
    except TimeoutError as error:
        why = f"the embedding model has not answered within {_EMBEDDING_SECONDS:g} s"
        raise EmbeddingError(why) from error


async def _upsert(request: Request, user: Any, items: list[dict[str, Any]]) -> None:
    """Write vectors; a collection of another dimension is made anew where the host does so."""
    from open_webui.routers import memories as router

    # Since 0.11 (host: routers/memories.py, upsert_memory_vectors_or_reindex).
    reindex: Any = getattr(router, "reindex_memory_vectors_for_user", None)
    try:
        with HostFaults("writing Open WebUI's vectors"):
            await HOST_VECTORS.call("upsert", f"user-memory-{user.id}", items)
    except HostError as error:
        told = error.detail.lower()
        if reindex is None or "dimension" not in told or "embedding" not in told:
            raise
        with HostFaults("making Open WebUI's vectors anew"):
            await reindex(request, user.id, user=user)


async def publish_rows(request: Request, user: Any, rows: Sequence[Any], event: RowEvent) -> None:
    """Tell of rows as the router does; of what is deleted it tells the id alone."""
    try:
        from open_webui.events import EVENTS, get_event_webhooks, publish_event
        from open_webui.models.functions import Functions
    except ImportError:  # 0.9
        return
    try:
        with HostFaults("telling listeners of changed memories"):
            # For each event the host looks for listeners anew, in tasks and on connections of
            # their own.
            listening = await Functions.get_functions_by_type("event", active_only=True)
            for row in rows if listening or await get_event_webhooks() else ():
                told: dict[str, Any] = {"actor": user, "subject_id": row.id}
                if event != "MEMORY_DELETED":
                    preview = row.content[:300]
                    told["data"] = {"content_preview": preview, "type": row.type, "path": row.path}
                await publish_event(request, getattr(EVENTS, event), **told)
                await asyncio.sleep(_EVENT_PAUSE_SECONDS)
    except HostError as error:  # what is written stands all the same
        log_bulk_writes.warning("%s", with_detail(error))
