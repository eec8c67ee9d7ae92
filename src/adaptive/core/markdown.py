"""Texts as the page shows them: marked spans taken out, markup made plain, lines of our own.

A line that we add to an answer has a fixed form, so that it is known wherever the answer comes
back: as part of the conversation for a model, or as something to learn from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from adaptive.core.shapes import listing, mapping

# What the page reads specially within a line gets a backslash. Brackets do not, since the page
# takes ``\(`` and ``\[`` for mathematics: what they would start is parted by a joiner.
_ACTIVE = re.compile(
    r"(?=[`*_{<&$~|])|(?<=http)(?=:)|(?<=https)(?=:)|(?<=ftp)(?=:)|(?<=www)(?=\.)", re.IGNORECASE
)
_PARTED = re.compile(r"(?<=\[)|(?<=\])(?=[(\[:])")
_LEADING = re.compile(r"\d{1,9}(?=[.)])|(?=[-+#=>])")
_WORD_JOINER = "\u2060"
# Control characters, and those that would turn the rest of the line around.
_UNSHOWN = dict.fromkeys(
    [*range(9), *range(14, 28), 127, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
_NOTE_START = "> 🧠 *Adaptive Memory:* "
_NOTE = re.compile(f"^{re.escape(_NOTE_START)}.*$", re.MULTILINE)
_LONGEST_ANSWER_NOTE = 600


def without_spans(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """The text without each span from an opening to the next closing; an unclosed one stays."""
    kept: list[str] = []
    position = 0
    for start, end in _spans(text, opening, closing):
        kept.append(text[position : start.start()])
        position = end.end()
    return "".join([*kept, text[position:]])


def within_spans(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> list[str]:
    """What stands in each of those spans, without the marks."""
    return [text[start.end() : end.start()] for start, end in _spans(text, opening, closing)]


def _spans(
    text: str, opening: re.Pattern[str], closing: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Openings with their closings, in linear time: one pattern would take minutes for 200 kB."""
    position = 0
    while (start := opening.search(text, position)) and (end := closing.search(text, start.end())):
        yield start, end
        position = end.end()


def plain_line(text: str) -> str:
    """A text as one line of Markdown without any markup, so that no image is loaded from it.

    A backslash is followed by an invisible joiner, too. Addresses are not made links.
    """
    line = " ".join(text.translate(_UNSHOWN).split()).replace("\\", "\0")
    escaped = _PARTED.sub(_WORD_JOINER, _ACTIVE.sub(r"\\", line))
    escaped = escaped.replace("\0", "\\\\" + _WORD_JOINER)
    start = _LEADING.match(escaped)
    return f"{start[0]}\\{escaped[start.end() :]}" if start else escaped


def plain_lines(text: str) -> str:
    """A text of several lines as Markdown that keeps its lines and has no markup."""
    paragraphs = re.split(r"\n[ \t]*\n", text.strip("\n"))
    shown = ("  \n".join(map(plain_line, one.splitlines())) for one in paragraphs)
    return "\n\n".join(one for one in shown if one.strip())


def clipped_line(text: str, limit: int) -> str:
    """A text on one line, of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def answer_note(line: str) -> str:
    """What is added to an answer: a quote of one line that shows the text without any markup."""
    return _NOTE_START + plain_line(clipped_line(line, _LONGEST_ANSWER_NOTE))


def without_answer_note(text: str) -> str:
    """An answer without the lines that were added to it; as it is where there are none."""
    first, *others = _NOTE.split(text)
    parts = [first.rstrip(), *(other.strip() for other in others)]
    return "\n\n".join(filter(None, parts)) if others else text


def rewritten_answers(
    messages: Sequence[dict[str, Any]], rewrite: Callable[[str], str]
) -> list[dict[str, Any]]:
    """Messages whose answers are rewritten; one in which nothing changes is the same object."""
    return [
        {**message, **fields}
        if mapping(message).get("role") == "assistant"
        and (fields := rewritten_answer(message, rewrite))
        else message
        for message in messages
    ]


def rewritten_answer(message: Mapping[str, Any], rewrite: Callable[[str], str]) -> dict[str, Any]:
    """The fields of an answer that change when what the model says in it is rewritten.

    Open WebUI shows ``content`` up to 0.9 and ``output`` from 0.10 on, and may keep both. In
    ``output`` reasoning, calls of tools and their results stay as they are.
    """
    items = [
        {**item, "content": rewritten_texts(item.get("content"), rewrite)}
        if mapping(item).get("type") == "message"
        else item
        for item in listing(message.get("output"))
    ]
    content = rewritten_texts(message.get("content"), rewrite)
    fields = {"content": content, "output": items or message.get("output")}
    return {name: value for name, value in fields.items() if value != message.get(name)}


def rewritten_texts(content: object, rewrite: Callable[[str], str]) -> object:
    """A text, or a list of parts, with its texts rewritten."""
    if isinstance(content, str):
        return rewrite(content)
    return [
        {**part, "text": rewrite(text)}
        if isinstance(text := mapping(part).get("text"), str)
        else part
        for part in listing(content)
    ] or content
