"""One lesson: a turn goes in, changed memories and a line for the user come out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf
from typing import Literal

from adaptive.core.errors import EmbeddingError, ModelRejected, with_detail
from adaptive.core.foreground import Foreground
from adaptive.core.markdown import clipped_line
from adaptive.core.measures import staged, tally
from adaptive.core.model import (
    Completion,
    CompletionRequest,
    Memory,
    Operation,
    Outcome,
    OutcomeStatus,
    Turn,
)
from adaptive.core.ports import Completer, Sources, Vectors
from adaptive.learn.duplicates import reconciled
from adaptive.learn.extraction import Extraction, extraction, shown_memories
from adaptive.learn.grounding import NOT_NAMED, says_no_more, screened
from adaptive.learn.outdated import far_reaching_changes, outdated_by
from adaptive.learn.prefilter import EMBEDDING_PATIENCE_SECONDS, Prefilter
from adaptive.learn.queue import TurnWork
from adaptive.learn.suggestions import Suggestions
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.memory.audit import AuditEntry
from adaptive.memory.user_memory import UserMemory
from adaptive.memory.writing import Held
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.secrets import excerpt_without_secrets, without_secrets
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.vectors import keep_vectors, normalised, query_vectors
from adaptive.settings.merged import NOTHING_HIDDEN, LocalOnlyBanks, Settings
from adaptive.settings.status_line import NOTHING_NEW, Report

log_lesson = logging.getLogger("adaptive_memory.learn")

_RETRIES = 2
_MOST_DELETIONS = 3  # in one turn; more are to be asked for first
_LARGEST_DELETED_SHARE = 0.2
NOT_CONFIRMED = "so many at once are not deleted; say which, one by one"
# What became of operations, in the order in which it is told.
_STATUS_WORDS: dict[OutcomeStatus, str] = {
    "saved": "Saved",
    "updated": "Updated",
    "deleted": "Deleted",
    "ended": "Also no longer true",
    "failed": "Could not be saved",
    "rejected": "Not saved",
    "asked": "You are asked before deleting",
    "kept": "Not deleted",
    "archived": "Over the limit, so moved to the archive",
    "unchanged": "Already known",
}
_EXPLAINED = ("kept", "rejected", "failed")  # whose words leave open why
_LONGEST_TOLD = 160
_LONGEST_LINE = 600
LIMIT_REACHED = "Nothing saved: the limit of {} model calls for learning in an hour is reached"


@dataclass(frozen=True, slots=True)
class LessonResources:
    """What learning from a user needs: the store, the providers, and what outlives a turn."""

    settings: Settings
    sources: Sources
    indexes: MemoryIndexes
    completer: Completer | None
    formats: AnswerFormats
    memory: UserMemory
    prefilter: Prefilter
    suggestions: Suggestions
    can_ask: bool = False
    language: str = ""  # of the newest message, in which facts are noted unless the admin chose one
    hidden: LocalOnlyBanks = NOTHING_HIDDEN
    foreground: Foreground = field(default_factory=Foreground)
    # Whether the user waits to be told what was done, as after a command.
    user_waits: bool = False
    # Vectors of what this lesson has found, by content.
    embedded: dict[str, Vectors] = field(default_factory=dict[str, Vectors])

    @staged("freshness")
    async def index(self) -> MemoryIndex:
        """The memories as they stand now; nobody waits here for their vectors."""
        return await self.indexes.current(self.sources, patience=0)

    async def ask(self, request: CompletionRequest) -> Completion:
        """The model's answer to one question; raises ``ModelError``."""
        if self.completer is None:
            raise ModelRejected("no model is asked here", 0)
        deadline = self.settings.llm_timeout_seconds
        completion = await ask(self.completer, request, self.formats, deadline, _RETRIES)
        if log_lesson.isEnabledFor(logging.DEBUG):
            log_lesson.debug("the model's reply: %r", without_secrets(completion.text))
        return completion


@dataclass(frozen=True, slots=True)
class Lesson:
    """The outcome of one lesson: what the user is told, and what is left to do.

    ``doubtful`` are memories that go only if the user confirms it. ``has_failures`` where a fact
    could not be written: the turn is to be learned again.
    """

    report: Report
    doubtful: tuple[Memory, ...] = ()
    has_failures: bool = False


async def learn_turn(room: LessonResources, turn: Turn, now: datetime, work: TurnWork) -> Lesson:
    """Learn a turn, said at ``now``: what the model finds is written.

    A lesson that broke off is begun again: the model is shown what was written by then.
    """
    found = await _found_in(room, turn, now, work)
    if isinstance(found, Lesson):
        return found
    return await carried_out(room, turn, found, work.held, partly_written=work.attempts > 0)


