"""Vectors of texts: made within bounds, and kept in a table where there is one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from adaptive.errors import EmbeddingError, TablesUnavailable
from adaptive.ports import Embedder, Vectors
from adaptive.search.vectors import normalised
from adaptive.table_ports import StoredVector, VectorTable

log_kept_vectors = logging.getLogger("adaptive_memory.search")

# A chunk on a slow CPU takes a minute; who takes longer hangs.
_LONGEST_CALL_SECONDS = 600.0


async def embedded_texts(embedder: Embedder, texts: Sequence[str], *, query: bool) -> Vectors:
    """Normalised vectors; a call that never returns must not block a user's embedding for good."""
    try:
        async with asyncio.timeout(_LONGEST_CALL_SECONDS):
            return normalised(await embedder.embed(texts, query=query))
    except TimeoutError as error:
        raise EmbeddingError(f"no vectors within {_LONGEST_CALL_SECONDS:g} s") from error


async def stored_vectors(
    table: VectorTable, user_id: str, name: str, memory_ids: Sequence[str] | None = None
) -> dict[str, StoredVector]:
    """A user's vectors for an embedder (of these memories), none where the table refuses."""
    try:
        return await table.read(user_id, name, memory_ids)
    except TablesUnavailable as error:
        log_kept_vectors.info("vectors are kept in this process only: %s", error)
        return {}


async def store_vectors(
    table: VectorTable, user_id: str, name: str, found: Mapping[str, StoredVector]
) -> None:
    """Keep vectors for all workers; where the table refuses, this process alone has them."""
    try:
        await table.write(user_id, name, found)
    except TablesUnavailable as error:
        log_kept_vectors.info("vectors are kept in this process only: %s", error)
