"""The pure steps from what is asked to what is selected.

Who may be asked, what of that is nearest, and what of the nearest comes within the block's budget.

Of who the user is comes what the message is about. A few facts matter for every answer: a name, a
language, how somebody wants to be answered. All others compete for a few places, and only with a
message that is about its writer or asks for advice. How near it comes to a fact is counted in
spreads above what such messages reach on average, since some facts are near to any of them
(normalised by a cohort, as in ``search/calibration``). What could do harm if it was forgotten, as
an allergy with food, comes from further away.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from adaptive.core import (
    CORE_IMPORTANCE,
    Memory,
    Vectors,
    frozen,
    has_ended,
    stage,
)
from adaptive.memory import AddedText
from adaptive.recall.block import (
    BlockEntry,
    entry_of,
    reason_against,
    withheld_reason,
)
from adaptive.recall.placement import Placed, placed_entries
from adaptive.recall.question import Question
from adaptive.search import (
    GATES,
    FoundMemory,
    Judges,
    MemoryIndex,
    Ranked,
    RankingQuery,
    Weights,
    fitting,
    interleaved,
    products,
    speaks_of_self,
    tokens,
    without_places,
)
from adaptive.settings import HiddenMemories, Settings

# The most that valves allow for a model to judge, and some that may not stand in a prompt.
_MOST_RANKED = 220
_MOST_NAMED = 20
# Words name what they say: neither its neighbours nor, if they speak of the user, everything.
_NAMING = Weights(neighbours=0.0, personal=0.0)
_LEAST_NAMED = GATES[0] / 4


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

    usual = products(judges.cohort, vectors)
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


@frozen
class Candidates:
    """The memories that may come for a question: those of ``index`` but the ``withheld`` ids.

    ``pinned`` are those that their user wants to come always, ``core`` are the facts that do without
    it, ``bearing`` the core facts that come with this message, nearest first.
    """

    question: Question
    index: MemoryIndex
    withheld: Set[str]
    pinned: Sequence[Memory]
    core: Sequence[Memory]
    bearing: Sequence[Memory]

    def memory(self, memory_id: str) -> Memory:
        """The memory of an id that is in the index."""
        return self.index.memories[self.index.places[memory_id]]


def candidates_for(
    question: Question,
    index: MemoryIndex,
    hidden: HiddenMemories,
    judges: Judges | None,
) -> Candidates:
    """The candidates for a question, without the memories of ``hidden``.

    Without ``judges`` the first core facts come: the most important ones, then the oldest.
    """
    question = replace(question, judges=judges)
    to_forget = set(tokens(question.to_forget))
    # What has ended is no fact of today, and of what is quiet nobody wants to hear: they are left
    # out as if they were none of the model's business.
    withheld = {
        memory.id
        for memory in index.memories
        if memory.is_quiet
        or has_ended(memory, question.today)
        or (hidden.names and hidden.holds(memory))
        or (to_forget and to_forget.intersection(tokens(memory.content)))
    }
    # What may not stand in a prompt takes no place from other facts.
    facts = [
        memory
        for memory in index.core
        if memory.id not in withheld
        and not memory.is_pinned
        and not reason_against(memory)
    ]
    coming = CoreFacts(facts[:MOST_CORE_FACTS])
    if facts and judges is not None:
        places = [index.places[memory.id] for memory in facts]
        vectors = index.ranking.vectors[places]
        queries = question.queries()
        coming = core_facts_for(queries, facts, vectors, judges)
    return Candidates(
        question=question,
        index=index,
        withheld=withheld,
        pinned=[memory for memory in index.memories if memory.is_pinned],
        core=coming.standing,
        bearing=coming.bearing,
    )


@frozen
class Selection:
    """What was selected for a question: the entries that stand with each message of its chat.

    They are ``placed`` by the keys of messages, those of the newest message last. ``fit`` is the
    relevance, from 0 to 1, of what fits the newest message, by id, best first, be there room for it
    or not. ``past`` is what comes of past conversation.
    """

    candidates: Candidates
    placed: Mapping[str, Placed]
    fit: Mapping[str, float]
    past: AddedText = AddedText("")

    @property
    def core(self) -> list[BlockEntry]:
        """All core facts that stand in the prompt."""
        return [entry for each in self.placed.values() for entry in each.core]

    @property
    def retrieved(self) -> list[BlockEntry]:
        """All other memories that stand there."""
        return [
            entry for each in self.placed.values() for entry in each.retrieved
        ]

    @property
    def shown(self) -> list[str]:
        """The ids of both, each once."""
        entries = (*self.core, *self.retrieved)
        return [*dict.fromkeys(entry.memory.id for entry in entries)]

    @property
    def fitting(self) -> dict[str, float]:
        """The relevance of what fits and stands there."""
        shown = {*self.shown}
        return {each: self.fit[each] for each in self.fit if each in shown}


@stage("ranking")
def ranked_candidates(candidates: Candidates) -> list[list[Ranked]]:
    """As many of the nearest candidates as could come, best first, for each thought."""
    places = candidates.index.places
    return candidates.question.nearest(
        candidates.index,
        _MOST_RANKED + len(candidates.core),
        without=[places[memory_id] for memory_id in candidates.withheld],
    )


def fitting_memories(
    candidates: Candidates,
    rankings: Sequence[Sequence[Ranked]],
    limit: int,
    **rules: float,
) -> dict[str, Ranked]:
    """As many as fit by the rules of ``fitting``, by id, best first.

    Core facts among them take no place from others, nor does what may not stand in a prompt.
    """
    memories = candidates.index.memories
    while True:  # only what would come is looked at
        fit = fitting(rankings, len(candidates.core) + limit, **rules)
        refused = {
            near.place for near in fit if reason_against(memories[near.place])
        }
        if not refused:
            return {memories[near.place].id: near for near in fit}
        rankings = without_places(rankings, refused)


def fitting_by_settings(
    candidates: Candidates,
    rankings: Sequence[Sequence[Ranked]],
    settings: Settings,
    more: int = 0,
) -> dict[str, Ranked]:
    """What fits a message by the valves, by id, best first; so many ``more`` than may come."""
    return fitting_memories(
        candidates,
        rankings,
        settings.related_memories_n + more,
        vector_floor=settings.vector_similarity_threshold,
        relevance_floor=settings.relevance_threshold,
    )


def eligible_memories(
    candidates: Candidates, fit: Iterable[str]
) -> list[Memory]:
    """What is pinned, core facts, what fits, and what the chat was given, as far as it may come."""
    coming = (*candidates.pinned, *candidates.core, *candidates.bearing)
    facts = [memory.id for memory in coming]
    given = candidates.question.so_far.ids()
    ids = dict.fromkeys([*facts, *fit, *given])
    memories = map(candidates.index.memory, ids)
    return [
        memory
        for memory in memories
        if memory and memory.id not in candidates.withheld
    ]


@stage("block")
def selected(
    candidates: Candidates,
    fit: Mapping[str, float],
    settings: Settings,
    most_tokens: int,
) -> Selection:
    """What comes within so many tokens: core facts, what the chat was given, and what fits now."""
    existing: dict[str, BlockEntry] = {}
    for memory in eligible_memories(candidates, fit):
        entry = entry_of(memory)
        if entry is not None and not reason_against(memory):
            existing[memory.id] = entry
    best = [memory_id for memory_id in fit if memory_id in existing]
    bearing = [memory.id for memory in candidates.bearing]
    coming = [*dict.fromkeys([*best, *bearing])]
    placed = placed_entries(
        so_far=candidates.question.so_far,
        facts=[memory.id for memory in candidates.core],
        fitting=coming[: settings.related_memories_n],
        existing=existing,
        most_tokens=most_tokens,
        pinned=[memory.id for memory in candidates.pinned],
    )
    return Selection(candidates=candidates, placed=placed, fit=fit)


def found_memories(
    candidates: Candidates, hidden: HiddenMemories
) -> list[FoundMemory]:
    """The memories nearest to words in meaning, and those that hold one of them, best first."""
    index = candidates.index
    words = set(tokens(candidates.question.text))
    rankings = candidates.question.nearest(index, len(index.memories), _NAMING)
    named = interleaved(
        [
            [
                near
                for near in ranked
                if near.keywords > 0 or near.evidence >= _LEAST_NAMED
            ]
            for ranked in rankings
        ]
    )
    found: list[FoundMemory] = []
    for near in named[:_MOST_NAMED]:
        memory = index.memories[near.place]
        found.append(
            FoundMemory(
                memory=memory,
                score=round(100 * near.relevance),
                has_all_words=words.issubset(tokens(memory.content)),
                withheld=withheld_reason(memory, hidden),
            )
        )
    return found
