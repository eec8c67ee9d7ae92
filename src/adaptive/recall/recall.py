"""Recall as the inlet asks for it: from the message to the block in its prompt."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from adaptive.core.cache import UserCache
from adaptive.core.errors import AdaptiveMemoryError, MemoryUnavailable, TablesUnavailable
from adaptive.core.markdown import rewritten_answers, without_answer_note
from adaptive.core.measures import tally, tell_outcome
from adaptive.core.messages import Message, local_time
from adaptive.core.ports import Embedder
from adaptive.core.shapes import listing, mapping
from adaptive.llm.ask import AnswerFormats
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.kept import ChatTable, UsageTable
from adaptive.recall.block import block_with, extended_block, recall_line, with_block
from adaptive.recall.chat_block import ChatStates
from adaptive.recall.judge import Candidate, RelevanceJudge
from adaptive.recall.question import Complete, Question, question_of
from adaptive.recall.recollection import Library, Recollection, recollect
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.vectors import TurnEmbedder
from adaptive.settings.hook import Hook, Notifier
from adaptive.settings.merged import Settings

log_recalled = logging.getLogger("adaptive_memory.recall")

_SCORES_KEPT = 20_000
_SCORES_KEPT_SECONDS = 24 * 3600
_SHOWN_CHARACTERS = 80


class Window(Protocol):
    """What of a request is sent, a summary of the rest or nothing, and the budgets that are left.

    The settings are narrowed to these; ``history_tokens`` are for past conversation.
    """

    @property
    def settings(self) -> Settings: ...
    @property
    def messages(self) -> list[dict[str, Any]]: ...
    @property
    def history_tokens(self) -> int: ...
    @property
    def summary(self) -> str: ...


@dataclass(frozen=True, slots=True)
class PastSearched:
    """The question that past conversation is searched with, what is sent, and what may come."""

    question: Question
    messages: Sequence[Message]
    complete: Complete | None
    embedder: Embedder
    tokens: int


# Brings a section of the prompt and what to tell the user of it; either may be empty.
PastSearch = Callable[[Hook, PastSearched], Coroutine[Any, Any, tuple[str, str]]]
Asking = AbstractAsyncContextManager[Complete | None]


@dataclass(frozen=True, slots=True)
class RecallPorts:
    """What recall takes from rooms that it does not know.

    ``asking`` has a model look at the message beside the search. ``past`` finds past conversation
    where ``recalls_past`` says that a turn is given any. ``window`` fits a long chat, and
    ``plain_window`` does so where that has failed.
    """

    asking: Callable[[Hook, Sequence[Message], Question], Asking]
    recalls_past: Callable[[Hook], bool]
    past: PastSearch
    window: Callable[[Hook, list[dict[str, Any]]], Awaitable[Window]]
    plain_window: Callable[[Hook, list[dict[str, Any]]], Window]


@dataclass(slots=True, eq=False)
class RequestInHand:
    """A request on its way through the inlet; ``window`` is what of it is sent, once known."""

    hook: Hook
    body: dict[str, Any]
    window: Window | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Its messages without what we have written below answers."""
        return rewritten_answers(listing(self.body.get("messages")), without_answer_note)


