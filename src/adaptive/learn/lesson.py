"""One lesson: a turn goes in, changed memories and a line for the user come out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import numpy as np

from adaptive.errors import EmbeddingError, LeaseLost
from adaptive.foreground import GiveWay, no_way_to_give
from adaptive.learn.admission import admitted
from adaptive.learn.apply import Held, apply_operations, audit_entries, finish_broken_off
from adaptive.learn.archive import Storeroom
from adaptive.learn.commanded import asked_alone, commanded
from adaptive.learn.commands import read_commands
from adaptive.learn.deletion import NOT_CONFIRMED, DeletionCause
from adaptive.learn.extract import extraction_request
from adaptive.learn.inquiry import Inquiry, LessonWork
from adaptive.learn.journal import journal_of, read_journal
from adaptive.learn.offered import offered_memories
from adaptive.learn.operations import Extraction
from adaptive.learn.prune import prune_store
from adaptive.learn.reconcile import allowed_deletions, reconciled
from adaptive.learn.report import NOTHING_NEW, report_line
from adaptive.learn.screen import screened
from adaptive.learn.waiting_turn import may_hold_facts
from adaptive.llm.ask import AnswerFormats
from adaptive.measures import count_anomaly, count_operations, staged
from adaptive.model import Memory, Operation, Outcome, Turn
from adaptive.ports import Completer, Vectors
from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.privacy.policy import gate_policy
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.search.vectors import normalised
from adaptive.settings import Settings

Doubtful = tuple[tuple[DeletionCause, tuple[Memory, ...]], ...]

log_lesson = logging.getLogger("adaptive_memory.learn")

# Nobody waits for learning, so the embedding provider may take its time.
_PATIENCE_SECONDS = 10.0
LIMIT_REACHED = "Nothing saved: the limit of {} model calls for learning in an hour is reached"


@dataclass(frozen=True, slots=True)
class Classroom:
    """What learning a turn needs: the user's store, the providers, and what outlives the turn.

    ``writing`` lets one lesson of the process write at a time. Nobody waits for a lesson, but turns
    wait for the database: SQLite has one writer, and who waits for it longest is not served first.
    ``may_ask`` tells whether the user has a model call left, ``can_ask`` whether the user can be
    asked something. The model is not shown the memories of ``hidden``. Between its steps a lesson
    gives way to turns that somebody waits for (``give_way``).
    """

    sources: Sources
    indexes: MemoryIndexes
    completer: Completer
    formats: AnswerFormats
    storeroom: Storeroom
    may_ask: Callable[[], Awaitable[bool]]
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
    doubtful: Doubtful = ()


async def learn_turn(
    room: Classroom,
    turn: Turn,
    settings: Settings,
    now: datetime,
    work: LessonWork,
    *,
    asked_only: bool = False,
) -> Lesson:
    """Learn a turn: what the model finds is kept in the journal of ``work``, then written.

    A lesson that broke off is begun again with that journal: the model is not asked twice, and what
    is written already is known. ``now`` is the time of the message in the user's time zone.
    ``asked_only``: nothing but what the user asks to remember or to forget.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker has the turn by now.
        AdaptiveMemoryError: nothing could be learned; its text is the reason.
    """
    if not may_hold_facts(turn.words):
        return Lesson(NOTHING_NEW)
    commands = read_commands(turn.words)
    found = read_journal(work.journal) if work.journal else None
    again = found is not None
    admit = partial(admitted, commands=commands, words=turn.words, policy=gate_policy(settings))
    if found is None:
        index = await _index(room, settings)
        offered = await offered_memories(room.sources, room.indexes, index, turn.words, room.hidden)
        await room.give_way()
        if await room.may_ask():
            request = extraction_request(turn, offered, settings, now)
            inquiry = Inquiry(room.completer, room.formats, settings, offered, work)
            found = await inquiry.extraction(request, commands)
            await room.give_way()
            if asked_only:
                found = asked_alone(found, commands, offered, settings)
        else:
            found = commanded(commands, offered, settings)
            if not found:
                count_anomaly("limit_reached")
                return Lesson(LIMIT_REACHED.format(settings.max_extractions_per_hour))
        found = await asyncio.to_thread(admit, found)
        if not found:
            return Lesson(NOTHING_NEW)
        if not await work.keep(journal_of(found)):
            raise LeaseLost("another worker has taken over")
        await room.give_way()
    else:  # it may have been kept under other rules
        found = await asyncio.to_thread(admit, found)
    outcomes, doubtful = await write_extraction(room, turn, found, settings, work.held, again=again)
    complete = all(outcome.status != "failed" for outcome in outcomes)
    if room.can_ask:
        outcomes += [Outcome("asked", one.content) for _, asked in doubtful for one in asked]
    else:
        outcomes += [
            Outcome("kept", one.content, NOT_CONFIRMED[cause])
            for cause, kept in doubtful
            for one in kept
        ]
        doubtful = ()
    count_operations([*outcomes, *found.refused])
    return Lesson(report_line([*outcomes, *found.refused]), complete, doubtful)


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is to be written now, and the outcomes of what is not: known or refused."""

    operations: tuple[Operation, ...]
    known: tuple[Outcome, ...]
    refused: tuple[Outcome, ...]


