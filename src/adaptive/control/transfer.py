"""Carrying memories away as JSON, and bringing in such a file or another assistant's list.

``docs/export.md`` describes both. Nothing raises on any text; nothing is judged here: what is read
goes through the gate like everything else.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from itertools import chain
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from adaptive.control.entries import entries_of
from adaptive.core import (
    Draft,
    JsonObject,
    Memory,
    NewMemory,
    Provenance,
    clipped_line,
    frozen,
    mapping,
    phrase,
)
from adaptive.llm.ask import Line, text_line
from adaptive.search import comparable

_MOST_MEMORIES = 5000
_LONGEST_CONTENT = 4000
_LONGEST_EXAMPLE = 80
_EXPORTED = ("tags", "bank", "confidence", "importance", "until", "created_at")
# How other assistants call the time at which they have learned something.
_DATES = (
    "created_at",
    "createdat",
    "updated_at",
    "updatedat",
    "date",
    "timestamp",
)
_LATEST_SECONDS = 1e11  # the year 5138


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
    created_at: Annotated[
        Moment | None, Field(validation_alias=AliasChoices(*_DATES))
    ] = None
    chat_id: Line = ""
    message_id: Line = ""
    history: tuple[JsonObject, ...] = ()

    @field_validator("*", mode="wrap")
    @classmethod
    def _or_default(
        cls,
        value: object,
        read: ValidatorFunctionWrapHandler,
        info: ValidationInfo,
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
    """The different memories of a text, and what of it could not be used."""

    memories: tuple[CarriedMemory, ...]
    unread: tuple[str, ...] = ()

    @property
    def told_unread(self) -> str:
        """How much could not be used, with the first example; empty where all could."""
        if not self.unread:
            return ""
        example = clipped_line(self.unread[0], _LONGEST_EXAMPLE)
        return phrase("unread", n=len(self.unread), example=example)


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


def read_import(*texts: str) -> Import:
    """The memories of exports, of whatever assistants, and lists; the same words are one.

    What is known in several places is one in each.
    """
    memories: dict[str, CarriedMemory] = {}
    unread: list[str] = []
    for entry in chain.from_iterable(map(entries_of, texts)):
        try:
            memory = CarriedMemory.model_validate(entry)
        except ValidationError:
            unread.append(str(mapping(entry).get("content") or entry))
        else:
            scope = Draft("", memory.tags).scope
            said = f"{scope} {comparable(memory.content)}"
            memories.setdefault(said, memory)
    carried = tuple(memories.values())
    unread += [memory.content for memory in carried[_MOST_MEMORIES:]]
    return Import(carried[:_MOST_MEMORIES], tuple(unread))
