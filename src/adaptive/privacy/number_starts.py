"""Where numbers begin in a text, by what stands at their head.

Most recognisers look at numbers of one shape. Trying each of them only where a number begins with
as many digits as its shape does is many times faster than a scan of the text for each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adaptive.privacy.recogniser import WIDEST, Lead
from adaptive.privacy.sign_runs import SignSort, edges
from adaptive.privacy.unicode_text import code_points, is_digit

_ASCII_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# The longest name of a month and the joints around it; the letters at the head of an id.
_WORD_REACH = 18
_LETTERS_REACH = 9
_JOINTS = " -."
_WORD_OPENERS = "([\"',;:/"
_NOTHING = "\0"
_SPACE = 32
# Runs that are longer count as so long: no lead is.
_MOST_HEAD_DIGITS = 40
_NUMBER_JOINTS = "-./"

# Of which numbers a pattern fits no rest: of one whose digits a sign joins, of one in groups that
# spaces part, or of both.
NumberHead = Literal["", "single", "behind", "group"]


@dataclass(frozen=True)
class NumberPlaces:
    """Places of a text where numbers begin, rising."""

    listed: Sequence[int]

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """The same as an array."""
        return np.array(self.listed, dtype=np.intp)

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """For each place the number of its group: one match may cover places of one group only."""
        groups = np.zeros(len(self.starts), dtype=np.intp)
        np.cumsum(np.diff(self.starts) > WIDEST, out=groups[1:])
        return groups


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
        self._merged: dict[tuple[frozenset[Lead], NumberHead], NumberPlaces] = {}
        # Three signs in front, so that each number has some before it.
        codes = code_points(f"{_NOTHING * 3}{text}")
        begins, ends = edges(is_digit(codes))
        sizes = ends - begins
        before = [codes[begins - distance] for distance in (1, 2, 3)]
        after_letter = _pii_letters().marked(before[0])
        begins -= 3
        ends -= 3
        self.runs = begins, ends
        is_free = ~after_letter
        self._free = begins[is_free]
        self._sizes = np.minimum(sizes[is_free], _MOST_HEAD_DIGITS)
        self._present = frozenset(np.flatnonzero(np.bincount(self._sizes)).tolist())
        is_joined = _pii_number_joints().marked(before[0]) & is_digit(before[1])
        is_behind = (before[0] == _SPACE) & is_digit(before[1]) & is_digit(before[2])
        self._headed: dict[NumberHead, NDArray[np.bool_]] = {
            "single": ~is_joined[is_free],
            "behind": ~is_behind[is_free],
            "group": ~(is_joined | is_behind)[is_free],
        }
        signs = np.logical_or.reduce([_pii_signs().marked(one) for one in before])
        for start in begins[signs & _pii_before_signs().marked(before[0])].tolist():
            self._add_signs(text, start)
        self._add_letters(text, begins[after_letter].tolist())
        self._add_words(text, begins[_pii_joints().marked(before[0])].tolist())

    def at(self, leads: frozenset[Lead], head: NumberHead = "") -> NumberPlaces:
        """The places with one of these leads, rising, each once.

        Runs of digits that are the rest of another number, as ``head`` has it, are left out.
        """
        key = leads, head
        if key not in self._merged:
            self._merged[key] = NumberPlaces(self._found(leads, head))
        return self._merged[key]

    def _found(self, leads: frozenset[Lead], head: NumberHead) -> list[int]:
        others = [self._by_lead[lead] for lead in leads if lead in self._by_lead]
        runs: list[int] = []
        if len(self._free) and ("any" in leads or not self._present.isdisjoint(leads)):
            kept = _of_sizes(leads).take(self._sizes)
            runs = self._free[kept & self._headed[head] if head else kept].tolist()
        return sorted(set(runs).union(*others)) if others else runs

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
        places: list[int] = []
        for start in starts:
            low = start - _WORD_REACH if start > _WORD_REACH else 0
            head = text[low:start].rstrip(_JOINTS).removesuffix(" the")
            at = max(head.rfind(" "), head.rfind("\n")) + 1
            sign = head[at : at + 1]
            if sign in _WORD_OPENERS:
                word = head[at:].lstrip(_WORD_OPENERS)
                at = len(head) - len(word)
                sign = word[:1]
            if sign.isalpha():
                places.append(low + at)
        if places:
            self._by_lead.setdefault("word", []).extend(places)


@cache
def number_head(pattern: str) -> NumberHead:
    """What the lookbehinds at the head of a pattern tell of the numbers that it fits."""
    depth = 0
    for sign in _pattern_signs().findall(pattern):
        if sign == "|" and not depth:
            # They are the head of the first branch only.
            return ""
        depth += (sign == "(") - (sign == ")")
    head = _pattern_head().match(pattern)
    return _head_of(head.group() if head else "")


@cache
def _head_of(lookbehinds: str) -> NumberHead:
    """Of which numbers negative lookbehinds fit no rest: found out by trying all of two digits."""
    fits = re.compile(lookbehinds + "[0-9]").match
    digits = "0123456789"
    joined = any(fits(f"{one}{joint}1", 2) for one in digits for joint in _NUMBER_JOINTS)
    behind = any(fits(f"{one}{other} 1", 3) for one in digits for other in digits)
    if joined:
        return "" if behind else "behind"
    return "single" if behind else "group"


@cache
def _of_sizes(leads: frozenset[Lead]) -> NDArray[np.bool_]:
    """For each number of digits whether it is one of the leads."""
    sizes = [lead for lead in leads if isinstance(lead, int)]
    found = np.full(_MOST_HEAD_DIGITS + 1, "any" in leads)
    found[sizes] = True
    return found


@cache
def _pattern_head() -> re.Pattern[str]:
    return re.compile(r"(?:\(\?<!(?:\[[^\]]*\]|[^()\[\]])*\))*")


@cache
def _pattern_signs() -> re.Pattern[str]:
    """Brackets and bars; what is escaped or within a sort of signs is passed over."""
    return re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", re.DOTALL)


@cache
def _pii_number_joints() -> SignSort:
    return SignSort(_NUMBER_JOINTS)


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
