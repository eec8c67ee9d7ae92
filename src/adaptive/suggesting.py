"""Memories that are proposed to the user in place of being saved without a word.

A turn is worked on as ever, out of the queue; what a model finds in it waits in a table, and the
user is asked behind the lesson, while the page is there.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from adaptive.conversation.suggestion_offer import offer_suggestions, waiting_line
from adaptive.conversation.suggestions import (
    MOST_SUGGESTIONS,
    not_rejected,
    suggested_operation,
    suggestion_of,
)
from adaptive.errors import AdaptiveMemoryError, LeaseLost, TablesUnavailable
from adaptive.host.dialog import PageDialog
from adaptive.host.hook import Hook
from adaptive.host.kind import LEARNED_KINDS
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
from adaptive.model import Operation, Outcome, Turn
from adaptive.search.tokens import comparable
from adaptive.settings import Settings
from adaptive.suggestion_ports import SuggestionTable, WaitingSuggestion

log_suggesting = logging.getLogger("adaptive_memory")

_PROPOSED_REMEMBERED = 20
_CHATS_REMEMBERED = 1000

_AskedAnswer = TypeVar("_AskedAnswer")
RoomOf = Callable[[], Awaitable[LessonResources]]


class Suggesting:
    """What an instance of the plug-in needs to propose; what it holds of a user is forgettable."""

    def __init__(self, table: SuggestionTable, clock: Callable[[], float] = time.time) -> None:
        self._table, self._clock = table, clock
        # Sentences proposed in a user's chat: what was answered already is not found once more.
        self._proposed_in: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()
        # The page shows one dialog at a time: of two the first would never be answered.
        self._asked_now: Counter[str] = Counter()

    async def lesson(
        self, room: LessonResources, turn: Turn, settings: Settings, now: datetime, work: LessonWork
    ) -> Lesson:
        """Propose what a turn tells, and delete what its user asks to forget.

        Raises:
            MemoryUnavailable: the host allows this user no memories.
            LeaseLost: another worker has the turn by now.
            AdaptiveMemoryError: nothing could be proposed; its text is the reason.
        """
        waiting: list[WaitingSuggestion] = []

        async def propose(operations: Sequence[Operation]) -> tuple[Outcome, ...]:
            """Let operations wait for the user's word; what is known already is told."""
            found = await self._let_wait(room, turn, operations, settings, work.held)
            waiting.extend(found.fresh)
            return found.known

        lesson = await learn_turn(room, turn, settings, now, work, propose=propose)
        line = "" if waiting and lesson.line == NOTHING_NEW else lesson.line
        left = "" if room.can_ask or not waiting else await self.left(turn.user_id)
        return replace(lesson, line=_joined_lines(line, left))

    async def propose_findings(
        self,
        room: LessonResources,
        turn: Turn,
        findings: Sequence[Operation],
        settings: Settings,
        held: Held,
    ) -> int:
        """Let facts wait that were found beside the lesson of a turn; how many do.

        They pass what they would have to pass to be learned. What waits already is left, and what
        was proposed in this chat, be it answered or not.

        Raises:
            MemoryUnavailable: the host allows this user no memories.
            LeaseLost: another worker is at the user's store by now.
            HostError: the memories can't be read.
            TablesUnavailable: nobody can tell what was rejected.
        """
        found = await asyncio.to_thread(screened_findings, findings, turn, settings)
        known = self._proposed_in.get((turn.user_id, turn.source.chat_id), ())
        new = [one for one in found.operations if not says_no_more(one.draft.content, known)]
        return len((await self._let_wait(room, turn, new, settings, held)).fresh)

    async def _let_wait(
        self,
        room: LessonResources,
        turn: Turn,
        operations: Sequence[Operation],
        settings: Settings,
        held: Held,
    ) -> _LetWait:
        """Put down what is new of operations as suggestions; what is known is told."""
        sifted = await sift_operations(room, operations, settings)
        proposed = [suggestion_of(one, settings) for one in sifted.operations]
        waiting = await self._table.waiting(turn.user_id)
        said = {comparable(one.suggestion.content) for one in waiting}
        fresh = [
            one
            for one in await not_rejected(self._table, turn, proposed[:MOST_SUGGESTIONS])
            if comparable(one.suggestion.content) not in said
        ]
        if fresh:
            if not await held():
                raise LeaseLost("another worker has taken over")
            await self._table.put(turn.user_id, fresh, int(self._clock()))
            self._remember(turn, fresh)
        return _LetWait(tuple(fresh), sifted.outcomes)

    def _remember(self, turn: Turn, proposed: Sequence[WaitingSuggestion]) -> None:
        key = turn.user_id, turn.source.chat_id
        said = [*self._proposed_in.get(key, ()), *(one.suggestion.content for one in proposed)]
        self._proposed_in[key] = tuple(said[-_PROPOSED_REMEMBERED:])
        self._proposed_in.move_to_end(key)
        while len(self._proposed_in) > _CHATS_REMEMBERED:
            self._proposed_in.popitem(last=False)

    def forget(self, user_id: str) -> None:
        """Let go of what was proposed to a user."""
        for key in [key for key in self._proposed_in if key[0] == user_id]:
            del self._proposed_in[key]

    async def offer(self, hook: Hook, room_of: RoomOf) -> Lesson:
        """Ask the user about what waits, where there is a page, and save what is accepted.

        The line of what came of it is empty where nobody was asked. Raises nothing of ours.
        """
        if hook.caller is None or hook.told_kind not in LEARNED_KINDS:
            return Lesson("")
        if self._asked_now[hook.user_id]:  # it waits; whoever asks comes upon it, or the next turn
            return Lesson("")
        return await self.asking(hook.user_id, self._offered(hook, room_of))

    async def asking(self, user_id: str, questions: Awaitable[_AskedAnswer]) -> _AskedAnswer:
        """Ask a user something, while nothing is offered."""
        self._asked_now[user_id] += 1
        try:
            return await questions
        finally:
            self._asked_now[user_id] -= 1
            if not self._asked_now[user_id]:
                del self._asked_now[user_id]

    async def _offered(self, hook: Hook, room_of: RoomOf) -> Lesson:
        keeper = _Keeper(hook, room_of, self._table)
        left = ""
        try:
            offered = await offer_suggestions(
                PageDialog(hook.caller),
                self._table,
                hook.user_id,
                hook.chat_id,
                self._clock,
                keeper.keep,
            )
            if offered.unanswered:
                left = await self.left(hook.user_id)
        except TablesUnavailable as error:
            log_suggesting.warning("nobody is asked about suggestions: %s", error)
        parts = [report_line(keeper.outcomes) if keeper.outcomes else "", *keeper.failures, left]
        # What is only counted is no news to write below an answer.
        told = bool(keeper.outcomes) and not keeper.failures
        return Lesson(_joined_lines(*parts), complete=told or not any(parts))

    async def left(self, user_id: str) -> str:
        """The line that tells how much of a user waits.

        Raises:
            TablesUnavailable: the table can't be read.
        """
        return waiting_line(len(await self._table.waiting(user_id)))


