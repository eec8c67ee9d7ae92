"""The many names that models give to one thing, read as the one name that the prompt asks for.

A name is taken for another where it can mean one thing only. Case, underscores and hyphens do not
count. A name with two uses (`type`, `action`, `memory`, ...) is read by what stands under it: an
operation's word, a category, an id that was offered. Where two names of one thing say different
things, the item says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from adaptive.llm.envelope import plain_name
from adaptive.llm.loose_json import JsonObject
from adaptive.model import CATEGORIES
from adaptive.shapes import listing, mapping

NO_OPERATION = "NONE"

_FIELD_NAMES: Mapping[str, str] = {
    "operation": "operation op operationtype optype",
    "id": "id ids memoryid memoryids memid targetid existingid",
    "content": "content text fact statement sentence newcontent updatedcontent memorycontent",
    "tags": "tags tag category categories",
    "memory_bank": "memorybank bank",
    "confidence": "confidence confidencescore",
    "importance": "importance importancescore",
    "kind": "kind",
}
# Names with other uses, taken for `operation` where one of its words stands there.
_SOMETIMES_OPERATION = frozenset({"action", "event", "type", "name", "command", "function", "tool"})
_OPERATION_WORDS: Mapping[str, str] = {
    "NEW": "new add create insert save store remember record append memorize memorise",
    "UPDATE": "update edit modify replace change revise refine correct amend overwrite",
    "DELETE": "delete remove forget erase del purge",
    NO_OPERATION: "none noop keep ignore skip unchanged nochange nochanges nothing",
}
# What stands beside the word in a tool's name, as in `add_memory`.
_FILLERS = frozenset({"memory", "memories", "fact", "content", "user", "operation"})
# What may hold the fields of an item, as the arguments of a tool's call do.
_INNER_TEXT = "arguments args parameters params input function memory operation op item"
_INNER = frozenset(_INNER_TEXT.split())
_MOST_LAYERS = 4
_KINDS = frozenset({"fact", "meta"})
# What some models put into a list or an object of its own.
_OF_ONE_VALUE = frozenset({"operation", "id", "content", "kind"})
# Where two values make it unclear what is to be done; of other fields one is taken.
_DECISIVE = ("operation", "id", "content", "kind", "confidence")
_WORD_PARTS = re.compile(r"[^\W_]+")
# What the prompt's form has in the place of a sentence.
_PLACEHOLDER = re.compile(r"<[^<>]*>|\.{3}|\u2026")
_LEFT_OPEN = re.compile(r"\s(?:\.{3}|\u2026)\.?$")


@dataclass(frozen=True, slots=True)
class ItemFields:
    """An item under the names of the prompt.

    Attributes:
        values: fields that are there and not null; ``operation`` is NEW, UPDATE, DELETE or NONE
            where its word is known.
        unclear: the first field that has two values, or nothing.
    """

    values: Mapping[str, Any]
    unclear: str = ""


def item_fields(item: Mapping[str, Any], ids: Collection[str] = ()) -> ItemFields:
    """The fields of one item; ``ids`` are those of the memories that were offered."""
    values: dict[str, Any] = {}
    unclear: set[str] = set()
    for name, value, twice in _layers(item):
        standard, read = _standard(name, value, ids)
        if not standard or read is None or (isinstance(read, str) and not read.strip()):
            continue
        if twice:
            unclear.add(standard)
        former = values.setdefault(standard, read)
        if standard == "tags":
            values[standard] = [*_tag_list(former), *_tag_list(read)]
        elif former is not read and former != read:
            unclear.add(standard)
    if values.get("operation") == "NEW":
        unclear.discard("id")
    if values.get("kind") in CATEGORIES:  # a category says that it is a fact, and which
        values["tags"] = [*listing(values.get("tags")), values.pop("kind")]
    return ItemFields(values, next((name for name in _DECISIVE if name in unclear), ""))


def grouped_item(name: str, element: object) -> Mapping[str, Any] | None:
    """An element that stands under the word for what is to be done, as an item that says so.

    ``None`` where the name is no such word. A text is an id where it is to be deleted, a sentence
    where it is new.
    """
    operation = _operation(name)
    if operation is None:
        return None
    if isinstance(element, dict):
        fields = cast(dict[str, Any], element)
        item = JsonObject([("op", operation), *fields.items()])
        item.twice |= fields.twice if isinstance(fields, JsonObject) else set[str]()
        return item
    return {"op": operation, "id" if operation == "DELETE" else "content": element}


def is_example(item: Mapping[str, Any]) -> bool:
    """Whether an item has neither an id nor a sentence, as one that only shows the form."""
    values = item_fields(item).values
    content = values.get("content")
    return bool(values) and all(
        one is None or (isinstance(one, str) and _PLACEHOLDER.fullmatch(one.strip()))
        for one in (values.get("id"), content)
    )


def says_placeholder(content: str) -> bool:
    """Whether a content is what the prompt's form has in the place of a sentence, or ends so."""
    return bool(_PLACEHOLDER.fullmatch(content) or _LEFT_OPEN.search(content))


