"""One lesson: a turn goes in, changed memories and a line for the user come out."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import datetime
from math import inf

from adaptive.core import (
    Completer,
    Completion,
    CompletionRequest,
    EmbeddingError,
    Foreground,
    GaveWay,
    Memory,
    ModelRejected,
    Proposal,
    ProposalStatus,
    Provenance,
    Sources,
    Turn,
    Vectors,
    frozen,
    log,
    log_failure,
    phrase,
    staged,
    tally,
)
from adaptive.learn.addressing import placed
from adaptive.learn.duplicates import reconciled
from adaptive.learn.extraction import (
    extraction,
    shown_memories,
    typed_lines,
)
from adaptive.learn.grounding import screened
from adaptive.learn.judges import (
    EMBEDDING_PATIENCE_SECONDS,
    judged_facts,
    may_hold_fact,
)
from adaptive.learn.outdated import (
    far_reaching_changes,
    with_consequences,
    without_changes_of_later,
)
from adaptive.learn.proposals import ExtractionSource
from adaptive.learn.queue import TurnWork, past_lessons
from adaptive.learn.suggestions import (
    Suggestions,
    joined_lines,
    report_line,
    report_of,
)
from adaptive.learn.support import says_no_more
from adaptive.learn.turns import marked_turn
from adaptive.llm.ask import AnswerFormats, AnswerRead, ask
from adaptive.memory import AuditEntry, Held, UserMemory
from adaptive.privacy import without_secrets
from adaptive.search import (
    MemoryIndex,
    MemoryIndexes,
    keep_vectors,
    normalised,
    query_vectors,
)
from adaptive.settings import NOTHING_HIDDEN, HiddenMemories, Report, Settings

_RETRIES = 2
# Nobody waits for learning, but a user does for what a command has asked for.
COMMAND_PATIENCE_SECONDS = 1.5


@frozen
class LessonResources:
    """What learning from a user needs: the store, the providers, and what outlives a turn."""

    settings: Settings
    sources: Sources
    indexes: MemoryIndexes
    completer: Completer | None
    formats: AnswerFormats
    memory: UserMemory
    suggestions: Suggestions
    can_ask: bool = False
    hidden: HiddenMemories = NOTHING_HIDDEN
    foreground: Foreground = field(default_factory=Foreground)
    # On which the model runs; calls of a lesson give way to answers there.
    machine: str = ""
    # How long the vectors of what is to be written are waited for, in seconds.
    patience: float = EMBEDDING_PATIENCE_SECONDS
    # Vectors of what this lesson has found, by content.
    embedded: dict[str, Vectors] = field(default_factory=dict[str, Vectors])

    @staged("freshness")
    async def index(self) -> MemoryIndex:
        """The memories as they stand now; nobody waits here for their vectors."""
        return await self.indexes.current(self.sources, patience=0)

    async def ask(
        self,
        request: CompletionRequest,
        read: Callable[[Completion], AnswerRead],
    ) -> AnswerRead:
        """What is read in the model's answer to one question; raises ``ModelError``."""
        if self.completer is None:
            raise ModelRejected("no model is asked here", 0)

        def read_and_log(completion: Completion) -> AnswerRead:
            """The same, while each answer is told to who looks for faults."""
            if log.isEnabledFor(logging.DEBUG):
                log.debug(
                    "the model's reply: %r", without_secrets(completion.text)
                )
            return read(completion)

        return await ask(
            self.completer,
            request,
            self.formats,
            self.settings.llm_timeout_seconds,
            read_and_log,
            _RETRIES,
        )


@frozen
class Lesson:
    """The outcome of one lesson: what the user is told, and each proposal with its status.

    ``doubtful`` are memories that go only if the user confirms it.
    """

    report: Report
    outcomes: Sequence[Proposal] = ()
    doubtful: Sequence[Memory] = ()

    @property
    def has_failures(self) -> bool:
        """Whether a fact could not be written: the turn is to be learned again."""
        return any(one.status == "failed" for one in self.outcomes)


