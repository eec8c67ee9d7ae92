"""Embedding models, as they were set and as they answer, and how fast they are asked.

What people wait for is asked for at once, and the host embeds documents by the same service: so of
what nobody waits for few requests are on their way at a time, and a service that refuses one is
left alone for as long as it asks for.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Protocol

from adaptive.core.marks import Place
from adaptive.core.model import (
    EmbeddingError,
    MemoryStore,
    Vectors,
    VectorTable,
    frozen,
    with_detail,
)
from adaptive.core.providers import ModelBusy

# Requests that take less or more hold twice or half as many texts from then on.
_QUICK_SECONDS = 1.0
_SLOW_SECONDS = 10.0
# Nobody waits for the calibration by a model that takes longer for a text.
_SLOW_SECONDS_A_TEXT = 0.5
# Without a word of how long, pauses double. Who asks for more than the longest is not waited for.
_MOST_TRIES = 30
# For so many tries counts one whose service does not tell when to come again.
_TRIES_OF_UNTOLD = 6
_LONGEST_PAUSE_SECONDS = 300.0
_FIRST_PAUSE_SECONDS = 1.0
# What has a quota, as it tells by how long it is to be left alone, is asked for ever less, and with
# each answer for a little more: so some of it is left to messages and to documents.
_LEAST_REST_SECONDS = 0.1
_REST_GOES_ON = 0.9
_LONGEST_UNTOLD_PAUSE_SECONDS = 32.0


class EmbeddingBusy(EmbeddingError):
    """A failure that may be over on the next try; ``retry_after`` are seconds, where they are told."""

    def __init__(self, error: ModelBusy) -> None:
        super().__init__(detail=with_detail(error))
        self.retry_after = error.retry_after


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
        self._turns = asyncio.Semaphore(at_once)
        # Held by who has texts embedded that others may want, too, so that nobody does it twice.
        self.sharing = asyncio.Lock()
        self._pause = _FIRST_PAUSE_SECONDS
        self._closed_until = 0.0
        self._rest_a_text = 0.0
        self.is_slow = False

    async def portions(
        self, embed: EmbedTexts, texts: Sequence[str]
    ) -> AsyncIterator[EmbeddedPortion]:
        """Texts with their vectors, each portion as soon as it has come.

        Where a request fails for good, what others on their way bring comes before its
        ``EmbeddingError``.
        """
        left = deque(texts)
        running = set[asyncio.Task[EmbeddedPortion]]()
        failure: EmbeddingError | None = None
        try:
            while running or left:
                while left and len(running) < self._at_once:
                    count = min(self._texts, -(-len(left) // self._at_once))
                    portion = [left.popleft() for _ in range(count)]
                    asking = self._embedded(embed, portion)
                    running.add(asyncio.create_task(asking))
                done, running = await asyncio.wait(
                    running, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    try:
                        yield task.result()
                    except EmbeddingError as error:
                        failure = error
                        left.clear()
            if failure is not None:
                raise failure
        finally:
            for task in running:
                task.cancel()

    async def _embedded(
        self, embed: EmbedTexts, texts: Sequence[str]
    ) -> EmbeddedPortion:
        """One request, and again where it may succeed later."""
        tries_left = _MOST_TRIES
        while True:
            async with self._turns:
                while self._closed_until > self._clock():
                    await self._sleep(self._closed_until - self._clock())
                began = self._clock()
                self._closed_until = began + self._rest_a_text * len(texts)
                try:
                    vectors = await embed(texts)
                except EmbeddingBusy as error:
                    told = error.retry_after
                    # Whoever tells when to come again means it, and is asked for longer.
                    tries_left -= _TRIES_OF_UNTOLD if told is None else 1
                    if tries_left <= 0 or (told or 0) > _LONGEST_PAUSE_SECONDS:
                        raise
                    self._rest(told)
                else:
                    self._learn(len(texts), self._clock() - began)
                    return EmbeddedPortion(texts, vectors)

    def _learn(self, count: int, seconds: float) -> None:
        """Take from an answer how large and how soon the next requests may be."""
        self._pause = _FIRST_PAUSE_SECONDS
        self._rest_a_text *= _REST_GOES_ON
        self.is_slow = seconds > _SLOW_SECONDS_A_TEXT * count
        if seconds <= _QUICK_SECONDS:
            self._texts = min(2 * self._texts, self._most_texts)
        elif seconds > _SLOW_SECONDS:
            self._texts = max(1, self._texts // 2)

    def _rest(self, told: float | None) -> None:
        """Leave the service alone for as long as it asks for, or for a while."""
        pause = self._pause
        if told is not None:
            pause = told
            self._rest_a_text = max(2 * self._rest_a_text, _LEAST_REST_SECONDS)
        self._pause = min(2 * self._pause, _LONGEST_UNTOLD_PAUSE_SECONDS)
        self._closed_until = max(self._closed_until, self._clock() + pause)
        self.is_slow = True


@frozen
class EmbedderIdentity:
    """What decides the vectors that an embedder makes, as it was set; prefixes stand before texts."""

    engine: str
    model: str
    address: str = ""
    query_prefix: str = ""
    content_prefix: str = ""

    def __str__(self) -> str:
        """Its name, which no other identity has."""
        named = asdict(self).items()
        return " ".join(f"{name}={value!r}" for name, value in named if value)

    def prefix(self, *, query: bool) -> str:
        """What stands before queries, or before contents."""
        return self.query_prefix if query else self.content_prefix


class EmbeddingModel(Protocol):
    """Texts to vectors; ``source`` is another object where the model was loaded or set anew."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    @property
    def source(self) -> object: ...

    def new_pace(self) -> Pace:
        """How fast a process may ask the model."""
        ...

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of shape (len(texts), dimension), as the provider scales them.

        Raises:
            EmbeddingError: no vectors, fewer than texts, or values that are not finite.
        """
        ...


class Embedder(Protocol):
    """An embedding model that was seen to answer; ``service`` is its identity as a text."""

    @property
    def service(self) -> str: ...

    @property
    def pace(self) -> Pace: ...

    async def name(self) -> str:
        """Identity and fingerprint, by which vectors are kept apart; may raise ``EmbeddingError``."""
        ...

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of texts (see ``EmbeddingModel``)."""
        ...


@frozen
class Sources:
    """Where a user's index comes from, and the place for which it is; without one all is in it."""

    user_id: str
    store: MemoryStore
    embedder: Embedder
    table: VectorTable
    place: Place | None = None
