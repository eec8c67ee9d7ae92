"""Texts as the page shows them: markup made plain, lines of our own."""

from __future__ import annotations

import html
import re

from adaptive.core.messages import NOTE_START

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
_LONGEST_ANSWER_NOTE = 600


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
    return NOTE_START + plain_line(clipped_line(line, _LONGEST_ANSWER_NOTE))
