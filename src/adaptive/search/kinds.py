"""Kinds of texts that are told from others by their vectors, learned from a few examples.

Kernel ridge regression, fitted once for each embedding model. What score suffices follows from the
other examples, each scored by a fit on all the rest: so few of them would be taken for the kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.core.model import Vectors, frozen
from adaptive.search.calibration import script_of
from adaptive.search.vectors import normalised

# A low degree: a name is told by what stands around it, in whatever sentence.
_DEGREE = 4
_RIDGE = 0.3
# A model that has not learned a script finds all its texts alike: it can tell no kind of them.
_LEAST_RECOGNISED = 0.3


@frozen
class Examples:
    """Texts with their normalised vectors."""

    texts: Sequence[str]
    vectors: Vectors

    def __add__(self, more: Examples) -> Examples:
        """These and more of them."""
        return Examples(
            [*self.texts, *more.texts], np.vstack([self.vectors, more.vectors])
        )


@frozen
class LearnedKind:
    """What tells a kind for one embedding model, and the scores that suffice."""

    centre: Vectors
    examples: Vectors  # centred
    weights: NDArray[np.floating[Any]]
    latin_bar: float
    other_bar: float

    def holds(
        self, texts: Sequence[str], vectors: Vectors
    ) -> NDArray[np.bool_]:
        """Which of these texts, each with its vector, are of the kind."""
        bars = np.where(_latin(texts), self.latin_bar, self.other_bar)
        rows = normalised(vectors - self.centre)
        return _kernel(rows, self.examples) @ self.weights > bars


def learned_kind(
    examples: Examples, others: Examples, *, wrongly: float = 0.05
) -> LearnedKind:
    """The kind of these examples; the share ``wrongly`` of the others may be taken for it."""
    both = examples + others
    centre = both.vectors.mean(axis=0)
    rows = normalised(both.vectors - centre)
    is_of_kind = np.arange(len(rows)) < len(examples.texts)
    targets = np.where(is_of_kind, 1.0, -1.0)
    inverse = np.linalg.inv(_kernel(rows, rows) + _RIDGE * np.eye(len(rows)))
    weights = inverse @ targets
    left_out = targets - weights / np.diag(inverse)
    is_latin = _latin(both.texts)

    def bar(is_counted: NDArray[np.bool_]) -> float:
        """The score that few of the counted others reach; none where hardly more examples do."""
        scores = left_out[is_counted & is_of_kind]
        of_others = left_out[is_counted & ~is_of_kind]
        if not scores.size or not of_others.size:
            return inf
        normal = NormalDist(float(of_others.mean()), float(of_others.std()))
        enough = normal.inv_cdf(1 - wrongly)
        recognised = np.mean(scores > enough)
        return enough if recognised >= _LEAST_RECOGNISED else inf

    return LearnedKind(
        centre=centre,
        examples=rows,
        weights=weights,
        latin_bar=bar(is_latin),
        other_bar=bar(~is_latin),
    )


def _latin(texts: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([script_of(text) == "latin" for text in texts])


def _kernel(some: Vectors, others: Vectors) -> NDArray[np.float64]:
    """Directions by directions: 1 for the same, less the further apart."""
    products = (some @ others.T).astype(np.float64)
    return (np.maximum(1 + products, 0) / 2) ** _DEGREE
