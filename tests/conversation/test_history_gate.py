"""Knowing when no past message fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from adaptive.conversation.history_gate import (
    HISTORY_GATE,
    HistoryCalibrations,
    HistorySpace,
    history_evidence,
    is_small_talk,
)
from adaptive.conversation_ports import HistoryHit
from adaptive.ports import Vectors
from adaptive.search.calibration import NULL_PROMPTS, NullLevel, Script
from tests.conversation.history_world import NearestUnits
from tests.fakes import WordEmbedder
from tests.rates import over

LEVELS: dict[Script, NullLevel] = {"latin": NullLevel(0.3, 0.05), "other": NullLevel(0.5, 0.1)}


@dataclass(frozen=True)
class Case:
    """A question as a search has seen it."""

    id: str
    text: str
    nearest: float | None
    coverage: float
    passes: bool


CASES = (
    Case("near and in other words", "Where does Rex sleep?", 0.5, 0.0, passes=True),
    Case("in the same words", "Where does Rex sleep?", 0.3, 0.7, passes=True),
    Case("a little of both", "Where does Rex sleep?", 0.4, 0.3, passes=True),
    Case("as near as anything", "Sort a list of numbers", 0.35, 0.2, passes=False),
    Case("farther than anything", "Sort a list of numbers", 0.1, 0.4, passes=False),
    Case("no vector, many words", "Where does Rex sleep?", None, 0.3, passes=True),
    Case("no vector, a word by chance", "Sort a list of numbers", None, 0.15, passes=False),
    Case("a script without a level", "Где спит Рекс?", 0.9, 0.1, passes=False),
    Case("greeting", "Hi!", 0.9, 1.0, passes=False),
    Case("thanks", "ok, thank you so much", 0.9, 1.0, passes=False),
)


@over("case", CASES, at_least=0.85)
def test_evidence(case: Case) -> None:
    """Nearness beyond the null level and shared words count together; greetings never do."""
    evidence = history_evidence(case.text, case.nearest, case.coverage, LEVELS)
    assert (evidence >= HISTORY_GATE) == case.passes


@pytest.mark.parametrize("change", [lambda score: 2 - 3 * (1 - score), lambda score: 100 * score])
def test_measure_of_the_engine_cancels_out(change: Callable[[float], float]) -> None:
    """Another measure of the same distances, stretched and shifted, gives the same evidence."""
    mean, above = change(0.3), change(0.35)
    levels: dict[Script, NullLevel] = {"latin": NullLevel(mean, above - mean)}
    stretched = history_evidence("Where does Rex sleep?", change(0.42), 0.2, levels)
    assert stretched == pytest.approx(history_evidence("Where does Rex sleep?", 0.42, 0.2, LEVELS))


@over(
    "text, expected",
    [
        ("hello there", True),
        ("Danke!", True),
        ("謝謝", True),
        ("Спасибо", True),
        ("👍", True),
        ("Good morning, how is Rex?", False),
        ("Rex", False),
    ],
    at_least=0.85,
)
def test_small_talk(text: str, expected: bool) -> None:
    """Greetings, thanks and assent in several languages; not a greeting with a question."""
    assert is_small_talk(text) is expected


class CountedUnits(NearestUnits):
    """Nearest units at about a fixed score, counting searches; ``flat`` ones tell no distances."""

    def __init__(self, score: float = 0.25, *, empty: bool = False, flat: bool = False) -> None:
        super().__init__()
        self.searches = 0
        self.score, self.empty, self.flat = score, empty, flat

    async def search(
        self, user_id: str, embedder: str, vector: Vectors, limit: int, chat_id: str = ""
    ) -> tuple[HistoryHit, ...]:
        """Two hits, one of that score and a farther one."""
        self.searches += 1
        self._check()
        if self.empty:
            return ()
        nearest = 0.0 if self.flat else self.score + 0.001 * (self.searches % 2)
        scores: Sequence[float] = (nearest, nearest / 2)
        return tuple(
            HistoryHit(f"u{at}", "message", "c", "m", 1.0 - at, score=one)
            for at, one in enumerate(scores)
        )


class Clock:
    """Seconds that are set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def space(vectors: NearestUnits, embedder: WordEmbedder | None = None) -> HistorySpace:
    """Ada's past conversation."""
    return HistorySpace("ada", embedder or WordEmbedder(), vectors)


