"""The filter as Open WebUI sees it: its hooks, each with one guarded edge; wiring only."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import nullcontext
from functools import partial
from typing import Any

from fastapi import Request

from adaptive.answer.correction import AnswerCorrection
from adaptive.answer.postprocessing import Postprocessor, answered_turn
from adaptive.answer.preprocessing import Preprocessor
from adaptive.control.commands import Command, MemoryCommands, command_in
from adaptive.control.former_commands import without_former_commands
from adaptive.control.once import OncePerMessage
from adaptive.control.requests import MemoryRequests
from adaptive.core.cache import forget_texts
from adaptive.core.errors import HINDRANCE, failure_told, hindrance_line, log_failure
from adaptive.core.foreground import Foreground
from adaptive.core.messages import memory_is_off, messages_of, typed_message
from adaptive.history.conversation import PastConversation
from adaptive.host.doctor import diagnosis
from adaptive.host.erasure import host_eraser
from adaptive.host.history_chats import HostPastChats
from adaptive.host.history_vectors import HostHistoryVectors
from adaptive.host.hook import HostHook, may_hold_commands, takes_commands
from adaptive.host.installed import Installation, warm_up
from adaptive.host.native_features import has_memory_on
from adaptive.host.page import EventCaller, EventEmitter, PageNotifier
from adaptive.host.providers import known_models
from adaptive.host.requests import UNSUPPORTED, host_is_supported, host_request
from adaptive.host.stored_answer import BROKEN_OFF, CommandTurn, HostAnswer
from adaptive.host.sweeping import HostSweep
from adaptive.host.tables import HostTables, host_secret
from adaptive.host.telemetry import measured_part
from adaptive.learn.learning import Learning
from adaptive.learn.queue import typed_turn
from adaptive.learn.suggestions import Suggestions
from adaptive.llm.ask import AnswerFormats
from adaptive.memory.audit import AuditTrail
from adaptive.memory.user_memory import Memories
from adaptive.privacy.redacted_chat import RedactedTurns, withheld
from adaptive.privacy.sealing import Sealer
from adaptive.privacy.spoken_requests import HOW_TO_ERASE, spoken_request
from adaptive.recall.recall import Recall
from adaptive.recall.window import RequestWindow, plain_window
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.merged import Settings
from adaptive.settings.status_line import StatusLines
from adaptive.settings.valves import UserValves, Valves

log = logging.getLogger("adaptive_memory")

HookOfTurn = Callable[[], Awaitable[HostHook | None]]


class Filter:
    """Adaptive Memory: recalls before the model is asked, learns after it has answered."""

    Valves = Valves
    UserValves = UserValves

    def __init__(self) -> None:
        self.valves = Valves()
        self._tasks: set[asyncio.Task[None]] = set()
        self._foreground = Foreground()
        self._redacted_turns = RedactedTurns()
        self._supported: bool | None = None
        self._misread: tuple[str, ...] = ()
        self._installation = Installation(self, self._tasks)
        indexes, formats, start = MemoryIndexes(), AnswerFormats(), self._start
        tables = self._tables = HostTables(Sealer(host_secret()))
        notes, trail = tables.chat_notes, AuditTrail(tables.audit)
        suggestions = Suggestions(tables.suggestions)
        memories = Memories(tables.archive, tables.usage, trail, self._foreground.give_way)
        self._status = StatusLines(tables.usage.count_hint)
        learning = self._learning = Learning(
            indexes=indexes,
            pending=tables.pending,
            memories=memories,
            leases=tables.leases,
            formats=formats,
            start=start,
            suggestions=suggestions,
            foreground=self._foreground,
            status=self._status,
        )
        nulls = partial(indexes.nulls.made, table=tables.vectors)
        vectors = HostHistoryVectors()
        self._history = PastConversation(formats, notes, nulls, vectors, HostPastChats())
        self._sweep = HostSweep(tables.leases, vectors)
        self._preprocessor = Preprocessor(formats, start, trail.record)
        beside = (self._preprocessor.beside, self._history)
        recall_tables, behind = (tables.chats, notes, tables.usage), partial(self._behind, None)
        self._recall = Recall(indexes, formats, *recall_tables, behind, *beside)
        self._postprocessor = Postprocessor(formats, notes, trail.record, learning, self._status)
        self._correction = AnswerCorrection()
        caches = (self._recall.forget, self._postprocessor.forget, forget_texts)
        eraser_of = partial(host_eraser, tables.archive, self._history, caches, (learning.forget,))
        self._requests = MemoryRequests(
            memories=memories,
            learner=learning,
            status=self._status,
            eraser_of=eraser_of,
        )
        self._commands = MemoryCommands(
            requests=self._requests,
            search=self._recall.search,
            diagnosis=partial(diagnosis, indexes=indexes, formats=formats),
            once=OncePerMessage(tables.commands, tables.leases),
        )
        Valves.model_catalogue = lambda: known_models(str(self.valves.llm_host_model))
        if (request := host_request()) is not None:
            warming = warm_up(request, indexes, tables.vectors)
            self._behind(None, warming, "making ready ahead")

    async def inlet(
        self,
        body: dict[str, Any],
        __user__: dict[str, Any] | None = None,
        __metadata__: dict[str, Any] | None = None,
        __request__: Request | None = None,
        __event_emitter__: EventEmitter | None = None,
        __model__: Any = None,
        __event_call__: EventCaller | None = None,
    ) -> dict[str, Any]:
        """Put the memories that fit the newest message into the system prompt."""
        hook: HostHook | None = None
        window: RequestWindow | None = None
        redacts = getattr(self.valves, "pii_redaction", "") == "all"
        metadata = {} if __metadata__ is None else __metadata__
        try:
            of_turn = (__metadata__, __request__, __event_emitter__, __model__, __event_call__)
            said = messages_of(body)
            command = command_in(said) if takes_commands(metadata) else None
            if command is not None:
                answer = HostAnswer.of(metadata, __event_emitter__)
                turn = CommandTurn(answer, command.title, __event_call__)
                hook_of_turn = partial(self._hook, __user__, *of_turn[:-1], turn.questions)
                await turn.end(self._start(self._answered(command, turn, hook_of_turn)))
            is_off = may_hold_commands(metadata) and memory_is_off(said)
            # First of all: whatever fails below, no model may read what a command was answered.
            if may_hold_commands(metadata):
                body = without_former_commands(body)
            hook = await self._hook(__user__, *of_turn)
            if hook is not None and hook.is_served and not is_off:
                window = plain_window(hook, body)
                limit = asyncio.timeout(hook.settings.inlet_timeout_seconds)
                with self._foreground.turn():
                    async with measured_part(hook, "inlet"), limit:
                        window = await self._recall.window(hook, window)
                        body = await self._recall.recalled(hook, window)
        except Exception as error:
            log_failure(log, "the chat goes on without memories", error)
            if hook is not None and window is not None:
                body = self._without_memories(hook, window)
                line = failure_told("Answered without memories", error)
                self._start(self._status.notice(hook, line))
        return await self._redacted(body, __metadata__, __event_emitter__) if redacts else body

    async def _answered(self, command: Command, turn: CommandTurn, hook_of: HookOfTurn) -> None:
        """Give the answer to a command, be it that it failed: no model may answer it."""
        try:
            hook = await hook_of()
            too_old = f"That did not work: {UNSUPPORTED}."
            answer = await self._commands.answer(hook, command) if hook else too_old
        except asyncio.CancelledError:
            await turn.give(BROKEN_OFF)
            raise
        except Exception as error:
            log.exception("an unexpected error while answering a command")
            answer = f"{failure_told('That did not work', error)}."
        await turn.give(answer)

    def _without_memories(self, hook: HostHook, window: RequestWindow) -> dict[str, Any]:
        """A request whose recall has failed, fitted and warned; as it came where that fails."""
        try:
            return self._recall.sent(hook, window)
        except Exception:
            log.exception("a chat is sent as it came")
            return window.body

    @property
    def stream(self) -> Callable[..., Any]:
        """The hook on each piece of an answer; there only while an answer may need it."""
        if not self._redacted_turns:
            raise AttributeError("stream")
        return self._restored_event

    async def request(
        self,
        body: dict[str, Any],
        __metadata__: dict[str, Any] | None = None,
        __event_emitter__: EventEmitter | None = None,
    ) -> dict[str, Any]:
        """Put in what was recalled, before each request to the model (0.11.2 and later).

        That is behind the host's own tasks, so none of them reads it. What the host has put in
        behind the inlet, documents, pages and results of tools, is redacted here as well.
        """
        metadata = {} if __metadata__ is None else __metadata__
        try:
            body = self._recall.waiting.added(body, metadata)
        except Exception:
            log.exception("the chat goes on without memories")
        return await self._redacted(body, metadata, __event_emitter__, again=True)

    def _restored_event(
        self,
        event: Any,
        __metadata__: dict[str, Any] | None = None,
        __body__: dict[str, Any] | None = None,
    ) -> Any:
        """A piece of an answer with its values; as it is where that fails."""
        metadata = {} if __metadata__ is None else __metadata__
        try:
            return self._redacted_turns.restore_event(event, metadata, __body__ or {})
        except Exception as error:
            log.warning("placeholders stay in an answer: %s", type(error).__name__)
            return event

    async def _redacted(
        self,
        body: dict[str, Any],
        metadata: dict[str, Any] | None,
        emitter: EventEmitter | None,
        *,
        again: bool = False,
    ) -> dict[str, Any]:
        """The request with placeholders; where that fails, one in which nobody says anything.

        The admin has chosen that no personal data goes out, and so it does not; the chat goes on,
        and the user is told. What failed is told by its name alone: errors may quote texts.
        """
        try:
            told = {} if metadata is None else metadata
            return await self._redacted_turns.redact(body, told, again=again)
        except Exception as error:
            log.error("a chat's messages were withheld: %s", type(error).__name__)  # noqa: TRY400
            reason = "personal data in it could not be replaced"
            self._start(PageNotifier(emitter).status(f"Not sent to the model: {reason}"))
            return withheld(body)

    async def outlet(
        self,
        body: dict[str, Any],
        __user__: dict[str, Any] | None = None,
        __metadata__: dict[str, Any] | None = None,
        __request__: Request | None = None,
        __event_emitter__: EventEmitter | None = None,
        __model__: Any = None,
        __event_call__: EventCaller | None = None,
    ) -> dict[str, Any]:
        """Clean the answer, and keep the turn for learning, which goes on behind it."""
        metadata = {} if __metadata__ is None else __metadata__
        hook: HostHook | None = None
        try:
            self._recall.waiting.let_go(metadata)
            body = self._redacted_turns.restore_answer(body, metadata)
            of_turn = (__metadata__, __request__, __event_emitter__, __model__, __event_call__)
            if (hook := await self._hook(__user__, *of_turn)) is not None:
                self._sweep_when_due()
                is_off = may_hold_commands(metadata) and memory_is_off(messages_of(body))
                if hook.is_served and not is_off:
                    body = await self._with_answer(hook, body)
                # What was kept before it was switched off is still the user's to erase.
                elif self._asked(hook, messages_of(body)):
                    return body
                if hook.is_switched_off:
                    seeing = hook.tell_switched_off(self._tables.leases)
                    self._behind(hook, seeing, "telling that memory is off")
        except Exception:
            log.exception("nothing can be learned from this turn")
            if hook is not None:
                telling = self._status.notice(hook, hindrance_line("an unexpected error"))
                self._behind(hook, telling, "telling that nothing is saved")
        return body

    async def _with_answer(self, hook: HostHook, body: dict[str, Any]) -> dict[str, Any]:
        """The answer as it is to stand; what is to be done behind it is begun."""
        body = await self._correction.cleaned(hook, body)
        if self._correction.has_links(hook, body):
            self._behind(hook, self._correction.correct_links(hook), "checking an answer's links")
        messages = messages_of(body)
        if title := hook.state.pop("title", ""):
            self._behind(hook, hook.name_chat(title, messages), "naming a chat")
        turn = typed_turn(hook, messages)
        if self._asked(hook, messages):
            return body
        with self._foreground.turn():
            queued = await self._learning.put(hook, turn) if turn is not None else None
        learned = asyncio.Event()
        self._behind(hook, self._learning.learn(hook, queued, learned), "learning", "Nothing saved")
        _, said = typed_message(messages, hook.question_id) or ({}, "")
        if looked_at := answered_turn(hook, messages, said, turn):
            processing = self._postprocessor.process(looked_at, learned)
            self._behind(hook, processing, "postprocessing", gently=True)
        if self._history.keeps(hook):
            keeping = self._history.keep(hook, partial(self._status.notice, hook))
            self._behind(hook, keeping, "history", gently=True)
        return body

    def _sweep_when_due(self) -> None:
        """Begin what is to be done once a day, whosever turn it is."""
        now = time.time()
        if self._sweep.is_due(now):
            self._behind(None, self._sweep.run(now), "sweeping", gently=True)

    def _asked(self, hook: HostHook, messages: list[dict[str, Any]]) -> bool:
        """Whether the newest message asks the memory for something, which is begun then."""
        request = spoken_request(hook, typed_message(messages, hook.question_id))
        if request is None:
            return False
        if request == "unclear":
            telling = self._status.reply(hook, HOW_TO_ERASE)
            self._behind(hook, telling, "telling how to erase")
            return False
        if request == "restore":
            work, failure = self._requests.restore(hook), "Not restored"
        else:
            work, failure = self._requests.erase(hook, request), "Not erased"
        self._behind(hook, work, "doing what was asked for", failure, asked_for=True)
        return True

    async def _hook(
        self,
        user: dict[str, Any] | None,
        metadata: dict[str, Any] | None,
        request: Request | None,
        emitter: EventEmitter | None,
        chat_model: Any,
        caller: EventCaller | None = None,
    ) -> HostHook | None:
        """What this hook works with; ``None`` where there is nobody to serve."""
        settings = Settings.merge(self.valves, (user or {}).get("valves"))
        if request is None or not user or not user.get("id"):
            return None
        if settings.misread != self._misread:
            self._misread = settings.misread
            log.warning("valves that are not understood: %s", "; ".join(self._misread) or "none")
        if self._supported is None:
            self._supported = host_is_supported()
            if not self._supported:
                log.error(UNSUPPORTED)
        if self._supported and not await has_memory_on(request, user):
            settings = settings.model_copy(update={"enabled": False})
        told, vectors = {} if metadata is None else metadata, self._tables.vectors
        hook = HostHook.of(settings, user, told, request, emitter, chat_model, caller, vectors)
        if self._supported:
            return hook
        if settings.enabled:
            telling = self._status.notice(hook, f"{HINDRANCE}: {UNSUPPORTED}.")
            self._behind(hook, telling, "telling that the release is too old")
        return None

    def _behind(
        self,
        hook: HostHook | None,
        work: Coroutine[Any, Any, str | bool | None],
        doing: str,
        failure: str = "",
        *,
        gently: bool = False,
        asked_for: bool = False,
    ) -> None:
        """Begin work that no answer waits for; it is measured, and its line is told to the user.

        What fails is logged, and told after the words of ``failure`` if there are any. What is
        done ``gently`` waits until nobody waits for an answer; what the user has ``asked_for`` is
        answered whatever is shown of other turns.
        """

        async def guarded() -> None:
            try:
                async with measured_part(hook, doing) if hook else nullcontext():
                    if gently:
                        await self._foreground.give_way()
                    line = await work
            except Exception as error:
                log_failure(log, f"{doing} has failed", error)
                line = failure and failure_told(failure, error)
            if isinstance(line, str) and line and hook is not None:
                tell = self._status.reply if asked_for else self._status.notice
                await tell(hook, line)

        self._start(guarded())

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run in the background; the loop itself keeps only weak references to tasks."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._installation.look_out()
        return task
