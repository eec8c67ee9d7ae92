"""The texts of ``prompts/``, by the name of their file: prompts, lists of natural language, weights.

Some weights are those of linear models that tell what kind of text something is, by its letters,
words and length. The features are hashed n-grams, so that a model needs no list of words, no
language and no other model; ``tools/train_pastes.py`` and ``tools/train_examples.py`` learn weights
from labelled texts.
"""

import base64
import lzma
import re
import zlib
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from string import Template

import numpy as np
from numpy.typing import NDArray


def unpacked(packed: str) -> bytes:
    """What was packed as base 85 of LZMA: tables that nobody reads as they stand."""
    return lzma.decompress(base64.b85decode(packed))


# bundle: prompts from here
from pathlib import Path  # noqa: E402 - the bundle has no folder to read

PROMPTS: dict[str, str] = {
    path.relative_to(folder).with_suffix("").as_posix(): path.read_text(
        encoding="utf-8"
    )
    for folder in [Path(__file__).resolve().parents[3] / "prompts"]
    for path in sorted(folder.rglob("*.*"))
}
# bundle: prompts to here


def listed_lines(name: str) -> list[str]:
    """The lines of a list, without its comments."""
    return [
        line for line in PROMPTS[name].splitlines() if not line.startswith("#")
    ]


def titled_parts(name: str) -> dict[str, str]:
    """What stands below each title ("= title") of a text."""
    parts: dict[str, str] = {}
    for titled in PROMPTS[name].split("\n= ")[1:]:
        title, _, lines = titled.partition("\n")
        parts[title] = lines.strip()
    return parts


def word_table(name: str) -> dict[str, list[str]]:
    """The words of a table by the title above them, parted by bars and lines."""
    return {
        title: re.split(r"[|\n]", words)
        for title, words in titled_parts(name).items()
    }


def pattern_table(name: str) -> dict[str, list[str]]:
    """The patterns of a table by the title above them, one a line; indented lines go on with it.

    A title in braces and capitals stands for all patterns of a title above.
    """
    table: dict[str, list[str]] = {}
    for title, lines in titled_parts(name).items():
        patterns = re.sub(
            r"\{([A-Z_]+)\}",
            lambda part: "|".join(table[part[1]]),
            lines.replace("\n  ", ""),
        )
        table[title] = [
            line for line in patterns.split("\n") if not line.startswith("# ")
        ]
    return table


def compiled_patterns(name: str) -> dict[str, re.Pattern[str]]:
    """The patterns of a table by their title, each compiled; parts of others are left out."""
    return {
        title: re.compile("|".join(patterns))
        for title, patterns in pattern_table(name).items()
        if not title.isupper()
    }


_ENGLISH = "en"
# Of whoever is served: that of the page, by the name of its table of phrases.
LANGUAGE: ContextVar[str] = ContextVar("LANGUAGE", default=_ENGLISH)
_TRADITIONAL_CHINESE = frozenset(("tw", "hk", "mo", "hant"))
# By a sign that stands in a text of no language above, where the text begins with no Latin letter.
_SIGNS = {
    "ja": "[\u3041-\u30ff]",
    "ko": "[\uac00-\ud7a3]",
    "zh": "[\u4e00-\u9fff]",
    "uk": "[\u0404\u0406\u0407\u0454\u0456\u0457\u0490\u0491]",
    "ru": "[\u0400-\u04ff]",
    "ar": "[\u0600-\u06ff]",
    "hi": "[\u0900-\u097f]",
}
_LAST_LATIN = "\u024f"
_PLURAL = re.compile(r"\{(\w+)\|([^{}]*)\}")
_REPEATED = re.compile(r"(\{\w+\}).*\1")


def language_of(named: str, words: str) -> str:
    """The table for a page's language ("de-DE"), or for a message's words where none is named."""
    language, *variants = re.split("[-_]", named.lower())
    is_traditional = not _TRADITIONAL_CHINESE.isdisjoint(variants)
    if language == "zh" and is_traditional and "hans" not in variants:
        language = "zh-TW"
    if not language and next(filter(str.isalpha, words), "") > _LAST_LATIN:
        language = next(
            (one for one in _SIGNS if re.search(_SIGNS[one], words)), ""
        )
    return language if f"phrases/{language}" in PROMPTS else _ENGLISH


