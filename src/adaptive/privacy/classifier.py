"""How much a text reads like an order to an assistant: a linear classifier.

Its features are hashed n-grams of one to five signs, words, and pairs of words, so that it needs
no list of words and no language; ``tools/train_guard.py`` learns the weights from labelled texts.
"""

from __future__ import annotations

import base64
import lzma
import re
import zlib
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaptive.privacy.escaping import seen_text
from adaptive.privacy.guard_weights import GUARD_BIAS, GUARD_SCALE, PACKED_GUARD_WEIGHTS

GUARD_BUCKETS = 1 << 16
_BUCKET_SHIFT = np.uint64(64 - 16)
# Multipliers that spread the bits: of FNV-1a, and the golden ratio.
_NEXT_SIGN = np.uint64(0x100000001B3)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_WORD_APART = np.uint64(0x100000001B5)
_LONGEST_GRAM = 5
# A sum over n features grows more slowly than n, and faster than its root.
_LENGTH_EXPONENT = 0.4
_START = "\x02"
_WORDS = re.compile(r"\w+")
_DIGITS = re.compile(r"\d")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?;:])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
# A shorter piece is judged together with the one after it.
_SHORTEST_SENTENCE = 12


def order_score(text: str) -> float:
    """How much the text, or the worst of its sentences, reads like an order.

    What is above 0 is taken for one: two in a hundred harmless look-alikes are
    (``tools/train_guard.py``).
    """
    return max(map(_score, order_parts(text)))


def order_features(seen: str) -> NDArray[np.intp]:
    """The buckets of a text that was brought to plain signs (``seen_text``), each once."""
    seen = _DIGITS.sub("0", seen)
    words = [_START, *_WORDS.findall(seen)]
    signs = f"{_START}{' '.join(seen.split())} ".encode("utf-32-le", "replace")
    codes = np.frombuffer(signs, dtype="<u4").astype(np.uint64)
    hashed = [zlib.crc32(one.encode(errors="replace")) for one in words]
    single = np.array(hashed, dtype=np.uint64)
    pairs = [single[:-1] * _NEXT_SIGN + single[1:], single[:-2] * _WORD_APART + single[2:]]
    grams, found = codes, [codes, single * _NEXT_SIGN, *pairs]
    for size in range(2, min(_LONGEST_GRAM, len(codes)) + 1):
        grams = grams[:-1] * _NEXT_SIGN + codes[size - 1 :]
        found.append(grams)
    buckets = (np.concatenate(found) * _SPREAD) >> _BUCKET_SHIFT
    return np.unique(buckets.astype(np.intp))


def order_parts(text: str) -> list[str]:
    """What is judged of a text, in plain signs: the whole, and each sentence of several."""
    seen = seen_text(text).text
    sentences: list[str] = []
    for part in _SENTENCE_ENDS.split(seen):
        if sentences and len(sentences[-1]) < _SHORTEST_SENTENCE:
            sentences[-1] += f" {part}"
        else:
            sentences.append(part)
    return [seen, *sentences] if len(sentences) > 1 else [seen]


def feature_value(count: int) -> float:
    """What each of so many features of a text counts."""
    return count**-_LENGTH_EXPONENT


def _score(seen: str) -> float:
    buckets = order_features(seen)
    value = feature_value(len(buckets)) * GUARD_SCALE
    return float(_weights()[buckets].sum(dtype=np.int64) * value + GUARD_BIAS)


@cache
def _weights() -> NDArray[np.int8]:
    return np.frombuffer(lzma.decompress(base64.b85decode(PACKED_GUARD_WEIGHTS)), dtype=np.int8)
