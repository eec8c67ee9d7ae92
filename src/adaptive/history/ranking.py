"""Ranking past messages for a question: vectors, keywords, and what was said next to them.

The vector database brings units: messages, each embedded with the one before it. Both messages of
a unit are candidates, and keywords are weighed over these alone.

    base  = closeness of the message's unit
            + keywords * BM25 of it with the candidate before it / best BM25
    score = base + max over candidates j near by of base_j * fade^distance

Vector databases answer in different measures, so closeness is what they agree on: 1 for the best
hit, 0 for the last. The last line keeps together what was said in one breath: of a question that
names a person or a day, half the evidence stands next to the rest of it, in other words.

Whether anything fits is judged apart, whatever embedding model and vector database. As for memories
(see ``search.calibration``), the nearest unit is held against the nearest units of prompts that
have nothing to do with anybody; both come in the database's own measure, which cancels out:

    evidence = null spreads above the null mean + COVERAGE * share of the question's words that
               stand in one message or the one before it, rare words counting more

While there is no null distribution the words decide.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaptive.core.messages import head_and_tail
from adaptive.core.model import Vectors
from adaptive.core.texts import listed_lines
from adaptive.history.messages import PastMessage
from adaptive.search.calibration import NullLevel, Script, script_of
from adaptive.search.history_ports import HistoryHit
from adaptive.search.tokens import keyword_index, tokens

HistoryLevels = Mapping[Script, NullLevel]

# Evidence that a question needs: measured on LoCoMo (see ``benchmarks.history``).
HISTORY_GATE = 3.5
# Evidence of a question whose words all stand in one past message; the same without vectors.
_COVERAGE = 6.0
_COVERAGE_ALONE = 16.0
# What counts how much, against the closeness of a unit, which counts 1. Chosen on two of LoCoMo's
# conversations (conv-26 and conv-30), where most settings near by do as well.
_KEYWORDS = 2.0
_FADE = 0.85
# So many candidates before and after are near.
_NEAR = 4
# Head and tail of a long message; what is shown of it is chosen from the whole.
_LONGEST_COMPARED = 2000
_SMALL_TALK = frozenset(tokens(" ".join(listed_lines("small_talk"))))


@dataclass(frozen=True, slots=True)
class RankedMessage:
    """A past message with its score."""

    message: PastMessage
    score: float


def rank_messages(
    question: str,
    hits: Sequence[HistoryHit],
    messages: Collection[PastMessage],
    levels: HistoryLevels,
    gate: float = HISTORY_GATE,
) -> list[RankedMessage]:
    """The messages of the hits, best first, of equals the newer; none where nothing fits.

    Hits come best first, and ``messages`` are those that still stand.
    """
    words = tokens(question)
    if not messages or _SMALL_TALK.issuperset(words):
        return []
    ordered = sorted(
        messages, key=lambda message: (message.chat_id, message.order)
    )
    chats = np.array([message.chat_id for message in ordered])
    keywords = keyword_index(_exchanges(ordered))
    coverage = float(keywords.coverage(words).max())
    if _evidence(question, hits[0].score, coverage, levels) < gate:
        return []
    base = _closeness(ordered, hits)
    matched = keywords.scores(words)
    base += matched * np.float32(_KEYWORDS / max(matched.max(), 1e-9))
    score = base + _best_near(base, chats)
    ranked = [
        RankedMessage(message, round(float(value), 4))
        for message, value in zip(ordered, score, strict=True)
    ]
    ranked.sort(key=lambda each: (-each.score, -each.message.said_at))
    return ranked


def _exchanges(ordered: Sequence[PastMessage]) -> list[list[str]]:
    """The words of each message with those of the one before it in its chat."""
    exchanges: list[list[str]] = []
    former_chat = ""
    former_words: list[str] = []
    for message in ordered:
        words = tokens(head_and_tail(message.text, _LONGEST_COMPARED))
        if message.chat_id == former_chat:
            exchanges.append(former_words + words)
        else:
            exchanges.append(words)
        former_chat = message.chat_id
        former_words = words
    return exchanges


def _closeness(
    ordered: Sequence[PastMessage], hits: Sequence[HistoryHit]
) -> Vectors:
    """From 1 for the message of the best hit to 0 for that of the last, and for all others."""
    scores = {(hit.chat_id, hit.message_id): hit.score for hit in hits}
    least = hits[-1].score
    span = hits[0].score - least
    closeness = [
        (scores.get(message.key, least) - least) / (span or 1.0)
        for message in ordered
    ]
    return np.array(closeness, dtype=np.float32)


def _evidence(
    question: str, nearest: float, coverage: float, levels: HistoryLevels
) -> float:
    """How much speaks for recalling anything for a question."""
    level = levels.get(script_of(question))
    if level is None:
        return _COVERAGE_ALONE * coverage
    standing = max((nearest - level.mean) / level.spread, 0.0)
    return standing + _COVERAGE * coverage


def _best_near(base: Vectors, chats: NDArray[np.str_]) -> Vectors:
    """The best faded base of the messages around each, within its chat; itself not counted."""
    best = np.zeros_like(base)
    for distance in range(1, min(_NEAR, len(base) - 1) + 1):
        earlier = slice(None, -distance)
        later = slice(distance, None)
        fade = np.float32(_FADE**distance) * (chats[later] == chats[earlier])
        np.maximum(best[later], base[earlier] * fade, out=best[later])
        np.maximum(best[earlier], base[later] * fade, out=best[earlier])
    return best
