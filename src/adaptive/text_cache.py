"""What is computed of texts again and again, kept in this process until somebody is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

CacheGiven = ParamSpec("CacheGiven")
CacheFound = TypeVar("CacheFound")

_FORGET_ALL: list[Callable[[], None]] = []


def text_cache(
    most: int,
) -> Callable[[Callable[CacheGiven, CacheFound]], Callable[CacheGiven, CacheFound]]:
    """Keep what a pure function of texts has found for that many texts, those used last."""

    def keeping(function: Callable[CacheGiven, CacheFound]) -> Callable[CacheGiven, CacheFound]:
        """The function with its cache, of which ``forget_texts`` knows."""
        kept = lru_cache(maxsize=most)(function)
        _FORGET_ALL.append(kept.cache_clear)
        return kept  # type: ignore[return-value]

    return keeping


def forget_texts(_user_id: str = "") -> None:
    """Let go of all texts: whose they are is not kept."""
    for forget in _FORGET_ALL:
        forget()
