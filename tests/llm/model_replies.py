"""Replies of models: what each says, and what may be taken from it.

Most of them stand in ``tests/labelled/model_replies.json``; what is too long for that stands here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adaptive.model import Draft, Memory, Operation
from tests.rates import labelled_set

# The memories whose ids the model was shown.
OFFERED = (
    Memory("m-1", "User likes tea.", 1, 1, ("preference",), "Personal", 0.8, 3),
    Memory("m-2", "User's dog is called Biscuit.", 2, 2, ("relationship",), "Personal", 0.9, 6),
    Memory("7", "User works at the harbour.", 3, 3, ("identity",), "Work", 1.0, 7),
    Memory("5d9c1e7a-2f3b-4c6d-8e90-a1b2c3d4e5f6", "User plays chess.", 4, 4, bank="General"),
)
_BY_ID = {memory.id: memory for memory in OFFERED}


@dataclass(frozen=True)
class ReplyCase:
    """A reply, the operations that may be taken from it, and why nothing else may.

    ``refused`` holds a piece of each reason in order, ``unusable`` one of the reason why the whole
    is of no use. ``cut`` says that the provider reported the token limit, ``draft`` that a cut
    makes what the model took back look like its answer.
    """

    id: str
    reply: str
    operations: tuple[Operation, ...] = ()
    refused: tuple[str, ...] = ()
    unusable: str = ""
    cut: bool = False
    draft: bool = False


def operation(told: Mapping[str, Any]) -> Operation:
    """An operation as the set tells it: with the fields of its draft that are not as usual.

    Usual are those of the memory that is changed, and the defaults where there is none.
    """
    fields = dict(told)
    kind, identity = fields.pop("operation"), fields.pop("id", "")
    known = _BY_ID.get(identity)
    usual: dict[str, Any] = {"bank": (known and known.bank) or "General"}
    if known:
        usual |= {name: getattr(known, name) for name in ("tags", "confidence", "importance")}
    if "tags" in fields:
        fields["tags"] = tuple(fields["tags"])
    return Operation(kind, identity, Draft(**{"content": "", **usual, **fields}))


def reply_of(*items: Any, **layout: Any) -> str:
    """A reply with these items, to the letter."""
    return json.dumps({"operations": list(items)}, **layout)


# The item and the operation that most replies are about.
LISBON_ITEM = {"operation": "NEW", "content": "User lives in Lisbon."}
DOG_ITEM = {"operation": "NEW", "content": "User has a dog."}
LISBON = operation(LISBON_ITEM)
DOG = operation(DOG_ITEM)
BOTH = (LISBON, DOG)
BOTH_REPLY = reply_of(LISBON_ITEM, DOG_ITEM)

LIMITS = (
    ReplyCase("limit: 1 MB of prose", "word " * 200_000, unusable="longer than 256 kB"),
    ReplyCase(
        "limit: 1 MB of facts",
        "[" + ", ".join([json.dumps(LISBON_ITEM)] * 20_000) + "]",
        unusable="longer than 256 kB",
    ),
    ReplyCase("limit: 1 MB of brackets", "[" * 1_000_000, unusable="longer than 256 kB"),
    ReplyCase("limit: 1 MB of spaces", " " * 1_000_000, unusable="longer than 256 kB"),
    ReplyCase("limit: 10,000 levels", "[" * 10_000 + "]" * 10_000, unusable="no usable JSON"),
    ReplyCase(
        "limit: 10,000 levels of objects",
        '{"result":' * 10_000 + "1" + "}" * 10_000,
        unusable="no usable JSON",
    ),
    ReplyCase(
        "limit: 10,000 levels within a field",
        '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon."}, '
        '{"operation": "NEW", "x": ' + "[" * 10_000 + "]" * 10_000 + "}]}",
        (LISBON,),
        ("could not be read",),
    ),
    ReplyCase(
        "limit: 10,000 items",
        '{"operations": [' + ", ".join(['{"operation": 1}'] * 10_000) + "]}",
        refused=("whether to save", "too many facts"),
    ),
    ReplyCase(
        "limit: 10,000 items that are no objects",
        '{"operations": [' + "1," * 9_999 + "1]}",
        refused=("no operation", "too many facts"),
    ),
    ReplyCase("limit: 10,000 lines", "\n".join(["[]"] * 10_000)),
    ReplyCase(
        "limit: 10,000 fields",
        '{"operations": [{"operation": "NEW", "content": "User lives in Lisbon.", '
        + ", ".join(f'"field{n}": {n}' for n in range(10_000))
        + "}]}",
        (LISBON,),
    ),
    ReplyCase(
        "limit: a sentence of 200 kB",
        '[{"operation": "NEW", "content": "' + "x " * 100_000 + '"}]',
        refused=("longer than 4000",),
    ),
    ReplyCase(
        "limit: a name of 200 kB",
        '[{"operation": "NEW", "' + "x" * 200_000 + '": 1, "content": "User lives in Lisbon."}]',
        (LISBON,),
    ),
    ReplyCase(
        "limit: an id of 200 kB",
        '[{"operation": "DELETE", "id": "' + "x" * 200_000 + '"}]',
        refused=("not shown",),
    ),
    ReplyCase("limit: a word again and again", "the " * 5000, unusable="in prose"),
    ReplyCase("limit: brackets again and again", "[{" * 5000, unusable="no usable JSON"),
)


def _case(told: Mapping[str, Any]) -> ReplyCase:
    fields = dict(told)
    if "operations" in fields:
        fields["operations"] = tuple(map(operation, fields["operations"]))
    if "refused" in fields:
        fields["refused"] = tuple(fields["refused"])
    return ReplyCase(**fields)


REPLIES = (*map(_case, labelled_set("model_replies")), *LIMITS)
_LONGEST_SAMPLE = 1200


def samples() -> tuple[ReplyCase, ...]:
    """The replies that are cut at every byte: those that hold something, and are short enough."""
    return tuple(
        case
        for case in REPLIES
        if case.operations and not case.draft and len(_raw(case.reply)) < _LONGEST_SAMPLE
    )


def cuts(reply: str) -> Iterator[str]:
    """A reply cut after each of its bytes; half a character is what a decoder makes of it."""
    raw = _raw(reply)
    for end in range(len(raw)):
        yield raw[:end].decode("utf-8", "replace")


def _raw(reply: str) -> bytes:
    return reply.encode("utf-8", "surrogatepass")
