"""One lesson: a turn goes in, changed memories and a line for the user come out."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

import numpy as np
from pydantic import TypeAdapter, ValidationError

from adaptive.errors import EmbeddingError, LeaseLost
from adaptive.foreground import GiveWay, no_way_to_give
from adaptive.learn.apply import Held, apply_operations, audit_entries, finish_broken_off
from adaptive.learn.archive import Storeroom
from adaptive.learn.extraction import LessonWork, ModelAccess, extraction
from adaptive.learn.operations import Extraction
from adaptive.learn.outdated import far_reaching_changes, outdated_by
from adaptive.learn.prefilter import Prefilter
from adaptive.learn.prune import prune_store
from adaptive.learn.reconcile import Reconciled, allowed_deletions, reconciled
from adaptive.learn.report import NOTHING_NEW, report_line
from adaptive.learn.screening import screened
from adaptive.learn.shown import shown_memories
from adaptive.llm.ask import AnswerFormats
from adaptive.measures import count_anomaly, count_operations, staged
from adaptive.model import Memory, Operation, Outcome, Turn
from adaptive.ports import Completer, Vectors
from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.search.query import query_vectors
from adaptive.search.vectors import normalised
from adaptive.settings import Settings

log_lesson = logging.getLogger("adaptive_memory.learn")

# Nobody waits for learning, so the embedding provider may take its time.
_PATIENCE_SECONDS = 10.0
# Where nobody can be asked.
NOT_CONFIRMED = "so many at once are not deleted; say which, one by one"
LIMIT_REACHED = "Nothing saved: the limit of {} model calls for learning in an hour is reached"


# Takes what a lesson would save; the outcomes are of what is known already.
Propose = Callable[[Sequence[Operation]], Awaitable[tuple[Outcome, ...]]]


@dataclass(frozen=True, slots=True)
class LessonResources:
    """What learning a turn needs: the user's store, the providers, and what outlives the turn.

    ``writing`` lets one lesson of the process write at a time. Nobody waits for a lesson, but turns
    wait for the database: SQLite has one writer, and who waits for it longest is not served first.
    ``may_ask`` tells whether the user has a model call left after so many of this lesson,
    ``can_ask`` whether the user can be asked something. The model is not shown the memories of
    ``hidden``. Between its steps a lesson gives way to turns that somebody waits for
    (``give_way``).
    """

    sources: Sources
    indexes: MemoryIndexes
    completer: Completer
    formats: AnswerFormats
    storeroom: Storeroom
    prefilter: Prefilter
    may_ask: Callable[[int], Awaitable[bool]]
    can_ask: bool = False
    hidden: LocalOnlyBanks = NOTHING_HIDDEN
    writing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    give_way: GiveWay = no_way_to_give
    clock: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a lesson did: the line for the user, and whether all that was found is done.

    ``doubtful`` are memories that go only if the user confirms it.
    """

    line: str
    complete: bool = True
    doubtful: tuple[Memory, ...] = ()


async def learn_turn(
    room: LessonResources,
    turn: Turn,
    settings: Settings,
    now: datetime,
    work: LessonWork,
    *,
    propose: Propose | None = None,
) -> Lesson:
    """Learn a turn: what the model finds is kept in the journal of ``work``, then written.

    A lesson that broke off is begun again with that journal: the model is not asked twice, and what
    is written already is known. ``now`` is the time of the message in the user's time zone.
    ``propose`` takes what would be saved in place of the store; deletions are carried out.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker has the turn by now.
        AdaptiveMemoryError: nothing could be learned; its text is the reason.
    """
    found = read_journal(work.journal) if work.journal else None
    again = found is not None
    if found is None:
        found = await found_in(room, turn, settings, now, work)
        if isinstance(found, Lesson):
            return found
        if not await work.keep(journal_of(found)):
            raise LeaseLost("another worker has taken over")
        await room.give_way()
    told: tuple[Outcome, ...] = ()
    if propose is not None:
        told = await propose([one for one in found.operations if one.kind in ("NEW", "UPDATE")])
        deleted = tuple(one for one in found.operations if one.kind == "DELETE")
        found = replace(found, operations=deleted)
    outcomes, doubtful = await write_extraction(room, turn, found, settings, work.held, again=again)
    outcomes = [*told, *outcomes]
    complete = all(outcome.status != "failed" for outcome in outcomes)
    status = "asked" if room.can_ask else "kept"
    outcomes += [Outcome(status, one.content, NOT_CONFIRMED) for one in doubtful]
    count_operations([*outcomes, *found.refused])
    line = report_line([*outcomes, *found.refused])
    return Lesson(line, complete, doubtful if room.can_ask else ())


async def found_in(
    room: LessonResources, turn: Turn, settings: Settings, now: datetime, work: LessonWork
) -> Extraction | Lesson:
    """What is to be written of a turn, or the lesson where that is nothing.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        AdaptiveMemoryError: nothing could be learned; its text is the reason.
    """
    index = await _index(room, settings)
    vectors = await _vectors_of(room, index, turn.words)
    sources = room.sources
    if not await room.prefilter.may_hold_fact(turn.words, sources.embedder, sources.table, vectors):
        return Lesson(NOTHING_NEW)
    await room.give_way()
    if not await room.may_ask(work.calls):
        count_anomaly("limit_reached")
        return Lesson(LIMIT_REACHED.format(settings.max_extractions_per_hour))
    shown = await shown_memories(index, turn.words, vectors, room.hidden)
    model = ModelAccess(room.completer, room.formats, settings, work)
    found = await extraction(model, turn, shown, now)
    await room.give_way()
    known = {one.id: one for one in shown}
    found = await asyncio.to_thread(screened, found, turn, known, settings)
    changes = far_reaching_changes(found.operations, known)
    # What is only proposed has changed nothing yet.
    checked = settings.check_outdated_memories and settings.save_mode != "suggest"
    if changes and checked and await room.may_ask(work.calls):
        ended = await outdated_by(changes, index, room.hidden, model, turn.words, now)
        addressed = {one.id for one in found.operations}
        ended = tuple(one for one in ended if one.id not in addressed)
        found = replace(found, operations=(*found.operations, *ended))
    return found or Lesson(NOTHING_NEW)


