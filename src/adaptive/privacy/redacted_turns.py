"""The turns under way whose chat model gets placeholders for personal data."""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from adaptive.core.shapes import listing, mapping
from adaptive.privacy.redacted_chat import EventRestorer, redacted_chat, restored_message
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
    """The placeholders of one answer, and how far that answer has come.

    ``guarded``: what goes back to the model within the turn, as a tool's result, comes by us.
    """

    redaction: Redaction
    used_at: float
    guarded: bool = False
    events: EventRestorer = field(init=False)


class RedactedTurns:
    """Redacts what goes to chat models, and restores what comes back, each turn by itself.

    A turn is known by an unguessable mark in its state, so no turn, and no user, is ever given
    another one's values. All is kept in this process, which serves the whole turn (0.9.6 and
    later), and nowhere else: if it restarts, placeholders stay, since values that are reckoned
    anew from a history that has changed meanwhile could be the wrong ones.
    """

    def __init__(self) -> None:
        self._turns: dict[str, _RedactedTurn] = {}

    def __len__(self) -> int:
        before = time.monotonic() - _IDLE_SECONDS
        self._turns = {mark: one for mark, one in self._turns.items() if one.used_at >= before}
        return len(self._turns)

    async def redact(self, body: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
        """A request of a new turn with placeholders for personal data in all its messages.

        Raises:
            TimeoutError: it takes too long; nothing of the request may be sent.
        """
        mark = turn_state(metadata)["redaction"] = uuid.uuid4().hex
        turn = self._turns[mark] = _RedactedTurn(Redaction(), time.monotonic())
        return await self._redacted(body, turn)

    async def redact_again(self, body: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
        """The same request when the host has added to it: documents, results, earlier words."""
        if "redaction" not in turn_state(metadata):
            return body
        if (turn := self._turn(metadata)) is None:
            return await self.redact(body, metadata)
        turn.guarded = True
        return await self._redacted(body, turn)

    async def _redacted(self, body: dict[str, Any], turn: _RedactedTurn) -> dict[str, Any]:
        turn.events = EventRestorer(turn.redaction)
        async with asyncio.timeout(_LONGEST_SECONDS):
            messages = listing(body.get("messages"))
            redacted = await asyncio.to_thread(redacted_chat, messages, turn.redaction)
        return {**body, "messages": redacted}

    def restore_event(self, event: Any, metadata: dict[str, Any], body: dict[str, Any]) -> Any:
        """A piece of an answer with values for placeholders.

        Where the host gives what was said before a tool call back to the model without asking us
        (up to 0.11.1), placeholders stay in an answer that may call tools, and in the calls, until
        the answer is stored. ``body`` is the request, which the host hands on for page chats.
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
        """A turn's messages, as the outlet gets them, with values for what is left of placeholders.

        The turn is over with it. Earlier answers of a stored chat stay: their placeholders were
        other turns'. Of what is not stored the host gives the request itself, without ids.
        """
        turn = self._turn(metadata)
        if turn is None:
            return body
        del self._turns[turn_state(metadata).get("redaction", "")]
        messages = listing(body.get("messages"))
        if turn.redaction.is_empty or not messages:
            return body
        restored = [
            message if mapping(message).get("id") else restored_message(message, turn.redaction)
            for message in messages
        ]
        answer = mapping(messages[-1])
        if answer.get("role") == "assistant":
            restored[-1] = restored_message(answer, turn.redaction)
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
