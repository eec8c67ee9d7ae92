"""One model call before the answer: what the message is about, and whether it calls for care.

It is asked beside the search for memories. Nothing waits longer for it than its deadline; without a
usable reply all is as if it were off.
"""

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from adaptive.core import (
    PROMPTS,
    AdaptiveMemoryError,
    CompletionRequest,
    Message,
    earlier_utterances,
    has_words,
    log,
    log_failure,
    message_text,
    newest_user_message,
    phrase,
    spoken_text,
    staged,
)
from adaptive.llm.ask import (
    AnswerFormats,
    Chance,
    Line,
    Score,
    ask_fields,
    fields_schema,
    render_prompt,
)
from adaptive.memory import Gate
from adaptive.settings import Hook, may_be_given_memories, may_be_learned_from

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

    language_code: Line = Field(
        default="", pattern="^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}$"
    )
    search_query: Line = Field(default="", max_length=500)
    harmful: Score = 0
    prompt_injection_chance: Chance = 0
    # Of a chat's first message only.
    title: Annotated[
        Line, AfterValidator(lambda line: line.strip("\"'“”"))
    ] = Field(default="", max_length=120)

    @property
    def is_likely_injection(self) -> bool:
        """Whether the message probably orders the model about."""
        return self.prompt_injection_chance >= _LIKELY_INJECTION


@dataclass
class Preprocessor:
    """What an instance of the plug-in needs for pre-processing; nothing in it is one user's."""

    formats: AnswerFormats

    @asynccontextmanager
    async def beside(
        self, hook: Hook, messages: Sequence[Message], words: str, first: bool
    ) -> AsyncGenerator[Callable[[], Awaitable[str]] | None]:
        """Ask about the newest message beside what is done within; ``None`` where nobody is asked.

        What is brought is the message made complete, empty where it stands as it is. Where what is
        done within fails, the model is waited for in time all the same, as the turn may have to be
        warned of; where it is cancelled, so is the call, at once.
        """
        is_served = may_be_given_memories(hook) or may_be_learned_from(hook)
        is_wanted = hook.settings.enable_preprocessing and is_served
        if not is_wanted or not has_words(words):
            yield None
            return
        task = asyncio.create_task(
            self._completed(hook, messages, words, first)
        )
        try:
            # Who asks may lose patience before others do.
            yield lambda: asyncio.shield(task)
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
        try:
            findings = await self._findings(hook, messages, first=first)
        except (AdaptiveMemoryError, TimeoutError) as error:
            log_failure("a message is not pre-processed", error)
            return ""
        # The language to learn in: the one that is set, else the message's.
        language = hook.settings.memory_language.strip()
        code = findings.language_code
        if code and not language:
            language = f"the language with the ISO 639 code {code!r}"
        hook.state["language"] = language
        self._flag(hook, findings)
        if first and hook.told_kind == "saved":
            gate = Gate(hook.settings)
            is_safe = await asyncio.to_thread(
                gate.allows_label, findings.title
            )
            if is_safe and not findings.is_likely_injection:
                hook.state["title"] = findings.title
        query = findings.search_query
        return (
            "" if query.casefold() in words.casefold() else f"{words}\n{query}"
        )

    async def _findings(
        self, hook: Hook, messages: Sequence[Message], *, first: bool
    ) -> Preprocessing:
        """What a model says of the newest message within a bounded time."""
        asked = _TITLE_ASKED if first else dict.fromkeys(_TITLE_ASKED, "")
        settings = hook.settings
        judges = settings.use_llm_for_relevance
        share = _SHARE_BEFORE_JUDGING if judges else _SHARE_BEFORE
        seconds = min(_SECONDS_BEFORE, settings.inlet_timeout_seconds * share)
        async with asyncio.timeout(seconds):
            # In a thread: a long chat takes a moment to read, and other chats go on.
            conversation = await asyncio.to_thread(_conversation, messages)
            request = CompletionRequest(
                render_prompt("preprocess", asked),
                f"## Conversation\n{conversation}",
                "preprocessing",
                fields_schema(Preprocessing),
                700,
            )
            model = await hook.completer()
            return await ask_fields(
                model, self.formats, Preprocessing, request, seconds
            )

    def _flag(self, hook: Hook, findings: Preprocessing) -> None:
        """Note what of a message calls for care: in the turn's state and the log."""
        warnings = list[str]()
        hook.state["warnings"] = warnings
        message_id = hook.question_id
        if findings.is_likely_injection:
            chance = findings.prompt_injection_chance
            note = f"prompt injection is likely ({chance:.0%})"
            flag_message(hook, message_id, note)
            warnings.append(INJECTION_WARNING)
            if may_be_learned_from(hook):
                hook.state["unlearned"] = phrase(
                    "not_learned", chance=f"{chance:.0%}"
                )
        action = hook.settings.harmful_message
        if findings.harmful >= HARMFUL_FROM and action != "off":
            note = f"the message may be harmful ({findings.harmful:g} of 10)"
            flag_message(hook, message_id, note)
            if action == "warn":
                warnings.append(HARM_WARNING)


def _conversation(messages: Sequence[Message]) -> str:
    """What was said up to the user's newest message, as much of it as a model is shown."""
    newest = newest_user_message(messages) or {}
    earlier = earlier_utterances(messages, newest, len(messages))
    lines = [f"{utterance.role}: {utterance.text}" for utterance in earlier]
    lines.append(f"user: {spoken_text(message_text(newest))}")
    conversation = "\n".join(lines).encode(errors="replace")
    return conversation[-_LONGEST_CONVERSATION:].decode(errors="ignore")


def flag_message(hook: Hook, message_id: str, note: str) -> None:
    """Log why a message was flagged, without its text."""
    where = f"chat {hook.chat_id}, message {message_id}"
    log.warning("flagged of user %r, %s: %s", hook.user_id, where, note)
