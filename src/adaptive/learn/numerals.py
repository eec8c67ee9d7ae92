"""Numbers, months, days of the week and eras in words, of all languages in one generated table.

``tools/number_words.py`` makes the table from Unicode's rules for spelling numbers out. A word that
may be something else ("hat" is six in Hungarian) counts only among words of its own language.
"""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from adaptive.core import frozen, listed_lines, unpacked

# Scripts in whose runs of letters a number may begin anywhere: Thai to Khmer, kana, Han.
_RUNS = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff"
_MARKS = "\u0300-\u036f\u0900-\u0dff"  # vowel signs are no letters to \w
_GAPS = ("", " ", "-", "\u200c")  # between the words of one number
_PHRASES = (3, 2, 1)  # words that may stand for one number
_LONGEST_NUMBER = 12  # words
_LONGEST_PART = 16  # letters
_LONGEST_GLUED = 40
# Letters of a number that an ending follows, and of one in a script of fuller signs
_LEAST_BEFORE_ENDING = 4
_LEAST_SIGNS = 2
_LAST_ALPHABET = "\u052f"
_TEN = 10
_HUNDRED = 100
_THOUSAND = 1000
_OWN_DOUBT = 2


@frozen
class NumberWord:
    """What a word means in one language.

    Its role is a number ("="), a word between numbers ("&"), a month ("m"), a day of the week
    ("d"), or an era ("e") by the year before it. There is no doubt about it, or it means something
    else in other languages (1), or in its own (2).
    """

    role: str
    value: Decimal
    doubt: int

    @property
    def is_multiplier(self) -> bool:
        """Whether it multiplies a number before it."""
        digits = self.value.normalize().as_tuple().digits
        return self.value >= _HUNDRED and digits == (1,)


@frozen
class Spelled:
    """What words of a text say, in each language that they may be of, and where they stand."""

    written: str
    start: int
    end: int
    is_sure: bool  # whether it can't be something else
    role: str
    values: frozenset[Decimal]


