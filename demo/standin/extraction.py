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
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LONGEST_READ = 20_000
_SURE = 0.95


@dataclass(frozen=True, slots=True)
class Existing:
    """A memory that the request lists."""

    id: str
    text: str


class _Said:
    """The sentences of a message, to be quoted."""

    def __init__(self, message: str) -> None:
        sentences = _SENTENCE_END.split(message[:_LONGEST_READ].strip())
        self._words = {one: content_words(one) for one in sentences}

    def evidence(self, content: str) -> str:
        """The sentence that shares most words with what is to be remembered, as it was typed."""
        wanted = content_words(content)
        return max(self._words, key=lambda one: len(self._words[one] & wanted))


def operations(request: str) -> list[Operation]:
    """What the user's newest message changes about the memories that the request lists."""
    # The first heading counts: what the user typed may repeat it.
    before, heading, newest = request.partition(_NEWEST)
    if not heading:
        before, newest = "", request
    existing, said = _listed(before), _Said(newest)
    deleted = [
        _deletion(existing[position], said)
        for wish in forgotten_in(newest)
        for position in best_fitting(content_words(wish), [one.text for one in existing])[:1]
    ]
    changed = [
        operation
        for statement in statements_in(newest)
        if (operation := _change(statement, existing, said))
    ]
    return [*deleted, *changed]


def _listed(before: str) -> list[Existing]:
    lines = before.partition(_EXISTING)[2].splitlines()
    return [
        Existing(entry["id"], _TAGS_IN_FRONT.sub("", entry["text"], count=1).strip())
        for line in lines
        if (entry := _ENTRY.fullmatch(line.strip()))
    ]


def _change(statement: Statement, existing: list[Existing], said: _Said) -> Operation | None:
    content = statement.content.casefold()
    if any(memory.text.casefold() == content for memory in existing):
        return None
    corrected = next((one for one in existing if _corrects(statement, one)), None)
    return {
        "operation": "UPDATE" if corrected else "NEW",
        **({"id": corrected.id} if corrected else {}),
        "content": statement.content,
        "evidence": said.evidence(statement.content),
        "about": "user",
        "kind": "FACT",
        "until": None,
        "tags": list(statement.tags),
        "memory_bank": statement.bank,
        "confidence": _SURE,
        "importance": statement.importance,
    }


def _corrects(statement: Statement, memory: Existing) -> bool:
    """Both say something else in the same sentence frame."""
    if not statement.frame:
        return False
    frame, text = f"{statement.frame} ".casefold(), memory.text.casefold()
    # "User's boat is red" does not correct "User's boat is called Moby".
    return text.startswith(frame) and not text.removeprefix(frame).startswith("called ")


def _deletion(memory: Existing, said: _Said) -> Operation:
    return {
        "operation": "DELETE",
        "id": memory.id,
        "content": memory.text,
        "evidence": said.evidence(memory.text),
        "confidence": _SURE,
    }
