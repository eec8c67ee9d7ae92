"""Recall as the inlet asks for it: from the message to the block in its prompt.

Between what is asked and what was selected stand pure steps: who may be asked and what comes
(``selection``), what is nearest (``question``), and how it reads (``block``). Here is what they are
given by the database, the embedding model and the judging model, and what becomes of their outcome.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, Protocol

from adaptive.core.messages import (
    Message,
    listing,
    local_time,
    mapping,
    typed_message,
)
from adaptive.core.model import Embedder, MemoryUnavailable, with_detail
from adaptive.core.runtime import tally, tell_outcome
from adaptive.llm.ask import AnswerFormats
from adaptive.memory.tables import ChatNotesTable, ChatTable, UsageTable
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.spoken_requests import spoken_request
from adaptive.recall.block import (
    block_with,
    extended_block,
    recall_line,
    rendered_block,
    with_block,
)
from adaptive.recall.memory_search import RecallSearch
from adaptive.recall.question import Complete, Question, question_of
from adaptive.recall.selection import (
    Selection,
)
from adaptive.recall.turn_blocks import TurnBlocks
from adaptive.recall.window import RequestWindow, request_window
from adaptive.search.history_ports import PastQuestion
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.hook import Hook, may_be_given_memories

log_recalled = logging.getLogger("adaptive_memory.recall")

_SHOWN_CHARACTERS = 80

# Has a model look at the message beside the search.
Asking = Callable[
    [Hook, Sequence[Message], str, bool],
    AbstractAsyncContextManager[Complete | None],
]


class PastSection(Protocol):
    """What of past conversation stands in a prompt, and what the user is told of it."""

    @property
    def text(self) -> str: ...
    @property
    def note(self) -> str: ...


class PastRecall(Protocol):
    """Finds past conversation for a turn."""

    def recalls(self, hook: Hook) -> bool:
        """Whether a turn is given any of the past."""
        ...

    async def recalled(
        self, hook: Hook, question: PastQuestion, embedder: Embedder
    ) -> PastSection:
        """The section for a turn; its text is empty where nothing fits or its search fails."""
        ...


class Recall:
    """What an instance of the plug-in needs to recall; what belongs to a user can be forgotten.

    ``behind`` does work that no answer waits for.
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
        past: PastRecall,
    ) -> None:
        self.search = RecallSearch(indexes, formats, chats, notes)
        self._notes = notes
        self._usage = usage
        self._behind = behind
        self._asking = asking
        self._past = past
        # What waits for the hook behind the host's own tasks.
        self.blocks = TurnBlocks()

    def forget(self, user_id: str) -> None:
        """Let go of all that this process holds of a user to recall it."""
        self.search.forget(user_id)
        self.blocks.forget(user_id)

    async def window(self, hook: Hook, plain: RequestWindow) -> RequestWindow:
        """What of a request is sent; without the host's memory, where ours takes its place.

        Raises:
            HostError: the host does not tell where its models are, or whether it compacts chats.
        """
        features = mapping(plain.body.get("features"))
        # The host would show its memories to any model.
        if features.get("memory") and (
            hook.settings.native_memory == "replace"
            or (await hook.hidden_from()).names
        ):
            # A copy: the original is shared with the metadata and other models' requests. From 0.10
            # on this ends the memory tools and the background review of the turn as well.
            off = {**plain.body, "features": {**features, "memory": False}}
            plain = replace(plain, body=off)
        return await request_window(hook, plain, self._notes)

    async def recalled(
        self, hook: Hook, window: RequestWindow
    ) -> dict[str, Any]:
        """The request with what fits its newest message in the system prompt.

        Where the host has a hook behind its own tasks, that is put in there.

        Raises:
            HostError: memories can't be read.
        """
        messages = listing(window.body.get("messages"))
        question = question_of(hook, messages)
        # The answer would repeat what is to be erased.
        typed = typed_message(messages, hook.question_id)
        erases = spoken_request(hook, typed) not in (None, "restore")
        block = "" if hook.settings.show_memories else None
        async with self._asking(
            hook, messages, question.text, question.first
        ) as complete:
            if (
                hook.settings.show_memories
                and may_be_given_memories(hook)
                and not erases
            ):
                task = await hook.native.task_that_reads(window.body)
                if task:
                    hook.state["recalled"] = withheld_line(task)
                else:
                    block = await self._block(hook, window, question, complete)
            if complete is not None:
                await (
                    complete()
                )  # the model may have something to be warned of
        return self.sent(hook, window, block)

    def sent(
        self, hook: Hook, window: RequestWindow, block: str | None = None
    ) -> dict[str, Any]:
        """The request, cut to its window, with a block and what the model is warned of.

        Where nothing is recalled (``None``), a former block stays unless there is something to add.
        """
        added = block_with(
            block or "", window.summary, hook.state.get("warnings", [])
        )
        if block is None and not added:
            return {**window.body, "messages": window.messages}
        if added and hook.native.adds_behind_tasks:
            self.blocks.keep(hook, added)
            added = ""
        return {**window.body, "messages": with_block(window.messages, added)}

    async def _block(
        self,
        hook: Hook,
        window: RequestWindow,
        question: Question,
        complete: Complete | None,
    ) -> str:
        """The block of a conversation; empty where that turns out to be somebody else's."""
        sources = await self.search.sources(hook)
        # Who owns the chat is asked beside it: it takes about as long as a query.
        selection, past, kind = await asyncio.gather(
            self.search.selection(hook, window, sources, question, complete),
            self._past_section(
                hook, window, sources.embedder, question, complete
            ),
            hook.kind(),
            return_exceptions=True,
        )
        if isinstance(selection, MemoryUnavailable):
            log_recalled.debug("nothing recalled: %s", with_detail(selection))
            tell_outcome("nothing fits")
            return ""
        if isinstance(selection, BaseException):
            raise selection
        if isinstance(kind, BaseException):
            raise kind
        if kind != hook.told_kind:
            return ""
        block = rendered_block(
            selection.core, selection.retrieved, hook.settings.memory_format
        )
        notes = [self.search.news(hook, selection)]
        if isinstance(past, BaseException):
            log_recalled.error("past conversation is left out", exc_info=past)
            notes.append("past conversation left out: an unexpected error")
        elif past is not None:
            if past.text:
                block = extended_block(block, past.text)
            notes.append(past.note)
        self._tell(hook, selection, "; ".join(filter(None, notes)))
        return block

    def _tell(self, hook: Hook, selection: Selection, note: str) -> None:
        """Tell the measures, the turn's later hooks and the user what was selected."""
        tell_outcome("nothing fits")
        facts = [memory.id for memory in selection.facts]
        fitting = list(selection.fitting)
        tally("entries", "core", len(facts))
        tally("entries", "retrieved", selection.count - len(facts))
        hook.state["recalled"] = recall_line(selection.count, note)
        hook.state["injected"] = facts + fitting
        settings = hook.settings
        if settings.show_sources and fitting:
            self._behind(_show_sources(hook, selection), "showing sources")
        if (
            settings.max_total_memories
            and settings.pruning_strategy == "least_recalled"
        ):
            counting = self._usage.record(
                hook.user_id, fitting, int(time.time())
            )
            self._behind(counting, "counting recalls", gently=True)
        question = selection.candidates.question
        retrieved = [entry.memory.id for entry in selection.retrieved]
        if question.chat_id and retrieved != question.former:
            keeping = self.search.keep_block(
                hook.user_id, question.chat_id, retrieved
            )
            self._behind(keeping, "keeping a chat's block")

    async def _past_section(
        self,
        hook: Hook,
        window: RequestWindow,
        embedder: Embedder,
        question: Question,
        complete: Complete | None,
    ) -> PastSection | None:
        """Past conversation for a question; none for a model that banks are kept from."""
        if (
            question.to_forget
            or not self._past.recalls(hook)
            or (await hook.hidden_from()).names
        ):
            return None
        past_question = PastQuestion(
            text=question.text,
            previous=question.previous,
            first=question.first,
            messages=window.messages,
            complete=complete,
            tokens=window.history_tokens,
        )
        return await self._past.recalled(hook, past_question, embedder)


