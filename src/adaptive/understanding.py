"""Understanding a turn before it is answered: one model call beside retrieval, and its effects.

Nothing waits longer for it than its deadline; without a usable reply all is as if it were off.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Self

from adaptive.conversation.chat_notes import categorised_notes
from adaptive.conversation.preprocess import (
    Preprocessing,
    Preprocessor,
    PreprocessRules,
    read_conversation,
)
from adaptive.conversation.preprocess_effects import (
    extraction_language,
    harm_notice,
    injection_notice,
    lifted_candidates,
    may_learn_from,
    retrieval_text,
    without_unsafe_labels,
)
from adaptive.conversation_ports import ChatNotesTable
from adaptive.errors import AdaptiveMemoryError
from adaptive.host.chat_title import ChatTitle, titles_are_wanted
from adaptive.host.events import EventEmitter
from adaptive.host.hook import Hook
from adaptive.host.kind import LEARNED_KINDS, RECALLED_KINDS
from adaptive.host.providers import chosen_completer
from adaptive.host.requests import account, isolated_request
from adaptive.learn.archive import AuditTrail
from adaptive.llm.ask import AnswerFormats
from adaptive.measures import staged
from adaptive.messages import Message, has_words, message_text
from adaptive.ports import Completer
from adaptive.privacy.policy import gate_policy, is_safe_label
from adaptive.recall.block import extended_block
from adaptive.recall.question import Question, question_of
from adaptive.recall.rewriting import Rewrite, Rewriter
from adaptive.settings import Settings
from adaptive.table_ports import AuditEntry

log_understanding = logging.getLogger("adaptive_memory")

# What the inlet tells the outlet of the same turn, and itself where memories fail: the language to
# learn in, why nothing may be learned, the block that warns the chat model, and the chat's title.
LANGUAGE = "adaptive_memory_language"
UNLEARNED = "adaptive_memory_unlearned"
_WARNING = "adaptive_memory_warning"
_TITLE = "adaptive_memory_title"

# Of the inlet's time limit; the rest is for searching again and for the block.
_SHARE_FOR_UNDERSTANDING = 0.8
_SHARE_FOR_SEARCHING_AGAIN = 0.95
# A command is short, and reading it is done on the event loop.
_LONGEST_COMMAND_READ = 2000
# Where a judging model may take all of the inlet's time, too.
_LEAST_SHARE = 0.25

CompleterOf = Callable[[Hook], Awaitable[Completer]]
TitleOf = Callable[[str, EventEmitter | None], ChatTitle]


class TurnUnderstanding:
    """What a model says of one turn while its memories are searched; nothing without a task.

    That is done within it, as a context. Where that fails, the call is waited for in time all the
    same, as what the turn is warned of is needed then, too; where it is cancelled, so is the call,
    at once.
    """

    def __init__(
        self,
        metadata: dict[str, Any],
        task: asyncio.Task[Preprocessing | None] | None = None,
        words: str = "",
        until: float = 0.0,
    ) -> None:
        self._metadata, self._task, self._words, self._until = metadata, task, words, until
        self._failed = False

    @property
    def rewriter(self) -> Rewriter | None:
        """Who says the question in other words; ``None`` where no model was asked."""
        return None if self._task is None else self._rewrite

    async def found(self) -> Preprocessing | None:
        """What the model says, once it does or its time is over; whatever fails, nothing."""
        if self._task is None:
            return None
        await asyncio.wait({self._task})
        if self._task.cancelled():
            return None
        if (error := self._task.exception()) is not None:
            if not self._failed:
                log_understanding.error("a message is not pre-processed", exc_info=error)
            self._failed = True
            return None
        return self._task.result()

    async def warning(self) -> str:
        """The block that warns the chat model of this turn's message, mostly none."""
        await self.found()
        return turn_warning(self._metadata)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: object, trace: object
    ) -> None:
        try:
            if kind is not None and issubclass(kind, Exception):
                await self.found()
        finally:
            if self._task is not None:
                self._task.cancel()

    async def _rewrite(self) -> Rewrite | None:
        found = await self.found()
        if found is None:
            return None
        lift = partial(lifted_candidates, found=found) if found.relevant_categories else None
        left = self._until - asyncio.get_running_loop().time()
        return Rewrite(retrieval_text(self._words, found), lift, max(left, 0.0))


