"""An event loop whose time passes only while everybody waits, and then at once."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any

EPOCH = 1_700_000_000.0


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop for tests without real input and output: hours of sleep take no time.

    ``ending`` is true once the test is over and what it has left behind is cancelled.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.ending = False
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self.now


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        assert timeout is not None, "everybody waits for ever"
        self._loop.now += max(0, timeout)
        return super().select(0)


def in_virtual_time(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, as ``asyncio.run`` does."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        try:
            runner.run(work)
        finally:
            loop = runner.get_loop()
            assert isinstance(loop, VirtualTimeLoop)
            loop.ending = True


def epoch_now() -> float:
    """The virtual wall clock, in epoch seconds."""
    return EPOCH + asyncio.get_running_loop().time()