async def test_calibrated_behind_the_turn() -> None:
    """The first question finds no levels and waits for none; the next ones find them."""
    calibrations, vectors = HistoryCalibrations(), CountedUnits()
    assert calibrations.at_hand(space(vectors), "one", 10) == {}
    assert vectors.searches == 0
    await calibrations.made("ada")
    levels = calibrations.at_hand(space(vectors), "one", 10)
    assert levels["latin"].mean == pytest.approx(0.25, abs=0.01)
    assert vectors.searches == len(NULL_PROMPTS)
    assert calibrations.at_hand(space(vectors), "one", 14) == levels
    await calibrations.made("ada")
    assert vectors.searches == len(NULL_PROMPTS)


async def test_calibrated_again_where_the_past_has_grown() -> None:
    """Much more to find, or another embedder, is another distribution; old levels serve a while."""
    clock = Clock()
    calibrations, vectors = HistoryCalibrations(clock), CountedUnits()
    calibrations.at_hand(space(vectors), "one", 10)
    await calibrations.made("ada")
    vectors.score = 0.5  # as a larger past would bring
    calibrations.at_hand(space(vectors), "one", 100)
    await calibrations.made("ada")
    assert calibrations.at_hand(space(vectors), "one", 100)["latin"].mean == pytest.approx(
        0.25, abs=0.01
    )
    clock.now += 61
    assert calibrations.at_hand(space(vectors), "one", 100)["latin"].mean == pytest.approx(
        0.25, abs=0.01
    )
    await calibrations.made("ada")
    assert calibrations.at_hand(space(vectors), "one", 100)["latin"].mean == pytest.approx(
        0.5, abs=0.01
    )
    assert calibrations.at_hand(space(vectors), "two", 100) == {}
    await calibrations.made("ada")
    assert calibrations.at_hand(space(vectors), "two", 100)["latin"].mean == pytest.approx(
        0.5, abs=0.01
    )


async def test_vectors_of_null_prompts_are_made_once() -> None:
    """They belong to no user; whoever has them already may hand them in."""
    embedder, calibrations = WordEmbedder(), HistoryCalibrations()
    for user_id in ("ada", "bob"):
        own = HistorySpace(user_id, embedder, CountedUnits())
        calibrations.at_hand(own, "one", 1)
        await calibrations.made(user_id)
    assert len(embedder.queries) == 1

    async def known() -> Vectors:
        return np.ones((len(NULL_PROMPTS), 2), dtype=np.float32)

    other = HistoryCalibrations()
    handed = HistorySpace("ada", embedder, CountedUnits(), known)
    other.at_hand(handed, "one", 1)
    await other.made("ada")
    assert other.at_hand(handed, "one", 1)
    assert len(embedder.queries) == 1


async def test_engine_without_distances() -> None:
    """Where everything has the same score there is no distribution, and words decide."""
    calibrations, vectors = HistoryCalibrations(), CountedUnits(flat=True)
    calibrations.at_hand(space(vectors), "one", 1)
    await calibrations.made("ada")
    assert calibrations.at_hand(space(vectors), "one", 1) == {}


@pytest.mark.parametrize("kind", ["failing", "empty"])
async def test_nothing_to_calibrate_by(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """A database that is away or empty gives no levels, and is left in peace for a while."""
    clock = Clock()
    vectors = CountedUnits(empty=kind == "empty")
    vectors.failing = kind == "failing"
    calibrations = HistoryCalibrations(clock)
    for seconds, searches in ((0, 1), (1, 1), (60, 2)):
        clock.now += seconds
        assert calibrations.at_hand(space(vectors), "one", 1) == {}
        await calibrations.made("ada")
        assert vectors.searches == searches
    assert ("judged by its words" in caplog.text) == (kind == "failing")


async def test_forgotten() -> None:
    """Of a forgotten user nothing is kept, and what is being made is not."""
    calibrations, vectors = HistoryCalibrations(), CountedUnits()
    calibrations.at_hand(space(vectors), "one", 1)
    calibrations.forget("ada")
    await calibrations.made("ada")
    assert calibrations.at_hand(space(vectors), "one", 1) == {}
    await calibrations.made("ada")
    assert calibrations.at_hand(space(vectors), "one", 1)
    calibrations.forget("ada")
    assert calibrations.at_hand(space(vectors), "one", 1) == {}
    await calibrations.made("ada")
