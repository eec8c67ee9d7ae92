"""A message as it is searched with: short enough, in time, and with its vectors or without."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from adaptive.search.query import TurnEmbedder, asked_for, query_vectors
from tests.fakes import WordEmbedder


@dataclass(frozen=True)
class Case:
    """Texts, and those of them that are embedded."""

    id: str
    texts: Sequence[str]
    asked: list[str]


CASES = [
    Case("both", ["Which tea?", "I like tea."], ["Which tea?", "I like tea."]),
    Case("first message", ["Which tea?", ""], ["Which tea?"]),
    Case("signs before", ["Which tea?", "?!"], ["Which tea?"]),
    Case("other scripts", ["чай", "茶"], ["чай", "茶"]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_query_vectors(case: Case) -> None:
    """What holds words is embedded in one request, as queries, and comes back scaled."""
    embedder = WordEmbedder()
    rows = await query_vectors(embedder, case.texts, 60)
    assert embedder.queries == [case.asked]
    assert embedder.calls == []
    assert rows is not None
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(case.asked)), abs=1e-6)


async def test_provider_fails(caplog: pytest.LogCaptureFixture) -> None:
    """When the provider fails, the log says so and keywords have to serve."""
    embedder = WordEmbedder()
    embedder.failing = True
    with caplog.at_level(logging.WARNING):
        assert await query_vectors(embedder, ["my secret tea"], 60) is None
    assert "searched by its keywords only: the provider is down" in caplog.text
    assert "secret" not in caplog.text


ROWS = np.eye(2, 4, dtype=np.float32)


def test_asked_for() -> None:
    """The message gets the first vector, the one before it the second."""
    asked = asked_for("And when?", "I moved.", ROWS, 4)
    assert (asked.text, asked.previous_text) == ("And when?", "I moved.")
    assert asked.vector is not None
    assert asked.previous_vector is not None
    assert asked.vector.tolist() == [1, 0, 0, 0]
    assert asked.previous_vector.tolist() == [0, 1, 0, 0]


async def test_turn_embedder() -> None:
    """Who asks at the same time or later gets the same vectors; one who gives up takes none."""
    inner = WordEmbedder()
    inner.gate.clear()
    turn = TurnEmbedder(inner)
    hasty = asyncio.create_task(turn.embed(["boat"], query=True))
    both = [asyncio.create_task(turn.embed(["boat", "dog"], query=True)) for _ in range(2)]
    await asyncio.sleep(0)
    hasty.cancel()
    await asyncio.wait({hasty})
    inner.gate.set()
    first, second = await asyncio.gather(*both)
    assert np.array_equal(first, second)
    assert np.array_equal((await turn.embed(["cat", "dog"], query=True))[1], first[1])
    assert inner.queries == [["boat"], ["boat", "dog"], ["cat"]]
    await turn.embed(["boat"], query=False)
    assert inner.calls == [["boat"]]
