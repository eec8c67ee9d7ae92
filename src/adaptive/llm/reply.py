"""A model's reply as text to the items, or the one object, in it.

Read are an object with the list asked for, a bare list, an item or several in a row; in fences and
prose, behind reasoning, and in a wrapper. Of a cut reply whole items only are kept.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace

from adaptive.core import (
    Completion,
    Json,
    JsonMapping,
    Phrase,
    ReplyUnusable,
    compiled_patterns,
    frozen,
    listing,
    mapping,
)

# Why a reply can't be used; only administrators are told, but for the one of a model that thinks.
_TOO_LONG = "it is far too long"
_EMPTY = "it is empty"
ONLY_REASONING = Phrase("only_reasoned")
_CUT = "it ends in the middle"
_NO_JSON = "it is no JSON of this form"
_SEVERAL = "it holds several answers that differ"
# Ten times what is asked for; more would hold up the event loop.
_LONGEST_REPLY = 128 * 1024
_MOST_MARKS = 64
_DEEPEST = 8
_FORMS = compiled_patterns("reply_forms")
# An object that says two things under one name says nothing.
_DECODER = json.JSONDecoder(
    strict=False,
    object_pairs_hook=lambda pairs: (
        dict(pairs) if len(dict(pairs)) == len(pairs) else {}
    ),
)
ItemTest = Callable[[JsonMapping], bool]


@frozen
class ReplyItems:
    """What a reply holds, whether in a list, which is an answer as a whole, and its end missing."""

    items: list[Json]
    listed: bool = True
    cut: bool = False


def read_items(
    completion: Completion, key: str, is_item: ItemTest
) -> ReplyItems:
    """The items of a reply; outside of the list under ``key`` one is known by ``is_item``.

    Raises:
        ReplyUnusable: there is no list and no item. Its text quotes nothing of the reply.
    """
    text = completion.text.strip("\ufeff \t\r\n")
    if not text or len(text) > _LONGEST_REPLY:
        raise ReplyUnusable(detail=_TOO_LONG if text else _EMPTY)
    read: ReplyItems | None = None
    between = ""
    state = "whole"
    reason: str = _NO_JSON
    for _ in range(_MOST_MARKS):
        mark = _FORMS["mark"].search(text)
        if mark is None:
            break
        between += text[: mark.start()]
        rest = text[mark.end() :]
        if mark["opening"]:
            closing = _FORMS["closing"].search(rest)
            text = rest[closing.end() :] if closing else ""
            reason = ONLY_REASONING
        elif mark["closing"]:
            # The opening is missing: all before was reasoning.
            text = rest
            read = None
            reason = ONLY_REASONING
        else:
            value, state, text = _value(text[mark.start() :], key)
            if state == "broken":
                raise ReplyUnusable(
                    detail=_CUT if completion.cut else _NO_JSON
                )
            reason = _NO_JSON
            found = _found(value, key, is_item)
            if found and (
                value != [] or _FORMS["no word"].fullmatch(text[:1000])
            ):
                read = _joined(read, found, between) if read else found
                between = ""
    if not read:
        is_cut = state == "cut" or (completion.cut and reason == _NO_JSON)
        if reason == ONLY_REASONING and not is_cut:
            raise ReplyUnusable(ONLY_REASONING)
        raise ReplyUnusable(detail=_CUT if is_cut else reason)
    return replace(
        read, cut=state == "cut" or (completion.cut and not read.listed)
    )


def read_object(
    completion: Completion, key: str, is_item: ItemTest
) -> JsonMapping:
    """The last object of a reply that ``is_item``; raises ``ReplyUnusable`` without one."""
    for item in map(
        mapping, reversed(read_items(completion, key, is_item).items)
    ):
        if is_item(item):
            return item
    raise ReplyUnusable(detail=_NO_JSON)


def without_reasoning(text: str) -> str:
    """What a reply says behind its reasoning; nothing where that has no end."""
    answer = _FORMS["closing"].split(text)[-1]
    return _FORMS["opening"].split(answer, maxsplit=1)[0]


def _joined(before: ReplyItems, after: ReplyItems, between: str) -> ReplyItems:
    """All items; of lists with words between them the second, if it holds those of the first."""
    if (before.listed or after.listed) and not _FORMS["no word"].fullmatch(
        between
    ):
        if before.items != after.items[: len(before.items)]:
            raise ReplyUnusable(detail=_SEVERAL)
        return after
    return ReplyItems(before.items + after.items, after.listed)


def _found(
    value: object, key: str, is_item: ItemTest, level: int = 0
) -> ReplyItems | None:
    """The items in a value, ``None`` where it is no answer."""
    if isinstance(value, str):
        value = _json_in(value, key)
    items = listing(value)
    if value == [] or any(is_item(mapping(item)) for item in items):
        return ReplyItems(items)
    fields = mapping(value)
    plain = {plain_name(name): field for name, field in fields.items()}
    answer: Json = plain.get(plain_name(key))
    if answer == [] or listing(answer):
        return ReplyItems(listing(answer))
    if is_item(fields):
        return ReplyItems([fields], listed=False)
    if level == _DEEPEST:
        return None
    if not items and answer:
        items = [answer]
    elif not items:
        items = [
            field
            for name, field in plain.items()
            if _FORMS["wrapper"].fullmatch(name)
        ]
    parts = [_found(item, key, is_item, level + 1) for item in items]
    found = [part for part in parts if part]
    return found[0] if len(found) == 1 else None


def _json_in(text: str, key: str) -> object:
    """The JSON that a text is, or the text."""
    text = text.strip("` \njson")
    if text[:1] not in ("[", "{"):
        return text
    value, state, _ = _value(text, key)
    return value if state == "whole" else None


def _value(text: str, key: str) -> tuple[object, str, str]:
    """The value at the beginning of a text, of a cut one its list's whole items; state; rest."""
    value, state, end = _decoded(text, 0)
    if state == "whole" or not _FORMS["named"].match(text):
        return value, "whole", text[end or 1 :]
    begin = re.search(rf'"{key}"\s*+:\s*+\[', text, re.IGNORECASE) or re.match(
        r"\[", text
    )
    # In a sentence whose quotes are broken it were no list of the reply's.
    if not begin or _decoded(text[: begin.start()] + '"":0', 0)[1] == "broken":
        return value, state, ""
    items = list[object]()
    end = begin.end()
    while True:
        gap = _FORMS["gap"].match(text, end)
        begins = gap.end() if gap else end
        if text[begins : begins + 1] == "]":
            return {key: items}, "whole", ""
        value, state, end = _decoded(text, begins)
        if state != "whole":
            return {key: items} if items else None, state, ""
        items.append(value)


def _decoded(text: str, start: int) -> tuple[object, str, int]:
    """The JSON value at a place, whether it is whole, cut or broken, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        position = error.pos if isinstance(error, json.JSONDecodeError) else 0
        is_cut = position >= len(text.rstrip()) or str(error).startswith(
            "Unterminated"
        )
        return None, "cut" if is_cut else "broken", 0
    return value, "whole", end


def plain_name(name: str) -> str:
    """A field's name without case, underscores, hyphens and spaces."""
    return re.sub(r"[\W_]+", "", name).casefold()
