"""The outlet's side of the plug-in: turns wait, are learned from, and the store is kept."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adaptive.core import (
    AdaptiveMemoryError,
    Completer,
    Foreground,
    HindranceLine,
    HostError,
    Memory,
    MemoryUnavailable,
    Phrase,
    Proposal,
    Provenance,
    TablesUnavailable,
    Turn,
    local_time,
    log_failure,
    phrase,
)
from adaptive.learn.addressing import leave_deleted_folders
from adaptive.learn.confirmation import (
    delete_confirmed,
    how_to_take_back,
    offer_suggestions,
    said_before_edit,
)
from adaptive.learn.exam import examination
from adaptive.learn.lesson import (
    COMMAND_PATIENCE_SECONDS,
    Lesson,
    LessonResources,
    carried_out,
    learn_turn,
    new_findings,
    write,
)
from adaptive.learn.queue import LearningQueue, TurnWork, Wanted, always
from adaptive.learn.suggestions import Suggestions, failure_line, report_line
from adaptive.learn.summaries import summarise_when_due
from adaptive.learn.turns import by_model, marked_turn
from adaptive.llm.ask import AnswerFormats
from adaptive.memory import CostTable, Leases, Memories, QueuedTurn, TurnTable
from adaptive.search import MemoryIndexes
from adaptive.settings import Hook, Report, StatusLines

# The host ends the turn first: its work after the outlet is what the user still waits for.
_AFTER_THE_TURN_SECONDS = 0.1


@dataclass(eq=False)
class Learning:
    """What an instance of the plug-in needs to learn; nothing in it belongs to one user."""

    indexes: MemoryIndexes
    pending: TurnTable
    memories: Memories
    leases: Leases
    costs: CostTable
    formats: AnswerFormats
    start: Callable[[Coroutine[None, None, None]], object]
    suggestions: Suggestions
    foreground: Foreground
    status: StatusLines

    def __post_init__(self) -> None:
        self._queue = LearningQueue(self.pending, self.foreground)
        # Hooks of turns that wait, by user and answer, so that their lines are shown with their
        # own answers. Models that are asked side by side answer one message, each after answers of
        # its own, which no other one may read.
        self._hooks: dict[tuple[str, str, str], Hook] = {}

    async def put(self, hook: Hook, turn: Turn) -> QueuedTurn:
        """Let a turn wait in the database, within about a second."""
        self._hooks[_answer_key(turn)] = hook
        return await self._queue.put(
            turn, hook.settings.extraction_debounce_seconds
        )

    async def learn(
        self, hook: Hook, queued: QueuedTurn | None, learned: asyncio.Event
    ) -> None:
        """Learn from a turn, which is ``learned`` then, and ask about suggestions that wait."""
        try:
            await self._learn(hook, queued)
            line = await leave_deleted_folders(
                hook, self.indexes, self.memories
            )
            if line:
                await self.status.notice(hook, line)
        finally:
            learned.set()
            await self.count_costs(hook.user_id)
        # Where facts are saved without a question, what is to be quiet is asked about all the same.
        if hook.settings.save_mode != "off":
            await self._offer(hook)

    async def learn_past(self, hook: Hook, wanted: Wanted) -> bool:
        """Learn from turns of a past chat that wait; whether there were any that are due."""
        teach = partial(self._teach, hook)
        try:
            return await self._queue.resume_past(hook.user_id, teach, wanted)
        finally:
            await self.count_costs(hook.user_id)

    async def past_waiting(self, user_id: str) -> int:
        """How many turns of past chats wait."""
        return await self._queue.waiting(user_id, past=True)

    async def count_costs(self, user_id: str) -> None:
        """Write down what models were asked for a user."""
        spent = self.formats.spent.pop(user_id, None)
        if spent:
            await self.costs.add(user_id, spent, int(time.time()))

    async def _learn(self, hook: Hook, queued: QueuedTurn | None) -> None:
        """Learn from a turn when it is due, or tell why not and learn what others have left."""
        teach = partial(self._teach, hook)
        if queued is None:
            await asyncio.sleep(_AFTER_THE_TURN_SECONDS)
            unlearned = hook.state.get("unlearned", "")
            if hook.place.known:
                await self.status.write(hook, Report(unlearned))
            else:  # for as long as the database is out of order
                await self.status.notice(hook, unlearned, once=unlearned)
            if hook.settings.save_mode != "off":
                await self._queue.resume(
                    hook.user_id, teach, hook.wants_memory
                )
            return
        try:
            await self._queue.learn(queued, teach, hook.wants_memory)
        except TablesUnavailable as error:
            if error.lasting:
                raise
            await self.status.notice(hook, failure_line(str(error)))
        finally:
            self._hooks.pop(_answer_key(queued.turn), None)
        await self.status.write(hook, Report())
        if hook.settings.enable_summarization_task:
            try:
                room = await self.lesson_resources(hook)
                await summarise_when_due(room, self.leases, time.time())
            except AdaptiveMemoryError as error:
                log_failure("memories are not summarised", error)

    async def learn_findings(
        self,
        hook: Hook,
        turn: Turn,
        findings: Sequence[Proposal],
        is_wanted: Callable[[], bool],
    ) -> None:
        """Learn or propose facts that were found in a turn elsewhere, while they are wanted."""
        room = await self.lesson_resources(hook)
        found = await new_findings(room, turn, findings)
        if not found or not is_wanted():
            return

        async def wanted() -> bool:
            """Whether nothing of it was erased meanwhile."""
            return is_wanted()

        lesson = await carried_out(
            room, turn, found, wanted, partly_written=True
        )
        await self.status.write(hook, lesson.report)
        if hook.settings.save_mode == "suggest":
            await self._offer(hook)

    async def _offer(self, hook: Hook) -> None:
        """Ask a user about suggestions that wait, and show what came of it."""
        if hook.can_ask and hook.told_kind in ("saved", "shared"):
            room_of = partial(self.lesson_resources, hook)
            report = await offer_suggestions(self.suggestions, room_of, hook)
            if report.line:
                await self.status.write(hook, report)

    def forget(self, user_id: str) -> None:
        """Let go of what this process holds of a user: waiting turns, and whose page is whose."""
        self._queue.forget(user_id)
        self._hooks = {
            key: hook for key, hook in self._hooks.items() if key[0] != user_id
        }
        self.status.forget(user_id)

    async def model_for(
        self, hook: Hook, memory_ids: Sequence[str]
    ) -> tuple[Completer, tuple[Memory, ...]] | None:
        """The model for learning, and these memories."""
        room = await self.lesson_resources(hook)
        index = await room.index()
        found = [*filter(None, map(index.memory, memory_ids))]
        is_whole = len(room.hidden.without(found)) == len(memory_ids)
        return (
            (room.completer, tuple(found))
            if is_whole and room.completer
            else None
        )

    async def do(self, hook: Hook, proposals: Sequence[Proposal]) -> str:
        """Carry out at once what a user has asked for in so many words; what to tell of it."""
        adds = any(one.kind == "NEW" for one in proposals)
        room = await self.lesson_resources(hook, wanted=not adds, asking=False)
        # The user waits as others do.
        room = replace(
            room, foreground=Foreground(), patience=COMMAND_PATIENCE_SECONDS
        )
        outcomes = await write(room, _asked_in(hook), proposals, always)
        return report_line(outcomes)

    async def examine(self, hook: Hook) -> tuple[str, str]:
        """How well the model for learning learns; the page is told how far that is."""
        room_of = partial(self.lesson_resources, hook, wanted=True)
        language = hook.interface_language
        return await examination(room_of, language, hook.replies.status)

    async def waiting(self, hook: Hook) -> list[str]:
        """What waits of a user, in a few words each."""
        turns = await self._queue.waiting(hook.user_id)
        told = phrase("still_to_learn", n=turns)
        suggested = await self.suggestions.left(hook.user_id)
        return [line for line in (told if turns else "", suggested) if line]

    async def ask_deletion(
        self, hook: Hook, memories: Sequence[Memory]
    ) -> str:
        """Ask a user which memories go, and delete these; what to tell of it."""
        room = await self.lesson_resources(hook, wanted=True, asking=False)
        return (
            await delete_confirmed(
                room, _asked_in(hook), hook.dialog, memories
            )
        ).line

    async def lesson_resources(
        self, hook: Hook, *, wanted: bool = False, asking: bool = True
    ) -> LessonResources:
        """What learning from a hook's user needs: whether it is ``wanted``, and without a model."""
        if not wanted and not await hook.wants_memory():
            raise MemoryUnavailable(Phrase("memory_off"))
        sources, completer = (
            await hook.sources(),
            await hook.completer() if asking else None,
        )
        return LessonResources(
            settings=hook.settings,
            sources=sources,
            indexes=self.indexes,
            completer=completer,
            formats=self.formats,
            memory=self.memories.over(sources, hook.settings),
            suggestions=self.suggestions,
            can_ask=hook.can_ask,
            hidden=await hook.hidden_from(completer),
            foreground=self.foreground,
            machine=await hook.machine(completer) if completer else "",
        )

    async def _teach(self, serving: Hook, work: TurnWork) -> None:
        """Learn from the turns in hand; ``serving`` is the hook whose task has them."""
        failures = list[AdaptiveMemoryError]()
        for together in by_model([queued.turn for queued in work.turns]):
            try:
                await self._teach_together(serving, together, work)
            except AdaptiveMemoryError as error:
                failures.append(error)
            # What is learned already would be learned once more.
            work.patient_until = 0.0
        if failures:
            raise failures[0]

    async def _teach_together(
        self, serving: Hook, turns: Sequence[Turn], work: TurnWork
    ) -> None:
        """Learn from turns that were typed to one chat model, by that one or the admin's choice."""
        turn = turns[-1]
        own = self._hooks.get(_answer_key(turn))
        hook = own or await self._left_to(serving, turn)
        try:
            lesson = await self._lesson(hook, turns, work)
        except MemoryUnavailable as refusal:
            await self.status.notice(
                hook, failure_line(str(refusal)), once=hook.chat_id
            )
            return
        except AdaptiveMemoryError as error:
            log_failure("nothing learned from a turn", error)
            if error.lasting:
                await self.status.notice(serving, HindranceLine(str(error)))
            elif work.tells_failures:
                reason = str(error)
                if not work.last_attempt:
                    reason += f"; {phrase('tried_again')}"
                await self.status.notice(hook, failure_line(reason))
            raise
        self.status.forget(turn.user_id)
        await self.status.write(hook, lesson.report)
        if lesson.has_failures:
            raise AdaptiveMemoryError(
                "some of what was found could not be written"
            )

    async def _left_to(self, serving: Hook, turn: Turn) -> Hook:
        """The hook for a turn that another process has put: its own answer's, and its model's.

        Where the turn stands in no chat of the user's own, nobody is told of it.
        """
        answer_id = turn.answer_id if turn.kind == "saved" else ""
        # The chat may be in another folder by now: what was said belongs where it was said.
        hook = await serving.of_answer(
            turn.source.chat_id, answer_id, turn.place
        )
        in_this_chat = (
            bool(serving.chat_id) and serving.chat_id == turn.source.chat_id
        )
        if turn.chat_model or not in_this_chat:
            return await hook.typed_to(
                turn.chat_model, is_direct=turn.is_direct
            )
        return hook

    async def _lesson(
        self, hook: Hook, turns: Sequence[Turn], work: TurnWork
    ) -> Lesson:
        """The lesson of turns that are joined; what others said before is no past of the user."""
        # The queue has just looked.
        room = await self.lesson_resources(hook, wanted=True)
        turn = await asyncio.to_thread(marked_turn, turns)
        if turn.kind == "saved":
            if await hook.kind() == "shared":
                turn = replace(turn, kind="shared", earlier=())
            elif turn.earlier and await hook.other_authors():
                turn = replace(turn, earlier=())
        now = local_time(turn.source.said_at, *turn.time_zones)
        lesson = await learn_turn(room, turn, now, work)
        if lesson.doubtful:
            asked = delete_confirmed(
                room, turn.source, hook.dialog, lesson.doubtful
            )
            self.start(
                self.suggestions.asking(turn.user_id, self._ask(hook, asked))
            )
        self.start(self._look_at_edit(room, turn, hook))
        return lesson

    async def _look_at_edit(
        self, room: LessonResources, turn: Turn, hook: Hook
    ) -> None:
        """Offer to take back what only a former version of a message said.

        Questions wait for each other from the time when there is something to ask.
        """
        try:
            memories = await said_before_edit(room, turn, hook)
        except HostError as error:
            log_failure("an edit is not looked at", error)
            return
        if memories and room.can_ask:
            asked = delete_confirmed(
                room, turn.source, hook.dialog, memories, "changed_message"
            )
            await self.suggestions.asking(turn.user_id, self._ask(hook, asked))
        elif memories:
            await self.status.notice(hook, how_to_take_back(memories))

    async def _ask(self, hook: Hook, asked: Awaitable[Report]) -> None:
        """Ask about deletions, behind the lesson: whoever does not answer keeps nobody waiting."""
        try:
            report = await asked
        except AdaptiveMemoryError as error:
            log_failure("nothing deleted", error)
            line = f"{phrase('nothing_done')}: {error}"
            report = Report(line, kind="reply")
        await self.status.write(hook, report)


def _answer_key(turn: Turn) -> tuple[str, str, str]:
    """What tells the hook of a turn: its user, and the message and answer that it is of."""
    return turn.user_id, turn.source.message_id, turn.answer_id


def _asked_in(hook: Hook) -> Provenance:
    return Provenance(hook.chat_id, hook.question_id, int(time.time()))
