"""A message as it is searched with: its text, its vector, and the message before it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import numpy as np

from adaptive.core.errors import EmbeddingError
from adaptive.core.measures import count_anomaly, staged
from adaptive.core.messages import has_words, head_and_tail
from adaptive.core.ports import Embedder, Vectors
from adaptive.search.fusion import Asked
from adaptive.search.vectors import normalised

log_query = logging.getLogger("adaptive_memory.search")

# Embedding models read a few hundred tokens; head and tail of a long message tell its subject.
_LONGEST_QUERY = 4000


class TurnEmbedder:
    """An ``Embedder`` that embeds no query twice; it is made for one turn of one user.

    Memories and past conversation are searched at the same time.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._made: dict[str, Vectors] = {}
        self._making = asyncio.Lock()

    async def name(self) -> str:
        """The other's name (see ``Embedder``)."""
        return await self._embedder.name()

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts (see ``Embedder``); those of queries are kept."""
        if not query:
            return await self._embedder.embed(texts, query=False)
        async with self._making:
            if new := [text for text in dict.fromkeys(texts) if text not in self._made]:
                rows = await self._embedder.embed(new, query=True)
                self._made.update(zip(new, rows, strict=True))
        return np.stack([self._made[text] for text in texts])


@staged("embedding")
async def query_vectors(
    embedder: Embedder, texts: Sequence[str], patience: float
) -> Vectors | None:
    """Normalised vectors of the texts that hold words; ``None`` where keywords have to serve.

    That is where none does, and where the provider fails or takes more than ``patience`` seconds.
    """
    said = [head_and_tail(text, _LONGEST_QUERY) for text in texts if has_words(text)]
    if not said:
        return None
    try:
        async with asyncio.timeout(patience):
            return normalised(await embedder.embed(said, query=True))
    except (EmbeddingError, TimeoutError) as error:
        count_anomaly("embedding_failed")
        reason = str(error) or f"no vector within {patience:g} s"
        log_query.warning("a message is searched by its keywords only: %s", reason)
        return None


def asked_for(text: str, previous: str, vectors: Vectors | None, dimension: int) -> Asked:
    """The message to rank for; vectors of another dimension than the store's are left out.

    That is so while the store has none yet, and when another model answers to the same name.
    """
    previous = previous if has_words(previous) else ""
    text = head_and_tail(text, _LONGEST_QUERY)
    if vectors is None or vectors.shape[1] != dimension:
        return Asked(text, None, previous)
    return Asked(text, vectors[0], previous, vectors[1] if len(vectors) > 1 else None)
