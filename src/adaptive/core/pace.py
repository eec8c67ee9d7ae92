"""How fast an embedding model is asked for what nobody waits for.

What people wait for is asked for at once, and the host embeds documents by the same service: so
few requests are on their way at a time, and a service that refuses one for its number gets a fifth
less in a minute than it took before.
"""

import asyncio
import heapq
import itertools
import time
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Sequence,
)
from contextlib import asynccontextmanager
from enum import IntEnum

from adaptive.core.model import EmbeddingError, Vectors, frozen

_MINUTE = 60.0
# Of what a service took in the minute before it refused more; that grows again, as a refusal may
# have been somebody else's doing.
_SHARE = 0.8
_GROWTH_A_MINUTE = 0.05
_TOO_MANY_REQUESTS = 429
# Requests that take less or more hold twice or half as many texts from then on.
_QUICK_SECONDS = 1.0
_SLOW_SECONDS = 10.0
# Nobody waits for the calibration by a model that takes longer for a text.
_SLOW_SECONDS_A_TEXT = 0.5
# Without a word of how long, pauses double. Who asks for more than the longest is not waited for.
_MOST_TRIES = 30
# For so many tries counts one whose service does not tell when to come again.
_TRIES_OF_UNTOLD = 6
_LONGEST_EXPONENT = 5
_LONGEST_PAUSE_SECONDS = 300.0


class EmbeddingBusy(EmbeddingError):
    """A failure that may be over on the next try; ``retry_after`` are seconds, where they are told."""

    def __init__(
        self,
        sentence: str,
        status: int = 0,
        retry_after: float | None = None,
        *,
        detail: str = "",
    ) -> None:
        super().__init__(sentence, detail=detail)
        self.status = status
        self.retry_after = retry_after


class Urgency(IntEnum):
    """What comes first of what nobody waits for."""

    MEMORIES = 0
    CALIBRATION = 1
    EXAMPLES = 2


@frozen
class EmbeddedPortion:
    """Texts of one request with their vectors."""

    texts: Sequence[str]
    vectors: Vectors


EmbedTexts = Callable[[Sequence[str]], Awaitable[Vectors]]


class Pace:
    """The pace of one embedding model in this process."""

    def __init__(
        self,
        most_texts: int = 32,
        first_texts: int = 32,
        at_once: int = 1,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """A request holds ``most_texts`` at most, and ``first_texts`` until it is known how long it takes."""
        self._most_texts = most_texts
        self._texts = min(first_texts, most_texts)
        self._at_once = at_once
        self._clock = clock
        self._sleep = sleep
        self._running = 0
        # Who waits for a request to end, the most urgent first.
        self._waiting: list[tuple[Urgency, int, asyncio.Event]] = []
        self._tickets = itertools.count()
        self._answers: deque[tuple[float, int]] = deque()  # when, how many
        self._failures = 0
        self._closed_until = 0.0
        self._allowed = float("inf")  # texts in a minute
        self._refused_at = 0.0
        self.is_slow = False

    async def portions(
        self, embed: EmbedTexts, texts: Sequence[str], urgency: Urgency
    ) -> AsyncIterator[EmbeddedPortion]:
        """Texts with their vectors, each portion as soon as it has come.

        Where a request fails for good, what others on their way bring comes before its
        ``EmbeddingError``.
        """
        left = deque(texts)
        running = set[asyncio.Task[EmbeddedPortion]]()
        failure: EmbeddingError | None = None
        ahead = 2 * self._at_once
        try:
            while running or (left and failure is None):
                # One ahead for each, so that it is this work's turn when a request ends.
                while left and failure is None and len(running) < ahead:
                    count = min(self._texts, -(-len(left) // self._at_once))
                    portion = [left.popleft() for _ in range(count)]
                    asking = self._embedded(embed, portion, urgency)
                    running.add(asyncio.create_task(asking))
                done, running = await asyncio.wait(
                    running, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    try:
                        yield task.result()
                    except EmbeddingError as error:
                        failure = error
            if failure is not None:
                raise failure
        finally:
            for task in running:
                task.cancel()

    async def _embedded(
        self, embed: EmbedTexts, texts: Sequence[str], urgency: Urgency
    ) -> EmbeddedPortion:
        """One request, and again where it may succeed later."""
        tries_left = _MOST_TRIES
        while True:
            async with self._turn(urgency):
                await self._until_allowed(len(texts))
                began = self._clock()
                try:
                    vectors = await embed(texts)
                except EmbeddingBusy as error:
                    self._note_failure(error)
                    told = error.retry_after
                    # Whoever tells when to come again means it, and is asked for longer.
                    tries_left -= _TRIES_OF_UNTOLD if told is None else 1
                    if tries_left <= 0 or (told or 0) > _LONGEST_PAUSE_SECONDS:
                        raise
                else:
                    self._note_answer(len(texts), self._clock() - began)
                    return EmbeddedPortion(texts, vectors)

    @asynccontextmanager
    async def _turn(self, urgency: Urgency) -> AsyncGenerator[None]:
        """One of the requests at a time, given to who is most urgent."""
        if self._running < self._at_once:
            self._running += 1
        else:
            called = asyncio.Event()
            heapq.heappush(
                self._waiting, (urgency, next(self._tickets), called)
            )
            try:
                await called.wait()  # with the turn of whoever calls
            except asyncio.CancelledError:
                if called.is_set():
                    self._pass_on()
                called.set()
                raise
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        """Give a turn that has ended to the next who still waits."""
        while self._waiting:
            _, _, called = heapq.heappop(self._waiting)
            if not called.is_set():
                called.set()
                return
        self._running -= 1

    async def _until_allowed(self, count: int) -> None:
        """Wait until the service may be asked for so many texts more."""
        while True:
            now = self._clock()
            while self._answers and self._answers[0][0] <= now - _MINUTE:
                self._answers.popleft()
            minutes = (now - self._refused_at) / _MINUTE
            allowed = self._allowed * (1 + _GROWTH_A_MINUTE * minutes)
            wait = self._closed_until - now
            if self._answers and self._taken() + count > allowed:
                wait = max(wait, self._answers[0][0] + _MINUTE - now)
            if wait <= 0:
                return
            await self._sleep(wait)

    def _taken(self) -> int:
        """How many texts the service took in the last minute."""
        return sum(count for _, count in self._answers)

    def _note_answer(self, count: int, seconds: float) -> None:
        self._answers.append((self._clock(), count))
        self._failures = 0
        self.is_slow = seconds > _SLOW_SECONDS_A_TEXT * count
        if seconds <= _QUICK_SECONDS:
            self._texts = min(2 * self._texts, self._most_texts)
        elif seconds > _SLOW_SECONDS:
            self._texts = max(1, self._texts // 2)

    def _note_failure(self, error: EmbeddingBusy) -> None:
        now = self._clock()
        pause = error.retry_after
        if pause is None:
            pause = 2.0 ** min(self._failures, _LONGEST_EXPONENT)
        self._failures += 1
        self.is_slow = True
        pause = min(pause, _LONGEST_PAUSE_SECONDS)
        self._closed_until = max(self._closed_until, now + pause)
        if error.status == _TOO_MANY_REQUESTS:
            self._allowed = max(_SHARE * self._taken(), 1.0)
            self._refused_at = now
