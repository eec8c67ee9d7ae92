"""One question to a model: its prompt, the strictest answer format, retries and a deadline."""

import asyncio
import math
import re
import string
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from adaptive.core import (
    PROMPTS,
    USER_ID,
    Completer,
    Completion,
    CompletionRequest,
    JsonMapping,
    JsonObject,
    ModelBusy,
    ModelError,
    Phrase,
    ReplyUnusable,
    ResponseFormat,
    UserCache,
    listing,
    tally,
)
from adaptive.llm.reply import ONLY_REASONING, plain_name, read_object

_FIRST_PAUSE_SECONDS = 1.0
# Who asks for a longer pause has a quota, which no retry brings back.
_LONGEST_PAUSE_SECONDS = 60.0
# A model that is seen to think is asked the first question again, without thinking.
_WITHOUT_THINKING = 1
_FORMATS: tuple[ResponseFormat, ...] = (
    "json_schema",
    "json_schema",
    "json_object",
    "text",
)
_TEXT_FORMATS: tuple[ResponseFormat, ...] = (
    "limited_text",
    "limited_text",
    "text",
)
# What a provider answers that does not know a response format, or breaks under it.
_FORMAT_REFUSED = frozenset({400, 404, 415, 422, 500, 501, 502})
_MODELS_REMEMBERED = 1000
_DAY_SECONDS = 24 * 3600.0

AnswerRead = TypeVar("AnswerRead")


def may_be_the_format(error: ModelError) -> bool:
    """Whether another format of the answer may help against an error."""
    is_unusable = isinstance(error, ReplyUnusable)
    return is_unusable or error.status in _FORMAT_REFUSED


class AnswerFormats:
    """How each model is best asked, learned from what it answers, and when its quota is back.

    Models are known by their ``key``; after a day the strictest form is tried again. ``spent`` is
    what they were asked for each user since that was written down last.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._quota_back_at: dict[str, float] = {}
        self.spent: dict[str, Counter[str]] = defaultdict(Counter[str])
        # Of the format that worked last, by the model's key and the formats there are.
        self.places = UserCache[int](
            _MODELS_REMEMBERED, seconds=_DAY_SECONDS, now=now
        )

    def check_quota(
        self, key: str, pause: float = 0.0, detail: str = ""
    ) -> None:
        """Raise ``ModelBusy`` while a model's quota is spent, as a ``pause`` too long to wait tells."""
        if pause > _LONGEST_PAUSE_SECONDS:
            self._quota_back_at[key] = self._now() + min(pause, _DAY_SECONDS)
        left = self._quota_back_at.get(key, 0.0) - self._now()
        if left > 0:
            raise ModelBusy(
                Phrase("quota_spent", n=math.ceil(left / 60)),
                retry_after=left,
                detail=detail,
            )


async def ask(
    completer: Completer,
    request: CompletionRequest,
    formats: AnswerFormats,
    timeout: float,
    read: Callable[[Completion], AnswerRead],
    retries: int = 0,
) -> AnswerRead:
    """What is read in a model's answer, within ``timeout`` seconds over all tries and formats.

    ``read`` raises ``ReplyUnusable`` where an answer holds nothing of what was asked for, and the
    next format is tried, as after a refusal. A busy model is asked again, after pauses that double
    or that its provider asks for.

    Raises:
        ModelError: no answer in time, or no usable one in any format.
    """
    name = request.schema_name
    usable = _TEXT_FORMATS if request.schema is None else _FORMATS
    key = (completer.key, usable)
    remembered = formats.places.get(key) or 0
    place = remembered
    shortest_pause = _FIRST_PAUSE_SECONDS
    pause = 0.0
    formats.check_quota(completer.key)
    try:
        async with asyncio.timeout(timeout):
            while True:
                await asyncio.sleep(pause)
                sent = replace(request, thinking=place != _WITHOUT_THINKING)
                began = time.monotonic()
                used = Counter(calls=1)
                try:
                    completion = await completer.complete(sent, usable[place])
                    used["tokens_in"], used["tokens_out"] = completion.tokens
                    answer = read(completion)
                    break
                except ModelError as error:
                    tally("model_failures", name)
                    if may_be_the_format(error) and place + 1 < len(usable):
                        thinks = error.args[:1] == (ONLY_REASONING,)
                        place += 1 if place or thinks else 2
                        pause = 0.0
                        continue
                    if not isinstance(error, ModelBusy):
                        raise
                    asked_for = error.retry_after or 0.0
                    formats.check_quota(completer.key, asked_for, error.detail)
                    if not retries:
                        raise
                    retries -= 1
                    pause = max(shortest_pause, asked_for)
                    shortest_pause *= 2
                finally:
                    passed = time.monotonic() - began
                    used["milliseconds"] = round(1000 * passed)
                    formats.spent[USER_ID.get()] += used
                    for kind, count in used.items():
                        tally(f"model_{kind}", name, count)
    except TimeoutError as error:
        tally("model_failures", name)
        raise ModelBusy(detail=f"no answer within {timeout:g} s") from error
    working = place or int(completion.reasoned)
    # That is looked at again after a day, however often it works.
    if working != remembered:
        formats.places.put(key, working)
    return answer


def render_prompt(name: str, values: Mapping[str, str]) -> str:
    """The prompt of that name, with its ``$placeholders`` filled."""
    return string.Template(PROMPTS[name]).substitute(values).strip()


def number(value: object) -> float | None:
    """A finite number, also one that is written as a text: ``7``, ``7/10``; ``90%`` is 0.9."""
    if isinstance(value, bool):
        return None
    try:
        text = str(value).replace(",", ".").strip().removesuffix("/10")
        read = float(text.rstrip("% "))
    except ValueError:
        return None
    if text.endswith("%"):
        read /= 100
    return read if math.isfinite(read) else None


def share(value: object) -> float | None:
    """A number from 0 to 1; 90 and "90%" are 0.9, a bare 9 may be anything."""
    read = number(value)
    if read is None:
        return None
    if 10 < read <= 100:
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
Chance = Annotated[float, BeforeValidator(share)]

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
    names = {plain_name(name): name for name in fields.model_fields}

    def has_a_field(item: JsonMapping) -> bool:
        """Whether an object of the reply is the table."""
        return any(plain_name(name) in names for name in item)

    def read(completion: Completion) -> Fields:
        """The table, without the fields that can't be read."""
        item = read_object(completion, request.schema_name, has_a_field)
        values = {
            names.get(plain_name(name), ""): value
            for name, value in item.items()
        }
        try:
            return fields.model_validate(values)
        except ValidationError as error:
            for wrong in error.errors():
                values.pop(str(wrong["loc"][0]), None)
            return fields.model_validate(values)

    return await ask(completer, request, formats, seconds, read, retries)


def fields_schema(fields: type[BaseModel]) -> JsonObject:
    """The JSON schema of a reply with all fields of a table."""
    properties: JsonObject = {}
    for name, schema in fields.model_json_schema()["properties"].items():
        properties[name] = {
            key: schema[key] for key in ("type", "items") if key in schema
        }
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
    }
