"""Vectors of memories in the host's vector database, as its router has them, and surely deleted.

Some of the host's clients swallow what goes wrong with a deletion (host: retrieval/vector/dbs:
Chroma, Weaviate), and the router has deleted the row by then. A change by hand whose vector is
still being made brings it back behind the deletion. So it is looked, in ways that all engines have,
and once more with the day's sweep.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from typing import Any

from fastapi import Request
from sqlalchemy import Column, String, Table, delete, select

from adaptive.core.errors import (
    EmbeddingError,
    HostError,
    StoreError,
    with_detail,
)
from adaptive.core.ports import Embedder, Vectors
from adaptive.core.shapes import listing
from adaptive.host.entries import ENTRIES, STALE_VECTORS
from adaptive.host.faults import HostFaults
from adaptive.host.memory_rows import memory_of_row
from adaptive.host.own_table import TABLES, OwnTable, Sessions, portions
from adaptive.host.providers import HostEmbedder
from adaptive.host.vector_database import (
    HOST_VECTORS,
    WHOLE_COLLECTION_SECONDS,
)

log_memory_vectors = logging.getLogger("adaptive_memory.host")

# The host's own (host: models/memories.py).
HOST_MEMORIES = Table(
    "memory",
    TABLES,
    Column("id", String),
    Column("user_id", String),
)
# Before each look: some vector databases show a deletion only after a second.
_LOOK_PAUSES_SECONDS = (0.0, 0.5, 1.5)
# A service that takes longer over a portion hangs.
_EMBEDDING_SECONDS = 10.0
# Between tries to bring rows in step, over most of a day.
_TRY_PAUSES_SECONDS = (
    15.0,
    30.0,
    60.0,
    120.0,
    300.0,
    *[600.0] * 6,
    *[3600.0] * 20,
)
# Brought in step. Their texts are embedded on one core (see ``host.providers``), so that another
# one is left.
_ROWS_AT_ONCE = 12
# Between portions, for whoever has waited meanwhile.
_BREATH_SECONDS = 0.05
# Longer than usual; whoever asked for the write waits for no more.
_PATIENCE_SECONDS = 0.2

# Has a user's collection say what rows of these ids say, and nothing of those that are gone.
BringInStep = Callable[[Collection[str]], Awaitable[None]]


def memory_collection(user_id: str) -> str:
    """The name of a user's collection (host: routers/memories.py)."""
    return f"user-memory-{user_id}"


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

    # Before 0.11 the router put the prefix for contents before no memory.
    prefix: str | None = getattr(router, "RAG_EMBEDDING_CONTENT_PREFIX", None)
    metadata: Any = getattr(router, "_memory_metadata", _metadata_of_0_9)
    hosts = (
        embedder
        if isinstance(embedder, HostEmbedder)
        else HostEmbedder(request, user)
    )
    texts = {row.id: _indexed_text(row) for row in rows}
    vectors: dict[str, Vectors] = {}
    for row in rows:
        made = hosts.made.get((prefix, memory_of_row(row).content))
        if made is not None:
            vectors[row.id] = made
    new = [row_id for row_id in texts if row_id not in vectors]
    if new:
        embedded = await _embedded(
            hosts, prefix, [texts[row_id] for row_id in new]
        )
        vectors.update(zip(new, embedded, strict=True))
    items = [
        {
            "id": row.id,
            "text": texts[row.id],
            "vector": vectors[row.id].tolist(),
            "metadata": metadata(row),
        }
        for row in rows
    ]
    await _upsert(request, user, items)


def _metadata_of_0_9(row: Any) -> dict[str, Any]:
    return {"created_at": row.created_at}


def _indexed_text(row: Any) -> str:
    """A path stands before the content (host: utils/memory.py, memory_vector_text), not in 0.9."""
    path = getattr(row, "path", None)
    return f"{path}\n{row.content}" if path else row.content


async def _embedded(
    embedder: HostEmbedder, prefix: str | None, texts: Sequence[str]
) -> Vectors:
    """Vectors of contents; a service that hangs is not waited for, a model at work here is."""
    limit = None if await embedder.in_process() else _EMBEDDING_SECONDS
    try:
        async with asyncio.timeout(limit):
            return await embedder.embed_behind(prefix, texts, query=False)
    except TimeoutError as error:
        reason = f"the embedding model has not answered within {_EMBEDDING_SECONDS:g} s"
        raise EmbeddingError(reason) from error


