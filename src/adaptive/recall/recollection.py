"""One recollection: a question goes in, the memory block for its prompt comes out."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from adaptive.core.cache import text_cache
from adaptive.core.errors import AdaptiveMemoryError, TablesUnavailable, with_detail
from adaptive.core.measures import staged
from adaptive.core.messages import has_words
from adaptive.core.model import CORE_IMPORTANCE, Memory, has_ended
from adaptive.core.ports import Sources, Vectors
from adaptive.core.shapes import listing
from adaptive.memory.tables import ChatTable
from adaptive.privacy.injection import injection_reason, passed_mark
from adaptive.privacy.secrets import find_secrets, secret_reason
from adaptive.recall.block import (
    BlockEntry,
    core_room,
    entry_of,
    former_contents,
    placed_entries,
    rendered_block,
    retrieved_room,
)
from adaptive.recall.judge import Candidate, RelevanceJudge
from adaptive.recall.question import Complete, Question
from adaptive.search.calibration import ADVICE_END, STANDING_END, likely, speaks_of_self
from adaptive.search.fusion import DEFAULT_WEIGHTS, Ranked, Weights, fitting, rank, ranking_query
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.tokens import continues, tokens
from adaptive.search.vectors import query_vectors
from adaptive.settings.merged import NOTHING_HIDDEN, LocalOnlyBanks, Settings

log_recall = logging.getLogger("adaptive_memory.recall")

# The judging model is shown more than would go in without it.
_STRICTNESS_TO_JUDGE = 0.3
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

    ``earlier`` only stand there because they stood there before. ``state`` is to be kept for the
    chat's next turn, ``None`` where it is as it was.
    """

    block: str = ""
    fitting: tuple[Candidate, ...] = ()
    core: tuple[Memory, ...] = ()
    earlier: tuple[Memory, ...] = ()
    count: int = 0
    note: str = ""
    gathered: Gathered | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Library:
    """What recalling needs: the user's memories, what outlives the turn, and perhaps a judge.

    ``admit`` leaves out memories that come into the prompt by another way; those of ``hidden`` are
    none of the chat model's business. ``complete`` may make a question complete.
    """

    sources: Sources
    indexes: MemoryIndexes
    chats: ChatTable
    judge: RelevanceJudge | None = None
    admit: Admit | None = None
    hidden: LocalOnlyBanks = NOTHING_HIDDEN
    complete: Complete | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a question's memories are chosen from.

    ``withheld`` are the ids of memories that may not come now, ``core`` are those that always do,
    ``bearing`` the other core facts, where this message is about the user or asks for advice, and
    ``former`` the ids of what the chat's block held.
    """

    index: MemoryIndex
    question: Question
    vectors: Vectors | None
    withheld: AbstractSet[str]
    core: Sequence[Memory]
    bearing: Sequence[Memory]
    former: Sequence[str]

    def ranked(self, limit: int, weights: Weights = DEFAULT_WEIGHTS) -> list[Ranked]:
        """The nearest memories, best first, whether they may come or not; none without words."""
        text, previous = self.question.text, self.question.previous
        query = ranking_query(text, previous, self.vectors, self.index.dimension)
        return rank(self.index.ranking, query, limit, weights) if has_words(text) else []


async def recollect(library: Library, question: Question, settings: Settings) -> Recollection:
    """Find the memories that fit a message and lay them out, best within the budget.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        HostError: the memories can't be read.
    """
    gathered = await gather(library, question, settings)
    if gathered is None:
        return Recollection()
    found = await _fitting(library, gathered, settings)
    return await _laid_out(library, gathered, found, settings)


async def gather(library: Library, question: Question, settings: Settings) -> Gathered | None:
    """What a question's memories are chosen from; ``None`` where nothing is remembered."""
    user_id, patience = library.sources.user_id, settings.inlet_timeout_seconds
    # Nothing was injected before a chat's first message; said anew, it begins the block anew.
    former = former_entries(library.chats, user_id, "" if question.first else question.chat_id)
    current = library.indexes.current(library.sources, patience * _SHARE_FOR_NEW_MEMORIES)
    former, index = await asyncio.gather(former, current)
    if not index.memories:
        return None
    question, vectors = await _asked(library, question, patience)
    # What has ended is no fact of today: it is left out as if it were none of the model's business.
    withheld = {one.id for one in index.ending if has_ended(one, question.today)}
    if library.hidden.names:
        withheld |= {one.id for one in index.memories if library.hidden.holds(one)}
    if question.to_forget:
        # In a thread: a large store takes a moment.
        named = (index.memories, question.to_forget)
        withheld |= await asyncio.to_thread(memories_sharing_words, *named)
    facts = [one for one in index.core if one.id not in withheld]
    examples = library.indexes.nulls.examples_for(index.embedder, index.dimension)
    core, bearing = facts, list[Memory]()
    if facts and examples is not None and index.nulls is not None:
        places = [index.places[one.id] for one in facts]
        advice, standing, others = np.split(examples, [ADVICE_END, STANDING_END])
        # What has no vector yet can't be judged, nor can a message without one.
        stands = likely(index.ranking.vectors[places], standing, others) | ~index.embedded[places]
        judged = list(zip(facts, stands, strict=True))
        core = [one for one, may in judged if may or one.importance >= CORE_IMPORTANCE]
        asks = has_words(question.text)
        if asks and vectors is not None and vectors.shape[1] == index.dimension:
            advised = likely(vectors[:1], advice, index.nulls)
            asks = speaks_of_self(question.text) or bool(advised[0])
        if asks:
            bearing = [one for one in facts if one not in core]
    return Gathered(index, question, vectors, withheld, core, bearing, former)


