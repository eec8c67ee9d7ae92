"""The search of a user's memories: what it is given by database and models, and the pure steps."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adaptive.core.messages import listing
from adaptive.core.model import (
    AdaptiveMemoryError,
    Sources,
    TablesUnavailable,
    with_detail,
)
from adaptive.core.runtime import UserCache
from adaptive.llm.ask import AnswerFormats
from adaptive.memory.tables import ChatNotesTable, ChatTable
from adaptive.recall.explanation import explained, found_memories
from adaptive.recall.judge import RelevanceJudge
from adaptive.recall.question import (
    Complete,
    Question,
    embedded_question,
    question_of,
)
from adaptive.recall.selection import (
    Candidates,
    Selection,
    candidates_for,
    eligible_memories,
    fitting_memories,
    memories_to_judge,
    ranked_candidates,
    selected,
)
from adaptive.recall.window import RequestWindow, plain_window, request_window
from adaptive.search.fusion import Ranked
from adaptive.search.index import FoundMemory, MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.hook import Hook, may_be_given_memories

log_search = logging.getLogger("adaptive_memory.recall")

_SCORES_KEPT = 20_000
_SCORES_KEPT_SECONDS = 24 * 3600
# A chat's block is kept once the host has done its own work and asked the model.
_KEPT_AFTER_SECONDS = 0.1
# Of the inlet's time limit.
_SHARE_FOR_NEW_MEMORIES = 0.25
# Score of the judging model from which a memory goes in, unless the valve says another.
_LEAST_JUDGED = 0.5


class RecallSearch:
    """Searches the memories of any user, for a request and for those who ask what it finds."""

    def __init__(
        self,
        indexes: MemoryIndexes,
        formats: AnswerFormats,
        chats: ChatTable,
        notes: ChatNotesTable,
    ) -> None:
        self._indexes = indexes
        self._formats = formats
        self._chats = chats
        self._notes = notes
        self._scores = UserCache[float](
            _SCORES_KEPT, seconds=_SCORES_KEPT_SECONDS
        )

    def forget(self, user_id: str) -> None:
        """Let go of all that this process holds of a user to search their memories."""
        self._indexes.forget(user_id)
        self._scores.forget(user_id)

    async def sources(self, hook: Hook) -> Sources:
        """Where a user's memories are; their embedder embeds no message twice."""
        sources = await hook.sources()
        return replace(sources, embedder=self._indexes.turn_embedder(sources))

    async def found(self, hook: Hook, words: str) -> list[FoundMemory]:
        """The memories that words name, best first, unrelated ones left out; raises as ``why``."""
        sources = await self.sources(hook)
        index = await self._index(hook, sources)
        question = await embedded_question(
            hook, Question(words), sources.embedder
        )
        return found_memories(question, index, await hook.hidden_from())

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
        settings = hook.settings
        if (
            settings.use_llm_for_relevance
        ):  # then the threshold is for the model's scores
            settings = settings.model_copy(update={"relevance_threshold": 0.0})
        window = await request_window(
            hook, plain_window(hook, {"messages": messages}), self._notes
        )
        candidates = await self._candidates(
            hook, await self.sources(hook), question
        )
        fit = fitting_memories(
            candidates, ranked_candidates(candidates, settings), settings
        )
        selection = selected(candidates, fit, settings, window.memory_tokens)
        return explained(
            selection, settings, window.memory_tokens, await hook.hidden_from()
        )

    async def selection(
        self,
        hook: Hook,
        window: RequestWindow,
        sources: Sources,
        question: Question,
        complete: Complete | None = None,
    ) -> Selection:
        """What is selected for the question of a request.

        Raises:
            HostError: memories can't be read.
            MemoryUnavailable: the host allows this user none.
        """
        settings = hook.settings
        candidates = await self._candidates(hook, sources, question, complete)
        ranked = ranked_candidates(candidates, settings)
        fit = fitting_memories(candidates, ranked, settings)
        if settings.use_llm_for_relevance:
            fit = await self._judged(hook, candidates, ranked, fit)
        if settings.native_memory == "keep":
            eligible = eligible_memories(candidates, fit)
            left = await hook.native.not_injected(window.body, eligible)
            injected = {memory.id for memory in eligible if memory not in left}
            candidates = replace(
                candidates, withheld=candidates.withheld | injected
            )
        return selected(candidates, fit, settings, window.memory_tokens)

    def news(self, hook: Hook, selection: Selection) -> str:
        """What the user is to know of the search: once, that vectors are missing."""
        missing = len(selection.candidates.index.missing())
        is_news = self._indexes.news(hook.user_id, missing)
        return (
            f"{missing} not embedded yet: found by keywords" if is_news else ""
        )

    async def keep_block(
        self, user_id: str, chat_id: str, ids: Sequence[str]
    ) -> None:
        """Keep which memories a chat's block holds, behind the host's own work."""
        await asyncio.sleep(_KEPT_AFTER_SECONDS)
        await self._chats.write(
            user_id, chat_id, json.dumps(ids), int(time.time())
        )

    async def _index(self, hook: Hook, sources: Sources) -> MemoryIndex:
        patience = (
            hook.settings.inlet_timeout_seconds * _SHARE_FOR_NEW_MEMORIES
        )
        return await self._indexes.current(sources, patience)

    async def _candidates(
        self,
        hook: Hook,
        sources: Sources,
        question: Question,
        complete: Complete | None = None,
    ) -> Candidates:
        """The candidates for a question, which is completed and embedded first."""
        former, index = await asyncio.gather(
            self._former_ids(hook.user_id, question),
            self._index(hook, sources),
        )
        if index.memories:
            question = await embedded_question(
                hook, question, sources.embedder, complete
            )
        question = replace(question, former=former)
        examples = self._indexes.nulls.examples_for(
            index.embedder, index.dimension
        )
        hidden = await hook.hidden_from()
        if question.to_forget:  # in a thread: a large store takes a moment
            return await asyncio.to_thread(
                candidates_for, question, index, hidden, examples
            )
        return candidates_for(question, index, hidden, examples)

    async def _former_ids(self, user_id: str, question: Question) -> list[str]:
        """The ids of what stood in a chat's block; none where that is not known."""
        # Nothing was injected before a chat's first message; said anew, it begins the block anew.
        if question.first or not question.chat_id:
            return []
        try:
            state = await self._chats.read(user_id, question.chat_id)
            ids = listing(json.loads(state or "[]"))
        except (TablesUnavailable, ValueError, RecursionError) as error:
            log_search.warning(
                "a chat's block is made anew: %s", with_detail(error)
            )
            return []
        return [memory_id for memory_id in ids if isinstance(memory_id, str)]

    async def _judged(
        self,
        hook: Hook,
        candidates: Candidates,
        ranked: Sequence[Ranked],
        fit: dict[str, float],
    ) -> dict[str, float]:
        """What fits by the scores of a model; as it is where there are none."""
        settings = hook.settings
        try:
            completer = await hook.completer()
            hidden = await hook.hidden_from(completer)
            judge = RelevanceJudge(
                completer=completer,
                formats=self._formats,
                scores=self._scores,
                prompt=settings.memory_relevance_prompt,
            )
            scores = memories_to_judge(candidates, ranked, settings, hidden)
            judged = await judge.judged(
                hook.user_id,
                candidates.question.text,
                [candidates.memory(memory_id) for memory_id in scores],
                scores,
                settings.relevance_threshold or _LEAST_JUDGED,
            )
        except AdaptiveMemoryError as error:
            log_search.warning(
                "memories are not judged: %s", with_detail(error)
            )
            return fit
        for memory_id, score in fit.items():
            # Kept from the judging model, not from the chat's.
            if hidden.holds(candidates.memory(memory_id)):
                judged[memory_id] = score
        return judged