async def sift_operations(
    room: Classroom, turn: Turn, operations: Sequence[Operation], settings: Settings
) -> Sifted:
    """What a lesson would write of operations now; nothing is written.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        HostError: the memories can't be read.
    """
    made = await _vectors(room, operations)
    return await _sifted(turn, operations, await _index(room, settings), made, settings)


async def _sifted(
    turn: Turn,
    operations: Sequence[Operation],
    index: MemoryIndex,
    made: Mapping[str, Vectors],
    settings: Settings,
) -> Sifted:
    shown = [memory.content for memory in _standing(turn.injected, index)]
    # In a thread: with a large store it takes tens of milliseconds a fact, and chats go on.
    accepted, refused = await asyncio.to_thread(
        screened, operations, index.memories, settings, turn.words, shown
    )
    vectors = _rows_for(accepted, made)
    known = await asyncio.to_thread(reconciled, accepted, index, vectors, settings)
    return Sifted(known.operations, known.outcomes, tuple(refused))


async def write_extraction(
    room: Classroom,
    turn: Turn,
    found: Extraction,
    settings: Settings,
    held: Held,
    *,
    again: bool = False,
) -> tuple[list[Outcome], Doubtful]:
    """What became of what was found, in the order in which it is told, and what to ask about.

    ``held`` is asked before each write; ``again`` is a lesson that broke off before.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker has the turn by now.
    """
    made = await _vectors(room, found.operations)
    store, source = room.sources.store, turn.source
    await room.give_way()
    async with room.writing:
        # The chat model's own memory tools may have written while ours was thinking.
        index = await _index(room, settings)
        if again:
            await finish_broken_off(found.operations, index.memories, store, source)
        sifted = await _sifted(turn, found.operations, index, made, settings)
        allowed = allowed_deletions(sifted.operations, len(index.memories))
        applied = await apply_operations(allowed.operations, index.memories, store, source, held)
        now = int(room.clock())
        changed = audit_entries(applied, source, now)
        await room.storeroom.trail.record(turn.user_id, changed, now)
        fresh = {entry.memory_id for entry in changed}
        pruned = await prune_store(room.storeroom, settings, source, fresh, now)
        if applied:  # the next message is to find the new vectors ready
            await _index(room, settings)
    outcomes = [*applied, *pruned, *sifted.known, *sifted.refused]
    if again:  # what is known by now was written by this very lesson, before it broke off
        outcomes = [one for one in outcomes if one.status != "unchanged"]
    causes: dict[DeletionCause, Sequence[str]] = {
        "many": [one.id for one in allowed.to_ask],
        "forget": found.to_confirm,
    }
    standing: Doubtful = tuple((cause, _standing(ids, index)) for cause, ids in causes.items())
    return outcomes, tuple(one for one in standing if one[1])


@staged("embedding")
async def _vectors(room: Classroom, operations: Sequence[Operation]) -> dict[str, Vectors]:
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


def _standing(ids: Sequence[str], index: MemoryIndex) -> tuple[Memory, ...]:
    return tuple(memory for one in ids if (memory := index.memory(one)) is not None)


@staged("freshness")
async def _index(room: Classroom, settings: Settings) -> MemoryIndex:
    """The memories as they stand now; nobody waits here for their vectors."""
    return await room.indexes.current(room.sources, settings.index_cache_bytes, patience=0)
