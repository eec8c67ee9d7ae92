"""Vectors of texts that belong to no user, one set for each embedding model, for all workers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from adaptive.ports import Embedder, Vectors
from adaptive.search.index import content_hash
from adaptive.search.kept_vectors import embedded_texts, store_vectors, stored_vectors
from adaptive.table_ports import StoredVector, VectorTable

# The vectors stand in the table under this name instead of a user's.
_NOBODY = ""


class SharedVectors:
    """Vectors of ``texts``, made once for each model in whichever process needs them first."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = tuple(texts)
        self._digests = tuple(content_hash(text) for text in texts)
        self._held: dict[str, Vectors] = {}
        self._making: dict[str, asyncio.Task[Vectors]] = {}

    def held(self, name: str) -> Vectors | None:
        """Those of a model that this process has at hand, a normalised row for each text."""
        return self._held.get(name)

    async def known(self, table: VectorTable, name: str) -> Vectors | None:
        """Those of a model that this process or any other has made."""
        if name not in self._held:
            stored = await stored_vectors(table, _NOBODY, name)
            found = [stored[digest].vector for digest in self._digests if digest in stored]
            if len(found) == len(self._texts) and len({len(one) for one in found}) == 1:
                self._held[name] = np.stack(found)
        return self._held.get(name)

    async def made(self, embedder: Embedder, table: VectorTable, dimension: int = 0) -> Vectors:
        """Those of an embedder's model, made if nobody has made them yet.

        Those of another ``dimension`` are made anew; 0 takes any. Whoever asks meanwhile waits for
        the same vectors: with a local model they take seconds of all cores.

        Raises:
            EmbeddingError: the embedder brings none.
        """
        name = await embedder.name()
        known = await self.known(table, name)
        if known is not None and dimension in (0, known.shape[1]):
            return known
        making = self._making.get(name)
        if making is None or making.done():
            making = asyncio.create_task(self._make(embedder, table, name))
            self._making[name] = making
        return await asyncio.shield(making)

    async def _make(self, embedder: Embedder, table: VectorTable, name: str) -> Vectors:
        rows = await embedded_texts(embedder, self._texts, query=True)
        found = {
            digest: StoredVector(digest, row)
            for digest, row in zip(self._digests, rows, strict=True)
        }
        self._held[name] = rows
        await store_vectors(table, _NOBODY, name, found)
        return rows
