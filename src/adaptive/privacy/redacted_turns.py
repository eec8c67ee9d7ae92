"""The turns under way whose chat model gets placeholders for personal data."""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass
from typing import Any

from adaptive.core.shapes import listing, mapping
from adaptive.privacy.redacted_chat import EventRestorer, changed_texts, redacted_chat
from adaptive.privacy.redaction import Redaction
from adaptive.settings.hook import turn_state

# A turn that was stopped or failed has no outlet, so nothing else would forget it.
_IDLE_SECONDS = 3600.0
# A megabyte takes a second or two; who says so much waits that long for privacy.
_LONGEST_SECONDS = 10.0
_WITHHELD = (
    "[The user's message is not shown to you: personal data in it could not be replaced. "
    "Say so in one sentence, and that sending it again may help.]"
)


@dataclass(slots=True)
class _RedactedTurn:
    """One turn; ``guarded``: what goes back to the model within it comes by us."""

    redaction: Redaction
    events: EventRestorer
    used_at: float
    guarded: bool


class RedactedTurns:
    """Redacts what goes to chat models, and restores what comes back, each turn by itself.

    A turn is known by an unguessable mark in its state, so no turn, and no user, is ever given
    another one's values. All is kept in this process alone, which serves the whole turn (0.9.6 and
    later): if it restarts, placeholders stay.
    """

    def __init__(self) -> None:
        self._turns: dict[str, _RedactedTurn] = {}

    def __len__(self) -> int:
        before = time.monotonic() - _IDLE_SECONDS
        self._turns = {mark: one for mark, one in self._turns.items() if one.used_at >= before}
        return len(self._turns)

    async def redact(
        self, body: dict[str, Any], metadata: dict[str, Any], *, again: bool = False
    ) -> dict[str, Any]:
        """A request with placeholders for personal data in all its messages.

        It opens a turn; where it comes ``again``, with more, it is redacted if it was before.

        Raises:
            TimeoutError: it takes too long; nothing of the request may be sent.
        """
        state = turn_state(metadata)
        if again and "redaction" not in state:
            return body
        turn = self._turn(metadata) if again else None
        redaction = turn.redaction if turn else Redaction()
        new = _RedactedTurn(redaction, EventRestorer(redaction), time.monotonic(), guarded=again)
        mark = state.get("redaction", "") if turn else uuid.uuid4().hex
        self._turns[mark], state["redaction"] = new, mark
        async with asyncio.timeout(_LONGEST_SECONDS):
            messages = listing(body.get("messages"))
            redacted = await asyncio.to_thread(redacted_chat, messages, redaction)
        return {**body, "messages": redacted}

    def restore_event(self, event: Any, metadata: dict[str, Any], body: dict[str, Any]) -> Any:
        """A piece of an answer to the request ``body`` with values for placeholders.

        Where the host gives what was said before a tool call back to the model without asking us
        (up to 0.11.1), placeholders stay in an answer that may call tools until it is stored.
        """
        turn = self._turn(metadata)
        if turn is None or turn.redaction.is_empty:
            return event
        runs_code = mapping(metadata.get("features")).get("code_interpreter")
        if not turn.guarded and (body.get("tools") or runs_code):
            return event
        if isinstance(event, bytes):
            line = event.decode("utf-8", "surrogateescape")
            return turn.events.restored_line(line).encode("utf-8", "surrogateescape")
        if isinstance(event, str):
            return turn.events.restored_line(event)
        return turn.events.restored(event) if mapping(event) else event

    def restore_answer(self, body: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
        """A turn's messages, as the outlet gets them, with values; the turn is over with it.

        Earlier answers of a stored chat stay: their placeholders were other turns'. Of what is not
        stored the host gives the request itself, without ids.
        """
        turn = self._turn(metadata)
        if turn is None:
            return body
        del self._turns[turn_state(metadata).get("redaction", "")]
        messages = listing(body.get("messages"))
        if turn.redaction.is_empty or not messages:
            return body
        stays = [bool(mapping(message).get("id")) for message in messages]
        stays[-1] &= mapping(messages[-1]).get("role") != "assistant"
        restored = [
            message if earlier else changed_texts(message, turn.redaction.restore)
            for earlier, message in zip(stays, messages, strict=True)
        ]
        return body if restored == messages else {**body, "messages": restored}

    def _turn(self, metadata: dict[str, Any]) -> _RedactedTurn | None:
        mark = turn_state(metadata).get("redaction")
        turn = self._turns.get(mark) if isinstance(mark, str) else None
        if turn is not None:
            turn.used_at = time.monotonic()
        return turn


def withheld(body: dict[str, Any]) -> dict[str, Any]:
    """A request that could not be redacted, without anything that anybody said."""
    return {**body, "messages": [{"role": "user", "content": _WITHHELD}]}
