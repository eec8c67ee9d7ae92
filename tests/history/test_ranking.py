"""The order of past messages for a question, and knowing when none fits."""

from __future__ import annotations

from adaptive.history.section import rank_messages
from adaptive.search.calibration import NullLevel, Script
from adaptive.search.history_ports import HistoryHit
from tests.history.world import DAY, START, said
from tests.rates import over

MESSAGES = [
    said("a", "Which team will you join?", chat_id="one"),
    said("b", "The Wolves!", "assistant", "one", START + 1),
    said("c", "Do you like rain?", chat_id="two", said_at=START + DAY),
    said("d", "I prefer snow", "assistant", "two", START + DAY + 1),
    said("e", "Bread needs yeast", chat_id="three", said_at=START + 2 * DAY),
]
LEVELS: dict[Script, NullLevel] = {
    "latin": NullLevel(0.3, 0.05),
    "other": NullLevel(0.5, 0.1),
}
FAR = 0.0


def hit(message_id: str, chat_id: str, score: float) -> HistoryHit:
    """A hit of the vector database."""
    return HistoryHit(chat_id, message_id, "", score)


def ids(question: str, *hits: HistoryHit) -> list[str]:
    """All messages, best first."""
    ranked = rank_messages(question, hits, MESSAGES, LEVELS, gate=FAR)
    return [message.id for message in ranked]


def test_keywords_and_vectors() -> None:
    """Either lifts a message, and it lifts what was said next to it; of equals the newer comes."""
    nothing = hit("x", "gone", 5.0)
    assert ids("the team", nothing)[:2] == ["a", "b"]
    assert ids("nothing of that kind", nothing) == ["e", "d", "c", "b", "a"]
    near = (hit("c", "two", 7.0), hit("e", "three", 5.5), nothing)
    assert ids("weather", *near)[:3] == ["c", "d", "e"]
    assert rank_messages("team", [], [], LEVELS) == {}


REX, SORT = "Where does Rex sleep?", "Sort a list of numbers"


@over(
    "text, nearest, said_before, passes",
    [
        (REX, 0.5, "Dogs like bones", True),
        (REX, 0.3, "Rex has a place to sleep", True),
        (REX, 0.4, "Rex is a dog", True),
        (SORT, 0.35, "The list is long", False),
        (SORT, 0.1, "Numbers", False),
        ("Где спит Рекс?", 0.9, "Bones", False),  # a script without a level
        ("Hi!", 0.9, "Hi!", False),
        ("ok, thank you so much", 0.9, "ok, thank you so much", False),
    ],
    at_least=0.85,
)
def test_evidence(
    text: str, nearest: float, said_before: str, passes: bool
) -> None:
    """Nearness beyond the null level and shared words count together; greetings never do."""
    hits = [hit("m", "c", nearest)]
    ranked = rank_messages(text, hits, [said("m", said_before)], LEVELS)
    assert bool(ranked) == passes
