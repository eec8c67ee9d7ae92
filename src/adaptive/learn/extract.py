"""Asking a model which durable facts a turn holds, and validating what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from adaptive.llm.prompts import render_prompt
from adaptive.llm.reply import reply_items
from adaptive.messages import head_and_tail
from adaptive.model import (
    CATEGORIES,
    Completion,
    CompletionRequest,
    Draft,
    Memory,
    Operation,
    Outcome,
    Turn,
)
from adaptive.settings import Settings
from adaptive.shapes import mapping

_LONGEST_WORDS = 12000
_LONGEST_UTTERANCE = 1000
_LONGEST_MEMORY = 1000
_MOST_OPERATIONS = 30

EXTRACT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "operations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "operation": {"type": "string", "enum": ["NEW", "UPDATE", "DELETE"]},
                    "id": {"type": "string"},
                    "content": {"type": "string"},
                    "tags": {
                        "type": "array",
                        "items": {"type": "string", "enum": list(CATEGORIES)},
                    },
                    "memory_bank": {"type": "string"},
                    "confidence": {"type": "number"},
                    "importance": {"type": "integer"},
                    "kind": {"type": "string", "enum": ["FACT", "META"]},
                },
                "required": ["operation"],
            },
        }
    },
    "required": ["operations"],
}


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a reply held: operations to carry out, and items that were refused with a reason."""

    operations: tuple[Operation, ...]
    refused: tuple[Outcome, ...]


def extraction_request(
    turn: Turn, offered: Sequence[Memory], settings: Settings, now: datetime
) -> CompletionRequest:
    """The question to the model; ``now`` is the message's time in the user's time zone."""
    system = render_prompt(
        "extract",
        settings.memory_identification_prompt,
        {
            "date": now.strftime("%A, %d %B %Y, %H:%M"),
            "timezone": str(now.tzinfo or "UTC"),
            "categories": ", ".join(settings.categories),
            "banks": ", ".join(settings.banks),
        },
    )
    sections: list[str] = []
    if turn.earlier:
        lines = [f"{one.role}: {_one_line(one.text, _LONGEST_UTTERANCE)}" for one in turn.earlier]
        sections.append("## Earlier turns, for reference only\n" + "\n".join(lines))
    if offered:
        lines = [f"- id={one.id} | {_one_line(one.content, _LONGEST_MEMORY)}" for one in offered]
        sections.append("## Existing memories\n" + "\n".join(lines))
    sections.append("## Newest message of the user\n" + head_and_tail(turn.words, _LONGEST_WORDS))
    return CompletionRequest(system, "\n\n".join(sections), "memory_operations", EXTRACT_SCHEMA)


def _one_line(text: str, limit: int) -> str:
    return " ".join(head_and_tail(text, limit).split())


def _upper(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def _word_list(value: object) -> object:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return value


def _fraction(value: object) -> object:
    """Models write a confidence of 0.9 as 0.9, "0.9", 90 or "90%"."""
    if isinstance(value, str):
        value = value.strip().rstrip("%").strip()
        try:
            value = float(value)
        except ValueError:
            return value
    if isinstance(value, int | float) and not isinstance(value, bool) and 1 < value <= 100:
        return value / 100
    return value


# The bounds belong to the number: around `float | None` they would meet a null and raise.
_Fraction = Annotated[float, Field(ge=0, le=1)]


class OperationItem(BaseModel):
    """One item of the model's reply, as far as it can be understood."""

    operation: Annotated[Literal["NEW", "UPDATE", "DELETE"], BeforeValidator(_upper)]
    id: str | None = None
    content: str | None = Field(default=None, max_length=4 * _LONGEST_MEMORY)
    tags: Annotated[list[str] | None, BeforeValidator(_word_list)] = None
    memory_bank: str | None = None
    confidence: Annotated[_Fraction | None, BeforeValidator(_fraction)] = None
    importance: Annotated[float, Field(ge=0, le=10)] | None = None
    kind: Annotated[Literal["FACT", "META"] | None, BeforeValidator(_upper)] = None


def read_extraction(
    completion: Completion, offered: Sequence[Memory], settings: Settings
) -> Extraction:
    """The operations in a model's reply, each validated by itself.

    An item that is not understood, or names an id that was not offered, is refused with a reason
    and spoils no other.

    Raises:
        ReplyUnusable: the reply holds no list of operations at all.
    """
    items = reply_items(completion.text, "operations", cut=completion.cut)
    known = {memory.id: memory for memory in offered}
    operations: list[Operation] = []
    refused: list[Outcome] = []
    for item in items[:_MOST_OPERATIONS]:
        read = _operation(item, known, settings)
        if isinstance(read, Operation):
            operations.append(read)
        else:
            refused.append(read)
    if len(items) > _MOST_OPERATIONS:
        extra = len(items) - _MOST_OPERATIONS
        refused.append(Outcome("rejected", f"{extra} more", "too many facts in one reply"))
    if completion.cut:
        refused.append(Outcome("rejected", "", "the model's reply was cut off at its token limit"))
    return Extraction(tuple(operations), tuple(refused))


def _operation(item: Any, known: Mapping[str, Memory], settings: Settings) -> Operation | Outcome:
    fields = mapping(item)
    said = str(fields.get("content") or fields.get("id") or "")
    try:
        read = OperationItem.model_validate(item)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "item"
        return Outcome(
            "rejected", said[:200], f"the model's reply is wrong in {field!r}: {first['msg']}"
        )
    content = " ".join((read.content or "").split())
    if read.kind == "META":
        return Outcome("rejected", content, "it is about the conversation, not about you")
    identity = (read.id or "").strip()
    if read.operation == "NEW":
        identity = ""
    elif identity not in known:
        return Outcome(
            "rejected", content or identity, "the model named a memory that it was not shown"
        )
    if read.operation != "DELETE" and not content:
        return Outcome("rejected", "", "the model's reply holds an empty fact")
    return Operation(read.operation, identity, _draft(read, content, known.get(identity), settings))


def _draft(read: OperationItem, content: str, former: Memory | None, settings: Settings) -> Draft:
    """What the row is to say; what the model leaves out of an update stays as it was."""
    kept = former or Memory("", "", 0, 0)
    named = (tag.strip().lower() for tag in read.tags or [])
    tags = tuple(dict.fromkeys(tag for tag in named if tag in CATEGORIES))
    banks = {bank.casefold(): bank for bank in settings.banks}
    bank = banks.get((read.memory_bank or "").strip().casefold())
    return Draft(
        content=content,
        tags=tags or kept.tags,
        bank=bank or kept.bank or settings.default_bank,
        confidence=kept.confidence if read.confidence is None else read.confidence,
        importance=kept.importance if read.importance is None else max(1, round(read.importance)),
    )
