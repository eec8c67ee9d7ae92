"""The fields of a reply that is one JSON object, each read and bounded by itself.

A field that is missing, of another type, out of its range or too long is absent: half a sentence
is not what was said, and no field spoils another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from adaptive.llm.reply import read_object
from adaptive.model import Completion
from adaptive.shapes import listing, number, plain_name, share

_MOST_VALUES_READ = 100
_LONGEST_VALUE_READ = 20_000
# Controls and halves of characters, which databases refuse.
_UNUSABLE_SIGNS = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_FORM_TEXT = re.compile(r"<[^<>]*>|\.{3}|\u2026")


class ReplyFields:
    """A reply's object; names of fields are compared without case, underscores and hyphens."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = {plain_name(str(name)): value for name, value in fields.items()}

    def value(self, name: str) -> Any:
        """What stands there, whatever it is; ``None`` where nothing does."""
        return self._fields.get(plain_name(name))

    def line(self, name: str, longest: int) -> str:
        """A text on one line of at most so many characters, else an empty one."""
        return reply_line(self.value(name), longest)

    def lines(self, name: str, most: int, longest: int, *, split: bool = False) -> tuple[str, ...]:
        """The first different texts of a list; of one text that commas ``split`` its parts."""
        value = self.value(name)
        found: Sequence[Any] = listing(value)
        if isinstance(value, str):
            found = re.split(r"[,;\n]", value[:_LONGEST_VALUE_READ]) if split else [value]
        return distinct_lines([reply_line(one, longest) for one in found[:_MOST_VALUES_READ]], most)

    def score(self, name: str, highest: float) -> float | None:
        """A number from 0 to ``highest``, also one that is written as a text or as ``7/10``."""
        value = self.value(name)
        if isinstance(value, str):
            value = value.strip().removesuffix(f"/{highest:g}")
        read = number(value)
        return read if read is not None and 0 <= read <= highest else None

    def share(self, name: str) -> float | None:
        """A number from 0 to 1; 90 and "90%" are 0.9, a bare 9 may be anything."""
        return share(self.value(name))


def reply_fields(completion: Completion, key: str, marks: Sequence[str]) -> ReplyFields:
    """The last object of a reply that has one of the fields ``marks``; ``key`` may wrap it.

    Raises:
        ReplyUnusable: there is no such object, or it is not whole.
    """
    known = frozenset(map(plain_name, marks))

    def is_object(fields: Mapping[str, Any]) -> bool:
        """Whether a field is one of the known ones."""
        return not known.isdisjoint(map(plain_name, fields))

    return ReplyFields(read_object(completion, key, is_object))


def reply_line(value: object, longest: int) -> str:
    """A text without line breaks and unstorable characters; empty where it is none or too long.

    So is what a model only repeats from the form that it was given: ``...`` or ``<a title>``.
    """
    if not isinstance(value, str) or len(value) > _LONGEST_VALUE_READ:
        return ""
    line = " ".join(_UNUSABLE_SIGNS.sub("", value).split())
    return "" if len(line) > longest or _FORM_TEXT.fullmatch(line) else line


def distinct_lines(lines: Sequence[str], most: int) -> tuple[str, ...]:
    """The first so many that are not empty and differ in more than case."""
    kept: dict[str, str] = {}
    for line in lines:
        if line:
            kept.setdefault(line.casefold(), line)
    return tuple(kept.values())[:most]
