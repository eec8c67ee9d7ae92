"""The line that Adaptive Memory adds to an answer: its form, and taking it out again.

Its form is fixed, so that it is known wherever an answer comes back: as part of the conversation
for a model, or as something to learn from. The model has not said it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adaptive.plain_markdown import clipped_line, plain_line
from adaptive.shapes import listing, mapping

_NOTE_START = "> 🧠 *Adaptive Memory:* "
_LONGEST_ANSWER_NOTE = 600


def answer_note(line: str) -> str:
    """What is added to an answer: a quote of one line that shows the text without any markup."""
    return _NOTE_START + plain_line(clipped_line(line, _LONGEST_ANSWER_NOTE))


def without_answer_notes(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages whose answers are without such lines; one that has none is the same object."""
    return [_bare_message(message) for message in messages]


def _bare_message(message: dict[str, Any]) -> dict[str, Any]:
    content = mapping(message).get("content")
    if mapping(message).get("role") != "assistant":
        return message
    bare: object = content
    if isinstance(content, str):
        bare = without_answer_note(content)
    elif parts := listing(content):
        bare = _bare_parts(parts)
    return message if bare == content else {**message, "content": bare}


def _bare_parts(parts: list[Any]) -> list[Any]:
    return [
        {**part, "text": without_answer_note(text)}
        if isinstance(text := mapping(part).get("text"), str)
        else part
        for part in parts
    ]


def without_answer_note(text: str) -> str:
    """An answer without the lines that were added to it; as it is where there are none."""
    if _NOTE_START not in text:
        return text
    kept: list[str] = []
    removed = False
    for line in text.split("\n"):
        if line.startswith(_NOTE_START):
            removed = True
            while kept and not kept[-1].strip():
                kept.pop()
        elif removed and not line.strip():
            continue
        else:
            kept += ["", line] if removed and kept else [line]
            removed = False
    return "\n".join(kept)
