"""Turns on their way through the queue: typed, as text, which go together, and several as one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from pydantic import TypeAdapter, ValidationError

from adaptive.core.messages import (
    Message,
    earlier_utterances,
    head_and_tail,
    said_at,
    typed_message,
)
from adaptive.core.model import Provenance, Turn
from adaptive.core.table_ports import PendingTurn
from adaptive.privacy.secrets import without_secrets
from adaptive.settings.hook import Hook
from adaptive.settings.merged import Settings

# For reference when facts are extracted.
_EARLIER_MESSAGES = 4
# In characters; more than the model is shown of them (``learn.extraction``).
_LONGEST_WORDS = 16_000
_LONGEST_EARLIER = 2000
# What failed so often at most is learned together with what comes after it, in order; more often
# it may be what makes the model fail or the process end, so it is tried alone.
_ATTEMPTS_IN_COMPANY = 2
# Of a chat whose messages follow each other without end so many are learned from at a time.
_MOST_JOINED = 8
# Ends the name of a turn that waits with facts that were found in it elsewhere.
_WITH_FINDINGS = "+findings"


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    """A turn, and the names of the time zones that its user may be in, the likeliest first."""

    turn: Turn
    time_zones: tuple[str, ...] = ()
    answer_id: str = ""
    language: str = ""

    def steered(self, settings: Settings) -> Settings:
        """The settings with this turn's language, unless the admin has chosen one."""
        if not self.language or settings.memory_language.strip():
            return settings
        return settings.model_copy(update={"memory_language": self.language})


# Made while the module is loaded: later the host may know it by no name (since 0.12), by which the
# types of fields are found.
_WAITING_TURN: TypeAdapter[WaitingTurn] = TypeAdapter(WaitingTurn)


def typed_turn(hook: Hook, messages: Sequence[Message]) -> WaitingTurn | None:
    """The turn to learn, ``None`` where nothing in it is the user's own new words."""
    found = typed_message(messages, hook.question_id)
    if found is None or hook.state.get("unlearned") or not hook.is_learned_from:
        return None
    newest, words = found
    when = said_at(newest, time.time())
    source = Provenance(hook.chat_id, hook.question_id or hook.answer_id or str(when), when)
    earlier = earlier_utterances(messages, newest, _EARLIER_MESSAGES)
    injected = tuple(hook.state.get("injected", ()))
    turn = Turn(hook.user_id, hook.told_kind, words, earlier, source, injected)
    return WaitingTurn(turn, hook.time_zones, hook.answer_id, hook.state.get("language", ""))


def pending_turn(waiting: WaitingTurn, now: float, debounce_seconds: float) -> PendingTurn:
    """A turn as the queue takes it; it is due when no newer one of its chat has come by then."""
    user_id, source = waiting.turn.user_id, waiting.turn.source
    payload, due_at = json.dumps(asdict(waiting), ensure_ascii=False), now + debounce_seconds
    return PendingTurn(user_id, source.message_id, source.chat_id, payload, now, due_at)


def pending_findings(waiting: WaitingTurn, now: float, journal: str) -> PendingTurn:
    """A turn that is due at once with its journal: no model is asked, and no other joins it."""
    pending = pending_turn(waiting, now, 0)
    name = f"{pending.message_id}{_WITH_FINDINGS}"
    return replace(pending, message_id=name, journal=journal, batch=name)


def read_pending(pending: PendingTurn) -> WaitingTurn | None:
    """The turn that a payload holds, ``None`` where it holds none that can be read."""
    try:
        waiting = _WAITING_TURN.validate_json(pending.payload)
    except ValidationError:
        return None
    named = (waiting.turn.user_id, waiting.turn.source.message_id)
    message_id = pending.message_id.removesuffix(_WITH_FINDINGS)
    return waiting if named == (pending.user_id, message_id) else None


def joined_turn(turns: Sequence[Turn]) -> Turn:
    """Turns of one chat, oldest first, as one: the words of all, dated by the newest."""
    words = head_and_tail("\n\n".join(turn.words for turn in turns), _LONGEST_WORDS)
    earlier = tuple(
        # A secret is known by what stands around it, which a cut may take away.
        replace(one, text=head_and_tail(without_secrets(one.text), _LONGEST_EARLIER))
        for one in turns[0].earlier
    )
    injected = tuple(dict.fromkeys(one for turn in turns for one in turn.injected))
    return replace(turns[-1], words=words, earlier=earlier, injected=injected)


def next_batch(turns: Iterable[PendingTurn], now: float) -> tuple[PendingTurn, ...]:
    """Which of a user's waiting turns to work on next, oldest first; none where none is due.

    The oldest turn goes first, so that facts are learned in the order in which they were said; with
    it goes what else waits in its chat, or what shares its journal.
    """
    waiting = sorted(turns, key=lambda turn: (turn.queued_at, turn.message_id))
    ripe = [one for one in waiting if _is_ripe(one, waiting, now)]
    if not ripe:
        return ()
    first = next(one for one in waiting if one in ripe or 0 < one.attempts <= _ATTEMPTS_IN_COMPANY)
    if not first.batch and first.attempts > _ATTEMPTS_IN_COMPANY:
        return (first,)
    here = [one for one in waiting if (one.chat_id, one.batch) == (first.chat_id, first.batch)]
    joined = [one for one in here if one.batch or one.attempts <= _ATTEMPTS_IN_COMPANY]
    return tuple(joined[:_MOST_JOINED])


def _is_ripe(turn: PendingTurn, waiting: Sequence[PendingTurn], now: float) -> bool:
    """Whether a turn is due and waits for no newer one of its chat, whose task takes both."""
    if turn.due_at > now or turn.batch or turn.attempts:
        return turn.due_at <= now
    fresh = [one for one in waiting if not one.batch and not one.attempts]
    due_at = [one.due_at for one in fresh if one.chat_id == turn.chat_id]
    return max(due_at) <= now or len(due_at) >= _MOST_JOINED
