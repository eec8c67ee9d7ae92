"""Where some hundred words stand in a text, all looked for in one pass.

Each place of the text has a hash of the few signs from it on; a table tells for each hash whether
one of the words begins so. numpy does that for 100 kB in about a millisecond; what passes is
compared sign by sign, by numpy as far as the heads go. After Karp and Rabin, "Efficient randomized
pattern-matching algorithms", IBM Journal of Research and Development 31 (1987).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaptive.privacy.unicode_text import code_points
from adaptive.text_cache import text_cache

# By how many of its first signs a word is looked for: the most of these that it has.
_HEAD_SIZES = (1, 2, 3, 5)
# An odd number near the golden section of 2**16, as for multiplicative hashing (Knuth 6.4).
_HASH_FACTOR = np.uint16(40503)
_TABLE_BITS = 16
# Bits for one sign of a head: five of them fit into a number.
_NUMBER_BITS = np.uint64(12)
# At so few places a word is compared faster one by one.
_FEW_TIMES = 64
# Of a word that is looked for by its head in a short text, so many signs are its head.
FEW_SIGNS = 3
# So many signs at a time: their arrays stay in the processor's cache.
_PART = 16384
# In a text this short the heads of words are found faster one by one.
_SHORT_TEXT = 400
# The screens look for their words in the same text one after the other.
_HEADS_KEPT = 4
# A candidate memory's most (``injection``); of a whole page the parts would take megabytes.
_LONGEST_KEPT = 8_000


@dataclass(frozen=True, slots=True)
class _WordHeads:
    """The words that are looked for by as many of their first signs.

    Attributes:
        begins: for each hash whether one of the words may begin with signs of it.
        keys: the heads as numbers (``_head_keys``), rising.
        words: the words of each head, in the order of the keys.
        numbers: for each code point its number in a key, up to the highest that has one.
    """

    begins: NDArray[np.bool_]
    keys: NDArray[np.uint64]
    words: tuple[tuple[str, ...], ...]
    numbers: NDArray[np.uint64]


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
        codes = code_points(text)
        for size, words, places in self._begins(codes, text.isascii(), self._heads):
            listed = places.tolist()
            for word in words:
                if len(word) == size:
                    found[word] = listed
                elif len(listed) > _FEW_TIMES:
                    if same := _places_of(word, size, codes, places):
                        found[word] = same
                elif same := [place for place in listed if text.startswith(word, place)]:
                    found[word] = same
        return found

    def held(self, text: str) -> set[str]:
        """Those words that stand in a text."""
        if len(text) <= _SHORT_TEXT:
            return self._held_in_short(text)
        found = {word for word in self._short if word in text}
        codes = code_points(text)
        for size, words, places in self._begins(codes, text.isascii(), self._held_heads):
            found.update(
                word
                for word in words
                if len(word) == size or _stands_at_one(word, text, places.tolist())
            )
        return found

    def _held_in_short(self, text: str) -> set[str]:
        found = {word for word in self._few_signs if word in text}
        for head in self._words_by_head.keys() & heads_of(text):
            found.update(word for word in self._words_by_head[head] if word in text)
        return found

    def _begins(
        self, codes: NDArray[np.uint32], is_ascii: bool, by_size: _HeadsBySize
    ) -> Iterator[tuple[int, tuple[str, ...], NDArray[np.intp]]]:
        """For each head in a text its size, its words, and where it stands, rising."""
        begins: dict[int, list[NDArray[np.intp]]] = {}
        for first in range(0, len(codes), _PART):
            part = codes[first : first + _PART + _HEAD_SIZES[-1] - 1]
            for size, hashes in _hashes_of(part):
                if heads := by_size.get((size, is_ascii)):
                    found = np.flatnonzero(heads.begins.take(hashes[:_PART]))
                    if len(found):
                        begins.setdefault(size, []).append(found + first)
        for size, parts in begins.items():
            heads = by_size[size, is_ascii]
            yield from (
                (size, heads.words[number], places)
                for number, places in _places_by_head(codes, np.concatenate(parts), size, heads)
            )


def _places_by_head(
    codes: NDArray[np.uint32], places: NDArray[np.intp], size: int, heads: _WordHeads
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """The numbers of those heads that stand at some of the places, with these places."""
    keys = _head_keys([codes[places + at] for at in range(size)], heads.numbers)
    numbers = np.minimum(np.searchsorted(heads.keys, keys), len(heads.keys) - 1)
    is_head = heads.keys[numbers] == keys
    numbers, places = numbers[is_head], places[is_head]
    order = np.argsort(numbers, kind="stable")
    numbers, places = numbers[order], places[order]
    turns = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    for begin, end in zip(turns, [*turns[1:], len(places)], strict=False):
        yield int(numbers[begin]), places[begin:end]


def _head_keys(
    signs: Sequence[NDArray[np.uint32]], numbers: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Heads, given by their first signs, their second and so on, as one number each."""
    keys = numbers.take(signs[0], mode="clip")
    for column in signs[1:]:
        keys = keys << _NUMBER_BITS | numbers.take(column, mode="clip")
    return keys


