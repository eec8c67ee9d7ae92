"""The vector of a message, made once for all who search with it in one turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from adaptive.ports import Embedder, Vectors


class TurnEmbedder:
    """An ``Embedder`` that embeds no query twice; it is made for one turn of one user.

    Memories and past conversation are searched at the same time. What they wait for is cancelled
    when nobody waits for it any more.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._made: dict[str, tuple[asyncio.Task[Vectors], int]] = {}
        self._waiting: dict[asyncio.Task[Vectors], int] = {}

    async def name(self) -> str:
        """The other's name (see ``Embedder``)."""
        return await self._embedder.name()

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts (see ``Embedder``); those of queries are kept."""
        if not query:
            return await self._embedder.embed(texts, query=False)
        new = [text for text in dict.fromkeys(texts) if self._has_to_be_made(text)]
        if new:
            task = asyncio.ensure_future(self._embedder.embed(new, query=True))
            task.add_done_callback(_looked_at)
            self._made |= {text: (task, at) for at, text in enumerate(new)}
        rows = [(await self._shared(self._made[text][0]))[self._made[text][1]] for text in texts]
        return np.stack(rows)

    def _has_to_be_made(self, text: str) -> bool:
        if text not in self._made:
            return True
        task, _ = self._made[text]
        return task.cancelled() or bool(task.cancelling())

    async def _shared(self, task: asyncio.Task[Vectors]) -> Vectors:
        self._waiting[task] = self._waiting.get(task, 0) + 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                task.cancel()


def _looked_at(task: asyncio.Task[Vectors]) -> None:
    if not task.cancelled():
        task.exception()  # each who waits gets it; nobody may be left
