"""Ranking one user's memories for a message: vectors, keywords, and what was said together.

The score of a memory is

    base  = (cosine to the message less the store's mean) / unit + keywords * BM25 / best BM25
    score = base + neighbours * max over memories j of base_j * exp(-distance / reach)

The mean is taken from the message so that what all of a user's memories have in common does not
count (after Mu, Viswanath: "All-but-the-Top", 2018). ``unit`` is the spread that null prompts show
(``search.calibration``), so that the weights mean the same for every embedding model. What
nearly all memories have is taken from them, whatever a model makes of the difference between
questions and what answers them. The second line lifts memories that were learned next to a
good one: what an answer needs was often said in the same breath, in other words. Whether anything
fits at all is judged apart (``search.fitting``), by evidence:

    evidence = null spreads of the cosine, less that to null prompts, above the null mean,
               less those that all have
               + the higher of coverage * share of the message's words and naming * rarity of a name
               + personal if the message speaks of the user, by its words or by its vector

Some messages are near to any text, and some models make much of it: with multilingual-e5-small that
differs more between messages than what fits differs from what does not. So the cosine of a message
to the average of the first null prompts is taken from it (after the symmetric normalisation of
scores in speaker verification; Matejka et al.: "Analysis of Score Normalization in Multilingual
Speaker Recognition", 2017).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from sys import intern

import numpy as np
from numpy.typing import NDArray

from adaptive.core import Vectors, frozen, has_words, head_and_tail
from adaptive.search.calibration import (
    FIRST_TEXTS,
    NULL_PROMPTS,
    NullLevel,
    Script,
    null_levels,
    script_of,
    speaks_of_self,
)
from adaptive.search.tokens import (
    KeywordIndex,
    KeywordMatches,
    continues,
    keyword_index,
    names_in,
    tokens,
)
from adaptive.search.vectors import LONGEST_QUERY, normalised, products

# Of this many memories the mean is trusted by half.
CENTRE_HALF = 30

_TINY = 1e-9
# Words of prompts that are about nobody, which no memory owns.
_EVERYDAY = frozenset(tokens(" ".join(NULL_PROMPTS)))


@frozen
class Weights:
    """What counts how much; all are in null spreads of the embedding model."""

    keywords: float = 5.5  # of the best BM25 score
    neighbours: float = 0.6  # of a neighbour's score,
    reach: float = 15.0  # faded to a third after so many memories
    coverage: float = 6.0  # of words, as evidence,
    words_alone: float = 10.0  # or without vectors
    naming: float = 6.0  # of a name that the memory holds, by its rarity
    personal: float = 3.5  # of words that speak of the user,
    about_writer: float = (
        5.0  # at most of a vector that does, in a small store
    )


DEFAULT_WEIGHTS = Weights()
# The best evidence that a message needs to get any memory, in a small store and in a large one;
# in between it follows the logarithm of the size.
GATES = (4.5, 6.0)
_GATE_SIZES = (12, 160)
# What it grows with the logarithm of the number of thoughts.
_GATE_GROWTH = 0.75
# Spreads below the average of a store's memories, where their scores begin, and their evidence
_SCORE_FROM = 1.0
_EVIDENCE_FROM = 1.75
# Of this many memories what all have in common is trusted by half.
_COMMON_HALF = 10
# Something that no memory holds: else a single word would be the whole of its message.
_UNSAID = ""


@frozen
class RankingIndex:
    """One version of a user's memories, oldest first, prepared for ranking; known by their place."""

    vectors: Vectors  # of a memory without one yet a row of zeros
    embedded: NDArray[np.bool_]
    centre: (
        Vectors  # the mean, of few memories drawn towards that of any texts
    )
    centrality: Vectors  # the product of each vector with it
    usual: Vectors  # what is asked of anybody, on average
    levels: Mapping[
        Script, NullLevel
    ]  # without those keywords alone are evidence
    words: Mapping[str, Sequence[str]]  # the tokens of each text
    keywords: KeywordIndex

    @property
    def unit(self) -> float:
        """The null spread of what most people write; 1 where it is not known."""
        return self.levels["latin"].spread if self.levels else 1.0