@dataclass(frozen=True, slots=True)
class _LetWait:
    """Suggestions that wait now, and the outcomes of what is known already."""

    fresh: tuple[WaitingSuggestion, ...]
    known: tuple[Outcome, ...]


@dataclass(slots=True)
class _Keeper:
    """Saves accepted suggestions one by one, and keeps what became of them."""

    hook: Hook
    room_of: RoomOf
    table: SuggestionTable
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    failures: list[str] = field(default_factory=list[str])

    async def keep(self, accepted: WaitingSuggestion) -> bool:
        """Save one as a memory of the message that it came from; false where that failed."""

        async def still_waits() -> bool:
            waiting = await self.table.waiting(self.hook.user_id)
            return any(one.digest == accepted.digest for one in waiting)

        # The words are not known any more; the user has said yes to the sentence itself.
        turn = Turn(self.hook.user_id, "saved", "", (), accepted.source)
        operation = suggested_operation(accepted.suggestion)
        try:
            room = await self.room_of()
            outcomes = await save_confirmed(room, turn, self.hook.settings, operation, still_waits)
        except LeaseLost:
            log_suggesting.info("an accepted suggestion was erased or answered elsewhere meanwhile")
            return False
        except AdaptiveMemoryError as error:
            log_suggesting.warning("an accepted suggestion was not saved: %s", error)
            self.failures.append(failure_line(str(error)))
            return False
        self.outcomes += outcomes
        return all(one.status != "failed" for one in outcomes)


def _joined_lines(*lines: str) -> str:
    told = [line for line in lines if line]
    return " · ".join([line for line in told if line != NOTHING_NEW] or told[:1])
