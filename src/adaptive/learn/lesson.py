"""One lesson: a turn goes in, changed memories and a line for the user come out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Protocol

import numpy as np

from adaptive.errors import EmbeddingError, LeaseLost
from adaptive.foreground import GiveWay, no_way_to_give
from adaptive.learn.apply import Held, apply_operations, audit_entries, finish_broken_off
from adaptive.learn.archive import UserStore, prune_store
from adaptive.learn.extraction import extraction
from adaptive.learn.operations import Extraction, journal_of, read_journal
from adaptive.learn.outdated import far_reaching_changes, outdated_by
from adaptive.learn.prefilter import Prefilter
from adaptive.learn.reconcile import Reconciled, allowed_deletions, reconciled
from adaptive.learn.report import NOTHING_NEW, report_line
from adaptive.learn.screening import says_no_more, screened, screened_findings
from adaptive.learn.shown import shown_memories
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.measures import count_anomaly, count_operations, staged
from adaptive.model import Completion, CompletionRequest, Draft, Memory, Operation, Outcome, Turn
from adaptive.ports import Completer, Vectors
from adaptive.privacy.gate import gate_policy, gated_draft
from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.privacy.secrets import without_secrets
from adaptive.retry import RetryPolicy
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
    storeroom: UserStore
    prefilter: Prefilter
    may_ask: Callable[[int], Awaitable[bool]]
    can_ask: bool = False
    hidden: LocalOnlyBanks = NOTHING_HIDDEN
    writing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    give_way: GiveWay = no_way_to_give
    clock: Callable[[], float] = time.time


class LessonWork(Protocol):
    """The work in hand, which may have been begun before (see ``TurnWork``)."""

    journal: str
    calls: int

    async def held(self) -> bool:
        """Whether it is this worker's still."""
        ...

    async def keep(self, journal: str) -> bool:
        """Keep what is to be done before it is begun."""
        ...


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
    again, vectors = found is not None, dict[str, Vectors]()
    if found is None:
        found = await _found_in(room, turn, settings, now, work, vectors)
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
    outcomes, doubtful = await write_extraction(
        room, turn, found, settings, work.held, again=again, vectors=vectors
    )
    outcomes = [*told, *outcomes]
    complete = all(outcome.status != "failed" for outcome in outcomes)
    status = "asked" if room.can_ask else "kept"
    outcomes += [Outcome(status, one.content, NOT_CONFIRMED) for one in doubtful]
    outcomes += found.refused
    count_operations(outcomes)
    return Lesson(report_line(outcomes), complete, doubtful if room.can_ask else ())


async def _found_in(
    room: LessonResources,
    turn: Turn,
    settings: Settings,
    now: datetime,
    work: LessonWork,
    vectors: dict[str, Vectors],
) -> Extraction | Lesson:
    """What is to be written of a turn, or the lesson where that is nothing."""
    index = await _index(room, settings)
    sources = room.sources
    # Recall has made it, if it was this process's.
    known = room.indexes.known_query(sources.user_id, index.embedder, turn.words)
    asked = known[None] if known is not None else None
    if asked is None:
        asked = await query_vectors(sources.embedder, [turn.words], _PATIENCE_SECONDS)
    if not await room.prefilter.may_hold_fact(turn.words, sources.embedder, sources.table, asked):
        return Lesson(NOTHING_NEW)
    await room.give_way()
    if not await room.may_ask(work.calls):
        count_anomaly("limit_reached")
        return Lesson(LIMIT_REACHED.format(settings.max_extractions_per_hour))
    shown = await shown_memories(index, turn.words, asked, room.hidden)
    ask_model = partial(_asked_model, room, settings, work)
    found = await extraction(ask_model, turn, shown, settings, now)
    await room.give_way()
    by_id = {one.id: one for one in shown}
    found = await asyncio.to_thread(screened, found, turn, by_id, settings)
    # What is only proposed has changed nothing yet.
    if settings.check_outdated_memories and settings.save_mode != "suggest":
        await _embed_contents(room, found.operations, vectors)
        changes = far_reaching_changes(found.operations, index, vectors)
        if changes and await room.may_ask(work.calls):
            ended = await outdated_by(
                changes, index, vectors, room.hidden, ask_model, turn.words, now
            )
            addressed = {one.id for one in found.operations}
            ended = tuple(one for one in ended if one.id not in addressed)
            found = replace(found, operations=(*found.operations, *ended))
    return found or Lesson(NOTHING_NEW)


async def _asked_model(
    room: LessonResources, settings: Settings, work: LessonWork, request: CompletionRequest
) -> Completion:
    """The model's answer to one question, which is counted."""
    work.calls += 1
    policy = RetryPolicy(settings.max_retries, settings.retry_delay)
    deadline = settings.llm_timeout_seconds
    completion = await ask(room.completer, request, room.formats, policy, deadline)
    if log_lesson.isEnabledFor(logging.DEBUG):
        log_lesson.debug("the model's reply: %r", without_secrets(completion.text))
    return completion