async def _upsert(
    request: Request, user: Any, items: list[dict[str, Any]]
) -> None:
    """Write vectors; a collection of another dimension is made anew where the host does so."""
    from open_webui.routers import memories as router

    # Since 0.11 (host: routers/memories.py, upsert_memory_vectors_or_reindex).
    reindex: Any = getattr(router, "reindex_memory_vectors_for_user", None)
    name = memory_collection(user.id)
    try:
        await HOST_VECTORS.call(
            "writing Open WebUI's vectors", "upsert", name, items
        )
    except HostError as error:
        detail = error.detail.lower()
        if (
            reindex is None
            or "dimension" not in detail
            or "embedding" not in detail
        ):
            raise
        with HostFaults("making Open WebUI's vectors anew"):
            await reindex(request, user.id, user=user)


async def delete_vectors(user_id: str, ids: Collection[str]) -> None:
    """Delete vectors from a user's collection, where the database does what it is told."""
    name = memory_collection(user_id)
    for portion in portions(ids):
        await HOST_VECTORS.call(
            "deleting vectors of memories", "delete", name, ids=portion
        )


async def sure_of_deletion(user_id: str, memory_ids: Collection[str]) -> None:
    """Delete the vectors of deleted memories once more if they stand; the day's sweep looks again.

    Where some may stay it is logged. All of a collection is read: of 3,000 vectors that takes
    Chroma 70 ms, in which nobody else stands still.
    """
    await note_deletion(user_id)
    reason = "some still stood"
    try:
        for pause in _LOOK_PAUSES_SECONDS:
            await asyncio.sleep(pause)
            vectors = await _all_ids(memory_collection(user_id))
            standing = vectors.intersection(memory_ids)
            if not standing:
                return
            await delete_vectors(user_id, standing)
    except HostError as error:
        reason = with_detail(error)
    log_memory_vectors.warning(
        "the vector database may hold vectors of deleted memories; they are swept in a day: %s",
        reason,
    )


async def note_deletion(
    user_id: str, sessions: Sessions | None = None
) -> None:
    """Have the day's sweep look for vectors of a user's deleted memories."""
    note = {
        "user_id": user_id,
        "kind": STALE_VECTORS,
        "key": "memories",
        "chat_id": "",
        "message_id": "",
        "created_at": int(time.time()),
        "expires_at": None,
        "body": "noted",
    }
    try:
        await OwnTable(ENTRIES, sessions).upsert("noting a deletion", [note])
    except HostError as error:
        log_memory_vectors.warning("%s", with_detail(error))


async def sweep_stale_vectors(sessions: Sessions | None = None) -> None:
    """Delete the vectors without a memory of the users whose memories were deleted.

    Raises:
        HostError: our tables can't be read.
    """
    table = OwnTable(ENTRIES, sessions)
    is_note = ENTRIES.c.kind == STALE_VECTORS
    notes = await table.rows(
        "reading of stale vectors", select(ENTRIES.c.user_id).where(is_note)
    )
    for note in notes:
        try:
            await delete_vectors(
                note.user_id, await _orphans(note.user_id, table)
            )
            left = await _orphans(note.user_id, table)
        except HostError as error:
            log_memory_vectors.warning(
                "stale vectors are swept another day: %s", with_detail(error)
            )
            continue
        if left:
            log_memory_vectors.warning(
                "%d vectors of deleted memories can't be deleted", len(left)
            )
            continue
        swept = delete(ENTRIES).where(
            is_note, ENTRIES.c.user_id == note.user_id
        )
        await table.change("dropping a note of stale vectors", swept)


async def _orphans(user_id: str, table: OwnTable) -> set[str]:
    """The vectors without a memory; a row is written before its vector, so these are read first."""
    vectors = await _all_ids(memory_collection(user_id))
    rows = select(HOST_MEMORIES.c.id).where(HOST_MEMORIES.c.user_id == user_id)
    memories = await table.rows("reading the memories of a user", rows)
    return vectors - {memory.id for memory in memories}


