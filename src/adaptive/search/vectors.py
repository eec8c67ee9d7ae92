"""Vectors of texts: arithmetic, making them within bounds, and keeping them for all workers."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence

import numpy as np

from adaptive.core.errors import EmbeddingError, TablesUnavailable
from adaptive.core.ports import Embedder, Vectors
from adaptive.core.table_ports import StoredVector, VectorTable

log_vectors = logging.getLogger("adaptive_memory.search")

# A chunk on a slow CPU takes a minute; who takes longer hangs.
_LONGEST_CALL_SECONDS = 600.0
# What belongs to no user stands in the table under this name instead of a user's.
_NOBODY = ""


def normalised(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def products(vectors: Vectors, vector: Vectors) -> Vectors:
    """The product of each row, of shape (n, d), with a vector of shape (d,).

    OpenBLAS would share it out to all cores, and wait for those that are at work for others.
    """
    found: Vectors = np.einsum("ij,j->i", vectors, vector)
    return found


def content_hash(text: str) -> str:
    """A key for a text: 32 hexadecimal digits."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=16).hexdigest()


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
        log_vectors.info("vectors are kept in this process only: %s", error)
        return {}


async def store_vectors(
    table: VectorTable, user_id: str, name: str, found: Mapping[str, StoredVector]
) -> None:
    """Keep vectors for all workers; where the table refuses, this process alone has them."""
    try:
        await table.write(user_id, name, found)
    except TablesUnavailable as error:
        log_vectors.info("vectors are kept in this process only: %s", error)


class SharedVectors:
    """Normalised vectors of nobody's texts, made once per model by the first process."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = {content_hash(text): text for text in texts}
        self._held: dict[str, Vectors] = {}
        self._making = asyncio.Lock()

    async def known(self, table: VectorTable, name: str) -> Vectors | None:
        """Those of a model that this process or any other has made."""
        if name not in self._held:
            stored = await stored_vectors(table, _NOBODY, name)
            found = [stored[digest].vector for digest in self._texts if digest in stored]
            if len(found) == len(self._texts) and len({len(one) for one in found}) == 1:
                self._held[name] = np.stack(found)
        return self._held.get(name)

    async def made(self, embedder: Embedder, table: VectorTable, dimension: int = 0) -> Vectors:
        """Those of an embedder's model, made where there are none of that dimension (0: any).

        Whoever asks meanwhile waits for the same: a local model takes seconds of all cores.

        Raises:
            EmbeddingError: the embedder brings none.
        """
        name = await embedder.name()
        async with self._making:
            known = await self.known(table, name)
            if known is None or dimension not in (0, known.shape[1]):
                known = await embedded_texts(embedder, [*self._texts.values()], query=True)
                self._held[name] = known
                rows = zip(self._texts, known, strict=True)
                found = {digest: StoredVector(digest, row) for digest, row in rows}
                await store_vectors(table, _NOBODY, name, found)
            return known
