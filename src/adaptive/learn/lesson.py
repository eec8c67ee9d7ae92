"""One lesson: a turn goes in, changed memories and a line for the user come out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from adaptive.core.errors import EmbeddingError, LeaseLost
from adaptive.core.measures import staged, tally
from adaptive.core.model import Completion, CompletionRequest, Memory, Operation, Outcome, Turn
from adaptive.core.ports import Completer, Sources, Vectors
from adaptive.learn.apply import Held, apply_operations, finishing
from adaptive.learn.archive import UserStore, prune_store
from adaptive.learn.duplicates import reconciled
from adaptive.learn.extraction import extraction, shown_memories
from adaptive.learn.operations import Extraction, journal_of, read_journal
from adaptive.learn.outdated import far_reaching_changes, outdated_by
from adaptive.learn.prefilter import EMBEDDING_PATIENCE_SECONDS, Prefilter
from adaptive.learn.queue import Foreground, TurnWork
from adaptive.learn.report import NOTHING_NEW, joined_lines, report_details, report_line
from adaptive.learn.screening import says_no_more, screened
from adaptive.learn.suggestions import Suggestions
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.privacy.secrets import without_secrets
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.vectors import TurnEmbedder, keep_vectors, normalised, query_vectors
from adaptive.settings.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.settings.merged import Settings

log_lesson = logging.getLogger("adaptive_memory.learn")

_RETRIES = 2
# More deletions in one turn than these are to be asked for first.
_MOST_DELETIONS = 3
_LARGEST_DELETED_SHARE = 0.2
# Where nobody can be asked.
NOT_CONFIRMED = "so many at once are not deleted; say which, one by one"
LIMIT_REACHED = "Nothing saved: the limit of {} model calls for learning in an hour is reached"


@dataclass(frozen=True, slots=True)
class LessonResources:
    """What learning from a user needs: the store, the providers, and what outlives a turn."""

    settings: Settings
    sources: Sources
    indexes: MemoryIndexes
    completer: Completer
    formats: AnswerFormats
    user_store: UserStore
    prefilter: Prefilter
    suggestions: Suggestions
    can_ask: bool = False
    hidden: LocalOnlyBanks = NOTHING_HIDDEN
    # One lesson of the process writes at a time: SQLite has one writer, whom all turns wait for.
    writing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    foreground: Foreground = field(default_factory=Foreground)
    # Vectors of what this lesson has found, by content.
    embedded: dict[str, Vectors] = field(default_factory=dict[str, Vectors])

    @staged("freshness")
    async def index(self) -> MemoryIndex:
        """The memories as they stand now; nobody waits here for their vectors."""
        return await self.indexes.current(self.sources, patience=0)

    async def ask(self, request: CompletionRequest) -> Completion:
        """The model's answer to one question; raises ``ModelError``."""
        deadline = self.settings.llm_timeout_seconds
        completion = await ask(self.completer, request, self.formats, deadline, _RETRIES)
        if log_lesson.isEnabledFor(logging.DEBUG):
            log_lesson.debug("the model's reply: %r", without_secrets(completion.text))
        return completion


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a lesson did: the line for the user, and whether all that was found is done.

    ``details`` tell it one by one where the line does not. ``doubtful`` are memories that go only
    if the user confirms it.
    """

    line: str
    complete: bool = True
    details: tuple[str, ...] = ()
    doubtful: tuple[Memory, ...] = ()


async def learn_turn(room: LessonResources, turn: Turn, now: datetime, work: TurnWork) -> Lesson:
    """Learn a turn: what the model finds is kept in the journal of ``work``, then written.

    A lesson that broke off is begun again with that journal: the model is not asked twice, and what
    is written already is known. ``now`` is the time of the message in the user's time zone.
    """
    if work.journal and (found := read_journal(work.journal)) is not None:
        return await carried_out(room, turn, found, work.held, again=True)
    found = await _found_in(room, turn, now, work)
    if isinstance(found, Lesson):
        return found
    if not await work.keep(journal_of(found)):
        raise LeaseLost("another worker has taken over")
    return await carried_out(room, turn, found, work.held)


async def carried_out(
    room: LessonResources, turn: Turn, found: Extraction, held: Held, *, again: bool = False
) -> Lesson:
    """Write or propose what was found; ``again`` where a part of it may be written already."""
    operations, outcomes, proposed = found.operations, list(found.refused), 0
    if room.settings.save_mode == "suggest":
        wanted = [one for one in operations if one.kind in ("NEW", "UPDATE")]
        sifted = await _sifted(room, wanted, await room.index())
        proposed = await room.suggestions.propose(turn, sifted.operations, room.settings, held)
        outcomes += sifted.refused
        operations = tuple(one for one in operations if one.kind == "DELETE")
    written, doubtful = await write(room, turn, operations, held, again=again)
    status = "asked" if room.can_ask else "kept"
    outcomes += [*written, *(Outcome(status, one.content, NOT_CONFIRMED) for one in doubtful)]
    for outcome in outcomes:
        tally("operations", outcome.status)
    line = report_line(outcomes) if outcomes or not (proposed or again) else ""
    if proposed and not room.can_ask:
        line = joined_lines(line, await room.suggestions.left(turn.user_id))
    complete = all(outcome.status != "failed" for outcome in outcomes)
    return Lesson(line, complete, report_details(outcomes), doubtful if room.can_ask else ())


async def _found_in(
    room: LessonResources, turn: Turn, now: datetime, work: TurnWork
) -> Extraction | Lesson:
    """What is to be written of a turn, or the lesson where that is nothing."""
    settings, sources, index = room.settings, room.sources, await room.index()
    most = settings.max_extractions_per_hour

    async def ask_model(request: CompletionRequest) -> Completion:
        """The model's answer, which is counted."""
        work.calls += 1
        return await room.ask(request)

    def may_ask() -> bool:
        """Whether the user has a model call left in this hour."""
        return not most or work.calls_before + work.calls < most

    # Recall has made the vector, if it was this process's.
    embedder = TurnEmbedder(sources.embedder, sources.user_id, room.indexes.queries)
    asked = await query_vectors(embedder, [turn.words], EMBEDDING_PATIENCE_SECONDS)
    if not await room.prefilter.may_hold_fact(turn.words, sources.embedder, sources.table, asked):
        return Lesson(NOTHING_NEW)
    if not may_ask():
        tally("anomalies", "limit_reached")
        return Lesson(LIMIT_REACHED.format(most))
    shown = await shown_memories(index, turn.words, asked, room.hidden)
    found = await extraction(ask_model, turn, shown, settings, now)
    by_id = {one.id: one for one in shown}
    found = await asyncio.to_thread(screened, found, turn, by_id, settings)
    # What is only proposed has changed nothing yet.
    if settings.check_outdated_memories and settings.save_mode != "suggest":
        vectors = await _embedded(room, found.operations)
        changes = far_reaching_changes(found.operations, index, vectors)
        if changes and may_ask():
            ended = await outdated_by(
                changes, index, vectors, room.hidden, ask_model, turn.words, now
            )
            addressed = {one.id for one in found.operations}
            more = (one for one in ended if one.id not in addressed)
            found = replace(found, operations=(*found.operations, *more))
    return found or Lesson(NOTHING_NEW)


