"""The order of past messages for a question, and knowing when none fits."""

from __future__ import annotations

from dataclasses import dataclass

from adaptive.core.table_ports import HistoryHit, UnitKind
from adaptive.history.index import history_index
from adaptive.history.ranking import (
    HISTORY_GATE,
    HistoryScope,
    history_evidence,
    rank_messages,
)
from adaptive.search.calibration import NullLevel, Script
from tests.history.world import DAY, START, said
from tests.rates import over

INDEX = history_index(
    [
        said("a", "Which team will you join?", chat_id="one"),
        said("b", "The Wolves!", "assistant", "one", START + 1),
        said("c", "Do you like rain?", chat_id="two", said_at=START + DAY),
        said("d", "I prefer snow", "assistant", "two", START + DAY + 1),
        said("e", "Bread needs yeast", chat_id="three", said_at=START + 2 * DAY),
    ]
)
LEVELS: dict[Script, NullLevel] = {"latin": NullLevel(0.3, 0.05), "other": NullLevel(0.5, 0.1)}


def hit(message_id: str, chat_id: str, score: float, kind: UnitKind = "message") -> HistoryHit:
    """A hit of the vector database."""
    return HistoryHit(kind, chat_id, message_id, score)


def ids(question: str, *hits: HistoryHit, scope: HistoryScope | None = None) -> list[str]:
    """The messages that are found, best first."""
    found = rank_messages(INDEX, question, hits, scope or HistoryScope(), 10)
    return [message.id for message, _ in found]


def test_keywords_and_vectors() -> None:
    """Either finds a message, and it lifts what was said next to it; topics lift all of theirs."""
    assert ids("the team") == ["a", "b"]
    assert ids("nothing of that kind") == []
    near = (hit("c", "two", 7.0), hit("e", "three", 5.5, "exchange"), hit("x", "gone", 5.0))
    assert ids("weather", *near) == ["c", "d", "e"]
    assert set(ids("weather", hit("c", "two", 1.0, "topic"))) == {"c", "d"}
    assert rank_messages(history_index([]), "team", [], HistoryScope(), 10) == []
    assert len(rank_messages(INDEX, "which team likes rain", [], HistoryScope(), 1)) == 1


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
