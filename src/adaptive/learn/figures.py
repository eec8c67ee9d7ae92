"""The figures of a text by their value, whatever the script and however they are written.

A figure that can be read in two ways, as 1.450, has both values: what was said is searched for
what a sentence claims, and people and models write the same number differently.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal

# The names of these signs are the English number words. "One" is left out: it mostly stands for
# something else.
_FROM_TWO_TO_NINE = range(0x10108, 0x10110)  # Aegean numbers
_TENS = range(0x10110, 0x10119)
_FROM_ELEVEN_TO_NINETEEN = range(0x246A, 0x2473)  # circled numbers


def _number_words(signs: range) -> dict[str, int]:
    """The last word of each sign's name with the sign's value."""
    return {
        unicodedata.name(chr(sign)).rpartition(" ")[2].lower(): int(
            unicodedata.numeric(chr(sign))
        )
        for sign in signs
    }


_UNIT_WORDS = _number_words(_FROM_TWO_TO_NINE)
_UNIT_VALUES = {"one": 1, **_UNIT_WORDS}  # as in "forty-one"
_TENS_VALUES = _number_words(_TENS)
_WORD_VALUES = {
    **_UNIT_WORDS,
    **_TENS_VALUES,
    **_number_words(_FROM_ELEVEN_TO_NINETEEN),
}
_TENS_NAMES = "|".join(_TENS_VALUES)
_UNIT_NAMES = "|".join(_UNIT_VALUES)
_NUMBER_NAMES = "|".join(_WORD_VALUES)
_NUMBER_WORD = re.compile(
    rf"\b(?ai:({_TENS_NAMES})[- ]({_UNIT_NAMES})|{_NUMBER_NAMES})\b"
)
_HAN_NUMERAL = re.compile(
    r"(?<!\d)[〇一二两兩三四五六七八九十百千万萬億亿]{1,12}"
)
_TEN = 10
_TEN_THOUSAND = 10_000


def spelled_in_digits(text: str) -> str:
    """A text whose English number words up to 99 are written in digits."""
    return _NUMBER_WORD.sub(_digits_of_word, text)


def _digits_of_word(match: re.Match[str]) -> str:
    if match[1]:
        return str(
            _TENS_VALUES[match[1].lower()] + _UNIT_VALUES[match[2].lower()]
        )
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


_MARKS = str.maketrans(
    {
        "\u066b": ".",  # Arabic decimal mark
        "\u066c": ",",  # Arabic thousands mark
        "\u2019": "'",
        "\u00a0": " ",
        "\u2009": " ",
        "\u202f": " ",
    }
)
_FIGURE = re.compile(r"\d+(?:[.,']\d+| \d{3}(?!\d))*")
_GROUPS = re.compile(r"[.,' ]")
_LONGEST_FIGURE = 40  # signs; nobody tells longer ones apart
_HALF = re.compile(r"(?::\d\d)? ?([ap])\.? ?m\b", re.I)
_THOUSANDS = re.compile(r" ?k\b", re.I)
_NEXT_WORD = re.compile(r"[ -]([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+")
_HALF_DAY = 12  # hours
_AFTERNOON = "p"  # of p.m.
_LATEST_HOUR = 24
_LAST_DAY = 31
_LARGEST_SPELLED = 100
_ROUND_DIGITS = 2
_QUARTERS = 4
_MULTIPLIERS = (2, 3, 5, 6, 7, 9)  # powers of ten that have a name somewhere


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: where it stands in ``plain_figures``, and all that it can mean.

    ``parts`` are the numbers of a date or a version by themselves, ``unit`` is the next word, and
    ``half`` is the half of the day that an hour is written with.
    """

    written: str
    begin: int
    end: int
    values: frozenset[Decimal]
    parts: tuple[Decimal, ...]
    unit: str
    half: str
    is_clock: bool

    @property
    def is_year(self) -> bool:
        """Whether it may be a year of this or the last century."""
        return len(self.written) == 4 and self.written[:2] in ("19", "20")

    @property
    def is_day(self) -> bool:
        """Whether it may be the day of a month, or the month."""
        return self.written.isdecimal() and max(self.values) <= _LAST_DAY

    @property
    def is_often_spelled(self) -> bool:
        """Whether people write such numbers as words: small, round, or a simple fraction."""
        return bool(self.values) and all(
            value * _QUARTERS % 1 == 0
            and (
                value <= _LARGEST_SPELLED
                or len(_digits(value)[0]) <= _ROUND_DIGITS
            )
            for value in self.values
        )


def plain_figures(text: str) -> str:
    """A text with all digits and vulgar fractions in ASCII."""
    if text.isascii():
        return text
    plain: list[str] = []
    for sign in text.translate(_MARKS):
        if sign.isdecimal():
            plain.append(str(unicodedata.decimal(sign)))
        elif (value := _fraction(sign)) and plain and plain[-1].isdigit():
            plain.append(value.removeprefix("0"))
        else:
            plain.append(value or sign)
    return "".join(plain)


def _fraction(sign: str) -> str:
    """The value of a vulgar fraction such as a half, else nothing."""
    value = (
        unicodedata.numeric(sign, 0)
        if unicodedata.category(sign) == "No"
        else 0
    )
    return f"{value:.4g}" if value % 1 else ""


