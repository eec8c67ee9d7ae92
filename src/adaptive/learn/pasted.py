"""What of a message was typed, and what was pasted into it.

Fences, block quotes, mails and sentences in quotation marks hold other people's words. Lines and
quotation marks are walked over once, so that the time grows with the length alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from adaptive.core.texts import word_table
from adaptive.learn.quotation import UNSPACED, word_units

_LEAST_FENCE = 3
_MOST_INDENTED = (
    3  # farther in, Markdown reads neither a fence nor a block quote
)
_EMOTICONS = (">.", ">:", ">_", "><")
_HEADER_NAMES = word_table("mail_headers")
_SUBJECT_NAMES = frozenset(_HEADER_NAMES["subject"])
_MAIL_NAMES = _SUBJECT_NAMES.union(_HEADER_NAMES["others"])
_LONGEST_HEADER_NAME = 40
_LEAST_HEADERS = 2
# What mail programs and people put right above a mail: "-----Original Message-----", "He writes:".
_MAIL_RULES = ("--", "__", "==")
_COLONS = (":", "\uff1a")
_ADDRESS = re.compile(r"\w@\w")
_QUOTATION_MARK = re.compile(
    '["\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f]'
)
# What ends the quotation that a mark begins. Of German and Swedish marks either form closes.
_CLOSING_MARKS = {
    '"': '"',
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
}
_LONGEST_TITLE_WORDS = 6  # shorter quotations are titles and names
_LONGEST_TITLE_SIGNS = 12


def typed_words(words: str) -> str:
    """A message without what stands in fences, block quotes, mails and quoted sentences."""
    return _without_quoted_sentences(unpasted_words(words))


def unpasted_words(words: str) -> str:
    """A message without what stands in fences, block quotes and mails."""
    lines = _without_fences_and_citations(words.split("\n"))
    return "\n".join(lines[: _mail_start(lines)])


def _without_fences_and_citations(lines: Sequence[str]) -> list[str]:
    """The same lines, empty where one belongs to a fence or to a block quote."""
    typed: list[str] = []
    open_fence = ""
    for line in lines:
        fence = _fence(line)
        is_pasted = bool(open_fence or fence) or _is_cited(line)
        typed.append("" if is_pasted else line)
        if open_fence:
            if fence.startswith(open_fence):
                open_fence = ""
        elif (
            fence and line.count(fence) == 1
        ):  # else it is closed in the same line
            open_fence = fence
    return typed


def _fence(line: str) -> str:
    """The run of backticks or tildes that begins a line, if it is long enough for a fence."""
    text = _block_text(line)
    sign = text[:1]
    length = len(text) - len(text.lstrip(sign))
    return (
        sign * length if sign in ("`", "~") and length >= _LEAST_FENCE else ""
    )


def _is_cited(line: str) -> bool:
    """Whether a line belongs to a block quote; an emoticon begins none."""
    text = _block_text(line)
    return text.startswith(">") and not text.startswith(_EMOTICONS)


def _block_text(line: str) -> str:
    """A line without its indentation; empty where it is indented too far to begin a block."""
    text = line.lstrip(" \t")
    return text if len(line) - len(text) <= _MOST_INDENTED else ""


def _mail_start(lines: Sequence[str]) -> int:
    """The number of the line with which a mail begins that goes on to the end of the message."""
    paragraph: list[str] = []
    for number, line in enumerate(lines):
        if line.strip():
            paragraph.append(line)
        elif headers := _mail_headers(paragraph):
            return number - headers
        else:
            paragraph = []
    return len(lines)


def _mail_headers(paragraph: Sequence[str]) -> int:
    """How many lines at the end of a paragraph are the headers of a mail.

    Two of them or more have names that mail programs give, and one of these is the subject or
    holds an address: recipes, forms and itineraries have the shape of headers, too.
    """
    names: set[str] = set()
    is_addressed = False
    headers = 0
    for number, line in enumerate(reversed(paragraph), start=1):
        name, value = _header(line)
        if name:
            headers = number
        elif not line.startswith(
            (" ", "\t")
        ):  # else it may go on with the header above
            break
        if name in _MAIL_NAMES:
            names.add(name)
            is_addressed = (
                is_addressed
                or name in _SUBJECT_NAMES
                or bool(_ADDRESS.search(value))
            )
    above = paragraph[-headers - 1].strip() if headers < len(paragraph) else ""
    begins_here = (
        not above or above.endswith(_COLONS) or above.startswith(_MAIL_RULES)
    )
    is_mail = len(names) >= _LEAST_HEADERS and is_addressed and begins_here
    return headers if is_mail else 0


def _header(line: str) -> tuple[str, str]:
    """The name in small letters and the value of a header; two empty texts for another line."""
    beginning = line[: _LONGEST_HEADER_NAME + 1].replace(
        _COLONS[1], _COLONS[0]
    )
    name, colon, _ = beginning.partition(_COLONS[0])
    plain = name.strip(
        " \t*_"
    ).casefold()  # some programs set names in bold type
    is_word = plain[:1].isalpha() and plain.replace("-", "").isalnum()
    is_header = colon and (plain in _MAIL_NAMES or is_word)
    return (plain, line[len(name) + 1 :]) if is_header else ("", "")


def _without_quoted_sentences(text: str) -> str:
    """The text without what stands in quotation marks, unless it is as short as a title."""
    typed: list[str] = []
    reached = 0
    for start, end in _quotations(text):
        if not _is_title(text[start:end]):
            typed.append(text[reached:start])
            reached = end
    return " ".join([*typed, text[reached:]])


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Where each quotation begins and ends, marks included; none stands within another."""
    marks = [
        (mark.start(), mark.group()) for mark in _QUOTATION_MARK.finditer(text)
    ]
    reached = 0
    for number, (start, mark) in enumerate(marks):
        closing = _CLOSING_MARKS.get(mark)
        if closing is None or start < reached:
            continue
        # The next mark of the same kind ends the search, so that each is seen a few times at most.
        places = range(number + 1, len(marks))
        follower = next(
            (at for at in places if marks[at][1] in (mark, *closing)), None
        )
        if follower is None or marks[follower][1] not in closing:
            continue
        end = marks[follower][0] + 1
        if _encloses_words(text, start, end):
            reached = end
            yield start, end


def _encloses_words(text: str, start: int, end: int) -> bool:
    """Whether the marks at both ends enclose something, straight ones as close as they must be."""
    inside = text[start + 1 : end - 1]
    if text[start] != '"':
        return bool(inside)
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    touches_word = any(sign.isalnum() or sign == "_" for sign in around)
    return bool(inside) and inside == inside.strip() and not touches_word


def _is_title(quotation: str) -> bool:
    """Whether a quotation is short enough for a title or a name."""
    longest = (
        _LONGEST_TITLE_SIGNS
        if UNSPACED.search(quotation)
        else _LONGEST_TITLE_WORDS
    )
    return len(word_units(quotation)) <= longest
