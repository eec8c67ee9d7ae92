"""Turns that somebody is waiting for, to which work behind the answers gives way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress

# Around a hook the host has work of its own that the user waits for.
_STILL_WAITING_SECONDS = 0.25
# A busy server always has a turn in hand, and a lesson is to come to an end.
_MOST_GIVEN_WAY_SECONDS = 1.0

GiveWay = Callable[[], Awaitable[None]]


async def nobody_waits() -> None:
    """Give way to nobody."""


class Foreground:
    """How many turns of this process are in a hook of the plug-in, or have just left one."""

    def __init__(self) -> None:
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
            asyncio.get_running_loop().call_later(_STILL_WAITING_SECONDS, self._left)

    async def give_way(self) -> None:
        """Wait until nobody is waiting, for a second at most."""
        if not self._clear.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._clear.wait(), _MOST_GIVEN_WAY_SECONDS)

    def _left(self) -> None:
        self._waited_for -= 1
        if not self._waited_for:
            self._clear.set()