class Recall:
    """What an instance of the plug-in needs to recall; what belongs to a user can be forgotten."""

    def __init__(
        self,
        indexes: MemoryIndexes,
        formats: AnswerFormats,
        chats: ChatTable,
        usage: UsageTable,
        start: Callable[[Coroutine[Any, Any, None]], None],
        ports: RecallPorts,
    ) -> None:
        self._indexes, self._formats, self._usage = indexes, formats, usage
        self._start, self._ports = start, ports
        self._states = ChatStates(chats)
        self._scores = UserCache[float](_SCORES_KEPT, seconds=_SCORES_KEPT_SECONDS)

    def forget(self, user_id: str) -> None:
        """Let go of all that this process holds of a user to recall it."""
        for cache in (self._indexes, self._states, self._scores):
            cache.forget(user_id)

    async def recalled(self, request: RequestInHand) -> dict[str, Any]:
        """The request with what fits its newest message in the system prompt.

        Raises:
            HostError: memories can't be read.
        """
        hook, messages = request.hook, request.messages
        question = question_of(hook, messages)
        found: Recollection | None = None
        async with self._ports.asking(hook, messages, question) as complete:
            window = request.window = await self._ports.window(hook, messages)
            hook = hook.with_settings(window.settings)
            if hook.settings.show_memories and hook.is_recalled:
                found = await self._found(hook, request.body, question, window, complete)
            if complete is not None:
                await complete()  # the model may have something to be warned of
        if not hook.settings.show_memories:
            return self._sent(request, window)
        if found is not None:
            self._tell(hook, found)
        above = found.block if found is not None else ""
        block = block_with(above, window.summary, hook.state.get("warnings", []))
        changed: dict[str, Any] = {**request.body, "messages": with_block(window.messages, block)}
        features = mapping(request.body.get("features"))
        if features.get("memory") and (
            # The host would show its memories to any model.
            hook.settings.native_memory == "replace" or (await hook.hidden_from()).names
        ):
            # A copy: the original is shared with the metadata and other models' requests. From 0.10
            # on this ends the memory tools and the background review of the turn as well.
            changed["features"] = {**features, "memory": False}
        return changed

    def without_memories(self, request: RequestInHand) -> dict[str, Any]:
        """The request where recall fails: it fits all the same, and is warned of its message."""
        window = request.window or self._ports.plain_window(request.hook, request.messages)
        return self._sent(request, window)

    def _sent(self, request: RequestInHand, window: Window) -> dict[str, Any]:
        """The request without memories; itself where nothing of it changes."""
        block = block_with("", window.summary, request.hook.state.get("warnings", []))
        messages = with_block(window.messages, block) if block else window.messages
        same = messages == listing(request.body.get("messages"))
        return request.body if same else {**request.body, "messages": messages}

    def _tell(self, hook: Hook, found: Recollection) -> None:
        """Tell the measures, the turn's later hooks and the user what was found."""
        tell_outcome("nothing fits")
        tally("entries", "core", len(found.core))
        tally("entries", "retrieved", found.count - len(found.core))
        fitting = [one.memory.id for one in found.fitting]
        hook.state["recalled"] = recall_line(found.count, found.note)
        hook.state["injected"] = [*(one.id for one in found.core), *fitting]
        settings = hook.settings
        if settings.show_sources and found.fitting:
            self._start(_show_sources(hook.notifier, found.fitting))
        if settings.max_total_memories and settings.pruning_strategy == "least_recalled":
            self._start(self._counted(hook.user_id, fitting))

    async def _counted(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """Count recalls where pruning goes by them."""
        try:
            await self._usage.record(user_id, memory_ids, int(time.time()))
        except TablesUnavailable as error:
            log_recalled.debug("recalls are not counted: %s", error)

    async def _found(
        self,
        hook: Hook,
        body: dict[str, Any],
        question: Question,
        window: Window,
        complete: Complete | None,
    ) -> Recollection | None:
        """What this conversation is given, ``None`` where it turns out to be somebody else's."""
        sources, settings = await hook.sources(), hook.settings
        embedder = TurnEmbedder(sources.embedder, sources.user_id, self._indexes.queries)
        library = Library(
            sources=replace(sources, embedder=embedder),
            indexes=self._indexes,
            states=self._states,
            judge=await self._judge(hook),
            admit=partial(hook.not_injected, body) if settings.native_memory == "keep" else None,
            hidden=await hook.hidden_from(),
            complete=complete,
        )
        today = local_time(time.time(), *hook.time_zones).date().isoformat()
        finding = recollect(library, replace(question, today=today), settings)
        # No past conversation for a model that banks are kept from.
        if self._ports.recalls_past(hook) and not library.hidden.names:
            said = (question, window.messages, complete, library.sources.embedder)
            past = PastSearched(*said, window.history_tokens)
            finding = beside(finding, self._ports.past(hook, past))
        try:
            # Who owns the chat is asked beside it: it takes about as long as a query.
            found, kind = await asyncio.gather(finding, hook.kind())
        except MemoryUnavailable as refusal:
            log_recalled.debug("nothing recalled: %s", refusal)
            return Recollection()
        if kind != hook.told_kind:
            return None
        if found.state is not None and question.chat_id:
            now, keep = int(time.time()), self._states.keep
            self._start(keep(hook.user_id, question.chat_id, found.state, now))
        return found

    async def _judge(self, hook: Hook) -> RelevanceJudge | None:
        if not hook.settings.use_llm_for_relevance:
            return None
        try:
            completer = await hook.completer()
        except AdaptiveMemoryError as error:
            log_recalled.warning("memories are not judged: %s", error)
            return None
        prompt, hidden = hook.settings.memory_relevance_prompt, await hook.hidden_from(completer)
        return RelevanceJudge(completer, self._formats, self._scores, prompt, hidden)


async def beside(
    finding: Coroutine[Any, Any, Recollection], looking: Coroutine[Any, Any, tuple[str, str]]
) -> Recollection:
    """What memories are found, with past conversation below them.

    Both are looked for at the same time, and whatever becomes of the past, memories stay.
    """
    task = asyncio.create_task(looking)
    try:
        found = await finding
        await asyncio.wait({task})
    finally:
        task.cancel()
    section, told = "", "past conversation left out: an unexpected error"
    if (error := None if task.cancelled() else task.exception()) is not None:
        log_recalled.error("past conversation is left out", exc_info=error)
    elif not task.cancelled():
        section, told = task.result()
    note = "; ".join(part for part in (found.note, told) if part)
    block = extended_block(found.block, section) if section else found.block
    return replace(found, block=block, note=note)


async def _show_sources(notifier: Notifier, used: Sequence[Candidate]) -> None:
    """Show each memory as a source, with its relevance in percent; escaped as in the block.

    The page lists sources by the ``name`` of their metadata, and by their own where that is missing
    (host: the page of 0.9.6 to 0.12.4), so both are in it.
    """
    for one in used:
        text = escaped_entry(one.memory.content)
        title = text[:_SHOWN_CHARACTERS]
        name = f"{title} ({round(one.score * 100)} %)"
        meta = {"source": title, "name": name, "score": round(one.score, 3)}
        await notifier.source(title, [text], [meta])
