"""A question in other words: what memories are searched with once somebody has made it complete.

The words as they were said are searched with at once, so nothing waits for a rewrite that fails.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import numpy as np

from adaptive.ports import Embedder, Vectors
from adaptive.recall.question import Question
from adaptive.search.query import query_vectors


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The text to search with, and the seconds that are left to embed it.

    ``text`` holds the question's own words, too.
    """

    text: str
    patience: float = 1.0


# Comes within a bounded time, with nothing where there is no rewrite.
Rewriter = Callable[[], Awaitable[Rewrite | None]]


async def rewritten(
    question: Question, vectors: Vectors | None, embedder: Embedder, rewriter: Rewriter | None
) -> tuple[Question, Vectors | None]:
    """The question as it is to be searched for, with its vectors; as it is without a rewrite.

    ``vectors`` are those of the question, then of the message before it. Where they are missing,
    or the new text gets no vector in time, it serves by its words alone, beside what there is.
    """
    rewrite = await rewriter() if rewriter is not None else None
    if rewrite is None:
        return question, vectors
    changed = replace(question, text=rewrite.text)
    if rewrite.text == question.text or vectors is None:
        return changed, vectors
    fresh = await query_vectors(embedder, [rewrite.text], rewrite.patience)
    if fresh is None or fresh.shape[1] != vectors.shape[1]:
        return changed, vectors
    return changed, np.concatenate([fresh, vectors[1:]])
