"""Chats whose model gets placeholders for personal data, and answers with the values again."""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from adaptive.core.messages import listing, mapping
from adaptive.privacy.redaction import Redaction
from adaptive.settings.hook import turn_state

# Fields in which providers tell what a model thought (host: utils/middleware.py), and what it says.
_REASONING_FIELDS = frozenset({"reasoning_content", "reasoning", "thinking"})
_STREAMED_FIELDS = _REASONING_FIELDS | {"content", "refusal"}
_TEXT_FIELDS = _STREAMED_FIELDS | {"text", "code"}
# Fields that hold such fields, in messages and in OpenAI's Responses API; ids and names stay.
_INNER_FIELDS = frozenset(
    {
        "content",
        "tool_calls",
        "function",
        "output",
        "summary",
        "item",
        "part",
        "response",
    }
)
_PLACES_IN_RESPONSE = ("output_index", "content_index", "summary_index")
# Shorter numbers without quotes, as counts and years in a tool's arguments, are nobody's.
_SHORTEST_BARE_NUMBER = 6
# No placeholder is longer, however a model writes it.
_LONGEST_PLACEHOLDER = 36
# What, at the end of a text, may be the beginning of a placeholder, or one that may go on.
_UNFINISHED = re.compile(
    r"(?:\\{0,2}[\[\u3010\uff3b] ?(?:[A-Za-z][A-Za-z0-9_ \\-]{0,30})?"
    r"|(?<![0-9A-Za-z_])[A-Z][A-Z0-9_\\]{0,32}|\\{1,2})\Z"
)
# A turn that was stopped or failed has no outlet, so nothing else would forget it.
_IDLE_SECONDS = 3600.0
# A megabyte takes a second or two; who says so much waits that long for privacy.
_LONGEST_SECONDS = 10.0
_WITHHELD = (
    "[The user's message is not shown to you: personal data in it could not be replaced. "
    "Say so in one sentence, and that sending it again may help.]"
)

_Change = Callable[[str], str]


def redacted_chat(messages: Sequence[Any], redaction: Redaction) -> list[Any]:
    """Messages with placeholders in all their texts; addresses of images, ids and names stay."""
    texts: dict[str, str] = {}
    for message in messages:
        changed_texts(message, lambda text: texts.setdefault(text, text))
    redacted = dict(zip(texts, redaction.redact_all(list(texts)), strict=True))
    return [
        changed_texts(message, redacted.__getitem__) for message in messages
    ]


def changed_texts(value: Any, change: _Change) -> Any:
    """A message, or a part of one, whose texts are changed; the same object where none is."""
    items = listing(value)
    if items:
        changed_items = [
            change(item)
            if isinstance(item, str)
            else changed_texts(item, change)
            for item in items
        ]
        return value if changed_items == items else changed_items
    fields = mapping(value)
    changed = {
        name: _changed_field(name, inner, change)
        for name, inner in fields.items()
    }
    return value if changed == fields else changed


def _changed_field(name: str, value: Any, change: _Change) -> Any:
    """The value of a field whose name tells whether it is, or holds, a text."""
    if name == "arguments":
        return _changed_json(value, change)
    if name in _TEXT_FIELDS and isinstance(value, str):
        return change(value)
    return changed_texts(value, change) if name in _INNER_FIELDS else value


def _changed_json(arguments: Any, change: _Change) -> Any:
    """Arguments, as a JSON document or parsed, that are the same kind of thing afterwards."""
    if not isinstance(arguments, str):
        return changed_values(arguments, change)
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):  # no JSON, or nested without an end
        return change(arguments)
    changed = changed_values(parsed, change)
    return (
        arguments
        if changed == parsed
        else json.dumps(changed, ensure_ascii=False)
    )


