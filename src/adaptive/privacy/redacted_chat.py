"""A chat's messages with placeholders for personal data, and an answer with its values again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from adaptive.core.shapes import listing, mapping
from adaptive.privacy.redaction import PLACEHOLDER, Redaction

# Fields in which providers tell what a model thought (host: utils/middleware.py), and what it says.
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_STREAMED_FIELDS = frozenset({*_REASONING_FIELDS, "content", "refusal"})
_TEXT_FIELDS = frozenset({*_STREAMED_FIELDS, "text", "code"})
# Fields that hold such fields, in messages and in OpenAI's Responses API; ids and names stay.
_INNER_FIELDS = frozenset(
    {"content", "tool_calls", "function", "output", "summary", "item", "part", "response"}
)
# Shorter numbers without quotes, as counts and years in a tool's arguments, are nobody's.
_SHORTEST_BARE_NUMBER = 6
# No placeholder is longer, however a model writes it.
_LONGEST_PLACEHOLDER = 36
# What, at the end of a text, may be the beginning of a placeholder, or one that may go on.
_UNFINISHED = re.compile(
    r"(?:\\{0,2}[\[\u3010\uff3b] ?(?:[A-Za-z][A-Za-z0-9_ \\-]{0,30})?"
    r"|(?<![0-9A-Za-z_])[A-Z][A-Z0-9_\\]{0,32}|\\{1,2})\Z"
)

_Change = Callable[[str], str]


def redacted_chat(messages: Sequence[Any], redaction: Redaction) -> list[Any]:
    """Messages with placeholders for personal data in all their texts, in order.

    Texts are contents, text parts of contents, thoughts and the strings within the arguments of
    tool calls; addresses of images, ids and names stay.
    """
    texts: dict[str, str] = {}
    for message in messages:
        _changed(message, lambda text: texts.setdefault(text, text))
    redacted = dict(zip(texts, redaction.redact_all(list(texts)), strict=True))
    return [_changed(message, redacted.__getitem__) for message in messages]


def restored_message(message: Any, redaction: Redaction) -> Any:
    """A whole answer, or output items, with values for placeholders."""
    return _changed(message, redaction.restore)


def _changed(value: Any, change: _Change) -> Any:
    """A message, or a part of one, whose texts are changed; the same object where none is."""
    if items := listing(value):
        new = [change(one) if isinstance(one, str) else _changed(one, change) for one in items]
        return new if new != items else value
    fields, changed = mapping(value), dict[str, Any]()
    for name, one in fields.items():
        if name == "arguments":
            changed[name] = _changed_json(one, change)
        elif isinstance(one, str):
            changed[name] = change(one) if name in _TEXT_FIELDS else one
        elif name in _INNER_FIELDS:
            changed[name] = _changed(one, change)
    same = all(changed[name] == fields[name] for name in changed)
    return value if same else {**fields, **changed}


def _changed_json(arguments: Any, change: _Change) -> Any:
    """Arguments, as a JSON document or parsed, that are the same kind of thing afterwards."""
    if not isinstance(arguments, str):
        return changed_values(arguments, change)
    try:
        parsed = json.loads(arguments)
    except ValueError:
        return change(arguments)
    changed = changed_values(parsed, change)
    return arguments if changed == parsed else json.dumps(changed, ensure_ascii=False)


def changed_values(value: Any, change: _Change) -> Any:
    """A parsed document whose texts, names of fields and long numbers are changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, int) and len(digits := str(value)) >= _SHORTEST_BARE_NUMBER:
        return value if (new := change(digits)) == digits else new
    if fields := mapping(value):
        return {change(name): changed_values(one, change) for name, one in fields.items()}
    return [changed_values(one, change) for one in listing(value)] or value


class StreamRestorer:
    """Gives the pieces of an answer on with values for placeholders, wherever it was cut.

    Only what may be the beginning of a placeholder waits for the next piece. What all calls gave
    together is what ``Redaction.restore`` makes of the whole answer.
    """

    def __init__(self, redaction: Redaction, *, json_text: bool = False) -> None:
        self._redaction, self._json_text = redaction, json_text
        self._held = ""
        # The last character given on: a placeholder without brackets begins no word's middle.
        self._before = ""

    def feed(self, chunk: str) -> str:
        """What of this piece, and of what was held, is certain."""
        text, first = self._before + self._held + chunk, len(self._before)
        unfinished = _UNFINISHED.search(text, max(first, len(text) - _LONGEST_PLACEHOLDER))
        until = unfinished.start() if unfinished else len(text)
        parts: list[str] = []
        position = first
        for match in PLACEHOLDER.finditer(text, first):
            if match.end() > until:
                until = min(until, match.start())
                break
            value = self._redaction.value_of(match, json_text=self._json_text)
            parts += text[position : match.start()], value
            position = match.end()
        self._held, self._before = text[until:], text[max(until - 1, 0) : until]
        return "".join([*parts, text[position:until]])

    def end(self) -> str:
        """What is held when nothing follows any more."""
        return self._redaction.restore(self._held)


