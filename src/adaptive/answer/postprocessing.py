"""One model call after the answer: what to note of the chat, to suggest next, and to learn.

It is made in the background. What follows of it is done one thing by itself; without a usable reply
in time nothing does.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from adaptive.answer.preprocessing import flag_message
from adaptive.conversation_ports import ChatNotes, ChatNotesTable
from adaptive.errors import AdaptiveMemoryError
from adaptive.host.answer_store import ChangeStored, change_stored
from adaptive.host.follow_ups import FollowUps, follow_ups_are_wanted
from adaptive.host.hook import Hook
from adaptive.llm.ask import AnswerFormats
from adaptive.llm.prompts import render_prompt
from adaptive.llm.reply_fields import FieldsAsker, ReplyTable, score_field, text_field, texts_field
from adaptive.measures import staged
from adaptive.messages import Message, has_words, head_and_tail, message_text, spoken_text
from adaptive.model import Draft, Memory, Operation, Turn
from adaptive.ports import Completer
from adaptive.privacy.gate import Refused, gate, gate_policy, is_safe_label
from adaptive.privacy.secrets import without_secrets
from adaptive.search.tokens import tokens
from adaptive.table_ports import RecordChanges
from adaptive.turn_state import turn_state

log_postprocessing = logging.getLogger("adaptive_memory.answer")

# The host ends the turn first: its work after the outlet is what the user still waits for.
_AFTER_THE_ANSWER_SECONDS = 0.1
_MOST_CHAT_TAGS = 10
_LONGEST_SPOKEN = 8000
_LONGEST_POSTPROCESSING_REPLY = 1500
# With half of what only a memory could tell, a reader learns the fact.
_TOLD_SHARE = 0.5
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")  # noqa: RUF001 - ends of Chinese sentences

_FIELDS: ReplyTable = {
    "chat_summary": text_field(1000),
    "chat_tags": texts_field(2 * _MOST_CHAT_TAGS, 40, split=True),
    "harmful_response": score_field(10),
    "follow_up_suggestions": texts_field(6, 250),
    "new_learnings": texts_field(10, 600),
}


@dataclass(slots=True, eq=False)
class AnsweredTurn:
    """A turn with its answer in a saved chat.

    ``injected`` are the ids of the memories that the answer was given, ``turn`` is what may be
    learned from, if anything. It is ``forgotten`` once its user has everything erased.
    """

    hook: Hook
    words: str
    answer: str
    injected: Sequence[str] = ()
    turn: Turn | None = None
    forgotten: bool = False

    @property
    def answer_id(self) -> str:
        """Id of the answer's message."""
        return str(self.hook.metadata.get("message_id") or "")


@dataclass(frozen=True, slots=True)
class Postprocessing:
    """What a model says of an answered turn; a field that it left out has its default.

    Attributes:
        notes: the chat's, updated; they hold no contents of memories.
        harmful_response: 0 to 10.
        follow_ups: at most 6 things that the user may want to say next.
        learnings: facts to store, as NEW operations that no gate has seen yet.
    """

    notes: ChatNotes
    harmful_response: float
    follow_ups: tuple[str, ...]
    learnings: tuple[Operation, ...]


# The model for learning, and the memories of these ids. None where one is gone or is kept from that
# model: nobody could tell what repeats it.
ModelFor = Callable[[Hook, Sequence[str]], Awaitable[tuple[Completer, tuple[Memory, ...]] | None]]
# Learns or proposes facts that were found beside a turn's lesson, if they are wanted still by then;
# the line for the user.
LearnFindings = Callable[[Hook, Turn, Sequence[Operation], Callable[[], bool]], Awaitable[str]]


