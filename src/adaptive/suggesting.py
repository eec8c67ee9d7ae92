"""Memories that are proposed to the user in place of being saved without a word.

A turn is worked on as ever, out of the queue; what a model finds in it waits in a table, and the
user is asked behind the lesson, while the page is there. What the user asks for in so many words
("Remember that ...", "Forget ...") is consent and done at once.
"""

from __future__ import annotations

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
    Suggester,
    SuggestionRules,
    found_suggestion,
    not_rejected,
    suggestion_draft,
)
from adaptive.errors import (
    AdaptiveMemoryError,
    LeaseLost,
    MemoryUnavailable,
    TablesUnavailable,
)
from adaptive.host.dialog import PageDialog
from adaptive.host.hook import Hook
from adaptive.host.kind import LEARNED_KINDS
from adaptive.learn.apply import Held
from adaptive.learn.commands import read_commands, words_beside_commands
from adaptive.learn.confirmed import proposed_draft, save_confirmed
from adaptive.learn.findings import new_findings
from adaptive.learn.inquiry import LessonWork
from adaptive.learn.lesson import LIMIT_REACHED, Classroom, Lesson, learn_turn
from adaptive.learn.report import NOTHING_NEW, failure_line, report_line
from adaptive.learn.screen import comparable
from adaptive.learn.testimony import adds_nothing_to
from adaptive.learn.waiting_turn import may_hold_facts
from adaptive.model import Operation, Outcome, Turn
from adaptive.privacy.policy import gate_policy
from adaptive.retry import RetryPolicy
from adaptive.settings import Settings
from adaptive.suggestion_ports import SuggestionTable, WaitingSuggestion

log_suggesting = logging.getLogger("adaptive_memory")

_PROPOSED_REMEMBERED = 20
_CHATS_REMEMBERED = 1000

_AskedAnswer = TypeVar("_AskedAnswer")
RoomOf = Callable[[], Awaitable[Classroom]]


