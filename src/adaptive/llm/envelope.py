"""The items in a parsed reply, whatever they are wrapped in.

Taken are, and nothing else is:

- the list under the key that was asked for, a single object there, and lists within that list;
- an item that says itself what it is, bare or in a list without a name;
- one of these under a name that is known to be a wrapper (`result`, `arguments`, ...), also
  where it is there as a string of JSON;
- several of these in one list, as calls of a tool come;
- items that stand under numbers, or under the word for what is to be done with them.

An object that is not whole is no item: half a sentence is not what was said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from adaptive.llm.loose_json import JsonList, JsonObject, read_loosely, read_strictly
from adaptive.shapes import mapping

_DEEPEST_ENVELOPE = 10
_ENVELOPE_NAMES = """
    result results response output answer final finalanswer reply data json payload body return
    function functions functioncall toolcall toolcalls tool arguments args parameters params input
    choices message content text
    memories memory facts items actions changes updates operation memoryoperations
    properties
"""
# A schema has the list's name there too, and no list under it.
_SCHEMA_NAME = "properties"
_REMARK_NAMES = """
    reasoning reason reasons thought thoughts thinking explanation comment comments note notes
    rationale analysis summary
"""
_NUMBERED_NAME = re.compile(r"(?:operation|op|item|memory|fact)?\d{1,4}")
_FENCE_AROUND = re.compile(r"\s*+```\w*\s*+")
_NO_LETTER = re.compile(r"[\W_]+")


@cache
def _envelope_names() -> frozenset[str]:
    return frozenset(_ENVELOPE_NAMES.split())


@cache
def _remarks() -> frozenset[str]:
    return frozenset(_REMARK_NAMES.split())


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """What a reply was asked for.

    Attributes:
        key: the name of its list.
        is_item: what marks an item outside of it.
        grouped_item: what a name over an element makes of that, ``None`` where it is no name of a
            group; for replies that sort the items by what is to be done.
        is_void: whether an item only repeats the form and says nothing.
    """

    key: str
    is_item: Callable[[Mapping[str, Any]], bool]
    grouped_item: Callable[[str, object], Mapping[str, Any] | None] = lambda _name, _element: None
    is_void: Callable[[Mapping[str, Any]], bool] = lambda _item: False


@dataclass(frozen=True, slots=True)
class Found:
    """Items in the order in which they stand.

    Attributes:
        items: what stands in the list, objects or not.
        listed: whether they were in a list, which is an answer as a whole.
        finished: false where the list or an item in it is not whole.
        bare: whether it is a list without a name.
    """

    items: list[Any]
    listed: bool = True
    finished: bool = True
    bare: bool = False


def found_items(value: object, form: ReplyForm, level: int = 0) -> Found | None:
    """The items in a value, or ``None`` where it is no answer."""
    if level >= _DEEPEST_ENVELOPE:
        return None
    if isinstance(value, str):
        return _in_text(value, form, level)
    if isinstance(value, list):
        return _in_list(cast(list[object], value), form, level)
    fields = mapping(value)
    if form.key in fields:
        return _under_key(fields[form.key], form, level)
    if form.is_item(fields):
        whole = is_whole(fields)
        return Found([fields] if whole else [], listed=False, finished=whole)
    return _sorted_out(fields, form, level) or _wrapped(fields, form, level)


def is_whole(box: object) -> bool:
    """Whether an object or a list was closed."""
    return box.whole if isinstance(box, JsonObject | JsonList) else True


def plain_name(name: str) -> str:
    """A field's name without case, underscores, hyphens and spaces."""
    return _NO_LETTER.sub("", name).casefold()


def _in_text(text: str, form: ReplyForm, level: int) -> Found | None:
    """The items of a string that is JSON from its beginning on, in a fence or not."""
    fence = _FENCE_AROUND.match(text)
    start = fence.end() if fence else len(text) - len(text.lstrip())
    if text[start : start + 1] not in ("{", "["):
        return None
    reading = read_strictly(text, start) or read_loosely(text, start)
    return found_items(reading.value, form, level + 1)


