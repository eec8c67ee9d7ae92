"""Plays the model's part in extraction: a request in, a JSON object of operations out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from demo.standin.statements import Statement, forgotten_in, statements_in
from demo.standin.words import best_fitting, content_words

Operation = dict[str, object]

_EXISTING = "## Existing memories\n"
_NEWEST = "## Newest message of the user\n"
_ENTRY = re.compile(r"- id=(?P<id>\S+) \| (?P<text>.+)")
# Releases of Open WebUI before 0.10 keep tags in front of the sentence.
_TAGS_IN_FRONT = re.compile(r"\[[^\]]*\]\s*")
_SURE = 0.95


@dataclass(frozen=True, slots=True)
class Existing:
    """A memory that the request lists."""

    id: str
    text: str


def operations(request: str) -> list[Operation]:
    """What the user's newest message changes about the memories that the request lists."""
    # The first heading counts: what the user typed may repeat it.
    before, heading, newest = request.partition(_NEWEST)
    if not heading:
        before, newest = "", request
    existing = _listed(before)
    deleted = [
        _deletion(existing[position])
        for wish in forgotten_in(newest)
        for position in best_fitting(content_words(wish), [one.text for one in existing])[:1]
    ]
    changed = [
        operation
        for statement in statements_in(newest)
        if (operation := _change(statement, existing))
    ]
    return [*deleted, *changed]


def _listed(before: str) -> list[Existing]:
    lines = before.partition(_EXISTING)[2].splitlines()
    return [
        Existing(entry["id"], _TAGS_IN_FRONT.sub("", entry["text"], count=1).strip())
        for line in lines
        if (entry := _ENTRY.fullmatch(line.strip()))
    ]


def _change(statement: Statement, existing: list[Existing]) -> Operation | None:
    content = statement.content.casefold()
    if any(memory.text.casefold() == content for memory in existing):
        return None
    corrected = next((one for one in existing if _corrects(statement, one)), None)
    return {
        "operation": "UPDATE" if corrected else "NEW",
        **({"id": corrected.id} if corrected else {}),
        "content": statement.content,
        "tags": list(statement.tags),
        "memory_bank": statement.bank,
        "confidence": _SURE,
        "importance": statement.importance,
        "kind": "FACT",
    }


def _corrects(statement: Statement, memory: Existing) -> bool:
    """Both say something else in the same sentence frame."""
    if not statement.frame:
        return False
    frame, text = f"{statement.frame} ".casefold(), memory.text.casefold()
    # "User's boat is red" does not correct "User's boat is called Moby".
    return text.startswith(frame) and not text.removeprefix(frame).startswith("called ")


def _deletion(memory: Existing) -> Operation:
    return {
        "operation": "DELETE",
        "id": memory.id,
        "content": memory.text,
        "confidence": _SURE,
        "kind": "FACT",
    }
