"""Ranking past messages for a question: vectors, keywords, what was said next to them, and topics.

    base  = closeness of the message + closeness of it with the one before
            + BM25 / best BM25 + pair_keywords * the same of the pair
    score = base + max over messages j near by of base_j * fade^distance
            + topic * the best base of its topic

Vector databases answer in different measures, so closeness is what they agree on: 1 for the best
hit, 0 for the last and for everything that was not brought. The last line of ``score`` keeps
together what was said in one breath: of a question that names a person or a day, half the evidence
stands next to the rest of it, in other words.

Whether anything fits is judged apart, whatever embedding model and vector database. As for memories
(see ``search.calibration``), the nearest unit is held against the nearest units of prompts that
have nothing to do with anybody; both come in the database's own measure, which cancels out:

    evidence = null spreads above the null mean + COVERAGE * share of the question's words that
               stand in one past message, rare words counting more

A section is written if that reaches the gate. While there is no null distribution the words decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaptive.core.model import Vectors
from adaptive.core.texts import listed_lines
from adaptive.history.index import HistoryIndex, HistoryLevels
from adaptive.history.messages import PastMessage
from adaptive.search.bm25 import KeywordIndex
from adaptive.search.calibration import script_of
from adaptive.search.history_ports import HistoryHit
from adaptive.search.tokens import tokens

# Evidence that a question needs: measured on LoCoMo (see ``benchmarks.history``), where it costs
# 0.003 of the evidence and shuts out 95 of 100 unrelated prompts.
HISTORY_GATE = 3.5
# Evidence of a question whose words all stand in one past message; the same without vectors.
_HISTORY_COVERAGE = 6.0
_HISTORY_COVERAGE_ALONE = 16.0
# What counts how much, against the closeness of a single message, which counts 1. Chosen on two of
# LoCoMo's conversations (conv-26 and conv-30), where most settings near by do as well.
_PAIR_KEYWORDS = 1.5
_FADE = 0.85
_TOPIC = 0.3
# So many messages before and after are near.
_NEAR = 4
_SMALL_TALK = frozenset(tokens(" ".join(listed_lines("small_talk"))))


@dataclass(frozen=True, slots=True)
class HistoryScope:
    """What may be recalled: of the current chat only the messages ``beyond`` the window, by id.

    The model sees the others, or they are of a former branch. ``only_current``: no other chats.
    """

    current_chat: str = ""
    beyond: frozenset[str] = frozenset()
    only_current: bool = False

    def holds(self, chat_id: str, message_id: str) -> bool:
        """Whether a message may be recalled."""
        if chat_id == self.current_chat:
            return message_id in self.beyond
        return not self.only_current


@dataclass(frozen=True, slots=True)
class RankedMessage:
    """A past message with its score."""

    message: PastMessage
    score: float


def rank_messages(
    index: HistoryIndex,
    question: str,
    hits: Sequence[HistoryHit],
    scope: HistoryScope,
    limit: int,
) -> list[RankedMessage]:
    """The best past messages for a question, best first; of equals the newer.

    Hits come best first; those that the index does not know are passed over, and so are summaries
    of topics: these are told beside the messages.
    """
    if not index.messages:
        return []
    base = np.zeros(len(index.messages), dtype=np.float32)
    least = hits[-1].score if hits else 0.0
    span = hits[0].score - least if hits else 0.0
    for hit in hits:
        place = index.places.get(hit.message_key)
        if place is not None and hit.kind != "topic":
            base[place] += (hit.score - least) / span if span else 1.0
    words = tokens(question)
    base += _keyword_match(index.keywords, words)
    base += np.float32(_PAIR_KEYWORDS) * _keyword_match(
        index.pair_keywords, words
    )
    best_of_topic = np.zeros(index.topics[-1] + 1, dtype=np.float32)
    np.maximum.at(best_of_topic, index.topics, base)
    score = base + _best_near(base, index.topics)
    score += np.float32(_TOPIC) * best_of_topic[index.topics]
    score = np.where(_in_scope(index, scope), score, 0)
    ranked = [
        RankedMessage(index.messages[place], float(score[place]))
        for place in map(int, np.argsort(-score)[: limit * 2])
        if score[place] > 0
    ]
    ranked.sort(
        key=lambda ranked: (-round(ranked.score, 4), -ranked.message.said_at)
    )
    return ranked[:limit]


def best_coverage(
    index: HistoryIndex, question: str, scope: HistoryScope
) -> float:
    """Share of the question's words in the message of the scope that holds most, from 0 to 1."""
    covered = index.keywords.coverage(tokens(question))
    return float(
        np.where(_in_scope(index, scope), covered, 0).max(initial=0.0)
    )


def history_evidence(
    text: str, nearest: float | None, coverage: float, levels: HistoryLevels
) -> float:
    """How much speaks for past messages that fit a question; none for a greeting.

    ``nearest`` is the score of the nearest unit that may be recalled, ``None`` without vectors;
    ``coverage`` is the share of the question's words in the message that holds most of them.
    """
    if _SMALL_TALK.issuperset(tokens(text)):
        return 0.0
    level = levels.get(script_of(text))
    if level is None or nearest is None:
        return _HISTORY_COVERAGE_ALONE * coverage
    return (
        max((nearest - level.mean) / level.spread, 0.0)
        + _HISTORY_COVERAGE * coverage
    )


def _keyword_match(keywords: KeywordIndex, words: Sequence[str]) -> Vectors:
    """BM25 of each text, 1 for the best."""
    scores = keywords.scores(words)
    best = float(scores.max())
    return scores / np.float32(best) if best > 0 else scores


def _best_near(base: Vectors, topics: NDArray[np.int64]) -> Vectors:
    """The best faded base of the messages around each, within its topic; itself not counted."""
    best = np.zeros_like(base)
    for distance in range(1, min(_NEAR, len(base) - 1) + 1):
        earlier = slice(None, -distance)
        later = slice(distance, None)
        fade = np.float32(_FADE**distance) * (topics[later] == topics[earlier])
        np.maximum(best[later], base[earlier] * fade, out=best[later])
        np.maximum(best[earlier], base[later] * fade, out=best[earlier])
    return best


def _in_scope(index: HistoryIndex, scope: HistoryScope) -> NDArray[np.bool_]:
    return np.array(
        [scope.holds(*message.key) for message in index.messages],
        dtype=np.bool_,
    )
