"""Ranking past messages for a question: vectors, keywords, what was said next to them, and topics.

    base  = closeness of the message + pair * closeness of it with the one before
            + keywords * BM25 / best BM25 + pair_keywords * the same of the pair
    score = base + neighbours * max over messages j near by of base_j * fade^distance
            + topic * the best base of its topic

Closeness comes from a vector database as 1 for its best hit and 0 for the last and for everything
it did not bring. The last line of ``score`` keeps together what was said in one breath: of a
question that names a person or a day, half the evidence stands next to the rest of it, in other
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaptive.conversation.history_index import HistoryIndex
from adaptive.conversation_ports import HistoryHit, PastMessage
from adaptive.ports import Vectors
from adaptive.search.bm25 import KeywordIndex
from adaptive.search.tokens import tokens

# So many messages before and after are near.
NEAR = 4


@dataclass(frozen=True, slots=True)
class HistoryWeights:
    """What counts how much, against the closeness of a single message, which counts 1.

    Chosen on two of LoCoMo's conversations (conv-26 and conv-30, see ``benchmarks.history``), where
    most settings near by do as well.
    """

    pair: float = 1.0
    keywords: float = 1.0
    pair_keywords: float = 1.5
    neighbours: float = 1.0
    fade: float = 0.85
    topic: float = 0.3


DEFAULT_HISTORY_WEIGHTS = HistoryWeights()


@dataclass(frozen=True, slots=True)
class HistoryScope:
    """What may be recalled: of the current chat only the messages ``beyond`` the window, by id.

    The model sees the others anyway, or they are of a branch that was left. With ``only_current``
    nothing of other chats.
    """

    current_chat: str = ""
    beyond: frozenset[str] = frozenset()
    only_current: bool = False

    def holds(self, chat_id: str, message_id: str) -> bool:
        """Whether a message may be recalled."""
        if chat_id == self.current_chat:
            return message_id in self.beyond
        return not self.only_current


EVERYTHING = HistoryScope()


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A past message with its score."""

    message: PastMessage
    score: float


def rank_messages(
    index: HistoryIndex,
    question: str,
    hits: Sequence[HistoryHit],
    scope: HistoryScope = EVERYTHING,
    limit: int = 200,
    weights: HistoryWeights = DEFAULT_HISTORY_WEIGHTS,
) -> list[FoundMessage]:
    """The best past messages for a question, best first; of equals the newer ones.

    Hits that the index does not know are passed over.
    """
    if not index.messages:
        return []
    base = _history_base(index, question, hits, weights)
    score = base + np.float32(weights.neighbours) * _best_near(base, index.topics, weights.fade)
    if weights.topic:
        score = score + np.float32(weights.topic) * _best_of_topic(base, index, hits)
    score = np.where(_in_scope(index, scope) & (score > 0), score, -1)
    best = _places_of_best(score, limit * 2)
    ordered = sorted(
        map(int, best),
        key=lambda at: (-round(float(score[at]), 4), -index.messages[at].said_at),
    )
    return [FoundMessage(index.messages[at], float(score[at])) for at in ordered[:limit]]


def _places_of_best(score: Vectors, count: int) -> NDArray[np.intp]:
    """Places of the highest scores above 0, by place, and of all that equal the last of them."""
    places = np.flatnonzero(score > 0)
    if count >= len(places):
        return places
    return places[score[places] >= np.partition(score[places], -count)[-count]]


def best_coverage(index: HistoryIndex, question: str, scope: HistoryScope) -> float:
    """Share of the question's words in the message of the scope that holds most, from 0 to 1."""
    covered = index.keywords.coverage(tokens(question))
    return float(np.where(_in_scope(index, scope), covered, 0).max(initial=0.0))


def _history_base(
    index: HistoryIndex, question: str, hits: Sequence[HistoryHit], weights: HistoryWeights
) -> Vectors:
    closeness = {
        "message": np.zeros(len(index.messages), dtype=np.float32),
        "exchange": np.zeros(len(index.messages), dtype=np.float32),
    }
    for hit in hits:
        place = index.places.get((hit.chat_id, hit.message_id))
        if place is not None and hit.kind in closeness:
            closeness[hit.kind][place] = hit.closeness
    words = tokens(question)
    return np.asarray(
        closeness["message"]
        + np.float32(weights.pair) * closeness["exchange"]
        + np.float32(weights.keywords) * _keyword_match(index.keywords, words)
        + np.float32(weights.pair_keywords) * _keyword_match(index.pair_keywords, words),
        dtype=np.float32,
    )


def _keyword_match(keywords: KeywordIndex, words: Sequence[str]) -> Vectors:
    """BM25 of each text, 1 for the best."""
    scores = keywords.scores(words)
    best = float(scores.max())
    return scores / np.float32(best) if best > 0 else scores


def _best_near(base: Vectors, topics: NDArray[np.int64], fade: float) -> Vectors:
    """The best faded base of the messages around each, within its topic; itself not counted."""
    found = np.zeros(len(base), dtype=np.float32)
    for distance in range(1, min(NEAR, len(base) - 1) + 1):
        together = topics[distance:] == topics[:-distance]
        share = np.float32(fade**distance)
        before = np.where(together, base[:-distance] * share, 0)
        after = np.where(together, base[distance:] * share, 0)
        found[distance:] = np.maximum(found[distance:], before)
        found[:-distance] = np.maximum(found[:-distance], after)
    return found


def _best_of_topic(base: Vectors, index: HistoryIndex, hits: Sequence[HistoryHit]) -> Vectors:
    """The best base of each one's topic, and how close the topic's summary is."""
    best = np.zeros(int(index.topics.max()) + 1, dtype=np.float32)
    np.maximum.at(best, index.topics, base)
    for hit in hits:
        place = index.places.get((hit.chat_id, hit.message_id))
        if hit.kind == "topic" and place is not None:
            best[index.topics[place]] += np.float32(hit.closeness)
    return best[index.topics]


def _in_scope(index: HistoryIndex, scope: HistoryScope) -> NDArray[np.bool_]:
    current = index.chats == index.chat_numbers.get(scope.current_chat, -1)
    allowed = np.zeros(len(index.messages), np.bool_) if scope.only_current else ~current
    for message_id in scope.beyond:
        place = index.places.get((scope.current_chat, message_id))
        if place is not None:
            allowed[place] = True
    return allowed
