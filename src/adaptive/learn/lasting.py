"""What code tells of a proposed fact: whether it lasts, and whether it says who the user is.

Small models propose questions, errands and moods as facts; and in lines they name neither tags nor
importance. Both is judged by how near the fact's vector is to those of example facts, and whether it
lasts by its letters, too. ``python -m tools.train_examples`` says how good that is. Without vectors
nothing is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from adaptive.core.classifier import classifier
from adaptive.core.model import (
    Draft,
    Proposal,
    Turn,
    Vectors,
    each_open,
)
from adaptive.learn.support import Vocabulary, supported_share
from adaptive.search.examples import ComparedExamples, Judges

SOON_OVER = "it will soon be over"
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
