"""One model call before the answer: what the message is about, and whether it calls for care.

It is asked beside the search for memories. Nothing waits longer for it than its deadline; without a
usable reply all is as if it were off.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from adaptive.core.errors import AdaptiveMemoryError, with_detail
from adaptive.core.measures import staged
from adaptive.core.messages import (
    Message,
    earlier_utterances,
    has_words,
    message_text,
    newest_user_message,
    spoken_text,
)
from adaptive.core.model import CompletionRequest
from adaptive.core.texts import PROMPTS
from adaptive.llm.ask import AnswerFormats, render_prompt
from adaptive.llm.fields import Chance, Line, Score, ask_fields, fields_schema
from adaptive.memory.audit import AuditEntry, RecordChanges
from adaptive.memory.gate import gate_policy, is_safe_label
from adaptive.settings.hook import Hook, may_be_given_memories, may_be_learned_from

log_preprocessing = logging.getLogger("adaptive_memory.answer")

# The longest wait, and the most of the inlet's time limit, with and without a judging model: there
# is to be time for searching again and for the block.
_SECONDS_BEFORE = 1.5
_SHARE_BEFORE_JUDGING = 0.3
_SHARE_BEFORE = 0.5
# In bytes, for 70,000 tokens: of English one has some four bytes, of Chinese three.
_LONGEST_CONVERSATION = 210_000
_LIKELY_INJECTION = 0.8
HARMFUL_FROM = 8
# Asked for with a chat's first message only.
_TITLE_ASKED = {
    "first_rule": '- "title": at most 6 words that name the chat, in the language of the message.',
    "first_form": ', "title": "<title>"',
}

INJECTION_WARNING, HARM_WARNING = PROMPTS["warnings"].strip().split("\n\n")[1:]


class Preprocessing(BaseModel):
    """What a model says of a message; harm counts from 8 of 10, an injection from 0.8 on."""

    language_code: Line = Field(default="", pattern="^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}$")
    search_query: Line = Field(default="", max_length=500)
    harmful: Score = 0
    prompt_injection_chance: Chance = 0


class FirstPreprocessing(Preprocessing):
    """What a model says of a chat's first message: a ``title`` for the chat, too."""

    title: Annotated[Line, AfterValidator(lambda line: line.strip("\"'“”"))] = Field(
        default="", max_length=120
    )


class Preprocessor:
    """What an instance of the plug-in needs for pre-processing; nothing in it is one user's."""

    def __init__(
        self,
        formats: AnswerFormats,
        start: Callable[[Coroutine[Any, Any, None]], object],
        record: RecordChanges,
    ) -> None:
        self._formats = formats
        self._start = start
        self._record = record

    @asynccontextmanager
    async def beside(
        self, hook: Hook, messages: Sequence[Message], words: str, first: bool
    ) -> AsyncGenerator[Callable[[], Awaitable[str]] | None]:
        """Ask about the newest message beside what is done within; ``None`` where nobody is asked.

        What is brought is the message made complete, empty where it stands as it is. Where what is
        done within fails, the model is waited for in time all the same, as the turn may have to be
        warned of; where it is cancelled, so is the call, at once.
        """
        recalled = hook.settings.show_memories and may_be_given_memories(hook)
        served = hook.settings.enable_preprocessing and (recalled or may_be_learned_from(hook))
        if not served or not has_words(words):
            yield None
            return
        task = asyncio.create_task(self._completed(hook, messages, words, first))
        try:
            yield lambda: asyncio.shield(task)  # who asks may lose patience before others do
        finally:
            current = asyncio.current_task()
            if current is not None and not current.cancelling():
                await asyncio.wait({task})
            task.cancel()

    @staged("preprocess")
    async def _completed(
        self, hook: Hook, messages: Sequence[Message], words: str, first: bool
    ) -> str:
        """The words with what makes them complete; what follows for the turn is in its state."""
        fields = FirstPreprocessing if first else Preprocessing
        asked = _TITLE_ASKED if first else dict.fromkeys(_TITLE_ASKED, "")
        settings = hook.settings
        most = _SHARE_BEFORE_JUDGING if settings.use_llm_for_relevance else _SHARE_BEFORE
        seconds = min(_SECONDS_BEFORE, settings.inlet_timeout_seconds * most)
        try:
            async with asyncio.timeout(seconds):
                # In a thread: a long chat takes a moment to read, and other chats go on.
                said = await asyncio.to_thread(_conversation, messages)
                told = (render_prompt("preprocess", "", asked), f"## Conversation\n{said}")
                request = CompletionRequest(*told, "preprocessing", fields_schema(fields), 700)
                model = await hook.completer()
                found = await ask_fields(model, self._formats, fields, request, seconds)
        except (AdaptiveMemoryError, TimeoutError) as error:
            log_preprocessing.warning("a message is not pre-processed: %s", with_detail(error))
            return ""
        self._tell(hook, found)
        if isinstance(found, FirstPreprocessing) and hook.told_kind == "saved":
            safe = await asyncio.to_thread(is_safe_label, found.title, gate_policy(settings))
            if safe and found.prompt_injection_chance < _LIKELY_INJECTION:
                hook.state["title"] = found.title
        query = found.search_query
        return f"{words}\n{query}" if query.casefold() not in words.casefold() else ""

    def _tell(self, hook: Hook, found: Preprocessing) -> None:
        """Put down what the turn's later stages have to know, and flag what calls for care."""
        settings = hook.settings
        state = hook.state
        code = found.language_code
        told = code and f"the language with the ISO 639 code {code!r}"
        state["language"] = settings.memory_language.strip() or told
        warnings = list[str]()
        notes = list[str]()
        state["warnings"] = warnings
        if found.prompt_injection_chance >= _LIKELY_INJECTION:
            notes.append(f"prompt injection is likely ({found.prompt_injection_chance:.0%})")
            warnings.append(INJECTION_WARNING)
            if may_be_learned_from(hook):
                state["unlearned"] = f"Nothing learned from this message: {notes[0]}"
        if found.harmful >= HARMFUL_FROM and settings.harmful_message != "off":
            notes.append(f"the message may be harmful ({found.harmful:g} of 10)")
            warnings += [HARM_WARNING] if settings.harmful_message == "warn" else []
        for note in notes:
            self._start(flag_message(self._record, hook, hook.question_id, note))


def _conversation(messages: Sequence[Message]) -> str:
    """What was said up to the user's newest message, as much of it as a model is shown."""
    newest = newest_user_message(messages) or {}
    earlier = earlier_utterances(messages, newest, len(messages))
    lines = [f"{one.role}: {one.text}" for one in earlier]
    said = "\n".join([*lines, f"user: {spoken_text(message_text(newest))}"])
    return said.encode(errors="replace")[-_LONGEST_CONVERSATION:].decode(errors="ignore")


async def flag_message(record: RecordChanges, hook: Hook, message_id: str, note: str) -> None:
    """Write down in log and audit why a message was flagged, without its text."""
    where = f"chat {hook.chat_id}, message {message_id}"
    log_preprocessing.warning("flagged of user %r, %s: %s", hook.user_id, where, note)
    now = int(time.time())
    entry = AuditEntry("flagged", "", now, reason=note, chat_id=hook.chat_id, message_id=message_id)
    await record(hook.user_id, [entry], now)
