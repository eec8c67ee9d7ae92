"""What one process holds for its turns: caches, locks, who is waiting, and measures."""

import asyncio
import json
import logging
import math
import sys
import time
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Generator,
    Hashable,
    Iterator,
)
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, TypedDict, TypeVar, cast
from weakref import WeakValueDictionary

from adaptive.core.model import JsonObject, frozen

log_measures = logging.getLogger("adaptive_memory.measures")

CacheKey = tuple[Hashable, ...]
Cached = TypeVar("Cached")
TextFunction = TypeVar("TextFunction", bound=Callable[..., object])
# SQLite takes 32,766 parameters in one statement, PostgreSQL 65,535.
PER_STATEMENT = 500

_FORGET_ALL: list[Callable[[], None]] = []


@frozen
class _CacheEntry(Generic[Cached]):
    value: Cached
    weight: int
    ends_at: float


@dataclass(slots=True)
class UserCache(Generic[Cached]):
    """The values used last, by keys that begin with the id of their user.

    ``most`` bounds the sum of what ``weight`` says of each value when it is put in, by default
    their number; the newest stays whatever it weighs. Values last for ``seconds``.
    """

    most: int
    weight: Callable[[Cached], int] = lambda _: 1
    seconds: float = math.inf
    now: Callable[[], float] = time.monotonic
    # That used last stands at the end.
    _entries: dict[CacheKey, _CacheEntry[Cached]] = field(
        default_factory=dict[CacheKey, _CacheEntry[Cached]]
    )
    _total: int = 0

    def get(self, key: CacheKey) -> Cached | None:
        """The value of a key, which counts as used now."""
        entry = self._entries.get(key)
        if entry is None or entry.ends_at <= self.now():
            self.pop(key)
            return None
        self._entries[key] = self._entries.pop(key)
        return entry.value

    def put(self, key: CacheKey, value: Cached) -> None:
        """Keep a value; what was used longest ago makes room."""
        self.pop(key)
        weight = min(self.weight(value), self.most)
        ends_at = self.now() + self.seconds
        self._entries[key] = _CacheEntry(value, weight, ends_at)
        self._total += weight
        while self._total > self.most:
            self.pop(next(iter(self._entries)))

    def pop(self, key: CacheKey) -> None:
        """Let go of a value, if it is kept."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._total -= entry.weight

    def forget(self, user_id: str) -> None:
        """Let go of all that is kept of a user."""
        for key in [key for key in self._entries if key[0] == user_id]:
            self.pop(key)


def text_cache(most: int) -> Callable[[TextFunction], TextFunction]:
    """Keep what a pure function of texts makes of that many texts, those used last."""

    def cached(function: TextFunction) -> TextFunction:
        remembering = lru_cache(most)(function)
        _FORGET_ALL.append(remembering.cache_clear)
        return cast(TextFunction, remembering)

    return cached


def forget_texts(_user_id: str = "") -> None:
    """Let go of all texts: whose they are is not kept."""
    for forget in _FORGET_ALL:
        forget()


class KeyedLocks:
    """Locks by key within this process; a lock is gone once nobody holds or awaits it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = (
            WeakValueDictionary()
        )

    def of(self, key: str) -> asyncio.Lock:
        """The lock of a key, the same for all who ask while anybody has it."""
        return self._locks.setdefault(key, asyncio.Lock())


_STILL_WAITING_SECONDS = 0.25  # after a hook, for the host's own work
_LOOK_AGAIN_SECONDS = 0.05


class GaveWay(Exception):
    """A call of a model was closed, or not begun: its machine, which is named, answers somebody.

    Nothing has failed, so it is no ``AdaptiveMemoryError``.
    """


class Foreground:
    """Who is waited for in this process: turns in a hook, or just out of one, and answers.

    Other work gives way to turns. Calls of models give way to answers of the same machine; its
    name is empty where many calls are served side by side.
    """

    def __init__(self) -> None:
        # Turns by an empty name, answers by that of their machine.
        self._waited_for = Counter[str]()
        self._turn_ended_at = 0.0
        self._next_goes_at = 0.0
        self._calls: dict[asyncio.Timeout, str] = {}

    def begin_answer(self, machine: str) -> None:
        """Close the calls on a machine, which is to answer somebody until this task ends."""
        task = asyncio.current_task()
        if task is None or not machine:
            return
        self._waited_for[machine] += 1
        task.add_done_callback(lambda _: self._waited_for.subtract([machine]))
        for call, calls_machine in [*self._calls.items()]:
            if calls_machine == machine:
                del self._calls[call]
                call.reschedule(0.0)

    @asynccontextmanager
    async def call(self, machine: str) -> AsyncGenerator[None]:
        """Around a call of a model that gives way to answers of its machine by ``GaveWay``."""
        if machine and self._waited_for[machine]:
            raise GaveWay(machine)
        limit = asyncio.timeout(None)
        try:
            async with limit:
                if machine:
                    self._calls[limit] = machine
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise GaveWay(machine) from error
        finally:
            self._calls.pop(limit, None)

    @contextmanager
    def turn(self) -> Generator[None]:
        """Around a hook that keeps a user waiting, and the moment after it."""
        self._waited_for[""] += 1
        try:
            yield
        finally:
            self._waited_for[""] -= 1
            self._turn_ended_at = asyncio.get_running_loop().time()

    async def give_way(
        self,
        seconds: float = 1.0,
        machine: str = "",
        quiet: float = _STILL_WAITING_SECONDS,
    ) -> None:
        """Wait until nobody was waiting for ``quiet`` seconds; then one goes at a time.

        After so many ``seconds`` work goes on all the same.
        """
        for _ in range(round(seconds / _LOOK_AGAIN_SECONDS)):
            now = asyncio.get_running_loop().time()
            is_busy = self._waited_for[""] or self._waited_for[machine]
            clear_at = max(self._turn_ended_at + quiet, self._next_goes_at)
            if not is_busy and now >= clear_at:
                self._next_goes_at = now + _LOOK_AGAIN_SECONDS
                return
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)


