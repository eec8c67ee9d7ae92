"""A model's reply to the operations in it: each item by itself, each refusal with a reason.

What decides whether a fact may be stored must be understood: operation, id, content, kind and
confidence. What only describes it (tags, bank, importance) is dropped where it is not. An item
without an operation is NEW if it has a sentence and no id, for UPDATE and DELETE need one. An id
must be one of those that were offered; ``id=``, brackets and case around it do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from adaptive.errors import ReplyUnusable
from adaptive.learn.dialects import (
    NO_OPERATION,
    grouped_item,
    is_example,
    is_operation,
    item_fields,
    says_placeholder,
)
from adaptive.llm.envelope import ReplyForm
from adaptive.llm.reply import (
    REPLY_CUT,
    REPLY_EMPTY,
    REPLY_ONLY_REASONING,
    REPLY_SEVERAL,
    REPLY_TOO_LONG,
    read_reply,
)
from adaptive.model import CATEGORIES, Completion, Draft, Memory, Operation, Outcome
from adaptive.settings import Settings
from adaptive.shapes import mapping

OPERATIONS_FORM = ReplyForm("operations", is_operation, grouped_item, is_example)
_LONGEST_SENTENCE = 4000
_LONGEST_TOLD_FACT = 200
_MOST_OPERATIONS = 30
# Several ids in one text.
_LONGEST_IDS = 2000
_MOST_ITEMS_READ = 1000


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong: ``reason`` for the user; ``advice`` for the model, if asking again helps."""

    reason: str
    advice: str = ""


_NO_ITEM = Flaw("the model listed something that is no operation", "each operation is an object")
_NO_FACT = Flaw("the model's reply holds an empty fact", '"content" is one plain sentence')
_NOT_SHOWN = Flaw(
    "the model named a memory that it was not shown",
    '"id" is one of the ids of the existing memories above; what is in none of them is NEW, '
    'without "id"',
)
_ABOUT_THE_CHAT = Flaw("it is about the conversation, not about you")
_FIELD_FLAWS: Mapping[str, Flaw] = {
    "operation": Flaw(
        "the model did not say whether to save, to change or to delete it",
        '"operation" is NEW, UPDATE or DELETE',
    ),
    "id": Flaw("the model's id of a memory is no id", '"id" is one string'),
    "content": Flaw(
        f"the model's sentence is no text, or longer than {_LONGEST_SENTENCE} characters",
        '"content" is one plain sentence',
    ),
    "kind": Flaw("the model's kind of it is not known", '"kind" is FACT or META'),
    "confidence": Flaw(
        "how sure the model is of it is no number from 0 to 1",
        '"confidence" is a number from 0 to 1',
    ),
}
_CUT_OFF = Flaw(
    "the model's reply was cut off",
    "it was too long and was cut off: give the most important operations only",
)
_BROKEN_PART = Flaw(
    "a part of the model's reply could not be read",
    'a part of it is no valid JSON: put each string in double quotes, and a backslash before a " '
    "within it",
)
_REPLY_ADVICE: Mapping[str, str] = {
    REPLY_TOO_LONG: "it was far too long",
    REPLY_EMPTY: "it was empty",
    REPLY_ONLY_REASONING: "it held reasoning only",
    REPLY_CUT: "it was cut off: give the most important operations only",
    REPLY_SEVERAL: "it held several answers that differ",
}


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a reply held.

    Attributes:
        operations: to be carried out.
        refused: what was not taken, each with a reason.
        advice: what to tell the model when it is asked again; empty where that would not help.
        to_confirm: ids of memories that may be meant to be forgotten; no model has said so.
    """

    operations: tuple[Operation, ...]
    refused: tuple[Outcome, ...]
    advice: tuple[str, ...] = ()
    to_confirm: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to do or to tell."""
        return bool(self.operations or self.refused or self.to_confirm)

    def joined(self, second: Extraction) -> Extraction:
        """With what the second answer adds: what was taken stays, what was refused is redone."""
        ids = {one.id for one in self.operations if one.id}
        contents = {one.draft.content for one in self.operations if not one.id}
        more = [
            one
            for one in second.operations
            if (one.id not in ids if one.id else one.draft.content not in contents)
        ]
        refused = [one for one in self.refused if one.reason == _ABOUT_THE_CHAT.reason]
        refused += [one for one in second.refused if one not in refused]
        return Extraction((*self.operations, *more), tuple(refused), second.advice)


