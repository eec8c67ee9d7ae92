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
from adaptive.search.calibration import NullLevel, script_of
from adaptive.search.vectors import normalised

# A low degree: a name is told by what stands around it, in whatever sentence.
_DEGREE = 4
_RIDGE = 0.3
# What speaks for a kind before a vector does: most messages are of none.
_PRIOR_EVIDENCE = -3.5
# Examples that lie further apart from the others tell no more.
_MOST_DISTANCE = 4.0
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
    latin_others: NullLevel  # the scores of the other examples
    other_others: NullLevel
    latin_distance: (
        float  # how many of their spreads the examples score higher
    )
    other_distance: float

    def evidence(self, text: str, vector: Vectors) -> float:
        """How much speaks for a text's being of the kind, by its vector; 0 where nothing does."""
        is_latin = script_of(text) == "latin"
        level = self.latin_others if is_latin else self.other_others
        if (self.latin_bar if is_latin else self.other_bar) == inf:
            return 0.0
        distance = self.latin_distance if is_latin else self.other_distance
        [standing] = level.standing(self._scores(vector[np.newaxis]))
        return max(_PRIOR_EVIDENCE + distance * float(standing), 0.0)

    def holds(
        self, texts: Sequence[str], vectors: Vectors
    ) -> NDArray[np.bool_]:
        """Which of these texts, each with its vector, are of the kind."""
        bars = np.where(_latin(texts), self.latin_bar, self.other_bar)
        return self._scores(vectors) > bars

    def _scores(self, vectors: Vectors) -> Vectors:
        rows = normalised(vectors - self.centre)
        scores = _kernel(rows, self.examples) @ self.weights
        return scores.astype(np.float32)


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

    def level(is_counted: NDArray[np.bool_]) -> NullLevel:
        """The scores of the counted others."""
        of_others = left_out[is_counted & ~is_of_kind]
        if not of_others.size:
            return NullLevel(0.0, inf)
        return NullLevel(float(of_others.mean()), float(of_others.std()))

    def bar(is_counted: NDArray[np.bool_], others: NullLevel) -> float:
        """The score that few of the counted others reach; none where hardly more examples do."""
        scores = left_out[is_counted & is_of_kind]
        if not scores.size or others.spread == inf:
            return inf
        normal = NormalDist(others.mean, others.spread)
        enough = normal.inv_cdf(1 - wrongly)
        recognised = np.mean(scores > enough)
        return enough if recognised >= _LEAST_RECOGNISED else inf

    def distance(is_counted: NDArray[np.bool_], others: NullLevel) -> float:
        """How many spreads of the counted others the examples score higher than they do."""
        scores = left_out[is_counted & is_of_kind].astype(np.float32)
        if not scores.size:
            return 0.0
        return min(float(others.standing(scores).mean()), _MOST_DISTANCE)

    latin_others = level(is_latin)
    other_others = level(~is_latin)
    # Few of other scripts say little of their spread: half of it is that of the Latin ones.
    shared = NullLevel(
        other_others.mean, (latin_others.spread + other_others.spread) / 2
    )
    return LearnedKind(
        centre=centre,
        examples=rows,
        weights=weights,
        latin_bar=bar(is_latin, latin_others),
        other_bar=bar(~is_latin, other_others),
        latin_others=latin_others,
        other_others=shared,
        latin_distance=distance(is_latin, latin_others),
        other_distance=distance(~is_latin, shared),
    )


def _latin(texts: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([script_of(text) == "latin" for text in texts])


def _kernel(some: Vectors, others: Vectors) -> NDArray[np.float64]:
    """Directions by directions: 1 for the same, less the further apart."""
    products = (some @ others.T).astype(np.float64)
    return (np.maximum(1 + products, 0) / 2) ** _DEGREE
