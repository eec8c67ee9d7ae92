"""Plain texts as Markdown that shows them as they are, for what comes from a memory or a model.

An image in a memory would be loaded from wherever it points to, and tell who reads the page.
"""

from __future__ import annotations

import functools
import re

# Of what the page reads specially, only these start anything in the middle of a line. Brackets are
# not escaped, since the page takes ``\(`` and ``\[`` for mathematics (host: its page's Markdown):
# what they would start is parted by a joiner.
_MARKDOWN_ACTIVE = "`*_{<&$~|"
_WORD_JOINER = "\u2060"
# Control characters, and those that would turn the rest of the line around.
_UNSHOWN = dict.fromkeys([*range(9), *range(14, 28), 127, *range(0x202A, 0x202F)])
_UNSHOWN.update(dict.fromkeys(range(0x2066, 0x206A)))


@functools.cache
def _markdown_marks() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Where a backslash belongs within a line, where a joiner does, and how a line may begin."""
    address = r"(?<=http):|(?<=https):|(?<=ftp):|(?<=www)\."
    inner = re.compile(rf"(?=[{re.escape(_MARKDOWN_ACTIVE)}])|(?={address})", re.IGNORECASE)
    parted = re.compile(r"(?<=\[)|(?<=\])(?=[(\[:])")
    leading = re.compile(r"\d{1,9}(?=[.)])|(?=[-+#=>])")
    return inner, parted, leading


def plain_line(text: str) -> str:
    """A text as one line of Markdown without any markup; spaces and line breaks become one space.

    A backslash is followed by an invisible joiner, too. Addresses are not made links.
    """
    inner, parted, leading = _markdown_marks()
    line = " ".join(text.translate(_UNSHOWN).split())
    escaped = parted.sub(_WORD_JOINER, inner.sub(r"\\", line.replace("\\", "\0")))
    escaped = escaped.replace("\0", "\\\\" + _WORD_JOINER)
    if start := leading.match(escaped):
        escaped = f"{start[0]}\\{escaped[start.end() :]}"
    return escaped


def plain_lines(text: str) -> str:
    """A text of several lines as Markdown that keeps its lines and has no markup."""
    paragraphs = re.split(r"\n[ \t]*\n", text.strip("\n"))
    shown = ("  \n".join(map(plain_line, one.splitlines())) for one in paragraphs)
    return "\n\n".join(one for one in shown if one.strip())


def clipped_line(text: str, limit: int) -> str:
    """A text on one line, of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
