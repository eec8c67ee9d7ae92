"""One model call after the answer: what to note of the chat, to suggest next, and to learn.

In the background. What follows is done one by one; without a usable reply in time nothing is.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Protocol

from pydantic import BaseModel, Field

from adaptive.answer.preprocessing import HARMFUL_FROM, flag_message
from adaptive.core import (
    AdaptiveMemoryError,
    Completer,
    CompletionRequest,
    Draft,
    Memory,
    Message,
    Phrase,
    Proposal,
    Turn,
    closing_answer,
    frozen,
    has_words,
    log,
    log_failure,
    message_text,
    sentences,
    spoken_text,
    staged,
    typed_message,
)
from adaptive.llm.ask import (
    AnswerFormats,
    Line,
    Score,
    ask_fields,
    different_lines,
    fields_schema,
    render_prompt,
)
from adaptive.memory import ChatNotes, ChatNotesTable, Gate, Refused
from adaptive.privacy import excerpt_without_secrets
from adaptive.search import tokens
from adaptive.settings import Hook, StatusLines

_SECONDS_AFTER = 30.0
_LONGEST_SPOKEN = 8000
# With half of what only a memory could tell, a reader learns the fact.
_TOLD_SHARE = 0.5


class Postprocessing(BaseModel):
    """What a model says of an answered turn; the answer is flagged from 8 of 10 on."""

    chat_summary: Line = Field(default="", max_length=1000)
    chat_tags: Annotated[tuple[str, ...], different_lines(10, 40)] = ()
    harmful_response: Score = 0
    follow_up_suggestions: Annotated[
        tuple[str, ...], different_lines(6, 250)
    ] = ()
    new_learnings: Annotated[tuple[str, ...], different_lines(10, 600)] = ()


@frozen
class AnsweredTurn:
    """A turn with its answer in a saved chat; ``turn`` is what may be learned from, if anything."""

    hook: Hook
    words: str
    answer: str
    turn: Turn | None = None


class FindingsLearner(Protocol):
    """Has the model for learning, and learns what is found in a turn beside its lesson."""

    async def model_for(
        self, hook: Hook, memory_ids: Sequence[str]
    ) -> tuple[Completer, tuple[Memory, ...]] | None:
        """The model with these memories; ``None`` where it may not see one, or there is none."""
        ...

    async def learn_findings(
        self,
        hook: Hook,
        turn: Turn,
        findings: Sequence[Proposal],
        is_wanted: Callable[[], bool],
    ) -> None:
        """Learn or propose facts of a turn while they are wanted."""


@dataclass
class Postprocessor:
    """What an instance of the plug-in needs for post-processing; what it holds is forgettable."""

    formats: AnswerFormats
    notes: ChatNotesTable
    learning: FindingsLearner
    status: StatusLines
    _erasures: Counter[str] = field(default_factory=Counter[str])

    def forget(self, user_id: str) -> None:
        """Let what is under way for a user come to nothing: it was made before an erasure."""
        self._erasures[user_id] += 1

    async def process(
        self, turn: AnsweredTurn, learned: asyncio.Event
    ) -> None:
        """Ask the model about a turn, and do what follows; ``learned`` is set behind its lesson.

        Whatever fails is left out and logged, and the rest is done.
        """
        hook = turn.hook
        erasures = self._erasures[hook.user_id]

        def is_wanted() -> bool:
            """Whether the user has had nothing erased since."""
            return self._erasures[hook.user_id] == erasures

        try:
            findings = await self._noted(turn, is_wanted)
            if findings is None:
                return
            score = findings.harmful_response
            if score >= HARMFUL_FROM:
                note = Phrase("harmful_answer", score=f"{score:g}")
                flag_message(hook, hook.answer_id, note)
                await self.status.notice(hook, str(note))
            await _suggest(hook, findings)
            await learned.wait()
            facts = findings.new_learnings
            if turn.turn and facts and hook.settings.save_mode != "off":
                bank = hook.settings.default_bank
                drafts = [Draft(fact, bank=bank) for fact in facts]
                additions = [Proposal("NEW", draft=draft) for draft in drafts]
                await self.learning.learn_findings(
                    hook, turn.turn, additions, is_wanted
                )
        except AdaptiveMemoryError as error:
            log_failure("a turn is not post-processed", error)

    @staged("postprocess")
    async def _noted(
        self, turn: AnsweredTurn, is_wanted: Callable[[], bool]
    ) -> Postprocessing | None:
        """What the model says of the turn; the notes of the chat are brought up to date with it.

        Nobody is asked about a chat that others may read.
        """
        hook = turn.hook
        if await hook.kind() != "saved":
            return None
        model = await self.learning.model_for(
            hook, hook.state.get("injected", ())
        )
        if model is None:
            log.info("not post-processed: memories are changed or hidden")
            return None
        completer, injected = model
        former = await self.notes.read(hook.user_id, hook.chat_id)
        request = await asyncio.to_thread(_request, turn, former)
        findings = await ask_fields(
            completer,
            self.formats,
            Postprocessing,
            request,
            _SECONDS_AFTER,
            1,
        )
        notes = await asyncio.to_thread(
            _new_notes, turn, former, findings, injected
        )
        if not is_wanted():
            return None
        if notes != former:
            await self.notes.write(
                hook.user_id, hook.chat_id, notes, int(time.time())
            )
        return findings


async def _suggest(hook: Hook, findings: Postprocessing) -> None:
    """Show what to ask next; where that fails the rest goes on."""
    try:
        await hook.suggest(findings.follow_up_suggestions)
    except AdaptiveMemoryError as error:
        log_failure("what to ask next is not shown", error)


def answered_turn(
    hook: Hook, messages: Sequence[Message], turn: Turn | None
) -> AnsweredTurn | None:
    """What to look back at, ``None`` where that is off or the chat is none of the user's own.

    ``turn`` is what may be learned from.
    """
    if not hook.settings.enable_postprocessing or hook.told_kind != "saved":
        return None
    typed = typed_message(messages, hook.question_id)
    answer = spoken_text(message_text(closing_answer(messages)))
    if typed is None or not has_words(answer):
        return None
    return AnsweredTurn(
        hook=hook,
        words=typed[1],
        answer=answer,
        turn=turn,
    )


def _new_notes(
    turn: AnsweredTurn,
    former: ChatNotes,
    found: Postprocessing,
    injected: Sequence[Memory],
) -> ChatNotes:
    """The chat's notes; what the gate of every write refuses stays as it was before.

    What the user said in this chat is no secret in it, and the former notes hold nothing else.
    """
    gate = Gate(turn.hook.settings)
    said = " ".join([turn.words, former.summary, *former.tags])
    told = sentences(found.chat_summary)
    summary = " ".join(without_memories(told, injected, said))
    verdict = gate.judged(summary)
    if not summary or isinstance(verdict, Refused):
        verdict = former.summary
    tags = without_memories(found.chat_tags, injected, said, share=0.0)
    safe_tags = tuple(filter(gate.allows_label, tags))
    return ChatNotes(verdict, safe_tags or former.tags)


def _request(turn: AnsweredTurn, former: ChatNotes) -> CompletionRequest:
    """What a model is asked about a turn; it is not shown the memories the answer was given."""
    words = excerpt_without_secrets(turn.words, _LONGEST_SPOKEN)
    answer = excerpt_without_secrets(turn.answer, _LONGEST_SPOKEN)
    tags = ", ".join(former.tags)
    user = (
        f"## Summary so far\n{former.summary or 'none'}\n\n"
        f"## Tags so far\n{tags or 'none'}\n\n"
        f"## Last message of the user\n{words}\n\n## Last answer\n{answer}"
    )
    rules = turn.hook.settings.keeping_rules
    return CompletionRequest(
        system=render_prompt("postprocess", {"admin": rules}),
        user=user,
        schema_name="postprocessing",
        schema=fields_schema(Postprocessing),
        max_tokens=1500,
    )


def without_memories(
    told: Sequence[str],
    memories: Sequence[Memory],
    said: str,
    share: float = _TOLD_SHARE,
) -> list[str]:
    """What of the ``told`` tells none of the memories but for what was ``said`` anyway.

    A sentence tells a memory by at least a ``share`` of the words that only the memory could tell,
    or by one of its names or figures. In other words, or in another language, it is not recognised.
    """
    spoken = frozenset(tokens(said))
    hidden = [
        frozenset(tokens(memory.content)) - spoken for memory in memories
    ]
    names = list[str]()
    for memory in memories:
        names += filter(_is_name, memory.content.split()[1:])
    named = frozenset(tokens(" ".join(names))) - spoken

    def tells(sentence: str) -> bool:
        """Whether a sentence tells one of the memories."""
        words = frozenset(tokens(sentence))
        if words & named:
            return True
        shared = [(len(words & content), len(content)) for content in hidden]
        return any(count and count >= share * size for count, size in shared)

    return [line for line in told if line and not tells(line)]


def _is_name(word: str) -> bool:
    """Whether a word within a sentence is a name or holds a figure."""
    return word[0].isupper() or any(map(str.isdigit, word))
