"""Where some hundred words stand in a text, all looked for in one pass.

Each place of the text has a hash of the few signs from it on; a table tells for each hash whether
one of the words begins so. numpy does that for 100 kB in about a millisecond, and only what passes
is compared sign by sign. After Karp and Rabin, "Efficient randomized pattern-matching algorithms",
IBM Journal of Research and Development 31 (1987).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from adaptive.privacy.unicode_text import code_points

# By how many of its first signs a word is looked for: the most of these that it has.
_HEAD_SIZES = (1, 2, 3, 5)
# An odd number near the golden section of 2**32, as for multiplicative hashing (Knuth 6.4).
_HASH_FACTOR = np.uint32(2654435761)
_TABLE_BITS = 16
_HASH_SHIFT = np.uint32(32 - _TABLE_BITS)
# Of a word that is looked for by its head in a short text, so many signs are its head.
FEW_SIGNS = 3
# So many signs at a time: their arrays stay in the processor's cache.
_PART = 16384
# In a text this short the heads of words are found faster one by one.
_SHORT_TEXT = 400
# The screens look for their words in the same text one after the other.
_HEADS_KEPT = 4


@dataclass(frozen=True, slots=True)
class _WordHeads:
    """The words that are looked for by as many of their first signs.

    Attributes:
        begins: for each hash whether one of the words may begin with signs of it.
        words: the words by those signs.
    """

    begins: NDArray[np.bool_]
    words: Mapping[str, tuple[str, ...]]


_HeadsBySize = Mapping[tuple[int, bool], _WordHeads]


class WordTable:
    """Words that are looked for together, as they are written."""

    def __init__(self, words: Iterable[str]) -> None:
        distinct = tuple(dict.fromkeys(words))
        self._longest = max(map(len, distinct), default=0)
        self._heads = _heads_by_size(distinct)
        # Single signs of ASCII stand in too many places; each is looked for where it may.
        self._short = tuple(word for word in distinct if word.isascii() and len(word) < FEW_SIGNS)
        self._held_heads = _heads_by_size(
            tuple(word for word in distinct if word not in self._short)
        )
        # The same for short texts, whose heads are all of one size.
        self._few_signs = tuple(word for word in distinct if len(word) < FEW_SIGNS)
        self._words_by_head: dict[str, list[str]] = {}
        for word in distinct:
            if len(word) >= FEW_SIGNS:
                self._words_by_head.setdefault(word[:FEW_SIGNS], []).append(word)

    def places(self, text: str) -> Mapping[str, Sequence[int]]:
        """The places of those words that stand in a text, rising, also over one another."""
        found: dict[str, Sequence[int]] = {}
        for size, words, begins in self._begins(text, self._heads):
            by_head: dict[str, list[int]] = {}
            for place in begins:
                head = text[place : place + size]
                if head in words:
                    by_head.setdefault(head, []).append(place)
            for head, places in by_head.items():
                for word in words[head]:
                    same = places if len(word) == size else _places_of(word, text, places)
                    if same:
                        found[word] = same
        return found

    def held(self, text: str) -> set[str]:
        """Those words that stand in a text."""
        if len(text) <= _SHORT_TEXT:
            return self._held_in_short(text)
        found = {word for word in self._short if word in text}
        for size, words, begins in self._begins(text, self._held_heads):
            heads = ((text[place : place + size], place) for place in begins)
            known = {text[at : at + self._longest] for head, at in heads if head in words}
            # Each different one is read once, however often it stands in the text.
            joined = "\n".join(known)
            for head in {one[:size] for one in known}:
                found.update(word for word in words[head] if len(word) == size or word in joined)
        return found

    def _held_in_short(self, text: str) -> set[str]:
        found = {word for word in self._few_signs if word in text}
        for head in self._words_by_head.keys() & heads_of(text):
            found.update(word for word in self._words_by_head[head] if word in text)
        return found

    def _begins(
        self, text: str, by_size: _HeadsBySize
    ) -> Iterator[tuple[int, Mapping[str, tuple[str, ...]], list[int]]]:
        """For each size of head the words by their heads, and where one of them may begin."""
        is_ascii = text.isascii()
        codes = code_points(text)
        begins: dict[int, list[int]] = {}
        for first in range(0, len(codes), _PART):
            part = codes[first : first + _PART + _HEAD_SIZES[-1] - 1]
            for size, hashes in _hashes_of(part):
                if heads := by_size.get((size, is_ascii)):
                    found = np.flatnonzero(heads.begins.take(hashes[:_PART] >> _HASH_SHIFT))
                    if len(found):
                        begins.setdefault(size, []).extend((found + first).tolist())
        for size, places in begins.items():
            yield size, by_size[size, is_ascii].words, places


def heads_of(text: str) -> Set[str]:
    """All parts of a text with ``FEW_SIGNS`` signs, and its last signs."""
    if len(text) > _SHORT_TEXT:
        return {text[at : at + FEW_SIGNS] for at in range(len(text))}
    return _heads_of_short(text)


@lru_cache(maxsize=_HEADS_KEPT)
def _heads_of_short(text: str) -> Set[str]:
    return frozenset(map(text.__getitem__, _short_heads()[: len(text)]))


@cache
def _short_heads() -> tuple[slice, ...]:
    return tuple(slice(at, at + FEW_SIGNS) for at in range(_SHORT_TEXT))


def _places_of(word: str, text: str, places: Sequence[int]) -> Sequence[int]:
    return [place for place in places if text.startswith(word, place)]


def _heads_by_size(words: tuple[str, ...]) -> _HeadsBySize:
    """By the size of their heads, once for texts of ASCII and once for others."""
    by_size: dict[tuple[int, bool], dict[str, list[str]]] = {}
    for word in words:
        size = max(size for size in _HEAD_SIZES if size <= len(word))
        for is_ascii in (True, False) if word.isascii() else (False,):
            by_size.setdefault((size, is_ascii), {}).setdefault(word[:size], []).append(word)
    return {key: _word_heads(key[0], heads) for key, heads in by_size.items()}


def _word_heads(size: int, heads: Mapping[str, list[str]]) -> _WordHeads:
    joined = dict(_hashes_of(code_points("".join(heads))))[size][::size]
    begins = np.zeros(1 << _TABLE_BITS, dtype=np.bool_)
    begins[joined >> _HASH_SHIFT] = True
    return _WordHeads(begins, {head: tuple(same) for head, same in heads.items()})


def _hashes_of(codes: NDArray[np.uint32]) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """For each size the hashes of so many signs, from each place on where so many stand."""
    one = codes * _HASH_FACTOR
    yield 1, one
    two = (one[:-1] + codes[1:]) * _HASH_FACTOR
    yield 2, two
    three = (two[:-1] + codes[2:]) * _HASH_FACTOR
    yield 3, three
    yield 5, (three[:-2] + two[3:]) * _HASH_FACTOR
