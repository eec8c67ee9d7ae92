"""Which memories come: who may be asked, and what of the nearest fits within the block's budget."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from adaptive.core.messages import has_words
from adaptive.core.model import CORE_IMPORTANCE, Memory, Vectors, has_ended
from adaptive.core.runtime import stage
from adaptive.recall.block import (
    BlockEntry,
    core_room,
    entry_of,
    placed_entries,
    reason_against,
    retrieved_room,
)
from adaptive.recall.question import Question
from adaptive.search.calibration import (
    ADVICE_END,
    STANDING_END,
    likely,
    speaks_of_self,
)
from adaptive.search.fusion import Ranked, fitting
from adaptive.search.index import MemoryIndex
from adaptive.search.tokens import tokens
from adaptive.settings.merged import LocalOnlyBanks, Settings

log_selection = logging.getLogger("adaptive_memory.recall")

# So many that may not stand in a prompt take no place from others.
_PLACES_FOR_REFUSED = 20
# The judging model is shown more than would go in without it.
_STRICTNESS_TO_JUDGE = 0.3


@dataclass(frozen=True, slots=True)
class Candidates:
    """The memories that may come for a question: those of ``index`` but the ``withheld`` ids.

    ``core`` are the facts that always come, ``bearing`` the other core facts, where the message is
    about the user or asks for advice.
    """

    question: Question
    index: MemoryIndex
    withheld: AbstractSet[str]
    core: Sequence[Memory]
    bearing: Sequence[Memory] = ()

    def memory(self, memory_id: str) -> Memory:
        """The memory of an id that is in the index."""
        return self.index.memories[self.index.places[memory_id]]


def candidates_for(
    question: Question,
    index: MemoryIndex,
    hidden: LocalOnlyBanks,
    examples: Vectors | None,
) -> Candidates:
    """The candidates for a question, without the memories of ``hidden``.

    ``examples`` are the vectors of ``RECALL_EXAMPLES``; without them all core facts always come.
    """
    to_forget = set(tokens(question.to_forget))
    # What has ended is no fact of today: it is left out as if it were none of the model's business.
    withheld = {
        memory.id
        for memory in index.ending
        if has_ended(memory, question.today)
    }
    if hidden.names or to_forget:
        withheld.update(
            memory.id
            for memory in index.memories
            if hidden.holds(memory)
            or (to_forget and to_forget.intersection(tokens(memory.content)))
        )
    facts = [memory for memory in index.core if memory.id not in withheld]
    if not facts or examples is None or index.nulls is None:
        return Candidates(
            question=question, index=index, withheld=withheld, core=facts
        )
    advice, standing, others = np.split(examples, [ADVICE_END, STANDING_END])
    places = [index.places[memory.id] for memory in facts]
    # What has no vector yet can't be judged, nor can a message without one.
    stands = (
        likely(index.ranking.vectors[places], standing, others)
        | ~index.embedded[places]
    )
    core: list[Memory] = []
    bearing: list[Memory] = []
    is_about_user = _is_about_user(question, index, advice, index.nulls)
    for fact, always in zip(facts, stands, strict=True):
        if always or fact.importance >= CORE_IMPORTANCE:
            core.append(fact)
        elif is_about_user:
            bearing.append(fact)
    return Candidates(
        question=question,
        index=index,
        withheld=withheld,
        core=core,
        bearing=bearing,
    )


def _is_about_user(
    question: Question, index: MemoryIndex, advice: Vectors, nulls: Vectors
) -> bool:
    """Whether a message speaks of its user or asks for advice."""
    if not has_words(question.text):
        return False
    if speaks_of_self(question.text):
        return True
    vectors = question.vectors
    if vectors is None or vectors.shape[1] != index.dimension:
        return False
    return bool(likely(vectors[:1], advice, nulls)[0])


@dataclass(frozen=True, slots=True)
class Selection:
    """What was selected for a question: the entries of ``core`` facts, and all ``retrieved`` ones.

    ``fitting`` is the relevance, from 0 to 1, of those that fit the message, by id, best first.
    ``bearing`` are the core facts that come for this message.
    """

    candidates: Candidates
    core: Sequence[BlockEntry]
    retrieved: Sequence[BlockEntry]
    fitting: Mapping[str, float]
    bearing: Sequence[Memory]

    @property
    def count(self) -> int:
        """How many memories were selected."""
        return len(self.core) + len(self.retrieved)

    @property
    def facts(self) -> list[Memory]:
        """The core facts among them, those that always come first."""
        return [*(entry.memory for entry in self.core), *self.bearing]


@stage("ranking")
def ranked_candidates(
    candidates: Candidates, settings: Settings
) -> list[Ranked]:
    """As many of the nearest candidates as could come, best first."""
    most = max(settings.related_memories_n, settings.top_n_memories) + len(
        candidates.core
    )
    limit = most + len(candidates.withheld) + _PLACES_FOR_REFUSED
    index = candidates.index
    nearest = candidates.question.nearest(index, limit)
    return [
        near
        for near in nearest
        if index.memories[near.place].id not in candidates.withheld
    ]


def fitting_memories(
    candidates: Candidates, ranked: Sequence[Ranked], settings: Settings
) -> dict[str, float]:
    """The relevance of the memories that fit by the valves, by id, best first."""
    fit = _best_fitting(
        candidates,
        ranked,
        settings.related_memories_n,
        vector_floor=settings.vector_similarity_threshold,
        relevance_floor=settings.relevance_threshold,
    )
    for (
        near
    ) in ranked:  # told to an admin who asks for it, by ids and figures only
        memory_id = candidates.index.memories[near.place].id
        verdict = "fits" if memory_id in fit else "does not fit"
        log_selection.debug("%s %s: %s", memory_id, verdict, near)
    return fit


def memories_to_judge(
    candidates: Candidates,
    ranked: Sequence[Ranked],
    settings: Settings,
    hidden: LocalOnlyBanks,
) -> dict[str, float]:
    """The relevance of those that a judging model is asked for; it may not see the hidden ones."""
    memories = candidates.index.memories
    return _best_fitting(
        candidates,
        [near for near in ranked if not hidden.holds(memories[near.place])],
        settings.top_n_memories,
        vector_floor=settings.vector_similarity_threshold,
        strictness=_STRICTNESS_TO_JUDGE,
    )


def _best_fitting(
    candidates: Candidates,
    ranked: Sequence[Ranked],
    limit: int,
    **rules: float,
) -> dict[str, float]:
    """The relevance of as many as fit by the rules of ``fitting``.

    Core facts among them take no place from others, nor does what may not stand in a prompt.
    """
    memories = candidates.index.memories
    while True:  # only what would come is looked at
        fit = fitting(ranked, len(candidates.core) + limit, **rules)
        refused = [
            near for near in fit if reason_against(memories[near.place])
        ]
        if not refused:
            return {memories[near.place].id: near.relevance for near in fit}
        ranked = [near for near in ranked if near not in refused]


def eligible_memories(
    candidates: Candidates, fit: Iterable[str]
) -> list[Memory]:
    """The core facts, what fits, and what stood in the chat's block, as far as they may come."""
    facts = [memory.id for memory in (*candidates.core, *candidates.bearing)]
    ids = dict.fromkeys([*facts, *fit, *candidates.question.former])
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
    """What comes within so many tokens: core facts, what stood there before, and what fits now."""
    form = settings.memory_format
    existing: dict[str, BlockEntry] = {}
    for memory in eligible_memories(candidates, fit):
        entry = entry_of(memory, form)
        if entry is not None and not reason_against(memory):
            existing[memory.id] = entry
    core: list[BlockEntry] = []
    room = core_room(form, most_tokens)
    for memory in candidates.core:
        entry = existing.get(memory.id)
        if entry is not None and entry.tokens <= room:
            core.append(existing.pop(memory.id))
            room -= entry.tokens
    bearing = [memory.id for memory in candidates.bearing]
    best = [memory_id for memory_id in fit if memory_id in existing]
    retrieved = placed_entries(
        former=candidates.question.former,
        fitting=best[: settings.related_memories_n] + bearing,
        existing=existing,
        room=retrieved_room(core, form, most_tokens),
    )
    shown = {entry.memory.id for entry in (*core, *retrieved)}
    return Selection(
        candidates=candidates,
        core=core,
        retrieved=retrieved,
        fitting={
            memory_id: score
            for memory_id, score in fit.items()
            if memory_id in shown
        },
        bearing=[
            memory for memory in candidates.bearing if memory.id in shown
        ],
    )
