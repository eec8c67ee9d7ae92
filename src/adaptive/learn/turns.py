"""Turns on their way through the queue: typed, as text, and several as one."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from pydantic import TypeAdapter

from adaptive.core.messages import (
    Message,
    earlier_utterances,
    head_and_tail,
    said_at,
    typed_message,
)
from adaptive.core.model import Provenance, Turn
from adaptive.privacy.pending import PendingTurn
from adaptive.privacy.secrets import without_secrets
from adaptive.settings.hook import Hook

# For reference when facts are extracted.
_EARLIER_MESSAGES = 4
# In characters; more than the model is shown of them (``learn.extraction``).
_LONGEST_WORDS = 16_000
_LONGEST_EARLIER = 2000


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    """A turn, the time zones that its user may be in, the likeliest first, and its language."""

    turn: Turn
    time_zones: tuple[str, ...] = ()
    answer_id: str = ""
    language: str = ""


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
    """A turn as the queue takes it: due once newer ones of its chat have had time to join it."""
    user_id, source = waiting.turn.user_id, waiting.turn.source
    payload, due_at = json.dumps(asdict(waiting), ensure_ascii=False), now + debounce_seconds
    return PendingTurn(user_id, source.message_id, source.chat_id, payload, now, due_at)


def read_pending(pending: PendingTurn) -> WaitingTurn:
    """The turn that a payload holds."""
    return _WAITING_TURN.validate_json(pending.payload)


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