# What stands in a phrase: names are phrases themselves, where there are some.
PhraseValue = str | int | tuple[str, ...]


def phrase(name: str, /, **values: PhraseValue) -> str:
    """A phrase in the language of whoever is served, with its values."""
    return _filled(LANGUAGE.get(), name, values)


_LONGEST_REASON = 300  # characters


def retold(text: str) -> str:
    """What was kept as the English text of a phrase, in the language of whoever is served.

    Of several phrases that fit it is the one with the longest text of its own.
    """
    # What is longer was no reason of ours, and would take long to read.
    fitting = {
        name: match.groupdict()
        for name, pattern in _patterns().items()
        if len(text) <= _LONGEST_REASON and (match := pattern.fullmatch(text))
    }
    if not fitting:
        return text
    name = min(fitting, key=lambda name: len("".join(fitting[name].values())))
    values: dict[str, PhraseValue] = {**fitting[name]}
    if "kinds" in values:
        values["kinds"] = tuple(fitting[name]["kinds"].split(", "))
    return phrase(name, **values)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """What the English phrases look like with whatever values, named once and without forms."""
    return {
        name: re.compile(
            re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(text))
        )
        for name, text in _phrases(_ENGLISH).items()
        if "|" not in text and not _REPEATED.search(text)
    }


class _Phrases(dict[str, str]):
    """The phrases of whoever is served, by their names."""

    def __missing__(self, name: str) -> str:
        return phrase(name)


def phrased_text(name: str, **values: str) -> str:
    """A text of ``prompts/`` in which phrases stand for their $names, and values for theirs."""
    return Template(PROMPTS[name]).substitute(_Phrases(), **values)


class Phrase(str):
    """A phrase that is chosen before it is known who reads it, as a reason or an error.

    It equals its English text, in which it is compared, logged and kept; ``str`` and f-strings make
    it one in the language of whoever is served.
    """

    __slots__ = ("name", "values")

    def __new__(cls, name: str, /, **values: PhraseValue) -> "Phrase":
        """Choose the phrase of a name."""
        chosen = super().__new__(cls, _filled(_ENGLISH, name, values))
        chosen.name = name
        chosen.values = values
        return chosen

    def __getnewargs_ex__(
        self,
    ) -> tuple[tuple[str], Mapping[str, PhraseValue]]:
        """What a copy is made of: of its text alone, as other texts are, none could be."""
        return (self.name,), self.values

    def __str__(self) -> str:
        """The text in the language of whoever is served."""
        return phrase(self.name, **self.values)


def _filled(
    language: str, name: str, values: Mapping[str, PhraseValue]
) -> str:
    """A phrase of a language with its values."""
    phrases = _phrases(language)
    filling = {
        value: ", ".join(phrases.get(each, each) for each in given)
        if isinstance(given, tuple)
        else given
        for value, given in values.items()
    }

    def form(match: re.Match[str]) -> str:
        """The form for the number that is meant."""
        number = int(filling[match[1]])
        forms = match[2].split("|")
        place = min(plural_place(language, number), len(forms) - 1)
        return forms[place].replace("#", str(number))

    return _PLURAL.sub(form, phrases[name]).format(**filling)


def plural_place(language: str, number: int) -> int:
    """Which of a language's forms a number takes, by Unicode's rules (CLDR)."""
    tens, ones = divmod(number % 100, 10)
    if language == "ar":
        if number < 3:
            return number
        few_or_many = 3 if 3 <= number % 100 <= 10 else 4
        return few_or_many if number % 100 > 2 else 5
    if language in ("pl", "ru", "uk"):
        if number == 1 or (ones == 1 and tens != 1 and language != "pl"):
            return 0
        return 1 if 2 <= ones <= 4 and tens != 1 else 2
    takes_one_for_none = language in ("fr", "hi", "pt")
    return int(number > 1 or (number == 0 and not takes_one_for_none))


