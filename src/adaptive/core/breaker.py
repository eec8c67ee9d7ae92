"""Services that have failed: nobody asks one again until a probe behind has succeeded."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from adaptive.core.errors import AdaptiveMemoryError, with_detail

log_breaker = logging.getLogger("adaptive_memory.core")

_PROBE_SECONDS = 30.0
_FIRST_PAUSE_SECONDS = 15.0
_LONGEST_PAUSE_SECONDS = 300.0


class CircuitBreaker:
    """Which services are left alone, by name, as long as their circuit is open.

    The first probe begins at once, so that a call that somebody broke off, or one that took too
    long on a busy machine, opens it for no longer than need be; pauses between others grow.
    """

    def __init__(
        self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._sleep = sleep
        self._probes: dict[str, asyncio.Task[None]] = {}
        self._open: set[str] = set()

    def is_open(self, name: str) -> bool:
        """Whether a service is not to be asked."""
        return name in self._open

    def open(self, name: str, probe: Callable[[], Awaitable[object]]) -> None:
        """Leave a service alone that has failed, until a probe of it raises nothing in time."""
        self._open.add(name)
        self.suspect(name, probe)

    def suspect(
        self, name: str, probe: Callable[[], Awaitable[object]]
    ) -> None:
        """Leave a service alone if a probe fails, too: it may have refused what one user asked."""
        if name not in self._probes:
            task = asyncio.create_task(self._probed(name, probe))
            self._probes[name] = task
            # Not within the task: one that is cancelled before its first step never runs.
            task.add_done_callback(partial(self._ended, name))

    def close(self, name: str) -> None:
        """Let a service be asked that has answered by itself."""
        if name in self._probes:
            self._probes[name].cancel()

    def _ended(self, name: str, probing: asyncio.Task[None]) -> None:
        """Let a service be asked whose probe is over, however that has ended."""
        del self._probes[name]
        self._open.discard(name)
        error = None if probing.cancelled() else probing.exception()
        if error is not None:
            log_breaker.error(
                "the probe of %s has failed", name, exc_info=error
            )

    async def _probed(
        self, name: str, probe: Callable[[], Awaitable[object]]
    ) -> None:
        """Ask until there is an answer, more and more seldom."""
        pause = _FIRST_PAUSE_SECONDS
        while not await _has_answered(name, probe):
            self._open.add(name)
            await self._sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


async def _has_answered(
    name: str, probe: Callable[[], Awaitable[object]]
) -> bool:
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            await probe()
    except (AdaptiveMemoryError, TimeoutError) as error:
        log_breaker.warning(
            "%s is left in peace for a while: %s", name, with_detail(error)
        )
        return False
    return True
