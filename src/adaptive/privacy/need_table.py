"""Which of many patterns may fit a text, told by the words that stand in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from adaptive.privacy.pattern_needs import WORD_EDGE, Need

# By how many of its first signs a text is looked up that may begin within a word.
_NEED_HEAD = 3


class NeedTable:
    """The needs of many patterns (``pattern_needs``), looked up in a text together."""

    def __init__(self, needs: Sequence[tuple[Need, ...]]) -> None:
        numbers: dict[Need, int] = {}
        # Of each pattern the bits of its needs.
        self._asked = [
            sum(1 << numbers.setdefault(need, len(numbers)) for need in dict.fromkeys(one))
            for one in needs
        ]
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
        return [number for number, asked in enumerate(self._asked) if met & asked == asked]

    def _met(self, text: str) -> int:
        met = 0
        for word in self._words.keys() & set(_need_words().findall(text)):
            for whole, bits in self._words[word].items():
                if bits & ~met and whole in text:
                    met |= bits
        held = {text[at : at + _NEED_HEAD] for at in range(len(text) - _NEED_HEAD + 1)}
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
        elif len(plain) >= _NEED_HEAD:
            entries = self._heads.setdefault(plain[:_NEED_HEAD], {})
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
