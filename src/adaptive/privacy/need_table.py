"""Which of many patterns may fit a text, told by the words that stand in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from adaptive.privacy.pattern_needs import WORD_EDGE, Need
from adaptive.privacy.word_places import FEW_SIGNS, heads_of


class NeedTable:
    """The needs of many patterns (``pattern_needs``), looked up in a text together."""

    def __init__(self, needs: Sequence[tuple[Need, ...]]) -> None:
        numbers: dict[Need, int] = {}
        # Of each pattern the bits of its needs.
        asked_of = [
            sum(1 << numbers.setdefault(need, len(numbers)) for need in dict.fromkeys(one))
            for one in needs
        ]
        # Patterns that ask for nothing, and the others by the first need that they ask for.
        self._free = [number for number, asked in enumerate(asked_of) if not asked]
        self._by_first: dict[int, list[tuple[int, int]]] = {}
        for number, asked in enumerate(asked_of):
            if asked:
                self._by_first.setdefault(asked & -asked, []).append((number, asked))
        self._firsts_asked = sum(self._by_first)
        # By a whole word, by the first signs of a text that is none, and by shorter ones.
        self._words: dict[str, dict[str, int]] = {}
        self._heads: dict[str, dict[str, int]] = {}
        self._short: dict[str, int] = {}
        bits: dict[str, int] = {}
        for need, number in numbers.items():
            for one in need:
                bits[one] = bits.get(one, 0) | 1 << number
        for one, meant in bits.items():
            self._enter(one, meant)

    def possible(self, text: str) -> list[int]:
        """The numbers of the patterns all of whose needs the text meets, rising."""
        met = self._met(text)
        found = list(self._free)
        looked_at = met & self._firsts_asked
        while looked_at:
            first = looked_at & -looked_at
            looked_at ^= first
            found += [number for number, asked in self._by_first[first] if met & asked == asked]
        return sorted(found)

    def _met(self, text: str) -> int:
        met = 0
        for word in self._words.keys() & set(_need_words().findall(text)):
            for whole, bits in self._words[word].items():
                if bits & ~met and whole in text:
                    met |= bits
        held = heads_of(text)
        for head in self._heads.keys() & held:
            for part, bits in self._heads[head].items():
                if bits & ~met and part in text:
                    met |= bits
        for part, bits in self._short.items():
            if part in text:
                met |= bits
        return met

    def _enter(self, text: str, bits: int) -> None:
        plain = text.replace(WORD_EDGE, "")
        if words := _whole_words().findall(text):
            entries = self._words.setdefault(max(words, key=len), {})
        elif len(plain) >= FEW_SIGNS:
            entries = self._heads.setdefault(plain[:FEW_SIGNS], {})
        else:
            entries = self._short
        entries[plain] = entries.get(plain, 0) | bits


@cache
def _need_words() -> re.Pattern[str]:
    return re.compile(r"\w+")


@cache
def _whole_words() -> re.Pattern[str]:
    """Words that end within a text, so that they are whole wherever it stands."""
    return re.compile(r"(?<=\W)\w+(?=\W)")
