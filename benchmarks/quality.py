"""Quality of an order of memories: recall at k and MRR, for simple variants and for ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.core.model import Vectors
from adaptive.search.fusion import (
    DEFAULT_WEIGHTS,
    RankingIndex,
    RankingQuery,
    Weights,
    rank,
)
from adaptive.search.tokens import tokens
from benchmarks.world import World, questions_of

Scores = NDArray[np.floating[Any]]
DEPTH = 20


def cosine_scores(store: RankingIndex, _: str, vector: Vectors) -> Scores:
    """Plain vector search."""
    return store.vectors @ vector


def cut_off_scores(store: RankingIndex, _: str, vector: Vectors) -> Scores:
    """Vector search with an absolute cut-off of 0.60, as other filters have it."""
    cosine = store.vectors @ vector
    return np.where(cosine >= 0.6, cosine, -np.inf)


def keyword_scores(store: RankingIndex, text: str, _: Vectors) -> Scores:
    """BM25 alone."""
    return store.keywords.matches(tokens(text)).scores


def simple_fusion_scores(
    store: RankingIndex, text: str, vector: Vectors
) -> Scores:
    """Four parts cosine, one part BM25 by its best."""
    matched = store.keywords.matches(tokens(text)).scores
    return 0.8 * (store.vectors @ vector) + 0.2 * matched / max(
        float(matched.max()), 1e-9
    )


SIMPLE = {
    "vector": cosine_scores,
    "vector, cut-off 0.60": cut_off_scores,
    "BM25": keyword_scores,
    "0.8 cosine + 0.2 BM25": simple_fusion_scores,
}


def simple_order(scores: Scores) -> list[int]:
    """Places by score; what was cut off is left out."""
    order = np.argsort(-scores, kind="stable")
    return [int(place) for place in order if np.isfinite(scores[place])]


def quality(order: Sequence[int], gold: frozenset[int]) -> list[float]:
    """R@1 to R@20 and the reciprocal rank of the first gold."""
    shares = [
        len(gold.intersection(order[:k])) / len(gold)
        for k in range(1, DEPTH + 1)
    ]
    first = next((at for at, place in enumerate(order, 1) if place in gold), 0)
    return [*shares, 1 / first if first else 0.0]


def summary(by_subject: Sequence[Sequence[Sequence[float]]]) -> dict[str, Any]:
    """Mean over all questions, and R@10 of each conversation."""
    *shares, rank_of_first = np.mean(
        [row for rows in by_subject for row in rows], axis=0
    )
    each = [
        round(float(np.mean([row[9] for row in rows])), 3)
        for rows in by_subject
    ]
    return {
        **{f"recall_{k}": round(float(shares[k - 1]), 3) for k in (5, 8, 10)},
        "mrr": round(float(rank_of_first), 3),
        "recall_10_by_conversation": each,
        "recall_at_1_to_20": [round(float(one), 3) for one in shares],
    }


def simple_quality(world: World, name: str) -> dict[str, Any]:
    """A simple variant over all questions."""
    found: list[list[list[float]]] = []
    for subject in world.subjects:
        store = subject.ranking_index(world.nulls)
        found.append(
            [
                quality(simple_order(SIMPLE[name](store, text, vector)), gold)
                for text, vector, gold in questions_of(subject)
            ]
        )
    return summary(found)


def our_quality(
    world: World, weights: Weights = DEFAULT_WEIGHTS
) -> dict[str, Any]:
    """Our ranking over all questions, before the gate."""
    return summary(per_question(world, weights))


def per_question(world: World, weights: Weights) -> list[list[list[float]]]:
    """Quality of each question, by conversation."""
    found: list[list[list[float]]] = []
    for subject in world.subjects:
        store = subject.ranking_index(world.nulls)
        found.append(
            [
                quality(
                    [
                        one.place
                        for one in rank(
                            store, RankingQuery(text, vector), 100, weights
                        )
                    ],
                    gold,
                )
                for text, vector, gold in questions_of(subject)
            ]
        )
    return found