class Understanding:
    """What an instance of the plug-in needs to understand turns; nothing in it is one user's.

    ``completer_of`` gives the model that the valves name, and ``title_of`` the title of a chat in
    the host, unless a test says otherwise.
    """

    def __init__(
        self,
        formats: AnswerFormats,
        start: Callable[[Coroutine[Any, Any, None]], None],
        notes: ChatNotesTable,
        trail: AuditTrail,
        completer_of: CompleterOf | None = None,
        title_of: TitleOf = ChatTitle,
    ) -> None:
        self._formats, self._start = formats, start
        self._notes, self._trail, self._title_of = notes, trail, title_of
        self._completer_of = completer_of or _own_completer

    def beside(self, hook: Hook, messages: Sequence[Message]) -> TurnUnderstanding:
        """Ask about the newest message, beside what is done within what is returned."""
        if not is_understood(hook):
            return TurnUnderstanding(hook.metadata)
        question = question_of(messages, hook.metadata, hook.chat_id)
        if not has_words(question.text):
            return TurnUnderstanding(hook.metadata)
        work = self._understood(hook, messages, question)
        until = asyncio.get_running_loop().time() + _seconds_to_search_again(hook.settings)
        return TurnUnderstanding(hook.metadata, asyncio.create_task(work), question.text, until)

    @staged("preprocess")
    async def _understood(
        self, hook: Hook, messages: Sequence[Message], question: Question
    ) -> Preprocessing | None:
        """What the model says of a message; what follows for the turn stands in its metadata."""
        settings = hook.settings
        deadline = seconds_to_understand(settings)
        names = tuple(dict.fromkeys([*settings.categories, *settings.banks]))
        rules = PreprocessRules(deadline, names, settings.preprocess_prompt)
        try:
            async with asyncio.timeout(deadline):
                completer = await self._completer_of(hook)
                # In a thread: a long chat takes a moment to read, and other chats go on.
                conversation = await asyncio.to_thread(read_conversation, messages)
                preprocessor = Preprocessor(completer, self._formats, rules)
                found = await preprocessor.preprocessed(conversation, first=question.first)
        except (AdaptiveMemoryError, TimeoutError) as error:
            reason = str(error) or f"the model did not answer within {deadline:g} s"
            log_understanding.warning("a message is not pre-processed: %s", reason)
            return None
        if found is not None:
            self._tell(hook, found)
            if question.first and hook.told_kind == "saved":
                self._start(self._categorised(hook, found))
                if hook.settings.name_chats and UNLEARNED not in hook.metadata:
                    hook.metadata[_TITLE] = found.title
        return found

    def _tell(self, hook: Hook, found: Preprocessing) -> None:
        """Put down what the turn's later stages have to know, and flag what calls for care."""
        settings, metadata = hook.settings, hook.metadata
        metadata[LANGUAGE] = extraction_language(settings.memory_language, found)
        injection = injection_notice(found, settings.prompt_injection_threshold)
        harm = harm_notice(found, settings.harmful_message, settings.harmful_message_threshold)
        if warnings := [one.warning for one in (injection, harm) if one.warning]:
            metadata[_WARNING] = extended_block("", *warnings)
        if is_learned_from(hook) and not may_learn_from(found, settings.prompt_injection_threshold):
            metadata[UNLEARNED] = f"Nothing learned from this message: {injection.note}"
        if notes := [one.note for one in (injection, harm) if one.note]:
            for note in notes:
                log_understanding.warning(
                    "flagged in chat %r of user %r: %s", hook.chat_id, hook.user_id, note
                )
            self._start(self._flagged(hook, notes))

    def names(self, hook: Hook) -> bool:
        """Whether a title was found for a hook's chat."""
        return bool(hook.metadata.get(_TITLE))

    async def name_chat(self, hook: Hook, messages: Sequence[Message]) -> None:
        """Give a chat that begins the title that was found, behind its first answer.

        Only where nobody else gives one, and once: a title that somebody has chosen stays. Raises
        nothing of ours.
        """
        title = str(hook.metadata.pop(_TITLE, ""))
        first = next((one for one in messages if one.get("role") == "user"), None)
        if not title or first is None:
            return
        try:
            if not await titles_are_wanted(hook) or await hook.kind() != "saved":
                return
            policy = gate_policy(hook.settings)
            if await asyncio.to_thread(is_safe_label, title, policy):
                given = self._title_of(hook.chat_id, hook.emitter)
                await given.give(title, message_text(first))
        except AdaptiveMemoryError as error:
            log_understanding.warning("a chat has no title of ours: %s", error)

    async def _flagged(self, hook: Hook, notes: Sequence[str]) -> None:
        """Write down why a message was flagged, without its text."""
        now, message_id = int(time.time()), str(hook.metadata.get("user_message_id") or "")
        entries = [
            AuditEntry("flagged", "", now, reason=note, chat_id=hook.chat_id, message_id=message_id)
            for note in notes
        ]
        await self._trail.record(hook.user_id, entries, now)

    async def _categorised(self, hook: Hook, found: Preprocessing) -> None:
        """Note category and tags of a chat that begins; notes of deleted chats go."""
        user_id, chat_id = hook.user_id, hook.chat_id
        try:
            if await hook.kind() != "saved":
                return
            policy = gate_policy(hook.settings)
            safe = await asyncio.to_thread(without_unsafe_labels, found, policy)
            standing = await self._notes.read(user_id, chat_id)
            notes = categorised_notes(standing, safe)
            if notes != standing:
                await self._notes.write(user_id, chat_id, notes, int(time.time()))
                await self._notes.drop_deleted(user_id, chat_id)
        except AdaptiveMemoryError as error:
            log_understanding.warning("a chat's category is not kept: %s", error)


