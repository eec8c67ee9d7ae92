"""Where numbers begin in a text, by what stands at their head.

Most recognisers look at numbers of one shape. Trying each of them only where a number begins with
as many digits as its shape does is many times faster than a scan of the text for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaptive.privacy.recogniser import Lead
from adaptive.privacy.sign_runs import SignSort, edges
from adaptive.privacy.unicode_text import code_points, is_digit

_ASCII_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# The longest name of a month and the joints around it; the letters at the head of an id.
_WORD_REACH = 18
_LETTERS_REACH = 9
_JOINTS = " -."
_NOTHING = "\0"


class NumberStarts:
    """The places of one text where a number begins.

    A run of digits has its length as its lead, and none where an ASCII letter stands before it. It
    may also be the rest of something that begins with a plus, a bracket, or a word: letters right
    before it (``letters``), or the word before that.

    Attributes:
        runs: where the runs of digits begin, and where they end, exclusive.
    """

    def __init__(self, text: str) -> None:
        self.runs: tuple[NDArray[np.intp], NDArray[np.intp]]
        self._by_lead: dict[Lead, list[int]] = {}
        self._merged: dict[frozenset[Lead], list[int]] = {}
        # Three signs in front, so that each number has some before it.
        codes = code_points(f"{_NOTHING * 3}{text}")
        begins, ends = edges(is_digit(codes))
        sizes = ends - begins
        before = [codes[begins - distance] for distance in (1, 2, 3)]
        after_letter = _pii_letters().marked(before[0])
        begins -= 3
        ends -= 3
        self.runs = begins, ends
        free = begins[~after_letter]
        if len(free):
            self._by_lead["any"] = free.tolist()
        free_sizes = sizes[~after_letter]
        for size in np.unique(free_sizes).tolist():
            self._by_lead[size] = free[free_sizes == size].tolist()
        signs = np.logical_or.reduce([_pii_signs().marked(one) for one in before])
        for start in begins[signs & _pii_before_signs().marked(before[0])].tolist():
            self._add_signs(text, start)
        self._add_letters(text, begins[after_letter].tolist())
        self._add_words(text, begins[_pii_joints().marked(before[0])].tolist())

    def at(self, leads: frozenset[Lead]) -> list[int]:
        """The places with one of these leads, rising, each once."""
        if self._by_lead.keys().isdisjoint(leads):
            return []
        if leads not in self._merged:
            places: set[int] = set()
            self._merged[leads] = sorted(places.union(*map(self._of_lead, leads)))
        return self._merged[leads]

    def _of_lead(self, lead: Lead) -> Sequence[int]:
        return self._by_lead.get(lead, ())

    def _add(self, lead: Lead, place: int) -> None:
        self._by_lead.setdefault(lead, []).append(place)

    def _add_signs(self, text: str, start: int) -> None:
        head = text[max(start - 3, 0) : start]
        signs = len(head) - len(head.rstrip("(+ "))
        for place in range(start - signs, start):
            if text[place] in "+(":
                self._add("+" if "+" in text[place:start] else "(", place)

    def _add_letters(self, text: str, starts: Sequence[int]) -> None:
        for start in starts:
            head = text[max(start - _LETTERS_REACH, 0) : start]
            self._add("letters", start - len(head) + len(head.rstrip(_ASCII_LETTERS)))
            self._add("word", self._by_lead["letters"][-1])

    def _add_words(self, text: str, starts: Sequence[int]) -> None:
        for start in starts:
            low = max(start - _WORD_REACH, 0)
            head = text[low:start].rstrip(_JOINTS).removesuffix(" the")
            word = head.rpartition(" ")[2].rpartition("\n")[2].lstrip("([\"',;:/")
            if word[:1].isalpha():
                self._add("word", low + len(head) - len(word))


@cache
def _pii_letters() -> SignSort:
    return SignSort(_ASCII_LETTERS)


@cache
def _pii_signs() -> SignSort:
    return SignSort("+(")


@cache
def _pii_before_signs() -> SignSort:
    return SignSort("+( ")


@cache
def _pii_joints() -> SignSort:
    return SignSort(_JOINTS)
