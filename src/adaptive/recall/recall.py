"""Recall as the inlet asks for it: from the message to the block in its prompt.

Between what is asked and what was selected stand pure steps (``selection``, ``block``). Here is
what they are given by the database, the embedding model and the judging model, and what becomes of
their outcome.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

from adaptive.core.embedding import Embedder, Sources
from adaptive.core.messages import Message, listing, mapping, typed_message
from adaptive.core.model import (
    JsonObject,
    MemoryUnavailable,
    TablesUnavailable,
    log_failure,
)
from adaptive.core.runtime import tally, tell_outcome
from adaptive.llm.ask import AnswerFormats
from adaptive.memory.tables import Addition, ChatNotesTable, ChatTable
from adaptive.privacy.spoken_requests import spoken_request
from adaptive.recall.block import (
    extended_block,
    recall_line,
)
from adaptive.recall.core_facts import CoreJudges, core_judges
from adaptive.recall.explanation import explained, show_sources
from adaptive.recall.judge import RelevanceJudge
from adaptive.recall.placement import (
    ChatSoFar,
    message_keys,
    rendered_blocks,
)
from adaptive.recall.question import (
    Complete,
    Question,
    embedded_question,
    question_of,
)
from adaptive.recall.request import (
    RequestWindow,
    TurnBlocks,
    plain_window,
    prompt_blocks,
    request_window,
    with_block,
    with_blocks,
)
from adaptive.recall.selection import (
    Candidates,
    Selection,
    candidates_for,
    fitting_by_settings,
    found_memories,
    ranked_candidates,
    selected,
)
from adaptive.search.history_ports import PastQuestion
from adaptive.search.index import FoundMemory, MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.hook import Hook, may_be_given_memories

# Of the inlet's time limit.
_SHARE_FOR_NEW_MEMORIES = 0.25
_WITHHELD = "No memories recalled: this Open WebUI would show them to its {}"

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


@dataclass(eq=False)
class Recall:
    """What an instance of the plug-in needs to recall; what belongs to a user can be forgotten.

    ``behind`` does work that no answer waits for.
    """

    indexes: MemoryIndexes
    formats: AnswerFormats
    chats: ChatTable
    notes: ChatNotesTable
    behind: Callable[..., None]
    asking: Asking
    past: PastRecall

    def __post_init__(self) -> None:
        self._judge = RelevanceJudge(self.formats)
        # Of each embedding model, by its name and the length of its vectors.
        self._core_judges: dict[tuple[str, int], CoreJudges] = {}
        # What waits for the hook behind the host's own tasks.
        self.blocks = TurnBlocks()

    def forget(self, user_id: str) -> None:
        """Let go of all that this process holds of a user to recall it."""
        self.indexes.forget(user_id)
        self._judge.forget(user_id)
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
        return await request_window(hook, plain, self.notes)

    async def recalled(self, hook: Hook, window: RequestWindow) -> JsonObject:
        """The request with what fits its newest message in the system prompt.

        Where the host has a hook behind its own tasks, that is put in there.

        Raises:
            HostError: memories can't be read.
        """
        messages = listing(window.body.get("messages"))
        question = question_of(hook, messages)
        typed = typed_message(messages, hook.question_id)
        # The answer would repeat what is to be erased.
        erases = spoken_request(hook, typed) not in (None, "restore")
        blocks: Mapping[str, str] = {}
        async with self.asking(
            hook, messages, question.text, question.first
        ) as complete:
            if may_be_given_memories(hook) and not erases:
                task = await hook.native.task_that_reads(window.body)
                if task:
                    hook.state["recalled"] = _WITHHELD.format(task)
                else:
                    keys = message_keys(messages)
                    question = replace(
                        question,
                        complete=complete,
                        keys=keys,
                        sent=window.sent_keys(keys),
                    )
                    blocks = await self._blocks_of(hook, window, question)
            if complete is not None:
                # The model may have something to be warned of.
                await complete()
        return self.sent(hook, window, blocks)

    def sent(
        self,
        hook: Hook,
        window: RequestWindow,
        blocks: Mapping[str, str] = MappingProxyType({}),
    ) -> JsonObject:
        """The request, cut to its window, with its blocks and what the model is warned of.

        ``blocks`` are by the keys of messages; the one for the system prompt has no key.
        """
        warnings = hook.state.get("warnings", [])
        added = prompt_blocks(window, blocks, warnings)
        messages = window.messages
        if hook.adds_behind_tasks:
            # What the host has stored of former blocks goes at once.
            messages = with_block(messages, "")
            if added:
                self.blocks.keep(hook, added)
        else:
            messages = with_blocks(messages, added)
        return {**window.body, "messages": messages}

    async def found(self, hook: Hook, words: str) -> list[FoundMemory]:
        """The memories that words name, best first, unrelated ones left out; raises as ``why``."""
        sources = await self._sources(hook)
        candidates = await self._candidates(hook, sources, Question(words))
        return found_memories(candidates, await hook.hidden_from())

    async def why(self, hook: Hook, messages: list[JsonObject]) -> str:
        """Why memories come for the user's newest message, worked out anew, without a model.

        It is Markdown without the words of what this chat's model may not see.

        Raises:
            HostError: memories can't be read, or the user may have none.
        """
        recalls = may_be_given_memories(hook)
        if not recalls or await hook.kind() != hook.told_kind:
            return "No message here is given memories: by your settings, or the kind of this chat."
        question = question_of(hook, messages, answered=True)
        if not question.text:
            return "There is no message before this one."
        if hook.settings.use_llm_for_relevance:
            # The threshold is for the model's scores.
            unjudged = {
                "use_llm_for_relevance": False,
                "relevance_threshold": 0.0,
            }
            settings = hook.settings.model_copy(update=unjudged)
            hook = replace(hook, settings=settings)
        window = plain_window(hook, {"messages": messages})
        keys = message_keys(messages)
        question = replace(question, keys=keys, sent=keys)
        sources = await self._sources(hook)
        return explained(
            await self.selection(hook, window, sources, question),
            hook.settings,
            await hook.hidden_from(),
        )

    async def selection(
        self,
        hook: Hook,
        window: RequestWindow,
        sources: Sources,
        question: Question,
    ) -> Selection:
        """What is selected for the question of a request.

        Raises:
            HostError: memories can't be read.
            MemoryUnavailable: the host allows this user none.
        """
        settings = hook.settings
        candidates = await self._candidates(hook, sources, question)
        ranked = ranked_candidates(candidates)
        fit = {
            memory_id: near.relevance
            for memory_id, near in fitting_by_settings(
                candidates, ranked, settings
            ).items()
        }
        if settings.use_llm_for_relevance:
            fit = await self._judge.judged(hook, candidates, ranked, fit)
        return selected(candidates, fit, settings, window.memory_tokens)

    async def _blocks_of(
        self, hook: Hook, window: RequestWindow, question: Question
    ) -> dict[str, str]:
        """The blocks of a conversation; none where that turns out to be somebody else's."""
        tell_outcome("nothing fits")
        sources = await self._sources(hook)
        past_section = self._past_section(hook, window, sources, question)
        try:
            # Who owns the chat is asked beside it: it takes about as long as a query.
            selection, kind, [past] = await asyncio.gather(
                self.selection(hook, window, sources, question),
                hook.kind(),
                # A bug in it must not cost the turn its memories.
                asyncio.gather(past_section, return_exceptions=True),
            )
        except MemoryUnavailable:
            return {}
        if kind != hook.told_kind:
            return {}
        blocks = rendered_blocks(selection.placed, hook.settings.memory_format)
        notes: list[str] = []
        missing = len(selection.candidates.index.missing())
        if missing:
            notes.append(f"{missing} not embedded yet: found by keywords")
        if isinstance(past, BaseException):
            log_failure("past conversation fails", past)
            notes.append("past conversation left out: an unexpected error")
        elif past is not None:
            if past.text:
                key = selection.candidates.question.so_far.key
                blocks[key] = extended_block(blocks.get(key, ""), past.text)
            notes.append(past.note)
        hook.state["recalled"] = recall_line(
            len(selection.shown), "; ".join(filter(None, notes))
        )
        self._tell(hook, selection)
        return blocks

    def _tell(self, hook: Hook, selection: Selection) -> None:
        """Tell the measures, the turn's later hooks and the page what was selected."""
        tally("entries", "core", len(selection.core))
        tally("entries", "retrieved", len(selection.retrieved))
        hook.state["injected"] = [*selection.shown]
        now = int(time.time())
        if hook.settings.show_sources:
            self.behind(show_sources(hook, selection), "showing sources")
        question = selection.candidates.question
        so_far = question.so_far
        newest = selection.placed[so_far.key]
        if question.chat_id and newest.entries and so_far.again is None:
            additions = so_far.with_addition(newest.addition())
            chat = hook.user_id, question.chat_id
            keeping = self.chats.write(*chat, additions, now)
            self.behind(keeping, "keeping what a chat was given", gently=True)

    async def _past_section(
        self,
        hook: Hook,
        window: RequestWindow,
        sources: Sources,
        question: Question,
    ) -> PastSection | None:
        """Past conversation for a question; none for a model that banks are kept from."""
        if (
            question.to_forget
            or not self.past.recalls(hook)
            or (await hook.hidden_from()).names
        ):
            return None
        asked = PastQuestion(
            text=question.text,
            previous=question.previous,
            first=question.first,
            messages=window.messages,
            complete=question.complete,
            tokens=window.history_tokens,
        )
        return await self.past.recalled(hook, asked, sources.embedder)

    async def _sources(self, hook: Hook) -> Sources:
        """Where a user's memories are; their embedder embeds no message twice."""
        sources = await hook.sources()
        return replace(sources, embedder=self.indexes.turn_embedder(sources))

    async def _candidates(
        self, hook: Hook, sources: Sources, question: Question
    ) -> Candidates:
        """The candidates for a question, which is completed and embedded first."""
        seconds = hook.settings.inlet_timeout_seconds
        additions, index = await asyncio.gather(
            self._additions(hook.user_id, question),
            self.indexes.current(sources, seconds * _SHARE_FOR_NEW_MEMORIES),
        )
        if index.memories:
            question = await embedded_question(
                hook, question, sources.embedder, index
            )
        hidden = await hook.hidden_from()

        def candidates() -> Candidates:
            """In a thread: a large store takes a moment."""
            judges = self._judges_for(index)
            so_far = ChatSoFar.of(additions, question.keys, question.sent)
            asked = replace(question, so_far=so_far)
            return candidates_for(asked, index, hidden, judges)

        return await asyncio.to_thread(candidates)

    def _judges_for(self, index: MemoryIndex) -> CoreJudges | None:
        """The judges of core facts for an index; ``None`` while its examples have no vectors."""
        key = (index.embedder, index.dimension)
        examples = self.indexes.nulls.examples_for(*key)
        if examples is None or index.nulls is None:
            return None
        if key not in self._core_judges:
            self._core_judges[key] = core_judges(examples, index.nulls)
        return self._core_judges[key]

    async def _additions(
        self, user_id: str, question: Question
    ) -> dict[str, Addition]:
        """What a chat was given; nothing where that is not known."""
        if not question.chat_id:
            return {}
        try:
            return await self.chats.read(user_id, question.chat_id)
        except TablesUnavailable as error:
            log_failure("what a chat was given is not known", error)
            return {}
