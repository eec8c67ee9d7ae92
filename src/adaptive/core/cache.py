"""What is kept in this process because it can be had again: bounded, and forgotten by user."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from functools import lru_cache
from threading import RLock
from typing import Any, Generic, TypeVar, cast

CacheKey = tuple[Any, ...]
Cached = TypeVar("Cached")
TextFunction = TypeVar("TextFunction", bound=Callable[..., Any])

try:
    _cachetools: Any = importlib.import_module("cachetools")
except ImportError:  # Python's own lru_cache keeps what texts hold
    _cachetools = None
_FORGET_ALL: list[Callable[[], None]] = []


class UserCache(Generic[Cached]):
    """The values used last, by keys that begin with the id of their user.

    ``most`` bounds the sum of what ``weight`` says of each value when it is put in, by default
    their number; the newest stays whatever it weighs. Values last for ``seconds``.
    """

    def __init__(
        self,
        most: int,
        weight: Callable[[Cached], int] = lambda _: 1,
        seconds: float = math.inf,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._weight, self._seconds, self._now = (
            most,
            weight,
            seconds,
            now,
        )
        # Each value with its weight and its end, that used last at the end.
        self._kept: dict[CacheKey, tuple[Cached, int, float]] = {}
        self._total = 0

    def get(self, key: CacheKey) -> Cached | None:
        """The value of a key, which counts as used now."""
        if key not in self._kept or self._kept[key][2] <= self._now():
            self.pop(key)
            return None
        self._kept[key] = found = self._kept.pop(key)
        return found[0]

    def put(self, key: CacheKey, value: Cached) -> None:
        """Keep a value; what was used longest ago makes room."""
        self.pop(key)
        weight = min(self._weight(value), self._most)
        self._kept[key] = (value, weight, self._now() + self._seconds)
        self._total += weight
        while self._total > self._most:
            self.pop(next(iter(self._kept)))

    def pop(self, key: CacheKey) -> None:
        """Let go of a value, if it is kept."""
        if found := self._kept.pop(key, None):
            self._total -= found[1]

    def forget(self, user_id: str) -> None:
        """Let go of all that is kept of a user."""
        for key in [key for key in self._kept if key[0] == user_id]:
            self.pop(key)


def text_cache(most: int) -> Callable[[TextFunction], TextFunction]:
    """Keep what a pure function of texts has found for that many texts, those used last."""

    def keeping(function: TextFunction) -> TextFunction:
        kept: Any = lru_cache(maxsize=most)(function)
        if _cachetools is not None:
            kept = _cachetools.cached(
                _cachetools.LRUCache(most), lock=RLock()
            )(function)
        _FORGET_ALL.append(kept.cache_clear)
        return cast(TextFunction, kept)

    return keeping


def forget_texts(_user_id: str = "") -> None:
    """Let go of all texts: whose they are is not kept."""
    for forget in _FORGET_ALL:
        forget()
