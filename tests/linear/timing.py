"""How the time of a call grows with the length of its text."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from adaptive.core.model import AdaptiveMemoryError

SHORT, LONG = 16_000, 64_000
MOST_GROWTH = 6.0  # linear work grows fourfold
_FLOOR_SECONDS = 0.01  # what takes less for a long text is not judged
_DOUBTFUL_SECONDS = 0.1
_MOST_RUNS = 6

Prepared = Callable[[str], Callable[[], Any]]


def grows_too_fast(prepared: Prepared, shape: Callable[[int], str]) -> str:
    """What a function's time is for both lengths where it grows too fast; else empty."""
    long = _seconds(prepared(shape(LONG)))
    if long < _FLOOR_SECONDS:
        return ""
    short = _seconds(prepared(shape(SHORT)))
    for _ in range(_MOST_RUNS):
        if long <= max(MOST_GROWTH * short, _FLOOR_SECONDS):
            return ""
        short = min(short, _seconds(prepared(shape(SHORT))))
        long = min(long, _seconds(prepared(shape(LONG))))
    # What no longer fits into the processor's cache takes longer once, and not again.
    if long < _DOUBTFUL_SECONDS:
        for _ in range(_MOST_RUNS):
            longest = _seconds(prepared(shape(4 * LONG)))
            if longest <= MOST_GROWTH * long:
                return ""
    return f"{short * 1000:.1f} ms, then {long * 1000:.1f} ms"


def _seconds(call: Callable[[], Any]) -> float:
    """The processor time of a call, what it yields included."""
    began = time.thread_time()
    with suppress(
        AdaptiveMemoryError
    ):  # a reply that can't be used takes its time, too
        result = call()
        if isinstance(result, Iterator):
            deque(result, maxlen=0)
    return time.thread_time() - began
