"""The line that Adaptive Memory adds to an answer: its form, adding it, and taking it out again.

Its form is fixed, so that it is known wherever an answer comes back: as part of the conversation
for a model, or as something to learn from. The model has not said it.
"""

from __future__ import annotations

from typing import Any

from adaptive.messages import Message, message_text
from adaptive.plain_markdown import clipped_line, plain_line
from adaptive.shapes import listing, mapping

_NOTE_START = "> 🧠 *Adaptive Memory:* "
_NOTE_ITEM = "adaptive_memory_note"
_LONGEST_ANSWER_NOTE = 600


def answer_note(line: str) -> str:
    """What is added to an answer: a quote of one line that shows the text without any markup."""
    return _NOTE_START + plain_line(clipped_line(line, _LONGEST_ANSWER_NOTE))


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


def noted_answer(message: Message, line: str) -> dict[str, Any] | None:
    """The fields of a stored answer that change when a line is added to it.

    ``None`` where none can be: the message is no answer, is still being written, is empty or an
    error, or ends within a block of code. A line that was added before is replaced. Open WebUI
    shows ``content`` up to 0.9 and ``output`` from 0.10 on (the page's own code), so both change.
    In ``output`` the line is an item of its own, whose part is ``text`` and not ``output_text``:
    the page shows both, and the host leaves it out of what it sends to a model (host:
    utils/misc.py, convert_output_to_messages).
    """
    text = without_answer_note(_said_in_answer(message)).rstrip()
    if message.get("role") != "assistant" or message.get("done") is False or message.get("error"):
        return None
    if not text or _ends_in_code(text):
        return None
    note = answer_note(line)
    fields: dict[str, Any] = {"content": f"{text}\n\n{note}"}
    if items := [one for one in listing(message.get("output")) if not _is_note_item(one)]:
        part = {"type": "text", "text": note}
        item = {"type": "message", "id": _NOTE_ITEM, "status": "completed", "role": "assistant"}
        fields["output"] = [*items, {**item, "content": [part]}]
    return fields


def _said_in_answer(message: Message) -> str:
    items = [one for one in listing(message.get("output")) if not _is_note_item(one)]
    return message_text({**message, "output": items})


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