# How sure a model says to be that gives no number.
_SHARES: Mapping[str, float] = {
    "certain": 1.0,
    "very high": 0.95,
    "high": 0.9,
    "medium": 0.6,
    "moderate": 0.6,
    "low": 0.3,
    "very low": 0.1,
}


def _text_of_number(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else value


def _fraction_of(value: object) -> object:
    """Models write a confidence of 0.9 as 0.9, "0.9", 90, "90%", "9/10" or "high".

    A bare 9 is none of these.
    """
    divisor = 1
    if isinstance(value, str):
        share = value.strip().casefold()
        divisor = 100 if share.endswith("%") else 1
        if share in _SHARES:
            return _SHARES[share]
        number, _, whole = share.partition("/")
        try:
            value = float(number.rstrip("% ").replace(",", "."))
            if whole:
                return value / float(whole) if float(whole) in (1, 10, 100) else share
        except ValueError:
            return share
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    return value / 100 if divisor == 100 or 10 < value <= 100 else value


def _bounded_importance(value: object) -> object:
    """A whole number from 1 to 10; ``None`` of what is no number."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
        return None
    return round(min(10, max(1, value)))


def _bank_name(value: object) -> object:
    return _storable(value) if isinstance(value, str) else None


def _storable_text(value: object) -> object:
    return _storable(value) if isinstance(value, str) else value


def _tag_names(value: list[str]) -> list[str]:
    return [_storable(tag).lower() for tag in value]


# The bounds belong to the number: around `float | None` they would meet a null and raise.
_Share = Annotated[float, Field(ge=0, le=1, strict=True)]


class OperationItem(BaseModel):
    """One item of the model's reply, under the names of the prompt, as far as it is understood."""

    operation: Literal["NEW", "UPDATE", "DELETE"]
    id: Annotated[str, BeforeValidator(_text_of_number)] = ""
    content: Annotated[
        str, BeforeValidator(_storable_text), Field(max_length=_LONGEST_SENTENCE)
    ] = ""
    tags: Annotated[list[str], BeforeValidator(_tag_names)] = []
    memory_bank: Annotated[str | None, BeforeValidator(_bank_name)] = None
    confidence: Annotated[_Share | None, BeforeValidator(_fraction_of)] = None
    importance: Annotated[int | None, BeforeValidator(_bounded_importance)] = None
    kind: Literal["fact", "meta"] = "fact"


def read_extraction(
    completion: Completion, offered: Sequence[Memory], settings: Settings
) -> Extraction:
    """The operations in a model's reply, each validated by itself.

    An item that is not understood, or names an id that was not offered, is refused with a reason
    and spoils no other. What is in the reply twice is taken once.

    Raises:
        ReplyUnusable: the reply holds no list of operations at all.
    """
    reply = read_reply(completion.text, OPERATIONS_FORM, cut=completion.cut)
    known = {memory.id: memory for memory in offered}
    operations: dict[tuple[str, str, str], Operation] = {}
    refused: dict[Outcome, str] = {}
    items = [part for item in reply.items[:_MOST_ITEMS_READ] for part in _one_by_one(item, known)]
    items += reply.items[_MOST_ITEMS_READ:]
    for number, item in enumerate(items):
        if len(operations) + len(refused) >= _MOST_OPERATIONS or number >= _MOST_ITEMS_READ:
            extra = len(items) - number
            refused[Outcome("rejected", f"{extra} more", "too many facts in one reply")] = ""
            break
        read = _operation_of(mapping(item), known, settings)
        if isinstance(read, Operation):
            operations.setdefault((read.kind, read.id, read.draft.content), read)
        elif read:
            told = _storable(_told_fact(item))[:_LONGEST_TOLD_FACT]
            refused[Outcome("rejected", told, read.reason)] = read.advice
    for flaw, happened in ((_CUT_OFF, reply.cut), (_BROKEN_PART, reply.broken)):
        if happened:
            refused[Outcome("rejected", "", flaw.reason)] = flaw.advice
    advice = tuple(dict.fromkeys(filter(None, refused.values())))
    return Extraction(tuple(operations.values()), tuple(refused), advice)


def retry_note(problem: ReplyUnusable | Extraction) -> str:
    """What to add to the question when it is asked once more; empty where that would not help.

    It quotes neither the user nor the reply.
    """
    if isinstance(problem, ReplyUnusable):
        wrong = [_REPLY_ADVICE.get(str(problem), "it held no JSON object that could be read")]
    else:
        wrong = list(problem.advice)
    if not wrong:
        return ""
    return (
        "## Your last answer\nIt could not be used as it was:\n"
        + "\n".join(f"- {one}" for one in wrong)
        + "\nAnswer again, in full: one JSON object of the form above, and nothing else."
    )


def _one_by_one(item: object, known: Mapping[str, Memory]) -> list[object]:
    """An item, or one for each memory where it deletes several at once."""
    values = item_fields(mapping(item), known).values
    if values.get("operation") != "DELETE":
        return [item]
    said = values.get("id")
    several = cast(list[object], said) if isinstance(said, list) else []
    if isinstance(said, str) and said not in known and len(said) < _LONGEST_IDS:
        several = [one for one in _BETWEEN_IDS.split(said) if one]
        if any(_offered_id(one, known) is None for one in several):
            return [item]
    if len(several) < 2 or not all(isinstance(one, str | int) for one in several):
        return [item]
    return [{"operation": "DELETE", "id": one} for one in several]


def _operation_of(
    item: Mapping[str, Any], known: Mapping[str, Memory], settings: Settings
) -> Operation | Flaw | None:
    """The operation that an item asks for, ``None`` if it asks for none."""
    if not item:
        return _NO_ITEM
    fields = item_fields(item, known)
    if fields.unclear:
        return Flaw(
            f"the model says two different things in {fields.unclear!r}",
            _FIELD_FLAWS[fields.unclear].advice,
        )
    values = dict(fields.values)
    if values.get("operation") == NO_OPERATION:
        return None
    if "id" not in values and isinstance(values.get("content"), str):
        values.setdefault("operation", "NEW")
    try:
        read = OperationItem.model_validate(values)
    except ValidationError as error:
        return _FIELD_FLAWS[str(error.errors(include_input=False)[0]["loc"][0])]
    return _validated(read, known, settings)


def _validated(
    read: OperationItem, known: Mapping[str, Memory], settings: Settings
) -> Operation | Flaw:
    content = read.content
    if read.kind == "meta":
        return _ABOUT_THE_CHAT
    identity = "" if read.operation == "NEW" else _offered_id(read.id, known)
    if identity is None:
        return _NOT_SHOWN
    if read.operation != "DELETE" and (says_placeholder(content) or not _SAYS.search(content)):
        return _NO_FACT
    return Operation(read.operation, identity, _draft(read, content, known.get(identity), settings))


def _draft(read: OperationItem, content: str, former: Memory | None, settings: Settings) -> Draft:
    """What the row is to say; what the model leaves out of an update stays as it was."""
    kept = former or Memory("", "", 0, 0)
    tags = tuple(dict.fromkeys(tag for tag in read.tags if tag in CATEGORIES))
    banks = {bank.casefold(): bank for bank in settings.banks}
    bank = banks.get((read.memory_bank or "").casefold())
    return Draft(
        content=content,
        tags=tags or kept.tags,
        bank=bank or kept.bank or settings.default_bank,
        confidence=kept.confidence if read.confidence is None else read.confidence,
        importance=kept.importance if read.importance is None else read.importance,
    )


# Databases refuse NUL and halves of characters; other control characters say nothing.
_UNSTORABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_SAYS = re.compile(r"\w")
_AROUND_ID = " \t\r\n[]<>(){}\"'`#"
_BETWEEN_IDS = re.compile(r"[\s,;\[\]\"']+(?:and )?")
_CONTENT_BESIDE_ID = re.compile(r"\s[|(].*", re.DOTALL)
_ID_PREFIX = re.compile(r"id\s?[=:]\s?", re.IGNORECASE)


def _storable(text: str) -> str:
    return " ".join(_UNSTORABLE.sub("", text).split())


def _told_fact(item: object) -> str:
    """The text by which the user is told about an item that was refused."""
    values = item_fields(mapping(item)).values
    for name in ("content", "id"):
        value = values.get(name)
        if isinstance(value, str | int | float):
            return str(value)[:_LONGEST_SENTENCE]
    return ""


def _offered_id(said: str, known: Mapping[str, Memory]) -> str | None:
    """The id of an offered memory that is meant."""
    plain = _CONTENT_BESIDE_ID.sub("", said).strip(_AROUND_ID)
    for form in (said, plain, _ID_PREFIX.sub("", plain, count=1)):
        if form in known:
            return form
    same = [one for one in known if one.casefold() == plain.casefold()]
    return same[0] if len(same) == 1 else None
