"""How fast an embedding model is asked for what nobody waits for; time goes by at once."""

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable, Sequence

import pytest

from adaptive.core.embedding import (
    EmbeddedPortion,
    EmbeddingBusy,
    Pace,
)
from adaptive.core.model import EmbeddingError, Vectors
from adaptive.core.providers import ModelBusy
from tests.embedding_service import EmbeddingService, word_vectors


class QuickTime:
    """A clock that goes on to the next sleeper as soon as everybody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []
        self._tickets = itertools.count()

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Sleep until the clock is there."""
        woken = asyncio.Event()
        heapq.heappush(
            self._sleepers, (self.now + seconds, next(self._tickets), woken)
        )
        await woken.wait()

    async def run(self, work: Awaitable[object]) -> None:
        """Wake one sleeper after the other until some work is done."""
        task = asyncio.ensure_future(work)
        while not task.done():
            for _ in range(20):  # everybody gets on until it sleeps
                await asyncio.sleep(0)
            if self._sleepers and not task.done():
                self.now, _, woken = heapq.heappop(self._sleepers)
                woken.set()
        await task


class Asked:
    """A pace at a service, and what came by it."""

    def __init__(self, **service: float) -> None:
        self.time = QuickTime()
        self.service = EmbeddingService(
            self.time,
            self.time.sleep,
            **service,  # type: ignore[arg-type]
        )
        self.pace = Pace(32, 8, 4, self.time, self.time.sleep)
        self.came: list[EmbeddedPortion] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One request, as an embedder translates its failures."""
        status, vectors, wait = await self.service.embed([*texts])
        if status in (429, 500):
            raise EmbeddingBusy(ModelBusy("busy", status, wait or None))
        if status != 200:
            raise EmbeddingError("refused")
        return vectors

    async def all_of(
        self,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], Awaitable[Vectors]] | None = None,
    ) -> None:
        """Embed texts, and note each portion."""
        portions = self.pace.portions(embed or self.embed, texts)
        async for portion in portions:
            self.came.append(portion)


TEXTS = [f"text number {number}" for number in range(420)]


@pytest.mark.parametrize(
    "service",
    [
        {"seconds": 3.0},
        {"seconds": 0.01},
        {"seconds": 0.01, "a_minute": 40, "failing": 3},
    ],
    ids=["slow", "quick", "failing"],
)
async def test_each_text_once(service: dict[str, float]) -> None:
    """A service with a quota and failures is asked for each text until it has answered, once."""
    asked = Asked(**service)
    await asked.time.run(asked.all_of(TEXTS))
    came = {text for portion in asked.came for text in portion.texts}
    assert came == {*TEXTS}
    assert asked.service.asked_twice == []
    for portion in asked.came:
        expected = word_vectors([*portion.texts])
        assert portion.vectors.tolist() == expected.tolist()


async def test_some_is_left_to_others() -> None:
    """After a refusal a service with 100 texts a minute is asked for fewer, so others are served."""
    asked = Asked(seconds=0.01, failing=10**9)
    refused: list[int] = []

    async def others() -> None:
        for _ in range(40):
            await asked.time.sleep(6)
            status, _, _ = await asked.service.embed(["what a person asks"])
            refused.append(status)

    work = asyncio.gather(asked.all_of(TEXTS), others())
    await asked.time.run(work)
    assert refused[10:] == [200] * 30


async def test_what_came_before_a_failure_is_kept() -> None:
    """Where a request fails for good, what others bring comes first, and the rest is not asked for."""
    asked = Asked(seconds=1.0, failing=10**9)

    async def embed(texts: Sequence[str]) -> Vectors:
        if "text number 9" in texts:
            raise EmbeddingError("refused")
        return await asked.embed(texts)

    with pytest.raises(EmbeddingError, match="refused"):
        await asked.time.run(asked.all_of(TEXTS, embed=embed))
    came = {text for portion in asked.came for text in portion.texts}
    assert came == {*asked.service.answered}
    assert 0 < len(came) < len(TEXTS)


async def test_a_service_that_stays_away() -> None:
    """One that goes on failing, or asks for an hour, is given up after a few tries."""
    asked = Asked(failing=1)
    with pytest.raises(EmbeddingBusy):
        await asked.time.run(asked.all_of(TEXTS[:1]))
    assert asked.service.requests == 5

    async def embed(_: Sequence[str]) -> Vectors:
        raise EmbeddingBusy(ModelBusy("spent", 429, 3600.0))

    with pytest.raises(EmbeddingBusy):
        await asked.time.run(asked.all_of(TEXTS[:3], embed=embed))


async def test_whoever_gives_up_leaves_a_turn() -> None:
    """Work that is broken off keeps no request from others."""
    asked = Asked(seconds=1.0, failing=10**9)
    broken_off = asyncio.create_task(asked.all_of(TEXTS))
    waiting = asyncio.create_task(asked.all_of(TEXTS))
    for _ in range(20):
        await asyncio.sleep(0)
    broken_off.cancel()
    waiting.cancel()
    await asyncio.wait({broken_off, waiting})
    await asked.time.run(asked.all_of(["one more"]))
    assert asked.came[-1].texts == ["one more"]
