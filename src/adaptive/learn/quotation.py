"""What of a message its user typed, and whether a quotation stands in it.

Fences, block quotes, mails and sentences in quotation marks hold other people's words. Lines and
quotation marks are walked over once, so that the time grows with the length alone.
"""

import re
from collections import Counter
from collections.abc import Sequence

from adaptive.core import word_table
from adaptive.search import KnownWords, folded_text

_LEAST_FENCE = 3
# Farther in, Markdown reads neither a fence nor a block quote
_MOST_INDENTED = 3
_EMOTICONS = (">.", ">:", ">_", "><")
_HEADER_NAMES = word_table("mail_headers")
_SUBJECT_NAMES = frozenset(_HEADER_NAMES["subject"])
_MAIL_NAMES = _SUBJECT_NAMES.union(_HEADER_NAMES["others"])
_LONGEST_HEADER_NAME = 40
_LEAST_HEADERS = 2
# What mail programs and people put right above a mail: "-----Original Message-----", "He writes:".
_MAIL_RULES = ("--", "__", "==")
COLONS = (":", "\uff1a")
_ADDRESS = re.compile(r"\w@\w")
# Straight marks stand as close as they must; of German and Swedish marks either form closes.
_QUOTATION = re.compile(
    r'(?<!\w)"(?=[^\s"])[^"]*(?<=\S)"(?!\w)'
    "|\u201c[^\u201c\u201d]+\u201d"
    "|\u201e[^\u201c\u201d\u201e]+[\u201c\u201d]"
    "|\u00ab[^\u00ab\u00bb]+\u00bb"
    "|\u00bb[^\u00ab\u00bb]+\u00ab"
    "|\u300c[^\u300c\u300d]+\u300d"
    "|\u300e[^\u300e\u300f]+\u300f"
)
_LONGEST_TITLE_WORDS = 6  # shorter quotations are titles and names
_LONGEST_TITLE_SIGNS = 12
_UNSPACED_SIGNS = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
UNSPACED = re.compile(f"[{_UNSPACED_SIGNS}]")
_UNITS = re.compile(rf"{UNSPACED.pattern}|[^\W_{_UNSPACED_SIGNS}]+")
_WINDOW = 2  # times as long as its quotation, whose words may stand apart
_LONGEST_QUOTED = 60  # words that are looked for; the prompt asks for 12


def word_units(text: str) -> list[str]:
    """The words of a text, or its signs where words are not spaced."""
    return _UNITS.findall(folded_text(text))


def quoted_share(spans: Sequence[str], text: str) -> float:
    """The share of a quotation's words that stand near each other in a text, from 0 to 1."""
    units = word_units(text)
    typed = KnownWords(units)
    quoted = [
        [typed.as_spelled(word) for word in word_units(span)[:_LONGEST_QUOTED]]
        for span in spans
    ]
    stand = 0
    for words in filter(None, quoted):
        windows = (
            Counter(units[place : place + _WINDOW * len(words)])
            for place in range(0, len(units), len(words))
        )
        wanted = Counter(words)
        stand += max(
            ((wanted & window).total() for window in windows), default=0
        )
    return stand / max(1, sum(map(len, quoted)))


def typed_words(words: str) -> str:
    """A message without what stands in fences, block quotes, mails and quoted sentences."""
    return _QUOTATION.sub(_typed_quotation, unpasted_words(words))


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
        not above or above.endswith(COLONS) or above.startswith(_MAIL_RULES)
    )
    is_mail = len(names) >= _LEAST_HEADERS and is_addressed and begins_here
    return headers if is_mail else 0


def _header(line: str) -> tuple[str, str]:
    """The name in small letters and the value of a header; two empty texts for another line."""
    beginning = line[: _LONGEST_HEADER_NAME + 1].replace(COLONS[1], COLONS[0])
    name, colon, _ = beginning.partition(COLONS[0])
    plain = name.strip(
        " \t*_"
    ).casefold()  # some programs set names in bold type
    is_word = plain[:1].isalpha() and plain.replace("-", "").isalnum()
    is_header = colon and (plain in _MAIL_NAMES or is_word)
    return (plain, line[len(name) + 1 :]) if is_header else ("", "")


def _typed_quotation(match: re.Match[str]) -> str:
    """A quotation as it is where it is short enough for a title or a name."""
    quotation = match[0]
    longest = (
        _LONGEST_TITLE_SIGNS
        if UNSPACED.search(quotation)
        else _LONGEST_TITLE_WORDS
    )
    return quotation if len(word_units(quotation)) <= longest else " "
