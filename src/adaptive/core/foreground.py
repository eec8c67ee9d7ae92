"""Which turns somebody waits for right now: work behind the answers gives way to them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager

_STILL_WAITING_SECONDS = 0.25  # after a hook, for the host's own work
_LOOK_AGAIN_SECONDS = 0.05


class Foreground:
    """How many turns of this process are in a hook or have just left one: other work gives way."""

    def __init__(self) -> None:
        self._waited_for = 0
        self._clear_at = 0.0

    @contextmanager
    def turn(self) -> Generator[None]:
        """Around a hook that keeps a user waiting, and the moment after it."""
        self._waited_for += 1
        try:
            yield
        finally:
            self._waited_for -= 1
            self._clear_at = time.monotonic() + _STILL_WAITING_SECONDS

    async def give_way(self, seconds: float = 1.0) -> None:
        """Wait until nobody is waiting, for so many seconds at most; then one goes at a time."""
        for _ in range(round(seconds / _LOOK_AGAIN_SECONDS)):
            now = time.monotonic()
            if not self._waited_for and now >= self._clear_at:
                self._clear_at = now + _LOOK_AGAIN_SECONDS
                return
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