class Suggesting:
    """What an instance of the plug-in needs to propose; what it holds of a user is forgettable."""

    def __init__(self, table: SuggestionTable, clock: Callable[[], float] = time.time) -> None:
        self._table, self._clock = table, clock
        # Sentences proposed in a user's chat: what was answered already is not found once more.
        self._proposed_in: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()
        # The page shows one dialog at a time: of two the first would never be answered.
        self._asked_now: Counter[str] = Counter()

    async def lesson(
        self, room: Classroom, turn: Turn, settings: Settings, now: datetime, work: LessonWork
    ) -> Lesson:
        """Propose what a turn holds, and do what its user asks for in so many words.

        Raises:
            MemoryUnavailable: the host allows this user no memories.
            LeaseLost: another worker has the turn by now.
            AdaptiveMemoryError: nothing could be proposed; its text is the reason.
        """
        if not read_commands(turn.words):
            return Lesson(await self._proposed(room, turn, settings, now, work))
        done = await learn_turn(room, turn, settings, now, work, asked_only=True)
        beside = replace(turn, words=words_beside_commands(turn.words))
        try:
            line = await self._proposed(room, beside, settings, now, work)
        except (MemoryUnavailable, LeaseLost):
            raise
        except AdaptiveMemoryError as error:  # what was asked for is done, and is told
            log_suggesting.warning("nothing proposed beside what was asked for: %s", error)
            line = _joined_lines(done.line, failure_line(str(error)))
            return replace(done, line=line, complete=False)
        return replace(done, line=_joined_lines(done.line, line))

    async def _proposed(
        self, room: Classroom, turn: Turn, settings: Settings, now: datetime, work: LessonWork
    ) -> str:
        """Let suggestions wait, before anybody is asked; the line for the user."""
        if not may_hold_facts(turn.words) or not settings.categories:
            return NOTHING_NEW
        # Whoever may have no memories is not asked about any, nor is a model.
        await room.indexes.current(room.sources, settings.index_cache_bytes, patience=0)
        if not await room.may_ask():
            return LIMIT_REACHED.format(settings.max_extractions_per_hour)

        def counted() -> None:
            work.calls += 1

        suggester = Suggester(room.completer, room.formats, _rules_of(settings), counted)
        found = await not_rejected(self._table, turn, await suggester.suggested(turn, now))
        fresh, told = await self._let_wait(room, turn, found, settings, work.held)
        line = report_line(told) if told else ""
        if not fresh:
            return line or NOTHING_NEW
        return line if room.can_ask else _joined_lines(line, await self.left(turn.user_id))

    async def propose_findings(
        self,
        room: Classroom,
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
        found = await new_findings(room, turn, findings, settings)
        known = self._proposed_in.get((turn.user_id, turn.source.chat_id), ())
        proposed = [
            found_suggestion(one.draft, settings.default_bank)
            for one in found.operations
            if not any(adds_nothing_to(one.draft.content, said) for said in known)
        ]
        waiting = await not_rejected(self._table, turn, proposed[:MOST_SUGGESTIONS])
        fresh, _ = await self._let_wait(room, turn, waiting, settings, held)
        return len(fresh)

    async def _let_wait(
        self,
        room: Classroom,
        turn: Turn,
        found: Sequence[WaitingSuggestion],
        settings: Settings,
        held: Held,
    ) -> tuple[list[WaitingSuggestion], list[Outcome]]:
        """Put down what is new of suggestions; what of the others is to be told."""
        waiting = await self._table.waiting(turn.user_id)
        told: list[Outcome] = []
        fresh: list[WaitingSuggestion] = []
        for one in found:
            kept, outcomes = await _admissible(room, turn, one, settings)
            told += outcomes
            if kept is not None and not _waits_already(kept, [*waiting, *fresh]):
                fresh.append(kept)
        if fresh:
            if not await held():
                raise LeaseLost("another worker has taken over")
            await self._table.put(turn.user_id, fresh, int(self._clock()))
            self._remember(turn, fresh)
        return fresh, told

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
        draft = suggestion_draft(accepted.suggestion)
        try:
            room = await self.room_of()
            outcomes = await save_confirmed(room, turn, self.hook.settings, draft, still_waits)
        except LeaseLost:
            log_suggesting.info("an accepted suggestion was erased or answered elsewhere meanwhile")
            return False
        except AdaptiveMemoryError as error:
            log_suggesting.warning("an accepted suggestion was not saved: %s", error)
            self.failures.append(failure_line(str(error)))
            return False
        self.outcomes += outcomes
        return all(one.status != "failed" for one in outcomes)


def _rules_of(settings: Settings) -> SuggestionRules:
    others = [one for one in settings.banks if one != settings.default_bank]
    return SuggestionRules(
        categories=settings.categories,
        banks=(settings.default_bank, *others),
        language=settings.memory_language,
        keeping_rules=settings.keeping_rules,
        deadline=settings.llm_timeout_seconds,
        retry=RetryPolicy(settings.max_retries, settings.retry_delay),
        gate_policy=gate_policy(settings),
    )


async def _admissible(
    room: Classroom, turn: Turn, proposed: WaitingSuggestion, settings: Settings
) -> tuple[WaitingSuggestion | None, tuple[Outcome, ...]]:
    """A suggestion as it may be shown and stored; what is known or refused is told."""
    suggestion = proposed.suggestion
    draft, outcomes = await proposed_draft(room, turn, suggestion_draft(suggestion), settings)
    if draft is None:
        return None, outcomes
    bank = draft.bank or settings.default_bank
    shown = replace(suggestion, content=draft.content, tags=draft.tags, bank=bank)
    return replace(proposed, suggestion=shown), outcomes


def _waits_already(one: WaitingSuggestion, waiting: list[WaitingSuggestion]) -> bool:
    """Whether the same sentence waits under another title; under the same one it is replaced."""
    said = comparable(one.suggestion.content)
    return any(
        other.digest != one.digest and comparable(other.suggestion.content) == said
        for other in waiting
    )


def _joined_lines(*lines: str) -> str:
    told = [line for line in lines if line]
    return " · ".join([line for line in told if line != NOTHING_NEW] or told[:1])
