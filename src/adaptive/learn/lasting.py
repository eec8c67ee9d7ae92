"""What code tells of a proposed fact by its vector: whether it lasts, and whether it says who the user is.

Small models propose questions, errands and moods as facts; and in lines they name neither tags nor
importance. Both judges have learned from ``prompts/fact_examples.txt``; ``python -m
tools.validate_facts`` says how good they are. Without vectors nothing is refused.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adaptive.core.model import (
    Draft,
    EmbeddingError,
    Proposal,
    Sources,
    Turn,
    Vectors,
    each_open,
    log_failure,
)
from adaptive.core.texts import titled_parts
from adaptive.learn.examples import ExampleFit, ExampleJudge
from adaptive.learn.support import Vocabulary, supported_share

SOON_OVER = "it will soon be over"
PASSING = "passing"
# What matters for many answers: who the user is, and how they want to be answered.
_CORE_KINDS = ("identity", "wish", "health", "work", "home")
# Of the examples, which are harder than what people tell: of that 1 % is refused.
_LASTING_REFUSED = 0.06
# Of the other examples, that they are taken to say who the user is.
_PLAIN_MARKED = 0.25
_CORE_IMPORTANCE = 7
_LEAST_CONFIDENCE = 0.5  # a translation has no word of what was said


def fact_examples(*kinds: str) -> list[str]:
    """The example sentences of these kinds, in all languages; of every kind that lasts for none."""
    return [
        sentence
        for title, sentences in titled_parts("fact_examples").items()
        if (kind := title.partition(",")[0]) in kinds
        or (not kinds and kind != PASSING)
        for sentence in sentences.split("\n")
    ]


def lasting_judge() -> ExampleJudge:
    """The judge that takes a sentence for positive if it holds for a month or longer."""
    return ExampleJudge(
        positives=fact_examples(),
        negatives=fact_examples(PASSING),
        refused=_LASTING_REFUSED,
        query=False,
    )


def plain_judge() -> ExampleJudge:
    """The judge that takes a lasting fact for positive unless it says who the user is."""
    core = fact_examples(*_CORE_KINDS)
    return ExampleJudge(
        positives=[one for one in fact_examples() if one not in core],
        negatives=core,
        refused=_PLAIN_MARKED,
        query=False,
    )


class FactJudges:
    """The step of a lesson that judges proven facts by their vectors.

    The examples of a new embedding model take a local one up to a minute, so that they are made
    behind the lesson that ``start`` is called in; until then facts are not judged.
    """

    def __init__(
        self, start: Callable[[Coroutine[Any, Any, None]], object]
    ) -> None:
        self._start = start
        self._lasting = lasting_judge()
        self._plain = plain_judge()
        self._begun: set[str] = set()
        self._fits: dict[tuple[str, int], tuple[ExampleFit, ExampleFit]] = {}

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
        name = await sources.embedder.name()
        fits = self._fits.get((name, dimension))
        if fits is None:
            if name not in self._begun:
                self._begun.add(name)
                self._start(self.fit(sources, dimension))
            return facts
        lasting, plain = fits

        def judge(proposal: Proposal) -> Proposal:
            """One proposal, judged if it has a vector."""
            vector = vectors.get(proposal.draft.content)
            if proposal.is_removal or vector is None:
                return proposal
            return _judged(proposal, vector, lasting, plain)

        return each_open(facts, judge)

    async def fit(self, sources: Sources, dimension: int) -> None:
        """Fit the judges for the vectors of an embedder, if it brings those of the examples."""
        embedder, table = sources.embedder, sources.table
        name = await embedder.name()
        try:
            lasting = await self._lasting.fit_for(embedder, table, dimension)
            plain = await self._plain.fit_for(embedder, table, dimension)
            self._fits[name, dimension] = lasting, plain
        except EmbeddingError as error:
            log_failure("facts are not judged by their vectors", error)
        finally:
            self._begun.discard(name)


def _judged(
    proposal: Proposal, vector: Vectors, lasting: ExampleFit, plain: ExampleFit
) -> Proposal:
    """A proposal, refused if it passes, and marked if it says who the user is."""
    draft = proposal.draft
    if not lasting.accepts(draft.content, vector):
        return proposal.decided("rejected", SOON_OVER)
    if draft.tags or plain.accepts(draft.content, vector):
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