def figures(text: str) -> Iterator[Figure]:
    """The figures of a text in their order."""
    plain = plain_figures(text)
    for match in _FIGURE.finditer(plain):
        written, end = match[0][:_LONGEST_FIGURE], match.end()
        values, parts = _readings(written)
        factor = _factor(plain, end)
        values = {value * factor for value in values}
        is_minute = plain.endswith(":", 0, match.start())
        half = None if is_minute else _HALF.match(plain, end)
        if half and half[1].lower() == _AFTERNOON:
            values = {
                value + _HALF_DAY if value < _HALF_DAY else value
                for value in values
            }
        unit = _NEXT_WORD.match(plain, end)
        yield Figure(
            written=match[0],
            begin=match.start(),
            end=end,
            values=frozenset(values),
            parts=parts,
            unit=unit[1] if unit else "",
            half=half[1].lower() if half else "",
            is_clock=plain[end : end + 1] == ":",
        )


def _factor(plain: str, end: int) -> int:
    """What a sign behind a figure multiplies it by: 85k, or ten thousands in Chinese."""
    if _THOUSANDS.match(plain, end):
        return 1000
    sign = plain[end : end + 1]
    value = unicodedata.numeric(sign, 1) if sign.isalpha() else 1
    return int(value) if value >= 100 else 1


def _readings(written: str) -> tuple[set[Decimal], tuple[Decimal, ...]]:
    """What a figure can mean as a whole, and its groups where they may be numbers themselves."""
    groups = _GROUPS.split(written.rstrip(".,' "))
    numbers = tuple(map(Decimal, groups))
    if len(groups) == 1:
        return {numbers[0]}, ()
    marks = _GROUPS.findall(written)
    values: set[Decimal] = set()
    parts = numbers
    has_decimals = marks[-1] in ".," and marks[-1] not in marks[:-1]
    if _are_thousands(groups, marks):
        values.add(Decimal("".join(groups)))
        parts = numbers if " " in marks else ()
        has_decimals = has_decimals and not groups[-1].endswith("0")
    if has_decimals and (
        len(groups) == 2 or _are_thousands(groups[:-1], marks[:-1])
    ):
        values.add(Decimal("".join(groups[:-1]) + "." + groups[-1]))
    return values, parts


def _are_thousands(groups: list[str], marks: list[str]) -> bool:
    """Whether the marks of a figure part its thousands: 1,450, or 1,45,000 in India."""
    inner = all(len(group) in (2, 3) for group in groups[1:-1])
    return (
        len(set(marks)) == 1
        and len(groups[0]) <= 3
        and inner
        and len(groups[-1]) == 3
    )


@dataclass(frozen=True, slots=True)
class SaidFigures:
    """The numbers that stand in what was said, and words that may multiply one of them.

    Each number has the halves of the day with which it was said, an empty one for a bare number.
    """

    halves: Mapping[Decimal, Set[str]]
    counted: Mapping[tuple[int, ...], Set[tuple[int, str]]]

    @classmethod
    def of(cls, texts: Iterable[str]) -> SaidFigures:
        """All figures of several texts."""
        halves: dict[Decimal, set[str]] = {}
        counted: dict[tuple[int, ...], set[tuple[int, str]]] = {}
        for text in texts:
            for value in han_numbers(text):
                halves.setdefault(value, set()).add("")
            for figure in figures(spelled_in_digits(text)):
                for value in (*figure.values, *figure.parts):
                    halves.setdefault(value, set()).add(figure.half)
                for value in figure.values if figure.unit else ():
                    digits, exponent = _digits(value)
                    counted.setdefault(digits, set()).add(
                        (exponent, figure.unit.casefold())
                    )
        return cls(halves, counted)

    @property
    def values(self) -> frozenset[Decimal]:
        """All that was said, whatever the half of the day."""
        return frozenset(self.halves)

    def lacking(self, sentence: str) -> list[Figure]:
        """The figures of a sentence that were not said, however they may be written."""
        words = frozenset(_WORD.findall(sentence.casefold()))
        return [
            figure
            for figure in figures(sentence)
            if not self._hold(figure, words)
        ]

    def _hold(self, figure: Figure, words: frozenset[str]) -> bool:
        """Whether a figure was said, as a whole, in parts, as an hour or multiplied by a word."""
        if not figure.written.strip("0"):
            return True  # full hours are not said
        if figure.parts and all(part in self.halves for part in figure.parts):
            return True
        return any(
            value in self.halves
            or self._is_other_half(figure, value)
            or self._is_multiplied(value, words)
            for value in figure.values
        )

    def _is_other_half(self, figure: Figure, value: Decimal) -> bool:
        """Whether an hour was said on the twelve-hour clock and is written on the other one.

        Where both name the half of the day it is the same one: no "7 am" for "7 pm".
        """
        is_afternoon = figure.is_clock or figure.half == _AFTERNOON
        if is_afternoon and _HALF_DAY < value <= _LATEST_HOUR:
            return "" in self.halves.get(value - _HALF_DAY, ())
        return not figure.half and _AFTERNOON in self.halves.get(
            value + _HALF_DAY, ()
        )

    def _is_multiplied(self, value: Decimal, words: frozenset[str]) -> bool:
        """Whether it is a said number times the word behind that ("85 thousand", "3 lakh").

        Such a word is known by what is not said again: a unit would stand in the sentence, too.
        """
        digits, exponent = _digits(value)
        return any(
            exponent - other in _MULTIPLIERS
            and not any(one.startswith(unit) for one in words)
            for other, unit in self.counted.get(digits, ())
        )


def _digits(value: Decimal) -> tuple[tuple[int, ...], int]:
    """The digits of a number without zeros at the end, and its power of ten."""
    _, digits, exponent = value.normalize().as_tuple()
    return digits, exponent if isinstance(exponent, int) else 0
