"""A judge that has learned from example texts what it is asked to tell, by a text's vector.

Kernel ridge regression, fitted once for each embedding model. What score suffices follows from the
examples, each scored by a fit on all others: so few of them would be refused wrongly.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.core.model import Embedder, EmbeddingError, Vectors, VectorTable
from adaptive.search.calibration import SharedVectors, script_of
from adaptive.search.vectors import normalised

_FloatArray = NDArray[np.floating[Any]]
# Chosen for messages and for facts at once (benchmarks/README.md).
_DEGREE = 8
_RIDGE = 0.3
# Of the negative texts that are refused, beyond the share of positive ones
_LEAST_GAIN = 0.25


@dataclass(frozen=True, slots=True)
class ExampleFit:
    """A fit for one embedding model: what it compares with, and the scores that suffice."""

    centre: Vectors
    vectors: _FloatArray  # centred
    weights: _FloatArray
    latin_bar: float
    other_bar: float

    def scores(self, vectors: Vectors) -> _FloatArray:
        """How much each of these normalised vectors looks like one of the positive examples."""
        centred = _centred(np.atleast_2d(vectors), self.centre)
        return _kernel(centred, self.vectors) @ self.weights

    def accepts(self, text: str, vectors: Vectors) -> bool:
        """Whether a text is taken for positive, by its vector or by that of one of its parts."""
        is_latin = script_of(text) == "latin"
        bar = self.latin_bar if is_latin else self.other_bar
        return bool(self.scores(vectors).max() >= bar)


class ExampleJudge:
    """Positive and negative examples, and their fit for each embedding model that was met."""

    def __init__(
        self,
        positives: Sequence[str],
        negatives: Sequence[str],
        *,
        refused: float,
        query: bool,
    ) -> None:
        """``refused`` is the share of positive texts that may be taken for negative."""
        self.examples = (*positives, *negatives)
        self.is_positive = np.arange(len(self.examples)) < len(positives)
        scripts = map(script_of, self.examples)
        self._is_latin = np.array([script == "latin" for script in scripts])
        self.refused = refused
        self._shared = SharedVectors(self.examples, query=query)
        self._fits: dict[tuple[str, int], ExampleFit] = {}

    def fit(self, vectors: Vectors) -> ExampleFit:
        """The fit on the normalised vectors of the examples, in their order."""
        centre = vectors.mean(axis=0)
        rows = _centred(vectors, centre)
        targets = np.where(self.is_positive, 1.0, -1.0)
        ridge = _RIDGE * np.eye(len(rows))
        inverse = np.linalg.inv(_kernel(rows, rows) + ridge)
        weights = inverse @ targets
        left_out = targets - weights / np.diag(inverse)
        return ExampleFit(
            centre=centre,
            vectors=rows,
            weights=weights,
            latin_bar=self._bar(left_out, self._is_latin),
            other_bar=self._bar(left_out, ~self._is_latin),
        )

    def _bar(
        self, scores: _FloatArray, is_counted: NDArray[np.bool_]
    ) -> float:
        """The score that positive texts reach but for the share that may be refused.

        It is none where hardly more negative texts stay below it: a model that has not learned a script
        finds all its texts alike, and would refuse at random.
        """
        positives = scores[is_counted & self.is_positive]
        negatives = scores[is_counted & ~self.is_positive]
        if not positives.size or not negatives.size:
            return -inf
        normal = NormalDist(float(positives.mean()), float(positives.std()))
        bar = normal.inv_cdf(self.refused)
        gain = np.mean(negatives < bar) - self.refused
        return bar if gain >= _LEAST_GAIN else -inf

    async def fit_for(
        self, embedder: Embedder, table: VectorTable, dimension: int
    ) -> ExampleFit:
        """The fit for vectors of an embedder; all workers share those of the examples.

        Raises ``EmbeddingError`` where the embedder brings none of this dimension.
        """
        key = (await embedder.name(), dimension)
        if key not in self._fits:
            vectors = await self._shared.made(embedder, table, dimension)
            if vectors.shape[1] != dimension:
                raise EmbeddingError(
                    f"vectors of {vectors.shape[1]} numbers, not {dimension}"
                )
            self._fits[key] = await asyncio.to_thread(self.fit, vectors)
        return self._fits[key]


def _centred(vectors: Vectors, centre: Vectors) -> _FloatArray:
    """Directions as seen from the middle of the examples: some models find all texts alike."""
    return normalised(vectors - centre).astype(np.float64)


def _kernel(some: _FloatArray, others: _FloatArray) -> _FloatArray:
    """Directions by directions: 1 for the same, less the further apart."""
    return (np.maximum(1 + some @ others.T, 0) / 2) ** _DEGREE
