"""What a part of a turn costs and what came of it: times of its stages, model calls, counts.

Code marks its stages and counts here without knowing whether anybody measures: the measures of what
runs are found through a context variable, which tasks and threads that are started inherit.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar, cast

from adaptive.core.model import Completion, CompletionRequest, Outcome

StagedWork = TypeVar("StagedWork", bound=Callable[..., Any])


@dataclass(slots=True)
class TurnMeasures:
    """Measures of a ``part`` of a turn: its inlet, or one work behind its answer.

    Stages include those within them; counts are by kind and name.
    """

    part: str
    outcome: str = ""
    reason: str = ""
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter[str]))


# Set around what is measured.
MEASURES: ContextVar[TurnMeasures | None] = ContextVar("adaptive_memory_measures", default=None)


@contextmanager
def stage(name: str) -> Generator[None]:
    """A stage of what is measured."""
    began = time.perf_counter()
    try:
        yield
    finally:
        stage_lasted(name, time.perf_counter() - began)


def staged(name: str) -> Callable[[StagedWork], StagedWork]:
    """Make a function, or a coroutine function, a stage of what is measured."""

    def decorated(work: StagedWork) -> StagedWork:
        """The function as a stage."""
        if not inspect.iscoroutinefunction(work):
            return stage(name)(work)

        @functools.wraps(work)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            """The coroutine function within its stage."""
            with stage(name):
                return await work(*args, **kwargs)

        return cast(StagedWork, awaited)

    return decorated


def stage_lasted(name: str, seconds: float) -> None:
    """Count a stage whose time is known, as of what waited in a table."""
    if (measures := MEASURES.get()) is not None:
        measures.seconds[name] += max(0.0, seconds)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One question to a model: entered for each try, and told the answer."""

    request: CompletionRequest

    def __enter__(self) -> Self:
        _count("model_calls", self.request.schema_name)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        _count("model_failures", self.request.schema_name, int(error is not None))

    def answered(self, completion: Completion) -> Completion:
        """Count the tokens of an answer where the provider tells them, and hand it back."""
        if usage := completion.usage:
            _count("tokens_in", self.request.schema_name, usage.sent)
            _count("tokens_out", self.request.schema_name, usage.received)
        return completion


def count_entries(**entries: int) -> None:
    """Count what stands in the prompt, by its kind: core, retrieved, history."""
    for kind, number in entries.items():
        _count("entries", kind, number)
    if (measures := MEASURES.get()) is not None:
        measures.outcome = "recalled" if "entries" in measures.counts else "nothing fits"


def count_operations(outcomes: Iterable[Outcome]) -> None:
    """Count what became of the changes of a lesson."""
    for outcome in outcomes:
        _count("operations", outcome.status)


def count_anomaly(name: str) -> None:
    """Count what should not be: an empty response, a sanitised one, a failure."""
    _count("anomalies", name)


def tell_outcome(outcome: str, reason: str = "") -> None:
    """Say what came of the work; ``reason`` names a class of error, and quotes nobody."""
    if (measures := MEASURES.get()) is not None:
        measures.outcome, measures.reason = outcome, reason


def _count(kind: str, name: str, number: int = 1) -> None:
    if number and (measures := MEASURES.get()) is not None:
        measures.counts[kind][name] += number
