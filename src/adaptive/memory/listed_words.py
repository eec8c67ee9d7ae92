"""Words that an admin has ruled out, found in any form in which a text may have them.

A word is found where a text has an inflected form of it, or a compound that it is a part of, in
whatever case and with whatever accents; the dotless i of Turkish counts as the other one. Of words
that only look alike some are found as well: too much is refused rather than too little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from adaptive.search.tokens import folded_text, stem

_SEPARATORS = re.compile("[,;\u060c\u061b\uff0c\u3001\uff64\uff1b\n]")
# Soft hyphens, joiners and marks of direction, which pages put into words and nobody sees.
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
# Vowel signs of Indian scripts are no letters to `\w`, but a word can't do without them.
_WORDS = re.compile("(?:[^\\W_]|[\u0900-\u0963\u0966-\u0dff])+")
# What is shorter stands within other words by chance: it is looked for at their beginning alone.
_SHORTEST_PART = 4
# Of a compound what stands before a short part is a word as well; "rent" is no part of "parents".
_LONGEST_SHORT_PART = 5
_SHORTEST_BEFORE = 3
# From Hebrew on scripts write few vowels or none.
_CONSONANTS_FROM = "\u0590"
_SHORTEST_ROOT = 3
_SHORTEST_BEGINNING = 3
# From here on most scripts put no spaces between words.
_UNSPACED_FROM = "\u0e00"
# A final consonant that is voiced before an ending, as in Turkish: "kitap", "kitabim".
_VOICED = {"p": "b", "t": "d", "k": "g"}


@dataclass(frozen=True, slots=True)
class ListedWord:
    """One word in the form in which texts are compared with it."""

    whole: str
    stem: str
    voiced: str

    @classmethod
    def of(cls, word: str) -> Self:
        """A folded word, with what its forms share."""
        stemmed = stem(word)
        voiced = stemmed[:-1] + _VOICED.get(stemmed[-1], stemmed[-1])
        return cls(whole=word, stem=stemmed, voiced=voiced)

    def is_in(self, word: str) -> bool:
        """Whether a folded word of a text is a form of this one, or is made of it."""
        if stem(word) == self.stem:
            return True
        if self.whole >= _UNSPACED_FROM:
            return self.whole in word
        if self.stem >= _CONSONANTS_FROM and len(self.stem) >= _SHORTEST_ROOT:
            return self.stem in word
        if len(self.stem) >= _SHORTEST_PART:
            return _is_part(self.stem, word) or _is_part(self.voiced, word)
        return len(self.whole) >= _SHORTEST_BEGINNING and word.startswith(
            self.whole
        )


def _is_part(part: str, word: str) -> bool:
    """Whether a word begins with a part, or has it behind what may be a word itself."""
    before = _SHORTEST_BEFORE if len(part) <= _LONGEST_SHORT_PART else 0
    return word.startswith(part) or part in word[before:]


# What is listed between two commas: one word, or several that stand side by side.
ListedTerm = tuple[ListedWord, ...]


def listed_terms(listed: str) -> tuple[ListedTerm, ...]:
    """The terms of a list with commas, semicolons or line ends between them."""
    terms = (_folded_words(one) for one in _SEPARATORS.split(listed))
    return tuple(tuple(map(ListedWord.of, words)) for words in terms if words)


def holds_listed_term(text: str, terms: Sequence[ListedTerm]) -> bool:
    """Whether a text holds one of the terms."""
    if not terms:
        return False
    words = _folded_words(text)
    return any(_holds(words, term) for term in terms)


def _holds(words: Sequence[str], term: ListedTerm) -> bool:
    """Whether the words of a term stand side by side among these, or written as one."""
    if len(term) > 1:
        joined = ListedWord.of("".join(one.whole for one in term))
        if any(joined.is_in(word) for word in words):
            return True
    places = range(len(words) - len(term) + 1)
    return any(
        all(listed.is_in(words[place + at]) for at, listed in enumerate(term))
        for place in places
    )


def _folded_words(text: str) -> list[str]:
    plain = folded_text(_INVISIBLE.sub("", text))
    return _WORDS.findall(plain.replace("\u0131", "i"))
