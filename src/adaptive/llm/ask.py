"""One question to a model: its prompt, the strictest answer format, retries and a deadline."""

from __future__ import annotations

import asyncio
import math
import re
import string
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from adaptive.core.messages import listing
from adaptive.core.providers import (
    Completer,
    Completion,
    CompletionRequest,
    ModelBusy,
    ModelError,
    ModelRejected,
    ResponseFormat,
    with_retry,
)
from adaptive.core.runtime import tally
from adaptive.core.texts import PROMPTS
from adaptive.llm.reply import plain_name, read_object

_FORMATS: tuple[ResponseFormat, ...] = ("json_schema", "json_object", "text")
# What a provider answers that does not know a response format.
_FORMAT_REFUSED = frozenset({400, 404, 415, 422, 501})

# Which answer format a model takes, by its place above, learned from refusals; by ``key``.
AnswerFormats = dict[str, int]


async def ask(
    completer: Completer,
    request: CompletionRequest,
    formats: AnswerFormats,
    timeout: float,
    retries: int = 0,
) -> Completion:
    """Ask until there is an answer, within ``timeout`` seconds over all tries and formats.

    Raises:
        ModelError: no answer in time, a refusal in every format, or an answer without text.
    """
    name = request.schema_name

    async def once(chosen: ResponseFormat) -> Completion:
        """One try, which is counted."""
        tally("model_calls", name)
        try:
            completion = await completer.complete(request, chosen)
        except (ModelError, asyncio.CancelledError):
            tally("model_failures", name)
            raise
        tokens_in, tokens_out = completion.tokens
        tally("tokens_in", name, tokens_in)
        tally("tokens_out", name, tokens_out)
        return completion

    place = formats.get(completer.key, 0)
    try:
        async with asyncio.timeout(timeout):
            while True:
                try:
                    completion = await with_retry(
                        partial(once, _FORMATS[place]), retries
                    )
                except ModelRejected as rejected:
                    place += 1
                    if rejected.status not in _FORMAT_REFUSED or place == len(
                        _FORMATS
                    ):
                        raise
                else:
                    formats[completer.key] = place
                    return completion
    except TimeoutError as error:
        raise ModelBusy(
            f"the model did not answer within {timeout:g} s"
        ) from error


def render_prompt(name: str, override: str, values: Mapping[str, str]) -> str:
    """The built-in prompt ``name``, or the admin's ``override``, with ``$placeholders`` filled.

    An override may use fewer placeholders, and dollar signs of its own stay as they are.
    """
    if override.strip():
        return string.Template(override).safe_substitute(values).strip()
    return string.Template(PROMPTS[name]).substitute(values).strip()


def number(value: object) -> float | None:
    """A finite number, also one that is written as a text: ``7``, ``7/10``, ``90%``."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        value = (
            value.replace(",", ".").strip().removesuffix("/10").rstrip("% ")
        )
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def share(value: object) -> float | None:
    """A number from 0 to 1; 90 and "90%" are 0.9, a bare 9 may be anything."""
    read = number(value)
    if read is None:
        return None
    if 10 < read <= 100 or str(value).strip().endswith("%"):
        read /= 100
    return read if 0 <= read <= 1 else None


# Databases refuse NUL and halves of characters; other control characters say nothing.
_UNSTORABLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"
)
# What a model only repeats from the form that it was given.
_FORM_TEXT = re.compile(r"<[^<>]*>|\.{3}|\u2026")


def text_line(value: object) -> str:
    """A text on one line without signs that can't be stored; empty where it is no text."""
    if not isinstance(value, str):
        return ""
    return " ".join(_UNSTORABLE.sub("", value).split())


def _line(value: object) -> str:
    line = text_line(value)
    return "" if _FORM_TEXT.fullmatch(line) else line


Line = Annotated[str, BeforeValidator(_line)]
# From 0 to 10.
Score = Annotated[float, BeforeValidator(number), Field(ge=0, le=10)]
# From 0 to 1, also as a percentage.
Chance = Annotated[float, BeforeValidator(share), Field(ge=0, le=1)]

Fields = TypeVar("Fields", bound=BaseModel)


def different_lines(most: int, longest: int) -> BeforeValidator:
    """Reads the first different texts of a list, or lines of a text, that are not too long."""

    def lines(value: object) -> tuple[str, ...]:
        texts = (
            value.splitlines() if isinstance(value, str) else listing(value)
        )
        different: dict[str, str] = {}
        for line in map(_line, texts):
            if line and len(line) <= longest:
                different.setdefault(line.casefold(), line)
        return tuple(different.values())[:most]

    return BeforeValidator(lines)


async def ask_fields(
    completer: Completer,
    formats: AnswerFormats,
    fields: type[Fields],
    request: CompletionRequest,
    seconds: float,
    retries: int = 0,
) -> Fields:
    """What a model says, within so many seconds over all tries.

    Names of fields are compared without case, underscores and hyphens.

    Raises:
        ModelBusy, ModelRejected: there is no answer.
        ReplyUnusable: it has none of the fields.
    """
    completion = await ask(completer, request, formats, seconds, retries)
    names = {plain_name(name): name for name in fields.model_fields}

    def has_a_field(item: Mapping[str, Any]) -> bool:
        """Whether an object of the reply is the table."""
        return any(plain_name(name) in names for name in item)

    item = read_object(completion, request.schema_name, has_a_field)
    values = {
        names.get(plain_name(name), ""): value for name, value in item.items()
    }
    try:
        return fields.model_validate(values)
    except ValidationError as error:
        for wrong in error.errors():
            values.pop(str(wrong["loc"][0]), None)
        return fields.model_validate(values)


class _City(BaseModel):
    city: Line = ""


async def answers_test_question(
    completer: Completer, formats: AnswerFormats, seconds: float
) -> bool:
    """Whether a model tells, in JSON, where somebody lives who says so (see ``ask_fields``)."""
    request = CompletionRequest(
        PROMPTS["doctor"], "I live in Porto.", "city", fields_schema(_City)
    )
    found = await ask_fields(completer, formats, _City, request, seconds)
    return found.city.casefold() == "porto"


def fields_schema(fields: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a reply with all fields of a table."""
    properties: dict[str, Any] = {}
    for name, schema in fields.model_json_schema()["properties"].items():
        properties[name] = {
            key: schema[key] for key in ("type", "items") if key in schema
        }
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
    }


def list_schema(
    key: str, fields: Mapping[str, Any], *required: str
) -> Mapping[str, Any]:
    """The JSON schema of one list of objects; a field is given by its type, or whole."""
    properties: dict[str, Any] = {}
    for name, field in fields.items():
        properties[name] = (
            field if isinstance(field, Mapping) else {"type": field}
        )
    item = {
        "type": "object",
        "properties": properties,
        "required": [*required],
    }
    items = {key: {"type": "array", "items": item}}
    return {"type": "object", "properties": items, "required": [key]}
