"""A model's reply to the operations in it: each item by itself, each refusal with a reason.

What an operation does must be understood: operation, id and content. Everything else is taken where
it is understood, and left out where it is not. Whether it may be stored is for others to tell.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from adaptive.errors import ReplyUnusable
from adaptive.llm.reply import REPLY_REASONS, read_items
from adaptive.model import (
    ABOUT,
    CATEGORIES,
    FACT_KINDS,
    Completion,
    Draft,
    Memory,
    Operation,
    OperationKind,
    Outcome,
    Proof,
)
from adaptive.settings import Settings
from adaptive.shapes import listing, mapping, number, plain_name, share

_LONGEST_SENTENCE = 4000
_LONGEST_EVIDENCE = 600
_LONGEST_TOLD_FACT = 200
_MOST_OPERATIONS = 30
_MOST_SPANS = 4

# Other names that models give to a field, and other words for what is to be done.
_NAMES = {
    **dict.fromkeys(("op", "action", "event"), "operation"),
    **dict.fromkeys(("memoryid", "ids"), "id"),
    **dict.fromkeys(("text", "fact", "memory", "newcontent"), "content"),
    **dict.fromkeys(("tag", "category", "categories"), "tags"),
    **dict.fromkeys(("memorybank", "bank"), "memory_bank"),
}
_WORDS: Mapping[str, OperationKind] = {
    **dict.fromkeys(("new", "add", "create", "insert", "save", "store"), "NEW"),
    **dict.fromkeys(("update", "edit", "modify", "change", "correct", "refine"), "UPDATE"),
    **dict.fromkeys(("delete", "remove", "forget"), "DELETE"),
}
_NOTHING_TO_DO = frozenset({"none", "noop", "nochange", "nochanges", "keep", "skip"})
# Why an item is refused, for the user, and what to tell the model when it is asked again.
_FLAWS = {
    "item": ("it is no operation", "each operation is an object"),
    "operation": ("not said whether to save or delete it", '"operation" is NEW, UPDATE or DELETE'),
    "id": ("not one of the memories shown", '"id" is one of the ids above; what is new has none'),
    "content": ("the sentence is empty or too long", '"content" is one plain sentence'),
    "twice": ("two different things in one field", "each field has one value"),
    "cut": ("the model's reply was cut off", "it was cut off: give the most important ones only"),
}
# Databases refuse NUL and halves of characters; other control characters say nothing.
_UNSTORABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# What the prompt's form has in the place of a sentence, or the end of one.
_PLACEHOLDER = re.compile(r"\W*|<[^<>]*>|.*\s(?:\.{3}|\u2026)\.?")
_AROUND_ID = re.compile(r"^[\s\[(<{'\"]*(?:id\s?[=:]\s?)?|(?:\s[|(].*)?[\s\])>}'\"]*$", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a reply held.

    Attributes:
        operations: to be carried out.
        refused: what was not taken, each with a reason.
        advice: what to tell the model when it is asked again; empty where that would not help.
    """

    operations: tuple[Operation, ...]
    refused: tuple[Outcome, ...]
    advice: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to do or to tell."""
        return bool(self.operations or self.refused)

    def joined(self, second: Extraction) -> Extraction:
        """With what the second answer adds: what was taken stays, what was refused is redone."""
        taken = {one.id or one.draft.content for one in self.operations}
        more = [one for one in second.operations if (one.id or one.draft.content) not in taken]
        return Extraction((*self.operations, *more), second.refused, second.advice)


def _line(value: object) -> object:
    return " ".join(_UNSTORABLE.sub("", value).split()) if isinstance(value, str) else value


def _lines(value: object) -> list[str]:
    """The texts in a list, or the one that there is; numbers are texts too."""
    several = listing(value) or [value]
    found = [one for one in several if isinstance(one, str | int) and not isinstance(one, bool)]
    return [line for one in found if (line := str(_line(str(one))))]


def _word(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _confidence(value: object) -> float | None:
    return {"high": 0.9, "medium": 0.6, "low": 0.3}.get(str(value).lower()) or share(value)


def _importance(value: object) -> int | None:
    read = number(value)
    return None if read is None else round(min(10, max(1, read)))


def last_day(value: object) -> str:
    """A date as YYYY-MM-DD, of a month or a year its last day; empty where it is none."""
    parts = re.fullmatch(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[T ].*)?)?)?", str(value).strip())
    if not parts:
        return ""
    year, month = int(parts[1]), int(parts[2] or 12)
    try:
        return date(year, month, int(parts[3] or calendar.monthrange(year, month)[1])).isoformat()
    except ValueError:  # calendar's own error is one
        return ""


class OperationItem(BaseModel):
    """One item of the model's reply; a field other than the content that is odd is left out."""

    operation: Annotated[str, BeforeValidator(_word)] = ""
    id: Annotated[list[str], BeforeValidator(_lines)] = []
    content: Annotated[str, BeforeValidator(_line), Field(max_length=_LONGEST_SENTENCE)] = ""
    tags: Annotated[list[str], BeforeValidator(_lines)] = []
    memory_bank: Annotated[str, BeforeValidator(_word)] = ""
    confidence: Annotated[float | None, BeforeValidator(_confidence)] = None
    importance: Annotated[int | None, BeforeValidator(_importance)] = None
    evidence: Annotated[list[str], BeforeValidator(_lines)] = []
    about: Annotated[str, BeforeValidator(_word)] = ""
    kind: Annotated[str, BeforeValidator(_word)] = ""
    until: Annotated[str | None, BeforeValidator(last_day)] = None


