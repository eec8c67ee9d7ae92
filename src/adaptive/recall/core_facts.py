"""Which core facts come with a message: who the user is, by what the message is about.

A few facts matter for every answer: a name, a language, how somebody wants to be answered. All
others compete for a few places, and only with a message that is about its writer or asks for
advice. How near it comes to a fact is counted in spreads above what such messages reach on average,
since some facts are near to any of them (normalised by a cohort, as in ``search/calibration``).
What could do harm if it was forgotten, as an allergy with food, comes from further away.
"""

from collections.abc import Sequence

import numpy as np

from adaptive.core.model import CORE_IMPORTANCE, Memory, Vectors, frozen
from adaptive.search.calibration import (
    NULL_PROMPTS,
    RECALL_EXAMPLES,
    speaks_of_self,
)
from adaptive.search.fusion import RankingQuery
from adaptive.search.kinds import Examples, LearnedKind, learned_kind

# Places for the facts that always come, and for those that come with a message.
MOST_CORE_FACTS = 5
# Of the other examples, which are harder than what people tell.
_STANDING_WRONGLY = 0.1
# Spreads that a fact needs, and what each sign that the message is about its writer takes off.
_LEAST_NEAR = 3.0
_SIGN = 1.5
_HAZARD_LEAD = 1.5
_TINY_SPREAD = 1e-4


@frozen
class CoreJudges:
    """What is learned from examples for one embedding model.

    Facts that are ``standing`` matter for every answer, a ``hazard`` could do harm with what
    somebody eats or takes. Messages that are ``consuming`` are about that, and ``personal`` ones
    are about their writer or ask for advice; ``cohort`` are vectors of the latter. Those that are
    ``about_writer`` may ask for what their writer has told, too.
    """

    standing: LearnedKind
    hazard: LearnedKind
    consuming: LearnedKind
    personal: LearnedKind
    about_writer: LearnedKind
    cohort: Vectors


def core_judges(examples: Vectors, nulls: Vectors) -> CoreJudges:
    """The judges for an embedding model, by vectors of the examples and of the null prompts."""
    of: dict[str, Examples] = {}
    start = 0
    for title, texts in RECALL_EXAMPLES.items():
        end = start + len(texts)
        of[title] = Examples(texts, examples[start:end])
        start = end
    personal = of["consuming"] + of["asking"]
    impersonal = of["impersonal"] + Examples(NULL_PROMPTS, nulls)
    return CoreJudges(
        standing=learned_kind(
            of["standing"],
            of["hazard"] + of["other"],
            wrongly=_STANDING_WRONGLY,
        ),
        hazard=learned_kind(of["hazard"], of["standing"] + of["other"]),
        consuming=learned_kind(of["consuming"], of["asking"] + impersonal),
        personal=learned_kind(personal, impersonal),
        about_writer=learned_kind(
            personal + of["recalling"], impersonal + of["common knowledge"]
        ),
        cohort=personal.vectors,
    )


@frozen
class CoreFacts:
    """The core facts that always come, and those that come with a message, nearest first."""

    standing: Sequence[Memory]
    bearing: Sequence[Memory] = ()


def core_facts_for(
    thoughts: Sequence[RankingQuery],
    facts: Sequence[Memory],
    vectors: Vectors,
    judges: CoreJudges,
) -> CoreFacts:
    """The core facts that come with a message, out of ``facts`` in the order of their importance.

    ``thoughts`` are the message and the parts of it that say something of their own. A fact that has
    no vector yet comes if it is important, or by its keywords as any memory.
    """
    contents = [fact.content for fact in facts]
    is_embedded = vectors.any(axis=1)
    always = judges.standing.holds(contents, vectors) & is_embedded
    always |= [fact.importance >= CORE_IMPORTANCE for fact in facts]
    first: list[int] = np.flatnonzero(always)[:MOST_CORE_FACTS].tolist()

    is_hazard = judges.hazard.holds(contents, vectors)
    usual = judges.cohort @ vectors.T
    level = usual.mean(axis=0)
    spread = np.maximum(usual.std(axis=0), _TINY_SPREAD)
    lead = np.full(len(facts), -np.inf)
    most_signs = 0
    for thought in thoughts:
        signs = _signs_of_writer(thought, judges)
        if thought.vector is None or not signs:
            continue
        # In spreads above what others reach on average.
        near = (vectors @ thought.vector - level) / spread
        if _holds(judges.consuming, thought):
            near += _HAZARD_LEAD * is_hazard
        lead = np.maximum(lead, near + _SIGN * signs - _LEAST_NEAR)
        most_signs = max(most_signs, signs)
    lead[first] = -np.inf
    lead[~is_embedded] = -np.inf
    # A message of one sign alone may be about somebody else: it gets what places are left.
    taken = 0 if most_signs == 2 else len(first)
    nearest: list[int] = np.argsort(-lead)[: MOST_CORE_FACTS - taken].tolist()
    return CoreFacts(
        standing=[facts[place] for place in first],
        bearing=[facts[place] for place in nearest if lead[place] >= 0],
    )


def _signs_of_writer(thought: RankingQuery, judges: CoreJudges) -> int:
    """How much speaks for a thought that is about its writer: its words, and its vector."""
    return speaks_of_self(thought.text) + _holds(judges.personal, thought)


def _holds(kind: LearnedKind, thought: RankingQuery) -> bool:
    if thought.vector is None:
        return False
    return bool(kind.holds([thought.text], thought.vector[np.newaxis])[0])
