"""The outlet's side of the plug-in: turns wait, are learned from, and the store is kept."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from adaptive.answer_lines import AnswerLines
from adaptive.clock import local_time
from adaptive.errors import (
    AdaptiveMemoryError,
    LessonUnfinished,
    MemoryUnavailable,
    TablesUnavailable,
)
from adaptive.foreground import GiveWay, no_way_to_give
from adaptive.host.dialog import PageDialog
from adaptive.host.hook import Hook
from adaptive.host.kind import LEARNED_KINDS
from adaptive.host.locality import kept_from_completer
from adaptive.host.providers import chosen_completer, user_sources
from adaptive.host.requests import account, isolated_request
from adaptive.host.switched_off import wants_memory
from adaptive.host.tables import HostTables
from adaptive.learn.archive import AuditTrail, UserStore
from adaptive.learn.deletion import delete_confirmed
from adaptive.learn.lesson import Lesson, LessonResources, learn_findings, learn_turn
from adaptive.learn.prefilter import Prefilter
from adaptive.learn.proposals import offered_lesson, propose_findings, proposed_lesson
from adaptive.learn.queue import LearningQueue, always
from adaptive.learn.report import failure_line
from adaptive.learn.turn_work import TurnWork
from adaptive.learn.upkeep import UpkeepResources, upkeep_when_due
from adaptive.learn.waiting_turn import (
    WaitingTurn,
    joined_turn,
    pending_turn,
    read_pending,
)
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Memory, Operation, Turn
from adaptive.ports import Completer
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.suggestion_ports import Proposer
from adaptive.table_ports import PendingTurn
from adaptive.typed_turns import of_this_user_alone

log_learning = logging.getLogger("adaptive_memory")

_RESUMED_USERS_REMEMBERED = 5000
_RESUMED_AGAIN_SECONDS = 60.0
# The host ends the turn first: its work after the outlet is what the user still waits for.
_AFTER_THE_TURN_SECONDS = 0.1


class Learning:
    """What an instance of the plug-in needs to learn; nothing in it belongs to one user."""

    def __init__(
        self,
        indexes: MemoryIndexes,
        tables: HostTables,
        formats: AnswerFormats,
        start: Callable[[Coroutine[Any, Any, None]], None],
        trail: AuditTrail,
        proposer: Proposer,
        serves: Callable[[], Awaitable[bool]] = always,
        give_way: GiveWay = no_way_to_give,
    ) -> None:
        self._start, self._give_way = start, give_way
        self._indexes, self._vectors = indexes, tables.vectors
        self._usage, self._archive, self._leases = tables.usage, tables.archive, tables.leases
        self._queue = LearningQueue(tables.pending, serves=serves, wanted=wants_memory)
        self._trail, self._proposer = trail, proposer
        self._formats, self._prefilter = formats, Prefilter(indexes.nulls)
        self._writing = asyncio.Semaphore(1)
        self._lines = AnswerLines(self._writing)
        self._resumed: OrderedDict[str, float] = OrderedDict()

    async def put(self, hook: Hook, waiting: WaitingTurn) -> PendingTurn:
        """Let a turn wait in the database, within about a second."""
        pending = pending_turn(waiting, time.time(), hook.settings.extraction_debounce_seconds)
        self._lines.expect(pending, hook)
        try:
            await self._queue.put(pending)
        except asyncio.CancelledError:  # it goes on writing, so it is to be learned all the same
            self._start(self._learned(hook, pending))
            raise
        return pending

    async def learn(self, hook: Hook, pending: PendingTurn | None, line: str = "") -> None:
        """Learn from a turn when it is due, and from what else waits of its user.

        Without a turn, show a line after what was recalled, and learn what others have left.
        """
        if pending is None:
            await asyncio.sleep(_AFTER_THE_TURN_SECONDS)
            await self._lines.show(hook, line)
            await self._resume(hook)
        else:
            await self._learned(hook, pending)

    async def _learned(self, hook: Hook, pending: PendingTurn) -> None:
        try:
            await self._queue.learn(pending, partial(self._teach, hook))
        except TablesUnavailable as error:
            await self._lines.show(hook, failure_line(str(error)), failed=True)
        finally:
            self._lines.done_with(pending)
        await self._lines.show(hook, "")
        await self._keep_up(hook)

    @property
    def writing(self) -> asyncio.Semaphore:
        """Held by whoever writes into a store, or shows a line: one at a time in this process."""
        return self._writing

    @property
    def queue(self) -> LearningQueue:
        """By whose lease one at a time learns of a user."""
        return self._queue

    def forget(self, user_id: str) -> None:
        """Let go of what this process holds of a user: waiting turns, and whose page is whose."""
        self._queue.forget(user_id)
        self._resumed.pop(user_id, None)
        self._lines.forget(user_id)

    async def storeroom(self, hook: Hook) -> UserStore:
        """The store of a hook's user with what is kept beside it.

        Raises:
            HostError: the host does not know the user.
        """
        request, user = isolated_request(hook.request), await account(hook.user)
        return self._storeroom(user_sources(hook, request, user, self._vectors))

    async def tell(self, hook: Hook, line: str) -> None:
        """Show a line with the answer, after what was recalled for it, whatever is confirmed."""
        await self._lines.show(hook, line, failed=True)

    async def _resume(self, hook: Hook) -> None:
        """Learn what other workers, or this one before a restart, have left of a user."""
        last = self._resumed.get(hook.user_id, -_RESUMED_AGAIN_SECONDS)
        now = time.monotonic()
        if hook.settings.save_mode == "off" or now - last < _RESUMED_AGAIN_SECONDS:
            return
        self._resumed[hook.user_id] = now
        while len(self._resumed) > _RESUMED_USERS_REMEMBERED:
            self._resumed.popitem(last=False)
        await self._queue.resume(hook.user_id, partial(self._teach, hook))

    async def _teach(self, serving: Hook, work: TurnWork) -> None:
        """Learn from the turns in hand; ``serving`` is the hook whose task has them."""
        own = await self._lines.hook_of(work.turns[-1], serving)
        await self._give_way()
        try:
            lesson = await self._lesson(serving, own, work)
        except MemoryUnavailable as refusal:
            await self._lines.refuse(serving, own, str(refusal))
            return
        except AdaptiveMemoryError as error:
            log_learning.warning("nothing learned from a turn: %s", error)
            if not work.attempts or work.last_attempt:
                later = "" if work.last_attempt else "; it will be tried again"
                await self._lines.show(own, failure_line(f"{error}{later}"), failed=True)
            raise
        await self._lines.show(own, lesson.line, failed=not lesson.complete)
        if not lesson.complete:
            raise LessonUnfinished("some of what was found could not be written")

    async def _lesson(self, serving: Hook, own: Hook | None, work: TurnWork) -> Lesson:
        found = [read_pending(turn) for turn in work.turns]
        waiting = [one for one in found if one is not None]
        if len(waiting) < len(found):
            log_learning.error("%d waiting turns can't be read", len(found) - len(waiting))
        if not waiting:
            return Lesson("")
        turn = await of_this_user_alone(joined_turn([one.turn for one in waiting]))
        hook = own or serving
        settings = waiting[-1].steered(hook.settings)
        can_ask = own is not None and own.caller is not None
        room = await self._lesson_resources(hook, can_ask=can_ask, calls_before=work.calls_before)
        now = local_time(turn.source.said_at, *waiting[-1].time_zones)
        if settings.save_mode == "suggest":
            lesson = await proposed_lesson(self._proposer, room, turn, settings, now, work)
        else:
            lesson = await learn_turn(room, turn, settings, now, work)
        if lesson.doubtful and own is not None:
            asked = self._ask(room, turn, own, lesson.doubtful)
            self._start(self._proposer.asking(turn.user_id, asked))
        return lesson

    async def offer(self, hook: Hook) -> None:
        """Ask a user about suggestions that wait, and show what came of it."""
        if hook.caller is None or hook.told_kind not in LEARNED_KINDS:
            return
        answered = await offered_lesson(
            self._proposer,
            partial(self.lesson_resources, hook),
            PageDialog(hook.caller),
            hook.user_id,
            hook.chat_id,
            hook.settings,
        )
        if answered.line:
            await self._lines.show(hook, answered.line, failed=not answered.complete)

    async def model_for(
        self, hook: Hook, memory_ids: Sequence[str]
    ) -> tuple[Completer, tuple[Memory, ...]] | None:
        """The model for learning, and these memories.

        ``None`` where one is gone or is kept from that model: nobody could tell what repeats it.

        Raises:
            AdaptiveMemoryError: the host does not know the user, or no model is known.
        """
        room = await self.lesson_resources(hook)
        if not memory_ids:
            return room.completer, ()
        limit = hook.settings.index_cache_bytes
        index = await room.indexes.current(room.sources, limit, patience=0)
        found = [one for one in map(index.memory, memory_ids) if one is not None]
        if len(room.hidden.without(found)) < len(memory_ids):
            return None
        return room.completer, tuple(found)

    async def learn_findings(
        self, hook: Hook, turn: Turn, findings: Sequence[Operation], is_wanted: Callable[[], bool]
    ) -> str:
        """Learn or propose facts that were found beside a turn's lesson; the line for the user.

        They are left while others learn of the user, or where they are ``is_wanted`` no more.

        Raises:
            AdaptiveMemoryError: they can't be.
        """
        room, settings = await self.lesson_resources(hook), hook.settings
        line, proposed = "", 0

        async def written(held: Callable[[], Awaitable[bool]]) -> None:
            """Write or propose, as the only one who does."""
            nonlocal line, proposed
            if not is_wanted():
                return
            if settings.save_mode == "suggest":
                proposed = await propose_findings(
                    self._proposer, room, turn, findings, settings, held
                )
            else:
                line = await learn_findings(room, turn, findings, settings, held)

        if not await self._queue.alone(turn.user_id, written):
            log_learning.info("what was found in a turn is not learned: others are learning")
        if proposed and hook.caller is not None:
            await self.offer(hook)
        elif proposed:
            line = await self._proposer.left(turn.user_id)
        return line

    async def lesson_resources(self, hook: Hook) -> LessonResources:
        """What learning from a hook's user needs; ``AdaptiveMemoryError`` where it is not known."""
        if not await wants_memory(hook.user_id):
            raise MemoryUnavailable("memory is off in your settings")
        return await self._lesson_resources(hook)

    async def _lesson_resources(
        self, hook: Hook, *, can_ask: bool = False, calls_before: int = 0
    ) -> LessonResources:
        """The same for a user who is known to want it; the queue has just looked.

        ``calls_before`` are the model calls for the user's turns in this hour.
        """
        settings, most = hook.settings, hook.settings.max_extractions_per_hour

        async def may_ask(calls: int) -> bool:
            return not most or calls_before + calls < most

        user = await account(hook.user)
        request = isolated_request(hook.request)
        sources = user_sources(hook, request, user, self._vectors)
        completer = await chosen_completer(hook, request, user)
        return LessonResources(
            sources=sources,
            indexes=self._indexes,
            completer=completer,
            formats=self._formats,
            storeroom=self._storeroom(sources),
            prefilter=self._prefilter,
            may_ask=may_ask,
            can_ask=can_ask,
            hidden=await kept_from_completer(completer, request, settings),
            writing=self._writing,
            give_way=self._give_way,
        )

    async def _ask(
        self, room: LessonResources, turn: Turn, hook: Hook, doubtful: Sequence[Memory]
    ) -> None:
        """Ask about deletions, behind the lesson: whoever does not answer keeps nobody waiting."""
        dialog = PageDialog(hook.caller)
        try:
            line = await delete_confirmed(room, turn, hook.settings, dialog, doubtful)
        except AdaptiveMemoryError as error:
            log_learning.warning("nothing deleted: %s", error)
            line = f"Nothing deleted: {error}"
        await self._lines.show(hook, line)

    async def _keep_up(self, hook: Hook) -> None:
        """Upkeep of the user's store, if the admin wants it and it is due."""
        settings = hook.settings
        if not settings.enable_summarization_task or settings.save_mode == "off":
            return
        try:
            room = await self.lesson_resources(hook)
            resources = UpkeepResources(
                user=room.storeroom,
                current=partial(
                    self._indexes.current, room.sources, settings.index_cache_bytes, patience=0
                ),
                completer=room.completer,
                formats=self._formats,
                leases=self._leases,
                writing=lambda: self._writing,
                hidden=room.hidden,
            )
            await upkeep_when_due(resources, settings, uuid.uuid4().hex, time.time())
        except AdaptiveMemoryError as error:
            log_learning.warning("no upkeep: %s", error)

    def _storeroom(self, sources: Sources) -> UserStore:
        """A user's store with what is kept beside it."""
        return UserStore(sources.user_id, sources.store, self._archive, self._usage, self._trail)
