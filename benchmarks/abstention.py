"""Knowing when nothing fits: share of gold against entries for unrelated prompts, by gate."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.core.model import Vectors
from adaptive.search.fitting import fitting
from adaptive.search.fusion import (
    GATES,
    Ranked,
    RankingQuery,
    rank,
    ranking_index,
    ranking_query,
)
from benchmarks.locomo import Encode
from benchmarks.personal import PEOPLE, UNRELATED
from benchmarks.quality import quality, simple_quality
from benchmarks.world import World, questions_of

ENTRIES = 15
TRIED_GATES = (0.0, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0, 8.0)
FOLLOW_UPS = (
    "And when was that?",
    "Why?",
    "What did they say about it?",
    "Tell me more about that",
)


def curve(
    world: World, gates: Sequence[float] = TRIED_GATES
) -> list[dict[str, float]]:
    """Share of gold and entries for questions, entries for off-topic prompts, for each gate."""
    asked: list[tuple[list[Ranked], frozenset[int]]] = []
    unrelated: list[list[Ranked]] = []
    for subject in world.subjects:
        store = subject.ranking_index(world.nulls)
        asked += [
            (rank(store, RankingQuery(t, v), ENTRIES), gold)
            for t, v, gold in questions_of(subject)
        ]
        prompts = zip(world.prompts, world.prompt_vectors, strict=True)
        unrelated += [
            rank(store, RankingQuery(text, vector), ENTRIES)
            for text, vector in prompts
        ]
    points: list[dict[str, float]] = []
    for gate in gates:
        given = [
            (fitting([ranked], ENTRIES, gate=gate), gold)
            for ranked, gold in asked
        ]
        shares = [
            len(gold & {one.place for one in some}) / len(gold)
            for some, gold in given
        ]
        idle = [
            len(fitting([ranked], ENTRIES, gate=gate)) for ranked in unrelated
        ]
        points.append(
            {
                "gate": gate,
                "share_of_gold": round(statistics.fmean(shares), 3),
                "entries": round(
                    statistics.fmean(len(some) for some, _ in given), 2
                ),
                "off_topic_entries": round(statistics.fmean(idle), 3),
                "off_topic_prompts_with_any": round(
                    statistics.fmean(map(bool, idle)), 4
                ),
            }
        )
    return points


def small_stores(
    encode: Encode, nulls: Vectors, gates: Sequence[float] = TRIED_GATES
) -> list[dict[str, float]]:
    """The personal stores: share of questions whose memories come, entries, unrelated entries."""
    asked: list[tuple[list[Ranked], tuple[int, ...]]] = []
    unrelated: list[list[Ranked]] = []
    strange = encode(UNRELATED)
    for person in PEOPLE:
        store = ranking_index(
            person.memories,
            encode(person.memories),
            nulls,
        )
        texts = [question.text for question in person.questions]
        for question, vector in zip(
            person.questions, encode(texts), strict=True
        ):
            asked.append(
                (
                    rank(store, RankingQuery(question.text, vector)),
                    question.wanted,
                )
            )
        pairs = zip(UNRELATED, strange, strict=True)
        unrelated += [
            rank(store, RankingQuery(text, vector)) for text, vector in pairs
        ]
    points: list[dict[str, float]] = []
    for gate in gates:
        given = [
            (fitting([ranked], ENTRIES, gate=gate), wanted)
            for ranked, wanted in asked
        ]
        found = [
            set(wanted) <= {one.place for one in some}
            for some, wanted in given
        ]
        idle = [
            len(fitting([ranked], ENTRIES, gate=gate)) for ranked in unrelated
        ]
        points.append(
            {
                "gate": gate,
                "questions_served": round(statistics.fmean(found), 3),
                "entries": round(
                    statistics.fmean(len(some) for some, _ in given), 2
                ),
                "unrelated_entries": round(statistics.fmean(idle), 3),
            }
        )
    return points


def distortions() -> dict[str, Callable[[Vectors], Vectors]]:
    """Other geometries: unrelated cosines at 0.7, few dimensions, stretched dimensions."""
    chance = np.random.default_rng(7)

    def scaled(vectors: NDArray[np.floating[Any]]) -> Vectors:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / lengths).astype(np.float32)

    constant = scaled(chance.normal(size=(1, 384)))
    narrow = chance.normal(size=(384, 64))
    stretch = 1 + 3 * (np.arange(384) % 7 == 0)
    return {
        "as it is": scaled,
        "unrelated texts at cosine 0.7": lambda v: scaled(
            0.3**0.5 * v + 0.7**0.5 * constant
        ),
        "projected to 64 dimensions": lambda v: scaled(v @ narrow),
        "every seventh dimension four times as long": lambda v: scaled(
            v * stretch
        ),
    }


def geometries(world: World) -> dict[str, Any]:
    """What becomes of recall and abstention, untuned, when the model is another one."""
    figures: dict[str, Any] = {}
    for name, change in distortions().items():
        other = world.distorted(change)
        store = other.subjects[0]
        figures[name] = {
            "typical_unrelated_cosine": round(
                float(np.median(other.prompt_vectors @ store.memories.T)), 3
            ),
            "vector_recall_10": simple_quality(other, "vector")["recall_10"],
            **curve(other, (GATES[1],))[0],
        }
    return figures


def follow_ups(world: World, encode: Encode) -> dict[str, float]:
    """R@10 for "And when was that?" after a question, with and without the question before it."""
    vectors = encode(FOLLOW_UPS)
    shares: dict[str, list[float]] = {
        "alone": [],
        "with the message before": [],
    }
    for subject in world.subjects:
        store = subject.ranking_index(world.nulls)
        for number, (text, vector, gold) in enumerate(questions_of(subject)):
            own = number % len(FOLLOW_UPS)
            alone = RankingQuery(FOLLOW_UPS[own], vectors[own])
            both = np.stack([vectors[own], vector])
            continued = ranking_query(FOLLOW_UPS[own], text, both)
            for name, asked in zip(shares, (alone, continued), strict=True):
                order = [one.place for one in rank(store, asked, ENTRIES)]
                shares[name].append(quality(order, gold)[9])
    return {
        name: round(statistics.fmean(found), 3)
        for name, found in shares.items()
    }
