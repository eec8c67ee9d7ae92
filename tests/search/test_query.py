"""A message as it is searched with: short enough, in time, and with its vectors or without."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from adaptive.search.query import asked_for, query_vectors
from tests.fakes import DIMENSION, WordEmbedder


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


@pytest.mark.parametrize("texts", [[], [""], ["?!", " "]], ids=repr)
async def test_nothing_to_embed(texts: list[str]) -> None:
    """Without words the provider is not asked."""
    embedder = WordEmbedder()
    assert await query_vectors(embedder, texts, 60) is None
    assert embedder.queries == []


async def test_long_message() -> None:
    """Of a message of 50,000 characters head and tail are embedded."""
    embedder = WordEmbedder()
    await query_vectors(embedder, ["head " + "x " * 25_000 + "tail"], 60)
    ((sent,),) = embedder.queries
    assert len(sent) < 4100
    assert sent.startswith("head ")
    assert sent.endswith(" tail")


async def test_provider_fails(caplog: pytest.LogCaptureFixture) -> None:
    """When the provider fails, the log says so and keywords have to serve."""
    embedder = WordEmbedder()
    embedder.failing = True
    with caplog.at_level(logging.WARNING):
        assert await query_vectors(embedder, ["my secret tea"], 60) is None
    assert "searched by its keywords only: the provider is down" in caplog.text
    assert "secret" not in caplog.text


async def test_provider_hangs(caplog: pytest.LogCaptureFixture) -> None:
    """A provider that hangs is given up when patience ends."""
    embedder = WordEmbedder()
    embedder.gate.clear()
    with caplog.at_level(logging.WARNING):
        assert await query_vectors(embedder, ["tea"], 0.02) is None
    assert "no vector within 0.02 s" in caplog.text


ROWS = np.eye(2, 4, dtype=np.float32)


def test_asked_for() -> None:
    """The message gets the first vector, the one before it the second."""
    asked = asked_for("And when?", "I moved.", ROWS, 4)
    assert (asked.text, asked.previous_text) == ("And when?", "I moved.")
    assert asked.vector is not None
    assert asked.previous_vector is not None
    assert asked.vector.tolist() == [1, 0, 0, 0]
    assert asked.previous_vector.tolist() == [0, 1, 0, 0]


def test_asked_for_without_previous() -> None:
    """A message before it without words leaves neither text nor vector."""
    asked = asked_for("When?", "…", ROWS[:1], 4)
    assert (asked.previous_text, asked.previous_vector) == ("", None)
    assert asked.vector is not None


@pytest.mark.parametrize("dimension", [0, 3, DIMENSION])
def test_other_dimension(dimension: int) -> None:
    """Vectors of another length than the store's are left out, and the words stay."""
    asked = asked_for("When?", "I moved.", ROWS, dimension)
    assert (asked.vector, asked.previous_vector) == (None, None)
    assert (asked.text, asked.previous_text) == ("When?", "I moved.")


def test_asked_for_a_long_message() -> None:
    """Keywords are taken from head and tail, too."""
    assert len(asked_for("x " * 25_000, "", None, 4).text) < 4100
