"""Embedders that have failed rest: nobody asks one again until a probe behind has succeeded."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from adaptive.core.errors import EmbeddingError, with_detail
from adaptive.core.ports import Embedder, Vectors

log_rests = logging.getLogger("adaptive_memory.search")

_PROBE = "Is anybody there?"
_PROBE_SECONDS = 30.0
_FIRST_PAUSE_SECONDS = 15.0
_LONGEST_PAUSE_SECONDS = 300.0
# A query takes some milliseconds; the limits of messages are some tenths at least.
_HANGS_FROM_SECONDS = 0.3
# Who waits for a command waits for as long as the longest of the last calls, and for so much more.
_BEYOND_USUAL_SECONDS = 0.2
_MOST_SECONDS = 1.5
_FADING = 0.9
# What a call takes, as long as none has been answered.
_UNKNOWN_SECONDS = 0.6


class EmbedderRests:
    """Which embedders rest, by name; keywords serve all users of the process meanwhile.

    The first probe begins at once, so that a call that somebody broke off, or one that took too
    long on a busy machine, makes no long rest.
    """

    def __init__(self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._sleep = sleep
        self._probes: dict[str, asyncio.Task[None]] = {}
        self._took: dict[str, float] = {}

    def are_on(self, name: str) -> bool:
        """Whether an embedder rests."""
        return name in self._probes

    async def ask(
        self, embedder: Embedder, texts: Sequence[str], *, query: bool, briefly: bool = False
    ) -> Vectors:
        """Vectors by an embedder, which rests once it fails or hangs.

        Who asks ``briefly`` waits for little longer than the last calls have taken.

        Raises:
            EmbeddingError: it rests, or fails.
            TimeoutError: it has taken too long.
        """
        name = await embedder.name()
        if self.are_on(name):
            raise EmbeddingError("the embedding model rests")
        usual = self._took.get(name, _UNKNOWN_SECONDS)
        patience = min(usual + _BEYOND_USUAL_SECONDS, _MOST_SECONDS)
        began = time.monotonic()
        try:
            async with asyncio.timeout(patience if briefly else None):
                vectors = await embedder.embed(texts, query=query)
        except (EmbeddingError, TimeoutError, asyncio.CancelledError) as error:
            # A user's Stop says nothing of the embedder, a time limit that has come does.
            is_short = time.monotonic() - began < _HANGS_FROM_SECONDS
            if not (is_short and isinstance(error, asyncio.CancelledError)):
                self.begin(name, embedder)
            raise
        # Nearly the longest of the last calls: each counts a little less with every one after it.
        self._took[name] = max(time.monotonic() - began, _FADING * self._took.get(name, 0.0))
        return vectors

    def begin(self, name: str, embedder: Embedder) -> None:
        """Let an embedder rest that has failed, or was not waited for to the end."""
        if name not in self._probes:
            self._probes[name] = asyncio.create_task(self._probed(name, embedder))

    async def _probed(self, name: str, embedder: Embedder) -> None:
        """Ask until it answers, more and more seldom."""
        pause = _FIRST_PAUSE_SECONDS
        try:
            while not await _answers(embedder):
                await self._sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        finally:
            del self._probes[name]


async def _answers(embedder: Embedder) -> bool:
    """Whether an embedder makes a vector in time."""
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            await embedder.embed([_PROBE], query=True)
    except (EmbeddingError, TimeoutError) as error:
        log_rests.warning(
            "the embedding model is left in peace for a while: %s", with_detail(error)
        )
        return False
    return True
