"""One recollection: a message goes in, the memory block for its prompt comes out."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial

from adaptive.measures import staged, timed
from adaptive.messages import has_words
from adaptive.model import Candidate, Memory, has_ended
from adaptive.ports import Vectors
from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.recall.chat_states import ChatStates
from adaptive.recall.continuity import ChatEntries, EntryRoom, place_entries
from adaptive.recall.entry_verdicts import EntryScreen, EntryVerdicts
from adaptive.recall.gather import core_memories, explained, fitting_memories
from adaptive.recall.judge import RelevanceJudge
from adaptive.recall.layout import (
    BlockBudget,
    BlockEntries,
    EntryLayout,
    core_within,
    entry_tokens,
    render_entries,
    retrieved_room,
)
from adaptive.recall.question import Question
from adaptive.recall.rewriting import Rewriter, rewritten
from adaptive.search.fusion import Ranked, rank
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.search.query import asked_for, query_vectors
from adaptive.search.tokens import continues
from adaptive.settings import Settings
from adaptive.table_ports import ChatTable

log_recall = logging.getLogger("adaptive_memory.recall")

# The budget in tokens decides how many entries a chat's block may hold.
_MOST_ENTRIES = 1000
# A block that is built anew takes along what fills a quarter of it, so that many turns can append.
_KEPT_ON_REBUILD = 0.25
# Score of the judging model from which a memory goes in, unless the valve says another.
_LEAST_JUDGED = 0.5
# So many that may not stand in a prompt take no place from others.
_PLACES_FOR_REFUSED = 20
_SHARE_FOR_EMBEDDING = 0.5
_SHARE_FOR_NEW_MEMORIES = 0.25

Admit = Callable[[Sequence[Memory]], Awaitable[list[Memory]]]


@dataclass(frozen=True, slots=True)
class Recollection:
    """The block, the memories in it that fit this message, best first, and what to tell the user.

    ``state`` is what has to be kept for the chat's next turn, ``None`` where it is as it was.
    ``memories`` are all of the user's, the same object while they are the same.
    """

    block: str = ""
    fitting: tuple[Candidate, ...] = ()
    core: tuple[Memory, ...] = ()
    count: int = 0
    note: str = ""
    state: str | None = None
    memories: tuple[Memory, ...] = ()

    @property
    def memory_ids(self) -> list[str]:
        """Ids of the core facts and of the memories that fit."""
        return [one.id for one in (*self.core, *(fit.memory for fit in self.fitting))]


@dataclass(frozen=True, slots=True)
class Library:
    """What recalling needs: the user's memories, what outlives the turn, and perhaps a judge.

    ``admit`` leaves out memories that come into the prompt by another way; those of ``hidden`` are
    none of the chat model's business. ``rewriter`` may make a question complete.
    """

    sources: Sources
    indexes: MemoryIndexes
    chats: ChatTable
    states: ChatStates
    judge: RelevanceJudge | None = None
    admit: Admit | None = None
    hidden: LocalOnlyBanks = NOTHING_HIDDEN
    verdicts: EntryVerdicts = field(default_factory=EntryVerdicts)
    rewriter: Rewriter | None = None


async def recollect(library: Library, question: Question, settings: Settings) -> Recollection:
    """Find the memories that fit a message and lay them out, best within the budget.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        HostError: the memories can't be read.
    """
    user_id = library.sources.user_id
    # What is left of the time limit is for ranking, and for the judge if there is one.
    patience = settings.inlet_timeout_seconds
    # Nothing was injected before a chat's first message; said anew, it begins the block anew.
    chat_id = "" if question.first else question.chat_id
    kept = library.states.read(library.chats, user_id, chat_id)
    share = patience * _SHARE_FOR_NEW_MEMORIES
    current = library.indexes.current(library.sources, settings.index_cache_bytes, share)
    state, index = await asyncio.gather(kept, timed("freshness", current))
    if not index.memories:
        return Recollection()
    # Not beside the database: with a model in this process both would take longer than in turn.
    previous = question.previous if continues(question.text) else ""
    texts = (question.text, previous) if has_words(question.text) else ()
    embedder = library.sources.embedder
    vectors = await query_vectors(embedder, texts, patience * _SHARE_FOR_EMBEDDING)
    if vectors is not None:
        library.indexes.expect(user_id, vectors.shape[1])
        library.indexes.remember_query(user_id, index.embedder, question.text, vectors[0])
    question, vectors = await rewritten(question, vectors, embedder, library.rewriter)
    screen = EntryScreen(library.verdicts, user_id)
    # What has ended is no fact of today: it is left out as if it were none of the model's business.
    withheld = {one.id for one in index.memories if has_ended(one, question.today)}
    if library.hidden.names:
        withheld |= {one.id for one in index.memories if library.hidden.holds(one)}
    core = [one for one in core_memories(index, settings.core_importance) if one.id not in withheld]
    fitting = await _fitting(
        library, index, question, vectors, screen, withheld, len(core), settings
    )
    left = 0 if index.complete else len(index.missing())
    note = f"{left} not embedded yet: found by keywords" if left else ""
    return await _laid_out(library, index, core, fitting, screen, withheld, state, note, settings)


@staged("ranking")
async def _fitting(
    library: Library,
    index: MemoryIndex,
    question: Question,
    vectors: Vectors | None,
    screen: EntryScreen,
    withheld: AbstractSet[str],
    spare: int,
    settings: Settings,
) -> list[Candidate]:
    """The memories that fit, best first; ``spare`` places are for core facts among them."""
    if not has_words(question.text):
        return []
    asked = asked_for(question.text, question.previous, vectors, index.dimension)
    most = max(settings.related_memories_n, settings.top_n_memories) + spare
    ranked = [
        one
        for one in rank(index.shelf, asked, limit=most + len(withheld) + _PLACES_FOR_REFUSED)
        if index.memories[one.place].id not in withheld
    ]

    def fits(left: Sequence[Ranked], *, judged: bool = False) -> list[Candidate]:
        return fitting_memories(index.memories, left[:most], settings, judged=judged, spare=spare)

    by_score = _allowed(fits, index, ranked, screen)
    _explain(index, ranked[:most], by_score)
    if library.judge is None:
        return by_score
    asked_about = [
        one for one in ranked if not library.judge.hidden.holds(index.memories[one.place])
    ]
    pool = _allowed(partial(fits, judged=True), index, asked_about, screen)
    kept_back = [one for one in by_score if library.judge.hidden.holds(one.memory)]
    if not pool:
        return kept_back
    user_id = library.sources.user_id
    judgement = await library.judge.judged(user_id, question.text, pool)
    if judgement.kind == "failed":
        log_recall.warning("memories were not judged: %s", judgement.reason)
        return by_score
    least = settings.relevance_threshold or _LEAST_JUDGED
    chosen = [
        one
        for one in judgement.candidates
        if one.memory.id not in judgement.scored or one.score >= least
    ]
    return [*chosen, *kept_back]


def _explain(index: MemoryIndex, ranked: Sequence[Ranked], chosen: Sequence[Candidate]) -> None:
    """Tell an admin who asks for it why memories come or stay away; ids and figures only."""
    if not log_recall.isEnabledFor(logging.DEBUG):
        return
    fit = {one.memory.id for one in chosen}
    for one in ranked:
        memory_id = index.memories[one.place].id
        log_recall.debug("%s", explained(one, memory_id, fits=memory_id in fit))


def _allowed(
    fits: Callable[[Sequence[Ranked]], list[Candidate]],
    index: MemoryIndex,
    ranked: Sequence[Ranked],
    screen: EntryScreen,
) -> list[Candidate]:
    """What fits and may stand in a prompt; what may not is looked at as if it did not exist."""
    while True:
        chosen = fits(ranked)
        refused = {one.memory.id for one in chosen if not screen.allows(one.memory)}
        if not refused:
            return chosen
        ranked = [one for one in ranked if index.memories[one.place].id not in refused]


def _allowed_core(
    core: list[Memory], layout: EntryLayout, budget: BlockBudget, screen: EntryScreen
) -> tuple[Memory, ...]:
    """The core facts that fit into their part and may stand in a prompt."""
    while True:
        held = core_within(core, layout, budget)
        refused = {memory.id for memory in held if not screen.allows(memory)}
        if not refused:
            return held
        core = [memory for memory in core if memory.id not in refused]


@staged("block")
async def _laid_out(
    library: Library,
    index: MemoryIndex,
    core: list[Memory],
    fitting: list[Candidate],
    screen: EntryScreen,
    withheld: AbstractSet[str],
    state: str,
    note: str,
    settings: Settings,
) -> Recollection:
    layout = EntryLayout(settings.memory_format, settings.memory_details)
    budget = BlockBudget(settings.max_injected_tokens, settings.max_core_tokens)
    former = _entries_of(state)
    ids = [*(one.memory.id for one in fitting), *(one.id for one in former.entries)]
    known = {one: found for one in ids if (found := index.memory(one)) is not None}
    existing = {
        one: memory
        for one, memory in known.items()
        if one not in withheld and screen.allows(memory)
    }
    if library.admit is not None:
        admitted = {memory.id for memory in await library.admit([*core, *existing.values()])}
        core = [memory for memory in core if memory.id in admitted]
        existing = {one: memory for one, memory in existing.items() if one in admitted}
    held = _allowed_core(core, layout, budget, screen)
    for memory in held:
        existing.pop(memory.id, None)
    retrieved = [one.memory.id for one in fitting if one.memory.id in existing]
    costs: dict[str, int] = {}

    def cost(memory: Memory) -> int:
        if memory.id not in costs:
            costs[memory.id] = entry_tokens(memory, layout)
        return costs[memory.id]

    room = EntryRoom(retrieved_room(held, layout, budget), _MOST_ENTRIES, _KEPT_ON_REBUILD)
    placement = place_entries(
        former,
        retrieved[: settings.related_memories_n],
        existing,
        room,
        cost,
    )
    placed = {memory.id for memory in (*held, *placement.memories)}
    new_state = json.dumps(placement.state.as_list(), separators=(",", ":"))
    return Recollection(
        block=render_entries(BlockEntries(held, placement.memories), layout),
        fitting=tuple(one for one in fitting if one.memory.id in placed),
        core=held,
        count=len(held) + len(placement.memories),
        note=note,
        state=new_state if placement.state != former else None,
        memories=index.memories,
    )


def _entries_of(state: str) -> ChatEntries:
    try:
        return ChatEntries.of_list(json.loads(state)) if state else ChatEntries()
    except (ValueError, RecursionError):
        return ChatEntries()
