"""A judge that has learned from example texts what it is asked to tell, by a text's vector.

Kernel ridge regression, fitted once for each embedding model. What score suffices follows from the
examples, each scored by a fit on all others: so few of them would be refused wrongly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.core.model import Embedder, EmbeddingError, Vectors, VectorTable
from adaptive.search.calibration import SharedVectors, script_of

_FloatArray = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class ExampleFit:
    """A fit for one embedding model: what it compares with, and the scores that suffice."""

    vectors: _FloatArray
    weights: _FloatArray
    latin_bar: float
    other_bar: float

    def scores(self, vectors: Vectors) -> _FloatArray:
        """How much each of these normalised vectors looks like one of the positive examples."""
        return _kernel(np.atleast_2d(vectors), self.vectors) @ self.weights

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
        ridge: float,
        query: bool,
    ) -> None:
        """``refused`` is the share of positive texts that may be taken for negative."""
        self.examples = (*positives, *negatives)
        self._is_positive = np.arange(len(self.examples)) < len(positives)
        scripts = map(script_of, self.examples)
        self._is_latin = np.array([script == "latin" for script in scripts])
        self._refused = refused
        self._ridge = ridge
        self._shared = SharedVectors(self.examples, query=query)
        self._fits: dict[tuple[str, int], ExampleFit] = {}

    def fit(self, vectors: Vectors) -> ExampleFit:
        """The fit on the normalised vectors of the examples, in their order."""
        scores, weights = self.cross_validated(vectors)
        return ExampleFit(
            vectors=vectors.astype(np.float64),
            weights=weights,
            latin_bar=self._bar(scores[self._is_positive & self._is_latin]),
            other_bar=self._bar(scores[self._is_positive & ~self._is_latin]),
        )

    def cross_validated(
        self, vectors: Vectors
    ) -> tuple[_FloatArray, _FloatArray]:
        """The score of each example by a fit on all others, and the weights of all."""
        rows = vectors.astype(np.float64)
        targets = np.where(self._is_positive, 1.0, -1.0)
        ridge = self._ridge * np.eye(len(rows))
        inverse = np.linalg.inv(_kernel(rows, rows) + ridge)
        weights = inverse @ targets
        return targets - weights / np.diag(inverse), weights

    def _bar(self, scores: _FloatArray) -> float:
        """The score that all positive texts reach but for the share that may be refused."""
        normal = NormalDist(float(scores.mean()), float(scores.std()))
        return normal.inv_cdf(self._refused)

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


def _kernel(some: _FloatArray, others: _FloatArray) -> _FloatArray:
    """Vectors by vectors: 1 for the same, less the further apart, with products of dimensions."""
    return (np.maximum(1 + some @ others.T, 0) / 2) ** 3