@dataclass(slots=True)
class TurnMeasures:
    """What came of a part of a turn, and its counts by kind and name: of ``ms`` by stage.

    A stage includes those within it.
    """

    outcome: str
    reason: str = ""
    counts: dict[str, dict[str, float]] = field(
        default_factory=lambda: {"ms": {}}
    )


# Set around what is measured; tasks and threads that are started there inherit it.
MEASURES: ContextVar[TurnMeasures | None] = ContextVar(
    "adaptive_memory_measures", default=None
)


# Whose turn it is, for whom models are asked; set where a hook begins, and inherited likewise.
USER_ID: ContextVar[str] = ContextVar("adaptive_memory_user", default="")


@contextmanager
def stage(name: str) -> Generator[None]:
    """A stage of what is measured; decorates a function, too."""
    began = time.perf_counter()
    try:
        yield
    finally:
        stage_lasted(name, time.perf_counter() - began)


@asynccontextmanager
async def staged(name: str) -> AsyncGenerator[None]:
    """The same for a coroutine function, which it decorates."""
    with stage(name):
        yield


def stage_lasted(name: str, seconds: float) -> None:
    """Count a stage whose time is known, as of what waited in a table."""
    tally("ms", name, max(0.0, 1000 * seconds))


def tally(kind: str, name: str, number: float = 1) -> None:
    """Count model calls and their tokens, entries of a prompt, operations, and anomalies."""
    measures = MEASURES.get()
    if measures is not None and number:
        names = measures.counts.setdefault(kind, {})
        names[name] = round(names.get(name, 0) + number, 1)


def tell_outcome(outcome: str, reason: str = "") -> None:
    """Say what came of the work; ``reason`` names a class of error, and quotes nobody."""
    measures = MEASURES.get()
    if measures is not None:
        measures.outcome = outcome
        measures.reason = reason


@asynccontextmanager
async def measured_part(part: str, turn: str) -> AsyncGenerator[None]:
    """Around an inlet, or one work behind an answer; what finds nothing to do is not told of."""
    measures = TurnMeasures("skipped" if part == "inlet" else "")
    token = MEASURES.set(measures)
    try:
        with stage("total"):
            yield
    finally:
        MEASURES.reset(token)
        counts = measures.counts
        error = sys.exception()
        if error is not None:  # whose text may quote somebody
            measures.outcome = "failed"
            measures.reason = type(error).__name__
        elif "entries" in counts:
            measures.outcome = "recalled"
        if measures.outcome or len(counts) > 1 or len(counts["ms"]) > 1:
            line = {
                "part": part,  # the inlet, or one work behind the answer
                "outcome": measures.outcome,
                "reason": measures.reason,
                "turn": turn,
                **counts,
            }
            log_measures.debug("%s", json.dumps(line))


def portions(
    values: Collection[Cached], most: int = PER_STATEMENT
) -> Iterator[list[Cached]]:
    """As many values at a time, by default as one statement of SQL takes."""
    listed = list(values)
    return (listed[at : at + most] for at in range(0, len(listed), most))


def look_at(answer: asyncio.Future[Cached]) -> None:
    """Look at an answer that nobody may wait for any more, or asyncio would complain."""
    if not answer.cancelled():
        answer.exception()


class TurnState(TypedDict, total=False):
    """What the hooks of one turn tell each other: JSON, in the metadata that the host hands to all.

    ``language`` is the one to learn in, ``unlearned`` says why nothing may be learned, ``warnings``
    are for the chat model, ``title`` is for a new chat, ``recalled`` is the status line of recall,
    ``injected`` the ids that the answer was given, and ``redaction`` an unguessable mark, by which
    this process knows the turn's placeholders.
    Whether a saved chat was found to be ``shared`` stands for the turn. ``block_mark`` is such a
    mark for what waits to be put into the prompt.
    """

    language: str
    unlearned: str
    warnings: list[str]
    title: str
    recalled: str
    injected: list[str]
    redaction: str
    shared: bool
    block_mark: str


def turn_state(metadata: JsonObject) -> TurnState:
    """The state of the turn that metadata belong to, which can be changed."""
    if not isinstance(metadata.get("adaptive_memory"), dict):
        metadata["adaptive_memory"] = TurnState()
    return metadata["adaptive_memory"]
