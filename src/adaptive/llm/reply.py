"""A model's reply as text to the JSON items in it, without inventing or shortening any.

The ladder: reasoning off; strict JSON; if the reply ends in the middle, its complete items only;
else repair, where ``json-repair`` can be imported. A half item is worse than none: a repaired
half sentence would be kept as a fact.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any, cast

from adaptive.errors import ReplyUnusable
from adaptive.shapes import listing, mapping
from adaptive.soft import soft_import

_LARGEST = 256 * 1024
# A reply of 4000 tokens; json-repair reads some nestings again and again.
_LARGEST_REPAIR = 16 * 1024
_MOST_STARTS = 64
_BRACKET = re.compile(r"[\[{]")
_REASONING = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_END_OF_REASONING = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_REASONING_OR_BRACKET = re.compile(rf"(?P<reasoning>{_REASONING.pattern})|[\[{{]", re.IGNORECASE)
_FENCE = "```"
_JSON_BEGINS = re.compile(r'\{\s*"|\[\s*\{\s*"')
# What may follow an answer: nothing, a closing fence, or prose on a line of its own.
_AFTER_ANSWER = re.compile(r"\s*\Z|[ \t]*(?:```|\r?\n)")
# A literal, a number or an escape that a reply breaks off in.
_BROKEN_OFF = re.compile(r"[\\\w.+-]{0,10}\Z")


def reply_items(text: str, key: str, *, cut: bool = False) -> list[Any]:
    """The items of the list under ``key`` in a reply.

    Taken are an object with that key, a bare list, and a single item object; around it prose,
    fences and reasoning. ``cut`` says that the provider reported the token limit.

    Raises:
        ReplyUnusable: nothing of that kind is in the reply.
    """
    if len(text) > _LARGEST:
        raise ReplyUnusable(
            f"the model's reply has {len(text)} characters; {_LARGEST} is the limit"
        )
    answer = _without_reasoning(text)
    if not answer:
        raise ReplyUnusable("the model's reply is empty")
    starts = [found.start() for found in itertools.islice(_BRACKET.finditer(answer), _MOST_STARTS)]
    if not starts:
        raise ReplyUnusable("the model answered in prose")
    body = ""
    for start in starts:  # prose before the answer may hold brackets of its own
        value = _strict(answer[start:])
        if key in mapping(value) or (listing(value) and all(map(_is_item, listing(value)))):
            items = _items_of(value, key)
            if items is not None:
                return items
        begins = value is None and _JSON_BEGINS.match(answer, start)
        if not body and (begins or _is_item(value)):
            body = answer[start:]
    return _items_of_broken(body or _unfenced(answer), key, cut)


def _without_reasoning(text: str) -> str:
    """The text from the end of the reasoning on; marks inside an answer belong to its strings."""
    text = text.strip()
    if text.startswith(("{", "[", _FENCE)):
        return text
    closing = _END_OF_REASONING.search(text)
    if closing and not _REASONING.search(text, 0, closing.start()):
        text = text[closing.end() :]  # some chat templates swallow the opening
    position = 0
    while (mark := _REASONING_OR_BRACKET.search(text, position)) and mark["reasoning"]:
        closing = _END_OF_REASONING.search(text, mark.end())
        if not closing:  # cut off while reasoning: what follows is no answer
            return ""
        position = closing.end()
    return text[position:].strip()


def _unfenced(answer: str) -> str:
    """The text from the first bracket on, of the first fence if brackets stand in it."""
    _, _, fenced = answer.partition(_FENCE)
    if not answer.startswith(("{", "[")) and (inside := _BRACKET.search(fenced)):
        return fenced[inside.start() :]
    found = _BRACKET.search(answer)
    return answer[found.start() :] if found else answer


def _items_of_broken(body: str, key: str, cut: bool) -> list[Any]:
    """The items of an answer that is not strictly the JSON it was asked for."""
    for value in (_strict(body), _complete_items(body, key, cut)):
        items = _items_of(value, key)
        if items is not None:
            return items
    if cut or _ends_early(body):
        raise ReplyUnusable("the model's reply ends in the middle")
    items = _items_of(_repaired(body), key)
    if items is None:
        raise ReplyUnusable("the model's reply is no usable JSON")
    return items


def _strict(body: str) -> object:
    try:
        value, _end = json.JSONDecoder().raw_decode(body)
    except (ValueError, RecursionError):
        return None
    return value


def _complete_items(body: str, key: str, cut: bool) -> list[Any] | None:
    """The items that are whole, in order, of a list that is closed or ends in the middle."""
    start = re.match(rf'\s*(?:\{{\s*"{re.escape(key)}"\s*:\s*)?\[\s*', body)
    if not start:
        return None
    decoder = json.JSONDecoder()
    items: list[Any] = []
    position = start.end()
    while position < len(body):
        if body[position] == "]":
            return items
        try:
            item, position = decoder.raw_decode(body, position)
        except RecursionError:
            return None
        except ValueError as error:
            # Broken in the middle is a case for repair, unless the provider said it was cut.
            return (items or None) if cut or _at_end(body, error) else None
        items.append(item)
        position = _after_comma(body, position)
    return items or None


def _ends_early(body: str) -> bool:
    try:
        json.JSONDecoder().raw_decode(body)
    except (ValueError, RecursionError) as error:
        return _at_end(body, error)
    return False


def _at_end(body: str, error: Exception) -> bool:
    if not isinstance(error, json.JSONDecodeError):
        return False
    # An unterminated string is reported at its start, everything else where reading stopped.
    if error.msg.startswith("Unterminated string"):
        return True
    return _BROKEN_OFF.match(body.rstrip(), error.pos) is not None


def _after_comma(body: str, position: int) -> int:
    while position < len(body) and body[position] in " \t\r\n,":
        position += 1
    return position


def _repaired(body: str) -> object:
    """What ``json-repair`` makes of a text that ends with a closing bracket."""
    body = body.partition(f"\n{_FENCE}")[0]
    end = max(body.rfind("}"), body.rfind("]")) + 1
    if not end or end > _LARGEST_REPAIR or not _AFTER_ANSWER.match(body, end):
        return None
    repair = soft_import("json_repair", "broken replies of models are not repaired")
    if repair is None:
        return None
    try:
        return cast(object, repair.loads(body[:end]))
    except (ValueError, RecursionError):
        return None


def _is_item(value: object) -> bool:
    return bool({"operation", "id"} & mapping(value).keys())


def _items_of(value: object, key: str) -> list[Any] | None:
    if isinstance(value, list):
        items = listing(cast(object, value))
        # A list of numbers or words is some other list, found in prose.
        return items if all(isinstance(item, dict) for item in items) else None
    fields = mapping(value)
    if key in fields:
        inner: object = fields[key]
        if isinstance(inner, dict):
            return [inner]
        return listing(cast(object, inner)) if isinstance(inner, list) else None
    return [fields] if _is_item(fields) else None
