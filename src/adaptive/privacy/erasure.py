"""What a user asks to have erased, and what was erased of it, for people."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import UTC, date
from typing import Literal, TypeVar

from adaptive.core.errors import AdaptiveMemoryError
from adaptive.core.messages import local_time
from adaptive.core.model import Memory
from adaptive.privacy.origin import Origin, period_of_day
from adaptive.settings.hook import Hook

# What is counted before a user; everything else is what is noted about it.
_NOUNS = {
    "memory": ("memory", "memories"),
    "archive": ("archived memory", "archived memories"),
    "suggestion": ("suggestion", "suggestions"),
    "history": ("chat's index", "chats' index"),
}

Answer = TypeVar("Answer")
ErasureScope = Literal["everything", "chat", "day", "imported", "tools"]


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """What to erase; ``day`` is one where the user lives."""

    scope: ErasureScope
    day: date | None = None


def origin_of(hook: Hook, request: ErasureRequest) -> Origin | None:
    """Where what is to go came from; ``None`` for everything."""
    if request.day is not None:
        zone = local_time(time.time(), *hook.time_zones).tzinfo or UTC
        return Origin(period=period_of_day(request.day, zone))
    # The last are the host's names for what its own tools have written (routers/memories.py).
    return {
        "everything": None,
        "chat": Origin(hook.chat_id),
        "imported": Origin(sources=("import",)),
        "tools": Origin(sources=("tool", "background_review")),
    }[request.scope]


@dataclass(slots=True)
class ErasureReport:
    """What was found, or removed, counted by kind, and the reasons of what failed.

    ``memories`` are the host's rows that were found, ``bereft`` the ids of archived memories that
    stay although the summary that stood for them is gone: they can be restored.
    """

    counts: Counter[str] = field(default_factory=Counter[str])
    failed: list[str] = field(default_factory=list[str])
    note: str = ""
    memories: tuple[Memory, ...] = ()
    bereft: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.failed and not self.counts.total()

    @property
    def phrase(self) -> str:
        """What it is, for people: "4 memories and everything noted about them"."""
        counts = [(self.counts[kind], nouns) for kind, nouns in _NOUNS.items()]
        named = ", ".join(f"{n} {nouns[n > 1]}" for n, nouns in counts if n)
        if not named:
            return "what was noted" if self.counts.total() else ""
        them = "them" if sum(n for n, _ in counts) > 1 else "it"
        return f"{named} and everything noted about {them}"

    @property
    def line(self) -> str:
        """The report of an erasure in sentences, without a word of what was erased."""
        told = [f"Erased: {self.phrase}."] if self.phrase else []
        if self.failed:
            reasons = "; ".join(dict.fromkeys(self.failed))
            told.append(f"Not everything could be erased: {reasons}.")
        return " ".join(filter(None, [*(told or ["There was nothing to erase."]), self.note]))

    async def tried(self, work: Awaitable[Answer], otherwise: Answer) -> Answer:
        """What the work answers; where it fails, that is noted."""
        try:
            return await work
        except AdaptiveMemoryError as error:
            self.failed.append(str(error))
            return otherwise
