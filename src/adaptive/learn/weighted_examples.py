"""What a text is like, by how near its vector is to those of a few example texts.

``tools/train_examples.py`` has chosen the examples and learned what each of them weighs, on several
embedding models at once, so that nothing is fitted here: a new model has only to embed them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.core.embedding import Embedder
from adaptive.core.model import Vectors, VectorTable, frozen
from adaptive.core.texts import listed_lines
from adaptive.search.calibration import SharedVectors, script_of
from adaptive.search.vectors import normalised

_FloatArray = NDArray[np.floating[Any]]
# How steeply an example's say falls with the distance; chosen for messages and facts at once.
_DEGREE = 4


@frozen
class Bars:
    """The least score of a text that is accepted, by its script.

    It is lower for scripts that some embedding models have not learned.
    """

    latin: float
    others: float

    def accept(self, text: str, score: float) -> bool:
        """Whether a text reaches the bar of its script."""
        is_latin = script_of(text) == "latin"
        return score >= (self.latin if is_latin else self.others)


@frozen
class ComparedExamples:
    """The examples as one embedding model sees them, and their weights, a column for each judge."""

    centre: Vectors
    directions: _FloatArray
    weights: _FloatArray
    added: _FloatArray | float = 0.0

    @classmethod
    def of(
        cls,
        vectors: Vectors,
        weights: _FloatArray,
        added: _FloatArray | float = 0.0,
    ) -> ComparedExamples:
        """The examples that have these normalised vectors."""
        centre = vectors.mean(axis=0)
        return cls(
            centre=centre,
            directions=_directions(vectors, centre),
            weights=weights,
            added=added,
        )

    def scores(self, vectors: Vectors) -> _FloatArray:
        """The score of each of these normalised vectors by each judge."""
        directions = _directions(np.atleast_2d(vectors), self.centre)
        nearness = ((1 + directions @ self.directions.T) / 2) ** _DEGREE
        return nearness @ self.weights + self.added


class WeightedExamples:
    """The examples of a file in ``prompts/``, each behind its weights."""

    def __init__(self, name: str, *, judges: int, query: bool) -> None:
        rows = [line.split(" ", judges) for line in listed_lines(name)]
        numbers = np.array([row[:judges] for row in rows], dtype=float)
        self._added = numbers[0]
        self._weights = numbers[1:]
        self.texts = [row[judges] for row in rows[1:]]
        self._shared = SharedVectors(self.texts, query=query)

    def compared(self, vectors: Vectors) -> ComparedExamples:
        """The examples with their normalised vectors, in their order."""
        return ComparedExamples.of(vectors, self._weights, self._added)

    async def known_to(
        self, embedder: Embedder, table: VectorTable, dimension: int
    ) -> ComparedExamples | None:
        """The examples where vectors of an embedder's model are there that are this long."""
        vectors = await self._shared.known(table, await embedder.name())
        if vectors is None or vectors.shape[1] != dimension:
            return None
        return self.compared(vectors)

    async def made(
        self, embedder: Embedder, table: VectorTable, dimension: int
    ) -> ComparedExamples:
        """The examples as an embedder's model sees them; all workers share their vectors.

        Raises ``EmbeddingError`` where the embedder brings none of this dimension.
        """
        vectors = await self._shared.made(embedder, table, dimension)
        return self.compared(vectors)


def _directions(vectors: Vectors, centre: Vectors) -> _FloatArray:
    """Directions as seen from the middle of the examples: some models find all texts alike."""
    return normalised(vectors - centre).astype(np.float64)
