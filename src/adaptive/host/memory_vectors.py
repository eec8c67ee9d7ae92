"""Vectors of memories in the host's vector database, as its router has them, and surely deleted.

Some of the host's clients swallow what goes wrong with a deletion (host: retrieval/vector/dbs:
Chroma, Weaviate), and the router has deleted the row by then. So it is looked, in ways that all
engines have, and once more with the day's sweep. Beside them stands our own table of vectors, which
recall reads.
"""

import asyncio
import sys
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from fastapi import Request
from sqlalchemy import delete, select

from adaptive.core import (
    EmbeddingError,
    HostError,
    JsonObject,
    KeyedLocks,
    Memory,
    StoredVector,
    StoreError,
    Vectors,
    frozen,
    log,
    log_failure,
    portions,
    with_detail,
)
from adaptive.host.database import HOST_MEMORIES, VECTORS, HostDatabase
from adaptive.host.embedding import HostModel
from adaptive.host.vector_database import (
    HOST_VECTORS,
    WHOLE_COLLECTION_SECONDS,
    first_list,
)
from adaptive.search import content_hash, name_parts

# Before each look: some vector databases show a deletion only after a second.
_LOOK_PAUSES_SECONDS = (0.0, 0.5, 1.5)
# Between tries to bring rows in step, over a day.
_TRY_PAUSES_SECONDS = (0.5, 1.5, 15.0, 60.0, 300.0, *[3600.0] * 24)
# A portion that takes longer hangs.
_TRY_SECONDS = 60.0
# Brought in step. Their texts are embedded on one core (see ``host.embedding``), so that another
# one is left.
_ROWS_AT_ONCE = 12
# Whoever asked for the write waits for no more; it is longer than usual.
_PATIENCE_SECONDS = 0.2

# Of the 32 letters that stand for an embedder in our table.
_IDENTITY_LETTERS = 20
_FINGERPRINT_LETTERS = 12

# Has a user's collection say what rows of these ids say, and nothing of those that are gone.
BringInStep = Callable[[Collection[str]], Awaitable[None]]


def memory_collection(user_id: str) -> str:
    """The name of a user's collection (host: routers/memories.py)."""
    return f"user-memory-{user_id}"


async def index_rows(request: Request, user: Any, rows: Sequence[Any]) -> None:
    """Put rows into the user's collection as the router does.

    Raises:
        EmbeddingError: no vectors were made.
        HostError: the vector database refuses them, or does not answer.
    """
    from open_webui.routers import memories as router

    # Before 0.11 the router put the prefix for contents before no memory.
    prefix: str | None = getattr(router, "RAG_EMBEDDING_CONTENT_PREFIX", None)
    metadata: Any = getattr(router, "_memory_metadata", _metadata_of_0_9)
    texts = [_indexed_text(row) for row in rows]
    model = await HostModel.of(request, user)
    vectors = await model.embed_behind(prefix, texts, query=False)
    items = [
        {
            "id": row.id,
            "text": text,
            "vector": vector.tolist(),
            "metadata": metadata(row),
        }
        for row, text, vector in zip(rows, texts, vectors, strict=True)
    ]
    await HOST_VECTORS.call(
        "writing Open WebUI's vectors",
        "upsert",
        memory_collection(user.id),
        items,
    )


def _metadata_of_0_9(row: Any) -> JsonObject:
    return {"created_at": row.created_at}


def _indexed_text(row: Any) -> str:
    """A path stands before the content (host: utils/memory.py, memory_vector_text), not in 0.9."""
    path = getattr(row, "path", None)
    return f"{path}\n{row.content}" if path else row.content


async def delete_vectors(
    user_id: str, ids: Collection[str] | None = None
) -> None:
    """Delete these vectors of a user, or the whole collection, and look that they are gone.

    All of a collection is read: of 3,000 vectors that takes Chroma 70 ms, in which nobody else
    stands still. To delete from one that is not there is an error for some vector databases.

    Raises:
        HostError: some still stand, or nobody can tell.
    """
    name = memory_collection(user_id)
    doing = "deleting Open WebUI's vectors"
    if ids is None:
        deleting = HOST_VECTORS.call(
            doing, "delete_collection", name, seconds=WHOLE_COLLECTION_SECONDS
        )
    else:
        deleting = HOST_VECTORS.call(doing, "delete", name, ids=[*ids])
    try:
        await deleting
    except HostError as error:
        log.debug("%s", with_detail(error))
    for pause in _LOOK_PAUSES_SECONDS:
        await asyncio.sleep(pause)
        standing = await standing_vectors(name)
        if standing.isdisjoint(standing if ids is None else ids):
            return
    raise StoreError(detail="vectors of deleted memories still stand")


async def standing_vectors(name: str) -> set[str]:
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
    return set(map(str, first_list(result, "ids")))


