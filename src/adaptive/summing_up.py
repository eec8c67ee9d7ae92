"""What follows an answered turn: notes of its chat, what to ask next, a warning, facts to learn."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from adaptive.conversation.postprocess import (
    AnsweredTurn,
    Postprocessing,
    Postprocessor,
    PostprocessRules,
)
from adaptive.conversation_ports import ChatNotes, ChatNotesTable
from adaptive.errors import AdaptiveMemoryError
from adaptive.host.answer_store import ChangeStored, change_stored
from adaptive.host.follow_ups import FollowUps, follow_ups_are_wanted
from adaptive.host.hook import Hook
from adaptive.learn.lesson import LessonResources, learn_findings
from adaptive.learn.waiting_turn import WaitingTurn
from adaptive.learning import Learning
from adaptive.measures import staged
from adaptive.messages import Message, has_words, message_text, spoken_text
from adaptive.model import Memory, Turn
from adaptive.privacy.gate import GatePolicy, Refused, gate
from adaptive.privacy.policy import gate_policy, is_safe_label
from adaptive.settings import Settings
from adaptive.shapes import listing
from adaptive.suggesting import Suggesting
from adaptive.table_ports import AuditEntry
from adaptive.typed_turns import INJECTED, typed_message

log_summing_up = logging.getLogger("adaptive_memory")

# The host ends the turn first: its work after the outlet is what the user still waits for.
_AFTER_THE_ANSWER_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class AnsweredChat:
    """A turn with its answer in a saved chat; ``turn`` is what may be learned from, if anything.

    ``injected`` are the ids of the memories that the answer was given.
    """

    chat_id: str
    answer_id: str
    words: str
    answer: str
    injected: tuple[str, ...]
    turn: Turn | None


@dataclass(slots=True, eq=False)
class _Summing:
    """One turn at work; ``forgotten`` once its user has everything erased."""

    hook: Hook
    chat: AnsweredChat
    room: LessonResources
    learned: asyncio.Event
    forgotten: bool = False


class SummingUp:
    """What an instance of the plug-in needs to look back at turns; what it holds is forgettable.

    ``store_follow_ups`` and ``room_of`` are the host's unless a test says otherwise.
    """

    def __init__(
        self,
        learning: Learning,
        suggesting: Suggesting,
        notes: ChatNotesTable,
        store_follow_ups: ChangeStored = change_stored,
        room_of: Callable[[Hook], Awaitable[LessonResources | None]] | None = None,
    ) -> None:
        self._learning, self._suggesting, self._notes = learning, suggesting, notes
        self._store_follow_ups, self._room_of = store_follow_ups, room_of or self._host_room
        self._at_work: set[_Summing] = set()
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def forget(self, user_id: str) -> None:
        """Let what is under way for a user come to nothing: it was made before an erasure."""
        for summing in self._at_work:
            summing.forgotten |= summing.hook.user_id == user_id

    async def sum_up(self, hook: Hook, chat: AnsweredChat, learned: asyncio.Event) -> None:
        """Ask the model about a turn, and do what follows; ``learned`` is set behind its lesson.

        Whatever fails is left out and logged, and the rest is done.
        """
        await asyncio.sleep(_AFTER_THE_ANSWER_SECONDS)
        try:
            room = await self._room_of(hook)
        except AdaptiveMemoryError as error:
            log_summing_up.warning("a turn is not summed up: %s", error)
            return
        if room is None:
            return
        summing = _Summing(hook, chat, room, learned)
        self._at_work.add(summing)
        try:
            found = await self._noted(summing)
            if found is None:
                return
            await _attempted(self._warn(summing, found), "warning of an answer")
            await _attempted(self._suggest(summing, found), "suggesting what to ask next")
            await _attempted(self._learn(summing, found), "learning what was found in a turn")
        finally:
            self._at_work.discard(summing)

    async def _host_room(self, hook: Hook) -> LessonResources | None:
        """The user's store and the model, as for learning; none in a chat that others may read.

        Raises:
            AdaptiveMemoryError: the host does not know the user, or no model is known.
        """
        if await hook.kind() != "saved":
            return None
        return replace(await self._learning.lesson_resources(hook), may_ask=_no_question_left)

    @staged("postprocess")
    async def _noted(self, summing: _Summing) -> Postprocessing | None:
        """What the model says of the turn; the notes of the chat are brought up to date with it.

        One turn of a chat after the other, or the later one would not see the former one's notes.
        """
        hook, chat = summing.hook, summing.chat
        lock = self._locks.setdefault((hook.user_id, chat.chat_id), asyncio.Lock())
        async with lock:
            try:
                injected = await self._injected(summing)
                if injected is None:
                    return None
                former = await self._notes.read(hook.user_id, chat.chat_id)
            except AdaptiveMemoryError as error:
                log_summing_up.warning("a turn is not summed up: %s", error)
                return None
            turn = AnsweredTurn(chat.words, chat.answer, former, injected)
            rules = _postprocess_rules(hook.settings)
            asked = Postprocessor(summing.room.completer, summing.room.formats, rules)
            found = await asked.postprocessed(turn)
            if found is None or summing.forgotten:
                return None
            await _attempted(self._note(summing, former, found.notes), "noting a chat")
            return found

    async def _injected(self, summing: _Summing) -> tuple[Memory, ...] | None:
        """The memories that the answer was given.

        ``None`` where the model may not be asked, or nobody could tell whether its summary repeats
        them: one is gone since, or one is in a bank that is kept from this model, for the answer
        may tell it.
        """
        if not summing.chat.injected:
            return ()
        room, settings = summing.room, summing.hook.settings
        index = await room.indexes.current(room.sources, settings.index_cache_bytes, patience=0)
        found = [index.memory(one) for one in summing.chat.injected]
        known = [one for one in found if one is not None]
        if len(known) < len(found) or len(room.hidden.without(known)) < len(known):
            log_summing_up.info("a turn is not summed up: its memories have changed or are hidden")
            return None
        return tuple(known)

    async def _note(self, summing: _Summing, former: ChatNotes, new: ChatNotes) -> None:
        """Keep the chat's notes, as far as the gate of every write lets them pass."""
        user_id, chat_id = summing.hook.user_id, summing.chat.chat_id
        policy = gate_policy(summing.hook.settings)
        notes = await asyncio.to_thread(_gated_notes, former, new, policy)
        if notes != former and not summing.forgotten:
            await self._notes.write(user_id, chat_id, notes, int(time.time()))
        await self._notes.drop_deleted(user_id, chat_id)

    async def _warn(self, summing: _Summing, found: Postprocessing) -> None:
        """Flag a harmful answer in status, log and audit, by its ids and its score alone."""
        flag = found.flag(summing.hook.settings.harmful_answer_threshold)
        if not flag:
            return
        hook, chat, now = summing.hook, summing.chat, int(time.time())
        log_summing_up.warning("%s: chat %s, message %s", flag, chat.chat_id, chat.answer_id)
        entry = AuditEntry(
            "flagged", "", now, reason=flag, chat_id=chat.chat_id, message_id=chat.answer_id
        )
        if not summing.forgotten:
            await summing.room.storeroom.trail.record(hook.user_id, [entry], now)
        await self._tell(hook, flag[:1].upper() + flag[1:])

    async def _suggest(self, summing: _Summing, found: Postprocessing) -> None:
        """Show what to ask next, where the host does not do so itself."""
        hook, chat = summing.hook, summing.chat
        if not hook.settings.suggest_follow_ups or not found.follow_ups:
            return
        if await follow_ups_are_wanted(hook):
            async with self._learning.writing:
                store = self._store_follow_ups
                follow_ups = FollowUps(chat.chat_id, chat.answer_id, hook.emitter, store)
                await follow_ups.show(found.follow_ups)

    async def _learn(self, summing: _Summing, found: Postprocessing) -> None:
        """Learn what the model has found, behind the lesson of the same turn, and not beside it."""
        turn, settings = summing.chat.turn, summing.hook.settings
        findings = found.new_learnings
        if turn is None or not findings or settings.save_mode == "off":
            return
        await summing.learned.wait()
        lines: list[str] = []
        proposed = 0

        async def written(held: Callable[[], Awaitable[bool]]) -> None:
            nonlocal proposed
            if summing.forgotten:
                return
            arguments = (summing.room, turn, findings, settings, held)
            if settings.save_mode == "suggest":
                proposed = await self._suggesting.propose_findings(*arguments)
            else:
                lines.append(await learn_findings(*arguments))

        if not await self._learning.queue.alone(turn.user_id, written):
            log_summing_up.info("what was found in a turn is not learned: others are learning")
        if proposed and summing.hook.caller is not None:
            await self._learning.offer(summing.hook)
        elif proposed:
            lines.append(await self._suggesting.left(turn.user_id))
        if settings.confirmation != "off":
            for line in filter(None, lines):
                await self._tell(summing.hook, line)

    async def _tell(self, hook: Hook, line: str) -> None:
        async with self._learning.writing:  # the host stores the line with the chat
            await hook.notifier.status(line)


