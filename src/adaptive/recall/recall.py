"""Recall as the inlet asks for it: from the message to the block in its prompt."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from adaptive.core.cache import UserCache
from adaptive.core.errors import AdaptiveMemoryError, MemoryUnavailable, with_detail
from adaptive.core.markdown import rewritten_answers, without_answer_note
from adaptive.core.measures import tally, tell_outcome
from adaptive.core.messages import Message, local_time, typed_message
from adaptive.core.shapes import listing, mapping
from adaptive.llm.ask import AnswerFormats
from adaptive.memory.tables import ChatNotesTable, ChatTable, UsageTable
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.spoken_requests import spoken_request
from adaptive.recall.block import block_with, extended_block, recall_line, with_block
from adaptive.recall.explanation import FoundMemory, explained, found_memories
from adaptive.recall.judge import Candidate, RelevanceJudge
from adaptive.recall.question import Complete, Question, question_of
from adaptive.recall.recollection import Library, Recollection, recollect
from adaptive.recall.waiting import WaitingBlocks
from adaptive.recall.window import RequestWindow, plain_window, request_window
from adaptive.search.history_ports import PastQuestion
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.hook import Hook, may_be_given_memories

log_recalled = logging.getLogger("adaptive_memory.recall")

_SCORES_KEPT = 20_000
_SCORES_KEPT_SECONDS = 24 * 3600
_SHOWN_CHARACTERS = 80
_KEPT_AFTER_SECONDS = 0.1

# Has a model look at the message beside the search.
Asking = Callable[
    [Hook, Sequence[Message], str, bool], AbstractAsyncContextManager[Complete | None]
]


@dataclass(slots=True, eq=False)
class RequestInHand:
    """A request on its way through the inlet; ``window`` is what of it is sent, once known."""

    hook: Hook
    body: dict[str, Any]
    window: RequestWindow | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Its messages without what we have written below answers."""
        return rewritten_answers(listing(self.body.get("messages")), without_answer_note)


