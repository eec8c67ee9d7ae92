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
    "id": "id memoryid memid targetid existingid",
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
    "NEW": "new add create insert save store remember",
    "UPDATE": "update edit modify replace change revise",
    "DELETE": "delete remove forget erase",
    NO_OPERATION: "none noop keep ignore skip unchanged nochange nothing",
}
# What stands beside the word in a tool's name, as in `add_memory`.
_FILLERS = frozenset({"memory", "memories", "fact", "content", "user", "operation"})
# What may hold the fields of an item, as the arguments of a tool's call do.
_INNER = frozenset({"arguments", "args", "parameters", "params", "input", "function", "memory"})
_MOST_LAYERS = 4
_KINDS = frozenset({"fact", "meta"})
# Where two values make it unclear what is to be done; of other fields one is taken.
_DECISIVE = ("operation", "id", "content", "kind", "confidence")
_WORD_PARTS = re.compile(r"[^\W_]+")


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
        return standard, word or value
    if standard == "content" and plain != "content" and not isinstance(value, str):
        return "", None
    return standard, value


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
