"""Keyword search: words of a text as it compares them, and Okapi BM25 on inverted lists of them.

A text is brought to one form (Unicode NFKC, case folding, no accents), cut into words, freed of
words that say nothing, and each word is cut down to what its inflected forms share:

- Latin script: plural, "-ing" and "-ed" after the S-stemmer (Harman, "How effective is suffixing?",
  JASIS 1991) and the first steps of Porter's algorithm (Program 14/3, 1980), then final vowels,
  which carry gender and number in Romance languages and case in German, and doubled letters.
- Cyrillic and Arabic script: what is left without the letters that endings are made of, in Arabic
  without the article, too.
- Scripts without spaces, and Korean: overlapping pairs of characters (McNamee, Mayfield:
  "Character n-gram tokenization", 2004); for Han the single characters too, many being words.

The formula is Robertson's and Zaragoza's ("The Probabilistic Relevance Framework: BM25 and Beyond",
2009), with the inverse document frequency of Lucene, ``log(1 + (N - n + 0.5) / (n + 0.5))``, which
stays positive for a word that most memories have.

Words are alike that share all letters but one, in their order. Each known word is looked up by what
is left of it without one of its letters (after Mor, Fraenkel: "A hash code method for detecting and
correcting spelling errors", CACM 25/12, 1982), so a search takes as long for 3,000 words as for
three. The first letter is right in nearly all misspelled words (Pollock, Zamora: "Automatic
spelling correction in scientific and scholarly text", CACM 27/4, 1984).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from adaptive.core import (
    Vectors,
    frozen,
    head_and_tail,
    listed_lines,
    normalised_text,
    text_cache,
)

# A message that carries a document says what it wants at its head or its tail.
_LONGEST_TEXT = 8000
_LONGEST_WORD = 40
# Most words of all users' memories are the same few thousand.
_KNOWN_STEMS = 20_000
# A fact is one sentence.
_LONGEST_COMPARED = 1000

_HAN = (
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
)
_UNSPACED = (
    "\u3041-\u30ff\u31f0-\u31ff\uac00-\ud7a3"  # kana, Korean
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ede"  # Thai, Lao
    "\u1000-\u1049\u1050-\u109f\u1780-\u17d3"  # Burmese, Khmer
)
_WORD = re.compile(r"[^\W_]+")
# Vowel signs of Indian scripts are no letters to `\w`, but a word can't do without them.
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_RUNS = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<pairs>[{_UNSPACED}]+)|(?:[^\W_{_HAN}{_UNSPACED}]|[{_INDIC}])+"
)
_ACCENTS = re.compile("[\u0300-\u036f\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_ARABIC_ARTICLE = re.compile(r"^(?:[وبكف]?ال|لل)(?=\w\w)")
_ENDING = re.compile(r"(?<=\w{3})[авеийлмотуыхьюяاتنهوي]+$")
# Vowels of Indian scripts stand at the same place of each one's block, as do signs of nasal sounds.
_INDIC_ENDING = re.compile(
    "(?<=..)["
    + "".join(
        f"{chr(block)}-{chr(block + 3)}{chr(block + 0x3E)}-{chr(block + 0x4C)}"
        for block in range(0x900, 0xD80, 0x80)
    )
    + "]+$"
)
_ONE_FORM = str.maketrans(
    dict(zip("ٱىةکی", "ايهكي", strict=True)) | {"’": "'", "œ": "oe", "ı": "i"}
)
# Possessives, what French and Italian words lose before a vowel, and English contractions
_APOSTROPHES = re.compile(
    r"'s\b|(?<=s)'(?!\w)|n't\b|'(?:m|re|ve|ll|d)\b"
    r"|\b(?:[cdjlmnst]|qu|dell|nell|all|sull|dall|un)'(?=\w\w)"
)

_EMPTY_WORDS = frozenset(" ".join(listed_lines("empty_words")).split())
# Words that take their meaning from what was said before, and openings that continue it.
_WORDS, _OPENINGS, _SIGNS = (
    "|".join(line.split()) for line in listed_lines("referring_words")
)
_REFERRING = re.compile(
    rf"\b(?:{_WORDS})\b|^\W*(?:{_OPENINGS})\b|{_SIGNS}", re.IGNORECASE
)
_INNER_WORD = re.compile(r"(?<=[^\s.!?:] )[^\w\s]?([^\W_]\w*)")
_CODE = re.compile(r"\d[^\W\d_]|[^\W\d_]\d")  # "3b", "A4"
_PLURAL = re.compile("(?<![sui])s$")
_PARTICIPLE = re.compile(r"(?<=\w{3})(?:ing|ed)$")
_DOUBLED = re.compile(r"(?<=\w\w)(\w)\1$")
_LONGEST_FOLLOW_UP = 60
# Ten characters hold about three words, in scripts whose pairs of characters are many more tokens.
_SHORT_IN_ANY_SCRIPT = 10

# Memories are single sentences: a word's repetition and the sentence's length say little.
_SATURATION = 0.9
_LENGTH_SHARE = 0.4
# A store of three memories can't tell a rare word from a common one: coverage counts that many
# memories without any of the words as well.
_IMAGINED_MEMORIES = 30


def tokens(text: str) -> list[str]:
    """The words of a text as they are compared, in their order and as often as they stand there.

    Words that say nothing are dropped, unless there are no others; of long texts the middle, too.
    """
    runs = list(_runs(folded_text(head_and_tail(text, _LONGEST_TEXT))))
    return [run for run, empty in runs if not empty] or [
        run for run, _ in runs
    ]


def comparable(text: str) -> str:
    """A text as facts are compared word for word: case, spaces and the final stop do not count."""
    return " ".join(text.casefold().split()).rstrip(" .!。")


def continues(text: str) -> bool:
    """Whether a short message leans on what was said before: "And when was that?", "Why?"."""
    short = text.strip()
    if len(short) > _LONGEST_FOLLOW_UP:
        return False
    telling = [run for run, empty in _runs(folded_text(short)) if not empty]
    brief = len(telling) <= 3 or len(short) <= _SHORT_IN_ANY_SCRIPT
    return not telling or (brief and _REFERRING.search(short) is not None)


def holds_words_of(text: str, other: str) -> bool:
    """Whether every word of another text stands in this one: then it says what that said."""
    ours, theirs = (
        head_and_tail(one, _LONGEST_COMPARED) for one in (text, other)
    )
    return {*_WORD.findall(folded_text(theirs))} <= {
        *_WORD.findall(folded_text(ours))
    }


def folded_text(text: str) -> str:
    """One form for what reads the same: width, ligatures, case, accents, variants of letters."""
    if text.isascii():
        return text.lower()
    plain = _ACCENTS.sub("", normalised_text(text.casefold(), "NFKD"))
    return normalised_text(plain, "NFKC").casefold().translate(_ONE_FORM)


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Tokens with whether they say nothing."""
    if "'" in text:
        text = _APOSTROPHES.sub(" ", text)
    if text.isascii():
        words = _WORD.findall(text)
        yield from (_run(word[:_LONGEST_WORD]) for word in words)
        return
    for match in _RUNS.finditer(text):
        word = match.group()
        if match.lastgroup:
            pairs = [word[at : at + 2] for at in range(len(word) - 1)] or [
                word
            ]
            parts = (
                (*word, *pairs) if match["han"] and len(word) > 1 else pairs
            )
            yield from ((one, one in _EMPTY_WORDS) for one in parts)
        else:
            yield _run(word[:_LONGEST_WORD])


