"""Which core facts come with a message: who the user is, by what the message is about.

A few facts matter for every answer: a name, a language, how somebody wants to be answered. All
others compete for a few places, and only with a message that is about its writer or asks for
advice. How near it comes to a fact is counted in spreads above what such messages reach on average,
since some facts are near to any of them (normalised by a cohort, as in ``search/calibration``).
What could do harm if it was forgotten, as an allergy with food, comes from further away.
"""

from collections.abc import Sequence

import numpy as np

from adaptive.core import CORE_IMPORTANCE, Memory, Vectors, frozen
from adaptive.search import Judges, RankingQuery, speaks_of_self

# Places for the facts that always come, and for those that come with a message.
MOST_CORE_FACTS = 5
# Spreads that a fact needs, and what each sign that the message is about its writer takes off.
_LEAST_NEAR = 3.0
_SIGN = 1.5
_HAZARD_LEAD = 1.5
_TINY_SPREAD = 1e-4


@frozen
class CoreFacts:
    """The core facts that always come, and those that come with a message, nearest first."""

    standing: Sequence[Memory]
    bearing: Sequence[Memory] = ()


def core_facts_for(
    thoughts: Sequence[RankingQuery],
    facts: Sequence[Memory],
    vectors: Vectors,
    judges: Judges,
) -> CoreFacts:
    """The core facts that come with a message, out of ``facts`` in the order of their importance.

    ``thoughts`` are those of the message. A fact that has
    no vector yet comes if it is important, or by its keywords as any memory.
    """
    scores = judges.facts.scores([fact.content for fact in facts], vectors)
    is_embedded = vectors.any(axis=1)
    always = (scores["standing"] >= 0) & is_embedded
    always |= [fact.importance >= CORE_IMPORTANCE for fact in facts]
    first: list[int] = np.flatnonzero(always)[:MOST_CORE_FACTS].tolist()

    usual = judges.cohort @ vectors.T
    level = usual.mean(axis=0)
    spread = np.maximum(usual.std(axis=0), _TINY_SPREAD)
    lead = np.full(len(facts), -np.inf)
    most_signs = 0
    for thought in thoughts:
        if thought.vector is None:
            continue
        about = judges.messages.scores(
            [thought.text], thought.vector[np.newaxis]
        )
        is_consuming = about["consuming"][0] >= 0
        is_personal = bool(is_consuming or about["personal"][0] >= 0)
        signs = speaks_of_self(thought.text) + is_personal
        if not signs:
            continue
        # In spreads above what others reach on average.
        near = (vectors @ thought.vector - level) / spread
        if is_consuming:
            near += _HAZARD_LEAD * (scores["hazard"] >= 0)
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