def answered_chat(
    hook: Hook, messages: Sequence[Message], waiting: WaitingTurn | None, *, worth_learning: bool
) -> AnsweredChat | None:
    """What to look back at, ``None`` where that is off or the chat is none of the user's own.

    ``waiting`` is the turn as it is learned; only where it is ``worth_learning`` facts are.
    """
    if not hook.settings.enable_postprocessing or hook.told_kind != "saved":
        return None
    injected = waiting.turn.injected if waiting else listing(hook.metadata.pop(INJECTED, None))
    answer_id = str(hook.metadata.get("message_id") or "")
    named = (one for one in reversed(messages) if answer_id and one.get("id") == answer_id)
    answer = next(named, messages[-1] if messages else {})
    said = spoken_text(message_text(answer)) if answer.get("role") == "assistant" else ""
    typed = typed_message(hook, messages)
    if typed is None or not has_words(said):
        return None
    turn = waiting.turn if waiting and worth_learning else None
    return AnsweredChat(hook.chat_id, answer_id, typed[1], said, tuple(map(str, injected)), turn)


async def _attempted(work: Awaitable[None], doing: str) -> None:
    """Do one thing; where it fails, that is logged and the rest goes on."""
    try:
        await work
    except AdaptiveMemoryError as error:
        log_summing_up.warning("%s: %s", doing, error)


async def _no_question_left() -> bool:
    """Whether a lesson of this room may ask the model: the one question was asked already."""
    return False


def _postprocess_rules(settings: Settings) -> PostprocessRules:
    return PostprocessRules(
        settings.postprocess_timeout_seconds,
        (*settings.categories, *settings.banks),
        settings.default_bank,
        settings.postprocess_prompt,
        settings.keeping_rules,
    )


def _gated_notes(former: ChatNotes, new: ChatNotes, policy: GatePolicy) -> ChatNotes:
    """The notes as they may be written; what the gate refuses stays as it was before."""
    verdict = gate(new.summary, replace(policy, statements=False)) if new.summary else None
    summary = former.summary if verdict is None or isinstance(verdict, Refused) else verdict.text
    tags = tuple(tag for tag in new.tags if is_safe_label(tag, policy))
    return replace(new, summary=summary, tags=tags)
