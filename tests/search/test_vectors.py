"""A message as it is searched with: short enough, in time, and with its vectors or without."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import numpy as np
import pytest

from adaptive.core.model import EmbeddingError, Vectors
from adaptive.core.runtime import UserCache
from adaptive.search.vectors import (
    EmbedderRests,
    TurnEmbedder,
    products,
    query_vectors,
)
from tests.fakes import WordEmbedder


async def test_query_vectors() -> None:
    """What holds words is embedded in one request, as queries, and comes back scaled."""
    embedder = WordEmbedder()
    rows = await query_vectors(embedder, ["Which tea?", "?!", "茶"], 60)
    assert embedder.queries == [["Which tea?", "茶"]]
    assert embedder.calls == []
    assert rows is not None
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(2), abs=1e-6)


async def test_provider_fails(caplog: pytest.LogCaptureFixture) -> None:
    """When the provider fails, the log says so and keywords have to serve."""
    embedder = WordEmbedder()
    embedder.failing = True
    with caplog.at_level(logging.WARNING):
        assert await query_vectors(embedder, ["my secret tea"], 60) is None
    assert "searched by its keywords only: the provider is down" in caplog.text
    assert "secret" not in caplog.text


async def test_an_embedder_that_hangs_rests_for_all() -> None:
    """The first message waits as long as it may, others do not, until a probe is answered."""
    inner = WordEmbedder()
    inner.gate.clear()
    rests, kept = EmbedderRests(), UserCache[Vectors](9)
    ada, bob = (
        TurnEmbedder(inner, one, kept, rests) for one in ("ada", "bob")
    )
    assert await query_vectors(ada, ["boat"], 0.4) is None
    assert rests.is_open(await inner.name())
    assert await query_vectors(bob, ["boat"], 3600) is None
    inner.gate.set()
    while rests.is_open(await inner.name()):
        await asyncio.sleep(0)
    assert await query_vectors(bob, ["boat"], 3600) is not None


async def test_refused_input_is_nobody_elses() -> None:
    """A text that an embedder refuses at once keeps no other user from being served."""

    class Fastidious(WordEmbedder):
        """Refuses one text."""

        async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
            if "too long" in texts:
                raise EmbeddingError("the service refuses it")
            return await super().embed(texts, query=query)

    inner, rests = Fastidious(), EmbedderRests()
    for _ in range(3):
        with pytest.raises(EmbeddingError, match="refuses"):
            await rests.ask(inner, ["too long"], query=True)
        assert len(await rests.ask(inner, ["boat"], query=True)) == 1


async def test_turn_embedder() -> None:
    """Who asks at the same time or later gets the same vectors; one who gives up takes none."""
    inner = WordEmbedder()
    inner.gate.clear()
    kept, rests = UserCache[Vectors](9), EmbedderRests()
    turn = TurnEmbedder(inner, "ada", kept, rests)
    hasty = asyncio.create_task(turn.embed(["boat"], query=True))
    both = [
        asyncio.create_task(turn.embed(["boat", "dog"], query=True))
        for _ in range(2)
    ]
    await asyncio.sleep(0)
    hasty.cancel()
    await asyncio.wait({hasty})
    inner.gate.set()
    first, second = await asyncio.gather(*both)
    assert np.array_equal(first, second)
    assert np.array_equal(
        (await turn.embed(["cat", "dog"], query=True))[1], first[1]
    )
    assert inner.queries == [["boat"], ["boat", "dog"], ["cat"]]
    await turn.embed(["boat"], query=False)
    assert inner.calls == [["boat"]]
    await TurnEmbedder(inner, "bob", kept, rests).embed(["boat"], query=True)
    assert inner.queries[3:] == [["boat"]]


def test_products() -> None:
    """Rows are multiplied by a vector, or by each of some rows, as matrices are; also if there are none."""
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    others = np.array([[1, 2, 3], [-1, 0, 2]], dtype=np.float32)
    assert products(rows, others[0]).tolist() == (rows @ others[0]).tolist()
    assert products(rows, others).tolist() == (rows @ others.T).tolist()
    assert products(rows[:0], others).shape == (0, 2)


async def test_vectors_of_one_model() -> None:
    """Queries that wait for each other while a service's model is exchanged get vectors of one."""
    inner = Renamed()
    kept = UserCache[Vectors](9)
    turn = TurnEmbedder(inner, "ada", kept, EmbedderRests())
    await turn.embed(["boat"], query=True)
    inner.gate.clear()
    asked = [
        asyncio.create_task(turn.embed(texts, query=True))
        for texts in (["cat"], ["boat", "dog"])
    ]
    await asyncio.sleep(0)
    inner.dimension *= 2
    inner.gate.set()
    _, vectors = await asyncio.gather(*asked)
    assert vectors.shape == (2, inner.dimension)
    assert inner.queries == [["boat"], ["cat"], ["boat", "dog"]]


class Renamed(WordEmbedder):
    """An embedder that is named by the length of its vectors."""

    async def name(self) -> str:
        return str(self.dimension)
