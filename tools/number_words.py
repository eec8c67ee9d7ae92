"""Collect the words of numbers, months and weekdays: ``python -m tools.number_words``.

From Unicode's rules for spelling numbers out (CLDR, read with ICU: ``icukit-pyicu``), with those of
``num2words2`` for languages that CLDR has no rules for, and from ``tools/number_words.txt``, which
is written by hand. A word becomes part of the table where what is in it by then reads a spelling
wrongly. ``wordfreq`` tells which of the words mean something else, too, and which words a language
is known by. None of these packages is needed for anything else.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import icu  # pyright: ignore[reportMissingImports]
import num2words2  # pyright: ignore[reportMissingImports]
import wordfreq  # pyright: ignore[reportMissingImports]

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.learn.numerals import NumberWord, NumberWords
from adaptive.search.tokens import folded_text
from benchmarks.figures import say
from tools.packing import packed

PROJECT = Path(__file__).resolve().parent.parent
TABLE = PROJECT / "prompts/number_words.txt"
BY_HAND = PROJECT / "tools/number_words.txt"
TITLE = """\
# Words of numbers, months and days of the week in many languages, and frequent words of these, packed
# with lzma and base85. Written by tools/number_words.py, in which it stands where they come from.
"""
# The bundle has no room for more: a language takes half a kilobyte.
ICU_LANGUAGES = [
    *("ar", "de", "en", "es", "fr", "hi", "hu", "id", "it", "ko"),
    *("nl", "pl", "pt", "ru", "sv", "th", "tr", "uk", "vi"),
]
OTHER_LANGUAGES = ["hi"]
SIGNS = ["ja", "zh"]  # whose numbers are read sign by sign
NUMBERS = (
    *range(1, 101),
    *range(200, 1000, 100),
    *(101, 115, 250, 345, 999, 1000, 1001, 1100, 2000, 3000, 5000, 1999),
    *(10_000, 20_000, 50_000, 100_000, 200_000, 1_000_000, 2_000_000),
    *(5_000_000, 10_000_000, 1_000_000_000, 2_000_000_000),
)
ORDINALS = (*range(3, 21), 30)
CHECKED = (7, 23, 38, 57, 71, 96, 120, 365, 550, 1450, 1990, 2021, 85_000)
# On the Zipf scale, and how much rarer than as a number a word may be to count.
LEAST_FREQUENT = 3.5
MUCH_RARER = 1.0
FREQUENT_WORDS = 30
LONGEST_LIST = 30_000
LEAST_NAME = 4  # letters of a day or month that is no abbreviation
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
# Cases in which few ages, amounts and dates are told.
RARE_FORMS = re.compile("dative|accusative|instrumental|ablative|plural")
HIDDEN = re.compile("[\u00ad\u200b]")
PARTED = re.compile("[\\s\u00ad\u200b\u200c\u2010,-]+")
CONNECTOR = NumberWord("&", Decimal(0), 0)
SURE, ABROAD, AT_HOME = range(3)  # where a word means something else, too


def main() -> None:
    """Write the table and say how many numbers are read as they are spelled."""
    table, originals = learned()
    add_by_hand(table, originals)
    mark_doubts(table, originals)
    check(table)
    write(table)


def learned() -> tuple[NumberWords, dict[str, set[str]]]:
    """The table that the packages teach, and its words as they are written."""
    table = NumberWords()
    originals: dict[str, set[str]] = defaultdict(set)
    for language, meaning, words in by_hand():
        if meaning == "&":
            for word in words:
                table.meanings.setdefault(word, {})[language] = CONNECTOR
    for language in sorted({*ICU_LANGUAGES, *OTHER_LANGUAGES}):
        originals[language] |= learn_numbers(table, language)
    for language in (*ICU_LANGUAGES, *SIGNS):
        originals[language] |= learn_calendar(table, language)
    return table, originals


def add_by_hand(table: NumberWords, originals: dict[str, set[str]]) -> None:
    """Add what is written by hand."""
    for language, meaning, words in by_hand():
        for spelling in words:
            meanings = table.meanings.setdefault(
                " ".join(spaced(spelling)), {}
            )
            if meaning != "?":
                meanings[language] = NumberWord(
                    role=meaning[0],
                    value=Decimal(meaning[1:].rstrip("?") or 0),
                    doubt=SURE,
                )
            elif language not in meanings:
                say(f"{language}: {spelling} is no number")
                continue
            if meaning.endswith("?"):
                doubted = replace(meanings[language], doubt=AT_HOME)
                meanings[language] = doubted
            originals[language].add(spelling)


def spellings(language: str) -> Iterator[tuple[bool, Callable[[int], str]]]:
    """The ways in which a language spells numbers out, and whether each is of ordinals."""
    if language in OTHER_LANGUAGES:
        yield False, lambda number: num2words2.num2words(number, lang=language)
    if language not in ICU_LANGUAGES:
        return
    rules = icu.RuleBasedNumberFormat(
        icu.URBNFRuleSetTag.SPELLOUT, icu.Locale(language)
    )
    names = map(rules.getRuleSetName, range(rules.getNumberOfRuleSetNames()))
    for name in names:
        if RARE_FORMS.search(name):
            continue
        is_ordinal = "ordinal" in name
        if is_ordinal or "cardinal" in name or name.endswith("numbering"):
            yield (
                is_ordinal,
                lambda number, name=name: rules.format(number, name),
            )


def spaced(spelling: str) -> list[str]:
    """The words of a spelling as they stand in a text."""
    return folded_text(HIDDEN.sub("", spelling)).replace("-", " ").split()


def parts_of(spelling: str) -> list[str]:
    """The smallest parts of a spelling that Unicode's rules tell."""
    return folded_text(PARTED.sub(" ", spelling)).split()


