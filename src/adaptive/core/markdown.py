"""Texts as the page shows them: marked spans taken out, markup made plain, lines of our own.

A line that we add to an answer has a fixed form, so that it is known wherever the answer comes
back: as part of the conversation for a model, or as something to learn from.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from adaptive.core.shapes import listing, mapping

# What the page reads specially within a line gets a backslash. Brackets do not, since the page
# takes ``\(`` and ``\[`` for mathematics: what they would start is parted by a joiner.
_ACTIVE = re.compile(
    r"(?=[`*_{<&$~|])|(?<=http)(?=:)|(?<=https)(?=:)|(?<=ftp)(?=:)|(?<=www)(?=\.)",
    re.IGNORECASE,
)
_PARTED = re.compile(r"(?<=\[)|(?<=\])(?=[(\[:])")
_LEADING = re.compile(r"\d{1,9}(?=[.)])|(?=[-+#=>])")
_WORD_JOINER = "\u2060"
# Without anything below the page shows no line either; this shows the line, and nothing to open.
_NOTHING_BELOW = "&nbsp;"
# What of a line is only there for Markdown, and signs for the angle brackets that begin tags.
_MARKUP = re.compile(rf"\\(?=[^\w\s{_WORD_JOINER}])|\*\*|`|{_WORD_JOINER}")
_NO_TAGS = str.maketrans("<>", "\u2039\u203a")
# Control characters, and those that would turn the rest of the line around.
_UNSHOWN = re.compile("[\x00-\x08\x0e-\x1b\x7f\u202a-\u202e\u2066-\u2069]")
_NOTE_START = "> 🧠 *Adaptive Memory:* "
_NOTE = re.compile(f"^{re.escape(_NOTE_START)}.*$", re.MULTILINE)
_LONGEST_ANSWER_NOTE = 600


def without_spans(text: str, tags: str) -> str:
    """The text without each span from a tag of this pattern to the next closing one."""
    kept, position = "", 0
    for start, end in _spans(text, tags):
        kept += text[position : start.start()]
        position = end.end()
    return kept + text[position:]


def within_spans(text: str, tags: str) -> list[str]:
    """What stands in each of those spans, without the tags."""
    return [
        text[start.end() : end.start()] for start, end in _spans(text, tags)
    ]


def _spans(
    text: str, tags: str
) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Openings with their closings, in linear time: one pattern would take minutes for 200 kB."""
    opening = re.compile(rf"<(?:{tags})\b[^<>]*>", re.IGNORECASE)
    closing = re.compile(rf"</(?:{tags})>\s*", re.IGNORECASE)
    position = 0
    while (start := opening.search(text, position)) and (
        end := closing.search(text, start.end())
    ):
        yield start, end
        position = end.end()


def plain_line(text: str) -> str:
    """A text as one line of Markdown without any markup, so that no image is loaded from it.

    A backslash is followed by an invisible joiner, too. Addresses are not made links.
    """
    line = " ".join(_UNSHOWN.sub("", text).split()).replace("\\", "\0")
    escaped = _PARTED.sub(_WORD_JOINER, _ACTIVE.sub(r"\\", line))
    escaped = escaped.replace("\0", "\\\\" + _WORD_JOINER)
    start = _LEADING.match(escaped)
    return f"{start[0]}\\{escaped[start.end() :]}" if start else escaped


def plain_lines(text: str) -> str:
    """A text of several lines as Markdown that keeps its lines and has no markup."""
    paragraphs = re.split(r"\n[ \t]*\n", text.strip("\n"))
    shown = (
        "  \n".join(map(plain_line, one.splitlines())) for one in paragraphs
    )
    return "\n\n".join(one for one in shown if one.strip())


def clipped_line(text: str, limit: int) -> str:
    """A text on one line, of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def folded_away(text: str) -> str:
    """A Markdown text as a block that the page shows folded, under its first line.

    The host writes titles, tags and follow-ups from what stands in a chat, and cuts such blocks out
    first (host: utils/middleware.py, background_tasks_handler). The page shows the line as it
    stands, and decodes entities in the rest.
    """
    first, _, rest = text.strip().partition("\n")
    line = _MARKUP.sub("", first).translate(_NO_TAGS).strip()
    body = html.escape(rest.strip(), quote=False) or _NOTHING_BELOW
    return f"<details>\n<summary>{line}</summary>\n\n{body}\n\n</details>"


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

    def rewritten(message: dict[str, Any]) -> dict[str, Any]:
        is_answer = mapping(message).get("role") == "assistant"
        fields = rewritten_answer(message, rewrite) if is_answer else {}
        return {**message, **fields} if fields else message

    return [*map(rewritten, messages)]


def rewritten_answer(
    message: Mapping[str, Any], rewrite: Callable[[str], str]
) -> dict[str, Any]:
    """The fields of an answer that change when what the model says in it is rewritten.

    Open WebUI shows ``content`` up to 0.9 and ``output`` from 0.10 on, and may keep both. In
    ``output`` reasoning, calls of tools and their results stay as they are.
    """
    fields = {
        name: _rewritten(message.get(name), rewrite)
        for name in ("content", "output")
    }
    return {
        name: value
        for name, value in fields.items()
        if value != message.get(name)
    }


def _rewritten(said: object, rewrite: Callable[[str], str]) -> object:
    """A text, a part with a text, an item with parts, or a list of these, with texts rewritten."""
    if isinstance(said, str):
        return rewrite(said)
    part = mapping(said)
    if part.get("type") == "message":
        return {**part, "content": _rewritten(part.get("content"), rewrite)}
    if isinstance(text := part.get("text"), str):
        return {**part, "text": rewrite(text)}
    return [_rewritten(one, rewrite) for one in listing(said)] or said