def read_extraction(
    completion: Completion, offered: Sequence[Memory], settings: Settings
) -> Extraction:
    """The operations in a model's reply, each validated by itself.

    An item that is not understood, or names an id that was not offered, is refused with a reason
    and spoils no other. What is in the reply twice is taken once.

    Raises:
        ReplyUnusable: the reply holds no list of operations at all.
    """
    reply = read_items(completion, "operations", _is_operation)
    known = {memory.id: memory for memory in offered}
    operations: dict[tuple[str, str, str], Operation] = {}
    refused: dict[Outcome, str] = {}
    for item in reply.items[:_MOST_OPERATIONS]:
        for read in _operations_in(mapping(item), known, settings):
            if isinstance(read, Operation):
                operations.setdefault((read.kind, read.id, read.draft.content), read)
            else:
                reason, advice = _FLAWS[read]
                refused[Outcome("rejected", _told(mapping(item)), reason)] = advice
    if (more := len(reply.items) - _MOST_OPERATIONS) > 0:
        refused[Outcome("rejected", f"{more} more", "too many facts in one reply")] = ""
    if reply.cut:
        refused[Outcome("rejected", "", _FLAWS["cut"][0])] = _FLAWS["cut"][1]
    advice = tuple(dict.fromkeys(filter(None, refused.values())))
    return Extraction(tuple(operations.values()), tuple(refused), advice)


def retry_note(problem: ReplyUnusable | Extraction) -> str:
    """What to add to the question when it is asked once more; empty where that would not help.

    It quotes neither the user nor the reply.
    """
    wrong = list(problem.advice) if isinstance(problem, Extraction) else [str(problem)]
    if isinstance(problem, ReplyUnusable) and str(problem) not in REPLY_REASONS:
        wrong = ["it held no JSON object that could be read"]
    if not wrong:
        return ""
    return (
        "## Your last answer\nIt could not be used as it was:\n"
        + "\n".join(f"- {one}" for one in wrong)
        + "\nAnswer again, in full: one JSON object of the form above, and nothing else."
    )


def _is_operation(fields: Mapping[str, Any]) -> bool:
    values = _named(fields)
    return values is None or isinstance(values.get("operation"), str)


def _named(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The fields under the prompt's names, ``None`` where two of them contradict each other."""
    values: dict[str, Any] = {}
    for name, value in item.items():
        field = _NAMES.get(plain_name(name), plain_name(name))
        if value in (None, "") and field != "until":  # null says that it has no end
            continue
        if field in OperationItem.model_fields and values.setdefault(field, value) != value:
            return None
    return values


def _told(item: Mapping[str, Any]) -> str:
    """The text by which the user is told about an item that was refused."""
    values = _named(item) or {}
    return " ".join(_lines(values.get("content") or values.get("id")))[:_LONGEST_TOLD_FACT]


def _operations_in(
    item: Mapping[str, Any], known: Mapping[str, Memory], settings: Settings
) -> Iterator[Operation | str]:
    """The operations that an item asks for: one, or one deletion each; else the name of a flaw."""
    values = _named(item)
    try:
        read = OperationItem.model_validate(values or {})
    except ValidationError:
        yield "content"
        return
    word = plain_name(read.operation)
    if not read.id and read.content and "operation" not in (values or {}):
        word = "new"
    if word in _NOTHING_TO_DO:
        return
    kind = _WORDS.get(word)
    if not values or not kind:
        yield "twice" if values is None else "operation" if values else "item"
        return
    for said in [""] if kind == "NEW" else read.id or [""]:
        identity = _offered_id(said, known)
        if kind != "NEW" and identity not in known:
            yield "id"
        elif kind != "DELETE" and _PLACEHOLDER.fullmatch(read.content):
            yield "content"
        elif kind == "UPDATE" and len(read.id) > 1:
            yield "id"
            return
        else:
            draft = _draft(read, known.get(identity), settings)
            yield Operation(kind, identity, draft, _proof(read))


def _proof(read: OperationItem) -> Proof:
    about, kind = read.about.lower(), read.kind.upper()
    spans = tuple(one[:_LONGEST_EVIDENCE] for one in read.evidence[:_MOST_SPANS])
    return Proof(spans, about if about in ABOUT else "", kind if kind in FACT_KINDS else "")


def _draft(read: OperationItem, former: Memory | None, settings: Settings) -> Draft:
    """What the row is to say; what the model leaves out of an update stays as it was."""
    kept = former or Memory("", "", 0, 0)
    said = [part.strip().lower() for tag in read.tags for part in tag.split(",")]
    tags = tuple(one for one in dict.fromkeys(said) if one in CATEGORIES)
    bank = {one.casefold(): one for one in settings.banks}.get(read.memory_bank.casefold())
    return Draft(
        content=read.content,
        tags=tags or kept.tags,
        bank=bank or kept.bank or settings.default_bank,
        confidence=kept.confidence if read.confidence is None else read.confidence,
        importance=kept.importance if read.importance is None else read.importance,
        until=kept.until if read.until is None else read.until,
    )


def _offered_id(said: str, known: Mapping[str, Memory]) -> str:
    """The id of the offered memory that is meant, as far as it is one."""
    plain = said if said in known else _AROUND_ID.sub("", said)
    same = [one for one in known if one.casefold() == plain.casefold()]
    return same[0] if len(same) == 1 else plain
