"""An embedding service as they are: slow, with a quota, a longest batch, and a failure now and then."""

import asyncio
import hashlib
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np
from aiohttp import web

from adaptive.core.model import Vectors

DIMENSION = 64
_MINUTE = 60.0


def word_vectors(texts: list[str]) -> Vectors:
    """Vectors that count words: the more words two texts share, the nearer they are."""
    rows = np.zeros((len(texts), DIMENSION), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            digest = hashlib.sha256(word.strip(".,?!").encode()).digest()
            row[digest[0] % DIMENSION] += 1
    return rows


class EmbeddingService:
    """It answers ``a_minute`` texts, after ``seconds`` for each, and each ``failing`` request fails.

    All seconds are those of ``now`` and ``sleep``, which may be faster than real ones.
    """

    def __init__(
        self,
        now: Callable[[], float],
        sleep: Callable[[float], "asyncio.Future[None] | object"],
        *,
        a_minute: int = 100,
        seconds: float = 3.0,
        most_texts: int = 32,
        failing: int = 37,
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._a_minute = a_minute
        self._seconds = seconds
        self._most_texts = most_texts
        self._failing = failing
        self._taken: deque[tuple[float, int]] = deque()
        self.requests = 0
        self.statuses = Counter[int]()
        self.answered = Counter[str]()

    async def embed(self, texts: list[str]) -> tuple[int, Vectors, float]:
        """The status of a request, its vectors, and after how long to come again."""
        self.requests += 1
        status, wait = self._status(len(texts))
        if status == 200:
            await self._sleep(self._seconds * len(texts))  # type: ignore[misc]
            self.answered.update(texts)
        self.statuses[status] += 1
        return status, word_vectors(texts), wait

    def _status(self, count: int) -> tuple[int, float]:
        now = self._now()
        while self._taken and self._taken[0][0] <= now - _MINUTE:
            self._taken.popleft()
        if count > self._most_texts:
            return 413, 0.0
        if sum(taken for _, taken in self._taken) + count > self._a_minute:
            return 429, self._taken[0][0] + _MINUTE - now
        if self.requests % self._failing == 0:
            return 500, 0.0
        self._taken.append((now, count))
        return 200, 0.0

    @property
    def asked_twice(self) -> list[str]:
        """Texts whose vectors were made more than once."""
        return [text for text, times in self.answered.items() if times > 1]

    async def respond(self, request: web.Request) -> web.Response:
        """One answer as OpenAI's service gives it."""
        body = await request.json()
        status, vectors, wait = await self.embed(body["input"])
        if status != 200:
            headers = {"Retry-After": f"{wait:.2f}"} if status == 429 else {}
            return web.json_response({}, status=status, headers=headers)
        data = [
            {"index": index, "embedding": vector.tolist()}
            for index, vector in enumerate(vectors)
        ]
        return web.json_response({"data": data})


@asynccontextmanager
async def serving(service: EmbeddingService) -> AsyncIterator[str]:
    """The address of a service on loopback, until the end of the block."""
    app = web.Application()
    app.router.add_post("/v1/embeddings", service.respond)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()
