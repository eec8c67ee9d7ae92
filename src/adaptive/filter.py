"""The filter as Open WebUI sees it: its hooks, each with one guarded edge."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import NoReturn, TypeVar

from adaptive.answer.postprocessing import answered_turn
from adaptive.control.turn import (
    Command,
    CommandTurn,
    command_in,
    memory_is_off,
    rememberable_messages,
    without_former_commands,
)
from adaptive.core import (
    HindranceLine,
    JsonObject,
    failure_told,
    log,
    log_failure,
    measured_part,
    messages_of,
    phrase,
    typed_message,
)
from adaptive.host.application import (
    cut_off_when_dropped,
    host_request,
)
from adaptive.host.audience import is_on_page
from adaptive.host.hook import (
    HookArguments,
    HostHook,
    host_hook,
    with_arguments,
)
from adaptive.host.page import (
    EventEmitter,
    HostAnswer,
    PageNotifier,
    TurnAnswered,
)
from adaptive.host.providers import known_models
from adaptive.learn.turns import typed_turn
from adaptive.privacy.redacted_chat import RedactedTurns, withheld
from adaptive.privacy.spoken_requests import (
    ErasureRequest,
    spoken_request,
)
from adaptive.recall.request import RequestWindow, plain_window
from adaptive.settings.hook import COMMANDED_KINDS, KINDS_AFTER_COMMANDS
from adaptive.settings.valves import UserValves, Valves
from adaptive.wiring import Services

Begun = TypeVar("Begun")


class Filter:
    """Adaptive Memory: recalls before the model is asked, learns after it has answered."""

    Valves = Valves
    UserValves = UserValves

    def __init__(self) -> None:
        self.valves = Valves()
        self._tasks: set[asyncio.Task[object]] = set()
        self._watch: asyncio.Task[None] | None = None
        self._redacted_turns = RedactedTurns()
        services = Services(
            start=self._start, behind=partial(self._behind, None)
        )
        self._services = services
        self._status = services.status
        Valves.model_catalogue = lambda: known_models(
            str(self.valves.llm_host_model)
        )
        request = host_request()
        if request is not None:
            warming = services.warm_up(request)
            self._behind(None, warming, "making ready ahead")

    @with_arguments
    async def inlet(
        self, body: JsonObject, arguments: HookArguments
    ) -> JsonObject:
        """Put the memories that fit the newest message into the system prompt."""
        metadata = arguments.metadata
        redacts = self.valves.pii_redaction == "all"
        recall = self._services.recall
        hook: HostHook | None = None
        window: RequestWindow | None = None
        try:
            messages = messages_of(body)
            if is_on_page(metadata, COMMANDED_KINDS):
                command = command_in(messages)
                if command is not None:
                    await self._answer_command(command, arguments)
            is_off = False
            if is_on_page(metadata, KINDS_AFTER_COMMANDS):
                is_off = memory_is_off(messages)
                # Before what may fail: no model may read what a command was answered.
                body = without_former_commands(body)
            hook = await self._hook(arguments)
            if hook is not None:
                # The host asks the model, and does its own tasks, in the task that has called
                # this hook (host: main.py, process_chat).
                self._services.foreground.begin_answer(await hook.machine())
            if hook is not None and hook.is_served and not is_off:
                window = plain_window(hook, body)
                seconds = hook.settings.inlet_timeout_seconds
                time_limit = asyncio.timeout(seconds)
                with self._services.foreground.turn():
                    measuring = measured_part("inlet", hook.answer_id)
                    async with measuring, time_limit:
                        window = await recall.window(hook, window)
                        body = await recall.recalled(hook, window)
        except Exception as error:
            log_failure("the chat goes on without memories", error)
            if hook is not None and window is not None:
                body = self._without_memories(hook, window)
                self._tell(hook, failure_told(phrase("no_recall"), error))
        if redacts:
            whole = recall.blocks.added(body, metadata)
            emitter = arguments.emitter
            body = await self._redacted(body, metadata, emitter, whole)
        return body

    def _without_memories(
        self, hook: HostHook, window: RequestWindow
    ) -> JsonObject:
        """A request whose recall has failed, fitted and warned; as it came where that fails."""
        try:
            return self._services.recall.sent(hook, window)
        except Exception:
            log.exception("a chat is sent as it came")
            return window.body

    async def _answer_command(
        self, command: Command, arguments: HookArguments
    ) -> NoReturn:
        """Answer a command in the model's place.

        Raises:
            TurnAnswered: always, which ends the turn.
        """
        turn = CommandTurn(
            place=HostAnswer.of(arguments.metadata, arguments.emitter),
            title=command.title,
            asking=arguments.caller,
        )
        timed = replace(arguments, caller=turn.questions)
        answering = self._start(self._answered(command, timed))
        await turn.answer(answering, self._start)
        raise TurnAnswered

    async def _answered(
        self, command: Command, arguments: HookArguments
    ) -> str:
        """The answer to a command, be it that it failed: no model may answer it."""
        try:
            hook = await self._hook(arguments)
            if hook is None:
                return f"{phrase('did_not_work')}."
            return await self._services.commands.answer(hook, command)
        except Exception as error:
            log_failure("a command has failed", error)
            return f"{failure_told(phrase('did_not_work'), error)}."

    async def request(
        self,
        body: JsonObject,
        __metadata__: JsonObject | None = None,
        __event_emitter__: EventEmitter | None = None,
    ) -> JsonObject:
        """Put in what was recalled, before each request to the model (0.11.2 and later).

        That is behind the host's own tasks, so none of them reads it. What the host has put in
        behind the inlet, documents, pages and results of tools, is redacted here as well.
        """
        metadata = {} if __metadata__ is None else __metadata__
        try:
            # Messages are known by their texts.
            body = self._redacted_turns.restored(body, metadata)
            body = self._services.recall.blocks.added(body, metadata)
        except Exception:
            log.exception("the chat goes on without memories")
        return await self._redacted(
            body, metadata, __event_emitter__, again=True
        )

    async def _redacted(
        self,
        body: JsonObject,
        metadata: JsonObject,
        emitter: EventEmitter | None,
        whole: JsonObject | None = None,
        *,
        again: bool = False,
    ) -> JsonObject:
        """The request with placeholders; where that fails, one in which nobody says anything.

        They are numbered by all that the model will read, so they stay from turn to turn.
        The admin has chosen that no personal data goes out, and so it does not; the chat goes on,
        and the user is told. The error is logged by its name alone: it may quote texts.
        """
        try:
            return await self._redacted_turns.redact(
                body, metadata, whole=whole, again=again
            )
        except Exception as error:
            log.error(
                "a chat's messages were withheld: %s", type(error).__name__
            )
            telling = PageNotifier(emitter).status(phrase("not_sent"))
            self._start(telling)
            return withheld(body)

    @property
    def stream(self) -> Callable[..., object]:
        """The hook on each piece of an answer; there only where an answer may need it."""
        if self.valves.pii_redaction != "all":
            raise AttributeError("stream")
        return self._restored_event

    def _restored_event(
        self,
        event: object,
        __metadata__: JsonObject | None = None,
        __body__: JsonObject | None = None,
    ) -> object:
        """A piece of an answer with its values; as it is where that fails."""
        metadata = {} if __metadata__ is None else __metadata__
        try:
            return self._redacted_turns.restore_event(
                event, metadata, __body__ or {}
            )
        except Exception as error:
            log.warning(
                "placeholders stay in an answer: %s", type(error).__name__
            )
            return event

    @with_arguments
    async def outlet(
        self, body: JsonObject, arguments: HookArguments
    ) -> JsonObject:
        """Clean the answer, and keep the turn for learning, which goes on behind it."""
        metadata = arguments.metadata
        services = self._services
        hook: HostHook | None = None
        try:
            services.recall.blocks.let_go(metadata)
            body = self._redacted_turns.restore_answer(body, metadata)
            hook = await self._hook(arguments)
            if hook is not None:
                now = time.time()
                if services.sweep.is_due(now):
                    sweeping = services.sweep.run(now)
                    self._behind(None, sweeping, "sweeping", gently=True)
                services.past_learning.take_up(hook)
                messages = messages_of(body)
                holds_commands = is_on_page(metadata, KINDS_AFTER_COMMANDS)
                is_off = holds_commands and memory_is_off(messages)
                if hook.is_served and not is_off:
                    body = await self._with_answer(hook, body, holds_commands)
                # What was kept before it was switched off is still the user's to erase.
                elif not self._asked(hook, messages):
                    leases = services.tables.leases
                    telling = hook.tell_switched_off(leases)
                    self._behind(hook, telling, "telling that memory is off")
        except Exception:
            log.exception("nothing can be learned from this turn")
            if hook is not None:
                self._tell(hook, HindranceLine(phrase("unexpected")))
        return body

    async def _with_answer(
        self, hook: HostHook, body: JsonObject, holds_commands: bool
    ) -> JsonObject:
        """The answer as it is to stand; what is to be done behind it is begun."""
        services = self._services
        body = await services.correction.cleaned(hook, body)
        if services.correction.has_links(hook, body):
            correcting = services.correction.correct_links(hook)
            self._behind(hook, correcting, "checking an answer's links")
        messages = messages_of(body)
        title = hook.state.pop("title", "")
        if title:
            self._behind(
                hook, hook.name_chat(title, messages), "naming a chat"
            )
        rememberable = messages
        if holds_commands:
            rememberable = rememberable_messages(messages)
        turn = typed_turn(hook, messages, rememberable)
        if self._asked(hook, messages):
            return body
        queued = None
        if turn is not None:
            with services.foreground.turn():
                queued = await services.learning.put(hook, turn)
        learned = asyncio.Event()
        learning = services.learning.learn(hook, queued, learned)
        self._behind(hook, learning, "learning", phrase("nothing_saved"))
        answered = answered_turn(hook, messages, turn)
        if answered is not None:
            processing = services.postprocessor.process(answered, learned)
            self._behind(hook, processing, "postprocessing", gently=True)
        if services.history.keeps(hook):
            keeping = services.history.keep(
                hook, partial(self._status.notice, hook)
            )
            self._behind(hook, keeping, "history", gently=True)
        else:
            offering = services.chat_finder.offer(hook, messages)
            self._behind(hook, offering, "offering recall", gently=True)
        return body

    def _asked(self, hook: HostHook, messages: list[JsonObject]) -> bool:
        """Whether the newest message asks the memory for something, which is begun then."""
        request = spoken_request(
            hook, typed_message(messages, hook.question_id)
        )
        if request is None:
            return False
        commands = self._services.commands
        doing = "doing what was asked for"
        if request == "unclear":
            telling = self._status.reply(hook, phrase("how_to_erase"))
            self._behind(hook, telling, doing)
            return False
        if isinstance(request, ErasureRequest):
            failure = phrase("did_not_work")
            work = commands.erase(hook, request)
        else:
            failure = phrase("nothing_done")
            work = commands.restore(hook)
        self._behind(hook, work, doing, failure, asked_for=True)
        return True

    async def _hook(self, arguments: HookArguments) -> HostHook | None:
        """What this hook works with; ``None`` where there is nobody to serve."""
        tables = self._services.tables
        return await host_hook(arguments, self.valves, tables)

    def _tell(self, hook: HostHook, line: str) -> None:
        """Begin to tell the user what has failed."""
        self._behind(hook, self._status.notice(hook, line), "telling")

    def _behind(
        self,
        hook: HostHook | None,
        work: Coroutine[None, None, str | bool | None],
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
                answer_id = hook.answer_id if hook else ""
                async with measured_part(doing, answer_id):
                    if gently:
                        await self._services.foreground.give_way()
                    line = await work
            except Exception as error:
                log_failure(f"{doing} has failed", error)
                line = failure and failure_told(failure, error)
            if isinstance(line, str) and line and hook is not None:
                tell = self._status.reply if asked_for else self._status.notice
                await tell(hook, line)

        self._start(guarded())

    def _start(
        self, work: Coroutine[None, None, Begun]
    ) -> asyncio.Task[Begun]:
        """Run in the background; the loop itself keeps only weak references to tasks."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self._watch is None or self._watch.done():
            watching = cut_off_when_dropped(self, self._tasks)
            self._watch = asyncio.create_task(watching)
        return task