async def write_extraction(
    room: LessonResources,
    turn: Turn,
    found: Extraction,
    settings: Settings,
    held: Held,
    *,
    again: bool = False,
) -> tuple[list[Outcome], tuple[Memory, ...]]:
    """What became of what was found, in the order in which it is told, and what to ask about.

    ``held`` is asked before each write; ``again`` is a lesson that broke off before.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker has the turn by now.
    """
    made = await _content_vectors(room, found.operations)
    store, source = room.sources.store, turn.source
    await room.give_way()
    async with room.writing:
        # The chat model's own memory tools may have written while ours was thinking.
        index = await _index(room, settings)
        if again:
            await finish_broken_off(found.operations, index.memories, store, source)
        known = await _reconciled(found.operations, index, made, settings)
        allowed = allowed_deletions(known.operations, len(index.memories))
        now = int(room.clock())
        applied = await apply_operations(
            allowed.operations, index.memories, room.storeroom, source, held, now
        )
        changed = audit_entries(applied, source, now)
        await room.storeroom.trail.record(turn.user_id, changed, now)
        fresh = {entry.memory_id for entry in changed}
        pruned = await prune_store(room.storeroom, settings, source, fresh, now)
        written = {
            one.memory_id: one.content
            for one in applied
            if one.status in ("saved", "updated", "ended") and one.content
        }
        # The next message is to find the new vectors ready.
        if written and not await room.indexes.wrote(room.sources, written):
            await _index(room, settings)
    outcomes = [*applied, *pruned, *known.outcomes]
    if again:  # what is known by now was written by this very lesson, before it broke off
        outcomes = [one for one in outcomes if one.status != "unchanged"]
    to_ask = (index.memory(one.id) for one in allowed.to_ask)
    return outcomes, tuple(one for one in to_ask if one is not None)


async def sift_operations(
    room: LessonResources, operations: Sequence[Operation], settings: Settings
) -> Reconciled:
    """What a lesson would write of operations now; nothing is written.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        HostError: the memories can't be read.
    """
    made = await _content_vectors(room, operations)
    return await _reconciled(operations, await _index(room, settings), made, settings)


async def _reconciled(
    operations: Sequence[Operation],
    index: MemoryIndex,
    made: Mapping[str, Vectors],
    settings: Settings,
) -> Reconciled:
    vectors = _rows_for(operations, made)
    # In a thread: with a large store it takes tens of milliseconds a fact, and chats go on.
    return await asyncio.to_thread(reconciled, operations, index, vectors, settings)


@staged("embedding")
async def _content_vectors(
    room: LessonResources, operations: Sequence[Operation]
) -> dict[str, Vectors]:
    """Normalised vectors of the proposed contents; none of them without an embedder."""
    said = list(dict.fromkeys(one.draft.content for one in operations if one.kind != "DELETE"))
    if not said:
        return {}
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            made = normalised(await room.sources.embedder.embed(said, query=False))
    except (EmbeddingError, TimeoutError) as error:
        log_lesson.info("new facts are compared by their words only: %s", error)
        return {}
    room.indexes.expect_texts(room.sources.user_id, said, made)
    return dict(zip(said, made, strict=True))


def _rows_for(operations: Sequence[Operation], made: Mapping[str, Vectors]) -> Vectors | None:
    """One row per operation, zeros for what has no vector; ``None`` where nothing has one."""
    if not operations or not made:
        return None
    nothing = np.zeros_like(next(iter(made.values())))
    return np.stack([made.get(one.draft.content, nothing) for one in operations])


async def _vectors_of(room: LessonResources, index: MemoryIndex, words: str) -> Vectors | None:
    """The normalised vectors of a message: recall has made them, if it was this process's."""
    known = room.indexes.known_query(room.sources.user_id, index.embedder, words)
    if known is not None:
        return known[None]
    return await query_vectors(room.sources.embedder, [words], _PATIENCE_SECONDS)


@staged("freshness")
async def _index(room: LessonResources, settings: Settings) -> MemoryIndex:
    """The memories as they stand now; nobody waits here for their vectors."""
    return await room.indexes.current(room.sources, settings.index_cache_bytes, patience=0)


# Made while the module is loaded: later the host may know it by no name (host: utils/plugin.py,
# load_function_module_by_id, since 0.12), by which the types of fields are found.
_EXTRACTION: TypeAdapter[Extraction] = TypeAdapter(Extraction)


def journal_of(extraction: Extraction) -> str:
    """What is to be written, as JSON that is kept before anything of it is."""
    return json.dumps(asdict(extraction), ensure_ascii=False, separators=(",", ":"))


def read_journal(text: str) -> Extraction | None:
    """The extraction that a journal holds, ``None`` where it holds none that can be read."""
    try:
        return _EXTRACTION.validate_json(text)
    except ValidationError:
        return None
