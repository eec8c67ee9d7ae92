"""One recollection: a question goes in, the memory block for its prompt comes out."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice

from adaptive.core.cache import text_cache
from adaptive.core.errors import AdaptiveMemoryError
from adaptive.core.measures import staged
from adaptive.core.messages import has_words
from adaptive.core.model import Memory, has_ended
from adaptive.core.ports import Sources, Vectors
from adaptive.privacy.injection import injection_reason, passed_mark
from adaptive.privacy.secrets import find_secrets, secret_reason
from adaptive.recall.block import (
    BlockEntry,
    core_room,
    entry_of,
    former_contents,
    rendered_block,
    retrieved_room,
)
from adaptive.recall.chat_block import ChatStates, placed_entries, read_entries
from adaptive.recall.judge import Candidate, RelevanceJudge
from adaptive.recall.question import Complete, Question, completed
from adaptive.search.fusion import GATE, Ranked, asked_for, fitting, rank
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.tokens import continues
from adaptive.search.vectors import query_vectors
from adaptive.settings.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.settings.merged import Settings

log_recall = logging.getLogger("adaptive_memory.recall")

# Memories of this importance and those that say who the user is always come along.
_CORE_IMPORTANCE = 9
# Score of the judging model from which a memory goes in, unless the valve says another.
_LEAST_JUDGED = 0.5
# So many that may not stand in a prompt take no place from others.
_PLACES_FOR_REFUSED = 20
# Of the inlet's time limit; what is left is for ranking, and for the judge if there is one.
_SHARE_FOR_EMBEDDING = 0.5
_SHARE_FOR_NEW_MEMORIES = 0.25
_SHARE_FOR_SEARCHING_AGAIN = 0.15

Admit = Callable[[Sequence[Memory]], Awaitable[list[Memory]]]


@dataclass(frozen=True, slots=True)
class Recollection:
    """The block, the memories in it that fit this message, best first, and what to tell the user.

    ``state`` is what has to be kept for the chat's next turn, ``None`` where it is as it was.
    """

    block: str = ""
    fitting: tuple[Candidate, ...] = ()
    core: tuple[Memory, ...] = ()
    count: int = 0
    note: str = ""
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Library:
    """What recalling needs: the user's memories, what outlives the turn, and perhaps a judge.

    ``admit`` leaves out memories that come into the prompt by another way; those of ``hidden`` are
    none of the chat model's business. ``complete`` may make a question complete.
    """

    sources: Sources
    indexes: MemoryIndexes
    states: ChatStates
    judge: RelevanceJudge | None = None
    admit: Admit | None = None
    hidden: LocalOnlyBanks = NOTHING_HIDDEN
    complete: Complete | None = None


async def recollect(library: Library, question: Question, settings: Settings) -> Recollection:
    """Find the memories that fit a message and lay them out, best within the budget.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        HostError: the memories can't be read.
    """
    user_id, patience = library.sources.user_id, settings.inlet_timeout_seconds
    # Nothing was injected before a chat's first message; said anew, it begins the block anew.
    kept = library.states.read(user_id, "" if question.first else question.chat_id)
    share = patience * _SHARE_FOR_NEW_MEMORIES
    current = library.indexes.current(library.sources, share)
    state, index = await asyncio.gather(kept, current)
    if not index.memories:
        return Recollection()
    question, vectors = await _asked(library, question, patience)
    # What has ended is no fact of today: it is left out as if it were none of the model's business.
    withheld = {
        one.id
        for one in index.memories
        if has_ended(one, question.today) or library.hidden.holds(one)
    }
    # Who the user is, and what is important: most important first, then oldest.
    core = [
        one
        for one in index.memories
        if (one.importance >= _CORE_IMPORTANCE or "identity" in one.tags) and one.id not in withheld
    ]
    core.sort(key=lambda memory: (-memory.importance, memory.created_at, memory.id))
    found = await _fitting(library, index, question, vectors, withheld, len(core), settings)
    return await _laid_out(library, index, core, found, withheld, state, settings)


async def _asked(
    library: Library, question: Question, patience: float
) -> tuple[Question, Vectors | None]:
    """The question in the words to search with, and the vectors of these and of what was before."""
    # Not beside the database: with a model in this process both would take longer than in turn.
    previous = question.previous if continues(question.text) else ""
    texts = (question.text, previous) if has_words(question.text) else ()
    embedder = library.sources.embedder
    vectors = await query_vectors(embedder, texts, patience * _SHARE_FOR_EMBEDDING)
    again = patience * _SHARE_FOR_SEARCHING_AGAIN
    return await completed(question, vectors, embedder, library.complete, again)


@staged("ranking")
async def _fitting(
    library: Library,
    index: MemoryIndex,
    question: Question,
    vectors: Vectors | None,
    withheld: AbstractSet[str],
    spare: int,
    settings: Settings,
) -> list[Candidate]:
    """The memories that fit, best first; ``spare`` places are for core facts among them."""
    if not has_words(question.text):
        return []
    asked = asked_for(question.text, question.previous, vectors, index.dimension)
    most = max(settings.related_memories_n, settings.top_n_memories) + spare
    limit = most + len(withheld) + _PLACES_FOR_REFUSED
    allowed = (
        one
        for one in rank(index.shelf, asked, limit=limit)
        if (memory := index.memories[one.place]).id not in withheld and may_stand(memory)
    )
    ranked = list(islice(allowed, most))

    def chosen(pool: Sequence[Ranked], limit: int, relevance_floor: float) -> list[Candidate]:
        fit = fitting(
            pool,
            spare + limit,
            vector_floor=settings.vector_similarity_threshold,
            relevance_floor=relevance_floor,
        )
        return [Candidate(index.memories[one.place], relevance(one.evidence)) for one in fit]

    least = settings.relevance_threshold
    by_score = chosen(ranked, settings.related_memories_n, least)
    _explain(index, ranked, by_score)
    judge = library.judge
    if judge is None:
        return by_score
    seen = [one for one in ranked if not judge.hidden.holds(index.memories[one.place])]
    kept_back = [one for one in by_score if judge.hidden.holds(one.memory)]
    pool = chosen(seen, settings.top_n_memories, 0.0)
    if not pool:
        return kept_back
    user_id = library.sources.user_id
    try:
        judged = await judge.judged(user_id, question.text, pool, least or _LEAST_JUDGED)
    except AdaptiveMemoryError as error:
        log_recall.warning("memories were not judged: %s", error)
        return by_score
    return [*judged, *kept_back]


def may_stand(memory: Memory) -> bool:
    """Whether a memory may stand in a prompt: none does that reads as an order or holds a secret.

    We write no such memory, but other tools write to the host's table, too, and people edit it.
    """
    # Unchanged since our gate let it pass, so that no other tool has written it.
    passed = memory.meta.get("passed") == passed_mark(memory.content)
    formers = tuple(former for former, _ in former_contents(memory))
    return not _reason_against(memory.id, passed, memory.content, *formers)


@text_cache(4096)
def _reason_against(memory_id: str, passed: bool, *texts: str) -> str:
    for at, text in enumerate(texts):
        reason = injection_reason(text, typed=passed and at == 0)
        if reason := reason or secret_reason(find_secrets(text)):
            log_recall.info("memory %s is left out of prompts: %s", memory_id, reason)
            return reason
    return ""


def relevance(evidence: float) -> float:
    """Evidence on a scale from 0 to 1, on which the gate lies at 0.5."""
    evidence = max(evidence, 0.0)
    return evidence / (evidence + GATE)


def _explain(index: MemoryIndex, ranked: Sequence[Ranked], chosen: Sequence[Candidate]) -> None:
    """Tell an admin who asks for it why memories come or stay away; ids and figures only."""
    fit = {one.memory.id for one in chosen}
    for one in ranked if log_recall.isEnabledFor(logging.DEBUG) else ():
        id_ = index.memories[one.place].id
        parts = (one.score, one.similarity, one.keywords, one.neighbours)
        told = (id_, "fits" if id_ in fit else "does not fit", *parts, one.cosine)
        form = "%s %s: score %.3f = %.3f similarity + %.3f keywords + %.3f neighbours, cosine %.3f"
        log_recall.debug(form, *told)


@staged("block")
async def _laid_out(
    library: Library,
    index: MemoryIndex,
    core: list[Memory],
    found: list[Candidate],
    withheld: AbstractSet[str],
    state: str,
    settings: Settings,
) -> Recollection:
    """The block with the core facts, what stood in it before, and what fits now."""
    form, budget = settings.memory_format, settings.max_injected_tokens
    former = read_entries(state)
    ids = dict.fromkeys([*(one.memory.id for one in found), *former])
    known = [one for id_ in ids if id_ not in withheld and (one := index.memory(id_)) is not None]
    if library.admit is not None:
        admitted = {one.id for one in await library.admit([*core, *known])}
        core = [one for one in core if one.id in admitted]
        known = [one for one in known if one.id in admitted]
    held: list[BlockEntry] = []
    room = core_room(form, budget)
    for memory in core:
        entry = entry_of(memory, form)
        if entry is not None and entry.tokens <= room and may_stand(memory):
            held.append(entry)
            room -= entry.tokens
    core_ids = {one.memory.id for one in held}
    existing = {
        one.id: entry
        for one in known
        if one.id not in core_ids and may_stand(one) and (entry := entry_of(one, form))
    }
    retrieved = [one.memory.id for one in found if one.memory.id in existing]
    retrieved = retrieved[: settings.related_memories_n]
    placed = placed_entries(former, retrieved, existing, retrieved_room(held, form, budget))
    new_state = [one.memory.id for one in placed]
    shown = core_ids | {one.memory.id for one in placed}
    left = len(index.missing())
    return Recollection(
        block=rendered_block(held, placed, form),
        fitting=tuple(one for one in found if one.memory.id in shown),
        core=tuple(one.memory for one in held),
        count=len(held) + len(placed),
        note=f"{left} not embedded yet: found by keywords" if left else "",
        state=json.dumps(new_state) if new_state != former else None,
    )
