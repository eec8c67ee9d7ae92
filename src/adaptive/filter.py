"""The filter as Open WebUI sees it: its hooks, each with one guarded edge; wiring only."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import Request

from adaptive.answer.correction import AnswerCorrection
from adaptive.answer.postprocessing import AnsweredTurn, Postprocessor, answered_turn
from adaptive.answer.preprocessing import Preprocessor
from adaptive.answer.suggestions import Suggestions
from adaptive.control.erasing import Erasing
from adaptive.control.restoring import Restoring
from adaptive.control.spoken_requests import spoken_request
from adaptive.errors import AdaptiveMemoryError
from adaptive.foreground import Foreground
from adaptive.history.conversation import PastConversation
from adaptive.host.chat_title import name_chat
from adaptive.host.dialog import EventCaller
from adaptive.host.events import EventEmitter, PageNotifier
from adaptive.host.history_chats import HostPastChats
from adaptive.host.history_turn import history_turn
from adaptive.host.history_vectors import HostHistoryVectors
from adaptive.host.hook import Hook
from adaptive.host.installed import Installation
from adaptive.host.model_choices import HostModels
from adaptive.host.redacted_turns import RedactedTurns, withheld
from adaptive.host.release import UNSUPPORTED, host_is_supported
from adaptive.host.secret import host_secret
from adaptive.host.switched_off import SwitchNotices, memory_switch, memory_switched_off
from adaptive.host.tables import HostTables
from adaptive.host.warmup import host_request
from adaptive.learn.archive import AuditTrail
from adaptive.learn.report import NOTHING_NEW, failure_line
from adaptive.learning import Learning
from adaptive.llm.ask import AnswerFormats
from adaptive.measuring import Measuring
from adaptive.privacy.sealing import Sealer
from adaptive.recalling import Recalling, RequestInHand
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings import Settings
from adaptive.shapes import listing, mapping
from adaptive.table_ports import PendingTurn
from adaptive.text_cache import forget_texts
from adaptive.turn_state import turn_state
from adaptive.typed_turns import typed_message, typed_turn
from adaptive.user_valves import UserValves
from adaptive.valves import Valves

log = logging.getLogger("adaptive_memory")


class Filter:
    """Adaptive Memory: recalls before the model is asked, learns after it has answered."""

    Valves = Valves
    UserValves = UserValves

    def __init__(self) -> None:
        self.valves = Valves()
        self._tasks: set[asyncio.Task[None]] = set()
        self._foreground = Foreground()
        give_way = self._foreground.give_way
        indexes, formats, start = MemoryIndexes(), AnswerFormats(), self._start
        tables = HostTables.sealed(Sealer(host_secret()))
        notes, trail = tables.chat_notes, AuditTrail(tables.audit)
        suggestions = Suggestions(tables.suggestions)
        self._redacted_turns = RedactedTurns()
        self._measuring, self._installation = Measuring(), Installation(self, self._tasks)
        serves = self._installation.serves
        self._learning = Learning(
            indexes, tables, formats, start, trail, suggestions, serves, give_way
        )
        nulls = partial(indexes.nulls.made, table=tables.vectors)
        past = HostHistoryVectors(), HostPastChats()
        self._history = PastConversation(formats, notes, tables.leases, nulls, *past)
        self._preprocessor = Preprocessor(formats, start, trail.record)
        self._recalling = Recalling(
            indexes, tables, formats, start, self._preprocessor, self._history
        )
        learning = self._learning
        parts = (learning.writing, learning.model_for, learning.learn_findings)
        self._postprocessor = Postprocessor(formats, notes, trail.record, *parts)
        self._correction = AnswerCorrection(self._learning.writing)
        shells = (self._recalling.forget, self._postprocessor.forget, suggestions.forget)
        forgetting = (*shells, forget_texts)
        self._erasing = Erasing(self._learning, forgetting, history=self._history)
        self._restoring = Restoring(self._learning)
        self._switch_notices = SwitchNotices()
        self._supported: bool | None = None
        Valves.model_catalogue = HostModels(lambda: str(self.valves.llm_host_model))
        if (request := host_request()) is not None:
            self._start(self._warmed_up(request))

    async def _warmed_up(self, request: Request) -> None:
        """Getting ready in a task of its own; whatever fails is done by the first message."""
        try:
            await self._recalling.warm_up(request, self._installation.stored_valves)
        except AdaptiveMemoryError as error:
            log.info("not everything was made ready ahead: %s", error)

    async def inlet(
        self,
        body: dict[str, Any],
        __user__: dict[str, Any] | None = None,
        __metadata__: dict[str, Any] | None = None,
        __request__: Request | None = None,
        __event_emitter__: EventEmitter | None = None,
        __model__: Any = None,
    ) -> dict[str, Any]:
        """Put the memories that fit the newest message into the system prompt."""
        asked: RequestInHand | None = None
        reason = ""
        redacting = getattr(self.valves, "pii_redaction", "") == "all"
        try:
            hook = self._hook(__user__, __metadata__, __request__, __event_emitter__, __model__)
            if hook is not None and hook.settings.enabled:
                asked = RequestInHand(hook, body)
                limit = asyncio.timeout(hook.settings.inlet_timeout_seconds)
                with self._foreground.turn():
                    async with self._measuring.inlet(hook), limit:
                        body = await self._recalling.recalled(asked)
        except TimeoutError:
            reason = "they took too long"
        except AdaptiveMemoryError as error:
            reason = str(error)
        except Exception:
            log.exception("an unexpected error while recalling")
            reason = "an unexpected error; the server's log tells more"
        if reason:
            log.warning("the chat goes on without memories: %s", reason)
            if asked is not None:
                body = _without_memories(asked)
                line = f"Answered without memories: {reason}"
                self._start(asked.hook.notifier.status(line))
        if not redacting:
            return body
        told = {} if __metadata__ is None else __metadata__
        return await self._redacted(self._redacted_turns.redact, body, told, __event_emitter__)

    @property
    def stream(self) -> Callable[..., Any]:
        """The hook on each piece of an answer; there only while an answer may need it."""
        if not self._redacted_turns:
            raise AttributeError("stream")
        return self._restored_event

    @property
    def request(self) -> Callable[..., Coroutine[Any, Any, dict[str, Any]]]:
        """The hook on what goes to the model in the end (0.11.2 and later); there like ``stream``.

        It sees what the host puts in behind the inlet: documents, pages, results of tools.
        """
        if not self._redacted_turns:
            raise AttributeError("request")
        return self._redacted_request

    def _restored_event(
        self,
        event: Any,
        __metadata__: dict[str, Any] | None = None,
        __body__: dict[str, Any] | None = None,
    ) -> Any:
        """A piece of an answer with its values; as it is where that fails."""
        try:
            return self._redacted_turns.restore_event(event, __metadata__ or {}, __body__ or {})
        except Exception as error:
            log.warning("placeholders stay in an answer: %s", type(error).__name__)
            return event

    async def _redacted_request(
        self,
        body: dict[str, Any],
        __metadata__: dict[str, Any] | None = None,
        __event_emitter__: EventEmitter | None = None,
    ) -> dict[str, Any]:
        """What goes to the chat model, with placeholders in what the host has added, too."""
        told = {} if __metadata__ is None else __metadata__
        redact = self._redacted_turns.redact_again
        return await self._redacted(redact, body, told, __event_emitter__)

    async def _redacted(
        self,
        redact: Callable[[dict[str, Any], dict[str, Any]], Coroutine[Any, Any, dict[str, Any]]],
        body: dict[str, Any],
        metadata: dict[str, Any],
        emitter: EventEmitter | None,
    ) -> dict[str, Any]:
        """The request with placeholders; where that fails, one in which nobody says anything.

        The admin has chosen that no personal data goes out, and so it does not; the chat goes on,
        and the user is told. What failed is told by its name alone: errors may quote texts.
        """
        try:
            return await redact(body, metadata)
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
        try:
            body = self._redacted_turns.restore_answer(body, __metadata__ or {})
            hook = self._hook(__user__, __metadata__, __request__, __event_emitter__, __model__)
            if hook is not None:
                hook = replace(hook, caller=__event_call__)
                if hook.settings.enabled:
                    body = await self._answered(hook, body)
                # What was kept before it was switched off is still the user's to erase.
                elif self._asked(hook, _messages_of(body)):
                    return body
                if memory_switch(hook.user) is not None:
                    self._start(self._switch_seen(hook))
        except Exception:
            log.exception("nothing can be learned from this turn")
        return body

    async def _answered(self, hook: Hook, body: dict[str, Any]) -> dict[str, Any]:
        """The answer as it is to stand; what is to be done behind it is begun."""
        body = await self._correction.cleaned(hook, body)
        if answered := self._correction.with_links(hook, body):
            self._start(self._linked(hook, answered))
        messages = _messages_of(body)
        state = turn_state(hook.metadata)
        if title := state.pop("title", ""):
            self._start(self._named(hook, title, messages))
        turn = typed_turn(hook, messages)
        if self._asked(hook, messages):
            return body
        with self._foreground.turn():
            pending = await self._learning.put(hook, turn) if turn is not None else None
        line = NOTHING_NEW if turn is not None else state.get("unlearned", "")
        learned = asyncio.Event()
        self._start(self._learned(hook, pending, line, learned))
        _, said = typed_message(hook, messages) or ({}, "")
        if looked_at := answered_turn(hook, messages, said, turn.turn if turn else None):
            self._start(self._postprocessed(looked_at, learned))
        if self._history.keeps(history_turn(hook)):
            self._start(self._remembered(hook))
        return body

    def _asked(self, hook: Hook, messages: list[dict[str, Any]]) -> bool:
        """Whether the newest message asks the memory for something, which is begun then."""
        request = spoken_request(hook, messages)
        if request is None or (request == "restore" and not hook.settings.enabled):
            return False
        if request == "restore":
            self._start(self._done(hook, self._restoring.restore(hook), "Not restored"))
        else:
            self._start(self._done(hook, self._erasing.erase(hook, request), "Not erased"))
        return True

    def _hook(
        self,
        user: dict[str, Any] | None,
        metadata: dict[str, Any] | None,
        request: Request | None,
        emitter: EventEmitter | None,
        chat_model: Any,
    ) -> Hook | None:
        """What this hook works with; ``None`` where there is nobody to serve."""
        settings = Settings.merge(self.valves, (user or {}).get("valves"))
        if memory_switched_off(user or {}):
            settings = settings.model_copy(update={"enabled": False})
        if request is None or not (user or {}).get("id"):
            return None
        if self._supported is None:
            self._supported = host_is_supported()
            if not self._supported:
                log.error(UNSUPPORTED)
        if not self._supported:
            return None
        return Hook(
            settings, user or {}, {} if metadata is None else metadata, request, emitter, chat_model
        )

    async def _switch_seen(self, hook: Hook) -> None:
        """Telling that the host's own switch is off, in a task of its own."""
        try:
            await self._switch_notices.see(hook, self._learning.writing)
        except Exception:
            log.exception("an unexpected error while telling that memory is off")

    async def _learned(
        self, hook: Hook, pending: PendingTurn | None, line: str, over: asyncio.Event
    ) -> None:
        """The outlet's work, in a task of its own; ``over`` is set when it has come to an end."""
        try:
            async with self._measuring.background(hook):
                await self._learning.learn(hook, pending, line)
        except AdaptiveMemoryError as error:
            log.warning("nothing learned from a turn: %s", error)
        except Exception:
            log.exception("nothing learned from a turn")
            line = failure_line("an unexpected error; the server's log tells more")
            await hook.notifier.status(line)
        finally:
            over.set()
        if hook.settings.save_mode == "suggest":
            await self._offered(hook)

    async def _offered(self, hook: Hook) -> None:
        """Asking about suggestions, behind the lesson."""
        try:
            await self._learning.offer(hook)
        except AdaptiveMemoryError as error:
            log.warning("nobody is asked about suggestions: %s", error)
        except Exception:
            log.exception("an unexpected error while asking about suggestions")
            line = failure_line("an unexpected error; the server's log tells more")
            await hook.notifier.status(line)

    async def _postprocessed(self, turn: AnsweredTurn, learned: asyncio.Event) -> None:
        """Looking back at an answered turn, in a task of its own that nobody waits for."""
        try:
            async with self._measuring.background(turn.hook):
                await self._foreground.give_way()
                await self._postprocessor.process(turn, learned)
        except Exception:
            log.exception("an unexpected error while post-processing a turn")

    async def _named(self, hook: Hook, title: str, messages: list[dict[str, Any]]) -> None:
        """Giving a chat its title, in a task of its own that nobody waits for."""
        try:
            await name_chat(hook, title, messages)
        except Exception:
            log.exception("an unexpected error while giving a chat its title")

    async def _remembered(self, hook: Hook) -> None:
        """Indexing of past conversation, in a task of its own that nobody waits for."""
        try:
            async with self._measuring.background(hook):
                await self._foreground.give_way()
                await self._history.keep(history_turn(hook, self._learning.tell))
        except AdaptiveMemoryError as error:
            log.warning("past conversation is not indexed: %s", error)
        except Exception:
            log.exception("past conversation is not indexed")

    async def _linked(self, hook: Hook, answered: str) -> None:
        """Checking an answer's links in a task of its own, which nobody waits for."""
        try:
            await self._correction.correct_links(hook, answered)
        except Exception:
            log.exception("an unexpected error while checking links")

    async def _done(self, hook: Hook, work: Coroutine[Any, Any, str], failure: str) -> None:
        """What was asked for, in a task of its own, as the user is asked first."""
        try:
            if line := await work:
                await self._learning.tell(hook, line)
        except AdaptiveMemoryError as error:
            log.warning("%s: %s", failure, error)
            await self._learning.tell(hook, f"{failure}: {error}")
        except Exception:
            log.exception("an unexpected error while doing what was asked for")
            line = f"{failure}: an unexpected error; the server's log tells more"
            await hook.notifier.status(line)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run in the background; the loop itself keeps only weak references to tasks."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._installation.look_out()


def _messages_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages that an outlet is shown."""
    return [dict(mapping(message)) for message in listing(body.get("messages"))]


def _without_memories(asked: RequestInHand) -> dict[str, Any]:
    """A request whose recall has failed, fitted and warned; as it came where that fails, too."""
    try:
        return asked.without_memories()
    except Exception:
        log.exception("a chat is sent as it came")
        return asked.body