async def write_extraction(
    room: LessonResources,
    turn: Turn,
    found: Extraction,
    settings: Settings,
    held: Held,
    *,
    again: bool = False,
    vectors: dict[str, Vectors] | None = None,
) -> tuple[list[Outcome], tuple[Memory, ...]]:
    """What became of what was found, in the order in which it is told, and what to ask about.

    ``held`` is asked before each write; ``again`` is a lesson that broke off before; ``vectors``
    are those of contents that are known.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker has the turn by now.
    """
    vectors = await _embed_contents(room, found.operations, {} if vectors is None else vectors)
    store, source = room.sources.store, turn.source
    await room.give_way()
    async with room.writing:
        # The chat model's own memory tools may have written while ours was thinking.
        index = await _index(room, settings)
        if again:
            await finish_broken_off(found.operations, index.memories, store, source)
        known = await sift_operations(room, found.operations, settings, vectors, index)
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
    room: LessonResources,
    operations: Sequence[Operation],
    settings: Settings,
    vectors: dict[str, Vectors] | None = None,
    index: MemoryIndex | None = None,
) -> Reconciled:
    """What a lesson would write of operations now; nothing is written.

    ``vectors`` are those of contents that are known, ``index`` the memories if they are.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        HostError: the memories can't be read.
    """
    vectors = await _embed_contents(room, operations, {} if vectors is None else vectors)
    index = index or await _index(room, settings)
    rows: Vectors | None = None
    if operations and vectors:
        nothing = np.zeros_like(next(iter(vectors.values())))
        rows = np.stack([vectors.get(one.draft.content, nothing) for one in operations])
    # In a thread: with a large store it takes tens of milliseconds a fact, and chats go on.
    return await asyncio.to_thread(reconciled, operations, index, rows, settings)


@staged("embedding")
async def _embed_contents(
    room: LessonResources, operations: Sequence[Operation], known: dict[str, Vectors]
) -> dict[str, Vectors]:
    """``known``, with the normalised vectors of further contents; without an embedder none."""
    said = dict.fromkeys(one.draft.content for one in operations if one.kind != "DELETE")
    if new := [one for one in said if one not in known]:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                made = normalised(await room.sources.embedder.embed(new, query=False))
            known.update(zip(new, made, strict=True))
        except (EmbeddingError, TimeoutError) as error:
            log_lesson.info("new facts are compared by their words only: %s", error)
    if known:
        room.indexes.expect_texts(room.sources.user_id, list(known), np.stack(list(known.values())))
    return known


@staged("freshness")
async def _index(room: LessonResources, settings: Settings) -> MemoryIndex:
    """The memories as they stand now; nobody waits here for their vectors."""
    return await room.indexes.current(room.sources, settings.index_cache_bytes, patience=0)


async def learn_findings(
    room: LessonResources, turn: Turn, findings: Sequence[Operation], settings: Settings, held: Held
) -> str:
    """Write facts found beside the extraction that are new; the line for the user, or none.

    They go the way of all candidates: grounding, gate, reconciling with what is stored by now,
    audit, with the turn's provenance. What says no more than was learned of this very message is
    left. Nothing is told of what was not written.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker is at the user's store by now.
        HostError: the memories can't be read.
    """
    found = await asyncio.to_thread(screened_findings, findings, turn, settings)
    if not found.operations:
        return ""
    source, learned = turn.source, list[str]()
    for one in (await _index(room, settings)).memories:
        # Where the host keeps no provenance, what was written behind the turn may be of it.
        if one.meta.get("message_id") == source.message_id or one.updated_at >= source.said_at:
            learned.append(one.content)
    new = (one for one in found.operations if not says_no_more(one.draft.content, learned))
    found = replace(found, operations=tuple(new))
    outcomes, _ = await write_extraction(room, turn, found, settings, held)
    written = [one for one in outcomes if one.status in ("saved", "updated", "archived")]
    return report_line(written) if written else ""


async def save_confirmed(
    room: LessonResources, turn: Turn, settings: Settings, operation: Operation, still_wanted: Held
) -> tuple[Outcome, ...]:
    """Save what the user has said yes to; ``still_wanted`` is asked right before it is written.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: it is wanted no more.
        HostError: the memories can't be read.
    """
    draft = await asyncio.to_thread(gated_draft, operation.draft, gate_policy(settings))
    if not isinstance(draft, Draft):
        return (Outcome("rejected", "", draft.reason),)
    found = Extraction((replace(operation, draft=draft),), ())
    outcomes, _ = await write_extraction(room, turn, found, settings, still_wanted)
    return tuple(outcomes)
