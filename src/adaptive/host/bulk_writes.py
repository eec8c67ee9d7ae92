"""Whole rows of the host's memory table, many in one transaction, and their vectors in one call.

The router writes no provenance and embeds each row by itself (host: routers/memories.py,
add_memory), which would take three times as many statements and a second vector of each content.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fastapi import Request
from sqlalchemy import insert, update

from adaptive.core.model import Memory
from adaptive.core.ports import Embedder, NewMemory
from adaptive.host.memory_rows import memory_fields, memory_meta, memory_of_row, meta_with_history
from adaptive.host.own_table import host_session
from adaptive.host.providers import HostEmbedder

# While Chroma writes, no other thread of the process runs: 30 ms for so many rows, 80 for 100.
_INDEXED_AT_ONCE = 25
_EVENT_PAUSE_SECONDS = 0.005

RowEvent = Literal["MEMORY_CREATED", "MEMORY_UPDATED"]


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


async def index_rows(
    request: Request, user: Any, rows: Sequence[Any], event: RowEvent, embedder: Embedder | None
) -> None:
    """Put rows into the user's collection, and tell of them, as the router does.

    A content that ``embedder`` has embedded just now for ourselves is not embedded again.
    """
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT
    from open_webui.routers import memories as router

    # A path stands before the content (host: utils/memory.py, memory_vector_text); 0.9 has none.
    texts = ["\n".join(filter(None, (getattr(row, "path", ""), row.content))) for row in rows]
    # Before 0.11 the router put the prefix for contents before no memory.
    prefix = getattr(router, "RAG_EMBEDDING_CONTENT_PREFIX", None)
    hosts = embedder if isinstance(embedder, HostEmbedder) else HostEmbedder(request, user)
    vectors = [hosts.made.get((prefix, memory_of_row(row).content)) for row in rows]
    new = [text for text, vector in zip(texts, vectors, strict=True) if vector is None]
    made = iter(await hosts.embed_behind(prefix, new, query=False) if new else ())
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
    # Since 0.11; it makes a collection of another dimension anew.
    upsert: Any = getattr(router, "upsert_memory_vectors_or_reindex", None)
    for start in range(0, len(items), _INDEXED_AT_ONCE):
        some = items[start : start + _INDEXED_AT_ONCE]
        if upsert:
            await upsert(request, user, some)
        else:
            await ASYNC_VECTOR_DB_CLIENT.upsert(f"user-memory-{user.id}", some)
    try:
        from open_webui.events import EVENTS, get_event_webhooks, publish_event
        from open_webui.models.functions import Functions
    except ImportError:  # 0.9
        return
    # For each event the host looks for listeners anew, in tasks and on connections of their own.
    listening = await Functions.get_functions_by_type("event", active_only=True)
    for row in rows if listening or await get_event_webhooks() else ():
        data = {"content_preview": row.content[:300], "type": row.type, "path": row.path}
        told = {"actor": user, "subject_id": row.id, "data": data}
        await publish_event(request, getattr(EVENTS, event), **told)
        await asyncio.sleep(_EVENT_PAUSE_SECONDS)
