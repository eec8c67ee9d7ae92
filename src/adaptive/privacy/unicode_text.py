"""One spelling for the many ways in which Unicode writes a digit, a dot, a dash or a space."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache

# Characters that look like the one they stand for. The three full stops beside the ASCII dot that
# a browser takes in a host name are U+3002, U+FF0E and U+FF61 (UTS #46, section 4).
_PII_LOOK_ALIKES = {
    ".": "\u2024\u3002\uff0e\uff61\u00b7\u0387\u2027\u2219\u22c5\u30fb\uff65\u06d4\ua4f8\u0589",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u207b",
    "@": "\uff20\ufe6b",
    ":": "\uff1a\ufe55\u2236\ua789",
    "'": "\u2018\u2019\u02bc\uff07",
    "/": "\u2044\u2215\uff0f",
    "+": "\uff0b\ufe62",
    "°": "\u00ba\u02da",
}


@dataclass(frozen=True, slots=True)
class UnicodeText:
    """A text in one spelling, with the way back to the places of the original.

    Attributes:
        text: digits of all scripts are ASCII, look-alikes are what they look like, characters
            that nobody sees are gone; otherwise as it was.
        hidden: for each removed character the place in ``text`` before which it stood, rising.
    """

    text: str
    hidden: tuple[int, ...] = ()

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of ``text`` stands in the original: start and end, end exclusive."""
        if not self.hidden:
            return start, end
        last = end - 1
        return (
            start + bisect_right(self.hidden, start),
            last + bisect_right(self.hidden, last) + 1,
        )


def unicode_text(original: str) -> UnicodeText:
    """Bring a text to one spelling."""
    if original.isascii():
        return UnicodeText(original)
    spelled = original.translate(_pii_spelling())
    if "\u30fc" in spelled:
        spelled = _pii_long_vowel().sub("-", spelled)
    hidden = _pii_hidden()
    if not hidden.search(spelled):
        return UnicodeText(spelled)
    places = [found.start() for found in hidden.finditer(spelled)]
    return UnicodeText(
        hidden.sub("", spelled), tuple(place - rank for rank, place in enumerate(places))
    )


class _PiiSpelling(dict[int, str | int]):
    """A table for ``str.translate`` that learns a character when it first meets it."""

    def __missing__(self, code: int) -> str | int:
        character = chr(code)
        spelling: str | int = code
        if code > 127:
            digit = unicodedata.decimal(character, None)
            compatible = unicodedata.normalize("NFKC", character)
            if digit is not None:
                spelling = str(digit)
            elif character.isspace():
                spelling = "\n" if character in "\u0085\u2028\u2029" else " "
            elif len(compatible) == 1 and compatible.isascii():
                spelling = compatible
        self[code] = spelling
        return spelling


@cache
def _pii_spelling() -> _PiiSpelling:
    table = _PiiSpelling()
    for plain, alike in _PII_LOOK_ALIKES.items():
        table.update(dict.fromkeys(map(ord, alike), plain))
    return table


@cache
def _pii_long_vowel() -> re.Pattern[str]:
    """The Japanese sign for a long vowel, which is typed for a dash between digits."""
    return re.compile("(?<=[0-9])\u30fc(?=[0-9])")


@cache
def _pii_hidden() -> re.Pattern[str]:
    """Soft hyphen, zero-width and bidirectional marks, fillers, variation selectors."""
    return re.compile(
        "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
        "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef]"
    )
