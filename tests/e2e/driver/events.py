"""What the host sends to the page over the socket, and what the page makes of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the ``events`` channel; ``at`` is ``time.perf_counter()`` at its arrival."""

    kind: str
    data: dict[str, Any]
    chat_id: str
    message_id: str
    at: float

    @classmethod
    def from_socket(cls, packet: dict[str, Any], at: float) -> Event:
        """Read a packet as the socket delivers it; unknown forms give an event without data."""
        inner = packet.get("data") or {}
        data = inner.get("data")
        return cls(
            kind=str(inner.get("type", "")),
            data=data if isinstance(data, dict) else {"value": data},
            chat_id=str(packet.get("chat_id") or ""),
            message_id=str(packet.get("message_id") or ""),
            at=at,
        )


@dataclass(slots=True)
class Shown:
    """What the page shows of one assistant message after a number of events."""

    content: str = ""
    output: list[dict[str, Any]] | None = None
    error: str | None = None
    done: bool = False
    cancelled: bool = False
    done_at: float | None = None

    def take_all(self, events: Iterable[Event], message_id: str) -> Shown:
        """Apply the events that concern this message, in their order."""
        for event in events:
            if event.kind == "chat:outlet":
                self._take_outlet(event, message_id)
            elif event.message_id == message_id:
                self._take(event)
        return self

    def _take(self, event: Event) -> None:
        data = event.data
        match event.kind:
            case "chat:completion" | "response:completion":
                self._take_completion(event)
            case "message" | "chat:message:delta":
                self.content += data.get("content") or ""
            case "replace" | "chat:message":
                self.content = data.get("content") or ""
            case "chat:message:error":
                self._fail(data.get("error"), event.at)
            case "chat:tasks:cancel":
                self.cancelled = True
                self.done_at = self.done_at or event.at
            case _:
                pass

    def _take_completion(self, event: Event) -> None:
        """Every release says it in its own way, and a turn may mix them."""
        data = event.data
        if output := data.get("output"):
            self.output = output
            self.content = output_text(output) or self.content
        elif data.get("type") == "response.output_text.delta":
            self.content += data.get("delta") or ""
        elif choices := data.get("choices"):
            self.content += choice_text(choices[0])
        elif isinstance(data.get("content"), str) and data["content"]:
            self.content = data["content"]
        if data.get("error"):
            self._fail(data["error"], event.at)
        if data.get("done"):
            self.done = True
            self.done_at = event.at

    def _take_outlet(self, event: Event, message_id: str) -> None:
        for message in event.data.get("messages") or []:
            if message.get("id") == message_id:
                self.content = stored_text(message) or self.content

    def _fail(self, error: Any, at: float) -> None:
        content = (
            error.get("content", error) if isinstance(error, dict) else error
        )
        self.error = str(content)
        self.done_at = self.done_at or at


def stored_text(message: dict[str, Any]) -> str:
    """What a stored answer says: 0.10 keeps it in its output items, with an empty content."""
    return message.get("content") or output_text(message.get("output") or [])


def output_text(output: list[dict[str, Any]]) -> str:
    """The text of the message items in a list of output items."""
    return "".join(
        part.get("text") or ""
        for item in output
        if item.get("type") == "message"
        for part in item.get("content") or []
    )


def choice_text(choice: dict[str, Any]) -> str:
    """What a choice of the model says, whole or in part."""
    part = choice.get("message") or choice.get("delta") or {}
    return part.get("content") or ""
