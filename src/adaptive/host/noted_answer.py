"""A stored answer of the host with a line of ours added to it."""

from __future__ import annotations

from typing import Any

from adaptive.answer_notes import answer_note, without_answer_note
from adaptive.messages import Message, message_text
from adaptive.shapes import listing, mapping

_NOTE_ITEM = "adaptive_memory_note"


def noted_answer(message: Message, line: str) -> dict[str, Any] | None:
    """The fields of a stored answer that change when a line is added to it.

    ``None`` where none can be: the message is no answer, is still being written, is empty or an
    error, or ends within a block of code. A line that was added before is replaced. Open WebUI
    shows ``content`` up to 0.9 and ``output`` from 0.10 on (the page's own code), so both change.
    In ``output`` the line is an item of its own, whose part is ``text`` and not ``output_text``:
    the page shows both, and the host leaves it out of what it sends to a model (host:
    utils/misc.py, convert_output_to_messages).
    """
    text = said_in_answer(message)
    if not is_whole_answer(message) or not text or _ends_in_code(text):
        return None
    note = answer_note(line)
    fields: dict[str, Any] = {"content": f"{text}\n\n{note}"}
    if items := [one for one in listing(message.get("output")) if not _is_note_item(one)]:
        part = {"type": "text", "text": note}
        item = {"type": "message", "id": _NOTE_ITEM, "status": "completed", "role": "assistant"}
        fields["output"] = [*items, {**item, "content": [part]}]
    return fields


def is_whole_answer(message: Message) -> bool:
    """Whether a stored message is an answer that is neither still being written nor an error."""
    whole = message.get("done") is not False and not message.get("error")
    return message.get("role") == "assistant" and whole


def said_in_answer(message: Message) -> str:
    """The text of a stored answer without a line that was added to it."""
    items = [one for one in listing(message.get("output")) if not _is_note_item(one)]
    return without_answer_note(message_text({**message, "output": items})).rstrip()


def _is_note_item(item: object) -> bool:
    return mapping(item).get("id") == _NOTE_ITEM


def _ends_in_code(text: str) -> bool:
    fence = ""
    for line in text.splitlines():
        start = line.strip()
        if fence:
            fence = "" if start.startswith(fence) and not start.strip(fence[0]) else fence
        elif start.startswith(("```", "~~~")):
            fence = start[: len(start) - len(start.lstrip(start[0]))]
    return bool(fence)
