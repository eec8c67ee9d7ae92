"""What one turn costs and what came of it: times of its stages, model calls, counts.

Code marks its stages and counts here without knowing whether anybody measures: the measures of the
running turn are found through a context variable, which tasks and threads that are started inherit.
Where there are none, a mark is one look-up.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any, ParamSpec, Protocol, Self, TypeVar, cast

from adaptive.model import Completion, CompletionRequest, Outcome

# What each of our questions to a model is for, by the name of its answer's schema; others are
# called as their schemas are.
_PURPOSES = {
    "memory_relevance": "relevance",
    "memory_operations": "extraction",
    "memory_summary": "summary",
    "memory_categories": "suggestions",
    "memory_suggestions": "suggestions",
}
_CHARACTERS_OF_TOKEN = 4
_SHORT_HASH_BYTES = 5

StagedArguments = ParamSpec("StagedArguments")
StagedResult = TypeVar("StagedResult")
TimedResult = TypeVar("TimedResult")


@dataclass(slots=True)
class ModelUse:
    """Calls of a model for one purpose; ``retries`` are those after a question's first one.

    ``sent`` and ``received`` are tokens as the provider counts them, ``estimated`` ones where it
    does not tell. Failed calls and those that were cut off are ``failed``, their tokens unknown.
    """

    calls: int = 0
    retries: int = 0
    failed: int = 0
    sent: int = 0
    received: int = 0
    estimated: bool = False


@dataclass(slots=True)
class TurnMeasures:
    """What is measured of a turn's ``part``: of its inlet, or of its learning behind the answer.

    ``seconds`` holds the time of each stage without the stages within it, of stages that run at
    the same time each one's own; ``now`` is a monotonic clock. ``outcome`` says what came of it.
    """

    part: str
    now: Callable[[], float] = time.perf_counter
    outcome: str = ""
    reason: str = ""
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    models: dict[str, ModelUse] = field(default_factory=dict[str, ModelUse])
    entries: Counter[str] = field(default_factory=Counter[str])
    operations: Counter[str] = field(default_factory=Counter[str])
    anomalies: Counter[str] = field(default_factory=Counter[str])
    began: float = field(init=False)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.began = self.now()

    @property
    def idle(self) -> bool:
        """Whether nothing happened that is worth a line."""
        return not (self.seconds or self.models or self.outcome or self.anomalies)

    def end(self) -> None:
        """Take the time from the beginning until now."""
        self.total = self.now() - self.began

    def add_seconds(self, name: str, seconds: float) -> None:
        """Count time for a stage."""
        self.seconds[name] = self.seconds.get(name, 0.0) + max(0.0, seconds)

    def model_use(self, purpose: str) -> ModelUse:
        """The calls for a purpose so far."""
        return self.models.setdefault(purpose, ModelUse())

    def fields(self, user_id: str, turn_id: str) -> dict[str, Any]:
        """What is told of it, fit for JSON: times in milliseconds, no text of anybody's.

        User and turn are named by short hashes, so that lines of one turn can be matched.
        """
        told: dict[str, Any] = {
            "part": self.part,
            "user": short_hash(user_id),
            "turn": short_hash(turn_id),
            "outcome": self.outcome,
            "reason": self.reason,
            "ms": {
                "total": _milliseconds(self.total),
                **{name: _milliseconds(seconds) for name, seconds in self.seconds.items()},
            },
            "entries": dict(self.entries),
            "operations": dict(self.operations),
            "models": {name: _told_use(use) for name, use in self.models.items()},
            "anomalies": dict(self.anomalies),
        }
        return {name: value for name, value in told.items() if value not in ("", {})}


class ModelCall(Protocol):
    """One question to a model: entered for each try, and told the answer."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None: ...

    def answered(self, completion: Completion) -> Completion:
        """Count the tokens of an answer, and hand it back."""
        ...


@dataclass(slots=True)
class _Stage:
    """A stage that runs; the outermost one is the turn itself and has no name."""

    measures: TurnMeasures
    name: str
    outer: _Stage | None = None
    began: float = 0.0
    inner: float = 0.0
    token: Token[_Stage | None] | None = None

    def __enter__(self) -> Self:
        self.token = _STAGE.set(self)
        self.began = self.measures.now()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        lasted = self.measures.now() - self.began
        if self.token is not None:
            _STAGE.reset(self.token)
        if self.outer is not None:
            self.outer.inner += lasted
            self.measures.add_seconds(self.name, lasted - self.inner)


