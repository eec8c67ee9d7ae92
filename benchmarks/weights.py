"""The choice of the ranking's weights, and what ranking costs."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np

from adaptive.core.model import Vectors
from adaptive.search.fusion import (
    DEFAULT_WEIGHTS,
    RankingQuery,
    rank,
    ranking_index,
)
from benchmarks.figures import say, spread
from benchmarks.quality import our_quality
from benchmarks.world import World

SIZES = (1000, 5000, 20000)


def cross_validation(world: World) -> dict[str, Any]:
    """Weights chosen on all conversations but one, measured on that one, in turn.

    The grid is coarse on purpose: what is chosen must not hang on a few questions. Each setting is
    judged by its R@10.
    """
    grid = [
        replace(
            DEFAULT_WEIGHTS,
            keywords=keywords,
            neighbours=neighbours,
            reach=reach,
        )
        for keywords, neighbours, reach in itertools.product(
            (3.5, 4.5, 5.5, 6.5, 8.0), (0.3, 0.45, 0.6, 0.8), (8.0, 15.0, 30.0)
        )
    ]
    measured: list[list[float]] = []
    sizes = [len(subject.about.questions) for subject in world.subjects]
    for number, weights in enumerate(grid):
        if number % 15 == 0:
            say(f"  weights: {number} of {len(grid)}")
        quality = our_quality(world, weights)
        measured.append(quality["recall_10_by_conversation"])
    table = np.array(measured)
    held_out: list[float] = []
    chosen: list[dict[str, float]] = []
    for left_out in range(len(sizes)):
        rest = [at for at in range(len(sizes)) if at != left_out]
        means = np.average(
            table[:, rest], axis=1, weights=[sizes[at] for at in rest]
        )
        best = int(means.argmax())
        held_out.append(round(float(table[best, left_out]), 3))
        picked = grid[best]
        chosen.append(
            {
                "keywords": picked.keywords,
                "neighbours": picked.neighbours,
                "reach": picked.reach,
            }
        )
    default = table[grid.index(DEFAULT_WEIGHTS)]
    return {
        "settings": len(grid),
        "worst_and_best_setting": [
            round(float(one), 3)
            for one in np.sort(np.average(table, axis=1, weights=sizes))[
                [0, -1]
            ]
        ],
        "held_out_by_conversation": held_out,
        "held_out_mean": round(float(np.average(held_out, weights=sizes)), 3),
        "chosen_without_conversation": chosen,
        "defaults_by_conversation": [round(float(one), 3) for one in default],
        "defaults_mean": round(float(np.average(default, weights=sizes)), 3),
    }


def costs(nulls: Vectors) -> dict[str, Any]:
    """Milliseconds for preparing a store, for adding one memory, and for a query."""
    chance = np.random.default_rng(3)
    words = [
        "".join(chance.choice(list("abcdefghijklmnopqrstuvwxyz"), 6))
        for _ in range(3000)
    ]
    figures: dict[str, Any] = {}
    for size in SIZES:
        say(f"  {size} memories")
        picked = chance.integers(len(words), size=(size, 3))
        texts = [
            f"User's {words[a]} has a {words[b]} and {words[c]}."
            for a, b, c in picked
        ]
        vectors = chance.normal(size=(size, nulls.shape[1])).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        started = time.perf_counter()
        store = ranking_index(texts, vectors, nulls)
        prepared = time.perf_counter()
        more = np.vstack([vectors, vectors[:1]])
        ranking_index(
            [*texts, "User has a cat."],
            more,
            nulls,
            previous=store,
        )
        extended = time.perf_counter()
        taken: list[float] = []
        for number in range(100):
            text = f"Does my {words[number]} have a {words[-number]}, and which one?"
            begin = time.perf_counter()
            rank(store, RankingQuery(text, vectors[number]))
            taken.append((time.perf_counter() - begin) * 1000)
        figures[str(size)] = {
            "prepare_ms": round((prepared - started) * 1000, 1),
            "add_one_ms": round((extended - prepared) * 1000, 1),
            "rank_ms": spread(taken),
        }
    return figures
