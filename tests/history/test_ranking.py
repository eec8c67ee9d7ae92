"""The order of past messages for a question, and knowing when none fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from adaptive.conversation_ports import HistoryHit, UnitKind
from adaptive.history.index import history_index
from adaptive.history.ranking import (
    HISTORY_GATE,
    HistoryScope,
    history_evidence,
    is_small_talk,
    rank_messages,
)
from adaptive.search.calibration import NullLevel, Script
from tests.history.world import DAY, START, said
from tests.rates import over

MESSAGES = [
    said("a", "Which team will you join?", chat_id="one"),
    said("b", "The Wolves!", "assistant", "one", START + 1),
    said("c", "Do you like rain?", chat_id="two", said_at=START + DAY),
    said("d", "I prefer snow", "assistant", "two", START + DAY + 1),
    said("e", "Bread needs yeast", chat_id="three", said_at=START + 2 * DAY),
]
INDEX = history_index(MESSAGES)


def hit(message_id: str, chat_id: str, closeness: float, kind: UnitKind = "message") -> HistoryHit:
    """A hit of the vector database."""
    return HistoryHit(kind, chat_id, message_id, closeness)


def ids(question: str, *hits: HistoryHit, scope: HistoryScope | None = None) -> list[str]:
    """The messages that are found, best first."""
    found = rank_messages(INDEX, question, hits, scope=scope or HistoryScope())
    return [one.message.id for one in found]


def test_keywords_alone() -> None:
    """Without vectors keywords find a message, and it lifts what was said next to it."""
    assert ids("the team") == ["a", "b"]
    assert ids("yeast") == ["e"]
    assert ids("nothing of that kind") == []


def test_vectors_alone() -> None:
    """Where no word is shared, closeness orders; the pair counts as the message does."""
    found = ids("weather", hit("c", "two", 1.0), hit("e", "three", 0.4, "exchange"))
    assert found[0] == "c"
    assert "e" in found
    assert ids("weather", hit("x", "gone", 1.0)) == []


def test_topics_lift_their_messages() -> None:
    """A close summary of a topic lifts all of its messages."""
    assert ids("weather", hit("c", "two", 1.0, "topic")) == ["d", "c"]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (HistoryScope("one"), {"c", "d"}),
        (HistoryScope("one", frozenset({"a"})), {"a", "c", "d"}),
        (HistoryScope("one", frozenset({"b"}), only_current=True), {"b"}),
        (HistoryScope("one", only_current=True), set[str]()),
        (HistoryScope("unknown"), {"a", "b", "c", "d"}),
    ],
)
def test_scope(scope: HistoryScope, expected: set[str]) -> None:
    """Of the current chat only what is beyond the window comes back."""
    assert set(ids("which team likes rain", scope=scope)) == expected


def test_limit_and_empty() -> None:
    """No more messages than asked for, and none of an empty past."""
    assert len(rank_messages(INDEX, "which team likes rain", [], limit=1)) == 1
    assert rank_messages(history_index([]), "team", []) == []


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
