"""One lesson: a turn goes in, changed memories and a line for the user come out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from adaptive.learn.apply import apply_operations
from adaptive.learn.claims import TurnClaims
from adaptive.learn.extract import extraction_request, read_extraction
from adaptive.learn.report import report_line
from adaptive.learn.screen import screened
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.model import Memory, Turn
from adaptive.ports import Completer, Tables
from adaptive.retry import RetryPolicy
from adaptive.search.fusion import rank
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.search.query import asked_for, query_vectors
from adaptive.settings import Settings

log_lesson = logging.getLogger("adaptive_memory.learn")

# With more memories than this only the nearest are shown to the model.
_OFFERED_MEMORIES = 20
# Nobody waits for learning, so the embedding provider may take its time.
_PATIENCE_SECONDS = 30.0


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
    offered = await _offered_memories(room, turn, settings)
    request = extraction_request(turn, offered, settings, now)
    policy = RetryPolicy(settings.max_retries, settings.retry_delay)
    completion = await ask(
        room.completer, request, room.formats, policy, settings.llm_timeout_seconds
    )
    log_lesson.debug("the model's reply: %r", completion.text)
    extraction = read_extraction(completion, offered, settings)
    async with room.writing:
        # The chat model's own memory tools may have written while ours was thinking.
        memories = (await _index(room, settings)).memories
        accepted, refused = screened(extraction.operations, memories, settings)
        applied = await apply_operations(accepted, memories, room.sources.store, turn.source)
        if applied:  # the next message is to find the new vectors ready
            await _index(room, settings)
    outcomes = [*applied, *refused, *extraction.refused]
    complete = all(outcome.status != "failed" for outcome in outcomes)
    return report_line(outcomes), complete


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