async def carried_out(
    room: LessonResources, turn: Turn, found: Extraction, held: Held, *, partly_written: bool
) -> Lesson:
    """Write or propose what was found; ``partly_written`` where some of it may stand already."""
    operations, outcomes, proposed = found.operations, list(found.refused), 0
    if room.settings.save_mode == "suggest":
        wanted = [one for one in operations if one.kind in ("NEW", "UPDATE")]
        sifted = await _sifted(room, wanted, await room.index())
        proposed, left_out = await room.suggestions.propose(turn, sifted.operations, held)
        outcomes += [*sifted.refused, *left_out]
        operations = tuple(one for one in operations if one.kind == "DELETE")
    written, too_many = await write(room, turn, operations, held, partly_written=partly_written)
    unnamed = await _standing(room, found.doubtful)
    status = "asked" if room.can_ask else "kept"
    outcomes += written
    outcomes += [Outcome(status, memory.content, NOT_CONFIRMED) for memory in too_many]
    outcomes += [Outcome(status, memory.content, NOT_NAMED) for memory in unnamed]
    doubtful = (*too_many, *unnamed)
    for outcome in outcomes:
        tally("operations", outcome.status)
    now, where = int(time.time()), (turn.source.chat_id, turn.source.message_id)
    reasons = [one.reason for one in outcomes if one.status == "rejected"]
    refused = [AuditEntry("refused", "", now, None, "", why, *where) for why in reasons]
    if refused:
        await room.memory.trail.record(turn.user_id, refused, now)
    line = report_line(outcomes) if outcomes or not (proposed or partly_written) else ""
    if proposed and not room.can_ask:
        line = joined_lines(line, await room.suggestions.left(turn.user_id))
    # Whoever asked for deletions and can't be asked about them believes them done otherwise.
    must_know = bool(doubtful) and not room.can_ask
    return Lesson(
        report=report_of(outcomes, line, kind="reply" if must_know else "news"),
        doubtful=doubtful if room.can_ask else (),
        has_failures=any(one.status == "failed" for one in outcomes),
    )


async def _standing(room: LessonResources, operations: Sequence[Operation]) -> tuple[Memory, ...]:
    """The memories of operations that are there still."""
    if not operations:
        return ()
    index = await room.index()
    memories = (index.memory(operation.id) for operation in operations)
    return tuple(memory for memory in memories if memory is not None)


async def _found_in(
    room: LessonResources, turn: Turn, now: datetime, work: TurnWork
) -> Extraction | Lesson:
    """What is to be written of a turn, or the lesson where that is nothing."""
    settings, sources, index = room.settings, room.sources, await room.index()
    most = settings.max_extractions_per_hour or inf

    async def ask_model(request: CompletionRequest) -> Completion:
        """The model's answer, which is counted."""
        work.calls += 1
        return await room.ask(request)

    # Recall has made the vector, if it was this process's.
    embedder = room.indexes.turn_embedder(sources)
    asked = await query_vectors(embedder, [turn.words], EMBEDDING_PATIENCE_SECONDS)
    if not await room.prefilter.may_hold_fact(turn.words, sources.embedder, sources.table, asked):
        return Lesson(Report(NOTHING_NEW))
    if work.calls_before >= most:
        tally("anomalies", "limit_reached")
        return Lesson(Report(LIMIT_REACHED.format(most)))
    shown = await shown_memories(index, turn.words, asked, room.hidden)
    language = settings.memory_language.strip() or room.language
    asking = settings.model_copy(update={"memory_language": language})
    proposed = await extraction(ask_model, turn, shown, asking, now)
    found = await asyncio.to_thread(screened, proposed, turn, shown, settings)
    # What is only proposed has changed nothing yet.
    if settings.check_outdated_memories and settings.save_mode != "suggest":
        vectors = await _embedded(room, found.operations)
        updates = {one.draft.content for one in proposed.operations if one.kind == "UPDATE"}
        changes = far_reaching_changes(found.operations, index, vectors, updates)
        if changes and work.calls_before + work.calls < most:
            known = index, vectors, room.hidden
            ended = await outdated_by(changes, *known, ask_model, turn.words, now)
            addressed = {one.id for one in found.operations}
            more = (one for one in ended if one.id not in addressed)
            found = replace(found, operations=(*found.operations, *more))
    return found or Lesson(Report(NOTHING_NEW))


async def write(
    room: LessonResources,
    turn: Turn,
    operations: Sequence[Operation],
    held: Held,
    *,
    partly_written: bool = False,
) -> tuple[list[Outcome], tuple[Memory, ...]]:
    """What became of operations, and the memories whose deletion is to be asked about."""
    made = await _embedded(room, operations)  # before anybody waits for the writing to end
    await room.foreground.give_way()
    async with room.memory.writing() as writer:
        # The chat model's own memory tools may have written while ours was thinking.
        index = await room.index()
        written = {one.content for one in index.memories} if partly_written else set[str]()
        left = [one for one in operations if one.kind != "NEW" or one.draft.content not in written]
        sifted = await _sifted(room, left, index)
        allowed, to_ask = allowed_deletions(sifted.operations, len(index.memories))
        outcomes = await writer.apply(allowed, index.memories, turn.source, held)
    stands = (one for one in outcomes if one.status in ("saved", "updated", "ended"))
    contents = {one.memory_id: one.content for one in stands if one.content}
    if not await keep_vectors(room.sources, contents, made):
        await room.index()
    # What is known by now was written by this very lesson, if it broke off before.
    known = () if partly_written else sifted.refused
    doubtful = (index.memory(one.id) for one in to_ask)
    return [*outcomes, *known], tuple(one for one in doubtful if one is not None)