@text_cache(_KNOWN_STEMS)
def _run(word: str) -> tuple[str, bool]:
    """The token of a word of letters, and whether it says nothing."""
    if len(word) > 1 or word.isdigit():
        return stem(word), word in _EMPTY_WORDS
    return word, True


def stem(word: str) -> str:
    """What the inflected forms of a folded word share; numbers and short words as they are."""
    if len(word) < 4 or word[0].isdigit():
        return word
    if word[0] <= "\u024f":
        return _latin_stem(word)
    if word[0] >= "\u0900":
        return _INDIC_ENDING.sub("", word)
    return _ENDING.sub("", _ARABIC_ARTICLE.sub("", word))


def _latin_stem(word: str) -> str:
    word = _PARTICIPLE.sub("", _PLURAL.sub("", word))
    return _DOUBLED.sub(r"\1", word[:3] + word[3:].rstrip("aeioy"))


def names_in(text: str) -> list[str]:
    """The tokens of words that are written like names: with a capital or a digit among letters.

    Words that open a sentence are left out, for their capital says nothing.
    """
    names = (match[1] for match in _INNER_WORD.finditer(text))
    return [
        token
        for name in names
        if name != name.lower() or _CODE.search(name)
        for token in tokens(name)
    ]


@frozen
class KeywordMatches:
    """What each text has in common with the words of a query; all of shape (n,).

    ``scores`` are those of BM25, each word counted once. ``coverage`` is the share of the query
    that a text holds, from 0 to 1, rare words counting more. Unlike BM25 it is comparable between
    queries: a long message shares a word with some memory by chance, but not most of its words.
    ``naming`` is how rare the rarest name is that both hold, from 0 to 1.
    """

    scores: Vectors
    coverage: Vectors
    naming: Vectors