def is_learned_from(hook: Hook) -> bool:
    """Whether what the user types in this kind of conversation may be learned."""
    settings, kind = hook.settings, hook.told_kind
    if settings.save_mode == "off":
        return False
    return kind in LEARNED_KINDS or (kind == "api" and settings.learn_from_api_calls)


def is_understood(hook: Hook) -> bool:
    """Whether a model is asked about a turn: where it is wanted, and memories come in or out."""
    settings, kind = hook.settings, hook.told_kind
    if not settings.enable_preprocessing:
        return False
    temporary = kind == "temporary" and settings.inject_in_temporary_chats
    recalled = settings.show_memories and (kind in RECALLED_KINDS or temporary)
    return recalled or is_learned_from(hook)


def seconds_to_understand(settings: Settings) -> float:
    """How long the call may take, so that a judging model and the search still have their time."""
    limit = settings.inlet_timeout_seconds
    left = limit * _SHARE_FOR_UNDERSTANDING - _judging_seconds(settings)
    return min(settings.preprocess_timeout_seconds, max(left, limit * _LEAST_SHARE))


def _seconds_to_search_again(settings: Settings) -> float:
    """When a second search has to be over, from the beginning of the inlet on."""
    left = settings.inlet_timeout_seconds * _SHARE_FOR_SEARCHING_AGAIN
    return left - _judging_seconds(settings)


def _judging_seconds(settings: Settings) -> float:
    return settings.relevance_timeout_seconds if settings.use_llm_for_relevance else 0.0


def turn_warning(metadata: dict[str, Any]) -> str:
    """The block that warns the chat model of this turn's message, as far as it is known by now."""
    return str(metadata.get(_WARNING) or "")


async def _own_completer(hook: Hook) -> Completer:
    return await chosen_completer(hook, isolated_request(hook.request), await account(hook.user))
