"""Waiting for something to become true, with a message that says what did not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

POLL_SECONDS = 0.01


async def until(
    look: Callable[[], Found],
    timeout: float,
    what: str | Callable[[], str],
    *,
    poll_seconds: float = POLL_SECONDS,
) -> Found:
    """Call ``look`` until it gives something true and return that.

    Raises ``TimeoutError`` naming ``what`` was waited for, which may be told when it was in vain.
    """
    deadline = time.monotonic() + timeout
    while not (found := look()):
        if time.monotonic() > deadline:
            message = f"waited {timeout:g} s in vain for {what if isinstance(what, str) else what()}"
            raise TimeoutError(message)
        await asyncio.sleep(poll_seconds)
    return found
