"""Whether a message may tell something to remember, judged by its vector before a model is asked.

Kernel ridge regression on the vectors of the null prompts, which tell nothing, and of examples that
do, fitted once for each embedding model. What score suffices follows from the examples, each scored
by a fit on all others; they are harder than what people mostly write.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.core.messages import has_words, passages
from adaptive.core.model import Embedder, EmbeddingError, Vectors, VectorTable
from adaptive.core.texts import listed_lines
from adaptive.search.calibration import SharedVectors, script_of
from adaptive.search.vectors import query_vectors

_FloatArray = NDArray[np.floating[Any]]
# Quantile of the normal distribution: 2 % of the examples lie further below the mean.
_SKIPPED_BELOW = 2.0
_RIDGE = 3.0
EMBEDDING_PATIENCE_SECONDS = 10.0  # nobody waits for learning
_MOST_PARTS = 8
_LONG_PART = 400  # what is longer may be about several things
_BLANK_LINES = re.compile(r"\n\s*\n")

_EXAMPLES = listed_lines("prefilter_examples")
_BORDER = _EXAMPLES.index("==")
TELLING_MESSAGES = tuple(_EXAMPLES[:_BORDER])
PREFILTER_EXAMPLES = (*TELLING_MESSAGES, *_EXAMPLES[_BORDER + 1 :])


@dataclass(frozen=True, slots=True)
class FactWeights:
    """A fit for one embedding model: what it compares with, and the scores that suffice."""

    examples: _FloatArray
    weights: _FloatArray
    latin_bar: float
    other_bar: float


def trained_weights(nulls: Vectors, examples: Vectors) -> FactWeights:
    """The fit; rows of ``nulls`` and of ``PREFILTER_EXAMPLES``, normalised."""
    rows = np.vstack([examples, nulls]).astype(np.float64)
    telling = np.arange(len(rows)) < len(TELLING_MESSAGES)
    targets = np.where(telling, 1.0, -1.0)
    inverse = np.linalg.inv(_kernel(rows, rows) + _RIDGE * np.eye(len(rows)))
    weights = inverse @ targets
    scores = (targets - weights / np.diag(inverse))[
        telling
    ]  # each left out of its own fit
    latin = np.array(
        [script_of(message) == "latin" for message in TELLING_MESSAGES]
    )
    classes = (scores[latin], scores[~latin])
    bars = (
        float(some.mean() - _SKIPPED_BELOW * some.std()) for some in classes
    )
    return FactWeights(rows, weights, *bars)


def fact_scores(vectors: Vectors, weights: FactWeights) -> _FloatArray:
    """How much each of these normalised vectors looks like one that tells something."""
    return _kernel(np.atleast_2d(vectors), weights.examples) @ weights.weights


def holds_fact(words: str, vectors: Vectors, weights: FactWeights) -> bool:
    """Whether words are worth sending, by their vector or by one for each of their parts."""
    bar = (
        weights.latin_bar if script_of(words) == "latin" else weights.other_bar
    )
    return bool(fact_scores(vectors, weights).max() >= bar)


def _kernel(some: _FloatArray, others: _FloatArray) -> _FloatArray:
    """Vectors by vectors: 1 for the same, less the further apart, with products of dimensions."""
    return (np.maximum(1 + some @ others.T, 0) / 2) ** 3


class Prefilter:
    """The weights for each embedding model that this process has met."""

    def __init__(self, nulls: SharedVectors) -> None:
        self._nulls, self._examples = nulls, SharedVectors(PREFILTER_EXAMPLES)
        self._fitted: dict[str, FactWeights] = {}

    async def weights(
        self, embedder: Embedder, table: VectorTable
    ) -> FactWeights:
        """Those for an embedder's model; the examples are embedded once for all workers."""
        name = await embedder.name()
        if name not in self._fitted:
            nulls = await self._nulls.made(embedder, table)
            examples = await self._examples.made(
                embedder, table, nulls.shape[1]
            )
            self._fitted[name] = await asyncio.to_thread(
                trained_weights, nulls, examples
            )
        return self._fitted[name]

    async def may_hold_fact(
        self,
        words: str,
        embedder: Embedder,
        table: VectorTable,
        known: Vectors | None,
    ) -> bool:
        """Whether words are worth a model call; without vectors everything that has words is."""
        if not has_words(words):
            return False
        if known is None:
            return True
        try:
            weights = await self.weights(embedder, table)
        except EmbeddingError:
            return True
        parts = spoken_parts(words)
        if len(parts) > 1:
            known = await query_vectors(
                embedder, [words, *parts], EMBEDDING_PATIENCE_SECONDS
            )
        if known is None or known.shape[-1] != weights.examples.shape[1]:
            return True
        return holds_fact(words, known, weights)


def spoken_parts(words: str) -> list[str]:
    """At most eight parts of a text: its paragraphs, long ones in pieces."""
    pieces = (passages(one, _LONG_PART) for one in _BLANK_LINES.split(words))
    parts = [part for some in pieces for part in some if has_words(part)]
    size = -(-len(parts) // _MOST_PARTS) or 1
    return [
        "\n".join(parts[at : at + size]) for at in range(0, len(parts), size)
    ]