def _stands_at_one(word: str, text: str, places: Sequence[int]) -> bool:
    if len(places) > _FEW_TIMES:
        return word in text
    return any(text.startswith(word, place) for place in places)


def heads_of(text: str) -> Set[str]:
    """All parts of a text with ``FEW_SIGNS`` signs, and its last signs."""
    return _heads_of(text) if len(text) > _LONGEST_KEPT else _kept_heads_of(text)


@text_cache(_HEADS_KEPT)
def _kept_heads_of(text: str) -> Set[str]:
    if len(text) > _SHORT_TEXT:
        return _heads_of(text)
    return frozenset(map(text.__getitem__, _short_heads()[: len(text)]))


def _heads_of(text: str) -> Set[str]:
    return frozenset(text[at : at + FEW_SIGNS] for at in range(len(text)))


@cache
def _short_heads() -> tuple[slice, ...]:
    return tuple(slice(at, at + FEW_SIGNS) for at in range(_SHORT_TEXT))


def _places_of(
    word: str, size: int, codes: NDArray[np.uint32], places: NDArray[np.intp]
) -> Sequence[int]:
    """Those of many places of a word's head where the word stands."""
    places = places[places <= len(codes) - len(word)]
    for at in range(size, len(word)):
        places = places[codes[places + at] == ord(word[at])]
    return places.tolist()


def _heads_by_size(words: tuple[str, ...]) -> _HeadsBySize:
    """By the size of their heads, once for texts of ASCII and once for others."""
    by_size: dict[tuple[int, bool], dict[str, list[str]]] = {}
    for word in words:
        size = max(size for size in _HEAD_SIZES if size <= len(word))
        for is_ascii in (True, False) if word.isascii() else (False,):
            by_size.setdefault((size, is_ascii), {}).setdefault(word[:size], []).append(word)
    return {key: _word_heads(key[0], heads) for key, heads in by_size.items()}


def _word_heads(size: int, heads: Mapping[str, list[str]]) -> _WordHeads:
    """The table of heads of one size; no more than 4,095 different signs stand in them."""
    codes = code_points("".join(heads))
    begins = np.zeros(1 << _TABLE_BITS, dtype=np.bool_)
    begins[dict(_hashes_of(codes))[size][::size]] = True
    # Other signs have the number zero, and so have those beyond the end.
    numbers = np.zeros(int(codes.max()) + 2, dtype=np.uint64)
    signs = np.unique(codes)
    numbers[signs] = np.arange(1, len(signs) + 1)
    keys = _head_keys([codes[at::size] for at in range(size)], numbers)
    order: NDArray[np.intp] = np.argsort(keys)
    in_turn = [tuple(same) for same in heads.values()]
    words = tuple(in_turn[int(number)] for number in order)
    return _WordHeads(begins, keys[order], words, numbers)


def _hashes_of(codes: NDArray[np.uint32]) -> Iterator[tuple[int, NDArray[np.uint16]]]:
    """For each size the hashes of so many signs, from each place on where so many stand."""
    signs = codes.astype(np.uint16)
    one = signs * _HASH_FACTOR
    yield 1, one
    two = (one[:-1] + signs[1:]) * _HASH_FACTOR
    yield 2, two
    three = (two[:-1] + signs[2:]) * _HASH_FACTOR
    yield 3, three
    yield 5, (three[:-2] + two[3:]) * _HASH_FACTOR