def is_operation(fields: Mapping[str, Any]) -> bool:
    """Whether an object says what is to be done, and so is an item wherever it stands."""
    said = fields.get("operation")
    if said is not None and not isinstance(said, list | dict):
        return True
    return any(item_fields(fields).values.get("operation") == known for known in _OPERATION_WORDS)


def _layers(item: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """Name, value and whether the name stands twice, of an item and the objects it wraps."""
    layer: Mapping[str, Any] | None = item
    for _ in range(_MOST_LAYERS):
        if layer is None:
            return
        twice: Collection[str] = layer.twice if isinstance(layer, JsonObject) else ()
        following: Mapping[str, Any] | None = None
        for name, value in layer.items():
            inner = _inner_object(value) if plain_name(name) in _INNER else None
            if inner is None:
                yield name, value, name in twice
            else:
                following = inner
        layer = following


def _inner_object(value: object) -> Mapping[str, Any] | None:
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            value = cast(object, json.loads(value, object_pairs_hook=JsonObject))
        except (ValueError, RecursionError):
            return None
    return mapping(value) or None


@cache
def _standard_names() -> dict[str, str]:
    return {name: standard for standard, names in _FIELD_NAMES.items() for name in names.split()}


@cache
def _operation_words() -> dict[str, str]:
    return {
        word: operation for operation, words in _OPERATION_WORDS.items() for word in words.split()
    }


def _standard(name: str, value: Any, ids: Collection[str]) -> tuple[str, Any]:
    """The standard name of a field and its value; no name where the field is not known."""
    plain = plain_name(name)
    if _standard_names().get(plain) in _OF_ONE_VALUE:
        value = _single(value)
    operation = _operation(value)
    standard = _standard_names().get(plain, "")
    if standard == "operation":
        return standard, operation or value
    if plain in _SOMETIMES_OPERATION and operation:
        return "operation", operation
    word = value.strip().lower() if isinstance(value, str) else ""
    if plain == "type" and word in _KINDS:
        return "kind", word
    if plain == "type" and word in CATEGORIES:
        return "tags", word
    if plain == "memory" and isinstance(value, str):
        return ("id", value) if value.strip() in ids else ("content", value)
    if standard == "kind":
        parts = frozenset(_WORD_PARTS.findall(word)) & _KINDS
        return standard, next(iter(parts)) if len(parts) == 1 else word or value
    if standard == "content" and plain != "content" and not isinstance(value, str):
        return "", None
    return standard, value


def _single(value: object) -> object:
    """The one value in a list or an object that holds nothing else."""
    if isinstance(value, list):
        values = cast(list[object], value)
        return _single(values[0]) if len(values) == 1 else values
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        texts = [one for one in fields.values() if one is not None]
        named = all(plain_name(name) in _standard_names() for name in fields)
        held = texts[0] if len(texts) == 1 and named else None
        return held if isinstance(held, str | int) else fields
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _operation(value: object) -> str | None:
    if not isinstance(value, str) or len(value) > 40:
        return None
    parts = [part for part in _WORD_PARTS.findall(value.lower()) if part not in _FILLERS]
    return _operation_words().get("".join(parts))


def _tag_list(value: object) -> list[str]:
    """Tags as a list: models also write one of them, or several in one text."""
    if isinstance(value, str):
        return [part.strip() for part in re.split(r"[,;|/]", value)]
    return [tag for tag in listing(value) if isinstance(tag, str)]
