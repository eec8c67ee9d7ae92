"""Example texts as embedding models see them: which are chosen, and what each of them weighs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.core.model import Vectors
from adaptive.search.calibration import nearness

Floats = NDArray[np.floating[Any]]
# Vectors by the name of the model, a row for each text.
ByModel = Mapping[str, Vectors]

TOOLS = Path(__file__).resolve().parent
PROMPTS = TOOLS.parent / "prompts"
RIDGE = 1e-3
KERNEL_RIDGE = 4e-3
SMALL = 1e-6
ROUNDS = 30


def titled_lines(name: str) -> dict[str, list[str]]:
    """The lines below each title of a file beside this one."""
    text = (TOOLS / name).read_text(encoding="utf-8")
    return {
        part.split("\n")[0]: part.strip().split("\n")[1:]
        for part in text.split("\n= ")[1:]
    }


def middles(
    vectors: ByModel, places: NDArray[np.intp], count: int, seed: int
) -> list[int]:
    """The texts in the middle of as many groups that all models find alike (k-means)."""
    rows = np.hstack(
        [some[places] - some[places].mean(axis=0) for some in vectors.values()]
    )
    chance = np.random.default_rng(seed)
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


def near_examples(vectors: Vectors, examples: Vectors) -> Floats:
    """How near each text is to each example, and a column for what is added."""
    return np.hstack([nearness(vectors, examples), np.ones((len(vectors), 1))])


def ridge_weights(
    rows: Sequence[Floats],
    targets: Sequence[Floats],
    counts: Floats,
    penalty: Floats,
) -> Floats:
    """The weights that serve all models best; the last one is what is added.

    ``penalty`` says which weights are large, examples by examples.
    """
    counts = counts / counts.sum()
    gram = sum(some.T @ (some * counts[:, None]) for some in rows)
    right = sum(
        some.T @ (target * counts)
        for some, target in zip(rows, targets, strict=True)
    )
    penalty = np.pad(penalty, (0, 1))  # what is added may be anything
    return np.linalg.solve(gram + penalty, right)


def smoothness(examples: Sequence[Vectors]) -> Floats:
    """The penalty of kernel ridge regression, which may use many examples that are alike.

    ``examples`` are the vectors of the chosen ones by each model.
    """
    near = sum(nearness(vectors, vectors) for vectors in examples)
    return KERNEL_RIDGE * near + SMALL * np.eye(len(examples[0]))


def left_out_letters(
    rows: Floats, labels: NDArray[np.bool_], ridge: float
) -> Floats:
    """The score of each text by what ridge regression learns of the letters of all the others."""
    kernel = rows @ rows.T + 1.0
    inverse = np.linalg.inv(kernel + ridge * np.eye(len(rows)))
    targets = np.where(labels, 1.0, -1.0)
    return targets - (inverse @ targets) / np.diag(inverse)


@dataclass(frozen=True)
class JudgeWeights:
    """What a judge has learned: a weight for each example, what is added, and two bars."""

    judge: str
    weights: Floats
    bars: tuple[float, float]  # in Latin script and in others


def write_examples(
    name: str, learned: Sequence[JudgeWeights], texts: Sequence[str]
) -> None:
    """Write the examples behind their weights for each judge, and what is added less its bars."""
    added = [
        [one.weights[-1] - one.bars[place] for one in learned]
        for place in (0, 1)
    ]
    weights = np.stack([one.weights for one in learned], axis=1)
    rows = [*added, *weights[:-1]]
    lines = [
        "# By tools/train_examples.py: judges, what each of them adds in Latin script and in others, and how",
        "# much a text weighs for each that is like the one behind.",
        " ".join(one.judge for one in learned),
        *(
            " ".join([*(f"{number:.2f}" for number in row), text]).rstrip()
            for text, row in zip(["", "", *texts], rows, strict=True)
        ),
    ]
    text = "\n".join([*lines, ""])
    (PROMPTS / f"{name}.txt").write_text(text, encoding="utf-8")
