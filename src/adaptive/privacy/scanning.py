"""What the finders of secrets and of personal data share: one spelling, and quick alternatives."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from adaptive.core.cache import text_cache

# Characters that look like the one they stand for. The three full stops beside the ASCII dot that
# a browser takes in a host name are U+3002, U+FF0E and U+FF61 (UTS #46, section 4).
_LOOK_ALIKES = (
    dict.fromkeys("\u2024\u3002\uff0e\uff61\u00b7\u2027\u2219\u22c5\u30fb\uff65\u06d4", ".")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
    | dict.fromkeys("\u2018\u2019\u02bc\uff07", "'")
    | {"\u2236": ":", "\ua789": ":", "\u2044": "/", "\u2215": "/", "\u00ba": "°", "\u02da": "°"}
)
# Fillers and variation selectors; other signs that take no room are of the category Cf.
_FILLERS = re.compile("[\u034f\u115f\u1160\u180b-\u180d\u3164\ufe00-\ufe0f\uffa0]")


@dataclass(frozen=True, slots=True)
class Finding:
    """What kind of thing stands where in a text as it was given; not the thing itself."""

    kind: str
    start: int
    end: int


def in_order(found: Iterable[Finding], places: Sequence[int]) -> tuple[Finding, ...]:
    """What was found in a plain text where it stands in the original; what overlaps is one."""
    joined: list[Finding] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if joined and one.start < joined[-1].end:
            former = joined.pop()
            kind = max(former, one, key=lambda one: one.end - one.start).kind
            one = Finding(kind, former.start, max(former.end, one.end))
        joined.append(one)
    return tuple(Finding(one.kind, places[one.start], places[one.end - 1] + 1) for one in joined)


def with_marks(text: str, findings: Iterable[Finding], mark: Callable[[Finding], str]) -> str:
    """The text with a mark in the place of each finding, which stand in its order."""
    parts: list[str] = []
    position = 0
    for one in findings:
        parts += text[position : one.start], mark(one)
        position = one.end
    return "".join([*parts, text[position:]])


def plain_text(text: str) -> tuple[str, Sequence[int]]:
    """The text as a reader sees it, and the place in the original of each of its characters.

    Digits and letters of all kinds become plain ones, dashes, dots and spaces one of each.
    """
    if text.isascii():
        return text, range(len(text))
    plain, places = respelled(text, _plain_sign)
    # The Japanese sign for a long vowel is typed for a dash between digits.
    return re.sub("(?<=[0-9])\u30fc(?=[0-9])", "-", plain), places


def respelled(text: str, plain_sign: Callable[[str], str]) -> tuple[str, Sequence[int]]:
    """The text with one sign or none for each, and the places of those that stay."""
    table = {ord(sign): plain_sign(sign) for sign in set(text)}
    places = range(len(text))
    if "" in table.values():
        places = [place for place, sign in enumerate(text) if table[ord(sign)]]
    return text.translate(table), places


@text_cache(20_000)
def _plain_sign(sign: str) -> str:
    """One plain character for what looks like it; nothing for what is not seen."""
    if sign.isascii():
        return sign
    if unicodedata.category(sign) == "Cf" or _FILLERS.match(sign):
        return ""
    if sign in _LOOK_ALIKES:
        return _LOOK_ALIKES[sign]
    if sign.isspace():
        return "\n" if sign in "\u0085\u2028\u2029" else " "
    digit = unicodedata.decimal(sign, None)
    plain = unicodedata.normalize("NFKC", sign) if digit is None else str(digit)
    return plain if len(plain) == 1 else sign


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of these, in their order, by the first sign, which is plain."""
    by_sign: dict[str, list[str]] = {}
    for word in words:
        by_sign.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{sign}(?:{'|'.join(rests)})" for sign, rests in by_sign.items())