def memories_sharing_words(memories: Sequence[Memory], words: str) -> set[str]:
    """Ids of the memories that share a telling word with these."""
    names = set(tokens(words))
    return {one.id for one in memories if not names.isdisjoint(tokens(one.content))}


async def former_entries(chats: ChatTable, user_id: str, chat_id: str) -> list[str]:
    """The ids of what stood in a chat's block; none where that is not known."""
    try:
        state = await chats.read(user_id, chat_id) if chat_id else ""
        return [id_ for id_ in listing(json.loads(state or "[]")) if isinstance(id_, str)]
    except (TablesUnavailable, ValueError, RecursionError) as error:
        log_recall.warning("a chat's block is made anew: %s", with_detail(error))
        return []


async def _asked(
    library: Library, question: Question, patience: float
) -> tuple[Question, Vectors | None]:
    """The question in the words to search with, and the vectors of these and of what was before."""
    # Not beside the database: with a model in this process both would take longer than in turn.
    previous = question.previous if continues(question.text) else ""
    texts = (question.text, previous) if has_words(question.text) else ()
    embedder = library.sources.embedder
    vectors = await query_vectors(embedder, texts, patience * _SHARE_FOR_EMBEDDING)
    text = await library.complete() if library.complete is not None else ""
    if text and text != question.text:
        question, again = replace(question, text=text), patience * _SHARE_FOR_SEARCHING_AGAIN
        fresh = None if vectors is None else await query_vectors(embedder, [text], again)
        if vectors is not None and fresh is not None:
            vectors = np.concatenate([fresh, vectors[1:]])
    return question, vectors


@staged("ranking")
async def _fitting(library: Library, gathered: Gathered, settings: Settings) -> list[Candidate]:
    """The memories that fit, best first; core facts among them take no place from others."""
    index, withheld, spare = gathered.index, gathered.withheld, len(gathered.core)
    most = max(settings.related_memories_n, settings.top_n_memories) + spare
    limit = most + len(withheld) + _PLACES_FOR_REFUSED
    ranked = [one for one in gathered.ranked(limit) if index.memories[one.place].id not in withheld]

    def chosen(pool: Sequence[Ranked], limit: int, **rules: float) -> list[Candidate]:
        floor = settings.vector_similarity_threshold
        while True:  # only what would come is looked at; others take the place of what may not
            fit = fitting(pool, spare + limit, vector_floor=floor, **rules)
            refused = [one for one in fit if reason_against(index.memories[one.place])]
            if not refused:
                return [Candidate(index.memories[one.place], one.relevance) for one in fit]
            pool = [one for one in pool if one not in refused]

    least = settings.relevance_threshold
    by_score = chosen(ranked, settings.related_memories_n, relevance_floor=least)
    fit = {one.memory.id for one in by_score}
    for one in ranked:  # told to an admin who asks for it, by ids and figures only
        id_ = index.memories[one.place].id
        log_recall.debug("%s %s: %s", id_, "fits" if id_ in fit else "does not fit", one)
    judge = library.judge
    if judge is None:
        return by_score
    seen = [one for one in ranked if not judge.hidden.holds(index.memories[one.place])]
    kept_back = [one for one in by_score if judge.hidden.holds(one.memory)]
    pool = chosen(seen, settings.top_n_memories, strictness=_STRICTNESS_TO_JUDGE)
    asked = (library.sources.user_id, gathered.question.text, pool, least or _LEAST_JUDGED)
    try:
        judged = await judge.judged(*asked) if pool else []
    except AdaptiveMemoryError as error:
        log_recall.warning("memories were not judged: %s", with_detail(error))
        return by_score
    return [*judged, *kept_back]


