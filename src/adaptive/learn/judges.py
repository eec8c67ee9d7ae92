"""Whether a message may tell something to remember, and whether a fact that was proposed lasts.

Before a model is asked, a message's vector, or that of one of its paragraphs, is compared with those
of messages that tell something and of null prompts, which tell nothing.

Small models propose questions, errands and moods as facts; and in lines they name neither tags nor
importance. Whether a fact lasts, and whether it says who the user is, is judged by how near its
vector is to those of example facts, and whether it lasts by its letters, too. ``python -m
tools.train_examples`` says how good that is. Without vectors nothing is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from adaptive.core import (
    Draft,
    Embedder,
    Phrase,
    Proposal,
    Turn,
    Vectors,
    classifier,
    each_open,
    has_words,
    passages,
)
from adaptive.learn.support import Vocabulary, supported_share
from adaptive.search import (
    ComparedExamples,
    Judges,
    MemoryIndexes,
    query_vectors,
)

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
    return joined_parts(parts, _MOST_PARTS)


def joined_parts(parts: Sequence[str], most: int) -> list[str]:
    """Parts of a text, neighbours joined where there are more than so many."""
    size = -(-len(parts) // most) or 1
    return [
        "\n".join(parts[at : at + size]) for at in range(0, len(parts), size)
    ]


SOON_OVER = Phrase("soon_over")
_CORE_IMPORTANCE = 7
_LEAST_CONFIDENCE = 0.5  # a translation has no word of what was said


def lasts(fact: str, vector: Vectors, examples: ComparedExamples) -> bool:
    """Whether a fact holds for a month or longer."""
    scores = examples.scores([fact], vector[np.newaxis])
    by_letters = classifier("fact").scores(fact)[0]
    return bool(scores["lasting"][0] + by_letters >= 0)


def is_about_identity(
    fact: str, vector: Vectors, examples: ComparedExamples
) -> bool:
    """Whether a lasting fact says who the user is, or how they want to be answered."""
    scores = examples.scores([fact], vector[np.newaxis])
    return bool(scores["plain"][0] < 0)


def judged_facts(
    proposals: Sequence[Proposal],
    turn: Turn,
    vectors: Mapping[str, Vectors],
    judges: Judges | None,
) -> list[Proposal]:
    """Proven proposals of which passing ones are refused; those that last are weighed.

    ``vectors`` are the normalised ones of contents. Without ``judges`` none is refused.
    """
    earlier = [one.text for one in turn.earlier if one.role == "user"]
    said = Vocabulary.of([turn.words, *earlier])

    def judged(proposal: Proposal) -> Proposal:
        """One proposal, weighed, and judged if it has a vector."""
        fact = weighed(proposal, said)
        vector = vectors.get(fact.draft.content)
        if judges is None or fact.states_nothing or vector is None:
            return fact
        return _judged(fact, vector, judges.facts)

    return each_open(proposals, judged)


def _judged(
    proposal: Proposal, vector: Vectors, examples: ComparedExamples
) -> Proposal:
    """A proposal, refused if it passes, and marked if it says who the user is."""
    draft = proposal.draft
    if not lasts(draft.content, vector, examples):
        return proposal.decided("rejected", SOON_OVER)
    if draft.topics or not is_about_identity(draft.content, vector, examples):
        return proposal
    marked = replace(
        draft,
        tags=("identity",),
        importance=max(draft.importance, _CORE_IMPORTANCE),
    )
    return replace(proposal, draft=marked)


def weighed(proposal: Proposal, said: Vocabulary) -> Proposal:
    """A proposal that is no surer than its words were said: half sure where none was."""
    if proposal.states_nothing:
        return proposal
    share = supported_share(proposal.draft.content, said)
    proven = _LEAST_CONFIDENCE + (1 - _LEAST_CONFIDENCE) * share
    confidence = min(proposal.draft.confidence, round(proven, 2))
    draft: Draft = replace(proposal.draft, confidence=confidence)
    return replace(proposal, draft=draft)
