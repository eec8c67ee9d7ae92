"""Chats whose model gets placeholders for personal data, and answers with the values again."""

import asyncio
import json
import re
import time
import uuid
from collections.abc import Callable, Sequence

from adaptive.core import (
    Json,
    JsonMapping,
    JsonObject,
    UserCache,
    listing,
    mapping,
    turn_state,
)
from adaptive.privacy.redaction import Redaction

# Fields in which providers tell what a model thought (host: utils/middleware.py), and what it says.
_REASONING_FIELDS = frozenset({"reasoning_content", "reasoning", "thinking"})
_SPOKEN_FIELDS = _REASONING_FIELDS | {"content", "refusal"}
# Fields that are, or hold, texts, in messages and in OpenAI's Responses API; ids and names stay.
_TEXT_FIELDS = _SPOKEN_FIELDS | frozenset(
    "text code tool_calls function output summary item part response".split()  # noqa: SIM905
)
_STREAMED_FIELDS = _TEXT_FIELDS | {"arguments"}
_PLACES_IN_RESPONSE = ("output_index", "content_index", "summary_index")
# No placeholder is longer, however a model writes it.
_LONGEST_PLACEHOLDER = 36
# What, at the end of a text, may be the beginning of a placeholder, or one that may go on.
_UNFINISHED = re.compile(
    r"(?:\\{0,2}[\[\u3010\uff3b] ?(?:[A-Za-z][A-Za-z0-9_ \\-]{0,30})?"
    r"|(?<![0-9A-Za-z_])[A-Z][A-Z0-9_\\]{0,32}|\\{1,2})\Z"
)
# A turn that was stopped or failed has no outlet, so nothing else would forget it.
_IDLE_SECONDS = 3600.0
_MOST_TURNS = 10_000
# A megabyte takes a second or two; who says so much waits that long for privacy.
_LONGEST_SECONDS = 10.0
_WITHHELD = (
    "[The user's message is not shown to you: personal data in it could not be replaced. "
    "Say so in one sentence, and that sending it again may help.]"
)

_Change = Callable[[str], str]


def redacted_chat(
    messages: Sequence[Json], redaction: Redaction, whole: Sequence[Json] = ()
) -> list[Json]:
    """Messages with placeholders in all their texts; addresses of images, ids and names stay.

    Placeholders are numbered in the order of the ``whole``, of which these may be a part.
    """
    texts: dict[str, str] = {}
    for message in (*whole, *messages):
        changed_texts(message, lambda text: texts.setdefault(text, text))
    redacted = dict(zip(texts, redaction.redact_all(list(texts)), strict=True))
    return [
        changed_texts(message, redacted.__getitem__) for message in messages
    ]


def changed_texts(value: Json, change: _Change) -> Json:
    """A message, or a part of one, whose texts are changed."""
    if isinstance(value, str):
        return change(value)
    items = listing(value)
    if items:
        return [changed_texts(item, change) for item in items]
    fields = dict(mapping(value))
    for name in sorted(fields.keys() & _TEXT_FIELDS):
        fields[name] = changed_texts(fields[name], change)
    if "arguments" in fields:
        fields["arguments"] = _changed_arguments(fields["arguments"], change)
    return fields or value


def _changed_arguments(arguments: Json, change: _Change) -> Json:
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


