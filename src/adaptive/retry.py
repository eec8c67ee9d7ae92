"""Trying again: exponential backoff with full jitter, ``Retry-After``, never after cancellation."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from adaptive.errors import ModelBusy

_LONGEST_PAUSE = 30.0

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to try again and how long to wait before; times in seconds."""

    retries: int = 2
    first_pause: float = 1.0

    def pause(self, attempt: int, asked: float | None, chance: float) -> float:
        """Seconds before try ``attempt + 1``: what was asked, else between half and all of 2**n.

        ``chance`` is a random number from 0 to 1. A provider's ``Retry-After`` is obeyed as a
        minimum.
        """
        ceiling = min(_LONGEST_PAUSE, self.first_pause * 2**attempt)
        jittered = ceiling * (0.5 + chance / 2)
        return max(jittered, asked) if asked is not None else jittered


async def with_retry(
    call: Callable[[], Awaitable[Result]],
    policy: RetryPolicy,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> Result:
    """Call until it succeeds, fails for good, or the retries are used up.

    Only ``ModelBusy`` is tried again. The caller bounds the whole with ``asyncio.timeout``: a
    cancellation, from there or from outside, passes at once.
    """
    for attempt in range(policy.retries):
        try:
            return await call()
        except ModelBusy as busy:
            await sleep(policy.pause(attempt, busy.retry_after, chance()))
    return await call()
