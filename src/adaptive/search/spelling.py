"""Words that people and models misspell.

Words are alike that share all letters but one, in their order. Each known word is looked up by what
is left of it without one of its letters (after Mor, Fraenkel: "A hash code method for detecting and
correcting spelling errors", CACM 25/12, 1982), so a search takes as long for 3,000 words as for
three. The first letter is right in nearly all misspelled words (Pollock, Zamora: "Automatic
spelling correction in scientific and scholarly text", CACM 27/4, 1984).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

# A shorter word with another letter is another word; so is one that has a letter exchanged.
_LEAST_LETTERS = 5
_LEAST_TO_EXCHANGE = 7
# What is longer is no word; without each of its letters it would take as much as its square.
_MOST_LETTERS = 40


class KnownWords:
    """Words that others are taken for where they are spelled nearly like them."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = {word: word for word in words}
        # By what is left of them; made for the first word that is not known.
        self._shortened: dict[str, str] = {}

    def as_spelled(self, word: str) -> str:
        """The word, or the known one that it is spelled nearly like."""
        is_word = _LEAST_LETTERS <= len(word) <= _MOST_LETTERS
        if not is_word or word in self._words:
            return word
        if not self._shortened:
            self._shortened = {
                shorter: known
                for known in self._words
                if len(known) <= _MOST_LETTERS
                for shorter in _without_a_letter(known)
            }
        if word in self._shortened:
            return self._shortened[word]
        ways = [self._words]
        if len(word) >= _LEAST_TO_EXCHANGE:
            ways.append(self._shortened)
        for way in ways:
            for shorter in _without_a_letter(word):
                if shorter in way:
                    return way[shorter]
        return word


def _without_a_letter(word: str) -> Iterator[str]:
    """What is left of a word without each of its letters but the first."""
    for place in range(1, len(word)):
        yield word[:place] + word[place + 1 :]
