"""Which of a user's memories a message gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.model import Memory, StoreStamp
from adaptive.recall.gather import core_memories, fitting_memories, relevance
from adaptive.search.fusion import GATE, Ranked
from adaptive.search.index import IndexParts, build_index
from tests.fakes import hook_settings, memory
from tests.rates import over

MEMORIES = [memory(f"m-{n}", f"Fact {n}.") for n in range(60)]


def ranked(*found: tuple[float, float]) -> list[Ranked]:
    """What ranking found, best first: evidence, which is the score too, and cosine of each."""
    return [
        Ranked(place, evidence, 0.0, 0.0, evidence, cosine)
        for place, (evidence, cosine) in enumerate(found)
    ]


@dataclass(frozen=True)
class Case:
    """Evidence and cosine of the ranked, valves, and the places that go in."""

    id: str
    found: tuple[tuple[float, float], ...]
    valves: dict[str, Any]
    taken: tuple[int, ...]


JUDGED = {"use_llm_for_relevance": True}

CASES = [
    Case("none", (), {}, ()),
    Case("all fit", ((9, 0.9), (8, 0.8)), {}, (0, 1)),
    Case("nothing fits", ((GATE - 0.01, 0.9), (1, 0.8)), {}, ()),
    Case("on the gate", ((GATE, 0.1),), {}, (0,)),
    Case("far below the best", ((20, 0.9), (2.9, 0.5)), {}, (0,)),
    Case("similarity", ((9, 0.9), (8, 0.5)), {"vector_similarity_threshold": 0.6}, (0,)),
    Case("similarity over order", ((9, 0.5), (8, 0.9)), {"vector_similarity_threshold": 0.6}, (1,)),
    Case("on the similarity", ((9, 0.6),), {"vector_similarity_threshold": 0.6}, (0,)),
    Case("similar, but nothing fits", ((1, 0.9),), {"vector_similarity_threshold": 0.6}, ()),
    Case("relevance, no gate", ((1, 0.9), (0, 0.5)), {"relevance_threshold": 0.6}, (0,)),
    Case("at most so many", ((9, 0.9), (8, 0.8), (7, 0.7)), {"related_memories_n": 2}, (0, 1)),
    Case("pool of the judge", ((9, 0.9), (8, 0.8)), {**JUDGED, "related_memories_n": 1}, (0, 1)),
    Case("small pool", ((9, 0.9), (8, 0.8)), {**JUDGED, "top_n_memories": 1}, (0,)),
    Case("judge's own threshold", ((9, 0.1),), {**JUDGED, "relevance_threshold": 0.9}, (0,)),
]


@over("case", CASES)
def test_fitting_memories(case: Case) -> None:
    """The best go in if the message passes the gate or the admin's own floors, within the count."""
    chosen = fitting_memories(
        MEMORIES,
        ranked(*case.found),
        hook_settings(**case.valves),
        judged="use_llm_for_relevance" in case.valves,
    )
    assert [one.memory.id for one in chosen] == [f"m-{place}" for place in case.taken]
    assert [one.score for one in chosen] == [relevance(case.found[n][0]) for n in case.taken]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(-5, 50), st.floats(-1, 1)), max_size=60),
    st.integers(1, 50),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_never_too_many_never_too_bad(
    found: list[tuple[float, float]], most: int, similarity: float, least: float
) -> None:
    """What goes in keeps the order of ranking, the floors and the count, on a scale of 0 to 1."""
    valves = {"vector_similarity_threshold": similarity, "relevance_threshold": least}
    given = ranked(*sorted(found, reverse=True))
    chosen = fitting_memories(MEMORIES, given, hook_settings(related_memories_n=most, **valves))
    places = [int(one.memory.id.removeprefix("m-")) for one in chosen]
    assert places == sorted(places)
    assert len(places) <= most
    assert all(given[place].cosine >= max(similarity, least) for place in places if similarity)
    assert all(0 <= one.score < 1 for one in chosen)


def test_relevance() -> None:
    """The gate lies at one half, more evidence is more relevance, and none is none."""
    assert relevance(GATE) == 0.5
    assert relevance(-3) == relevance(0) == 0
    assert 0.5 < relevance(GATE + 1) < relevance(1000) < 1


@dataclass(frozen=True)
class Core:
    """Memories by id, the least importance, and the ids of the core facts in their order."""

    id: str
    memories: tuple[Memory, ...]
    importance: int
    ids: str


NAME = memory("n", "Is called Ada.", tags=("identity",), created_at=5)
NUTS = memory("p", "Is allergic to peanuts.", importance=9, created_at=7)
HOME = memory("h", "Lives in Lisbon.", tags=("goal", "identity"), created_at=3)
TEA = memory("t", "Likes tea.", tags=("preference",), importance=8, created_at=1)

CORES = [
    Core("none", (), 9, ""),
    Core("nothing is core", (TEA,), 9, ""),
    Core("most important first, then oldest", (NAME, TEA, NUTS, HOME), 9, "phn"),
    Core("lower", (NAME, TEA, NUTS, HOME), 8, "pthn"),
    Core("switched off", (NAME, TEA, NUTS, HOME), 11, ""),
    Core("twins", (memory("b", "x", importance=9), memory("a", "x", importance=9)), 9, "ab"),
]


@pytest.mark.parametrize("case", CORES, ids=lambda case: case.id)
def test_core_memories(case: Core) -> None:
    """Identity facts and important ones are core, in an order that does not depend on the rows'."""
    for rows in (case.memories, case.memories[::-1]):
        parts = IndexParts(rows, {}, None, "none", StoreStamp(len(rows), 9), 100.0)
        found = core_memories(build_index(parts), case.importance)
        assert "".join(one.id for one in found) == case.ids