def changed_values(value: Json, change: _Change) -> Json:
    """A parsed document whose texts, names of fields and numbers are changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, int):
        digits = str(value)
        changed = change(digits)
        return value if changed == digits else changed
    items = listing(value)
    if items:
        return [changed_values(item, change) for item in items]
    fields = mapping(value)
    return {
        change(name): changed_values(inner, change)
        for name, inner in fields.items()
    } or value


class EventRestorer:
    """Restores the events of one turn: chunks of chat completions, events of Responses.

    Each part of the answer is put together by itself, wherever it was cut: what may be the
    beginning of a placeholder waits for the next event of its part, or the one that ends it. The
    turn ``is_guarded`` if the host asks us before an answer goes back to the model within it.
    """

    def __init__(self, redaction: Redaction) -> None:
        self.redaction = redaction
        self.is_guarded = False
        # What waits of each part: of a choice's field or tool call, or of a part of a response. It
        # stands behind the last sign given on: a placeholder without brackets begins a word.
        self._waiting: dict[tuple[object, ...], str] = {}

    def restored(self, event: object) -> object:
        """The event with values for placeholders; the one given is not changed."""
        fields = mapping(event)
        kind = str(fields.get("type"))
        if kind.startswith("response."):
            return self._restored_response(kind, fields)
        choices = listing(fields.get("choices"))
        if not choices:
            return event
        restored = [
            self._restored_choice(mapping(choice)) for choice in choices
        ]
        return {**fields, "choices": restored}

    def restored_line(self, lines: str) -> str:
        """Lines as they go over the wire, each with one event; others stay as they are.

        Open WebUI hands them so to filters for plain API calls up to 0.11.0 (utils/middleware.py).
        """
        return re.sub("(?m)^data:(.*)", self._restored_data, lines)

    def _restored_data(self, line: re.Match[str]) -> str:
        """A line with its event restored; the same where it holds none."""
        try:
            event = json.loads(line[1])
        except (ValueError, RecursionError):
            return line[0]
        return f"data: {json.dumps(self.restored(event))}"

    def _restored_piece(self, key: tuple[object, ...], piece: str) -> str:
        """What is certain of a piece of one part of the answer, and of what waited before it."""
        text = self._waiting.get(key, "\n") + piece
        unfinished = _UNFINISHED.search(
            text, max(1, len(text) - _LONGEST_PLACEHOLDER)
        )
        certain_to = unfinished.start() if unfinished else len(text)
        self._waiting[key] = text[certain_to - 1 :]
        is_json = str(key[-1]).endswith("arguments")
        certain = text[1:certain_to]
        return self.redaction.restore(certain, json_text=is_json)

    def _restored_pieces(self, value: Json, *place: object) -> Json:
        """What is certain of the pieces in a part of an event, which is told by its place."""
        if isinstance(value, str):
            return self._restored_piece(place, value)
        items = listing(value)
        if items:
            return [
                self._restored_pieces(item, *place, mapping(item).get("index"))
                for item in items
            ]
        fields = dict(mapping(value))
        for name in fields.keys() & _STREAMED_FIELDS:
            fields[name] = self._restored_pieces(fields[name], *place, name)
        return fields or value

    def _restored_choice(self, choice: JsonMapping) -> JsonMapping:
        """One choice of a chunk, or of a whole answer."""
        restore = self.redaction.restore
        if "message" in choice:
            message = changed_texts(choice["message"], restore)
            return {**choice, "message": message}
        piece = mapping(choice, "delta")
        ended = frozenset[str]()
        if choice.get("finish_reason"):
            # Arguments end with a bracket, so nothing of them waits.
            ended = _SPOKEN_FIELDS
        elif piece.get("tool_calls") or piece.get("content"):
            # With words or calls the thought is over; it must not go on behind them.
            ended = _REASONING_FIELDS
        index = choice.get("index")
        delta = dict(mapping(self._restored_pieces(piece, index)))
        for name in ended:
            waiting = self._waiting.pop((index, name), "")[1:]
            if waiting:
                delta[name] = (delta.get(name) or "") + restore(waiting)
        return {**choice, "delta": delta} if delta else choice

    def _restored_response(self, kind: str, event: JsonMapping) -> JsonMapping:
        """An event of the Responses API, whose last ones tell all again (OpenAI's reference)."""
        part, _, stage = kind.rpartition(".")
        delta = event.get("delta")
        if stage == "delta" and isinstance(delta, str):
            key = (*map(event.get, _PLACES_IN_RESPONSE), part)
            return {**event, "delta": self._restored_piece(key, delta)}
        return mapping(changed_texts(event, self.redaction.restore))


class RedactedTurns:
    """Redacts what goes to chat models, and restores what comes back, each turn by itself.

    A turn is known by an unguessable mark in its state, so no turn, and no user, is ever given
    another one's values. All is kept in this process alone, which serves the whole turn (0.9.6 and
    later): if it restarts, placeholders stay.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._turns = UserCache[EventRestorer](
            _MOST_TURNS, seconds=_IDLE_SECONDS, now=now
        )

    async def redact(
        self,
        body: JsonObject,
        metadata: JsonObject,
        *,
        whole: JsonObject | None = None,
        again: bool = False,
    ) -> JsonObject:
        """A request with placeholders for personal data in all its messages.

        The ``whole`` is what the model will read of it. It opens a turn; where it comes ``again``,
        with more, it is redacted if it was before.

        Raises:
            TimeoutError: it takes too long; nothing of the request may be sent.
        """
        state = turn_state(metadata)
        if again and "redaction" not in state:
            return body
        former = self._turn(metadata)
        redaction = former.redaction if former else Redaction()
        turn = EventRestorer(redaction)
        turn.is_guarded = again
        mark = state.setdefault("redaction", uuid.uuid4().hex)
        self._turns.put((mark,), turn)
        async with asyncio.timeout(_LONGEST_SECONDS):
            messages = listing(body.get("messages"))
            redacted = await asyncio.to_thread(
                redacted_chat,
                messages,
                redaction,
                listing((whole or body).get("messages")),
            )
        return {**body, "messages": redacted}

    def restored(self, body: JsonObject, metadata: JsonObject) -> JsonObject:
        """A request with the values of its turn again, as it was before it was redacted."""
        turn = self._turn(metadata)
        if turn is None:
            return body
        messages = [
            changed_texts(message, turn.redaction.restore)
            for message in listing(body.get("messages"))
        ]
        return {**body, "messages": messages}

    def restore_event(
        self, event: object, metadata: JsonObject, body: JsonObject
    ) -> object:
        """A piece of an answer to the request ``body`` with values for placeholders.

        Where the host gives what was said before a tool call back to the model without asking us
        (up to 0.11.1), placeholders stay in an answer that may call tools until it is stored.
        """
        turn = self._turn(metadata)
        if turn is None or turn.redaction.is_empty:
            return event
        if not turn.is_guarded and _may_call_tools(body, metadata):
            return event
        if isinstance(event, bytes):
            line = event.decode("utf-8", "surrogateescape")
            restored = turn.restored_line(line)
            return restored.encode("utf-8", "surrogateescape")
        if isinstance(event, str):
            return turn.restored_line(event)
        return turn.restored(event)

    def restore_answer(
        self, body: JsonObject, metadata: JsonObject
    ) -> JsonObject:
        """A turn's messages, as the outlet gets them, with values; the turn is over with it.

        Earlier messages of a stored chat stay: their placeholders were other turns'. Of what is not
        stored the host gives the request itself, without ids.
        """
        turn = self._turn(metadata)
        if turn is None:
            return body
        self._turns.pop((turn_state(metadata).get("redaction"),))
        messages = listing(body.get("messages"))
        restored = [
            message
            if mapping(message).get("id") and message is not messages[-1]
            else changed_texts(message, turn.redaction.restore)
            for message in messages
        ]
        return {**body, "messages": restored}

    def _turn(self, metadata: JsonObject) -> EventRestorer | None:
        """The turn that metadata belong to, which lasts for another hour."""
        key = (turn_state(metadata).get("redaction"),)
        turn = self._turns.get(key)
        if turn is not None:
            self._turns.put(key, turn)
        return turn


def _may_call_tools(body: JsonObject, metadata: JsonObject) -> bool:
    """Whether the answer to a request may be interrupted by tools, or by code that is run."""
    return bool(
        body.get("tools")
        or mapping(metadata, "features").get("code_interpreter")
    )


def withheld(body: JsonObject) -> JsonObject:
    """A request that could not be redacted, without anything that anybody said."""
    return {**body, "messages": [{"role": "user", "content": _WITHHELD}]}