async def learn_turn(
    room: LessonResources, turn: Turn, now: datetime, work: TurnWork
) -> Lesson:
    """Learn a turn, said at ``now``: the model proposes, and what stands all steps is written.

    A lesson that broke off is begun again: the model is shown what was written by then.
    """
    settings = room.settings
    sources = room.sources
    index = await room.index()
    foreground = room.foreground
    past = ""
    most = settings.max_extractions_per_hour or inf
    if turn.source.is_past:
        past = past_lessons(turn.user_id)
        # Whoever has past chats learned from has been told how many calls that takes.
        most = inf

    async def ask_model(
        request: CompletionRequest, read: Callable[[Completion], AnswerRead]
    ) -> AnswerRead:
        """What is read in the model's answer, which is counted unless it gives way."""
        work.calls += 1
        try:
            machine = room.machine if work.patience else ""
            async with foreground.call(machine), foreground.call(past):
                return await room.ask(request, read)
        except GaveWay:
            work.calls -= 1
            raise

    # Recall has made the vector, if it was this process's.
    embedder = room.indexes.turn_embedder(sources)
    asked = await query_vectors(
        embedder, [turn.words], EMBEDDING_PATIENCE_SECONDS
    )
    if not await may_hold_fact(
        turn.words, sources.embedder, room.indexes, asked
    ):
        return Lesson(Report(phrase("nothing_new")))
    if work.calls_before >= most:
        tally("anomalies", "limit_reached")
        return Lesson(Report(phrase("limit_reached", n=str(most))))
    source = ExtractionSource(
        lines=await asyncio.to_thread(typed_lines, turn.words),
        shown=await shown_memories(index, turn.words, asked, room.hidden),
        others=room.hidden.without(index.memories),
    )
    # Facts are noted in the language of the newest message unless the admin chose one.
    language = settings.memory_language.strip() or turn.language
    asking = settings.model_copy(update={"memory_language": language})
    extracted = await extraction(ask_model, turn, source, asking, now)
    proposals = await asyncio.to_thread(
        screened, extracted, turn, source.shown, settings
    )
    vectors = await _embedded(room, proposals)
    dimension = len(next(iter(vectors.values()), ()))
    judges = room.indexes.judges(index.embedder, dimension)
    proposals = judged_facts(proposals, turn, vectors, judges)
    if turn.source.is_past:
        proposals = without_changes_of_later(proposals, index, turn)
    # What is only proposed has changed nothing yet.
    if settings.check_outdated_memories and settings.save_mode != "suggest":
        updates = {
            one.draft.content for one in extracted if one.kind == "UPDATE"
        }
        changes = far_reaching_changes(proposals, index, vectors, updates)
        if changes and work.calls_before + work.calls < most:
            proposals = await with_consequences(
                proposals,
                changes,
                index,
                vectors,
                room.hidden,
                ask_model,
                turn,
                now,
            )
    if not proposals:
        return Lesson(Report(phrase("nothing_new")))
    return await carried_out(
        room,
        turn,
        proposals,
        work.held,
        partly_written=work.attempts > 0 or turn.source.is_past,
        tells_failures=work.tells_failures,
    )


