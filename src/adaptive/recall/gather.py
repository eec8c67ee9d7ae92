"""Which of a user's memories a message gets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adaptive.model import Candidate, Memory
from adaptive.search.fusion import GATE, Ranked, fitting
from adaptive.search.index import MemoryIndex
from adaptive.settings import Settings


def core_memories(index: MemoryIndex, importance: int) -> list[Memory]:
    """Who the user is, and what is at least that important: most important first, then oldest."""
    if importance > 10:
        return []
    places = np.flatnonzero(index.identity | (index.shelf.importance >= importance))
    core = [index.memories[place] for place in places]
    return sorted(core, key=lambda memory: (-memory.importance, memory.created_at, memory.id))


def fitting_memories(
    memories: Sequence[Memory],
    ranked: Sequence[Ranked],
    settings: Settings,
    *,
    judged: bool = False,
    spare: int = 0,
) -> list[Candidate]:
    """Of the ranked, those that fit the message: as many as go in, or as the judge is to see.

    ``spare`` are places on top, for those that go in anyway. A candidate's score is its relevance,
    from 0 to 1 on a scale that every embedding model shares: 0.5 is the least evidence that lets a
    message have memories at all.
    """
    limit = spare + (settings.top_n_memories if judged else settings.related_memories_n)
    chosen = fitting(
        ranked,
        limit,
        vector_floor=settings.vector_similarity_threshold,
        relevance_floor=0.0 if judged else settings.relevance_threshold,
    )
    return [Candidate(memories[one.place], relevance(one.evidence)) for one in chosen]


def explained(one: Ranked, memory_id: str, *, fits: bool) -> str:
    """Why a memory comes with a message or does not: the parts of its score, without its text."""
    chosen = "fits" if fits else "does not fit"
    return (
        f"{memory_id} {chosen}: score {one.score:.3f} = {one.similarity:.3f} similarity"
        f" + {one.keywords:.3f} keywords + {one.neighbours:.3f} neighbours,"
        f" relevance {relevance(one.evidence):.2f}, cosine {one.cosine:.3f}"
    )


def relevance(evidence: float) -> float:
    """Evidence on a scale from 0 to 1, on which the gate lies at 0.5."""
    evidence = max(evidence, 0.0)
    return evidence / (evidence + GATE)
