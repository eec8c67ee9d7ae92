"""A chat's messages with placeholders for personal data, and an answer with its values again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

from adaptive.privacy.placeholders import Redaction
from adaptive.shapes import listing, mapping

_TextChange = Callable[[str], str]

# Fields in which providers tell what a model thought (host: utils/middleware.py).
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_WITHHELD = (
    "[The user's message is not shown to you: personal data in it could not be replaced. "
    "Say so in one sentence, and that sending it again may help.]"
)
# Shorter numbers without quotes, as counts and years in a tool's arguments, are nobody's.
_SHORTEST_BARE_NUMBER = 6


def withheld_messages() -> list[dict[str, Any]]:
    """What a model gets where personal data can't be replaced: nothing that anybody said."""
    return [{"role": "user", "content": _WITHHELD}]


def redacted_chat(
    messages: Sequence[Any], redaction: Redaction, sent: set[bytes] | None = None
) -> list[Any]:
    """Messages with placeholders for personal data in all their texts, in order.

    Texts are contents, text parts of contents, thoughts and the strings within the arguments of
    tool calls; addresses of images, ids and names stay. A message without a finding is the same
    object. ``sent`` holds digests of texts that this function has made before for the redaction:
    they stay, and so do placeholders in texts that somebody has put one of them into; digests of
    what is returned are added to it.
    """
    known = set[bytes]() if sent is None else sent
    texts: dict[str, None] = {}

    def collect(text: str) -> str:
        texts[text] = None
        return text

    for message in messages:
        _with_texts(message, collect)
    fresh = [text for text in texts if _text_digest(text) not in known]
    replaced = dict(zip(fresh, redaction.redact_all(fresh, again=bool(known)), strict=True))
    known.update(map(_text_digest, replaced.values()))
    return [_with_texts(message, lambda text: replaced.get(text, text)) for message in messages]


def characters_of(messages: Sequence[Any]) -> int:
    """How much text messages hold, tool calls included; what it takes to redact them goes by it."""
    count = 0

    def add(text: str) -> str:
        nonlocal count
        count += len(text)
        return text

    for message in messages:
        _with_texts(message, add)
    return count


def _text_digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _with_texts(message: Any, change: _TextChange) -> Any:
    """A message whose texts are changed; the same object where none is."""
    changed: dict[str, Any] = {}
    for name, value in mapping(message).items():
        if name == "content":
            new = _changed_content(value, change)
        elif name in REASONING_FIELDS and isinstance(value, str):
            new = change(value)
        elif name == "tool_calls":
            new = [_changed_call(call, change) for call in listing(value)] or value
        else:
            continue
        if new != value:
            changed[name] = new
    return {**message, **changed} if changed else message


def _changed_content(content: Any, change: _TextChange) -> Any:
    if isinstance(content, str):
        return change(content)
    if parts := listing(content):
        return [_changed_part(part, change) for part in parts]
    return content


def _changed_part(part: Any, change: _TextChange) -> Any:
    if isinstance(part, str):
        return change(part)
    text = mapping(part).get("text")
    return {**part, "text": change(text)} if isinstance(text, str) else part


def _changed_call(call: Any, change: _TextChange) -> Any:
    function = mapping(mapping(call).get("function"))
    arguments = function.get("arguments")
    new = _changed_json(arguments, change)
    if new == arguments:
        return call
    return {**call, "function": {**function, "arguments": new}}


def _changed_json(arguments: Any, change: _TextChange) -> Any:
    """Arguments, as a JSON document or parsed, that are the same kind of thing afterwards."""
    if not isinstance(arguments, str):
        return _changed_values(arguments, change)
    try:
        parsed = json.loads(arguments)
    except ValueError:
        return change(arguments)
    changed = _changed_values(parsed, change)
    return arguments if changed == parsed else json.dumps(changed, ensure_ascii=False)


def _changed_values(value: Any, change: _TextChange) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, int) and len(digits := str(value)) >= _SHORTEST_BARE_NUMBER:
        return value if (new := change(digits)) == digits else new
    if entries := listing(value):
        return [_changed_values(one, change) for one in entries]
    if fields := mapping(value):
        return {name: _changed_values(one, change) for name, one in fields.items()}
    return value


def restored_message(message: Any, redaction: Redaction) -> dict[str, Any]:
    """A whole answer with values for placeholders, in what it says, thinks and asks tools for."""
    changed: dict[str, Any] = {}
    for name, value in mapping(message).items():
        if name == "content":
            changed[name] = _changed_content(value, redaction.restore)
        elif name in (*REASONING_FIELDS, "refusal") and isinstance(value, str):
            changed[name] = redaction.restore(value)
        elif name in ("tool_calls", "output"):
            changed[name] = restored_output(value, redaction)
    return {**message, **changed}


def restored_output(value: Any, redaction: Redaction) -> Any:
    """Output items, in the form of OpenAI's Responses API, with values for placeholders.

    What tools returned stays as it is, since the model has not written it.
    """
    if items := listing(value):
        return [restored_output(one, redaction) for one in items]
    fields = mapping(value)
    if not fields or fields.get("type") == "function_call_output":
        return value
    restored: dict[str, Any] = {}
    for name, one in fields.items():
        if not isinstance(one, str):
            restored[name] = (
                redaction.restore_parsed(one)
                if name == "arguments"
                else restored_output(one, redaction)
            )
        elif name == "arguments":
            restored[name] = redaction.restore_json(one)
        else:
            restored[name] = redaction.restore(one) if name in _WRITTEN_FIELDS else one
    return restored


# Fields of output items in which a model's words stand.
_WRITTEN_FIELDS = frozenset({"text", "refusal", "code"})
