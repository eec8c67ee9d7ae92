"""What learning finds where the user wants to be asked: proposed first, and saved upon a yes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from adaptive.errors import AdaptiveMemoryError, LeaseLost, TablesUnavailable
from adaptive.learn.apply import Held
from adaptive.learn.lesson import (
    Lesson,
    LessonResources,
    LessonWork,
    learn_turn,
    save_confirmed,
    sift_operations,
)
from adaptive.learn.report import NOTHING_NEW, failure_line, report_line
from adaptive.learn.screening import says_no_more, screened_findings
from adaptive.model import Draft, Operation, Outcome, Turn
from adaptive.ports import Dialog
from adaptive.settings import Settings
from adaptive.suggestion_ports import Proposer, Suggestion, WaitingSuggestion

log_proposals = logging.getLogger("adaptive_memory.learn")


async def proposed_lesson(
    proposer: Proposer,
    room: LessonResources,
    turn: Turn,
    settings: Settings,
    now: datetime,
    work: LessonWork,
) -> Lesson:
    """Propose what a turn tells, and delete what its user asks to forget.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker has the turn by now.
        AdaptiveMemoryError: nothing could be proposed; its text is the reason.
    """
    fresh = 0

    async def propose(operations: Sequence[Operation]) -> tuple[Outcome, ...]:
        """Let what is new wait; the outcomes are of what is known."""
        nonlocal fresh
        sifted = await sift_operations(room, operations, settings)
        fresh = await proposer.propose(turn, sifted.operations, settings, work.held)
        return sifted.outcomes

    lesson = await learn_turn(room, turn, settings, now, work, propose=propose)
    line = "" if fresh and lesson.line == NOTHING_NEW else lesson.line
    left = "" if room.can_ask or not fresh else await proposer.left(turn.user_id)
    return replace(lesson, line=_joined_lines(line, left))


async def propose_findings(
    proposer: Proposer,
    room: LessonResources,
    turn: Turn,
    findings: Sequence[Operation],
    settings: Settings,
    held: Held,
) -> int:
    """Let facts wait that were found beside the lesson of a turn; how many do.

    They pass what they would have to pass to be learned. What was proposed before is left.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker is at the user's store by now.
        HostError: the memories can't be read.
        TablesUnavailable: nobody can tell what was rejected.
    """
    found = await asyncio.to_thread(screened_findings, findings, turn, settings)
    known = proposer.proposed(turn.user_id)
    new = [one for one in found.operations if not says_no_more(one.draft.content, known)]
    sifted = await sift_operations(room, new, settings)
    return await proposer.propose(turn, sifted.operations, settings, held)


async def offered_lesson(
    proposer: Proposer,
    room_of: Callable[[], Awaitable[LessonResources]],
    dialog: Dialog,
    user_id: str,
    chat_id: str,
    settings: Settings,
) -> Lesson:
    """Ask a user about what waits, and save what is accepted; raises nothing of ours.

    The line of what came of it is empty where nobody was asked.
    """
    keeper = _Keeper(proposer, room_of, user_id, settings)
    left = ""
    try:
        left = await proposer.offer(dialog, user_id, chat_id, keeper.keep)
    except TablesUnavailable as error:
        log_proposals.warning("nobody is asked about suggestions: %s", error)
    told = report_line(keeper.outcomes) if keeper.outcomes else ""
    line = _joined_lines(told, *keeper.failures, left)
    # What is only counted is no news to write below an answer.
    return Lesson(line, complete=not line or bool(told and not keeper.failures))


@dataclass(slots=True)
class _Keeper:
    """Saves accepted suggestions one by one, and keeps what became of them."""

    proposer: Proposer
    room_of: Callable[[], Awaitable[LessonResources]]
    user_id: str
    settings: Settings
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    failures: list[str] = field(default_factory=list[str])

    async def keep(self, accepted: WaitingSuggestion) -> bool:
        """Save one as a memory of the message that it came from; false where that failed."""

        async def still_waits() -> bool:
            """Whether no erasure has taken it."""
            return await self.proposer.waits(self.user_id, accepted.digest)

        # The words are not known any more; the user has said yes to the sentence itself.
        turn = Turn(self.user_id, "saved", "", (), accepted.source)
        operation = suggested_operation(accepted.suggestion)
        try:
            room = await self.room_of()
            outcomes = await save_confirmed(room, turn, self.settings, operation, still_waits)
        except LeaseLost:
            log_proposals.info("an accepted suggestion was erased or answered elsewhere meanwhile")
            return False
        except AdaptiveMemoryError as error:
            log_proposals.warning("an accepted suggestion was not saved: %s", error)
            self.failures.append(failure_line(str(error)))
            return False
        self.outcomes += outcomes
        return all(one.status != "failed" for one in outcomes)


def suggested_operation(suggestion: Suggestion) -> Operation:
    """The change that a suggestion would be; it has to pass the gate of writes."""
    draft = Draft(suggestion.content, suggestion.tags, suggestion.bank, until=suggestion.until)
    kind = "UPDATE" if suggestion.memory_id else "NEW"
    return Operation(kind, suggestion.memory_id, draft)


def _joined_lines(*lines: str) -> str:
    told = [line for line in lines if line]
    return " · ".join([line for line in told if line != NOTHING_NEW] or told[:1])