@frozen
class KeywordIndex:
    """Inverted lists of one version of a store; texts are known by their place."""

    size: int
    terms: Mapping[str, int]
    is_name: NDArray[np.bool_]  # of terms: most texts write it like a name
    names: KnownWords  # these terms
    starts: NDArray[np.int64]
    rows: NDArray[
        np.int32
    ]  # the list of term t is rows[starts[t]:starts[t + 1]]
    impacts: Vectors  # what each entry adds to a score

    def matches(self, words: Iterable[str]) -> KeywordMatches:
        """What the texts have in common with a query's tokens."""
        distinct = set(words)
        # In a fixed order, so that sums are the same to the bit.
        terms = sorted(
            self.terms[word] for word in distinct & self.terms.keys()
        )
        scores = np.zeros(self.size, dtype=np.float32)
        covered = np.zeros(self.size, dtype=np.float32)
        naming = np.zeros(self.size, dtype=np.float32)
        unsaid = self._rarity(0)
        mass = (len(distinct) - len(terms)) * unsaid
        for term in terms:
            entries = slice(*self.starts[term : term + 2])
            rows = self.rows[entries]
            rarity = self._rarity(len(rows))
            mass += rarity
            scores[rows] += self.impacts[entries]
            covered[rows] += rarity
            if self.is_name[term]:
                naming[rows] = np.maximum(naming[rows], rarity / unsaid)
        return KeywordMatches(
            scores=scores,
            coverage=covered / np.float32(mass or 1),
            naming=naming,
        )

    def as_spelled(self, words: Iterable[str]) -> list[str]:
        """The words, unknown ones as the name that they are spelled nearly like."""
        return [
            word if word in self.terms else self.names.as_spelled(word)
            for word in words
        ]

    def rarest(self, words: Iterable[str]) -> float:
        """The rarity of the rarest of these tokens that a text holds; 0 where none does."""
        terms = [self.terms[word] for word in words if word in self.terms]
        lists = [self.starts[term + 1] - self.starts[term] for term in terms]
        return self._rarity(min(lists)) if lists else 0.0

    def _rarity(self, frequency: int) -> float:
        return float(
            _inverse_frequency(self.size + _IMAGINED_MEMORIES, frequency)
        )


def keyword_index(
    documents: Sequence[Sequence[str]],
    names: Sequence[Sequence[str]] = (),
) -> KeywordIndex:
    """The index over the tokens of texts, and over those of their names."""
    terms: dict[str, int] = {}
    words = [
        terms.setdefault(word, len(terms))
        for document in documents
        for word in document
    ]
    lengths = np.array([*map(len, documents)], dtype=np.int64)
    # One entry per term and text, ordered by term, then by text.
    size = max(len(documents), 1)
    places = np.repeat(np.arange(len(documents)), lengths)
    entries, counts = np.unique(
        np.array(words, dtype=np.int64) * size + places,
        return_counts=True,
    )
    owners, rows = np.divmod(entries, size)
    starts = np.searchsorted(owners, np.arange(len(terms) + 1))
    rarity = _inverse_frequency(len(documents), np.diff(starts))
    average = lengths.mean() if lengths.any() else 1.0
    damping = _SATURATION * (
        1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths[rows] / average
    )
    impacts = rarity[owners] * counts * (_SATURATION + 1) / (counts + damping)
    named = Counter(name for some in names for name in {*some})
    written = np.array([named[term] for term in terms], dtype=np.int64)
    is_name = 2 * written >= np.maximum(np.diff(starts), 1)
    return KeywordIndex(
        size=len(documents),
        terms=terms,
        is_name=is_name,
        names=KnownWords(itertools.compress(terms, is_name)),
        starts=starts,
        rows=rows.astype(np.int32),
        impacts=impacts.astype(np.float32),
    )


def _inverse_frequency(
    size: int, frequency: NDArray[np.int64] | int
) -> NDArray[np.float64]:
    return np.log1p(
        (size - np.asarray(frequency) + 0.5) / (np.asarray(frequency) + 0.5)
    )


# A shorter word with another letter is another word; so is one that has a letter exchanged.
_LEAST_LETTERS = 5
_LEAST_TO_EXCHANGE = 7
# What is longer is no word; without each of its letters it would take as much as its square.
_MOST_LETTERS = 40


class KnownWords:
    """Words that others are taken for where they are spelled nearly like them."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = {word: word for word in words}
        # By what is left of them; made for the first word that is not known.
        self._shortened: dict[str, str] = {}

    def as_spelled(self, word: str) -> str:
        """The word, or the known one that it is spelled nearly like."""
        is_word = _LEAST_LETTERS <= len(word) <= _MOST_LETTERS
        if not is_word or word in self._words:
            return word
        if not self._shortened:
            self._shortened = {
                shorter: known
                for known in self._words
                if len(known) <= _MOST_LETTERS
                for shorter in _without_a_letter(known)
            }
        if word in self._shortened:
            return self._shortened[word]
        ways = [self._words]
        if len(word) >= _LEAST_TO_EXCHANGE:
            ways.append(self._shortened)
        for way in ways:
            for shorter in _without_a_letter(word):
                if shorter in way:
                    return way[shorter]
        return word


def _without_a_letter(word: str) -> Iterator[str]:
    """What is left of a word without each of its letters but the first."""
    for place in range(1, len(word)):
        yield word[:place] + word[place + 1 :]