class Postprocessor:
    """What an instance of the plug-in needs for post-processing; what it holds is forgettable.

    ``writing`` is held by whoever shows something with an answer. ``store_follow_ups`` is the
    host's unless a test says otherwise.
    """

    def __init__(
        self,
        formats: AnswerFormats,
        notes: ChatNotesTable,
        record: RecordChanges,
        writing: asyncio.Semaphore,
        model_for: ModelFor,
        learn_findings: LearnFindings,
        store_follow_ups: ChangeStored = change_stored,
    ) -> None:
        self._formats, self._notes, self._record = formats, notes, record
        self._writing, self._store_follow_ups = writing, store_follow_ups
        self._model_for, self._learn_findings = model_for, learn_findings
        self._at_work: set[AnsweredTurn] = set()
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def forget(self, user_id: str) -> None:
        """Let what is under way for a user come to nothing: it was made before an erasure."""
        for turn in self._at_work:
            turn.forgotten |= turn.hook.user_id == user_id

    async def process(self, turn: AnsweredTurn, learned: asyncio.Event) -> None:
        """Ask the model about a turn, and do what follows; ``learned`` is set behind its lesson.

        Whatever fails is left out and logged, and the rest is done.
        """
        await asyncio.sleep(_AFTER_THE_ANSWER_SECONDS)
        self._at_work.add(turn)
        try:
            if (found := await self._noted(turn)) is None:
                return
            await _attempted(self._warn(turn, found), "warning of an answer")
            await _attempted(self._suggest(turn, found), "suggesting what to ask next")
            await learned.wait()
            await _attempted(self._learn(turn, found), "learning what was found in a turn")
        except AdaptiveMemoryError as error:
            log_postprocessing.warning("a turn is not post-processed: %s", error)
        finally:
            self._at_work.discard(turn)

    @staged("postprocess")
    async def _noted(self, turn: AnsweredTurn) -> Postprocessing | None:
        """What the model says of the turn; the notes of the chat are brought up to date with it.

        One turn of a chat after the other, or the later one would not see the former one's notes.
        Nobody is asked about a chat that others may read.
        """
        hook = turn.hook
        if await hook.kind() != "saved":
            return None
        async with self._locks.setdefault((hook.user_id, hook.chat_id), asyncio.Lock()):
            model = await self._model_for(hook, turn.injected)
            if model is None:
                log_postprocessing.info("not post-processed: memories are changed or hidden")
                return None
            completer, injected = model
            former = await self._notes.read(hook.user_id, hook.chat_id)
            deadline = hook.settings.postprocess_timeout_seconds
            asker = FieldsAsker(completer, self._formats, deadline, retries=1)
            found = await postprocessed(asker, turn, former, injected)
            if turn.forgotten:
                return None
            await _attempted(self._note(turn, former, found.notes), "noting a chat")
            return found

    async def _note(self, turn: AnsweredTurn, former: ChatNotes, new: ChatNotes) -> None:
        """Keep the chat's notes; what the gate of every write refuses stays as it was before."""
        hook, policy = turn.hook, gate_policy(turn.hook.settings)
        kept = await asyncio.to_thread(gate, new.summary, policy)
        summary = former.summary if isinstance(kept, Refused) else kept.text
        notes = ChatNotes(summary, tuple(tag for tag in new.tags if is_safe_label(tag, policy)))
        if notes != former and not turn.forgotten:
            await self._notes.write(hook.user_id, hook.chat_id, notes, int(time.time()))
        await self._notes.drop_deleted(hook.user_id, hook.chat_id)

    async def _warn(self, turn: AnsweredTurn, found: Postprocessing) -> None:
        """Flag a harmful answer in status, log and audit, by its ids and its score alone."""
        score, threshold = found.harmful_response, turn.hook.settings.harmful_answer_threshold
        if 0 < threshold <= score and not turn.forgotten:
            harm = f"The answer may be harmful ({score:g} of 10)"
            await flag_message(self._record, turn.hook, turn.answer_id, harm)
            await self._tell(turn.hook, harm)

    async def _suggest(self, turn: AnsweredTurn, found: Postprocessing) -> None:
        """Show what to ask next, where the host does not do so itself."""
        hook, lines = turn.hook, found.follow_ups
        wanted = hook.settings.suggest_follow_ups and lines
        if wanted and await follow_ups_are_wanted(hook):
            store = self._store_follow_ups
            async with self._writing:
                await FollowUps(hook.chat_id, turn.answer_id, hook.emitter, store).show(lines)

    async def _learn(self, turn: AnsweredTurn, found: Postprocessing) -> None:
        """Learn what the model has found, behind the lesson of the same turn, and not beside it."""
        hook, said, settings = turn.hook, turn.turn, turn.hook.settings
        if said is None or not found.learnings or settings.save_mode == "off":
            return
        learn = self._learn_findings
        line = await learn(hook, said, found.learnings, lambda: not turn.forgotten)
        if line and settings.confirmation != "off":
            await self._tell(hook, line)

    async def _tell(self, hook: Hook, line: str) -> None:
        async with self._writing:  # the host stores the line with the chat
            await hook.notifier.status(line)


