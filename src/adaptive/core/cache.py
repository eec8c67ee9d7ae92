"""What is kept in this process because it can be had again: bounded, and forgotten by user."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, MutableMapping
from functools import lru_cache
from typing import Any, Generic, ParamSpec, TypeVar

from adaptive.core.soft import soft_import

CacheKey = tuple[Any, ...]
Cached = TypeVar("Cached")
CacheGiven = ParamSpec("CacheGiven")

_CACHETOOLS = soft_import("cachetools", "caches of its own are used")
_FORGET_ALL: list[Callable[[], None]] = []


class OwnCache(MutableMapping[CacheKey, Any]):
    """What is used of ``cachetools.TTLCache``: the values used last, bounded in size and age."""

    def __init__(
        self, most: int, seconds: float, now: Callable[[], float], size: Callable[[Any], int]
    ) -> None:
        self._most, self._seconds, self._now, self._size = most, seconds, now, size
        self._kept: OrderedDict[CacheKey, tuple[Any, int, float]] = OrderedDict()
        self.currsize = 0

    def __getitem__(self, key: CacheKey) -> Any:
        value, _, expires = self._kept[key]
        if expires <= self._now():
            del self[key]
            raise KeyError(key)
        self._kept.move_to_end(key)
        return value

    def __setitem__(self, key: CacheKey, value: Any) -> None:
        self.pop(key, None)
        size = self._size(value)
        self._kept[key] = (value, size, self._now() + self._seconds)
        self.currsize += size
        while self.currsize > self._most:
            del self[next(iter(self._kept))]

    def __delitem__(self, key: CacheKey) -> None:
        self.currsize -= self._kept.pop(key)[1]

    def __iter__(self) -> Iterator[CacheKey]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


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
        make = OwnCache if _CACHETOOLS is None else _CACHETOOLS.TTLCache

        def size(value: Cached) -> int:
            """What a value weighs, but never too much to be kept alone."""
            return min(weight(value), most)

        self._kept: Any = make(most, seconds, now, size)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return int(self._kept.currsize)

    def get(self, key: CacheKey) -> Cached | None:
        """The value of a key, which counts as used now."""
        return self._kept.get(key)

    def put(self, key: CacheKey, value: Cached) -> None:
        """Keep a value; what was used longest ago makes room."""
        self._kept[key] = value

    def pop(self, key: CacheKey) -> None:
        """Let go of a value, if it is kept."""
        self._kept.pop(key, None)

    def forget(self, user_id: str) -> None:
        """Let go of all that is kept of a user."""
        for key in [key for key in [*self._kept] if key[0] == user_id]:
            self.pop(key)


def text_cache(
    most: int,
) -> Callable[[Callable[CacheGiven, Cached]], Callable[CacheGiven, Cached]]:
    """Keep what a pure function of texts has found for that many texts, those used last."""

    def keeping(function: Callable[CacheGiven, Cached]) -> Callable[CacheGiven, Cached]:
        """The function with its cache, of which ``forget_texts`` knows."""
        kept = lru_cache(maxsize=most)(function)
        _FORGET_ALL.append(kept.cache_clear)
        return kept  # type: ignore[return-value]

    return keeping


def forget_texts(_user_id: str = "") -> None:
    """Let go of all texts: whose they are is not kept."""
    for forget in _FORGET_ALL:
        forget()
