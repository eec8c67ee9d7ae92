"""What is kept in this process because it can be had again: bounded, and forgotten by user."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from threading import RLock
from typing import Any, Generic, TypeVar, cast

from adaptive.core.soft import soft_import

CacheKey = tuple[Any, ...]
Cached = TypeVar("Cached")
TextFunction = TypeVar("TextFunction", bound=Callable[..., Any])

_CACHETOOLS = soft_import("cachetools", "Python's own lru_cache keeps what texts hold")
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
        self._most, self._weight, self._seconds, self._now = most, weight, seconds, now
        # Each value with its weight and its end.
        self._kept: OrderedDict[CacheKey, tuple[Cached, int, float]] = OrderedDict()
        self._total = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: CacheKey) -> Cached | None:
        """The value of a key, which counts as used now."""
        if key not in self._kept:
            return None
        value, _, expires = self._kept[key]
        if expires <= self._now():
            self.pop(key)
            return None
        self._kept.move_to_end(key)
        return value

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
        for key in [key for key in [*self._kept] if key[0] == user_id]:
            self.pop(key)


def text_cache(most: int) -> Callable[[TextFunction], TextFunction]:
    """Keep what a pure function of texts has found for that many texts, those used last."""

    def keeping(function: TextFunction) -> TextFunction:
        """The function with its cache, of which ``forget_texts`` knows."""
        if _CACHETOOLS is None:
            kept: Any = lru_cache(maxsize=most)(function)
            _FORGET_ALL.append(kept.cache_clear)
        else:
            found = _CACHETOOLS.LRUCache(most)
            kept = _CACHETOOLS.cached(found, lock=RLock())(function)
            _FORGET_ALL.append(found.clear)
        return cast(TextFunction, kept)

    return keeping


def forget_texts(_user_id: str = "") -> None:
    """Let go of all texts: whose they are is not kept."""
    for forget in _FORGET_ALL:
        forget()