class NumberWords:
    """Words by what they mean in each language, and the most frequent words of each."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        """Read a table: "@" a language with frequent words, or a meaning with its words."""
        self.meanings: dict[str, dict[str, NumberWord]] = {}
        self._frequent: dict[str, frozenset[str]] = {}
        language = ""
        for line in lines:
            meaning, _, words = line.partition("\t")
            if meaning.startswith("@"):
                language = meaning[1:]
                self._frequent[language] = frozenset(words.split())
                continue
            word = NumberWord(
                role=meaning[0],
                value=Decimal(meaning[1:].rstrip("?")),
                doubt=meaning.count("?"),
            )
            for spelling in words.split("|"):
                self.meanings.setdefault(spelling, {})[language] = word

    @functools.cached_property
    def _word(self) -> re.Pattern[str]:
        """A word of a text; in scripts without spaces a number, or one sign."""
        is_run = re.compile(f"[{_RUNS}]").match
        numbers = sorted(filter(is_run, self.meanings), key=len, reverse=True)
        single = f"[{_RUNS}]"
        spaced = f"(?:[^\\W\\d_{_RUNS}]|[{_MARKS}])+"
        return re.compile("|".join([*numbers, single, spaced]))

    def _languages(self, words: frozenset[str]) -> frozenset[str]:
        """The languages that have most of their frequent words in a text; all where none has."""
        counts = {
            language: len(words & frequent)
            for language, frequent in self._frequent.items()
        }
        most = max(counts.values())
        return frozenset(one for one in counts if counts[one] == most)

    def spelled(self, folded: str) -> Iterator[Spelled]:
        """All that the words of a text say, in its languages or without doubt."""
        words = [*self._word.finditer(folded)]
        languages = self._languages(frozenset(word[0] for word in words))
        place = 0
        while place < len(words):
            run = _adjacent(folded, words[place : place + _LONGEST_NUMBER])
            readings = [
                self.read(run, language, may_doubt=language in languages)
                for language in self._beginning(run)
            ]
            longest = max((length for length, _ in readings), default=0)
            if longest:
                meanings = [
                    word for length, word in readings if length == longest
                ]
                start = words[place].start()
                end = words[place + longest - 1].end()
                yield Spelled(
                    written=folded[start:end],
                    start=start,
                    end=end,
                    is_sure=any(word.doubt < _OWN_DOUBT for word in meanings),
                    role=meanings[0].role,
                    values=frozenset(word.value for word in meanings),
                )
            place += max(1, longest)

    def read(
        self, words: Sequence[str], language: str, *, may_doubt: bool = False
    ) -> tuple[int, NumberWord]:
        """How many words make up the first number in a language, and this number."""
        parts: list[tuple[int, NumberWord]] = []
        place = 0
        while place < len(words):
            length, found = self._parts(words[place:], language)
            if not found:
                break
            place += length
            parts.extend((place, part) for part in found)
        if parts:
            length, number = _composed(parts)
        else:
            before_ending = self._before_ending(words[0], language)
            length, number = _composed((1, part) for part in before_ending)
            number = replace(number, doubt=_OWN_DOUBT)
        return (length if may_doubt or not number.doubt else 0), number

    def _beginning(self, words: Sequence[str]) -> set[str]:
        """The languages in which the first of the words may begin a number."""
        spellings = [" ".join(words[:length]) for length in _PHRASES]
        ends = range(1, _LONGEST_PART + 1)
        spellings.extend(words[0][:end] for end in ends)
        return {
            language
            for spelling in spellings
            for language in self.meanings.get(spelling, ())
        }

    def _parts(
        self, words: Sequence[str], language: str
    ) -> tuple[int, Sequence[NumberWord]]:
        """How many of the words stand for the first numbers, and these."""
        for length in _PHRASES:
            phrase = self.meanings.get(" ".join(words[:length]), {})
            if language in phrase:
                return min(length, len(words)), [phrase[language]]
        word = words[0]
        return 1, self._glued(word, language).get(len(word), ())

    def _glued(
        self, word: str, language: str
    ) -> dict[int, tuple[NumberWord, ...]]:
        """The numbers that are glued together to the first so many letters of a word."""
        ways: dict[int, tuple[NumberWord, ...]] = {0: ()}
        for start in range(min(len(word), _LONGEST_GLUED)):
            if start not in ways:
                continue
            for end in range(start + 1, start + _LONGEST_PART + 1):
                meanings = self.meanings.get(word[start:end], {})
                part = meanings.get(language)
                if part and part.role in "=&" and end <= len(word):
                    ways.setdefault(end, (*ways[start], part))
        return ways

    def _before_ending(self, word: str, language: str) -> Sequence[NumberWord]:
        """The numbers with which a word begins, if they are no chance."""
        ways = self._glued(word, language)
        length = max(ways)
        is_alphabetic = word[0] <= _LAST_ALPHABET
        least = _LEAST_BEFORE_ENDING if is_alphabetic else _LEAST_SIGNS
        is_clear = length >= least and not any(
            part.doubt for part in ways[length]
        )
        return ways[length] if is_clear else ()


def _composed(
    parts: Iterable[tuple[int, NumberWord]],
) -> tuple[int, NumberWord]:
    """The number that parts make up, and the place of the last one that belongs to it."""
    length = 0
    doubt = 0
    thousands = rest = Decimal(0)
    is_joined = False
    for place, part in parts:
        value = part.value
        if part.role == "&":
            is_joined = True
            continue
        if part.role != "=":
            if length:
                break
            return place, part
        # Units before tens: "fünfundzwanzig".
        is_turned = (
            is_joined
            and rest % _HUNDRED < _TEN < value < _HUNDRED
            and not value % _TEN
        )
        if value >= _THOUSAND and part.is_multiplier:
            thousands += (rest or 1) * value
            rest = Decimal(0)
        elif value == _HUNDRED and 0 < rest < _HUNDRED:
            rest *= value
        elif not rest or is_turned or value < _last_place(rest):
            rest += value
        elif place == length:
            return 0, part  # no word is glued together from several numbers
        else:
            break
        # Two words that make up a number are hardly both something else.
        doubt = 0 if length else part.doubt
        length = place
        is_joined = False
    return length, NumberWord("=", thousands + rest, doubt)


def _last_place(value: Decimal) -> Decimal:
    """The power of ten that the last digit of a number counts which is not zero."""
    return Decimal(1).scaleb(int(value.normalize().as_tuple().exponent))


def _adjacent(folded: str, words: Sequence[re.Match[str]]) -> list[str]:
    """The words with no more between them than a space or a hyphen."""
    run = [words[0][0]]
    for before, word in itertools.pairwise(words):
        if folded[before.end() : word.start()] not in _GAPS:
            break
        run.append(word[0])
    return run


NUMBER_WORDS = NumberWords(
    unpacked("".join(listed_lines("number_words"))).decode().splitlines()
)
