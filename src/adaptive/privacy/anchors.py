"""Where in a text something may be: the places around an ``@``, a run of digits, a long word.

The patterns of the recognisers run in these windows only, so that a long text without any of it
costs a few scans for single characters.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaptive.privacy.sign_runs import SignSort
from adaptive.privacy.unicode_text import code_points

Window = tuple[int, int]
# Of a longer run of letters and digits so many belong to the window.
_LONGEST_OF_WORD = 120
_DEGREE = ord("°")


@dataclass(frozen=True, slots=True)
class Anchor:
    """What is looked for, and how many characters before and behind belong to the window.

    With ``least_word`` it is a run of so many ASCII letters and digits instead; with ``words`` one
    of them, in small letters, stands in the text; with ``bracketed`` in brackets, and has two
    letters.
    """

    pattern: str
    before: int
    behind: int
    least_word: int = 0
    words: tuple[str, ...] = ()
    bracketed: bool = False


ANCHORS: Mapping[str, Anchor] = {
    "at": Anchor("@", 70, 270),
    "at word": Anchor(
        "(?i: (?:dot|arroba|arobase|chiocciola|собака) )",
        140,
        80,
        words=("dot", "arroba", "arobase", "chiocciola", "собака"),
    ),
    "mac word": Anchor("", 2, 63, words=("mac",)),
    "bracketed at": Anchor("", 70, 270, words=("at",), bracketed=True),
    "scheme": Anchor("://", 16, 300),
    "digit": Anchor("", 90, 60),
    "colons": Anchor(":[0-9A-Fa-f]{0,4}:", 40, 48),
    "hyphens": Anchor("-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-", 4, 16),
    "dotted": Anchor(r"\.[0-9A-Fa-f]{1,4}\.", 6, 12),
    "decimals": Anchor("", 24, 60),
    "degrees": Anchor("°", 6, 50),
    "long word": Anchor("", 20, 24, 25),
}


def windows(
    text: str,
    name: str,
    places_of: Callable[[str], Sequence[int]],
    digits: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> list[Window]:
    """The windows of an anchor in a text, rising, without overlaps.

    ``places_of`` tells where a word in small letters stands in the text by itself; ``digits`` are
    where the runs of digits begin and end.
    """
    anchor = ANCHORS[name]
    if name == "digit":
        return _windows_around_runs(anchor, *digits)
    if name == "decimals" and len(digits[0]):
        begins = digits[0][digits[0] > 0]
        before = code_points(text)[begins - 1]
        signs = _pii_decimal_signs().marked(before) | (before == _DEGREE)
        return _windows_around_runs(anchor, begins[signs] - 1, begins[signs] + 1)
    if anchor.least_word:
        return _windows_around(anchor, _long_words(text, anchor.least_word))
    places = [place for word in anchor.words for place in places_of(word)]
    if anchor.words and not places:
        return []
    if anchor.bracketed:
        # A word stands by itself there, and the place of a word is that of the sign behind it.
        spans = ((at - 1, at + 3) for at in places if _is_bracketed(text, at - 1, at + 2))
        return _windows_around(anchor, spans)
    if not anchor.pattern:
        # Also decimals of a text without digits.
        return _windows_around(anchor, ((place, place) for place in sorted(places)))
    return _windows_around(anchor, (match.span() for match in _pii_anchor(name).finditer(text)))


def _is_bracketed(text: str, before: int, behind: int) -> bool:
    return before >= 0 and text[before] in "([" and text[behind : behind + 1] in (")", "]")


def _windows_around_runs(
    anchor: Anchor, begins: NDArray[np.intp], ends: NDArray[np.intp]
) -> list[Window]:
    """The same as ``_windows_around`` for many runs."""
    if not len(begins):
        return []
    lows, highs = begins - anchor.before, ends + anchor.behind
    apart = lows[1:] > highs[:-1]
    firsts = lows[np.concatenate(([True], apart))]
    lasts = highs[np.concatenate((apart, [True]))]
    return list(zip(np.maximum(firsts, 0).tolist(), lasts.tolist(), strict=True))


def _windows_around(anchor: Anchor, spans: Iterable[tuple[int, int]]) -> list[Window]:
    found: list[Window] = []
    low, high = -1, -1
    for start, end in spans:
        before = start - anchor.before
        if before > high:
            if high >= 0:
                found.append((max(low, 0), high))
            low = before
        high = end + anchor.behind
    if high >= 0:
        found.append((max(low, 0), high))
    return found


def _long_words(text: str, least: int) -> Iterator[tuple[int, int]]:
    for start, end in _pii_letters_and_digits().runs(text, least):
        if text[start - 1 : start] != "_":
            yield start, min(end, start + _LONGEST_OF_WORD)


@cache
def _pii_decimal_signs() -> SignSort:
    return SignSort(".,")


@cache
def _pii_letters_and_digits() -> SignSort:
    return SignSort(string.ascii_letters + string.digits)


@cache
def _pii_anchor(name: str) -> re.Pattern[str]:
    return re.compile(ANCHORS[name].pattern)