class Recall:
    """What an instance of the plug-in needs to recall; what belongs to a user can be forgotten.

    ``past`` finds past conversation for a turn that is given any: a section with ``text`` and
    ``note``, either of which may be empty. ``behind`` does work that no answer waits for.
    """

    def __init__(
        self,
        indexes: MemoryIndexes,
        formats: AnswerFormats,
        chats: ChatTable,
        notes: ChatNotesTable,
        usage: UsageTable,
        behind: Callable[..., None],
        asking: Asking,
        past: Any,
    ) -> None:
        self._indexes, self._formats, self._behind = indexes, formats, behind
        self._asking, self._past = asking, past
        self._chats, self._notes, self._usage = chats, notes, usage
        self._scores = UserCache[float](_SCORES_KEPT, seconds=_SCORES_KEPT_SECONDS)
        # What waits for the hook behind the host's own tasks.
        self.waiting = WaitingBlocks()

    def forget(self, user_id: str) -> None:
        """Let go of all that this process holds of a user to recall it."""
        self._indexes.forget(user_id)
        self._scores.forget(user_id)
        self.waiting.forget(user_id)

    async def recalled(self, request: RequestInHand) -> dict[str, Any]:
        """The request with what fits its newest message in the system prompt.

        Where the host has a hook behind its own tasks, that is put in there.

        Raises:
            HostError: memories can't be read.
        """
        hook, features = request.hook, mapping(request.body.get("features"))
        # The host would show its memories to any model.
        if features.get("memory") and (
            hook.settings.native_memory == "replace" or (await hook.hidden_from()).names
        ):
            # A copy: the original is shared with the metadata and other models' requests. From 0.10
            # on this ends the memory tools and the background review of the turn as well.
            request.body = {**request.body, "features": {**features, "memory": False}}
        messages = request.messages
        question = question_of(hook, messages)
        found: Recollection | None = None
        async with self._asking(hook, messages, question.text, question.first) as complete:
            window = request.window = await request_window(hook, messages, self._notes)
            hook = hook.with_settings(window.settings)
            # The answer would repeat what is to be erased.
            typed = typed_message(messages, hook.question_id)
            erases = spoken_request(hook, typed) not in (None, "restore")
            if hook.settings.show_memories and may_be_given_memories(hook) and not erases:
                if task := await hook.native.task_that_reads(request.body):
                    hook.state["recalled"] = withheld_line(task)
                else:
                    found = await self._found(hook, request.body, question, window, complete)
            if complete is not None:
                await complete()  # the model may have something to be warned of
        if not hook.settings.show_memories:
            return self.without_memories(request)
        if found is not None:
            self._tell(hook, found)
        above = found.block if found else ""
        block = block_with(above, window.summary, hook.state.get("warnings", []))
        return {**request.body, "messages": self._with_block(hook, window.messages, block)}

    async def why(self, hook: Hook, messages: list[dict[str, Any]]) -> str:
        """Why memories come for the user's newest message, worked out anew, without a model.

        It is Markdown without the words of what this chat's model may not see.

        Raises:
            HostError: memories can't be read, or the user may have none.
        """
        recalls = hook.settings.show_memories and may_be_given_memories(hook)
        if not recalls or await hook.kind() != hook.told_kind:
            return "No message here is given memories: by your settings, or the kind of this chat."
        question = question_of(hook, messages, answered=True)
        if not question.text:
            return "There is no message before this one."
        settings = (await request_window(hook, messages, self._notes)).settings
        return await explained(await self._library(hook), question, settings)

    async def found(self, hook: Hook, words: str, most: int = 20) -> list[FoundMemory]:
        """The memories that words name, best first, unrelated ones left out; raises as ``why``."""
        return await found_memories(await self._library(hook), words, hook.settings, most)

    def without_memories(self, request: RequestInHand) -> dict[str, Any]:
        """The request where recall is off or fails: it fits, and is warned of its message.

        It is the request itself where nothing of it changes.
        """
        window = request.window or plain_window(request.hook, request.messages)
        block = block_with("", window.summary, request.hook.state.get("warnings", []))
        messages = window.messages
        if block:
            messages = self._with_block(request.hook, messages, block)
        same = messages == listing(request.body.get("messages"))
        return request.body if same else {**request.body, "messages": messages}

    def _with_block(
        self, hook: Hook, messages: list[dict[str, Any]], block: str
    ) -> Sequence[Message]:
        """The messages with a block, or without any where it is put in behind the host's tasks."""
        if block and hook.native.adds_behind_tasks:
            self.waiting.keep(hook, block)
            block = ""
        return with_block(messages, block)

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
            self._behind(_show_sources(hook, found.fitting), "showing sources")
        if settings.max_total_memories and settings.pruning_strategy == "least_recalled":
            counting = self._usage.record(hook.user_id, fitting, int(time.time()))
            self._behind(counting, "counting recalls", gently=True)

    async def _found(
        self,
        hook: Hook,
        body: dict[str, Any],
        question: Question,
        window: RequestWindow,
        complete: Complete | None,
    ) -> Recollection | None:
        """What this conversation is given, ``None`` where it turns out to be somebody else's."""
        settings = hook.settings
        keeps_native = settings.native_memory == "keep"
        library = replace(
            await self._library(hook),
            judge=await self._judge(hook),
            admit=partial(hook.native.not_injected, body) if keeps_native else None,
            complete=complete,
        )
        finding = recollect(library, question, settings)
        # No past conversation for a model that banks are kept from.
        looks_back = self._past.recalls(hook) and not question.to_forget
        if looks_back and not library.hidden.names:
            said = (question.text, question.previous, question.first, window.messages)
            asked = PastQuestion(*said, complete, window.history_tokens)
            looking = self._past.recalled(hook, asked, library.sources.embedder)
            finding = beside(finding, looking)
        try:
            # Who owns the chat is asked beside it: it takes about as long as a query.
            found, kind = await asyncio.gather(finding, hook.kind())
        except MemoryUnavailable as refusal:
            log_recalled.debug("nothing recalled: %s", with_detail(refusal))
            return Recollection()
        if kind != hook.told_kind:
            return None
        if found.state is not None and question.chat_id:
            own = (hook.user_id, question.chat_id, found.state)
            self._behind(self._keep(*own), "keeping a chat's block")
        return found

    async def _keep(self, user_id: str, chat_id: str, state: str) -> None:
        """Keep what a chat was given, once the host has done its own work and asked the model."""
        await asyncio.sleep(_KEPT_AFTER_SECONDS)
        await self._chats.write(user_id, chat_id, state, int(time.time()))

    async def _library(self, hook: Hook) -> Library:
        """What every search of a user's memories needs."""
        sources = await hook.sources()
        own = replace(sources, embedder=self._indexes.turn_embedder(sources))
        return Library(own, self._indexes, self._chats, hidden=await hook.hidden_from())

    async def _judge(self, hook: Hook) -> RelevanceJudge | None:
        if not hook.settings.use_llm_for_relevance:
            return None
        try:
            completer = await hook.completer()
        except AdaptiveMemoryError as error:
            log_recalled.warning("memories are not judged: %s", with_detail(error))
            return None
        prompt, hidden = hook.settings.memory_relevance_prompt, await hook.hidden_from(completer)
        return RelevanceJudge(completer, self._formats, self._scores, prompt, hidden)


async def beside(
    finding: Coroutine[Any, Any, Recollection], looking: Coroutine[Any, Any, Any]
) -> Recollection:
    """What memories are found, with past conversation below them, whatever becomes of that."""
    found, past = await asyncio.gather(finding, looking, return_exceptions=True)
    if isinstance(found, BaseException):
        raise found
    if isinstance(past, BaseException):
        log_recalled.error("past conversation is left out", exc_info=past)
        note = "past conversation left out: an unexpected error"
    else:
        note = past.note
        if past.text:
            found = replace(found, block=extended_block(found.block, past.text))
    note = "; ".join(filter(None, (found.note, note)))
    return replace(found, note=note)


def withheld_line(task: str) -> str:
    """Why an answer was given no memories, where a task of the host would have read them."""
    return f"No memories recalled: this Open WebUI would show them to its {task}"


async def _show_sources(hook: Hook, used: Sequence[Candidate]) -> None:
    """Show each memory as a source, the best first: its words, what it rests on, its relevance.

    The page lists sources by the ``name`` of their metadata, and by their own where that is missing
    (host: the page of 0.9.6 to 0.12.4), so both are in it. Words are escaped as in the block.
    """
    for one in sorted(used, key=lambda one: -one.score):
        text, meta = escaped_entry(one.memory.content), one.memory.meta
        title = text[:_SHOWN_CHARACTERS]
        name = f"{title} ({round(one.score * 100)} %)"
        day = local_time(meta.get("said_at") or one.memory.created_at, *hook.time_zones)
        chat_id = escaped_entry(str(meta.get("chat_id") or ""))
        noted = f"Noted on {day:%Y-%m-%d}" + (f", in the chat /c/{chat_id}" if chat_id else "")
        documents = [f"{text}\n\n{noted}."]
        told = {"source": title, "name": name, "score": round(one.score, 3)}
        await hook.notifier.source(title, documents, [told])
