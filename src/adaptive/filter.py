"""The filter as Open WebUI sees it: two hooks, each with one guarded edge; wiring only."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Coroutine
from typing import Any

from fastapi import Request

from adaptive.clock import local_time
from adaptive.errors import AdaptiveMemoryError, MemoryUnavailable
from adaptive.host.chat_table import HostChatTable
from adaptive.host.events import EventEmitter
from adaptive.host.hook import Hook
from adaptive.host.kind import LEARNED_KINDS, RECALLED_KINDS, other_authors
from adaptive.host.memories import HostMemoryStore
from adaptive.host.native import NativeMemory, without_native_memory
from adaptive.host.providers import chosen_completer, chosen_embedder
from adaptive.host.release import UNSUPPORTED, host_is_supported
from adaptive.host.requests import account, isolated_request
from adaptive.host.tables import HostTables
from adaptive.host.vector_table import HostVectorTable
from adaptive.host.warmup import host_request, warm_up
from adaptive.learn.claims import TurnClaims
from adaptive.learn.lesson import Classroom, learn_turn
from adaptive.learn.report import failure_line
from adaptive.llm.ask import AnswerFormats
from adaptive.messages import (
    earlier_utterances,
    has_words,
    message_text,
    newest_user_message,
    said_at,
    spoken_text,
)
from adaptive.model import Provenance, Turn, Utterance
from adaptive.recall.block import recall_line, with_block
from adaptive.recall.citations import show_sources
from adaptive.recall.comments import without_memory_comments
from adaptive.recall.judge import JudgeRules, RelevanceCache, RelevanceJudge
from adaptive.recall.question import question_of
from adaptive.recall.recollection import ChatStates, Library, Recollection, recollect
from adaptive.recall.remarks import memory_remarks
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.settings import Settings
from adaptive.shapes import listing, mapping
from adaptive.user_valves import UserValves
from adaptive.valves import Valves

log = logging.getLogger("adaptive_memory")

_REFUSALS_REMEMBERED = 1000
# The host ends the turn first: its work after the outlet is what the user still waits for.
_AFTER_THE_TURN_SECONDS = 0.1
# Relevance from and up to which a memory needs no judge: three times the evidence that the gate
# asks for, and a quarter of it.
_CLEARLY_RELEVANT = 0.75
_CLEARLY_IRRELEVANT = 0.2
# The inlet tells the outlet of the same turn how many memories went in: the host hands both the
# same metadata. One status line at the end costs one write of the stored chat instead of two.
_RECALLED = "adaptive_memory_recalled"


class Filter:
    """Adaptive Memory: recalls before the model is asked, learns after it has answered."""

    Valves = Valves
    UserValves = UserValves

    def __init__(self) -> None:
        self.valves = Valves()
        self._tasks: set[asyncio.Task[None]] = set()
        self._indexes = MemoryIndexes()
        self._vector_table = HostVectorTable()
        self._chat_table = HostChatTable()
        self._chat_states = ChatStates()
        self._relevance = RelevanceCache()
        self._claims = TurnClaims()
        self._formats = AnswerFormats()
        self._tables = HostTables()
        self._refusals: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._writing = asyncio.Semaphore(1)
        self._supported: bool | None = None
        if (request := host_request()) is not None:
            self._start(self._warm_up(request))

    async def _warm_up(self, request: Request) -> None:
        """What would make the first message after a restart wait."""
        await asyncio.to_thread(memory_remarks)
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
        try:
            hook = self._hook(__user__, __metadata__, __request__, __event_emitter__, __model__)
            if hook is None:
                return body
            async with asyncio.timeout(hook.settings.inlet_timeout_seconds):
                return await self._recall(hook, body)
        except TimeoutError:
            reason = "they took too long"
        except AdaptiveMemoryError as error:
            reason = str(error)
        except Exception:
            log.exception("an unexpected error while recalling")
            reason = "an unexpected error; the server's log tells more"
        log.warning("the chat goes on without memories: %s", reason)
        if hook is not None:
            self._start(hook.notifier.status(f"Answered without memories: {reason}"))
        return body

    async def outlet(
        self,
        body: dict[str, Any],
        __user__: dict[str, Any] | None = None,
        __metadata__: dict[str, Any] | None = None,
        __request__: Request | None = None,
        __event_emitter__: EventEmitter | None = None,
        __model__: Any = None,
    ) -> dict[str, Any]:
        """Start learning from the turn and return at once."""
        try:
            hook = self._hook(__user__, __metadata__, __request__, __event_emitter__, __model__)
            if hook is not None:
                messages = [dict(mapping(message)) for message in listing(body.get("messages"))]
                self._start(self._learn(hook, messages))
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
        if not settings.show_memories:
            return body
        messages: list[dict[str, Any]] = listing(body.get("messages"))
        changed: dict[str, Any] = {**body, "messages": with_block(messages, "")}
        found = await self._served(hook, body, messages)
        if found is not None:
            said = without_memory_comments(messages)
            changed["messages"] = with_block(said, found.block)
            hook.metadata[_RECALLED] = recall_line(found.count, found.note)
            if settings.show_sources and found.fitting:
                self._start(show_sources(hook.notifier, found.fitting))
        if settings.native_memory == "replace" and mapping(body.get("features")).get("memory"):
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
        if found.state is not None and chat_id:
            write, now = self._chat_states.write, int(time.time())
            self._start(write(self._chat_table, hook.user_id, chat_id, found.state, now))
        return found

    async def _recollected(
        self, hook: Hook, body: dict[str, Any], messages: list[dict[str, Any]], chat_id: str
    ) -> Recollection:
        """What the newest message is given; with a ``chat_id`` the block is kept in place."""
        user = await account(hook.user)
        request = isolated_request(hook.request)
        native = NativeMemory(request, user, body, hook.metadata, hook.chat_model)
        library = Library(
            sources=self._sources(hook, request, user),
            indexes=self._indexes,
            chats=self._chat_table,
            states=self._chat_states,
            judge=await self._judge(hook, request, user),
            admit=native.not_injected if hook.settings.native_memory == "keep" else None,
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
        return RelevanceJudge(completer, self._formats, self._relevance, rules)

    async def _learn(self, hook: Hook, messages: list[dict[str, Any]]) -> None:
        """The outlet's work, in a task of its own that nobody waits for."""
        line: str | None = None
        await asyncio.sleep(_AFTER_THE_TURN_SECONDS)
        try:
            if turn := await self._turn(hook, messages):
                line = await self._lesson(hook, turn)
        except MemoryUnavailable as refusal:
            if self._first_refusal(hook):
                line = failure_line(str(refusal))
        except AdaptiveMemoryError as error:
            log.warning("nothing learned from a turn: %s", error)
            line = failure_line(str(error))
        except Exception:
            log.exception("nothing learned from a turn")
            line = failure_line("an unexpected error; the server's log tells more")
        recalled = str(hook.metadata.get(_RECALLED) or "")
        if told := " · ".join(part for part in (recalled, line) if part):
            async with self._writing:  # the host stores the line with the chat
                await hook.notifier.status(told)

    async def _turn(self, hook: Hook, messages: list[dict[str, Any]]) -> Turn | None:
        """The turn to learn, ``None`` where nothing in it is the user's own new words."""
        settings, metadata = hook.settings, hook.metadata
        if settings.save_mode == "off":
            return None
        kind = await hook.kind()
        if kind not in LEARNED_KINDS and not (kind == "api" and settings.learn_from_api_calls):
            return None
        message_id = str(metadata.get("user_message_id") or "")
        named = (message for message in messages if message_id and message.get("id") == message_id)
        newest = next(named, None) or newest_user_message(messages)
        words = spoken_text(message_text(newest)) if newest else ""
        if newest is None or not has_words(words):
            return None
        earlier: tuple[Utterance, ...] = ()
        if kind != "shared" and not await other_authors(hook.chat_id, hook.user_id):
            earlier = earlier_utterances(messages, newest, settings.recent_messages_n)
        when = said_at(newest, time.time())
        message_id = message_id or str(metadata.get("message_id") or when)
        source = Provenance(hook.chat_id, message_id, when)
        return Turn(hook.user_id, kind, words, earlier, source)

    async def _lesson(self, hook: Hook, turn: Turn) -> str | None:
        settings = hook.settings
        user = await account(hook.user)
        request = isolated_request(hook.request)
        room = Classroom(
            sources=self._sources(hook, request, user),
            indexes=self._indexes,
            completer=await chosen_completer(hook, request, user),
            tables=self._tables,
            claims=self._claims,
            formats=self._formats,
            writing=self._writing,
        )
        now = local_time(turn.source.said_at, *hook.time_zones)
        return await learn_turn(room, turn, settings, now)

    def _first_refusal(self, hook: Hook) -> bool:
        """Whether this chat has not been told yet that memory is not allowed."""
        key = (hook.user_id, hook.chat_id)
        first = key not in self._refusals
        self._refusals[key] = None
        while len(self._refusals) > _REFUSALS_REMEMBERED:
            self._refusals.popitem(last=False)
        return first

    def _sources(self, hook: Hook, request: Request, user: Any) -> Sources:
        return Sources(
            hook.user_id,
            HostMemoryStore(request, user),
            chosen_embedder(hook.settings, request, user),
            self._vector_table,
        )

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run in the background; the loop itself keeps only weak references to tasks."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
