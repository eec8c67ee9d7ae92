"""Carrying memories away as JSON, and bringing in such a file or another assistant's list.

``docs/export.md`` describes both. Nothing raises on any text; nothing is judged here: what is read
goes through the gate like everything else.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic import ValidatorFunctionWrapHandler as Handler

from adaptive.core.messages import has_words, listing, mapping
from adaptive.core.model import (
    Draft,
    JsonObject,
    Memory,
    NewMemory,
    Provenance,
    frozen,
)
from adaptive.llm.ask import Line, text_line
from adaptive.search.tokens import comparable

_MOST_MEMORIES = 5000
_LONGEST_CONTENT = 4000
_LONGEST_LINE = 300
_EXPORTED = ("tags", "bank", "confidence", "importance", "until", "created_at")
_LATEST_SECONDS = 1e11  # the year 5138
# What begins like JSON is never read as lines: each of its keys would become a memory.
_JSON = re.compile(r"\s*(?:`{3}\w*\s*)?(\{.*\}|\[\s*[\[{\"].*\])", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(?:`{3}|~{3}).*$", re.MULTILINE)
_MARKS = re.compile(
    r"(?:(?:[-*+•–—]\s+)+|\d{1,4}[.)]\s+)?(?:\[[ xX✓✔]?\]\s*)?"
)
_HEADING = re.compile(
    r"#{1,6}\s.*|=+\s.*\s=+|(\*{1,3}|_{1,3})[^*_]+\1:?|[^.!?]{1,40}:"
)
_DATED = re.compile(
    r"\[([^\[\]]{4,30})\][\s.:–—-]*|(\d{4}-\d\d-\d\d)\s*[:–—-]\s+"
)
_SENTENCE_END = re.compile(
    r"(?<=[^\s.]{3}[.!?])\s+(?![a-z])|(?<=[\u3002\uff01\uff1f])"
)


def _past(at: datetime) -> datetime:
    """A time in UTC, to the second, at which something can have been said."""
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    if not 0 < at.timestamp() < _LATEST_SECONDS:
        raise ValueError(at)
    return at.astimezone(UTC).replace(microsecond=0)


Moment = Annotated[datetime, AfterValidator(_past)]


class CarriedMemory(BaseModel, frozen=True):
    """A memory: what it says, how sure and important it is, when and where it was said."""

    content: Annotated[Line, Field(min_length=1, max_length=_LONGEST_CONTENT)]
    tags: tuple[Line, ...] = ()
    bank: Line = ""
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    importance: Annotated[int, Field(ge=1, le=10)] = 5
    until: date | None = None
    said_at: Moment | None = None
    created_at: Moment | None = None
    chat_id: Line = ""
    message_id: Line = ""
    history: tuple[JsonObject, ...] = ()

    @field_validator("*", mode="wrap")
    @classmethod
    def _or_default(
        cls, value: object, read: Handler, info: ValidationInfo
    ) -> object:
        """A field that can't be used has its default; only a content has none."""
        try:
            return read(value)
        except ValueError:
            field = cls.model_fields[info.field_name or ""]
            if field.is_required():
                raise
            return field.default

    def new_memory(self, now: float) -> NewMemory:
        """What is written of it: said where and when it was said, but never later than now."""
        said = self.said_at or self.created_at
        when = min(said.timestamp(), now) if said else now
        extra: JsonObject = {"imported": True}
        former = [
            entry
            for entry in self.history
            if isinstance(entry.get("content"), str)
        ]
        if former:
            extra["history"] = former
        draft = Draft(
            content=self.content,
            tags=self.tags,
            bank=self.bank,
            confidence=self.confidence,
            importance=self.importance,
            until=str(self.until or ""),
        )
        source = Provenance(self.chat_id, self.message_id, int(when))
        return NewMemory(draft, source, extra)


class ExportFile(BaseModel, frozen=True):
    """The memories of one user, newest first."""

    adaptive_memory: Literal[1] = 1
    exported_at: Moment
    memories: tuple[CarriedMemory, ...]


@frozen
class Import:
    """The different memories of a text, and how many entries of it could not be used."""

    memories: tuple[CarriedMemory, ...]
    left_out: int = 0


def exported(memories: Sequence[Memory], now: float) -> str:
    """The memories as an ``ExportFile``: no ids of users, no vectors."""
    newest_first = sorted(
        memories, key=lambda memory: (-memory.created_at, memory.id)
    )
    carried = tuple(_carried_memory(memory) for memory in newest_first)
    file = ExportFile(
        exported_at=_past(datetime.fromtimestamp(now, UTC)), memories=carried
    )
    return file.model_dump_json(indent=2, exclude_none=True)


def _carried_memory(memory: Memory) -> CarriedMemory:
    """A memory as a file has it."""
    fields = {name: getattr(memory, name) for name in _EXPORTED}
    carried = CarriedMemory.model_validate(
        {**memory.meta, **fields, "content": "-"}
    )
    # An import refuses some contents; what other tools have written is carried away as it stands.
    return carried.model_copy(update={"content": text_line(memory.content)})


def read_import(text: str) -> Import:
    """The memories of an export file, or of the lines of a list; the same words are one."""
    memories: dict[str, CarriedMemory] = {}
    left_out = 0
    for entry in _entries(text):
        try:
            memory = CarriedMemory.model_validate(entry)
        except ValidationError:
            left_out += 1
        else:
            memories.setdefault(comparable(memory.content), memory)
    most = tuple(memories.values())[:_MOST_MEMORIES]
    return Import(memories=most, left_out=left_out + len(memories) - len(most))


def _entries(text: str) -> Iterable[object]:
    """The fields of each entry of a text."""
    json_text = _JSON.match(text)
    if json_text is None:
        return _of_lines(_FENCE.sub("", text))
    try:
        data = json.loads(json_text[1], strict=False)
    except (ValueError, RecursionError):
        return [None]
    entries = listing(data) or listing(mapping(data).get("memories", [data]))
    return [
        {"content": entry} if isinstance(entry, str) else entry
        for entry in entries
    ]


def _of_lines(text: str) -> Iterator[JsonObject]:
    """What each line says without its marks and the date before it; of long prose each sentence."""
    for line in map(str.strip, text.splitlines()):
        marks = _MARKS.match(line)
        words = line[marks.end() if marks else 0 :].replace("**", "")
        dated = _DATED.match(words)
        said = words[dated.end() :] if dated else words
        if _HEADING.fullmatch(line) or not has_words(said):
            continue
        day = (dated[1] or dated[2]).replace("/", "-") if dated else None
        is_entry = dated or words != line or len(said) <= _LONGEST_LINE
        contents = [said] if is_entry else _SENTENCE_END.split(said)
        for content in contents:
            yield {"content": content.strip().strip("\"'“”"), "said_at": day}