def _in_list(values: list[object], form: ReplyForm, level: int) -> Found | None:
    """The items of a list without a name; of numbers or words it is some other list."""
    if not values:
        return Found([], bare=True) if is_whole(values) else None
    if any(form.key not in mapping(one) and form.is_item(mapping(one)) for one in values):
        return _elements(values, form, level, bare=True)
    parts = [found_items(one, form, level + 1) for one in values if not isinstance(one, str)]
    found = [part for part in parts if part and (part.items or not part.bare)]
    return _together(found) if found else None


def _under_key(inner: object, form: ReplyForm, level: int) -> Found | None:
    if isinstance(inner, list):
        return _elements(cast(list[object], inner), form, level, bare=False)
    if isinstance(inner, str):
        return _in_text(inner, form, level)
    if not isinstance(inner, dict):
        return None
    single = cast(dict[str, object], inner)
    if form.key in single:
        return found_items(single, form, level + 1)
    if not form.is_item(single) and (found := _sorted_out(single, form, level)):
        return found
    return Found([single] if is_whole(single) else [], finished=is_whole(single))


def _elements(values: list[object], form: ReplyForm, level: int, *, bare: bool) -> Found:
    """What stands in a list of items: they themselves, and what stands in lists within it."""
    items: list[Any] = []
    finished = is_whole(values)
    for value in values:
        opened = _opened(value, form, level)
        if opened is None:
            items.append(value)
            continue
        items += opened.items
        finished = finished and opened.finished
    return Found(items, finished=finished, bare=bare)


def _opened(value: object, form: ReplyForm, level: int) -> Found | None:
    """What an element holds that is not an item itself, ``None`` where it is one."""
    if level >= _DEEPEST_ENVELOPE:
        return None
    if isinstance(value, list):
        inner = cast(list[object], value)
        holds = any(isinstance(one, dict | list) for one in inner)
        return _elements(inner, form, level + 1, bare=True) if holds else None
    if isinstance(value, str):
        return _in_text(value, form, level)
    fields = mapping(value)
    if form.key in fields:
        return found_items(value, form, level + 1)
    if not is_whole(value):
        return Found([], finished=False)
    return None if not fields or form.is_item(fields) else _grouped(fields, form)


def _sorted_out(fields: Mapping[str, Any], form: ReplyForm, level: int) -> Found | None:
    """The items under numbers, or under words for what is to be done with them."""
    if fields and all(_NUMBERED_NAME.fullmatch(plain_name(name)) for name in fields):
        numbered = JsonList(fields.values())
        numbered.whole = is_whole(fields)
        items = [mapping(one) for one in numbered]
        return (
            _elements(numbered, form, level + 1, bare=True)
            if any(map(form.is_item, items))
            else None
        )
    return _grouped(fields, form)


def _grouped(fields: Mapping[str, Any], form: ReplyForm) -> Found | None:
    """The items of an object all of whose names say what is to be done with what they hold."""
    items: list[Any] = []
    finished = is_whole(fields)
    groups = {name: inner for name, inner in fields.items() if plain_name(name) not in _remarks()}
    if not groups or any(form.grouped_item(name, {}) is None for name in groups):
        return None
    for name, inner in groups.items():
        group = cast(list[object], inner) if isinstance(inner, list) else [inner]
        finished = finished and is_whole(cast(object, inner))
        for element in group:
            if is_whole(element) and element is not None:
                items.append(form.grouped_item(name, element))
            finished = finished and is_whole(element)
    return Found(items, finished=finished)


def _wrapped(fields: Mapping[str, Any], form: ReplyForm, level: int) -> Found | None:
    """The items under the key in another spelling, or under the one wrapper that holds some."""
    key = plain_name(form.key)
    found: list[Found] = []
    for name, inner in fields.items():
        plain = plain_name(name)
        if plain == key:
            return _under_key(inner, form, level)
        if plain == _SCHEMA_NAME and not isinstance(mapping(inner).get(form.key), list):
            continue
        part = found_items(inner, form, level + 1) if plain in _envelope_names() else None
        if part and (part.items or not part.bare):
            found.append(part)
    return found[0] if len(found) == 1 else None


def _together(parts: Sequence[Found]) -> Found:
    items = [item for part in parts for item in part.items]
    return Found(items, finished=all(part.finished for part in parts))
