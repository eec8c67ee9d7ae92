"""The numbers, months and days of the week of texts, by their value.

Script and way of writing do not count. A number that can be read in two ways, as 1.450, has both
values.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal

from adaptive.core import frozen, head_and_tail, word_table
from adaptive.learn.numerals import NUMBER_WORDS
from adaptive.search import folded_text

_LONGEST_TEXT = 16_000
_HAN = "〇零一二三四五六七八九十两兩百千万萬億亿"
# Not the number of a code ("B12"), but minutes and centimetres ("17h30", "1m80").
_NUMBER = re.compile(
    r"(?:(?<![a-z\u0400-\u052f])|(?<=\d[hm]))"
    r"(?P<digits>\d{1,40}(?:[.,']\d{1,40}| \d{3}(?!\d)){0,9})"
    rf"|(?P<han>[{_HAN}]{{1,12}})"
)
_MULTIPLIER = re.compile(r"[ -]?([百千万萬億亿백천만억]|[^\W\d_]{1,16})")
_HALF = re.compile(r"(?::\d\d)? ?([ap])\.? ?m\b")
_CLOCK = re.compile(r":\d| ?(?:h(?![^\W\d_])|uhr\b|[時时點点시])")
_LONGEST_UNIT = 20  # letters
_SIZES = {
    unit: Decimal(size)
    for size, units in word_table("measures").items()
    for unit in units
}
_DATE_MARK = re.compile(r"\d[-/]\d|[月日월일]")
_ROMAN = re.compile(
    r"\b(?=[IVXL]{2})(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=[IVXL])(?=\b|e\b|ème\b|º)"
)
_ROMAN_SIGNS = {"I": 1, "V": 5, "X": 10, "L": 50}
_FRACTION = re.compile("(\\d{0,9})([\u00bc-\u00be\u2150-\u215e])")
# Arabic decimal and thousands marks, apostrophes, and spaces that do not break.
_MARKS = str.maketrans("\u066b\u066c\u2019\u00a0\u2009\u202f", ".,'   ")
_SIMPLIFIED = str.maketrans("两亿", "兩億")  # without a value in Unicode
_TEN_THOUSANDS = ("万", "萬")
_TEN = 10
_TEN_THOUSAND = 10_000
_HALF_DAY = 12  # hours
_LATEST_HOUR = 24
_LONGEST_GAP = 7  # letters between a day and its month: "14th of May"

# A number with the half of the day that it is said with, if it is an hour: "a", "p" or neither.
FigureReading = tuple[Decimal, str]


@frozen
class Figure:
    """One number: all that it can mean, the parts of a date or time, and what stands behind it."""

    written: str
    values: frozenset[Decimal]
    parts: frozenset[Decimal]
    behind: str
    is_in_date: bool
    is_sure: bool  # else its word may be something else

    @property
    def half(self) -> str:
        """The half of the day that it is an hour of: "a", "p" or neither."""
        half = _HALF.match(self.behind)
        return half[1] if half else ""

    @property
    def is_clock(self) -> bool:
        """Whether it is an hour by what stands behind it."""
        return _CLOCK.match(self.behind) is not None

    def measures(self) -> set[Decimal]:
        """What it means in grams, metres or litres; nothing where it counts something else."""
        # Another word may stand before the unit: "half a kilo".
        words = self.behind.replace("-", " ").split(" ")[:3]
        sizes = (_SIZES[word] for word in words if word in _SIZES)
        size = next(sizes, Decimal(0))
        return {value * size for value in self.values if size}

    def readings(self) -> Iterator[FigureReading]:
        """What it can mean as a whole: 7 p.m. is 19, but 7 may be both 7 a.m. and 7 p.m."""
        for value in self.values:
            if not self.half:
                yield from ((value, half) for half in ("", "a", "p"))
            else:
                yield value, self.half
            if self.half == "p" and value < _HALF_DAY:
                yield value + _HALF_DAY, ""
            if self.is_clock and _HALF_DAY < value <= _LATEST_HOUR:
                yield value - _HALF_DAY, "p"


class Figures:
    """The numbers, months, days of the week and eras of texts."""

    def __init__(self, *texts: str) -> None:
        """Read the texts as one."""
        text = "\n".join(head_and_tail(one, _LONGEST_TEXT) for one in texts)
        plain = _ROMAN.sub(_roman_value, text.translate(_MARKS))
        self._folded = folded_text(_FRACTION.sub(_decimal_fraction, plain))
        words = [*NUMBER_WORDS.spelled(self._folded)]
        self.names = [word for word in words if word.role != "="]
        named = {
            place
            for name in self.names
            for place in range(name.start, name.end)
        }
        self._near_months = {
            place
            for name in self.names
            if name.role == "m"
            for place in range(
                name.start - _LONGEST_GAP, name.end + _LONGEST_GAP + 1
            )
        }
        self.numbers = list[Figure]()
        ends = set[int]()
        for match in _NUMBER.finditer(self._folded):
            if match.start() not in named:
                end = self._add_written(match)
                ends.add(end)
        for word in words:
            if word.role == "=" and word.end not in ends:
                self._add(
                    word.start, word.end, word.values, is_sure=word.is_sure
                )

    def named(self, role: str) -> set[int]:
        """The months, days of the week or eras that are named."""
        return {
            int(value)
            for name in self.names
            if name.role == role
            for value in name.values
        }

    def _add(
        self,
        start: int,
        end: int,
        values: Iterable[Decimal],
        parts: frozenset[Decimal] = frozenset(),
        *,
        is_sure: bool = True,
    ) -> None:
        """Add a number with what stands around it."""
        around = self._folded[max(0, start - 2) : end + 2]
        is_near_month = not self._near_months.isdisjoint((start, end))
        figure = Figure(
            written=self._folded[start:end],
            values=frozenset(values),
            parts=parts,
            behind=self._folded[end : end + _LONGEST_UNIT],
            is_in_date=is_near_month or _DATE_MARK.search(around) is not None,
            is_sure=is_sure,
        )
        self.numbers.append(figure)

    def _add_written(self, match: re.Match[str]) -> int:
        """Add a number in digits or Han signs, and say where it ends with its multiplier."""
        start, end = match.span()
        parts = frozenset[Decimal]()
        if match["digits"]:
            values, parts = _digit_values(match[0])
        else:
            values = {_han_value(match[0])}
        behind = _MULTIPLIER.match(self._folded, end)
        meanings = NUMBER_WORDS.meanings.get(behind[1] if behind else "", {})
        factors = [word for word in meanings.values() if word.is_multiplier]
        if behind and factors:
            end = behind.end()
            multiplied = {
                value * word.value for value in values for word in factors
            }
            is_clear = any(word.doubt == 0 for word in factors)
            values = multiplied if is_clear else values | multiplied
        self._add(start, end, values, parts)
        return end


def _decimal_fraction(match: re.Match[str]) -> str:
    """A vulgar fraction, with the whole number before it, as a decimal one."""
    return f"{int(match[1] or 0) + unicodedata.numeric(match[2]):.13g}"


def _roman_value(match: re.Match[str]) -> str:
    """Roman numerals in digits."""
    signs = [_ROMAN_SIGNS[sign] for sign in match[0]]
    pairs = itertools.zip_longest(signs, signs[1:], fillvalue=0)
    return str(sum(-sign if sign < behind else sign for sign, behind in pairs))


def _digit_values(
    written: str,
) -> tuple[set[Decimal], frozenset[Decimal]]:
    """What a figure can mean as a whole, and its groups where they may be numbers themselves."""
    groups = re.split("[.,' ]", written)
    marks = re.findall("[.,' ]", written)
    whole = Decimal("".join(groups))
    if not marks:
        return {whole}, frozenset()
    values = set[Decimal]()
    parts = frozenset(map(Decimal, groups))
    # 1,450, or 1,45,000 in India.
    sizes = {*map(len, groups[1:-1])}
    if len(groups[-1]) == 3 and sizes <= {2, 3} and len(set(marks)) == 1:
        values.add(whole)
        if " " not in marks:
            parts = frozenset[Decimal]()
    is_round = bool(values) and written.endswith("0")
    if marks[-1] in ".," and marks.count(marks[-1]) == 1 and not is_round:
        values.add(whole.scaleb(-len(groups[-1])))
    return values, parts


def _han_value(written: str) -> Decimal:
    """The value of Han signs: digits by place, or multiplied by the sign behind them."""
    total = digits = 0
    for sign in written.translate(_SIMPLIFIED):
        value = int(unicodedata.numeric(sign))
        if value < _TEN:
            digits = digits * 10 + value
        elif value < _TEN_THOUSAND:
            total += (digits or 1) * value
            digits = 0
        else:
            total = (total + digits or 1) * value
            digits = 0
    if digits < _TEN and written[-2:-1] in _TEN_THOUSANDS:
        digits *= 1000  # as of 2万3
    return Decimal(total + digits)