def reason_against(memory: Memory) -> str:
    """Why a memory may not stand in a prompt: it reads as an order, or holds a secret.

    We write no such memory, but other tools write to the host's table, too, and people edit it.
    """
    # Unchanged since our gate let it pass, or typed in the settings (host: routers/memories.py,
    # add_memory, since 0.10), so that no tool has written it.
    typed = memory.meta.get("passed") == passed_mark(memory.content)
    typed = typed or memory.meta.get("created_by") == "manual"
    formers = (former for former, _ in former_contents(memory))
    return _reason_against(memory.id, typed, memory.content, *formers)


@text_cache(4096)
def _reason_against(memory_id: str, typed: bool, *texts: str) -> str:
    for at, text in enumerate(texts):
        reason = injection_reason(text, typed=typed and at == 0)
        if reason := reason or secret_reason(find_secrets(text)):
            log_recall.info("memory %s is left out of prompts: %s", memory_id, reason)
            return reason
    return ""


@staged("block")
async def _laid_out(
    library: Library, gathered: Gathered, found: Sequence[Candidate], settings: Settings
) -> Recollection:
    """The block with the core facts, what stood in it before, and what fits now."""
    index, core, former = gathered.index, gathered.core, gathered.former
    form, budget = settings.memory_format, settings.max_injected_tokens
    bearing = [one.id for one in gathered.bearing]
    ids = dict.fromkeys([*(one.memory.id for one in found), *bearing, *former])
    allowed = (index.memory(id_) for id_ in ids if id_ not in gathered.withheld)
    known = [one for one in allowed if one is not None]
    if library.admit is not None:
        admitted = {one.id for one in await library.admit([*core, *known])}
        core = [one for one in core if one.id in admitted]
        known = [one for one in known if one.id in admitted]
    held: list[BlockEntry] = []
    room = core_room(form, budget)
    for memory in core:
        entry = entry_of(memory, form)
        if entry is not None and entry.tokens <= room and not reason_against(memory):
            held.append(entry)
            room -= entry.tokens
    core_ids = {one.memory.id for one in held}
    existing = {
        one.id: entry
        for one in known
        if one.id not in core_ids and (entry := entry_of(one, form)) and not reason_against(one)
    }
    retrieved = [one.memory.id for one in found if one.memory.id in existing]
    retrieved = [*dict.fromkeys([*retrieved[: settings.related_memories_n], *bearing])]
    placed = placed_entries(former, retrieved, existing, retrieved_room(held, form, budget))
    new_state = [one.memory.id for one in placed]
    shown = core_ids | {one.memory.id for one in placed}
    bore = [one for one in gathered.bearing if one.id in shown]
    found_ids = {*bearing, *(one.memory.id for one in found)}
    left = len(index.missing())
    tell = library.indexes.news(library.sources.user_id, left)
    return Recollection(
        block=rendered_block(held, placed, form),
        fitting=tuple(one for one in found if one.memory.id in shown),
        core=(*(one.memory for one in held), *bore),
        earlier=tuple(one.memory for one in placed if one.memory.id not in found_ids),
        count=len(held) + len(placed),
        note=f"{left} not embedded yet: found by keywords" if tell else "",
        gathered=gathered,
        state=json.dumps(new_state) if new_state != former else None,
    )
