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
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaptive.core.messages import head_and_tail
from adaptive.core.model import frozen


def unpacked(packed: str) -> bytes:
    """What was packed as base 85 of LZMA: tables that nobody reads as they stand."""
    return lzma.decompress(base64.b85decode(packed))


# bundle: prompts from here
from pathlib import Path  # noqa: E402 - the bundle has no folder to read

PROMPTS: dict[str, str] = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted(
        (Path(__file__).resolve().parents[3] / "prompts").glob("*.*")
    )
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


@frozen
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
