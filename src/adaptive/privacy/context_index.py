"""Where the words of a subject stand in a text."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cache

from adaptive.privacy.context_words import words_of, words_only


@dataclass(frozen=True, slots=True)
class _ContextWord:
    """A word with what tells quickly that a text does not hold it.

    Attributes:
        word: as it is looked for.
        head: the first three letters of its first word where it begins a word, else its first
            letter where that is none of the Latin ones, else empty.
        begins: whether it begins a word.
    """

    word: str
    head: str
    begins: bool


class ContextIndex:
    """The context words of one text; each subject is looked for once, when it is asked for."""

    def __init__(self, text: str) -> None:
        # One space in front, so that the first word has a space before it as well.
        self._words = f" {words_only(text)} "
        self._heads: set[str] = set()
        self._letters: set[str] = set()
        self._places: dict[str, list[tuple[int, int]]] = {}

    def holds_one(self, clues: tuple[str, ...], low: int = 0, high: int | None = None) -> bool:
        """Whether one of some words stands in a part of the text."""
        end = len(self._words) if high is None else high + 2
        return any(self._words.find(clue, low, end) >= 0 for clue in clues)

    def holds(self, subject: str) -> bool:
        """Whether the text holds a word of the subject."""
        return bool(self._of(subject))

    def nearest(self, subject: str, start: int, reach: int) -> int:
        """Where the last word of a subject ends in the characters before a place, or -1."""
        places = self._of(subject)
        at = bisect_right(places, (start + 1, start + 1))
        if not at:
            return -1
        end, begin = places[at - 1]
        return end if begin >= start - reach else -1

    def follows(self, subject: str, end: int, reach: int) -> bool:
        """Whether a word of a subject stands within the characters from a place on."""
        places = self._of(subject)
        at = bisect_right(places, (end + 1, end + 1))
        return any(begin >= end and last <= end + 1 + reach for last, begin in places[at : at + 3])

    def _of(self, subject: str) -> list[tuple[int, int]]:
        """End and beginning of each word of the subject, rising, in the text with its space."""
        if subject not in self._places:
            found: list[tuple[int, int]] = []
            for word in self._possible(subject):
                at = self._words.find(word)
                while at >= 0:
                    found.append((at + len(word), at))
                    at = self._words.find(word, at + 1)
            found.sort()
            self._places[subject] = found
        return self._places[subject]

    def _possible(self, subject: str) -> list[str]:
        if not self._heads:
            self._heads = {word[:3] for word in self._words.split(" ")}
            self._letters = set(self._words)
        return [
            one.word
            for one in _context_words(subject)
            if one.head in (self._heads if one.begins else self._letters) or not one.head
        ]


@cache
def _context_words(subject: str) -> tuple[_ContextWord, ...]:
    words: list[_ContextWord] = []
    for word in words_of(subject):
        begins = word.startswith(" ")
        first = word.split()[0]
        # A word that goes on may have a head of less than three letters in the text.
        whole = len(first) >= 3 or word.startswith(f" {first} ")
        head = first[:3] if begins and whole else ""
        if not begins and not first[0].isascii():
            head = first[0]
        words.append(_ContextWord(word, head, begins))
    return tuple(words)