async def carried_out(
    room: LessonResources,
    turn: Turn,
    proposals: Sequence[Proposal],
    held: Held,
    *,
    partly_written: bool,
    tells_failures: bool = True,
) -> Lesson:
    """Write or suggest what is open; ``partly_written`` where some of it may stand already."""
    index = await room.index()
    proposals = placed(proposals, turn.place.scope, index)
    suggests_all = room.settings.save_mode == "suggest"
    if suggests_all:
        proposals = await _reconciled(room, proposals, index)
    if suggests_all or any(one.kind == "QUIET" for one in proposals):
        proposals = await room.suggestions.propose(
            turn, proposals, held, changes=suggests_all
        )
    outcomes = await write(
        room, turn.source, proposals, held, partly_written=partly_written
    )
    asked = {one.memory_id for one in outcomes if one.status == "asked"}
    stored = (await room.index()).memories if asked else ()
    doubtful = [memory for memory in stored if memory.id in asked]
    if not room.can_ask:
        outcomes = [
            one.decided("kept", one.reason) if one.status == "asked" else one
            for one in outcomes
        ]
    for outcome in outcomes:
        tally("operations", outcome.status)
    refused = [
        AuditEntry(
            kind="refused",
            memory_id="",
            reason=one.reason,
        )
        for one in outcomes
        if one.status == "rejected"
    ]
    if refused:
        await room.memory.record(*refused, source=turn.source)
    untold = set[ProposalStatus]()
    if partly_written:
        # What is known by now was written by this very lesson, if it broke off before.
        untold.add("unchanged")
    if not tells_failures:
        untold.add("failed")
    told = [one for one in outcomes if one.status not in untold]
    line = report_line(told)
    is_suggested = any(one.status == "suggested" for one in outcomes)
    if line == phrase("nothing_new") and (is_suggested or partly_written):
        line = ""
    if is_suggested and not room.can_ask:
        line = joined_lines(line, await room.suggestions.left(turn.user_id))
    # Whoever asked for deletions and can't be asked about them believes them done otherwise.
    must_know = bool(doubtful) and not room.can_ask
    return Lesson(
        report=report_of(told, line, kind="reply" if must_know else "news"),
        outcomes=outcomes,
        doubtful=doubtful if room.can_ask else (),
    )


async def write(
    room: LessonResources,
    source: Provenance,
    proposals: Sequence[Proposal],
    held: Held,
    *,
    partly_written: bool = False,
) -> list[Proposal]:
    """Hold open proposals against the store as it is, and write them."""
    made = await _embedded(
        room, proposals
    )  # before anybody waits for the writing to end
    await room.foreground.give_way()
    async with room.memory.lock:
        # The chat model's own memory tools may have written while ours was thinking.
        index = await room.index()
        if partly_written:
            # What this lesson wrote before it broke off is known, even if nothing else is.
            deduplicating = {"deduplicate_memories": True}
            room = replace(
                room, settings=room.settings.model_copy(update=deduplicating)
            )
        proposals = await _reconciled(room, proposals, index)
        outcomes = await room.memory.apply(
            proposals, index.memories, source, held
        )
    stands = (
        one for one in outcomes if one.status in ("saved", "updated", "ended")
    )
    contents = {
        one.memory_id: one.draft.content for one in stands if one.draft.content
    }
    if not await keep_vectors(room.sources, contents, made):
        await room.index()
    return outcomes


async def _reconciled(
    room: LessonResources, proposals: Sequence[Proposal], index: MemoryIndex
) -> list[Proposal]:
    """Proposals held against the store and each other; nothing is written."""
    vectors = await _embedded(room, proposals)
    # In a thread: with a large store it takes tens of milliseconds a fact, and chats go on.
    return await asyncio.to_thread(
        reconciled, proposals, index, vectors, room.settings
    )


@staged("embedding")
async def _embedded(
    room: LessonResources, proposals: Sequence[Proposal]
) -> dict[str, Vectors]:
    """The normalised vectors of contents, these among them; without an embedder none."""
    known = room.embedded
    contents = [
        one.draft.content
        for one in proposals
        if one.is_open and one.kind != "DELETE"
    ]
    new = [one for one in dict.fromkeys(contents) if one not in known]
    embedder = room.sources.embedder
    try:
        if new:
            async with asyncio.timeout(room.patience):
                made = await room.indexes.rests.ask(embedder, new, query=False)
            known.update(zip(new, normalised(made), strict=True))
    except (EmbeddingError, TimeoutError) as error:
        log_failure("new facts are compared by their words only", error)
    return known


async def new_findings(
    room: LessonResources, turn: Turn, findings: Sequence[Proposal]
) -> list[Proposal]:
    """Facts found elsewhere that the newest message bears out and the lesson has not found."""
    marked = await asyncio.to_thread(marked_turn, [turn])
    alone = replace(marked, earlier=())
    screening = await asyncio.to_thread(
        screened, findings, alone, (), room.settings
    )
    learned = [
        one.content
        for one in (await room.index()).memories
        # What was written behind the turn may be of it.
        if one.updated_at >= turn.source.said_at
    ]
    return [
        one
        for one in screening
        if one.is_open and not says_no_more(one.draft.content, learned)
    ]
