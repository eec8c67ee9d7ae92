"""One lesson: a turn goes in, changed memories and a line for the user come out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from adaptive.errors import EmbeddingError, ModelError, ReplyUnusable
from adaptive.learn.apply import apply_operations
from adaptive.learn.claims import TurnClaims
from adaptive.learn.commanded import commanded
from adaptive.learn.commands import MemoryCommand, read_commands
from adaptive.learn.extract import extraction_request
from adaptive.learn.operations import Extraction, read_extraction, retry_note
from adaptive.learn.reconcile import allowed_deletions, reconciled
from adaptive.learn.report import NOTHING_NEW, report_line
from adaptive.learn.screen import screened
from adaptive.learn.worth import reason_to_skip
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.model import CompletionRequest, Memory, Operation, Outcome, Turn
from adaptive.ports import Completer, Tables, Vectors
from adaptive.retry import RetryPolicy
from adaptive.search.fusion import rank
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.search.query import asked_for, query_vectors
from adaptive.search.vectors import normalised
from adaptive.settings import Settings

log_lesson = logging.getLogger("adaptive_memory.learn")

# With more memories than this only the nearest are shown to the model.
_OFFERED_MEMORIES = 20
# Nobody waits for learning, so the embedding provider may take its time.
_PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Classroom:
    """What learning a turn needs: the user's store, the providers, and what outlives the turn.

    ``writing`` lets one lesson of the process write at a time. Nobody waits for a lesson, but turns
    wait for the database: SQLite has one writer, and who waits for it longest is not served first.
    """

    sources: Sources
    indexes: MemoryIndexes
    completer: Completer
    tables: Tables
    claims: TurnClaims
    formats: AnswerFormats
    writing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))


async def learn_turn(room: Classroom, turn: Turn, settings: Settings, now: datetime) -> str | None:
    """Learn a turn once and return the line for the user, ``None`` if another answer learned it.

    ``now`` is the time of the message in the user's time zone.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        AdaptiveMemoryError: nothing could be learned; its text is the reason. A repetition of
            the turn will try again.
    """
    user_id, message_id = turn.user_id, turn.source.message_id
    if not await room.claims.claim(room.tables, user_id, message_id, turn.source.said_at):
        return None
    complete = False
    try:
        async with room.claims.lock(user_id):
            line, complete = await _learn(room, turn, settings, now)
    finally:
        if not complete:
            await room.claims.release(room.tables, user_id, message_id)
    return line


async def _learn(
    room: Classroom, turn: Turn, settings: Settings, now: datetime
) -> tuple[str, bool]:
    """The line for the user, and whether every accepted operation was carried out."""
    commands = read_commands(turn.words)
    if not commands and (why := reason_to_skip(turn.words)):
        log_lesson.debug("not asked for facts: %s", why)
        return NOTHING_NEW, True
    offered = await _offered_memories(room, turn, settings)
    extraction = await _extracted(room, turn, commands, offered, settings, now)
    made = await _vectors(room, extraction.operations)
    async with room.writing:
        # The chat model's own memory tools may have written while ours was thinking.
        index = await _index(room, settings)
        accepted, refused = screened(
            extraction.operations, index.memories, settings, words=turn.words
        )
        vectors = _rows_for(accepted, made)
        # In a thread: with a large store it takes tens of milliseconds a fact, and chats go on.
        known = await asyncio.to_thread(reconciled, accepted, index, vectors, settings)
        allowed = allowed_deletions(known.operations, len(index.memories))
        source = room.sources.store
        applied = await apply_operations(allowed.operations, index.memories, source, turn.source)
        if applied:  # the next message is to find the new vectors ready
            await _index(room, settings)
    held_back = [_held_back(one, index) for one in allowed.to_ask]
    outcomes = [*applied, *known.outcomes, *held_back, *refused, *extraction.refused]
    complete = all(outcome.status != "failed" for outcome in outcomes)
    return report_line(outcomes), complete


async def _extracted(
    room: Classroom,
    turn: Turn,
    commands: Sequence[MemoryCommand],
    offered: Sequence[Memory],
    settings: Settings,
    now: datetime,
) -> Extraction:
    """What the model finds; what the user asked for in so many words also without it.

    Raises:
        ModelError: there is no usable answer, and nothing that could be done without one.
    """
    request = extraction_request(turn, offered, settings, now)
    try:
        found = await _asked_twice(room, request, offered, settings)
    except ModelError as error:
        done = commanded(commands, offered, settings)
        if not (done.operations or done.refused):
            raise
        log_lesson.warning("done without the model: %s", error)
        return done
    if found.operations or found.refused:
        return found
    return commanded(commands, offered, settings)


async def _asked_twice(
    room: Classroom, request: CompletionRequest, offered: Sequence[Memory], settings: Settings
) -> Extraction:
    """The answer, and where it could not be used as it was, what a second one adds to it."""
    first: Extraction | None = None
    try:
        first = await _answered(room, request, offered, settings)
        note = retry_note(first)
    except ReplyUnusable as error:
        note = retry_note(error)
    if first is not None and not note:
        return first
    again = replace(request, user=f"{request.user}\n\n{note}")
    try:
        second = await _answered(room, again, offered, settings)
    except ModelError:
        if first is None:
            raise
        return first
    return first.joined(second) if first else second


async def _answered(
    room: Classroom, request: CompletionRequest, offered: Sequence[Memory], settings: Settings
) -> Extraction:
    policy = RetryPolicy(settings.max_retries, settings.retry_delay)
    completion = await ask(
        room.completer, request, room.formats, policy, settings.llm_timeout_seconds
    )
    log_lesson.debug("the model's reply: %r", completion.text)
    return read_extraction(completion, offered, settings)


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


def _held_back(deletion: Operation, index: MemoryIndex) -> Outcome:
    memory = index.memory(deletion.id)
    content = memory.content if memory else ""
    return Outcome("rejected", content, "so many at once are not deleted; say which, one by one")


async def _offered_memories(room: Classroom, turn: Turn, settings: Settings) -> Sequence[Memory]:
    """The memories the model is shown: all of a small store, else those near the user's words."""
    index = await _index(room, settings)
    if len(index.memories) <= _OFFERED_MEMORIES:
        return index.memories
    vectors = await query_vectors(room.sources.embedder, [turn.words], _PATIENCE_SECONDS)
    ranked = rank(index.shelf, asked_for(turn.words, "", vectors, index.dimension))
    return [index.memories[one.place] for one in ranked[:_OFFERED_MEMORIES]]


async def _index(room: Classroom, settings: Settings) -> MemoryIndex:
    """The memories as they stand now; nobody waits here for their vectors."""
    return await room.indexes.current(room.sources, settings.index_cache_bytes, patience=0)
