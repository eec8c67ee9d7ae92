"""One model reply of the set: what it says, and what may be taken from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from adaptive.model import Draft, Memory, Operation

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
    is of no use. ``repaired`` holds the operations where json-repair is installed, if these are
    more; nothing is refused then. ``cut`` says that the provider reported the token limit,
    ``draft`` that a cut makes what the model took back look like its answer.
    """

    id: str
    reply: str
    operations: tuple[Operation, ...] = ()
    refused: tuple[str, ...] = ()
    unusable: str = ""
    cut: bool = False
    repaired: tuple[Operation, ...] | None = None
    draft: bool = False


def new(content: str, **fields: Any) -> Operation:
    """A NEW operation, with defaults but for the named fields of its draft."""
    return Operation("NEW", "", Draft(content, **{"bank": "General", **fields}))


def update(id: str, content: str, **fields: Any) -> Operation:
    """An UPDATE that keeps what the memory was but for the content and the named fields."""
    return Operation("UPDATE", id, Draft(content, **{**_kept(id), **fields}))


def delete(id: str) -> Operation:
    """A DELETE of an offered memory."""
    return Operation("DELETE", id, Draft("", **_kept(id)))


def reply_of(*items: Any, **layout: Any) -> str:
    """A reply with these items, to the letter."""
    return json.dumps({"operations": list(items)}, **layout)


def _kept(id: str) -> dict[str, Any]:
    memory = _BY_ID[id]
    return {
        "tags": memory.tags,
        "bank": memory.bank or "General",
        "confidence": memory.confidence,
        "importance": memory.importance,
    }


# The item and the operation that most replies are about.
LISBON_ITEM = {"operation": "NEW", "content": "User lives in Lisbon."}
DOG_ITEM = {"operation": "NEW", "content": "User has a dog."}
FORGET_ITEM = {"operation": "DELETE", "id": "m-1"}
LISBON = new("User lives in Lisbon.")
DOG = new("User has a dog.")
FORGET = delete("m-1")
BOTH = (LISBON, DOG)
BOTH_REPLY = reply_of(LISBON_ITEM, DOG_ITEM)
BOTH_LIST = json.dumps([LISBON_ITEM, DOG_ITEM])
ONE_REPLY = reply_of(LISBON_ITEM)


def named(group: str, cases: Sequence[ReplyCase]) -> tuple[ReplyCase, ...]:
    """The cases of a group, its name before theirs."""
    return tuple(replace(case, id=f"{group}: {case.id}") for case in cases)
