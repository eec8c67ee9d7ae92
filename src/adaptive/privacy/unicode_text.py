"""One spelling for the many ways in which Unicode writes a digit, a dot, a dash or a space."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
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
# The Japanese sign for a long vowel, which is typed for a dash between digits.
_LONG_VOWEL = 0x30FC
_HYPHEN, _ZERO, _NINE = 0x2D, 0x30, 0x39
_ALL_CODES = 0x110000
_DIFFERS = 1
_MATCHES = 2


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
    codes = _pii_spelling().of(code_points(original))
    vowels = np.flatnonzero(codes[1:-1] == _LONG_VOWEL) + 1
    codes[vowels[is_digit(codes[vowels - 1]) & is_digit(codes[vowels + 1])]] = _HYPHEN
    hidden = _pii_hidden().marks(codes)
    if not hidden.any():
        return UnicodeText(text_of(codes))
    places = np.flatnonzero(hidden)
    return UnicodeText(text_of(codes[~hidden]), tuple((places - np.arange(len(places))).tolist()))


def respelt(text: str, table: SignTable) -> str:
    """A text with another character for each that a table has one for; as long as before."""
    return text_of(table.of(code_points(text)))


def code_points(text: str) -> NDArray[np.uint32]:
    """The code point of each character of a text."""
    if text.isascii():
        return np.frombuffer(text.encode(), dtype=np.uint8).astype("<u4")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def text_of(codes: NDArray[np.uint32]) -> str:
    """The text with these code points."""
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


class SignTable(dict[int, int]):
    """Other characters for some; what it does not hold stays.

    ``str.translate`` asks a table for each character of a text; this asks once for each that it
    meets for the first time, and looks up the others in an array.
    """

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        super().__init__(pairs)
        # The system gives memory only to the parts that are written to.
        self._met = np.zeros(_ALL_CODES, dtype="<u4")

    def __missing__(self, code: int) -> int:
        return code

    def of(self, codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The code points in the place of others."""
        found = self._met.take(codes)
        if not found.all():
            for code in set(codes[found == 0].tolist()):
                self._met[code] = self[code]
            found = self._met.take(codes)
        return found


class SignTest(SignTable):
    """Which characters match a pattern."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        super().__init__()
        self._pattern = pattern

    def __missing__(self, code: int) -> int:
        return _MATCHES if self._pattern.match(chr(code)) else _DIFFERS

    def marks(self, codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """For each code point whether its character matches."""
        return self.of(codes) == _MATCHES


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


def is_digit(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """For each code point whether it is an ASCII digit."""
    return (codes >= _ZERO) & (codes <= _NINE)


@cache
def _pii_hidden() -> SignTest:
    """Soft hyphen, zero-width and bidirectional marks, fillers, variation selectors."""
    return SignTest(
        re.compile(
            "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
            "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef]"
        )
    )
