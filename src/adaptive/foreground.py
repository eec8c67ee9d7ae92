"""Turns that somebody is waiting for, to which work behind the answers gives way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

# Behind an inlet the host prepares the model's request, and behind an outlet it tells the page that
# the answer is complete; the user waits for both.
_STILL_WAITING_SECONDS = 0.25
# A busy server always has a turn in hand. Nobody waits for a lesson, but it is to come to an end.
_MOST_GIVEN_WAY_SECONDS = 1.0

GiveWay = Callable[[], Awaitable[None]]


async def no_way_to_give() -> None:
    """Give way to nobody."""


class Foreground:
    """How many turns of this process are in a hook of the plug-in, or have just left one."""

    def __init__(
        self,
        patience: float = _MOST_GIVEN_WAY_SECONDS,
        still_waiting: float = _STILL_WAITING_SECONDS,
    ) -> None:
        self._patience, self._still_waiting = patience, still_waiting
        self._waited_for = 0
        self._clear = asyncio.Event()
        self._clear.set()

    @contextmanager
    def turn(self) -> Generator[None]:
        """Around a hook that keeps a user waiting, and the moment after it."""
        self._waited_for += 1
        self._clear.clear()
        try:
            yield
        finally:
            asyncio.get_running_loop().call_later(self._still_waiting, self._left)

    async def give_way(self) -> None:
        """Wait until nobody is waiting, at most for the patience; seconds."""
        if self._clear.is_set():
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._clear.wait()
        except TimeoutError:
            return

    def _left(self) -> None:
        self._waited_for -= 1
        if not self._waited_for:
            self._clear.set()
