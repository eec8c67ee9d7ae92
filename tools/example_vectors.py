"""Example texts as embedding models see them: which are chosen, and what each of them weighs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.core.model import Vectors
from adaptive.learn.weighted_examples import ComparedExamples
from adaptive.search.embedders import EndpointModel
from adaptive.search.encoding import LocalModel
from adaptive.search.vectors import normalised

Floats = NDArray[np.floating[Any]]
# Vectors by the name of the model, a row for each text.
ByModel = Mapping[str, Vectors]

TOOLS = Path(__file__).resolve().parent
PROMPTS = TOOLS.parent / "prompts"
RIDGE = 3e-4
ROUNDS = 30
SEED = 17


def titled_lines(name: str) -> dict[str, list[str]]:
    """The lines below each title of a file beside this one."""
    text = (TOOLS / name).read_text(encoding="utf-8")
    return {
        part.split("\n")[0]: part.strip().split("\n")[1:]
        for part in text.split("\n= ")[1:]
    }


async def embedded(
    model: str, texts: Sequence[str], *, query: bool
) -> Vectors:
    """Normalised vectors by a local model or by a service."""
    chosen = (
        EndpointModel(model, "embedding")
        if model.startswith("http")
        else LocalModel(model)
    )
    portions = [
        await chosen.embed(texts[at : at + 32], query=query)
        for at in range(0, len(texts), 32)
    ]
    return normalised(np.vstack(portions))


def middles(
    vectors: ByModel, places: NDArray[np.intp], count: int
) -> list[int]:
    """The texts in the middle of as many groups that all models find alike (k-means)."""
    rows = np.hstack(
        [some[places] - some[places].mean(axis=0) for some in vectors.values()]
    )
    chance = np.random.default_rng(SEED)
    centres = rows[[0]]
    while len(centres) < count:
        # The further from all centres so far, the likelier it is the next one (k-means++).
        gaps = _distances(rows, centres).min(axis=1)
        chosen = chance.choice(len(rows), p=gaps / gaps.sum())
        centres = np.vstack([centres, rows[chosen]])
    for _ in range(ROUNDS):
        groups = _distances(rows, centres).argmin(axis=1)
        members = [rows[groups == group] for group in range(count)]
        centres = np.stack(
            [
                some.mean(axis=0) if len(some) else centre
                for some, centre in zip(members, centres, strict=True)
            ]
        )
    nearest = _distances(rows, centres).argmin(axis=0)
    return [int(places[place]) for place in dict.fromkeys(nearest)]


def _distances(rows: Floats, centres: Floats) -> Floats:
    """Squared distances, rows by centres, of which none is below zero."""
    squares = (rows**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
    return np.maximum(squares - 2 * rows @ centres.T, 0)


def nearness(vectors: Vectors, chosen: Sequence[int]) -> Floats:
    """How near each text is to each of the chosen ones, and a column for what is added."""
    weights = np.eye(len(chosen))
    compared = ComparedExamples.of(vectors[chosen], weights)
    return np.hstack([compared.scores(vectors), np.ones((len(vectors), 1))])


def ridge_weights(
    rows: Sequence[Floats], targets: Sequence[Floats], counts: Floats
) -> Floats:
    """The weights that serve all models best; the last one is what is added."""
    counts = counts / counts.sum()
    gram = sum(some.T @ (some * counts[:, None]) for some in rows)
    right = sum(
        some.T @ (target * counts)
        for some, target in zip(rows, targets, strict=True)
    )
    penalty = RIDGE * np.eye(rows[0].shape[1])
    penalty[-1, -1] = 0.0
    return np.linalg.solve(gram + penalty, right)


def write_examples(
    name: str, meaning: str, texts: Sequence[str], weights: Floats
) -> None:
    """Write the chosen examples with their weights, behind what is added."""
    lines = [
        f"# By tools/train_examples.py: {meaning};",
        "# then the text. First what is added to all.",
        *(
            " ".join([*(f"{one:.3f}" for one in row), text])
            for text, row in zip(
                ["", *texts],
                np.vstack([weights[-1:], weights[:-1]]),
                strict=True,
            )
        ),
    ]
    text = "\n".join([*(line.rstrip() for line in lines), ""])
    (PROMPTS / f"{name}.txt").write_text(text, encoding="utf-8")
