"""The question's vector, made once for a turn."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from adaptive.errors import EmbeddingError
from adaptive.search.turn_embedder import TurnEmbedder
from tests.fakes import WordEmbedder


async def test_made_once() -> None:
    """Who asks at the same time or later gets the same vectors, in the order asked for."""
    inner = WordEmbedder()
    turn = TurnEmbedder(inner)
    first, second = await asyncio.gather(
        turn.embed(["boat", "dog"], query=True), turn.embed(["dog"], query=True)
    )
    assert np.array_equal(first[1], second[0])
    third = await turn.embed(["cat", "boat"], query=True)
    assert np.array_equal(third[1], first[0])
    assert inner.queries == [["boat", "dog"], ["cat"]]
    assert await turn.name() == "words"


async def test_documents_pass() -> None:
    """What is no query is embedded as ever."""
    inner = WordEmbedder()
    turn = TurnEmbedder(inner)
    for _ in range(2):
        await turn.embed(["boat"], query=False)
    assert inner.calls == [["boat"], ["boat"]]


async def test_failure_reaches_everybody() -> None:
    """Each who waits is told why there is no vector."""
    inner = WordEmbedder()
    inner.failing = True
    turn = TurnEmbedder(inner)
    for _ in range(2):
        with pytest.raises(EmbeddingError):
            await turn.embed(["boat"], query=True)


async def test_one_gives_up() -> None:
    """One who gives up takes the vector from nobody; when all do, it is not made."""
    inner = WordEmbedder()
    inner.gate.clear()
    turn = TurnEmbedder(inner)
    hasty = asyncio.create_task(turn.embed(["boat"], query=True))
    patient = asyncio.create_task(turn.embed(["boat"], query=True))
    await asyncio.sleep(0)
    hasty.cancel()
    await asyncio.wait({hasty})
    inner.gate.set()
    assert (await patient).shape[0] == 1
    inner.gate.clear()
    alone = asyncio.create_task(turn.embed(["dog"], query=True))
    await asyncio.sleep(0)
    alone.cancel()
    await asyncio.wait({alone})
    inner.gate.set()
    assert (await turn.embed(["dog"], query=True)).shape[0] == 1
