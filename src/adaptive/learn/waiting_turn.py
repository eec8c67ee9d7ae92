"""A turn on its way through the queue: as text, and several of a chat as one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from pydantic import TypeAdapter, ValidationError

from adaptive.messages import head_and_tail
from adaptive.model import Turn
from adaptive.privacy.secrets import without_secrets
from adaptive.settings import Settings
from adaptive.table_ports import PendingTurn

# In characters; more than the model is shown of them (``learn.extraction``).
_LONGEST_WORDS = 16_000
_LONGEST_EARLIER = 2000


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    """A turn, and the names of the time zones that its user may be in, the likeliest first.

    ``answer_id`` names the message of the answer, which shows what was learned. ``language`` names
    the one to learn in, as far as it is known.
    """

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


def pending_turn(waiting: WaitingTurn, now: float, debounce_seconds: float) -> PendingTurn:
    """A turn as the queue takes it; it is due when no newer one of its chat has come by then."""
    user_id, source = waiting.turn.user_id, waiting.turn.source
    payload, due_at = json.dumps(asdict(waiting), ensure_ascii=False), now + debounce_seconds
    return PendingTurn(user_id, source.message_id, source.chat_id, payload, now, due_at)


def read_pending(pending: PendingTurn) -> WaitingTurn | None:
    """The turn that a payload holds, ``None`` where it holds none that can be read."""
    try:
        waiting = _WAITING_TURN.validate_json(pending.payload)
    except ValidationError:
        return None
    named = (waiting.turn.user_id, waiting.turn.source.message_id)
    return waiting if named == (pending.user_id, pending.message_id) else None


def joined_turn(turns: Sequence[Turn]) -> Turn:
    """Turns of one chat, oldest first, as one: the words of all, dated by the newest.

    What stood before the first of them is their common past. Long texts are cut in the middle.
    """
    words = head_and_tail("\n\n".join(turn.words for turn in turns), _LONGEST_WORDS)
    past = turns[0].earlier
    # A secret is known by what stands around it, which a cut may take away.
    bare = [head_and_tail(without_secrets(one.text), _LONGEST_EARLIER) for one in past]
    earlier = tuple(replace(one, text=text) for one, text in zip(past, bare, strict=True))
    injected = tuple(dict.fromkeys(one for turn in turns for one in turn.injected))
    return replace(turns[-1], words=words, earlier=earlier, injected=injected)
