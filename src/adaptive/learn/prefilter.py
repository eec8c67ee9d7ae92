"""Whether a message may tell something to remember, judged by its vector before a model is asked.

Its vector, or that of one of its paragraphs, is compared with those of messages that tell something
and of null prompts, which tell nothing.
"""

from __future__ import annotations

import re

from adaptive.core.embedding import Embedder
from adaptive.core.messages import has_words, passages
from adaptive.core.model import Vectors
from adaptive.search.examples import ComparedExamples
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.vectors import query_vectors

EMBEDDING_PATIENCE_SECONDS = 10.0  # nobody waits for learning
_MOST_PARTS = 8
_LONG_PART = 400  # what is longer may be about several things
_BLANK_LINES = re.compile(r"\n\s*\n")


def may_tell(words: str, vectors: Vectors, examples: ComparedExamples) -> bool:
    """Whether words may tell something, by their vectors and those of their parts."""
    scores = examples.scores([words] * len(vectors), vectors)
    return bool(scores["telling"].max() >= 0)


async def may_hold_fact(
    words: str,
    embedder: Embedder,
    indexes: MemoryIndexes,
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
    judges = indexes.judges(await embedder.name(), known.shape[-1])
    return judges is None or may_tell(words, known, judges.messages)


def spoken_parts(words: str) -> list[str]:
    """At most eight parts of a text: its paragraphs, long ones in pieces."""
    pieces = (passages(one, _LONG_PART) for one in _BLANK_LINES.split(words))
    parts = [part for some in pieces for part in some if has_words(part)]
    size = -(-len(parts) // _MOST_PARTS) or 1
    return [
        "\n".join(parts[at : at + size]) for at in range(0, len(parts), size)
    ]