def withheld_line(task: str) -> str:
    """Why an answer was given no memories, where a task of the host would have read them."""
    return (
        f"No memories recalled: this Open WebUI would show them to its {task}"
    )


async def _show_sources(hook: Hook, selection: Selection) -> None:
    """Show each memory as a source, the best first: its words, what it rests on, its relevance.

    The page lists sources by the ``name`` of their metadata, and by their own where that is missing
    (host: the page of 0.9.6 to 0.12.4), so both are in it. Words are escaped as in the block.
    """
    for memory_id, score in sorted(
        selection.fitting.items(), key=lambda fit: -fit[1]
    ):
        memory = selection.candidates.memory(memory_id)
        text = escaped_entry(memory.content)
        title = text[:_SHOWN_CHARACTERS]
        day = local_time(
            memory.meta.get("said_at") or memory.created_at, *hook.time_zones
        )
        noted = f"Noted on {day:%Y-%m-%d}"
        chat_id = escaped_entry(str(memory.meta.get("chat_id") or ""))
        if chat_id:
            noted += f", in the chat /c/{chat_id}"
        name = f"{title} ({round(score * 100)} %)"
        metadata = {"source": title, "name": name, "score": round(score, 3)}
        await hook.notifier.source(title, [f"{text}\n\n{noted}."], [metadata])