class EventRestorer:
    """Restores the events of one stream: chunks of chat completions, events of Responses.

    Each part of the answer has a restorer of its own, so what is cut is joined again within its
    part. What is held comes with the event that ends its part, ``finish_reason`` at the latest.
    """

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        # By number of the choice, and field or number of the tool call.
        self._parts: dict[tuple[int, str | int], StreamRestorer] = {}

    def restored(self, event: Mapping[str, Any]) -> Any:
        """The event with values for placeholders; the one given is not changed."""
        kind = event.get("type")
        if isinstance(kind, str) and kind.startswith("response."):
            return self._restored_response(kind, event)
        choices = listing(event.get("choices"))
        if not choices:
            return dict(event)
        return {**event, "choices": [self._restored_choice(choice) for choice in choices]}

    def restored_line(self, lines: str) -> str:
        """Lines as they go over the wire, each with one event; others stay as they are.

        Open WebUI hands them to filters like this for plain API calls up to 0.11.0 (host:
        utils/middleware.py, stream_wrapper).
        """

        def restored(line: re.Match[str]) -> str:
            with suppress(ValueError):
                if event := mapping(json.loads(line[1])):
                    return f"data: {json.dumps(self.restored(event), ensure_ascii=False)}"
            return line[0]

        return re.sub("(?m)^data:(.*)", restored, lines)

    def _feed(self, key: tuple[int, str | int], text: str, *, json_text: bool = False) -> str:
        if key not in self._parts:
            self._parts[key] = StreamRestorer(self._redaction, json_text=json_text)
        return self._parts[key].feed(text)

    def _restored_choice(self, choice: Any) -> Any:
        told = dict(mapping(choice))
        if "message" in told:
            return {**told, "message": restored_message(told["message"], self._redaction)}
        delta, over = dict(mapping(told.get("delta"))), bool(told.get("finish_reason"))
        if not delta and not over:
            return choice
        index = told.get("index") or 0
        calls = listing(delta.get("tool_calls"))
        # With words or calls the thought is over; it must not go on behind them.
        thought_over = calls or delta.get("content")
        for name in delta.keys() & _STREAMED_FIELDS:
            text, key = delta[name], (index, name)
            is_text = isinstance(text, str)
            delta[name] = (
                self._feed(key, text) if is_text else restored_message(text, self._redaction)
            )
        if calls:
            delta["tool_calls"] = [self._restored_call(index, call) for call in calls]
        for key in [key for key in self._parts if key[0] == index]:
            field = key[1]
            # Arguments end with a bracket, so nothing of them is held.
            ended = over or (thought_over and field in _REASONING_FIELDS)
            if ended and isinstance(field, str) and (held := self._parts.pop(key).end()):
                delta[field] = (delta.get(field) or "") + held
        return {**told, "delta": delta}

    def _restored_call(self, index: int, call: Any) -> Any:
        function, number = mapping(mapping(call).get("function")), mapping(call).get("index")
        arguments = function.get("arguments")
        if not isinstance(arguments, str) or not isinstance(number, int):
            return restored_message(call, self._redaction)
        arguments = self._feed((index, number), arguments, json_text=True)
        return {**call, "function": {**function, "arguments": arguments}}

    def _restored_response(self, kind: str, event: Mapping[str, Any]) -> Any:
        """An event of the Responses API, whose last ones tell all again (OpenAI's reference)."""
        part, _, stage = kind.removeprefix("response.").rpartition(".")
        places = ("output_index", "content_index", "summary_index")
        key = (0, "/".join([part, *(str(event.get(place, "")) for place in places)]))
        if stage == "delta" and isinstance(delta := event.get("delta"), str):
            json_text = part.endswith("arguments")
            return {**event, "delta": self._feed(key, delta, json_text=json_text)}
        if stage == "done":
            self._parts.pop(key, None)
        return restored_message(event, self._redaction)