@frozen
class RankingQuery:
    """A message to find memories for, with its normalised vector where it has one.

    ``personal`` is how much it counts, from 0 to 1, that its words speak of the user;
    ``about_writer`` is the evidence of its vector that it needs to know its writer.
    """

    text: str
    vector: Vectors | None
    personal: float = 1.0
    about_writer: float = 0.0


def ranking_query(
    text: str, previous: str, vectors: Vectors | None
) -> RankingQuery:
    """The message to rank for, a follow-up together with the message that it continues.

    ``vectors`` are those of both, or of the first alone.
    """
    text = head_and_tail(text, LONGEST_QUERY)
    if not has_words(previous) or not continues(text):
        return RankingQuery(text, None if vectors is None else vectors[0])
    both = (
        None
        if vectors is None
        else normalised(vectors.sum(axis=0, keepdims=True))[0]
    )
    return RankingQuery(f"{previous}\n{text}", both)


@frozen
class Ranked:
    """A memory with the parts of its score."""

    place: int
    similarity: float
    keywords: float
    neighbours: float
    evidence: float  # whether it fits the message at all
    cosine: (
        float  # the plain one of both vectors, for thresholds that name one
    )
    personal: (
        float  # how much of the evidence it has in common with all others
    )
    gate: float  # the best evidence that its store asks for, and a thought
    naming: float = 0.0  # how rare a name is that both hold, from 0 to 1

    @property
    def score(self) -> float:
        """What memories are ordered by."""
        return self.similarity + self.keywords + self.neighbours

    @property
    def relevance(self) -> float:
        """The evidence on a scale from 0 to 1, on which the gate lies at 0.5."""
        evidence = max(self.evidence, 0.0)
        return evidence / (evidence + self.gate)


def ranking_index(
    texts: Sequence[str],
    vectors: Vectors,
    nulls: Vectors | None,
    previous: RankingIndex | None = None,
) -> RankingIndex:
    """Prepare a store, oldest first; ``previous`` is an older version, whose words are used again.

    ``nulls`` are the vectors of ``NULL_PROMPTS``.
    """
    former_words: Mapping[str, Sequence[str]] = (
        previous.words if previous else {}
    )
    words = {
        text: former_words.get(text) or tuple(map(intern, tokens(text)))
        for text in texts
    }
    embedded = np.asarray(vectors.any(axis=1), dtype=np.bool_)
    rows = vectors if embedded.all() else vectors[embedded]
    centre = _centre(rows, nulls)
    usual = np.zeros_like(centre)
    levels: Mapping[Script, NullLevel] = {}
    if nulls is not None and len(rows):
        usual = nulls[:FIRST_TEXTS].mean(axis=0)
        nearest = products(rows, nulls).max(axis=0)
        levels = null_levels(nearest - nulls @ usual)
    return RankingIndex(
        vectors=vectors,
        embedded=embedded,
        centre=centre,
        centrality=products(vectors, centre),
        usual=usual,
        levels=levels,
        words=words,
        keywords=keyword_index(
            [words[text] for text in texts],
            [
                [name for name in names_in(text) if name not in _EVERYDAY]
                for text in texts
            ],
        ),
    )


def _centre(rows: Vectors, nulls: Vectors | None) -> Vectors:
    """The mean of memories; of few it is drawn towards what all texts have in common."""
    total = rows.sum(axis=0)
    if nulls is not None and len(rows):
        total = total + CENTRE_HALF * nulls.mean(axis=0)
    return (total / (len(rows) + CENTRE_HALF)).astype(np.float32)


