"""A model's reply to the operations in it: each item by itself, each refusal with a reason.

What an operation does must be understood: operation, id and content. Everything else is taken where
it is understood, and left out where it is not.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pydantic import TypeAdapter, ValidationError

from adaptive.core.model import (
    CATEGORIES,
    Completion,
    Draft,
    Memory,
    Operation,
    OperationKind,
    Outcome,
    Proof,
)
from adaptive.core.shapes import listing, mapping
from adaptive.llm.fields import number, share
from adaptive.llm.reply import plain_name, read_items
from adaptive.settings.merged import Settings

_LONGEST_SENTENCE = 4000
_MOST_SPANS = 4
# Whom a fact is about, and what it is, as the extraction prompt asks for it.
ABOUT = ("user", "other", "assistant", "world")
FACT_KINDS = ("FACT", "STYLE", "META", "STATE", "IMAGINED", "QUOTED")

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
# How a model is shown the last day on which a memory holds; some copy it into the sentence.
END_NOTE = " (until {})"
_NOT_SHOWN = "not one of the memories shown"
# Databases refuse NUL and halves of characters; other control characters say nothing.
_UNSTORABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# What the prompt's form has in the place of a sentence, or the end of one.
_PLACEHOLDER = re.compile(r"\W*|<[^<>]*>|.*\s(?:\.{3}|\u2026)\.?")
_AROUND_ID = re.compile(r"^[\s\[(<{'\"]*(?:id\s?[=:]\s?)?|(?:\s[|(].*)?[\s\])>}'\"]*$", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a reply held: operations to carry out, and what was not taken, each with a reason."""

    operations: tuple[Operation, ...]
    refused: tuple[Outcome, ...]

    def __bool__(self) -> bool:
        """Whether there is anything to do or to tell."""
        return bool(self.operations or self.refused)

    def joined(self, second: Extraction) -> Extraction:
        """With what the second answer adds: what was taken stays, what was refused is redone."""
        taken = {one.id or one.draft.content for one in self.operations}
        more = [one for one in second.operations if (one.id or one.draft.content) not in taken]
        return Extraction((*self.operations, *more), second.refused)


# Made while the module is loaded: later the host may know it by no name (host: utils/plugin.py,
# load_function_module_by_id, since 0.12), by which the types of fields are found.
_EXTRACTION: TypeAdapter[Extraction] = TypeAdapter(Extraction)


def journal_of(extraction: Extraction) -> str:
    """What is to be written, as JSON that is kept before anything of it is."""
    rules_may_change = {"operations": {"__all__": {"draft": {"passed"}}}}
    return _EXTRACTION.dump_json(extraction, exclude=rules_may_change).decode()


def read_journal(text: str) -> Extraction | None:
    """The extraction that a journal holds, ``None`` where it holds none that can be read."""
    try:
        return _EXTRACTION.validate_json(text)
    except ValidationError:
        return None


def read_extraction(
    completion: Completion, offered: Sequence[Memory], settings: Settings
) -> Extraction:
    """The operations in a model's reply, each validated by itself."""
    reply = read_items(
        completion, "operations", lambda item: isinstance(_named(item).get("operation"), str)
    )
    operations: dict[tuple[str, str, str], Operation] = {}
    refused: list[Outcome] = []
    for item in map(mapping, reply.items):
        fields = _named(item)
        for read in _operations_in(fields, offered, settings):
            if isinstance(read, Operation):
                operations.setdefault((read.kind, read.id, read.draft.content), read)
            else:
                said = text_lines(fields.get("content") or fields.get("id"))
                refused.append(Outcome("rejected", " ".join(said), read))
    if reply.cut:
        refused.append(Outcome("rejected", "", "the model's reply was cut off"))
    return Extraction(tuple(operations.values()), tuple(dict.fromkeys(refused)))


