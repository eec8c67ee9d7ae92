"""The order of past messages for a question."""

from __future__ import annotations

import pytest

from adaptive.conversation.history_index import history_index
from adaptive.conversation.history_ranking import HistoryScope, rank_messages
from adaptive.conversation_ports import HistoryHit, UnitKind
from tests.conversation.history_world import DAY, START, said

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
    return HistoryHit(f"{kind}-{message_id}", kind, chat_id, message_id, closeness)


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
