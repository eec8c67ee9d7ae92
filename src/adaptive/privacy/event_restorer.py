"""Giving an answer its values back while it streams, event by event."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adaptive.privacy.chat_redaction import REASONING_FIELDS, restored_message, restored_output
from adaptive.privacy.placeholders import Redaction
from adaptive.privacy.stream_restorer import StreamRestorer
from adaptive.shapes import listing, mapping

_SAID_FIELDS = ("content", "refusal")
_STREAMED_FIELDS = (*REASONING_FIELDS, *_SAID_FIELDS)
# A part of the answer: number of the choice, field, and number of the tool call or of the item.
_PartKey = tuple[int, str, str]


class EventRestorer:
    """Restores the events of one stream: chunks of chat completions, events of Responses.

    Each part of the answer has a restorer of its own, so what is cut is joined again within its
    part. What is held comes with the event that ends its part, ``finish_reason`` at the latest;
    where a provider sends none, ``take_held`` has it.
    """

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._parts: dict[_PartKey, StreamRestorer] = {}

    def restored(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The event with values for placeholders; the one given is not changed."""
        kind = event.get("type")
        if isinstance(kind, str) and kind.startswith("response."):
            return self._restored_response(kind, event)
        choices = listing(event.get("choices"))
        if not choices:
            return dict(event)
        return {**event, "choices": [self._restored_choice(choice) for choice in choices]}

    def restored_line(self, line: str) -> str:
        """Lines as they go over the wire, each with one event; others stay as they are.

        Open WebUI hands them to filters like this for plain API calls up to 0.11.0 (host:
        utils/middleware.py, stream_wrapper).
        """
        lines = [
            self._restored_data(one) if one.startswith("data:") else one for one in line.split("\n")
        ]
        return "\n".join(lines)

    def _restored_data(self, line: str) -> str:
        try:
            event = json.loads(line.removeprefix("data:"))
        except ValueError:
            return line
        if not (told := mapping(event)):
            return line
        return f"data: {json.dumps(self.restored(told), ensure_ascii=False)}"

    def take_held(self) -> str:
        """What of the first choice's words was held and never came to an end."""
        part = self._parts.pop((0, "content", ""), None)
        return part.finish() if part else ""

    def _feed(self, key: _PartKey, text: str, *, json_text: bool = False) -> str:
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = StreamRestorer(self._redaction, json_text=json_text)
        return part.feed(text)

    def _restored_choice(self, choice: Any) -> Any:
        told = dict(mapping(choice))
        number = told.get("index")
        index = number if isinstance(number, int) else 0
        if "message" in told:
            told["message"] = restored_message(told["message"], self._redaction)
        elif mapping(told.get("delta")) or told.get("finish_reason"):
            delta = self._restored_delta(index, mapping(told.get("delta")))
            if told.get("finish_reason"):
                self._end_choice(index, delta)
            told["delta"] = delta
        return told if told else choice

    def _restored_delta(self, index: int, delta: Mapping[str, Any]) -> dict[str, Any]:
        restored = dict(delta)
        for name in _STREAMED_FIELDS:
            restored |= self._restored_field(index, name, delta.get(name))
        calls = listing(delta.get("tool_calls"))
        if calls:
            restored["tool_calls"] = [self._restored_call(index, call) for call in calls]
        if calls or delta.get("content"):
            # The thought is over; it must not go on behind what was said.
            self._end_fields(index, REASONING_FIELDS, restored)
        return restored

    def _restored_field(self, index: int, name: str, value: Any) -> dict[str, Any]:
        key = (index, name, "")
        if isinstance(value, str) and value:
            return {name: self._feed(key, value)}
        # Some providers send lists of parts.
        parts = [
            {**part, "text": self._feed(key, part["text"])}
            if isinstance(mapping(part).get("text"), str)
            else part
            for part in listing(value)
        ]
        return {name: parts} if parts else {}

    def _restored_call(self, index: int, call: Any) -> Any:
        function = mapping(mapping(call).get("function"))
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            key = (index, "tool_calls", str(call.get("index")))
            arguments = self._feed(key, arguments, json_text=True)
        elif arguments is not None:
            arguments = self._redaction.restore_parsed(arguments)
        else:
            return call
        return {**call, "function": {**function, "arguments": arguments}}

    def _end_choice(self, index: int, delta: dict[str, Any]) -> None:
        """Add to the delta what is held of any part of the choice."""
        self._end_fields(index, _STREAMED_FIELDS, delta)
        for key in [key for key in self._parts if key[:2] == (index, "tool_calls")]:
            held = self._parts.pop(key).finish()
            if held and key[2].isdigit():
                call = {"index": int(key[2]), "function": {"arguments": held}}
                delta["tool_calls"] = [*listing(delta.get("tool_calls")), call]

    def _end_fields(self, index: int, names: tuple[str, ...], delta: dict[str, Any]) -> None:
        for name in names:
            part = self._parts.pop((index, name, ""), None)
            if part and (held := part.finish()):
                if parts := listing(delta.get(name)):
                    delta[name] = [*parts, {"type": "text", "text": held}]
                else:
                    delta[name] = (delta.get(name) or "") + held

    def _restored_response(self, kind: str, event: Mapping[str, Any]) -> dict[str, Any]:
        """An event of the Responses API, whose last ones tell all again (OpenAI's reference)."""
        restored = dict(event)
        part, _, stage = kind.removeprefix("response.").rpartition(".")
        json_text = part.endswith("arguments")
        places = ("output_index", "content_index", "summary_index")
        key = (0, part, "/".join(str(event.get(place, "")) for place in places))
        if stage == "delta":
            if isinstance(delta := event.get("delta"), str):
                restored["delta"] = self._feed(key, delta, json_text=json_text)
            return restored
        if stage == "done":
            self._parts.pop(key, None)
        for name in ("text", "refusal"):
            if isinstance(text := event.get(name), str):
                restored[name] = self._redaction.restore(text)
        if isinstance(arguments := event.get("arguments"), str):
            restored["arguments"] = self._redaction.restore_json(arguments)
        for name in ("item", "part", "response"):
            if name in event:
                restored[name] = restored_output(event[name], self._redaction)
        return restored
