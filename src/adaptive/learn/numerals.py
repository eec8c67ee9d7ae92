"""Numbers that are written in words or in Han signs, by the values that Unicode gives for them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

# The names of these signs are the English number words. "One" is left out: it mostly stands for
# something else.
_FROM_TWO_TO_NINE = range(0x10108, 0x10110)  # Aegean numbers
_TENS = range(0x10110, 0x10119)
_FROM_ELEVEN_TO_NINETEEN = range(0x246A, 0x2473)  # circled numbers


def _number_words(signs: range) -> dict[str, int]:
    """The last word of each sign's name with the sign's value."""
    return {
        unicodedata.name(chr(sign)).rpartition(" ")[2].lower(): int(unicodedata.numeric(chr(sign)))
        for sign in signs
    }


_UNIT_WORDS = _number_words(_FROM_TWO_TO_NINE)
_UNIT_VALUES = {"one": 1, **_UNIT_WORDS}  # as in "forty-one"
_TENS_VALUES = _number_words(_TENS)
_WORD_VALUES = {**_UNIT_WORDS, **_TENS_VALUES, **_number_words(_FROM_ELEVEN_TO_NINETEEN)}
_TENS_WORD, _UNIT_WORD, _WORD = map("|".join, (_TENS_VALUES, _UNIT_VALUES, _WORD_VALUES))
_NUMBER_WORD = re.compile(rf"\b(?ai:({_TENS_WORD})[- ]({_UNIT_WORD})|{_WORD})\b")
_HAN_NUMERAL = re.compile(r"(?<!\d)[〇一二两兩三四五六七八九十百千万萬億亿]{1,12}")
_TEN = 10
_TEN_THOUSAND = 10_000


def spelled_in_digits(text: str) -> str:
    """A text whose English number words up to 99 are written in digits."""
    return _NUMBER_WORD.sub(_digits_of_word, text)


def _digits_of_word(match: re.Match[str]) -> str:
    if match[1]:
        return str(_TENS_VALUES[match[1].lower()] + _UNIT_VALUES[match[2].lower()])
    return str(_WORD_VALUES[match[0].lower()])


def han_numbers(text: str) -> Iterator[Decimal]:
    """The numbers in Han signs; a single "one" is part of too many words."""
    for match in _HAN_NUMERAL.finditer(text):
        if match[0] != "一":
            yield Decimal(_han_value(match[0]))


def _han_value(written: str) -> int:
    """The value of Han signs: digits by place, or multiplied by the sign behind them."""
    total = digits = 0
    for sign in written:
        value = int(unicodedata.numeric(sign))
        if value < _TEN:
            digits = digits * 10 + value
            continue
        if value < _TEN_THOUSAND:
            total += (digits or 1) * value
        else:
            total = (total + digits or 1) * value
        digits = 0
    return total + digits
