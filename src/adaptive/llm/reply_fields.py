"""The fields of a reply that is one JSON object: what is asked for, and how each is read.

A field that is missing, of another type, out of its range or too long has its default: half a
sentence is not what was said, and no field spoils another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.reply import read_object
from adaptive.model import Completion, CompletionRequest
from adaptive.ports import Completer
from adaptive.retry import RetryPolicy
from adaptive.shapes import listing, mapping, number, plain_name, share

_MOST_VALUES_READ = 100
_LONGEST_VALUE_READ = 20_000
# Controls and halves of characters, which databases refuse.
_UNUSABLE_SIGNS = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# What a model only repeats from the form that it was given.
_FORM_TEXT = re.compile(r"<[^<>]*>|\.{3}|\u2026")


@dataclass(frozen=True, slots=True)
class ReplyField:
    """One field: its JSON schema, and how its value is read, whatever stands there."""

    schema: Mapping[str, Any]
    read: Callable[[object], Any]


ReplyTable = Mapping[str, ReplyField]


def text_field(longest: int, read: Callable[[str], str] = str) -> ReplyField:
    """A text on one line of at most so many characters, empty where there is none."""
    return ReplyField({"type": "string"}, lambda value: read(_line(value, longest)))


def texts_field(most: int, longest: int, *, split: bool = False) -> ReplyField:
    """The first different texts of a list; a text in its place may be ``split`` at commas."""
    schema = {"type": "array", "items": {"type": "string"}}
    return ReplyField(schema, partial(_lines, most=most, longest=longest, split=split))


def score_field(highest: float) -> ReplyField:
    """A number from 0 to ``highest``, also as a text or as ``7/10``; 0 where there is none."""
    return ReplyField({"type": "number"}, partial(_score, highest=highest))


def share_field() -> ReplyField:
    """A number from 0 to 1 or a percentage; 0 where there is none."""
    return ReplyField({"type": "number"}, lambda value: share(value) or 0.0)


def reply_schema(table: ReplyTable) -> dict[str, Any]:
    """The JSON schema of a reply with all fields of a table."""
    properties = {name: field.schema for name, field in table.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


@dataclass(frozen=True, slots=True)
class FieldsAsker:
    """A model that is asked for the fields of a table, within so many seconds over all tries."""

    completer: Completer
    formats: AnswerFormats
    deadline: float
    retries: int = 0

    async def ask(
        self, name: str, system: str, user: str, table: ReplyTable, most_tokens: int
    ) -> dict[str, Any]:
        """The values of the fields; ``name`` is that of the schema, and may wrap the reply.

        Raises:
            ModelBusy, ModelRejected: there is no answer.
            ReplyUnusable: it has none of the fields.
        """
        request = CompletionRequest(system, user, name, reply_schema(table), most_tokens)
        policy = RetryPolicy(retries=self.retries)
        completion = await ask(self.completer, request, self.formats, policy, self.deadline)
        return read_fields(completion, name, table)


def read_fields(completion: Completion, key: str, table: ReplyTable) -> dict[str, Any]:
    """The values of a table's fields in a reply's last object that has one; ``key`` may wrap it.

    Names of fields are compared without case, underscores and hyphens.

    Raises:
        ReplyUnusable: there is no such object, or it is not whole.
    """
    known = frozenset(map(plain_name, table))

    def is_object(found: Mapping[str, Any]) -> bool:
        """Whether it has one of the fields."""
        return not known.isdisjoint(map(plain_name, found))

    found = read_object(completion, key, is_object)
    values = {plain_name(str(name)): value for name, value in found.items()}
    return {name: field.read(values.get(plain_name(name))) for name, field in table.items()}


def _line(value: object, longest: int) -> str:
    """A text without line breaks and unstorable characters; of an object, its ``content``."""
    value = mapping(value).get("content", value)
    if not isinstance(value, str) or len(value) > _LONGEST_VALUE_READ:
        return ""
    line = " ".join(_UNUSABLE_SIGNS.sub("", value).split())
    return "" if len(line) > longest or _FORM_TEXT.fullmatch(line) else line


def _lines(value: object, most: int, longest: int, split: bool) -> tuple[str, ...]:
    found = listing(value)
    if isinstance(value, str):
        found = re.split(r"[,;\n]", value[:_LONGEST_VALUE_READ]) if split else [value]
    kept: dict[str, str] = {}
    for one in found[:_MOST_VALUES_READ]:
        if line := _line(one, longest):
            kept.setdefault(line.casefold(), line)
    return tuple(kept.values())[:most]


def _score(value: object, highest: float) -> float:
    if isinstance(value, str):
        value = value.strip().removesuffix(f"/{highest:g}")
    read = number(value)
    return read if read is not None and 0 <= read <= highest else 0.0