def learn_numbers(table: NumberWords, language: str) -> set[str]:
    """Add what a language needs, and give its spellings as they are written."""
    originals: set[str] = set()
    ways = sorted(spellings(language), key=lambda way: way[0])
    for is_ordinal, spell in ways:
        for number in ORDINALS if is_ordinal else NUMBERS:
            spelling = spell(number)
            if re.search(r"\d", spelling):
                continue
            forms = {spelling, spelling.translate(UMLAUTS)}
            if language == "hi":
                forms.add(in_latin(spelling))
            for form in forms:
                originals.update(PARTED.sub(" ", form.lower()).split())
                originals.update(HIDDEN.sub("", form.lower()).split())
                learn(table, language, number, form)
    return originals


def in_latin(spelling: str) -> str:
    """Hindi as it is typed in Latin letters."""
    rules = icu.Transliterator.createInstance("Devanagari-Latin; Latin-ASCII")
    words = rules.transliterate(spelling).replace("c", "ch").split()
    return " ".join(re.sub(r"(?<=\w{3})a$", "", word) for word in words)


def learn(
    table: NumberWords, language: str, number: int, spelling: str
) -> None:
    """Add the one word by which a spelling is read rightly, else the whole of a short one."""
    words = spaced(spelling)
    parts = parts_of(spelling)

    def entry(word: str) -> dict[str, NumberWord]:
        return table.meanings.setdefault(word, {})

    def is_read() -> bool:
        length, word = table.read(words, language)
        return length == len(words) and word.value == number

    if is_read():
        return
    unknown = {
        part for part in parts if language not in table.meanings.get(part, {})
    }
    if len(unknown) == 1:
        (word,) = unknown
        known = [
            table.meanings[part][language].value
            for part in parts
            if part not in unknown
        ]
        values = {Decimal(number), number - sum(known, Decimal(0))}
        product = int(math.prod(filter(None, known)))
        if product and number % product == 0:
            values.add(Decimal(number // product))
        tries = [("=", value) for value in sorted(values) if value > 0]
        for role, value in [*tries, ("&", Decimal(0))]:
            entry(word)[language] = NumberWord(role, value, SURE)
            if is_read():
                return
            del entry(word)[language]
    phrase = " ".join(words)
    if len(words) <= 3 and number <= 100 and language not in entry(phrase):
        entry(phrase)[language] = NumberWord("=", Decimal(number), SURE)


def learn_calendar(table: NumberWords, language: str) -> set[str]:
    """Add the months and days of a language, abbreviated, too."""
    symbols = icu.DateFormatSymbols(icu.Locale(language))
    originals: set[str] = set()
    for context in (symbols.FORMAT, symbols.STANDALONE):
        for width in (symbols.WIDE, symbols.ABBREVIATED):
            months = symbols.getMonths(context, width)
            days = symbols.getWeekdays(context, width)
            # ICU begins with Sunday, in the second place; Python with Monday.
            days = [*days[2:], days[1]]
            for role, names, first in (("m", months, 1), ("d", days, 0)):
                for value, name in enumerate(names, first):
                    words = spaced(name.rstrip("."))
                    word = " ".join(words)
                    if not word or re.search(r"\d", word):
                        continue
                    originals.add(name.lower())
                    table.meanings.setdefault(word, {}).setdefault(
                        language, NumberWord(role, Decimal(value), SURE)
                    )
    return originals


def by_hand() -> Iterator[tuple[str, str, list[str]]]:
    """Language, meaning and words of the lines that are written by hand."""
    language = ""
    for line in BY_HAND.read_text(encoding="utf-8").splitlines():
        meaning, _, words = line.partition(" ")
        if line.startswith("@"):
            language = line[1:]
        elif line and not line.startswith("#"):
            yield language, meaning, words.split("|")


def folded_frequencies(language: str) -> dict[str, dict[str, float]]:
    """How often words stand in texts of a language, by their folded form."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    words = wordfreq.get_frequency_dict(language)
    for word, frequency in itertools.islice(words.items(), LONGEST_LIST):
        found[folded_text(word)][word] = frequency
    return found


def zipf(frequency: float) -> float:
    """A frequency on the Zipf scale: 3 is once in a million words."""
    return math.log10(frequency) + 9 if frequency else 0.0


def mark_doubts(table: NumberWords, originals: Mapping[str, set[str]]) -> None:
    """Mark the words that mean something else, too, abroad or in their own language."""
    known = wordfreq.available_languages()
    used = {word for words in table.meanings.values() for word in words}
    frequencies = {
        language: folded_frequencies(language)
        for language in sorted(used | {"zh", "ja"})
        if language in known and language not in SIGNS
    }
    for word, meanings in table.meanings.items():
        how_often = {
            language: zipf(sum(words.get(word, {}).values()))
            for language, words in frequencies.items()
        }
        for language, meaning in meanings.items():
            others = (
                often
                for other, often in how_often.items()
                if often
                >= max(
                    LEAST_FREQUENT, how_often.get(language, 3.0) - MUCH_RARER
                )
                and other != language
                and not same_meaning(meanings.get(other), meaning)
            )
            at_home = sum(
                often
                for spelling, often in frequencies.get(language, {})
                .get(word, {})
                .items()
                if spelling not in originals[language]
            )
            is_short_name = (
                meaning.role in "md"
                and len(word) < LEAST_NAME
                and word.isascii()
            )
            is_one = meaning.role == "=" and meaning.value == 1
            if zipf(at_home) >= LEAST_FREQUENT or is_short_name or is_one:
                doubt = AT_HOME
            else:
                doubt = ABROAD if any(others) else SURE
            meanings[language] = replace(
                meaning, doubt=max(meaning.doubt, doubt)
            )


def same_meaning(one: NumberWord | None, other: NumberWord) -> bool:
    """Whether a word means the same in two languages."""
    return one is not None and (one.role, one.value) == (
        other.role,
        other.value,
    )


def check(table: NumberWords) -> None:
    """Say what is read wrongly."""
    for language in sorted({*ICU_LANGUAGES, *OTHER_LANGUAGES}):
        wrong: list[str] = []
        for is_ordinal, spell in spellings(language):
            for number in CHECKED:
                words = spaced(spell(number))
                if is_ordinal or any(word.isdecimal() for word in words):
                    continue
                length, word = table.read(words, language, may_doubt=True)
                if length != len(words) or word.value != number:
                    wrong.append(f"{number} {spell(number)} {word.value}")
        if wrong:
            say(f"{language}: {len(wrong)} wrong: {wrong[:4]}")


def write(table: NumberWords) -> None:
    """Write the table: below "@" and a language its words by what they mean."""
    known = wordfreq.available_languages()
    by_language: dict[str, dict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for word, meanings in table.meanings.items():
        for language, meaning in meanings.items():
            written = f"{meaning.role}{meaning.value:f}" + "?" * meaning.doubt
            by_language[language][written].append(word)
    lines: list[str] = []
    for language in sorted(by_language):
        frequent: list[str] = []
        if language in known:
            frequent = [
                folded_text(word)
                for word in wordfreq.top_n_list(language, FREQUENT_WORDS)
            ]
        lines.append(f"@{language}\t{' '.join(frequent)}")
        lines.extend(
            f"{written}\t{'|'.join(words)}"
            for written, words in by_language[language].items()
        )
    text = "\n".join(lines)
    written = packed(text.encode())
    TABLE.write_text(f"{TITLE}{written}\n", encoding="utf-8")
    say(
        f"{len(table.meanings)} words, {len(text.encode())} bytes, packed {len(written)}"
    )


if __name__ == "__main__":
    main()
