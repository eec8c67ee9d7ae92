"""The order of past messages for a question, and knowing when none fits."""

from __future__ import annotations

from adaptive.history.index import history_index
from adaptive.history.ranking import (
    HISTORY_GATE,
    HistoryScope,
    history_evidence,
    rank_messages,
)
from adaptive.search.calibration import NullLevel, Script
from adaptive.search.history_ports import HistoryHit, UnitKind
from tests.history.world import DAY, START, said
from tests.rates import over

INDEX = history_index(
    [
        said("a", "Which team will you join?", chat_id="one"),
        said("b", "The Wolves!", "assistant", "one", START + 1),
        said("c", "Do you like rain?", chat_id="two", said_at=START + DAY),
        said("d", "I prefer snow", "assistant", "two", START + DAY + 1),
        said(
            "e", "Bread needs yeast", chat_id="three", said_at=START + 2 * DAY
        ),
    ]
)
EVERYWHERE = HistoryScope()
LEVELS: dict[Script, NullLevel] = {
    "latin": NullLevel(0.3, 0.05),
    "other": NullLevel(0.5, 0.1),
}


def hit(
    message_id: str, chat_id: str, score: float, kind: UnitKind = "message"
) -> HistoryHit:
    """A hit of the vector database."""
    return HistoryHit(kind, chat_id, message_id, score)


def ids(
    question: str, *hits: HistoryHit, scope: HistoryScope = EVERYWHERE
) -> list[str]:
    """The messages that are found, best first."""
    return [
        one.message.id
        for one in rank_messages(INDEX, question, hits, scope, 10)
    ]


def test_keywords_and_vectors() -> None:
    """Either finds a message, and it lifts what was said next to it; topics lift nothing."""
    assert ids("the team") == ["a", "b"]
    assert ids("nothing of that kind") == []
    near = (
        hit("c", "two", 7.0),
        hit("e", "three", 5.5, "exchange"),
        hit("x", "gone", 5.0),
    )
    assert ids("weather", *near) == ["c", "d", "e"]
    assert ids("weather", hit("c", "two", 1.0, "topic")) == []
    assert rank_messages(history_index([]), "team", [], EVERYWHERE, 10) == []
    assert (
        len(rank_messages(INDEX, "which team likes rain", [], EVERYWHERE, 1))
        == 1
    )
    assert set(
        ids("team rain", scope=HistoryScope("one", frozenset({"a"})))
    ) == {"a", "c", "d"}
    assert ids(
        "team rain",
        scope=HistoryScope("one", frozenset({"a"}), only_current=True),
    ) == ["a"]


REX, SORT = "Where does Rex sleep?", "Sort a list of numbers"


@over(
    "text, nearest, coverage, passes",
    [
        (REX, 0.5, 0.0, True),
        (REX, 0.3, 0.7, True),
        (REX, 0.4, 0.3, True),
        (SORT, 0.35, 0.2, False),
        (SORT, 0.1, 0.4, False),
        (REX, None, 0.3, True),
        (SORT, None, 0.15, False),
        ("Где спит Рекс?", 0.9, 0.1, False),  # a script without a level
        ("Hi!", 0.9, 1.0, False),
        ("ok, thank you so much", 0.9, 1.0, False),
    ],
    at_least=0.85,
)
def test_evidence(
    text: str, nearest: float | None, coverage: float, passes: bool
) -> None:
    """Nearness beyond the null level and shared words count together; greetings never do."""
    assert (
        history_evidence(text, nearest, coverage, LEVELS) >= HISTORY_GATE
    ) == passes
