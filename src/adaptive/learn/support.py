"""Whether a sentence follows from words: what of it stands in them, and what is new.

Numbers are compared by their value, whatever the script and however they are written. One that can
be read in two ways, as 1.450, has both values.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from adaptive.core.texts import word_table
from adaptive.learn.quotation import UNSPACED
from adaptive.search.tokens import folded_text, tokens

_FIRST_LETTERS = 4
_ABBREVIATION = 3  # letters of "mon", "dec"
_LEAST_ABBREVIATED = 6  # letters of what is cut so short
_PARTS = re.compile(r"[\w\s'\u2019]+")
_NAME = re.compile(
    r"(?<=\w )(?:[^\W\d_]['\u2019])?([^\W\d_][^\W\d_'\u2019-]{2,})"
)
_TELLING = "x0x"  # a word that is always telling
_MOST_LETTERS = 400
_JAPANESE = ("HIRAGANA", "KATAKANA")
_WORD = re.compile(r"[^\W_]+")
_SHORT_PREFIX = re.compile(
    r"\b([^\W_]{1,3})-(?=[^\W_])"
)  # "X-ray", which is typed "xray", too
# Of telling words; in languages that write all nouns with capitals they are more than half.
_MOST_CAPITALS = 0.45
# Of a memory's telling words, in a sentence that says it again
_LEAST_REPEATED = 0.5
_LEAST_REPEATED_WORDS = 4
_LEAST_NEW = 0.3  # a fact of which less is new says no more than another one


def beginnings(text: str) -> frozenset[str]:
    """How the telling words of a text begin."""
    return frozenset(map(beginning, telling_words(text) or tokens(text)))


def beginning(word: str) -> str:
    """The first letters of a word, without the vowel signs that are spelled in many ways."""
    if word.isascii():
        return word[:_FIRST_LETTERS]
    return "".join(filter(str.isalnum, word))[:_FIRST_LETTERS]


def telling_words(text: str) -> list[str]:
    """The telling words of a text in their order; none of a text that has no others."""
    joined = _SHORT_PREFIX.sub(r"\1", text)
    words = tokens(f"{joined} {_TELLING}")[:-1]
    return [word for word in words if word.isascii() or _is_telling(word)]


def _is_telling(word: str) -> bool:
    """Whether a word is more than one letter with its vowel signs, as postpositions in Hindi."""
    return sum(map(str.isalnum, word)) > 1 or UNSPACED.match(word) is not None


def main_script(text: str) -> str:
    """The script in which most letters of a text's beginning are written."""
    letters = (letter for letter in text[:_MOST_LETTERS] if letter.isalpha())
    scripts = (
        unicodedata.name(letter, "").split(" ")[0] for letter in letters
    )
    counted = Counter("CJK" if one in _JAPANESE else one for one in scripts)
    return counted.most_common(1)[0][0] if counted else ""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words by which a sentence may be supported."""

    telling: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """All words of several texts."""
        joined = "\n".join(texts)
        numbers = (
            beginning(str(value))
            for figure in figures(joined)
            for value in figure.values
        )
        return cls(
            telling=beginnings(joined).union(numbers),
            words=frozenset(_WORD.findall(folded_text(joined))),
        )

    def knows(self, word: str) -> bool:
        """Whether a word stands here, inflected or cut short ("mon" for Mondays)."""
        folded = folded_text(word)
        is_cut_short = (
            len(folded) >= _LEAST_ABBREVIATED
            and folded[:_ABBREVIATION] in self.words
        )
        forms = (folded, folded.replace("-", ""), *tokens(folded))
        return is_cut_short or not self.telling.isdisjoint(
            map(beginning, forms)
        )


def supported_share(sentence: str, said: Vocabulary) -> float:
    """The share of a sentence's telling words that stand in what was said, from 0 to 1.

    Numbers that were not said do not count: they are judged by themselves.
    """
    telling = beginnings(sentence)
    supported = telling & said.telling
    words = {word for word in telling if not word.isdecimal()} | supported
    return len(supported) / len(words) if words else 0.0


def said_marks(sentence: str, said: Vocabulary) -> str:
    """A plus for each telling word of a sentence that was said, a minus for each other one.

    Days and years have no mark: a model works them out.
    """
    words = telling_words(sentence)
    marks = ""
    for place, word in enumerate(words):
        around = words[max(0, place - 1) : place + 2]
        if not any(one[0].isdecimal() for one in around):
            marks += "+" if said.knows(word) else "-"
    return marks


def left_over(spans: Sequence[str], sentence: str) -> int:
    """How many telling words of a quotation do not stand in a sentence: it may paraphrase them."""
    quoted = beginnings("\n".join(spans))
    return len(quoted - beginnings(sentence))


def reworded(spans: Sequence[str], sentence: str) -> int:
    """How many quoted words a sentence may put in words of its own.

    They stand beside words that it has, up to a comma or stop; all may be, where a span has none.
    """
    telling = beginnings(sentence)
    own_words = 0
    for span in spans:
        parts = map(beginnings, _PARTS.findall(span))
        beside = [len(words - telling) for words in parts if words & telling]
        if not beside:
            return left_over(spans, sentence)
        own_words += sum(beside)
    return own_words


def _capitalised(text: str) -> list[re.Match[str]]:
    """The words of a text with capitals, but those that open it."""
    return [match for match in _NAME.finditer(text) if match[1][0].isupper()]


def capitalises_nouns(texts: Iterable[str]) -> bool:
    """Whether texts are in a language that writes all nouns with capitals."""
    joined = "\n".join(texts)
    words = [word for word in telling_words(joined) if not word[0].isdecimal()]
    return len(_capitalised(joined)) > max(1, _MOST_CAPITALS * len(words))


def new_name(sentence: str, said: Vocabulary) -> str:
    """The first name in a sentence that was not said; empty without one."""
    for match in _capitalised(sentence):
        is_in_date = _beside_figure(sentence, match)
        if (
            not is_in_date
            and telling_words(match[1])
            and not said.knows(match[1])
        ):
            return match[1]
    return ""


def _beside_figure(sentence: str, name: re.Match[str]) -> bool:
    """Whether a name stands next to a number, as a month does."""
    before = sentence[: name.start()].rstrip(" .")
    after = sentence[name.end() :].lstrip(" .,")
    return before[-1:].isdecimal() or after[:1].isdecimal()


def says_again(sentence: str, memory: str) -> bool:
    """Whether a sentence has most telling words of a memory, and so many that it is no chance."""
    telling = beginnings(memory)
    shared = telling & beginnings(sentence)
    return len(shared) >= max(
        _LEAST_REPEATED_WORDS, _LEAST_REPEATED * len(telling)
    )


def says_no_more(content: str, said: Sequence[str]) -> bool:
    """Whether most of a fact's telling words stand in one of the sentences."""
    telling = beginnings(content)
    return any(
        len(telling - beginnings(one)) <= _LEAST_NEW * len(telling)
        for one in said
    )


