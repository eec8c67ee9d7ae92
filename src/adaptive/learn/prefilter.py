"""Whether a message may tell something to remember, judged by its vector before a model is asked.

Its vector, or that of one of its paragraphs, is compared with those of messages that tell something
and of null prompts, which tell nothing.
"""

from __future__ import annotations

import re

from adaptive.core.embedding import Embedder
from adaptive.core.messages import has_words, passages
from adaptive.core.model import EmbeddingError, Vectors, VectorTable
from adaptive.learn.weighted_examples import (
    Bars,
    ComparedExamples,
    WeightedExamples,
)
from adaptive.search.vectors import query_vectors

# Chosen by ``python -m benchmarks prefilter``.
_TELLING_BARS = Bars(latin=-0.18, others=-0.45)
EMBEDDING_PATIENCE_SECONDS = 10.0  # nobody waits for learning
_MOST_PARTS = 8
_LONG_PART = 400  # what is longer may be about several things
_BLANK_LINES = re.compile(r"\n\s*\n")


def weighted_messages() -> WeightedExamples:
    """The examples for the judge of whether a message tells something."""
    return WeightedExamples("prefilter_examples", judges=1, query=True)


def may_tell(words: str, vectors: Vectors, examples: ComparedExamples) -> bool:
    """Whether words may tell something, by their vectors and those of their parts."""
    return _TELLING_BARS.accept(words, examples.scores(vectors).max())


class Prefilter:
    """The step before a model is asked, which spares messages that tell nothing."""

    def __init__(self) -> None:
        self._examples = weighted_messages()

    async def may_hold_fact(
        self,
        words: str,
        embedder: Embedder,
        table: VectorTable,
        known: Vectors | None,
    ) -> bool:
        """Whether words are worth a model call; without vectors everything that has words is.

        ``known`` is the vector of the words.
        """
        if not has_words(words):
            return False
        parts = spoken_parts(words)
        if known is not None and len(parts) > 1:
            known = await query_vectors(
                embedder, [words, *parts], EMBEDDING_PATIENCE_SECONDS
            )
        if known is None:
            return True
        try:
            examples = await self._examples.made(
                embedder, table, known.shape[-1]
            )
        except EmbeddingError:
            return True
        return may_tell(words, known, examples)


def spoken_parts(words: str) -> list[str]:
    """At most eight parts of a text: its paragraphs, long ones in pieces."""
    pieces = (passages(one, _LONG_PART) for one in _BLANK_LINES.split(words))
    parts = [part for some in pieces for part in some if has_words(part)]
    size = -(-len(parts) // _MOST_PARTS) or 1
    return [
        "\n".join(parts[at : at + size]) for at in range(0, len(parts), size)
    ]
