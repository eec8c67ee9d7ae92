"""Whether a message may tell something to remember, judged by its vector before a model is asked.

The judge has learned from the null prompts, which tell nothing, and from examples that do; they are
harder than what people mostly write.
"""

import re

from adaptive.core.messages import has_words, passages
from adaptive.core.model import Embedder, EmbeddingError, Vectors, VectorTable
from adaptive.core.texts import listed_lines
from adaptive.learn.examples import ExampleJudge
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.vectors import query_vectors

_SKIPPED_SHARE = 0.035  # of the examples that tell something
EMBEDDING_PATIENCE_SECONDS = 10.0  # nobody waits for learning
_MOST_PARTS = 8
_LONG_PART = 400  # what is longer may be about several things
_BLANK_LINES = re.compile(r"\n\s*\n")


def message_judge() -> ExampleJudge:
    """The judge that takes a message for positive if it tells something to remember."""
    lines = listed_lines("prefilter_examples")
    border = lines.index("==")
    return ExampleJudge(
        positives=lines[:border],
        negatives=[*lines[border + 1 :], *NULL_PROMPTS],
        refused=_SKIPPED_SHARE,
        query=True,
    )


class Prefilter:
    """The step before a model is asked, which spares messages that tell nothing."""

    def __init__(self) -> None:
        self._judge = message_judge()

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
            fit = await self._judge.fit_for(embedder, table, known.shape[-1])
        except EmbeddingError:
            return True
        return fit.accepts(words, known)


def spoken_parts(words: str) -> list[str]:
    """At most eight parts of a text: its paragraphs, long ones in pieces."""
    pieces = (passages(one, _LONG_PART) for one in _BLANK_LINES.split(words))
    parts = [part for some in pieces for part in some if has_words(part)]
    size = -(-len(parts) // _MOST_PARTS) or 1
    return [
        "\n".join(parts[at : at + size]) for at in range(0, len(parts), size)
    ]