def allowed_deletions(
    operations: Sequence[Operation], store_size: int
) -> tuple[Sequence[Operation], Sequence[Operation]]:
    """Operations to carry out now, and deletions to ask about: all, if too many to be meant."""
    deletions = [one for one in operations if one.kind == "DELETE"]
    most = min(_MOST_DELETIONS, max(1, _LARGEST_DELETED_SHARE * store_size))
    if len(deletions) <= most:
        return operations, ()
    return [one for one in operations if one.kind != "DELETE"], deletions


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
    new = [one for one in said if one not in known]
    embedder, rests = room.sources.embedder, room.indexes.rests
    try:
        if new:
            # Nobody waits for learning, but a user does for what a command has asked for.
            async with asyncio.timeout(EMBEDDING_PATIENCE_SECONDS):
                made = await rests.ask(embedder, new, query=False, briefly=room.user_waits)
            known.update(zip(new, normalised(made), strict=True))
    except (EmbeddingError, TimeoutError) as error:
        log_lesson.warning("new facts are compared by their words only: %s", with_detail(error))
    return known


async def new_findings(
    room: LessonResources, turn: Turn, findings: Sequence[Operation]
) -> Extraction:
    """Facts found elsewhere that the newest message bears out and the lesson has not found."""
    new = tuple(one for one in findings if one.kind == "NEW")
    alone, source = replace(turn, earlier=()), turn.source
    found = await asyncio.to_thread(screened, Extraction(new, ()), alone, (), room.settings)
    learned = [
        one.content
        for one in (await room.index()).memories
        # Where the host keeps no provenance, what was written behind the turn may be of it.
        if one.meta.get("message_id") == source.message_id or one.updated_at >= source.said_at
    ]
    left = (one for one in found.operations if not says_no_more(one.draft.content, learned))
    return Extraction(tuple(left), ())


def report_of(
    outcomes: Sequence[Outcome], line: str, kind: Literal["news", "reply"] = "news"
) -> Report:
    """What a user is told of these outcomes in a line."""
    stati = {one.status for one in outcomes}
    return Report(
        line=line,
        kind=kind,
        details=report_details(outcomes),
        counts=counts_line(outcomes),
        changes_memory=not stati.isdisjoint(("saved", "updated", "deleted", "ended")),
    )


def report_line(outcomes: Sequence[Outcome]) -> str:
    """The status line: what was written, then what was not and why."""
    parts: list[str] = []
    for words, texts in _by_status(outcomes):
        several = len(texts) > 1
        parts.append(f"{words} ({len(texts)}): {texts[0]} …" if several else f"{words}: {texts[0]}")
    return clipped_line(" · ".join(parts), _LONGEST_LINE) or NOTHING_NEW


def counts_line(outcomes: Sequence[Outcome]) -> str:
    """The status line without anybody's words: how many facts each thing happened to."""
    counts = {words: len(texts) for words, texts in _by_status(outcomes)}
    told = (f"{words}: {n} {'fact' if n == 1 else 'facts'}" for words, n in counts.items())
    return " · ".join(told)


def report_details(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """What became of each fact, one by one; empty where the line names them all."""
    told = [f"{words}: {text}" for words, texts in _by_status(outcomes) for text in texts]
    if " · ".join(told) == report_line(outcomes):
        return ()
    return tuple(map(escaped_entry, told))


def failure_line(reason: str) -> str:
    """The status line of a turn that could not be learned."""
    return clipped_line(f"Nothing saved: {reason}", _LONGEST_LINE)


def joined_lines(*lines: str) -> str:
    """Lines as one; that there is nothing new is told only where there is nothing else."""
    told = [line for line in lines if line]
    return " · ".join([line for line in told if line != NOTHING_NEW] or told[:1])


def _by_status(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[str]]]:
    for status, words in _STATUS_WORDS.items():
        if texts := [_told(one) for one in outcomes if one.status == status]:
            yield words, texts


def _told(outcome: Outcome) -> str:
    # A row that another tool has written may hold a secret when it is deleted or archived.
    told = outcome.before if outcome.status == "ended" else outcome.content
    text = clipped_line(excerpt_without_secrets(told, 2 * _LONGEST_TOLD), _LONGEST_TOLD)
    if not outcome.reason or outcome.status not in _EXPLAINED:
        return text
    reason = clipped_line(outcome.reason, _LONGEST_TOLD)
    return f"{text} ({reason})" if text else reason
