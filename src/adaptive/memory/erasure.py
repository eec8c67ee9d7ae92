"""What a user asks to have erased, where memories came from, and what was erased, for people."""

import time
from collections import Counter
from collections.abc import Awaitable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypeVar

from adaptive.core import (
    AdaptiveMemoryError,
    Memory,
    frozen,
    listing,
    local_time,
    log_failure,
    mapping,
    phrase,
)
from adaptive.memory.tables import ArchivedMemory
from adaptive.privacy import ErasureRequest
from adaptive.settings import Hook

# What is counted before a user; everything else is what is noted about it.
_NOUNS = {
    "memory": "memories",
    "archive": "archived_memories",
    "suggestion": "suggestions",
}

Answer = TypeVar("Answer")


@frozen
class Origin:
    """One chat, or the seconds since the epoch from one on to before another."""

    chat_id: str = ""
    period: tuple[float, float] | None = None

    def holds(self, chat_id: object, times: Iterable[object]) -> bool:
        """Whether what was said in a chat at one of these times is of it."""
        if self.period is None:
            return bool(self.chat_id) and chat_id == self.chat_id
        since, until = self.period
        return any(
            isinstance(at, int | float) and since <= at < until for at in times
        )


def origin_of(hook: Hook, request: ErasureRequest) -> Origin | None:
    """Where what is to go came from; ``None`` for everything."""
    if request.day is not None:
        zone = local_time(time.time(), *hook.time_zones).tzinfo or UTC
        return Origin(period=period_of(f"{request.day}", zone))
    return Origin(hook.chat_id) if request.scope == "chat" else None


@dataclass(slots=True)
class ErasureReport:
    """What was found, or removed, counted by kind, and the reasons of what failed.

    ``memories`` are the host's rows that were found, ``bereft`` the ids of archived memories that
    stay although the summary that stood for them is gone: they can be restored.
    """

    counts: Counter[str] = field(default_factory=Counter[str])
    failed: list[str] = field(default_factory=list[str])
    memories: tuple[Memory, ...] = ()
    bereft: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing, as far as could be seen."""
        return not self.counts.total() and not self.failed

    @property
    def phrase(self) -> str:
        """What it is, for people: "4 memories, what was noted"."""
        named = ", ".join(
            phrase(noun, n=self.counts[kind])
            for kind, noun in _NOUNS.items()
            if self.counts[kind]
        )
        if not named:
            return phrase("noted") if self.counts.total() else ""
        return f"{named}, {phrase('noted')}"

    @property
    def line(self) -> str:
        """The report of an erasure in sentences, without a word of what was erased."""
        sentences: list[str] = []
        if self.phrase:
            sentences.append(phrase("erased", what=self.phrase))
        if self.failed:
            reasons = "; ".join(dict.fromkeys(self.failed))
            sentences.append(phrase("not_all_erased", reasons=reasons))
        return " ".join(sentences) or phrase("none_found")

    async def tried(
        self, work: Awaitable[Answer], otherwise: Answer
    ) -> Answer:
        """What the work answers; where it fails, that is noted."""
        try:
            return await work
        except AdaptiveMemoryError as error:
            log_failure("an erasure is incomplete", error)
            self.failed.append(str(error))
            return otherwise


def period_of(calendar: str, zone: tzinfo) -> tuple[float, float]:
    """A year, month or day ("2026", "2026-10", "2026-10-05") where the user lives, in epoch seconds.

    A day may have 23 or 25 hours. Raises ``ValueError`` where the calendar has no such day.
    """
    year, month, day = [*map(int, calendar.split("-")), 1, 1][:3]
    begins = datetime(year, month, day, tzinfo=zone)
    # Later by the wall clock.
    if calendar.count("-") == 2:
        ends = begins + timedelta(days=1)
    elif "-" in calendar:
        ends = (begins + timedelta(days=31)).replace(day=1)
    else:
        ends = begins.replace(year=year + 1)
    return begins.timestamp(), ends.timestamp()


def came_from(memory: Memory, origin: Origin) -> bool:
    """Whether a memory came from there, as far as its own meta tells.

    A former content counts too: the one that replaced it may repeat it. Where no time is noted,
    the row's own times are taken.
    """
    meta = memory.meta
    formers = map(mapping, listing(meta.get("history")))
    times = [former.get("said_at") for former in formers]
    if meta.get("said_at"):
        times.append(meta["said_at"])
    else:
        times += [memory.created_at, memory.updated_at]
    return origin.holds(meta.get("chat_id"), times)


def origin_ids(
    rows: Sequence[Memory],
    archived: Sequence[ArchivedMemory],
    origin: Origin | None,
    learned: Iterable[str] = (),
) -> frozenset[str]:
    """Ids of the memories, stored or archived, that came from there, or were made of such ones.

    So are those ``learned`` there by the audit. The originals of a summary, which the archive has,
    tell what it was made of.
    """
    memories = [*rows, *(one.memory for one in archived)]
    if origin is None:
        return frozenset(memory.id for memory in memories)
    ids = set(learned)
    ids.update(memory.id for memory in memories if came_from(memory, origin))
    size = -1
    while size < len(ids):
        size = len(ids)
        ids.update(
            copy.summary_id
            for copy in archived
            if copy.summary_id and copy.memory.id in ids
        )
    return frozenset(ids)


def bereft_originals(
    archived: Sequence[ArchivedMemory],
    gone: Set[str],
    leaving: frozenset[str],
) -> tuple[str, ...]:
    """Ids of archived memories, but those ``leaving``, whose summary is gone."""
    return tuple(
        copy.memory.id
        for copy in archived
        if copy.summary_id in gone and copy.memory.id not in leaving
    )