@cache
def _phrases(language: str) -> dict[str, str]:
    """The phrases of a language by their names; in the bundle these stand in the English table alone."""
    english, own = (
        [line.partition(" = ") for line in listed_lines(table) if line]
        for table in (f"phrases/{_ENGLISH}", f"phrases/{language}")
    )
    return {
        name: text or bare
        for (name, _, _), (bare, _, text) in zip(english, own, strict=True)
    }


# Of a memory, without its words: not every chat's model may see them.
CHANGED_MEANWHILE = Phrase("changed_meanwhile")


def head_and_tail(text: str, limit: int) -> str:
    """At most about ``limit`` characters: two thirds from the head, one third from the tail."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]}\n[…]\n{text[-(limit - head) :]}"


# Of the buckets, runs of signs have the lower half, words and pairs of words the upper one.
NGRAM_BUCKETS = 1 << 17
_BUCKET_SHIFT = 64 - 16
# Multipliers that spread the bits: of FNV-1a, and the golden ratio.
_NEXT_SIGN = 0x100000001B3
_SPREAD = 0x9E3779B97F4A7C15
_WORD_APART = 0x100000001B5
_LONGEST_GRAM = 5
_START = "\x02"
# Of a classifier; n-grams that share one share its weight.
BUCKETS = 1 << 12
LENGTHS = 2  # features of a text's length, behind those of its n-grams
_LONGEST_TEXT = 4000  # signs that are judged of a longer one, from both ends
_LONG_TEXT = 400  # signs of a text whose length counts as 1


@dataclass(frozen=True, slots=True)
class Classifier:
    """A linear model with a score for each of its labels."""

    weights: NDArray[
        np.float64
    ]  # labels by buckets, and lengths if there are any
    biases: NDArray[np.float64]

    def scores(self, text: str) -> NDArray[np.float64]:
        """How much a text looks like each of the labels."""
        return self.weights @ features(text) + self.biases


@cache
def classifier(name: str) -> Classifier:
    """The model whose weights stand in ``prompts/NAME_weights.txt``: a line for each label."""
    *labels, packed = listed_lines(f"{name}_weights")
    rows = np.array([line.split()[1:] for line in labels], dtype=np.float64)
    signs = np.frombuffer(unpacked(packed), dtype=np.int8)
    weights = signs.reshape(len(rows), -1) * rows[:, :1]
    return Classifier(
        weights=np.hstack([weights, rows[:, 2:]]),
        biases=rows[:, 1],
    )


def features(text: str) -> NDArray[np.float64]:
    """A text as numbers: its n-grams, by how many it has, and how long it is."""
    text = head_and_tail(text, _LONGEST_TEXT)
    grams = ngram_buckets(text.lower())
    counts = np.bincount(grams % BUCKETS, minlength=BUCKETS)
    length = np.log1p(len(text)) / np.log1p(_LONG_TEXT)
    return np.append(counts / len(grams) ** 0.5, [length, length**2])


def ngram_buckets(text: str) -> NDArray[np.intp]:
    """The buckets of a text's n-grams of one to five signs, words, and pairs of words, each once."""
    text = re.sub(r"\d", "0", text)
    signs = f"{_START}{' '.join(text.split())} ".encode("utf-32-le", "replace")
    codes = np.frombuffer(signs, dtype="<u4").astype(np.uint64)
    grams = [codes]
    for size in range(2, min(_LONGEST_GRAM, len(codes)) + 1):
        grams.append(grams[-1][:-1] * _NEXT_SIGN + codes[size - 1 :])
    words = [_START, *re.findall(r"\w+", text)]
    single = np.array(
        [zlib.crc32(word.encode(errors="replace")) for word in words],
        dtype=np.uint64,
    )
    words_and_pairs = [
        single * _NEXT_SIGN,
        single[:-1] * _NEXT_SIGN + single[1:],
        single[:-2] * _WORD_APART + single[2:],
    ]
    return np.unique(
        np.concatenate(
            [_hashed(grams), _hashed(words_and_pairs) + NGRAM_BUCKETS // 2]
        ),
    )


def _hashed(codes: Sequence[NDArray[np.uint64]]) -> NDArray[np.intp]:
    """The buckets of all these codes, in one half."""
    return ((np.concatenate(codes) * _SPREAD) >> _BUCKET_SHIFT).astype(np.intp)