async def write(
    room: LessonResources,
    turn: Turn,
    operations: Sequence[Operation],
    held: Held,
    *,
    again: bool = False,
) -> tuple[list[Outcome], tuple[Memory, ...]]:
    """What became of operations, and the memories whose deletion is to be asked about."""
    made = await _embedded(room, operations)  # before anybody waits for the writing to end
    user, source = room.user_store, turn.source
    await room.foreground.give_way()
    async with room.writing:
        # The chat model's own memory tools may have written while ours was thinking.
        index = await room.index()
        sifted = await _sifted(room, operations, index)
        allowed, to_ask = allowed_deletions(sifted.operations, len(index.memories))
        now = int(time.time())
        if again:
            allowed = [*finishing(operations, index.memories, source), *allowed]
        applied = await apply_operations(allowed, index.memories, user, source, held, now)
        fresh = {one.memory_id for one in applied}
        pruned = await prune_store(user, room.settings, source, fresh, now)
        written = {
            one.memory_id: one.content
            for one in applied
            if one.status in ("saved", "updated", "ended") and one.content
        }
        if not await keep_vectors(room.sources, written, made):
            await room.index()
    # What is known by now was written by this very lesson, if it broke off before.
    known = () if again else sifted.refused
    doubtful = (index.memory(one.id) for one in to_ask)
    return [*applied, *pruned, *known], tuple(one for one in doubtful if one is not None)


def allowed_deletions(
    operations: Sequence[Operation], store_size: int
) -> tuple[Sequence[Operation], Sequence[Operation]]:
    """Operations to carry out now, and deletions to ask about: all, if too many to be meant.

    Whoever has two memories may forget one without being asked.
    """
    deletions = [one for one in operations if one.kind == "DELETE"]
    many = len(deletions) > _MOST_DELETIONS
    much = len(deletions) > 1 and len(deletions) > _LARGEST_DELETED_SHARE * store_size
    others = [one for one in operations if one.kind != "DELETE"]
    return (others, deletions) if many or much else (operations, ())


async def _sifted(
    room: LessonResources, operations: Sequence[Operation], index: MemoryIndex
) -> Extraction:
    """What would be written of operations now; nothing is."""
    vectors = await _embedded(room, operations)
    # In a thread: with a large store it takes tens of milliseconds a fact, and chats go on.
    return await asyncio.to_thread(reconciled, operations, index, vectors, room.settings)


@staged("embedding")
async def _embedded(room: LessonResources, operations: Sequence[Operation]) -> dict[str, Vectors]:
    """The normalised vectors of contents, these among them; without an embedder none."""
    known = room.embedded
    said = dict.fromkeys(one.draft.content for one in operations if one.kind != "DELETE")
    if new := [one for one in said if one not in known]:
        try:
            async with asyncio.timeout(EMBEDDING_PATIENCE_SECONDS):
                made = normalised(await room.sources.embedder.embed(new, query=False))
            known.update(zip(new, made, strict=True))
        except (EmbeddingError, TimeoutError) as error:
            log_lesson.info("new facts are compared by their words only: %s", error)
    return known


async def new_findings(
    room: LessonResources, turn: Turn, findings: Sequence[Operation]
) -> Extraction:
    """Facts found beside the extraction that the user said and the lesson has not found.

    The newest message alone has to bear them out: whoever found them saw the answer, too.
    """
    new = tuple(one for one in findings if one.kind == "NEW")
    alone, source = replace(turn, earlier=()), turn.source
    found = await asyncio.to_thread(screened, Extraction(new, ()), alone, {}, room.settings)
    learned = [
        one.content
        for one in (await room.index()).memories
        # Where the host keeps no provenance, what was written behind the turn may be of it.
        if one.meta.get("message_id") == source.message_id or one.updated_at >= source.said_at
    ]
    left = (one for one in found.operations if not says_no_more(one.draft.content, learned))
    return Extraction(tuple(left), ())