# A number with the half of the day that it is said with, if it is an hour: "a", "p" or neither.
_Reading = tuple[Decimal, str]

_VALUES = {
    word: Decimal(value)
    for value, words in word_table("number_words").items()
    for word in words
}
# What is less is a number by itself, what is more multiplies one
_HUNDRED = 100
_SMALL = "|".join(word for word, value in _VALUES.items() if value < _HUNDRED)
_HAN_MULTIPLIERS = "百千万萬億亿백천만억"
_SIMPLIFIED = str.maketrans("两亿", "兩億")  # without a value in Unicode
_NUMBER = re.compile(
    rf"(?P<digits>\d{{1,40}}(?:[.,']\d{{1,40}}| \d{{3}}(?!\d)){{0,9}})"
    rf"|(?P<han>[〇一二两兩三四五六七八九十{_HAN_MULTIPLIERS[:7]}]{{1,12}})"
    rf"|\b(?ai:(?:{_SMALL})(?:(?:-| | y | e | et )(?:{_SMALL}))?)\b"
)
_BEHIND = re.compile(
    rf"(?::\d\d)? ?(?P<half>[AaPp])\.? ?[Mm]\b"
    rf"|[ -]?(?P<multiplier>[{_HAN_MULTIPLIERS}]|[^\W\d_][^\s\d_.,;:!?()]*)"
)
_FRACTION = re.compile("(\\d{0,9})([\u00bc-\u00be\u2150-\u215e])")
# Arabic decimal and thousands marks, apostrophes, and spaces that do not break.
_MARKS = str.maketrans("\u066b\u066c\u2019\u00a0\u2009\u202f", ".,'   ")
_TEN = 10
_TEN_THOUSAND = 10_000
_HALF_DAY = 12  # hours
_LATEST_HOUR = 24
_LAST_DAY = 31
_FIRST_YEAR = 1900
_LAST_YEAR = 2099
_ROUND_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: all that it can mean, and the parts of a date, a time or a version."""

    written: str
    values: frozenset[Decimal]
    parts: frozenset[Decimal]
    half: str
    is_clock: bool

    @property
    def is_year(self) -> bool:
        """Whether it may be a year of this or the last century."""
        return any(_FIRST_YEAR <= value <= _LAST_YEAR for value in self.values)

    @property
    def is_day(self) -> bool:
        """Whether it may be the day of a month, or the month."""
        return self.written.isdecimal() and max(self.values) <= _LAST_DAY

    @property
    def is_often_spelled(self) -> bool:
        """Whether people write such numbers as words: they have one digit or two, and zeros."""
        return any(
            len(value.normalize().as_tuple().digits) <= _ROUND_DIGITS
            for value in self.values
        )

    def readings(self) -> Iterator[_Reading]:
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

    def stands_in(self, said: frozenset[_Reading]) -> bool:
        """Whether it was said, as a whole or in parts; full hours are not said."""
        return (
            not any(self.values | self.parts)
            or not said.isdisjoint(self.readings())
            or (
                bool(self.parts)
                and all((part, "") in said for part in self.parts)
            )
        )


def figures(text: str) -> Iterator[Figure]:
    """The numbers of a text in their order; a single "one" is part of too many words."""
    plain = _FRACTION.sub(_decimal_fraction, text.translate(_MARKS))
    for match in _NUMBER.finditer(plain):
        values = {Decimal(1)}
        parts = frozenset[Decimal]()
        if match["digits"]:
            values, parts = _digit_values(match[0])
        elif match["han"]:
            values = {_han_value(match[0])}
        else:
            words = re.split("[- ]", match[0].lower())
            numbers = (_VALUES.get(word, Decimal(0)) for word in words)
            values = {sum(numbers, Decimal(0))}
        behind = _BEHIND.match(plain, match.end())
        half = behind["half"] if behind else None
        multiplier = behind["multiplier"] if behind else None
        factor = _VALUES.get((multiplier or "").casefold(), Decimal(1))
        if factor >= _HUNDRED:
            values = {value * factor for value in values}
        if match["digits"] or values != {1}:
            yield Figure(
                written=match[0],
                values=frozenset(values),
                parts=parts,
                half=(half or "").lower(),
                is_clock=plain.startswith(":", match.end()),
            )


def _decimal_fraction(match: re.Match[str]) -> str:
    """A vulgar fraction, with the whole number before it, as a decimal one."""
    return f"{int(match[1] or 0) + unicodedata.numeric(match[2]):.13g}"


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
    return Decimal(total + digits)


def unsaid_figures(text: str, said: Iterable[str]) -> list[Figure]:
    """The numbers of a text that were not said, however they are written."""
    readings = set[_Reading]()
    for figure in figures("\n".join(said)):
        readings.update(figure.readings())
        readings.update((part, "") for part in figure.parts)
    held = frozenset(readings)
    return [one for one in figures(text) if not one.stands_in(held)]
