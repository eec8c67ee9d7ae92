"""Recall as the inlet asks for it: from the message to the block in its prompt.

Between what is asked and what was selected stand pure steps (``selection``, ``block``). Here is
what they are given by the database, the embedding model and the judging model, and what becomes of
their outcome.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from types import MappingProxyType

from adaptive.core import (
    JsonObject,
    Memory,
    MemoryUnavailable,
    Message,
    Sources,
    log_failure,
    mapping,
    messages_of,
    phrase,
    tally,
    tell_outcome,
    typed_message,
)
from adaptive.llm.ask import AnswerFormats
from adaptive.memory import AddedText, ChatNotesTable, ChatTable
from adaptive.privacy import spoken_request
from adaptive.recall.block import recall_line, withheld_reason
from adaptive.recall.chat_so_far import ChatSoFar
from adaptive.recall.chat_state import ChatState, PastRecall
from adaptive.recall.explanation import explained, show_sources
from adaptive.recall.judge import RelevanceJudge
from adaptive.recall.placement import Placed, rendered_blocks, with_texts
from adaptive.recall.prompt import (
    PromptBlocks,
    TurnBlocks,
    with_block,
    with_blocks,
)
from adaptive.recall.question import (
    Complete,
    Question,
    embedded_question,
    question_of,
)
from adaptive.recall.request import (
    RequestWindow,
    plain_window,
    request_window,
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
from adaptive.search import FoundMemory, MemoryIndexes
from adaptive.settings import Hook, may_be_given_memories

# Of the inlet's time limit.
_SHARE_FOR_NEW_MEMORIES = 0.25

# Has a model look at the message beside the search.
Asking = Callable[
    [Hook, Sequence[Message], str, bool],
    AbstractAsyncContextManager[Complete | None],
]


@dataclass
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
        self._chats = ChatState(
            table=self.chats, past=self.past, behind=self.behind
        )
        self._judge = RelevanceJudge(self.formats)
        # What waits for the hook behind the host's own tasks.
        self.blocks = TurnBlocks()

    def forget(self, user_id: str) -> None:
        """Let go of all that this process holds of a user to recall it."""
        self.indexes.forget(user_id)
        self._judge.forget(user_id)
        self._chats.forget(user_id)
        self.blocks.forget(user_id)

    async def window(self, hook: Hook, plain: RequestWindow) -> RequestWindow:
        """What of a request is sent; without the host's memory, where ours takes its place.

        Raises:
            HostError: the host does not tell where its models are, or whether it compacts chats.
        """
        features = mapping(plain.body.get("features"))
        # The host would show its memories to any model, and at any place.
        if features.get("memory") and (
            hook.settings.native_memory == "replace"
            or hook.place.is_divided
            or (await hook.hidden_from()).names
        ):
            # A copy: the original is shared with the metadata and other models' requests. From 0.10
            # on this ends the memory tools and the background review of the turn as well.
            off = {**plain.body, "features": {**features, "memory": False}}
            plain = replace(plain, body=off)
        return await request_window(hook, plain, self.notes)

    async def recalled(self, hook: Hook, window: RequestWindow) -> JsonObject:
        """The request with what fits its newest message, and with what fitted earlier ones.

        Where the host has a hook behind its own tasks, that is put in there.

        Raises:
            HostError: memories can't be read.
        """
        messages = messages_of(window.body)
        question = question_of(hook, messages)
        typed = typed_message(messages, hook.question_id)
        # The answer would repeat what is to be erased.
        erases = spoken_request(hook, typed) not in (None, "restore")
        selection: Selection | None = None
        async with self.asking(
            hook, messages, question.text, question.first
        ) as complete:
            if may_be_given_memories(hook) and not erases:
                task = await hook.native.task_that_reads(window.body)
                if task:
                    hook.state["recalled"] = phrase("would_show")
                else:
                    question = replace(question, complete=complete)
                    selection = await self._selected(hook, window, question)
            if complete is not None:
                # The model may have something to be warned of.
                await complete()
        if selection is None:
            return self.sent(hook, window)
        placed = selection.placed
        question = selection.candidates.question
        if question.so_far.again is None:
            texts = added_texts(hook, window, selection.past)
            placed = with_texts(placed, texts)
            self._chats.keep(hook, question, placed[question.so_far.key])
        return self.sent(hook, window, placed)

    def sent(
        self,
        hook: Hook,
        window: RequestWindow,
        placed: Mapping[str, Placed] = MappingProxyType({}),
    ) -> JsonObject:
        """The request, cut to its window, with what is ``placed`` by the keys of its messages.

        Without that the newest message has what the model is told besides memories.
        """
        if window.keys and not placed:
            texts = added_texts(hook, window)
            placed = {window.keys[-1]: Placed(texts=texts)}
        blocks = rendered_blocks(placed, hook.settings)
        added = PromptBlocks.of(window, blocks)
        messages = window.messages
        if hook.adds_behind_tasks:
            # What the host has stored of former blocks goes at once.
            messages = with_block(messages, "")
            if any(blocks.values()):
                self.blocks.keep(hook, added)
        else:
            messages = with_blocks(messages, added)
        return {**window.body, "messages": messages}

    async def found(self, hook: Hook, words: str) -> list[FoundMemory]:
        """The memories that words name, best first, unrelated ones left out; raises as ``why``."""
        sources = await self._sources(hook)
        question = Question(words)
        so_far = self._chats.so_far(hook, plain_window(hook, {}), question)
        candidates = await self._candidates(hook, sources, question, so_far)
        return found_memories(candidates, await hook.hidden_from())

    async def named(self, hook: Hook, memory: Memory) -> FoundMemory:
        """A memory that its user has named, with what keeps it from being repeated in the chat.

        Raises:
            HostError: the host does not tell where the chat's model is.
        """
        return FoundMemory(
            memory=memory,
            score=100,
            has_all_words=True,
            withheld=withheld_reason(memory, await hook.hidden_from()),
        )

    async def why(
        self,
        hook: Hook,
        messages: list[JsonObject],
        numbers: Mapping[str, int],
    ) -> str:
        """Why memories come for the user's newest message, worked out anew, without a model.

        It is Markdown without the words of what this chat's model may not see, each memory with
        its number where it has one.

        Raises:
            HostError: memories can't be read, or the user may have none.
        """
        recalls = may_be_given_memories(hook)
        if not recalls or await hook.kind() != hook.told_kind:
            return phrase("none_given")
        question = question_of(hook, messages, answered=True)
        if not question.text:
            return phrase("no_answer_yet")
        if hook.settings.use_llm_for_relevance:
            # The threshold is for the model's scores.
            unjudged = {
                "use_llm_for_relevance": False,
                "relevance_threshold": 0.0,
            }
            settings = hook.settings.model_copy(update=unjudged)
            hook = replace(hook, settings=settings)
        window = plain_window(hook, {"messages": messages})
        sources = await self._sources(hook)
        return explained(
            await self.selection(hook, window, sources, question),
            hook.settings,
            await hook.hidden_from(),
            numbers,
        )

    async def selection(
        self,
        hook: Hook,
        window: RequestWindow,
        sources: Sources,
        question: Question,
        reading: Awaitable[ChatSoFar] | None = None,
    ) -> Selection:
        """What is selected for the question of a request, beside what its chat was given so far.

        Raises:
            HostError: memories can't be read.
            MemoryUnavailable: the host allows this user none.
        """
        settings = hook.settings
        candidates = await self._candidates(
            hook,
            sources,
            question,
            reading or self._chats.so_far(hook, window, question),
        )
        # In a thread: eight thoughts in a large store would hold up everybody else.
        ranked = await asyncio.to_thread(ranked_candidates, candidates)
        fit = {
            memory_id: near.relevance
            for memory_id, near in fitting_by_settings(
                candidates, ranked, settings
            ).items()
        }
        if settings.use_llm_for_relevance:
            fit = await self._judge.judged(hook, candidates, ranked, fit)
        return selected(candidates, fit, settings, window.memory_tokens)

    async def _selected(
        self, hook: Hook, window: RequestWindow, question: Question
    ) -> Selection | None:
        """What a conversation is given; nothing where that turns out to be somebody else's."""
        tell_outcome("nothing fits")
        sources = await self._sources(hook)
        reading = self._chats.so_far(hook, window, question)
        so_far = asyncio.ensure_future(reading)
        section = self._chats.past_section(
            hook, window, question, sources.embedder, so_far
        )
        try:
            # Who owns the chat is asked beside it: it takes about as long as a query.
            selection, kind, [past] = await asyncio.gather(
                self.selection(hook, window, sources, question, so_far),
                hook.kind(),
                # A bug in it must not cost the turn its memories.
                asyncio.gather(section, return_exceptions=True),
            )
        except MemoryUnavailable:
            return None
        if kind != hook.told_kind:
            return None
        notes: list[str] = []
        missing = len(selection.candidates.index.missing())
        if missing:
            notes.append(phrase("by_keywords", n=missing))
        if isinstance(past, BaseException):
            log_failure("past conversation fails", past)
            notes.append(f"{phrase('past_left_out')}: {phrase('unexpected')}")
        elif past is not None:
            quoting = AddedText(text=past.text, quoted=past.quoted)
            selection = replace(selection, past=quoting)
            notes.append(past.note)
        hook.state["recalled"] = recall_line(
            len(selection.shown), "; ".join(filter(None, notes))
        )
        tally("entries", "core", len(selection.core))
        tally("entries", "retrieved", len(selection.retrieved))
        hook.state["injected"] = [*selection.shown]
        if hook.settings.show_sources:
            self.behind(show_sources(hook, selection), "showing sources")
        return selection

    async def _sources(self, hook: Hook) -> Sources:
        """Where a user's memories are; their embedder embeds no message twice."""
        sources = await hook.sources()
        return replace(sources, embedder=self.indexes.turn_embedder(sources))

    async def _candidates(
        self,
        hook: Hook,
        sources: Sources,
        question: Question,
        reading: Awaitable[ChatSoFar],
    ) -> Candidates:
        """The candidates for a question, which is completed and embedded first.

        Where no model completes it, it is embedded while the memories that are known are proven
        to stand as they did.
        """
        seconds = hook.settings.inlet_timeout_seconds
        known = None
        if question.complete is None:
            known = self.indexes.known(sources.user_id)
        so_far, index, embedded = await asyncio.gather(
            reading,
            self.indexes.current(sources, seconds * _SHARE_FOR_NEW_MEMORIES),
            embedded_question(hook, question, sources.embedder, known),
        )
        if index is not known:
            embedded = await embedded_question(
                hook, question, sources.embedder, index
            )
        hidden = await hook.hidden_from()

        def candidates() -> Candidates:
            """In a thread: a large store takes a moment."""
            judges = self.indexes.judges(index.embedder, index.dimension)
            asked = replace(embedded, so_far=so_far)
            return candidates_for(asked, index, hidden, judges)

        return await asyncio.to_thread(candidates)


def added_texts(
    hook: Hook, window: RequestWindow, *past: AddedText
) -> list[AddedText]:
    """What the newest message brings besides memories: past conversation, a summary, warnings."""
    warnings = hook.state.get("warnings", [])
    texts = [*past, AddedText(window.summary), *map(AddedText, warnings)]
    return [text for text in texts if text.text]
