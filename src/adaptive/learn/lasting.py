"""What code tells of a proposed fact: whether it lasts, and whether it says who the user is.

Small models propose questions, errands and moods as facts; and in lines they name neither tags nor
importance. Both is judged by how near the fact's vector is to those of example facts, and whether it
lasts by its letters, too. ``python -m tools.validate_facts`` says how good that is. Without vectors
nothing is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adaptive.core.classifier import classifier
from adaptive.core.embedding import Sources
from adaptive.core.model import (
    Draft,
    EmbeddingError,
    Proposal,
    Turn,
    Vectors,
    each_open,
    log_failure,
)
from adaptive.learn.support import Vocabulary, supported_share
from adaptive.learn.weighted_examples import (
    Bars,
    ComparedExamples,
    WeightedExamples,
)

SOON_OVER = "it will soon be over"
# Each refuses or marks the stated share of examples (tools/train_examples.py).
LASTING_BARS = Bars(latin=-0.11, others=-0.21)
PLAIN_BARS = Bars(latin=-0.09, others=-0.53)
_CORE_IMPORTANCE = 7
_LEAST_CONFIDENCE = 0.5  # a translation has no word of what was said


def weighted_facts() -> WeightedExamples:
    """The examples for two judges: of what lasts, and of what does not say who the user is."""
    return WeightedExamples("fact_examples", judges=2, query=False)


def lasts(fact: str, vector: Vectors, examples: ComparedExamples) -> bool:
    """Whether a fact holds for a month or longer."""
    by_vector = examples.scores(vector)[0, 0]
    by_letters = classifier("fact").scores(fact)[0]
    return LASTING_BARS.accept(fact, by_vector + by_letters)


def is_about_identity(
    fact: str, vector: Vectors, examples: ComparedExamples
) -> bool:
    """Whether a lasting fact says who the user is, or how they want to be answered."""
    return not PLAIN_BARS.accept(fact, examples.scores(vector)[0, 1])


class FactJudges:
    """The step of a lesson that judges proven facts by their vectors.

    The examples of a new embedding model are embedded behind the lesson that ``start`` is called
    in; until then facts are not judged.
    """

    def __init__(
        self, start: Callable[[Coroutine[Any, Any, None]], object]
    ) -> None:
        self._start = start
        self._examples = weighted_facts()
        self._begun: set[str] = set()

    async def judged(
        self,
        proposals: Sequence[Proposal],
        turn: Turn,
        vectors: Mapping[str, Vectors],
        sources: Sources,
    ) -> list[Proposal]:
        """Proposals of which passing ones are refused; those that last are weighed.

        ``vectors`` are the normalised ones of contents.
        """
        earlier = [one.text for one in turn.earlier if one.role == "user"]
        said = Vocabulary.of([turn.words, *earlier])
        facts = each_open(proposals, lambda proposal: weighed(proposal, said))
        if not vectors:
            return facts
        dimension = len(next(iter(vectors.values())))
        examples = await self._examples.known_to(
            sources.embedder, sources.table, dimension
        )
        if examples is None:
            name = await sources.embedder.name()
            if name not in self._begun:
                self._begun.add(name)
                self._start(self.embed_examples(sources, dimension))
            return facts

        def judge(proposal: Proposal) -> Proposal:
            """One proposal, judged if it has a vector."""
            vector = vectors.get(proposal.draft.content)
            if proposal.is_removal or vector is None:
                return proposal
            return _judged(proposal, vector, examples)

        return each_open(facts, judge)

    async def embed_examples(self, sources: Sources, dimension: int) -> None:
        """Have the examples embedded, if the embedder brings vectors that are this long."""
        name = await sources.embedder.name()
        try:
            await self._examples.made(
                sources.embedder, sources.table, dimension
            )
        except EmbeddingError as error:
            log_failure("facts are not judged by their vectors", error)
        finally:
            self._begun.discard(name)


def _judged(
    proposal: Proposal, vector: Vectors, examples: ComparedExamples
) -> Proposal:
    """A proposal, refused if it passes, and marked if it says who the user is."""
    draft = proposal.draft
    if not lasts(draft.content, vector, examples):
        return proposal.decided("rejected", SOON_OVER)
    if draft.tags or not is_about_identity(draft.content, vector, examples):
        return proposal
    marked = replace(
        draft,
        tags=("identity",),
        importance=max(draft.importance, _CORE_IMPORTANCE),
    )
    return replace(proposal, draft=marked)


def weighed(proposal: Proposal, said: Vocabulary) -> Proposal:
    """A proposal that is no surer than its words were said: half sure where none was."""
    if proposal.is_removal:
        return proposal
    share = supported_share(proposal.draft.content, said)
    proven = _LEAST_CONFIDENCE + (1 - _LEAST_CONFIDENCE) * share
    confidence = min(proposal.draft.confidence, round(proven, 2))
    draft: Draft = replace(proposal.draft, confidence=confidence)
    return replace(proposal, draft=draft)
