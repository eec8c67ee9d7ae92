"""Where the words of a subject stand in a text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from adaptive.privacy.anchors import ANCHORS, Window
from adaptive.privacy.context_words import SUBJECTS, words_of, words_only
from adaptive.privacy.number_starts import NumberPlaces
from adaptive.privacy.recogniser import WIDEST
from adaptive.privacy.word_places import WordTable

# What a match with a clue in it may have before and behind the clue's beginning.
_BEFORE_CLUE = 140
_BEHIND_CLUE = 280
# So few are as soon tried as sifted.
_FEW_PLACES = 40
# A word's end and its beginning in one number, so that they are sorted together.
_PLACE_BITS = 32
_PLACE_MASK = (1 << _PLACE_BITS) - 1
_PII_DIGITS = frozenset("0123456789")


class ContextIndex:
    """The context words of one text, and the clues of some recognisers in it.

    Places count from a space in front of the text, so that the first word has one before it too.
    """

    def __init__(self, text: str, clues: Set[str]) -> None:
        self._text = text
        self._clues = clues
        self._subjects: dict[str, _SubjectPlaces] = {}

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """The places of each word that stands in the text."""
        return _context_table(frozenset(self._clues)).places(f" {words_only(self._text)} ")

    def windows_with(
        self, windows: Sequence[Window], clues: tuple[str, ...], *, numbered: bool
    ) -> list[Window]:
        """Those parts of some windows that lie around the beginning of one of some words.

        If ``numbered``, only words count right behind which a number begins.
        """
        found: list[Window] = []
        if self._places.keys().isdisjoint(clues):
            return found
        places = sorted(
            place
            for clue in clues
            for place in self._places.get(clue, ())
            if not numbered or self._is_number_behind(place + len(clue))
        )
        for low, high in windows:
            for place in places[bisect_left(places, low) : bisect_right(places, high)]:
                begin, end = max(place - _BEFORE_CLUE, low), min(place + _BEHIND_CLUE, high)
                if found and begin <= found[-1][1]:
                    found[-1] = (found[-1][0], end)
                else:
                    found.append((begin, end))
        return found

    def _is_number_behind(self, place: int) -> bool:
        """Whether a digit stands within two signs from a place on; one before it is no matter."""
        return not _PII_DIGITS.isdisjoint(self._text[place - 2 : place + 2])

    def holds_one(self, clues: tuple[str, ...]) -> bool:
        """Whether one of some words stands in the text."""
        return any(clue in self._places for clue in clues)

    def places_of(self, word: str) -> Sequence[int]:
        """Where a word of an anchor stands in the text, with nothing joined to it."""
        return self._places.get(f" {word} ", ())

    def holds_any(self, subject: str) -> bool:
        """Whether a word of a subject stands in the text."""
        return bool(self._of(subject).ends)

    def nearest(self, subject: str, start: int, reach: int) -> int:
        """Where the last word of a subject ends in the characters before a place, or -1."""
        low, high = max(start - reach, 0), start + 2
        places = self._of(subject)
        for at in range(bisect_right(places.ends, high) - 1, -1, -1):
            end = places.ends[at]
            if end <= low:
                break
            if places.begins[at] >= low:
                return end
        return -1

    def follows(self, subject: str, end: int, reach: int) -> bool:
        """Whether a word of a subject stands within the characters from a place on."""
        places = self._of(subject)
        for at in range(bisect_right(places.ends, end), len(places.ends)):
            if places.ends[at] > end + reach + 2:
                break
            if places.begins[at] >= end:
                return True
        return False

    def places_near(
        self, subject: str, places: NumberPlaces, reach: tuple[int, int]
    ) -> Sequence[int]:
        """Those places where a match may have a word of a subject before or behind it.

        Places that a match at another of them may cover stay together.
        """
        found = self._of(subject)
        if not found.ends or len(places.listed) < _FEW_PLACES:
            return places.listed if found.ends else ()
        starts = places.starts
        lows = np.searchsorted(found.rising, starts - reach[0])
        highs = np.searchsorted(found.rising, starts + WIDEST + reach[1] + 2, side="right")
        kept = np.zeros(places.groups[-1] + 1, dtype=np.bool_)
        kept[places.groups[lows < highs]] = True
        return starts[kept[places.groups]].tolist()

    def _of(self, subject: str) -> _SubjectPlaces:
        """Where the subject's words stand."""
        if subject not in self._subjects:
            self._subjects[subject] = _subject_places(self._places, _subject_words(subject))
        return self._subjects[subject]


@dataclass(frozen=True)
class _SubjectPlaces:
    """Where words end and where they begin, rising by their ends and then by their beginnings."""

    ends: Sequence[int] = ()
    begins: Sequence[int] = ()

    @cached_property
    def rising(self) -> NDArray[np.intp]:
        """Where they begin, rising."""
        return np.sort(np.array(self.begins, dtype=np.intp))


def _subject_places(places: Mapping[str, Sequence[int]], words: Set[str]) -> _SubjectPlaces:
    begins: list[int] = []
    ends: list[int] = []
    for word in words & places.keys():
        begins += places[word]
        size = len(word)
        ends += [place + size for place in places[word]]
    if not begins:
        return _SubjectPlaces()
    rising = np.sort(np.array(ends) << _PLACE_BITS | np.array(begins))
    return _SubjectPlaces((rising >> _PLACE_BITS).tolist(), (rising & _PLACE_MASK).tolist())


@cache
def _subject_words(subject: str) -> Set[str]:
    return frozenset(words_of(subject))


@cache
def _context_table(clues: frozenset[str]) -> WordTable:
    """The words of all subjects, some clues, and the words of the anchors."""
    subjects = frozenset(word for subject in SUBJECTS for word in words_of(subject))
    anchors = frozenset(f" {word} " for anchor in ANCHORS.values() for word in anchor.words)
    return WordTable(sorted(subjects | anchors | clues))