async def held_vectors(
    user_id: str, contents: Mapping[str, str]
) -> dict[str, Vectors]:
    """The host's own vectors of just these texts, by memory id; none where it gives none."""
    reading = partial(
        _held, collection=memory_collection(user_id), contents=contents
    )
    with suppress(HostError):
        doing = "reading the host's vectors"
        return await HOST_VECTORS.ask(doing, reading, WHOLE_COLLECTION_SECONDS)
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


class VectorUpkeep:
    """Brings the host's vectors in step with rows, behind whoever has written these.

    Rows are what counts: recall has vectors of its own. The host's collection serves the host's own
    search and tools, so it may lag behind for as long as the vector database or the embedding
    service is away. What is behind is known to this process alone, in ``tasks``; after a restart
    an admin's reindexing of memories makes it good (host: routers/memories.py, ``/reindex``), and
    the day's sweep takes vectors of deleted memories away.
    """

    def __init__(
        self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._sleep = sleep
        self._users = KeyedLocks()
        self.tasks: set[asyncio.Task[None]] = set()

    async def written(
        self, user_id: str, row_ids: Collection[str], step: BringInStep
    ) -> None:
        """Bring rows in step; what takes longer than a moment, or fails, goes on behind."""
        task = asyncio.create_task(self._catch_up(user_id, row_ids, step))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        await asyncio.wait({task}, timeout=_PATIENCE_SECONDS)

    async def _catch_up(
        self, user_id: str, row_ids: Collection[str], step: BringInStep
    ) -> None:
        """Try again and again; in the end the rows are left to an admin's reindexing."""
        for portion in portions(row_ids, _ROWS_AT_ONCE):
            for pause in _TRY_PAUSES_SECONDS:
                try:
                    async with (
                        self._users.of(user_id),
                        asyncio.timeout(_TRY_SECONDS),
                    ):
                        await step(portion)
                    break
                except (HostError, EmbeddingError, TimeoutError) as error:
                    log_failure("Open WebUI's own vectors come later", error)
                await self._sleep(pause)
            else:
                log.warning(
                    "Open WebUI's own vectors are not in step: reindex memories"
                )


# One for the whole process, since each hook makes a store of its own.
VECTOR_UPKEEP = VectorUpkeep()


@frozen
class HostVectorTable:
    """Vectors by user, memory and embedder; little-endian float32, scaled to length 1."""

    database: HostDatabase

    async def read(
        self,
        user_id: str,
        embedder: str,
        memory_ids: Sequence[str] | None = None,
    ) -> dict[str, StoredVector]:
        """A user's vectors of one embedder, by memory id; of at most 900 memories, or of all."""
        row = VECTORS.c
        query = select(row.memory_id, row.content_hash, row.vector).where(
            row.user_id == user_id, row.embedder == _embedder_key(embedder)
        )
        if memory_ids is not None:
            query = query.where(VECTORS.c.memory_id.in_(memory_ids))
        return {
            row.memory_id: StoredVector(
                row.content_hash, np.frombuffer(row.vector, "<f4")
            )
            for row in await self.database.rows("reading vectors", query)
        }

    async def write(
        self, user_id: str, embedder: str, vectors: Mapping[str, StoredVector]
    ) -> None:
        """Store vectors by memory id, replacing former ones of the same memories."""
        key = _embedder_key(embedder)
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
        await self.database.upsert("writing vectors", VECTORS, rows)

    async def tidy(self, user_id: str, embedder: str) -> None:
        """Drop vectors of memories that the host has no more, and those of other identities.

        Another worker may still be answered by the former model of the same identity.
        """
        row = VECTORS.c
        memory = select(HOST_MEMORIES.c.id).where(
            HOST_MEMORIES.c.id == row.memory_id,
            HOST_MEMORIES.c.user_id == user_id,
        )
        is_foreign = ~row.embedder.startswith(_identity_key(embedder))
        dropping = delete(VECTORS).where(
            row.user_id == user_id,
            is_foreign | ~memory.exists(),
        )
        await self.database.change("dropping vectors", dropping)

    async def held(
        self, user_id: str, memories: Sequence[Memory]
    ) -> dict[str, Vectors]:
        """The host's own vectors of just these texts (see ``VectorTable``)."""
        contents = {memory.id: memory.content for memory in memories}
        return await held_vectors(user_id, contents)


def _embedder_key(embedder: str) -> str:
    """What stands for an embedder's name: of its identity, then of its fingerprint, if it has one."""
    _, fingerprint = name_parts(embedder)
    return f"{_identity_key(embedder)}{fingerprint[:_FINGERPRINT_LETTERS]}"


def _identity_key(embedder: str) -> str:
    identity, _ = name_parts(embedder)
    return content_hash(identity)[:_IDENTITY_LETTERS]
