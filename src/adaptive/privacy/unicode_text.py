"""One spelling for the many ways in which Unicode writes a digit, a dot, a dash or a space."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

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
# From so many characters on, an array of the text is worth its making.
_LONG_TEXT = 2000


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
    spelled = respelt(original, _pii_spelling())
    if "\u30fc" in spelled:
        spelled = _pii_long_vowel().sub("-", spelled)
    hidden = _pii_hidden()
    if not hidden.search(distinct_signs(spelled)):
        return UnicodeText(spelled)
    places = [found.start() for found in hidden.finditer(spelled)]
    return UnicodeText(
        hidden.sub("", spelled), tuple(place - rank for rank, place in enumerate(places))
    )


def distinct_signs(text: str) -> str:
    """The characters of a text, each once where it is long, so that a search in them is short."""
    if len(text) < _LONG_TEXT:
        return text
    codes = _code_points(text)
    seen = np.zeros(int(codes.max()) + 1, dtype=np.bool_)
    seen[codes] = True
    return np.flatnonzero(seen).astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def respelt(text: str, table: SignTable) -> str:
    """A text with another character for each that a table has one for; as long as before.

    ``str.translate`` asks the table for each character of a text that is not ASCII; this asks once
    for each different one, which for 100 kB is ten times faster.
    """
    if len(text) < _LONG_TEXT or text.isascii():
        return text.translate(table)
    codes = _code_points(text)
    signs = distinct_signs(text)
    spelling = np.arange(int(codes.max()) + 1, dtype="<u4")
    for sign in signs:
        code = ord(sign)
        spelling[code] = table[code]
    return spelling[codes].tobytes().decode("utf-32-le", "surrogatepass")


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


class SignTable(dict[int, int]):
    """A table for ``respelt`` and ``str.translate``; what it does not hold stays."""

    def __missing__(self, code: int) -> int:
        return code


class _PiiSpelling(SignTable):
    """A table that learns a character when it first meets it."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        spelling = code
        if code > 127:
            digit = unicodedata.decimal(character, None)
            compatible = unicodedata.normalize("NFKC", character)
            if digit is not None:
                spelling = ord(str(digit))
            elif character.isspace():
                spelling = 10 if character in "\u0085\u2028\u2029" else 32
            elif len(compatible) == 1 and compatible.isascii():
                spelling = ord(compatible)
        self[code] = spelling
        return spelling


@cache
def _pii_spelling() -> _PiiSpelling:
    table = _PiiSpelling()
    for plain, alike in _PII_LOOK_ALIKES.items():
        table.update(dict.fromkeys(map(ord, alike), ord(plain)))
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