async def drop_collection(name: str) -> None:
    """Remove a collection and look that nothing of it is left.

    One that is not there is an error for some vector databases, so only looking tells.

    Raises:
        HostError: vectors still stand, or nobody can tell.
    """
    doing = "erasing Open WebUI's vectors"
    try:
        await HOST_VECTORS.call(
            doing, "delete_collection", name, seconds=WHOLE_COLLECTION_SECONDS
        )
    except HostError as error:
        log_memory_vectors.debug("%s", with_detail(error))
    for pause in _LOOK_PAUSES_SECONDS:
        await asyncio.sleep(pause)
        if not await _all_ids(name):
            return
    raise StoreError("Open WebUI's vectors of the memories still stand")


async def _all_ids(name: str) -> set[str]:
    """The ids of all vectors in a collection, none where there is no collection.

    0.9 denies by name every collection that Chroma has, so that is asked only where reading fails.

    Raises:
        HostError: nobody can tell.
    """
    doing = "reading Open WebUI's vectors"
    try:
        result = await HOST_VECTORS.call(
            doing, "get", name, seconds=WHOLE_COLLECTION_SECONDS
        )
    except HostError:
        if await HOST_VECTORS.call(doing, "has_collection", name):
            raise
        return set()
    lists = listing(getattr(result, "ids", None))
    return set(map(str, listing(lists[0]))) if lists else set()


class VectorUpkeep:
    """Users' rows whose vectors are behind, and the tasks that bring these in step.

    Rows are what counts: recall has vectors of its own. The host's collection serves the host's own
    search and tools, so it may lag behind for as long as the vector database or the embedding
    service is away. What is behind is known to this process alone; after a restart an admin's
    reindexing of memories makes it good (host: routers/memories.py, ``/reindex``).
    """

    def __init__(
        self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._sleep = sleep
        self._behind: dict[str, set[str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def written(
        self, user_id: str, row_ids: Collection[str], step: BringInStep
    ) -> None:
        """Bring rows in step; what takes longer than a moment, or fails, goes on behind.

        Many rows are waited for until they are written, or have failed once.
        """
        behind = self._behind.get(user_id)
        if behind is not None:
            behind.update(row_ids)
            return
        self._behind[user_id] = set(row_ids)
        tried = asyncio.Event()
        task = asyncio.create_task(self._catch_up(user_id, step, tried))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with suppress(TimeoutError):
            few = len(row_ids) <= _ROWS_AT_ONCE
            await asyncio.wait_for(
                tried.wait(), _PATIENCE_SECONDS if few else None
            )

    def forget(self, user_id: str) -> None:
        """Let go of what is behind of a user whose whole collection is gone."""
        if user_id in self._behind:
            self._behind[user_id].clear()

    async def _catch_up(
        self, user_id: str, step: BringInStep, tried: asyncio.Event
    ) -> None:
        """Try again and again; in the end the rows are left to an admin's reindexing."""
        behind = self._behind[user_id]
        try:
            for pause in _TRY_PAUSES_SECONDS:
                if await self._caught_up(behind, step):
                    return
                tried.set()
                await self._sleep(pause)
            log_memory_vectors.warning(
                "Open WebUI's own vectors of %d memories are missing: reindex memories",
                len(behind),
            )
        finally:
            del self._behind[user_id]
            tried.set()

    async def _caught_up(self, behind: set[str], step: BringInStep) -> bool:
        """Bring rows in step portion by portion; whether none is left."""
        while behind:
            portion = sorted(behind)[:_ROWS_AT_ONCE]
            # Before they are read: a row that is changed meanwhile comes again.
            behind.difference_update(portion)
            try:
                await step(portion)
            except (HostError, EmbeddingError) as error:
                behind.update(portion)
                log_memory_vectors.warning(
                    "Open WebUI's own vectors come later: %s",
                    with_detail(error),
                )
                return False
            if behind:
                await self._sleep(_BREATH_SECONDS)
        return True


# One for the whole process, since each hook makes a store of its own.
VECTOR_UPKEEP = VectorUpkeep()
