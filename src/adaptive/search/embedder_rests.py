"""Embedders that have failed rest: nobody asks one again until a probe behind has succeeded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from adaptive.core.model import Embedder, EmbeddingError, Vectors
from adaptive.core.providers import CircuitBreaker

_PROBE = "Is anybody there?"
# A query takes some milliseconds; the limits of messages are some tenths at least.
_HANGS_FROM_SECONDS = 0.3
# Who waits for a command waits for as long as the longest of the last calls, and for so much more.
_BEYOND_USUAL_SECONDS = 0.2
_MOST_SECONDS = 1.5
_FADING = 0.9
# What a call takes, as long as none has been answered.
_UNKNOWN_SECONDS = 0.6


class EmbedderRests(CircuitBreaker):
    """Which embedders rest, by name; keywords serve all users of the process meanwhile."""

    def __init__(
        self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        super().__init__(sleep)
        self._took: dict[str, float] = {}

    async def ask(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        *,
        query: bool,
        briefly: bool = False,
    ) -> Vectors:
        """Vectors by an embedder, which rests once it hangs, or fails for a probe as well.

        Who asks ``briefly`` waits for little longer than the last calls have taken.

        Raises:
            EmbeddingError: it rests, or fails.
            TimeoutError: it has taken too long.
        """
        name = await embedder.name()
        if self.is_open(name):
            raise EmbeddingError("the embedding model rests")
        usual = self._took.get(name, _UNKNOWN_SECONDS)
        patience = min(usual + _BEYOND_USUAL_SECONDS, _MOST_SECONDS)
        began = time.monotonic()
        try:
            async with asyncio.timeout(patience if briefly else None):
                vectors = await embedder.embed(texts, query=query)
        except (EmbeddingError, TimeoutError, asyncio.CancelledError) as error:
            has_hung = time.monotonic() - began >= _HANGS_FROM_SECONDS
            if has_hung or isinstance(error, TimeoutError):
                self.open(name, _probe(embedder))
            # A user's Stop says nothing of the embedder.
            elif isinstance(error, EmbeddingError):
                self.begin(name, embedder)
            raise
        # Nearly the longest of the last calls: each counts a little less with every one after it.
        self._took[name] = max(
            time.monotonic() - began, _FADING * self._took.get(name, 0.0)
        )
        return vectors

    def begin(self, name: str, embedder: Embedder) -> None:
        """Let an embedder rest that has failed, if it fails for a probe as well."""
        self.suspect(name, _probe(embedder))


def _probe(embedder: Embedder) -> Callable[[], Awaitable[Vectors]]:
    """What asks an embedder for the vector of a text that is nobody's."""
    return partial(embedder.embed, [_PROBE], query=True)
