"""A chat's messages with placeholders for personal data, and an answer with its values again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from adaptive.core.shapes import listing, mapping
from adaptive.privacy.redaction import Redaction

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
    """Messages with placeholders in all their texts; addresses of images, ids and names stay."""
    texts: dict[str, str] = {}
    for message in messages:
        changed_texts(message, lambda text: texts.setdefault(text, text))
    redacted = dict(zip(texts, redaction.redact_all(list(texts)), strict=True))
    return [changed_texts(message, redacted.__getitem__) for message in messages]


def changed_texts(value: Any, change: _Change) -> Any:
    """A message, or a part of one, whose texts are changed; the same object where none is."""
    if items := listing(value):
        new = [change(one) if isinstance(one, str) else changed_texts(one, change) for one in items]
        return new if new != items else value
    fields, changed = mapping(value), dict[str, Any]()
    for name, one in fields.items():
        if name == "arguments":
            changed[name] = _changed_json(one, change)
        elif isinstance(one, str):
            changed[name] = change(one) if name in _TEXT_FIELDS else one
        elif name in _INNER_FIELDS:
            changed[name] = changed_texts(one, change)
    same = all(changed[name] == fields[name] for name in changed)
    return value if same else {**fields, **changed}


def _changed_json(arguments: Any, change: _Change) -> Any:
    """Arguments, as a JSON document or parsed, that are the same kind of thing afterwards."""
    if not isinstance(arguments, str):
        return changed_values(arguments, change)
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):  # no JSON, or nested without an end
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


class EventRestorer:
    """Restores the events of one stream: chunks of chat completions, events of Responses.

    Each part of the answer is put together by itself, wherever it was cut: what may be the
    beginning of a placeholder waits for the next event of its part, or the one that ends it.
    """

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        # What waits, by number of the choice, and field or number of the tool call. It stands
        # behind the last sign that was given on: a placeholder without brackets begins a word.
        self._waiting: dict[tuple[int, str | int], str] = {}

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

        Open WebUI hands them so to filters for plain API calls up to 0.11.0 (utils/middleware.py).
        """

        def restored(line: re.Match[str]) -> str:
            with suppress(ValueError, RecursionError):
                if event := mapping(json.loads(line[1])):
                    return f"data: {json.dumps(self.restored(event), ensure_ascii=False)}"
            return line[0]

        return re.sub("(?m)^data:(.*)", restored, lines)

    def _feed(self, key: tuple[int, str | int], piece: str, *, json_text: bool = False) -> str:
        """What of this piece, and of what waited, is certain."""
        text = self._waiting.get(key, "\n") + piece
        unfinished = _UNFINISHED.search(text, max(1, len(text) - _LONGEST_PLACEHOLDER))
        until = unfinished.start() if unfinished else len(text)
        self._waiting[key] = text[until - 1 :]
        return self._redaction.restore(text[:until], json_text=json_text)[1:]

    def _restored_choice(self, choice: Any) -> Any:
        told = dict(mapping(choice))
        if "message" in told:
            return {**told, "message": changed_texts(told["message"], self._redaction.restore)}
        delta, over = dict(mapping(told.get("delta"))), bool(told.get("finish_reason"))
        if not delta and not over:
            return choice
        index = told.get("index") or 0
        calls = listing(delta.get("tool_calls"))
        # With words or calls the thought is over; it must not go on behind them.
        thought_over = calls or delta.get("content")
        for name in delta.keys() & _STREAMED_FIELDS:
            if isinstance(text := delta[name], str):
                delta[name] = self._feed((index, name), text)
            else:
                delta[name] = changed_texts(text, self._redaction.restore)
        if calls:
            delta["tool_calls"] = [self._restored_call(index, call) for call in calls]
        # Arguments end with a bracket, so nothing of them waits.
        for field in _STREAMED_FIELDS if over else _REASONING_FIELDS if thought_over else ():
            if waiting := self._waiting.pop((index, field), "")[1:]:
                delta[field] = (delta.get(field) or "") + self._redaction.restore(waiting)
        return {**told, "delta": delta}

    def _restored_call(self, index: int, call: Any) -> Any:
        function, number = mapping(mapping(call).get("function")), mapping(call).get("index")
        arguments = function.get("arguments")
        if not isinstance(arguments, str) or not isinstance(number, int):
            return changed_texts(call, self._redaction.restore)
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
            self._waiting.pop(key, None)
        return changed_texts(event, self._redaction.restore)
