"""A text as a reader sees it, with the way back to the places in the original.

Full-width letters, mathematical alphabets, odd spaces and dashes become the plain ones; what cannot
be seen is left out. So one pattern finds a key however it was disguised.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaptive.privacy.sign_runs import edges
from adaptive.privacy.unicode_text import SignTable, SignTest, code_points, respelt, text_of

# What takes no room (Unicode 15, Default_Ignorable_Code_Point, without the tag characters), the
# bidirectional controls among it.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_CONTROLS = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
# Ranges of code points whose compatibility form is one plain sign (Unicode: Letterlike Symbols,
# Enclosed Alphanumerics, Fullwidth Forms, Mathematical Alphanumeric Symbols, Enclosed Supplement).
_COMPATIBLE = (
    (0x2070, 0x209C),
    (0x2100, 0x214F),
    (0x2460, 0x24FF),
    (0xFE50, 0xFE6B),
    (0xFF01, 0xFF5E),
    (0x1D400, 0x1D7FF),
    (0x1F130, 0x1F149),
)
_ALIKE: Mapping[str, str] = {
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f"
    "\u205f"
    "\u3000",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d",
    "\n": "\u0085\u2028\u2029\x0b\x0c",
    "'": "\u2018\u2019\u201a\u201b\u2032",
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",
    "i": "\u0130",  # the one letter whose lower case is longer than itself
}
# Letters of other alphabets that look like these Latin ones.
_TWINS: Mapping[str, str] = {
    "acdeghijklopqstuxy": "\u0430\u0441\u0501\u0435\u0261\u04bb\u0456\u0458\u043a\u04cf\u043e\u0440"
    "\u051b\u0455\u0442\u057d\u0445\u0443",
    "ABCEHIJKMOPSTXY": "\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u041e\u0420\u0405"
    "\u0422\u0425\u0423",
    "aceiopuvknt": "\u03b1\u03f2\u03b5\u03b9\u03bf\u03c1\u03c5\u03bd\u03ba\u03b7\u03c4",
    "AEZHIKMNOPTYXB": "\u0391\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5"
    "\u03a7\u0392",
}


@dataclass(frozen=True, slots=True)
class GuardText:
    """A folded text; ``cuts`` are the places in it where something unseen was left out.

    ``skipped`` holds, for each cut, how many characters were left out up to there.
    """

    text: str
    cuts: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()

    def place(self, at: int) -> int:
        """The place in the original of a character at a place of the folded text."""
        before = bisect_right(self.cuts, at)
        return at + (self.skipped[before - 1] if before else 0)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span in the original of a span that is not empty."""
        return self.place(start), self.place(end - 1) + 1


def guard_text(text: str, *, marks: bool = False) -> GuardText:
    """Fold a text: in linear time, and for plain ASCII with no work.

    ``marks`` leaves out combining marks as well, so that "s\u0332ystem" is "system".
    """
    if text.isascii() and not _ascii_controls().search(text):
        return GuardText(text)
    codes = code_points(text)
    if not text.isascii():
        codes = _folding().of(codes)
    unseen = _unseen_test(marks).marks(codes)
    if not unseen.any():
        return GuardText(text if text.isascii() else text_of(codes))
    return cut_text(codes, unseen)


def cut_text(codes: NDArray[np.uint32], left_out: NDArray[np.bool_]) -> GuardText:
    """A text, given by its code points, without those that are marked."""
    begins, ends = edges(left_out)
    sizes = ends - begins
    skipped = np.cumsum(sizes)
    cuts = begins - skipped + sizes
    return GuardText(text_of(codes[~left_out]), tuple(cuts.tolist()), tuple(skipped.tolist()))


def in_latin(text: str) -> str:
    """The text with letters that look Latin made Latin; as long as before."""
    return text if text.isascii() else respelt(text, _latin_twins())


@cache
def _unseen_test(marks: bool) -> SignTest:
    return SignTest(_unseen_or_marks() if marks else unseen_signs())


@cache
def unseen_signs() -> re.Pattern[str]:
    """Runs of signs that take no room."""
    return re.compile(f"[{_UNSEEN}{_CONTROLS}]+")


@cache
def _unseen_or_marks() -> re.Pattern[str]:
    return re.compile(
        f"[{_UNSEEN}{_CONTROLS}\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20f0\ufe20-\ufe2f]+"
    )


@cache
def _ascii_controls() -> re.Pattern[str]:
    return re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@cache
def _folding() -> SignTable:
    """Each sign with one plain sign in its place."""
    table = SignTable((ord(sign), ord(plain)) for plain, signs in _ALIKE.items() for sign in signs)
    for low, high in _COMPATIBLE:
        for point in range(low, high + 1):
            plain = unicodedata.normalize("NFKC", chr(point))
            if len(plain) == 1 and plain.isascii():
                table[point] = ord(plain)
    return table


@cache
def _latin_twins() -> SignTable:
    table = SignTable()
    for latin, others in _TWINS.items():
        table.update(zip(map(ord, others), map(ord, latin), strict=True))
    return table