def rank(
    index: RankingIndex,
    query: RankingQuery,
    limit: int = 100,
    weights: Weights = DEFAULT_WEIGHTS,
    *,
    thoughts: int = 1,
    without: Sequence[int] = (),
) -> list[Ranked]:
    """The best memories for a message, best first; of equals the newest.

    Of several ``thoughts`` one comes near to something by chance, so each of them needs more. The
    memories of the places ``without`` are left out. Words alone serve where the message's vector has
    another length than the store's: while that has none, or another model answers.
    """
    size = index.keywords.size
    if not size:
        return []
    if query.vector is not None and len(query.vector) != len(index.centre):
        query = replace(query, vector=None)
    words = index.keywords.as_spelled(tokens(query.text))
    cosine = np.zeros(size, dtype=np.float32)
    similarity = cosine
    if query.vector is not None:
        cosine = products(index.vectors, query.vector)
        similarity = (cosine - index.centrality) / np.float32(index.unit)
        own = similarity[index.embedded]
        similarity[index.embedded] -= _common(own, _SCORE_FROM)
    matches = index.keywords.matches([*words, _UNSAID])
    best_match = max(float(matches.scores.max()), _TINY)
    keywords = (matches.scores * (weights.keywords / best_match)).astype(
        np.float32
    )
    nearby = weights.neighbours * _best_nearby(
        similarity + keywords, weights.reach
    )
    # A lift that all memories share says nothing of any.
    neighbours = (nearby - nearby.min()).astype(np.float32)
    score = similarity + keywords + neighbours
    largeness = _largeness(size)
    personal = max(
        weights.personal * query.personal * speaks_of_self(query.text),
        min(query.about_writer, weights.about_writer * (1 - largeness)),
    )
    evidence = _evidence(index, query, cosine, matches, weights) + np.float32(
        personal
    )
    gate = float(np.interp(largeness, (0, 1), GATES))
    gate += _GATE_GROWTH * math.log(thoughts)
    score[[*without]] = -np.inf
    # With all that equal the last of them.
    last = np.partition(score, -limit)[-limit] if limit < size else -np.inf
    best = np.flatnonzero((score >= last - 1e-4) & (score > -np.inf))
    order = np.lexsort((-best, -score[best].round(4)))
    return [
        Ranked(
            place=int(place),
            similarity=float(similarity[place]),
            keywords=float(keywords[place]),
            neighbours=float(neighbours[place]),
            evidence=float(evidence[place]),
            cosine=float(cosine[place]),
            personal=personal,
            gate=gate,
            naming=float(matches.naming[place]),
        )
        for place in best[order][:limit]
    ]


def _best_nearby(base: Vectors, reach: float) -> Vectors:
    """Highest base_j * exp(-|i - j| / reach), not below zero.

    In logarithms this is a running maximum forwards and one backwards.
    """
    at = np.arange(len(base)) / reach
    with np.errstate(divide="ignore"):
        heights = np.log(np.maximum(base, 0).astype(np.float64))
    before = np.maximum.accumulate(heights + at) - at
    after = np.maximum.accumulate((heights - at)[::-1])[::-1] + at
    return np.exp(np.maximum(before, after)).astype(np.float32)


def _evidence(
    index: RankingIndex,
    query: RankingQuery,
    cosine: Vectors,
    matches: KeywordMatches,
    weights: Weights,
) -> Vectors:
    """How much speaks for each memory, without what speaks for all of them."""
    naming = np.float32(weights.naming) * matches.naming
    words_alone = np.float32(weights.words_alone) * matches.coverage
    by_words = np.maximum(words_alone, naming)
    if query.vector is None or not index.levels:
        return by_words
    level = index.levels[script_of(query.text)]
    standing = level.standing(cosine - np.float32(query.vector @ index.usual))
    common = _common(standing[index.embedded], _EVIDENCE_FROM)
    standing -= max(common, 0.0)
    coverage = np.float32(weights.coverage) * matches.coverage
    by_both = np.maximum(standing, 0) + np.maximum(coverage, naming)
    return np.where(index.embedded, by_both, by_words)


def _common(values: Vectors, spreads: float) -> float:
    """What nearly all memories have: so many of their spreads below the average.

    A model that finds all texts of a language alike gives it to all of them. Of a small store it says little.
    """
    size = len(values)
    if not size:
        return 0.0
    least = float(values.mean() - spreads * values.std())
    return least * size / (size + _COMMON_HALF)


def _largeness(size: int) -> float:
    """Where a store stands between a small one, 0, and a large one, 1, by its logarithm."""
    return float(np.interp(math.log(size), np.log(_GATE_SIZES), (0, 1)))