def changed_values(value: Any, change: _Change) -> Any:
    """A parsed document whose texts, names of fields and long numbers are changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, int):
        digits = str(value)
        if len(digits) < _SHORTEST_BARE_NUMBER:
            return value
        changed = change(digits)
        return value if changed == digits else changed
    fields = mapping(value)
    if fields:
        return {
            change(name): changed_values(inner, change)
            for name, inner in fields.items()
        }
    return [changed_values(item, change) for item in listing(value)] or value


class EventRestorer:
    """Restores the events of one stream: chunks of chat completions, events of Responses.

    Each part of the answer is put together by itself, wherever it was cut: what may be the
    beginning of a placeholder waits for the next event of its part, or the one that ends it.
    """

    def __init__(self, redaction: Redaction) -> None:
        self.redaction = redaction
        # What waits of each part: of a choice's field or tool call, or of a part of a response. It
        # stands behind the last sign given on: a placeholder without brackets begins a word.
        self._waiting: dict[tuple[object, ...], str] = {}

    def restored(self, event: Mapping[str, Any]) -> Any:
        """The event with values for placeholders; the one given is not changed."""
        kind = event.get("type")
        if isinstance(kind, str) and kind.startswith("response."):
            return self._restored_response(kind, event)
        choices = listing(event.get("choices"))
        if not choices:
            return event
        return {
            **event,
            "choices": [self._restored_choice(choice) for choice in choices],
        }

    def restored_line(self, lines: str) -> str:
        """Lines as they go over the wire, each with one event; others stay as they are.

        Open WebUI hands them so to filters for plain API calls up to 0.11.0 (utils/middleware.py).
        """
        return re.sub("(?m)^data:(.*)", self._restored_data, lines)

    def _restored_data(self, line: re.Match[str]) -> str:
        """A line with its event restored; the same where it holds none."""
        event: Mapping[str, Any] = {}
        with suppress(ValueError, RecursionError):
            event = mapping(json.loads(line[1]))
        if not event:
            return line[0]
        return f"data: {json.dumps(self.restored(event), ensure_ascii=False)}"

    def _restored_piece(
        self, key: tuple[object, ...], piece: str, *, json_text: bool = False
    ) -> str:
        """What is certain of a piece of one part of the answer, and of what waited before it."""
        text = self._waiting.get(key, "\n") + piece
        unfinished = _UNFINISHED.search(
            text, max(1, len(text) - _LONGEST_PLACEHOLDER)
        )
        certain_to = unfinished.start() if unfinished else len(text)
        self._waiting[key] = text[certain_to - 1 :]
        return self.redaction.restore(text[:certain_to], json_text=json_text)[
            1:
        ]

    def _restored_choice(self, choice: Any) -> Any:
        """One choice of a chunk, or of a whole answer."""
        fields = mapping(choice)
        restore = self.redaction.restore
        if "message" in fields:
            return {
                **fields,
                "message": changed_texts(fields["message"], restore),
            }
        delta = dict(mapping(fields.get("delta")))
        is_last = bool(fields.get("finish_reason"))
        if not delta and not is_last:
            return choice
        index = fields.get("index") or 0
        calls = listing(delta.get("tool_calls"))
        ended = frozenset[str]()
        if is_last:
            # Arguments end with a bracket, so nothing of them waits.
            ended = _STREAMED_FIELDS
        elif calls or delta.get("content"):
            # With words or calls the thought is over; it must not go on behind them.
            ended = _REASONING_FIELDS
        for name in delta.keys() & _STREAMED_FIELDS:
            text = delta[name]
            if isinstance(text, str):
                delta[name] = self._restored_piece((index, name), text)
            else:
                delta[name] = changed_texts(text, restore)
        if calls:
            delta["tool_calls"] = [
                self._restored_call(index, call) for call in calls
            ]
        for name in ended:
            waiting = self._waiting.pop((index, name), "")[1:]
            if waiting:
                delta[name] = (delta.get(name) or "") + restore(waiting)
        return {**fields, "delta": delta}

    def _restored_call(self, index: int, call: Any) -> Any:
        """A piece of a call of a tool in the choice of this number."""
        function = mapping(call, "function")
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            return changed_texts(call, self.redaction.restore)
        key = (index, call.get("index"))
        restored = self._restored_piece(key, arguments, json_text=True)
        return {**call, "function": {**function, "arguments": restored}}

    def _restored_response(self, kind: str, event: Mapping[str, Any]) -> Any:
        """An event of the Responses API, whose last ones tell all again (OpenAI's reference)."""
        part, _, stage = kind.removeprefix("response.").rpartition(".")
        key = (part, *map(event.get, _PLACES_IN_RESPONSE))
        delta = event.get("delta")
        if stage == "delta" and isinstance(delta, str):
            json_text = part.endswith("arguments")
            return {
                **event,
                "delta": self._restored_piece(key, delta, json_text=json_text),
            }
        if stage == "done":
            self._waiting.pop(key, None)
        return changed_texts(event, self.redaction.restore)


@dataclass(slots=True)
class _RedactedTurn:
    """What restores the answer of one turn, and the moment at which it was used last.

    The turn is ``guarded`` if the host asks us before an answer goes back to the model within it.
    """

    events: EventRestorer
    guarded: bool
    used_at: float


class RedactedTurns:
    """Redacts what goes to chat models, and restores what comes back, each turn by itself.

    A turn is known by an unguessable mark in its state, so no turn, and no user, is ever given
    another one's values. All is kept in this process alone, which serves the whole turn (0.9.6 and
    later): if it restarts, placeholders stay.
    """

    def __init__(self) -> None:
        # By their marks, in the order in which they were used last.
        self._turns: OrderedDict[str, _RedactedTurn] = OrderedDict()

    def __len__(self) -> int:
        self._forget_idle()
        return len(self._turns)

    async def redact(
        self,
        body: dict[str, Any],
        metadata: dict[str, Any],
        *,
        again: bool = False,
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
        redaction = turn.events.redaction if turn else Redaction()
        mark = state.get("redaction", "") if turn else uuid.uuid4().hex
        self._turns[mark] = _RedactedTurn(
            events=EventRestorer(redaction),
            guarded=again,
            used_at=time.monotonic(),
        )
        state["redaction"] = mark
        async with asyncio.timeout(_LONGEST_SECONDS):
            messages = listing(body.get("messages"))
            redacted = await asyncio.to_thread(
                redacted_chat, messages, redaction
            )
        return {**body, "messages": redacted}

    def restore_event(
        self, event: Any, metadata: dict[str, Any], body: dict[str, Any]
    ) -> Any:
        """A piece of an answer to the request ``body`` with values for placeholders.

        Where the host gives what was said before a tool call back to the model without asking us
        (up to 0.11.1), placeholders stay in an answer that may call tools until it is stored.
        """
        turn = self._turn(metadata)
        if turn is None or turn.events.redaction.is_empty:
            return event
        if not turn.guarded and _may_call_tools(body, metadata):
            return event
        if isinstance(event, bytes):
            line = event.decode("utf-8", "surrogateescape")
            return turn.events.restored_line(line).encode(
                "utf-8", "surrogateescape"
            )
        if isinstance(event, str):
            return turn.events.restored_line(event)
        return turn.events.restored(event) if mapping(event) else event

    def restore_answer(
        self, body: dict[str, Any], metadata: dict[str, Any]
    ) -> dict[str, Any]:
        """A turn's messages, as the outlet gets them, with values; the turn is over with it.

        Earlier answers of a stored chat stay: their placeholders were other turns'. Of what is not
        stored the host gives the request itself, without ids.
        """
        turn = self._turns.pop(turn_state(metadata).get("redaction", ""), None)
        messages = listing(body.get("messages"))
        if turn is None or turn.events.redaction.is_empty or not messages:
            return body
        restore = turn.events.redaction.restore
        restored = [
            message
            if mapping(message).get("id")
            else changed_texts(message, restore)
            for message in messages
        ]
        if mapping(messages[-1]).get("role") == "assistant":
            restored[-1] = changed_texts(messages[-1], restore)
        return {**body, "messages": restored}

    def _turn(self, metadata: dict[str, Any]) -> _RedactedTurn | None:
        """The turn that metadata belong to, which counts as used now."""
        mark = turn_state(metadata).get("redaction", "")
        turn = self._turns.get(mark)
        if turn is not None:
            turn.used_at = time.monotonic()
            self._turns.move_to_end(mark)
        return turn

    def _forget_idle(self) -> None:
        """Forget the turns that were used last an hour ago; no other one is looked at."""
        used_since = time.monotonic() - _IDLE_SECONDS
        while self._turns:
            mark = next(iter(self._turns))
            if self._turns[mark].used_at >= used_since:
                return
            del self._turns[mark]


def _may_call_tools(body: dict[str, Any], metadata: dict[str, Any]) -> bool:
    """Whether the answer to a request may be interrupted by tools, or by code that is run."""
    return bool(
        body.get("tools")
        or mapping(metadata, "features").get("code_interpreter")
    )


def withheld(body: dict[str, Any]) -> dict[str, Any]:
    """A request that could not be redacted, without anything that anybody said."""
    return {**body, "messages": [{"role": "user", "content": _WITHHELD}]}