class _NotMeasured:
    """What a mark is while nobody measures."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        return None

    def answered(self, completion: Completion) -> Completion:
        return completion


@dataclass(slots=True)
class _ModelCall:
    use: ModelUse
    request: CompletionRequest
    tries: int = 0

    def __enter__(self) -> Self:
        self.use.calls += 1
        self.use.retries += self.tries > 0
        self.tries += 1
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.use.failed += error is not None

    def answered(self, completion: Completion) -> Completion:
        usage = completion.usage
        if usage is None:
            self.use.estimated = True
            self.use.sent += _roughly(self.request.system) + _roughly(self.request.user)
            self.use.received += _roughly(completion.text)
        else:
            self.use.sent += usage.sent
            self.use.received += usage.received
        return completion


_STAGE: ContextVar[_Stage | None] = ContextVar("adaptive_memory_stage", default=None)
_NOT_MEASURED = _NotMeasured()


def measured(measures: TurnMeasures) -> _Stage:
    """While it is entered, what is marked counts for these measures."""
    return _Stage(measures, "")


def stage(name: str) -> _Stage | _NotMeasured:
    """A stage of the turn, for ``with``; stages within it are not counted for it."""
    outer = _STAGE.get()
    return _NOT_MEASURED if outer is None else _Stage(outer.measures, name, outer)


def staged(
    name: str,
) -> Callable[[Callable[StagedArguments, StagedResult]], Callable[StagedArguments, StagedResult]]:
    """Make a function, or a coroutine function, a stage of the turn."""

    def decorated(
        work: Callable[StagedArguments, StagedResult],
    ) -> Callable[StagedArguments, StagedResult]:
        """The function as a stage."""
        if inspect.iscoroutinefunction(work):

            @functools.wraps(work)
            async def awaited(*args: StagedArguments.args, **kwargs: StagedArguments.kwargs) -> Any:
                """The coroutine function within its stage."""
                with stage(name):
                    return await work(*args, **kwargs)

            return cast(Callable[StagedArguments, StagedResult], awaited)

        @functools.wraps(work)
        def called(*args: StagedArguments.args, **kwargs: StagedArguments.kwargs) -> StagedResult:
            """The function within its stage."""
            with stage(name):
                return work(*args, **kwargs)

        return called

    return decorated


async def timed(name: str, work: Awaitable[TimedResult]) -> TimedResult:
    """Wait for some work as a stage of the turn."""
    with stage(name):
        return await work


def stage_lasted(name: str, seconds: float) -> None:
    """Count a stage whose time is known, as of what waited in a table."""
    if (running := _STAGE.get()) is not None:
        running.measures.add_seconds(name, seconds)


def model_call(request: CompletionRequest) -> ModelCall:
    """One question to a model: enter it for each try, so that retries are known as such."""
    running = _STAGE.get()
    if running is None:
        return _NOT_MEASURED
    purpose = _PURPOSES.get(request.schema_name, request.schema_name)
    return _ModelCall(running.measures.model_use(purpose), request)


def count_entries(**entries: int) -> None:
    """Count what stands in the prompt, by its kind: core, retrieved, history."""
    if (running := _STAGE.get()) is not None:
        measures = running.measures
        measures.entries.update({kind: count for kind, count in entries.items() if count})
        measures.outcome = "recalled" if measures.entries else "nothing fits"


def count_operations(outcomes: Iterable[Outcome]) -> None:
    """Count what became of the changes of a lesson."""
    if (running := _STAGE.get()) is not None:
        running.measures.operations.update(one.status for one in outcomes)


def tell_outcome(outcome: str, reason: str = "") -> None:
    """Say what came of the turn; ``reason`` names a class of error, and quotes nobody."""
    if (running := _STAGE.get()) is not None:
        running.measures.outcome, running.measures.reason = outcome, reason


def count_anomaly(name: str) -> None:
    """Count what should not be: an empty response, a sanitised one, a failure."""
    if (running := _STAGE.get()) is not None:
        running.measures.anomalies[name] += 1


def short_hash(text: str) -> str:
    """Ten hexadecimal digits that stand for an id; empty for none."""
    if not text:
        return ""
    encoded = text.encode(errors="replace")
    return hashlib.blake2b(encoded, digest_size=_SHORT_HASH_BYTES).hexdigest()


def _roughly(text: str) -> int:
    """Tokens of a text without a tokeniser: four ASCII characters each, every other one by itself.

    A schema that goes along is not counted: providers differ in what they make of it.
    """
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // _CHARACTERS_OF_TOKEN) + len(text) - plain


def _milliseconds(seconds: float) -> float:
    return round(1000 * seconds, 1)


def _told_use(use: ModelUse) -> Mapping[str, Any]:
    told = {
        "calls": use.calls,
        "retries": use.retries,
        "failed": use.failed,
        "tokens_in": use.sent,
        "tokens_out": use.received,
    }
    return {**told, "estimated": True} if use.estimated else told
