"""Embedders that have failed rest: nobody asks one again until a probe behind has succeeded."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from adaptive.core.errors import EmbeddingError, with_detail
from adaptive.core.ports import Embedder

log_rests = logging.getLogger("adaptive_memory.search")

_PROBE = "Is anybody there?"
_PROBE_SECONDS = 30.0
_FIRST_PAUSE_SECONDS = 15.0
_LONGEST_PAUSE_SECONDS = 300.0


class EmbedderRests:
    """Which embedders rest, by name; keywords serve all users of the process meanwhile.

    The first probe begins at once, so that a call that somebody broke off, or one that took too
    long on a busy machine, makes no long rest.
    """

    def __init__(self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._sleep = sleep
        self._probes: dict[str, asyncio.Task[None]] = {}

    def are_on(self, name: str) -> bool:
        """Whether an embedder rests."""
        return name in self._probes

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
