"""What a part of a turn costs, marked without knowing whether anybody measures it."""

from __future__ import annotations

import functools
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

StagedWork = TypeVar(
    "StagedWork", bound=Callable[..., Coroutine[Any, Any, Any]]
)


@dataclass(slots=True)
class TurnMeasures:
    """Measures of a part of a turn; stages include those within them, counts have kind and name."""

    part: str  # the inlet, or one work behind the answer
    outcome: str = ""
    reason: str = ""
    seconds: dict[str, float] = field(
        default_factory=lambda: defaultdict[str, float](float)
    )
    counts: dict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter[str])
    )


# Set around what is measured; tasks and threads that are started there inherit it.
MEASURES: ContextVar[TurnMeasures | None] = ContextVar(
    "adaptive_memory_measures", default=None
)


@contextmanager
def stage(name: str) -> Generator[None]:
    """A stage of what is measured; decorates a function, too."""
    began = time.perf_counter()
    try:
        yield
    finally:
        stage_lasted(name, time.perf_counter() - began)


def staged(name: str) -> Callable[[StagedWork], StagedWork]:
    """Make a coroutine function a stage of what is measured."""

    def decorated(work: StagedWork) -> StagedWork:
        @functools.wraps(work)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            """The coroutine function within its stage."""
            with stage(name):
                return await work(*args, **kwargs)

        return cast(StagedWork, awaited)

    return decorated


def stage_lasted(name: str, seconds: float) -> None:
    """Count a stage whose time is known, as of what waited in a table."""
    measures = MEASURES.get()
    if measures is not None:
        measures.seconds[name] += max(0.0, seconds)


def tally(kind: str, name: str, number: int = 1) -> None:
    """Count model calls and their tokens, entries of a prompt, operations, and anomalies."""
    measures = MEASURES.get()
    if measures is not None and number:
        measures.counts[kind][name] += number


def tell_outcome(outcome: str, reason: str = "") -> None:
    """Say what came of the work; ``reason`` names a class of error, and quotes nobody."""
    measures = MEASURES.get()
    if measures is not None:
        measures.outcome = outcome
        measures.reason = reason