def answered_turn(
    hook: Hook, messages: Sequence[Message], words: str, turn: Turn | None
) -> AnsweredTurn | None:
    """What to look back at, ``None`` where that is off or the chat is none of the user's own.

    ``words`` are what the user typed, ``turn`` is what may be learned from.
    """
    if not hook.settings.enable_postprocessing or hook.told_kind != "saved":
        return None
    injected = turn_state(hook.metadata).get("injected", ())
    found = AnsweredTurn(hook, words, "", injected, turn)
    named = (one for one in reversed(messages) if one.get("id") == found.answer_id)
    answer = next(named, messages[-1] if messages else {})
    if answer.get("role") == "assistant":
        found.answer = spoken_text(message_text(answer))
    return found if has_words(words) and has_words(found.answer) else None


async def postprocessed(
    asker: FieldsAsker, turn: AnsweredTurn, former: ChatNotes, memories: Sequence[Memory]
) -> Postprocessing:
    """What a model says of a turn; ``memories`` are those that the answer was given.

    Raises:
        AdaptiveMemoryError: it is late, fails, or has none of the fields.
    """
    settings, words = (
        turn.hook.settings,
        head_and_tail(without_secrets(turn.words), _LONGEST_SPOKEN),
    )
    sections = [
        f"## Summary so far\n{former.summary or 'none'}",
        f"## Tags so far\n{', '.join(former.tags) or 'none'}",
        f"## Last message of the user\n{words}",
        f"## Last answer\n{head_and_tail(without_secrets(turn.answer), _LONGEST_SPOKEN)}",
    ]
    admin = {"admin": settings.keeping_rules}
    found = await asker.ask(
        "postprocessing",
        render_prompt("postprocess", settings.postprocess_prompt, admin),
        "\n\n".join(sections),
        _FIELDS,
        _LONGEST_POSTPROCESSING_REPLY,
    )
    # What the user said in this chat is no secret in it, and the former notes hold nothing else.
    said = " ".join([words, former.summary, *former.tags])
    untold = partial(without_memories, memories=memories, said=said)
    summary = " ".join(untold(_SENTENCE_ENDS.split(found["chat_summary"])))
    tags = tuple(untold(found["chat_tags"], share=0.0)[:_MOST_CHAT_TAGS])
    bank = settings.default_bank
    return Postprocessing(
        ChatNotes(summary or former.summary, tags or former.tags),
        found["harmful_response"],
        found["follow_up_suggestions"],
        tuple(Operation("NEW", draft=Draft(one, bank=bank)) for one in found["new_learnings"]),
    )


def without_memories(
    sentences: Sequence[str], memories: Sequence[Memory], said: str, share: float = _TOLD_SHARE
) -> list[str]:
    """The sentences that tell none of the memories but for what was ``said`` anyway.

    A sentence tells a memory by at least a ``share`` of the words that only the memory could tell,
    or by one of its names or figures. In other words, or in another language, it is not recognised.
    """
    spoken = frozenset(tokens(said))
    hidden = [frozenset(tokens(one.content)) - spoken for one in memories]
    named = {word for one in memories for word in _names_in(one.content)} - spoken

    def tells(sentence: str) -> bool:
        words = frozenset(tokens(sentence))
        shares = [len(words & one) / len(one) for one in hidden if one]
        return bool(words & named) or any(one > 0 and one >= share for one in shares)

    return [one for one in sentences if one and not tells(one)]


def _names_in(content: str) -> list[str]:
    """Names and figures as they are compared: words with a digit, or a capital letter inside."""
    told = [
        word
        for sentence in _SENTENCE_ENDS.split(content)
        for number, word in enumerate(sentence.split())
        if any(sign.isdigit() for sign in word) or (number and word[:1].isupper())
    ]
    return [stem for word in told for stem in tokens(word)]


async def _attempted(work: Awaitable[Any], doing: str) -> None:
    """Do one thing; where it fails, that is logged and the rest goes on."""
    try:
        await work
    except AdaptiveMemoryError as error:
        log_postprocessing.warning("%s: %s", doing, error)
