"""Past messages prepared for keyword search."""

from __future__ import annotations

from adaptive.conversation.history_index import LONGEST_INDEXED, history_index
from adaptive.conversation_ports import HistoryStamp
from adaptive.search.tokens import tokens
from tests.conversation.history_world import DAY, START, said

TEAM = said("a", "Which team?", chat_id="one")
WOLVES = said("b", "The Wolves!", "assistant", "one", START + 9)
LATER = said("c", "It rained", chat_id="one", said_at=START + DAY)
OTHER = said("a", "A dog", chat_id="two")


def test_chat_by_chat() -> None:
    """Messages stand chat by chat, known by chat and id, with the numbers of their topics."""
    index = history_index([TEAM, OTHER, WOLVES, LATER], HistoryStamp(4, START))
    assert index.messages == (TEAM, WOLVES, LATER, OTHER)
    assert index.places[("two", "a")] == 3
    assert index.topics.tolist() == [0, 0, 1, 2]
    assert index.chats.tolist() == [0, 0, 0, 1]
    assert index.stamp == HistoryStamp(4, START)


def test_pairs_stay_within_a_topic() -> None:
    """An answer is found by the question's words, what was said a day later is not."""
    index = history_index([TEAM, WOLVES, LATER, OTHER])
    assert index.pair_keywords.scores(tokens("team")).astype(bool).tolist() == [1, 1, 0, 0]
    assert index.pair_keywords.scores(tokens("wolves")).astype(bool).tolist() == [0, 1, 0, 0]
    assert index.keywords.scores(tokens("team")).astype(bool).tolist() == [1, 0, 0, 0]


def test_bounded_and_extended() -> None:
    """Long messages are cut, and an index that is extended is the same as one made anew."""
    long = said("d", "word " * 4000, said_at=START + 20)
    index = history_index([TEAM, WOLVES])
    extended = history_index([TEAM, WOLVES, long], previous=index)
    assert len(extended.messages[2].text) < LONGEST_INDEXED + 10
    anew = history_index([TEAM, WOLVES, long])
    words = tokens("word team wolves")
    assert extended.keywords.scores(words).tolist() == anew.keywords.scores(words).tolist()
    assert extended.nbytes == anew.nbytes > index.nbytes
    assert history_index([]).messages == ()
