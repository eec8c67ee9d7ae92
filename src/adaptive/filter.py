"""The filter as Open WebUI sees it: its hooks, each with one guarded edge; wiring only."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fastapi import Request

from adaptive.answer_notes import without_answer_notes
from adaptive.erasing import Erasing, asked_erasure
from adaptive.errors import AdaptiveMemoryError, MemoryUnavailable
from adaptive.host.archive_table import HostArchiveTable
from adaptive.host.chat_table import HostChatTable
from adaptive.host.dialog import EventCaller
from adaptive.host.events import EventEmitter, PageNotifier
from adaptive.host.hook import Hook
from adaptive.host.kind import RECALLED_KINDS
from adaptive.host.locality import kept_from_chat, kept_from_completer
from adaptive.host.model_choices import HostModels
from adaptive.host.native import NativeMemory, without_native_memory
from adaptive.host.providers import chosen_completer, user_sources
from adaptive.host.redacted_turns import RedactedTurns, withheld
from adaptive.host.release import UNSUPPORTED, host_is_supported
from adaptive.host.requests import account, isolated_request
from adaptive.host.sealed_tables import SealedArchiveTable, SealedChatTable
from adaptive.host.secret import host_secret
from adaptive.host.vector_table import HostVectorTable
from adaptive.host.warmup import host_request, warm_up
from adaptive.learn.report import NOTHING_NEW, failure_line
from adaptive.learn.waiting_turn import may_hold_facts
from adaptive.learning import INJECTED, RECALLED, Learning, typed_turn
from adaptive.llm.ask import AnswerFormats
from adaptive.privacy.erasure_requests import ErasureRequest, read_erasure_request
from adaptive.privacy.sealing import Sealer
from adaptive.recall.block import recall_line, with_block
from adaptive.recall.citations import show_sources
from adaptive.recall.comments import without_memory_comments
from adaptive.recall.entry_verdicts import EntryVerdicts
from adaptive.recall.judge import JudgeRules, RelevanceCache, RelevanceJudge
from adaptive.recall.question import question_of
from adaptive.recall.recollection import (
    ChatRetention,
    ChatStates,
    Library,
    Recollection,
    recollect,
)
from adaptive.recall.remarks import memory_remarks
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings import Settings
from adaptive.shapes import listing, mapping
from adaptive.table_ports import PendingTurn
from adaptive.user_valves import UserValves
from adaptive.valves import Valves

log = logging.getLogger("adaptive_memory")

# Relevance from and up to which a memory needs no judge: three times the evidence that the gate
# asks for, and a quarter of it.
_CLEARLY_RELEVANT = 0.75
_CLEARLY_IRRELEVANT = 0.2


class Filter:
    """Adaptive Memory: recalls before the model is asked, learns after it has answered."""

    Valves = Valves
    UserValves = UserValves

    def __init__(self) -> None:
        self.valves = Valves()
        self._tasks: set[asyncio.Task[None]] = set()
        self._indexes = MemoryIndexes()
        self._vector_table = HostVectorTable()
        sealer = Sealer(host_secret())
        self._chat_table = SealedChatTable(HostChatTable(), sealer)
        self._chat_states = ChatStates()
        self._relevance = RelevanceCache()
        self._verdicts = EntryVerdicts()
        self._formats = AnswerFormats()
        self._redacted_turns = RedactedTurns()
        self._learning = Learning(self._indexes, self._vector_table, self._start, sealer)
        caches = (self._indexes.forget, self._chat_states.forget)
        caches += (self._relevance.forget, self._verdicts.forget)
        archive = SealedArchiveTable(HostArchiveTable(), sealer)
        self._erasing = Erasing(self._learning, archive, caches)
        self._supported: bool | None = None
        Valves.model_catalogue = HostModels(lambda: str(self.valves.llm_host_model))
        if (request := host_request()) is not None:
            self._start(self._warm_up(request))

    async def _warm_up(self, request: Request) -> None:
        """What would make the first message after a restart wait."""
        await self._verdicts.ready()
        await asyncio.to_thread(memory_remarks)
        await asyncio.to_thread(may_hold_facts, "What is it?")
        await asyncio.to_thread(read_erasure_request, "forget", datetime.now(UTC).date())
        await warm_up(request, self._indexes, self._vector_table)

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
        hook: Hook | None = None
        reason = ""
        redacting = getattr(self.valves, "pii_redaction", "") == "all"
        try:
            hook = self._hook(__user__, __metadata__, __request__, __event_emitter__, __model__)
            if hook is not None:
                async with asyncio.timeout(hook.settings.inlet_timeout_seconds):
                    body = await self._recall(hook, body)
        except TimeoutError:
            reason = "they took too long"
        except AdaptiveMemoryError as error:
            reason = str(error)
        except Exception:
            log.exception("an unexpected error while recalling")
            reason = "an unexpected error; the server's log tells more"
        if reason:
            log.warning("the chat goes on without memories: %s", reason)
            if hook is not None:
                self._start(hook.notifier.status(f"Answered without memories: {reason}"))
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
        """Keep the turn for learning, which goes on behind the answer."""
        try:
            body = self._redacted_turns.restore_answer(body, __metadata__ or {})
            hook = self._hook(__user__, __metadata__, __request__, __event_emitter__, __model__)
            if hook is not None:
                hook = replace(hook, caller=__event_call__)
                messages = [dict(mapping(message)) for message in listing(body.get("messages"))]
                turn = typed_turn(hook, messages)
                if (erasure := asked_erasure(hook, messages)) is not None:
                    self._start(self._erased(hook, erasure))
                    return body
                pending = await self._learning.put(hook, turn) if turn is not None else None
                line = NOTHING_NEW if turn is not None else ""
                self._start(self._learned(hook, pending, line))
        except Exception:
            log.exception("nothing can be learned from this turn")
        return body

    def _hook(
        self,
        user: dict[str, Any] | None,
        metadata: dict[str, Any] | None,
        request: Request | None,
        emitter: EventEmitter | None,
        chat_model: Any,
    ) -> Hook | None:
        """What this hook works with; ``None`` where memory is off or there is nobody to serve."""
        settings = Settings.merge(self.valves, (user or {}).get("valves"))
        if not settings.enabled or request is None or not (user or {}).get("id"):
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

    async def _recall(self, hook: Hook, body: dict[str, Any]) -> dict[str, Any]:
        settings = hook.settings
        told = listing(body.get("messages"))
        messages = without_answer_notes(told)
        if not settings.show_memories:
            return body if messages == told else {**body, "messages": messages}
        changed: dict[str, Any] = {**body, "messages": with_block(messages, "")}
        found = await self._served(hook, body, messages)
        if found is not None:
            said = without_memory_comments(messages)
            changed["messages"] = with_block(said, found.block)
            hook.metadata[RECALLED] = recall_line(found.count, found.note)
            hook.metadata[INJECTED] = found.memory_ids
            if settings.show_sources and found.fitting:
                self._start(show_sources(hook.notifier, found.fitting))
        if mapping(body.get("features")).get("memory") and (
            # The host would show its memories to any model.
            settings.native_memory == "replace" or (await kept_from_chat(hook)).names
        ):
            changed["features"] = without_native_memory(body["features"])
        return changed

    async def _served(
        self, hook: Hook, body: dict[str, Any], messages: list[dict[str, Any]]
    ) -> Recollection | None:
        """What this conversation is given, ``None`` where it is given none."""
        kind = hook.told_kind
        temporary = kind == "temporary" and hook.settings.inject_in_temporary_chats
        if kind not in RECALLED_KINDS and not temporary:
            return None
        chat_id = hook.chat_id if kind == "saved" else ""
        # Who owns the chat is asked beside it: it takes about as long as a query.
        recollected = self._recollected(hook, body, messages, chat_id)
        found, known_kind = await asyncio.gather(recollected, hook.kind())
        if known_kind != kind:
            return None
        self._count_recalls(hook, found)
        if found.state is not None and chat_id:
            keep, now, settings = self._chat_states.keep, int(time.time()), hook.settings
            retention = ChatRetention(settings.retained_chats, 3600 * settings.retained_chat_hours)
            table = self._chat_table
            self._start(keep(table, hook.user_id, chat_id, found.state, now, retention))
        self._start(self._verdicts.judge_ahead(hook.user_id, found.memories))
        return found

    def _count_recalls(self, hook: Hook, found: Recollection) -> None:
        """Where pruning goes by it, count which memories were recalled."""
        settings = hook.settings
        if settings.max_total_memories and settings.pruning_strategy == "least_recalled":
            ids = [one.memory.id for one in found.fitting]
            self._start(self._learning.count_recalls(hook.user_id, ids))

    async def _recollected(
        self, hook: Hook, body: dict[str, Any], messages: list[dict[str, Any]], chat_id: str
    ) -> Recollection:
        """What the newest message is given; with a ``chat_id`` the block is kept in place."""
        user = await account(hook.user)
        request = isolated_request(hook.request)
        native = NativeMemory(request, user, body, hook.metadata, hook.chat_model)
        library = Library(
            sources=user_sources(hook, request, user, self._vector_table),
            indexes=self._indexes,
            chats=self._chat_table,
            states=self._chat_states,
            judge=await self._judge(hook, request, user),
            admit=native.not_injected if hook.settings.native_memory == "keep" else None,
            hidden=await kept_from_chat(hook),
            verdicts=self._verdicts,
        )
        try:
            question = question_of(messages, hook.metadata, chat_id)
            return await recollect(library, question, hook.settings)
        except MemoryUnavailable as refusal:
            log.debug("nothing recalled: %s", refusal)
            return Recollection()

    async def _judge(self, hook: Hook, request: Request, user: Any) -> RelevanceJudge | None:
        settings = hook.settings
        if not settings.use_llm_for_relevance:
            return None
        rules = JudgeRules(
            deadline=settings.relevance_timeout_seconds,
            clear_above=_CLEARLY_RELEVANT,
            clear_below=_CLEARLY_IRRELEVANT,
            cache_seconds=settings.cache_ttl_seconds,
            prompt=settings.memory_relevance_prompt,
        )
        try:
            completer = await chosen_completer(hook, request, user)
        except AdaptiveMemoryError as error:
            log.warning("memories are not judged: %s", error)
            return None
        hidden = await kept_from_completer(completer, request, settings)
        return RelevanceJudge(completer, self._formats, self._relevance, rules, hidden)

    async def _learned(self, hook: Hook, pending: PendingTurn | None, line: str) -> None:
        """The outlet's work, in a task of its own that nobody waits for."""
        try:
            await self._learning.learn(hook, pending, line)
        except AdaptiveMemoryError as error:
            log.warning("nothing learned from a turn: %s", error)
        except Exception:
            log.exception("nothing learned from a turn")
            line = failure_line("an unexpected error; the server's log tells more")
            await hook.notifier.status(line)

    async def _erased(self, hook: Hook, erasure: ErasureRequest) -> None:
        """Erasing in a task of its own, as the user is asked first."""
        try:
            await self._erasing.erase(hook, erasure)
        except Exception:
            log.exception("an unexpected error while erasing")
            line = "Not erased: an unexpected error; the server's log tells more"
            await hook.notifier.status(line)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run in the background; the loop itself keeps only weak references to tasks."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
