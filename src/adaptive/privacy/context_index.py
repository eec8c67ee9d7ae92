"""Where the words of a subject stand in a text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property

from adaptive.privacy.anchors import DistinctWords, Window
from adaptive.privacy.context_words import words_of, words_only
from adaptive.privacy.unicode_text import distinct_signs

# So many questions about a subject are answered by reading what is around the place; after that all
# its words are looked for in the whole text.
_QUESTIONS_BEFORE_INDEX = 250
# What a match with a clue in it may have before and behind the clue's beginning.
_BEFORE_CLUE = 140
_BEHIND_CLUE = 280


class ContextIndex:
    """The context words of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._questions: Counter[str] = Counter()
        self._places: dict[str, list[tuple[int, int]]] = {}
        self._answers: dict[tuple[str, int, int], int] = {}

    @cached_property
    def _words(self) -> str:
        """One space in front, so that the first word has a space before it as well."""
        return f" {words_only(self._text)} "

    @cached_property
    def distinct(self) -> DistinctWords:
        """The words of the text, each once."""
        return DistinctWords(self._words)

    @cached_property
    def _heads(self) -> tuple[Set[str], Set[str]]:
        """The first three letters of all words, and all letters unless they are Latin."""
        letters = set[str]() if self._words.isascii() else set(distinct_signs(self._words))
        return self.distinct.heads(3), letters

    def windows_with(self, windows: Sequence[Window], clues: tuple[str, ...]) -> list[Window]:
        """Those parts of some windows that lie around the beginning of one of some words."""
        places: list[int] = []
        for clue in filter(self.distinct.hold, clues):
            at = self._words.find(clue)
            while at >= 0:
                places.append(at)
                at = self._words.find(clue, at + 1)
        places.sort()
        found: list[Window] = []
        for low, high in windows:
            for place in places[bisect_left(places, low) : bisect_right(places, high)]:
                begin, end = max(place - _BEFORE_CLUE, low), min(place + _BEHIND_CLUE, high)
                if found and begin <= found[-1][1]:
                    found[-1] = (found[-1][0], end)
                else:
                    found.append((begin, end))
        return found

    def holds_one(self, clues: tuple[str, ...]) -> bool:
        """Whether one of some words stands in the text."""
        return any(self.distinct.hold(clue) and clue in self._words for clue in clues)

    def nearest(self, subject: str, start: int, reach: int) -> int:
        """Where the last word of a subject ends in the characters before a place, or -1."""
        if not self._is_indexed(subject):
            low = max(start - reach, 0)
            question = (subject, low, start + 1)
            if question not in self._answers:
                ends = (end for _, end in self._found_between(*question))
                self._answers[question] = max(ends, default=-1)
            return self._answers[question]
        places = self._places[subject]
        at = bisect_right(places, (start + 1, start + 1))
        if not at:
            return -1
        end, begin = places[at - 1]
        return end if begin >= start - reach else -1

    def follows(self, subject: str, end: int, reach: int) -> bool:
        """Whether a word of a subject stands within the characters from a place on."""
        if not self._is_indexed(subject):
            return any(True for _ in self._found_between(subject, end, end + reach + 1))
        places = self._places[subject]
        at = bisect_right(places, (end + 1, end + 1))
        return any(begin >= end and last <= end + 1 + reach for last, begin in places[at : at + 3])

    def _found_between(self, subject: str, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Beginning and end of the last of each of the subject's words in a part of the text.

        As in ``_words``, places count from the space in front of the text.
        """
        part = self._words[low : high + 1]
        for word in _heads_of(subject).possible(*_heads_and_letters(part)):
            at = part.rfind(word)
            if at >= 0:
                yield low + at, low + at + len(word)

    def _is_indexed(self, subject: str) -> bool:
        if subject in self._places:
            return True
        self._questions[subject] += 1
        if self._questions[subject] <= _QUESTIONS_BEFORE_INDEX:
            return False
        found: list[tuple[int, int]] = []
        for word in set(_heads_of(subject).possible(*self._heads)):
            at = self._words.find(word)
            while at >= 0:
                found.append((at + len(word), at))
                at = self._words.find(word, at + 1)
        self._places[subject] = sorted(found)
        return True


@dataclass(frozen=True, slots=True)
class _WordHeads:
    """The words of a subject by what a text must hold for them.

    Attributes:
        by_head: by the first three letters of a word of the text.
        by_letter: those that begin no word and in no Latin letter, by that letter.
        others: those that are looked for in any case.
    """

    by_head: Mapping[str, tuple[str, ...]]
    by_letter: Mapping[str, tuple[str, ...]]
    others: tuple[str, ...]

    def possible(self, heads: Set[str], letters: Set[str]) -> Iterator[str]:
        """The words that a text with these heads of words and these letters may hold."""
        yield from self.others
        for head in self.by_head.keys() & heads:
            yield from self.by_head[head]
        if self.by_letter:
            for letter in self.by_letter.keys() & letters:
                yield from self.by_letter[letter]


def _heads_and_letters(words: str) -> tuple[Set[str], Set[str]]:
    """The first three letters of all words, and all letters unless they are Latin."""
    letters = set[str]() if words.isascii() else set(words)
    return {word[:3] for word in words.split()}, letters


@cache
def _heads_of(subject: str) -> _WordHeads:
    by_head: dict[str, list[str]] = {}
    by_letter: dict[str, list[str]] = {}
    others: list[str] = []
    for word in words_of(subject):
        first = word.split()[0]
        # A word that goes on may have a head of less than three letters in the text.
        if word.startswith(" ") and (len(first) >= 3 or word.startswith(f" {first} ")):
            by_head.setdefault(first[:3], []).append(word)
        elif not word.startswith(" ") and not first[0].isascii():
            by_letter.setdefault(first[0], []).append(word)
        else:
            others.append(word)
    return _WordHeads(_frozen_words(by_head), _frozen_words(by_letter), tuple(others))


def _frozen_words(words: Mapping[str, Iterable[str]]) -> Mapping[str, tuple[str, ...]]:
    return {key: tuple(several) for key, several in words.items()}