def _named(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields under the prompt's names; of two that contradict each other neither."""
    fields: dict[str, Any] = {}
    for name, value in item.items():
        field = _NAMES.get(plain_name(name), plain_name(name))
        if value not in (None, "") or field == "until":  # null says that it has no end
            fields[field] = value if fields.get(field, value) == value else None
    return fields


def _operations_in(
    fields: Mapping[str, Any], offered: Sequence[Memory], settings: Settings
) -> Iterator[Operation | str]:
    """The operations that an item asks for, one or some deletions; else why it is refused."""
    content, ids = text_line(fields.get("content")), text_lines(fields.get("id"))
    word = plain_name(text_line(fields.get("operation")))
    if content and not ids and "operation" not in fields:
        word = "new"
    kind = _WORDS.get(word)
    if word in _NOTHING_TO_DO:
        return
    if kind is None:
        yield "not said whether to save or delete it" if fields else "it is no operation"
    elif kind != "DELETE" and (len(content) > _LONGEST_SENTENCE or _PLACEHOLDER.fullmatch(content)):
        yield "the sentence is empty or too long"
    elif kind == "NEW":
        yield Operation(kind, "", _draft(fields, content, None, settings), _proof(fields))
    else:
        for said in ids or [""]:
            memory = named_memory(said, offered)
            if memory is None or (kind == "UPDATE" and len(ids) > 1):
                yield _NOT_SHOWN
            else:
                draft = _draft(fields, content, memory, settings)
                yield Operation(kind, memory.id, draft, _proof(fields))


def _proof(fields: Mapping[str, Any]) -> Proof:
    about = text_line(fields.get("about")).lower()
    kind = text_line(fields.get("kind")).upper()
    spans = tuple(text_lines(fields.get("evidence"))[:_MOST_SPANS])
    return Proof(spans, about if about in ABOUT else "", kind if kind in FACT_KINDS else "")


def _draft(
    fields: Mapping[str, Any], content: str, former: Memory | None, settings: Settings
) -> Draft:
    """What the row is to say; what the model leaves out of an update stays as it was."""
    kept = former or Memory("", "", 0, 0)
    said = [
        part.strip().lower() for tag in text_lines(fields.get("tags")) for part in tag.split(",")
    ]
    tags = tuple(one for one in dict.fromkeys(said) if one in CATEGORIES)
    banks = {one.casefold(): one for one in settings.banks}
    bank = banks.get(text_line(fields.get("memory_bank")).casefold())
    confidence, importance = share(fields.get("confidence")), number(fields.get("importance"))
    return Draft(
        content=content.removesuffix(END_NOTE.format(kept.until)),
        tags=tags or kept.tags,
        bank=bank or kept.bank or settings.default_bank,
        confidence=kept.confidence if confidence is None else confidence,
        importance=kept.importance if importance is None else round(min(10, max(1, importance))),
        until=last_day(fields["until"]) if "until" in fields else kept.until,
    )


def text_line(value: object) -> str:
    """A text on one line without signs that can't be stored; empty where it is no text."""
    return " ".join(_UNSTORABLE.sub("", value).split()) if isinstance(value, str) else ""


def text_lines(value: object) -> list[str]:
    """The texts in a list, or the one that there is; numbers are texts too."""
    several = listing(value) or [value]
    found = (str(one) if isinstance(one, int) else one for one in several)
    return [line for one in found if (line := text_line(one))]


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


def named_memory(said: str, offered: Sequence[Memory]) -> Memory | None:
    """The one offered memory that an id of a reply means; case and what is around do not count."""
    plain = _AROUND_ID.sub("", said).casefold()
    return next((one for one in offered if one.id.casefold() == plain), None)


def repeats(draft: Draft, memory: Memory) -> bool:
    """Whether a row would say the same as now, but for a full stop, and hold as long."""
    said, known = (text.rstrip(" .\u3002") for text in (draft.content, memory.content))
    return said == known and draft.until == memory.until
