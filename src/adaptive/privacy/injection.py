"""May a text be a memory, or does it imitate structure, hide words, or give the assistant orders?

A memory is shown to the assistant in every later chat, so an order in it would stand forever. What
the user typed as it stands is judged by its structure alone; what a model proposed or another tool
wrote is held against a linear classifier as well. Its features are hashed n-grams of one to five
signs, words, and pairs of words, so that it needs no list of words and no language;
``tools/train_guard.py`` learns the weights from labelled texts.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaptive.core.texts import unpacked
from adaptive.privacy.escaping import (
    TAG_FLAG,
    TAG_OPENING,
    imitates_structure,
    seen_text,
)
from adaptive.privacy.guard_weights import (
    GUARD_BIAS,
    GUARD_SCALE,
    PACKED_GUARD_WEIGHTS,
)

# No memory is as long; what is longer is refused unread.
LONGEST_CANDIDATE = 8000
# Overrides of direction, tags, hidden operators, joiners in Latin words, selectors in rows.
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_HIDDEN = re.compile(
    "[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\u2061-\u2064\u206a-\u206f\ufff0-\ufffb"
    "\u3164\uffa0\u115f\u1160\x00-\x08\x0e-\x1f\x7f]"
    "|(?<=[A-Za-z0-9<>/|_])[\u200b-\u200f\u2060\ufeff\u00ad\u034f\u180e]+"
    "(?=[A-Za-z0-9<>/|_])"
    "|[\u200b-\u200d\u2060\ufeff]{3,}|(?<![A-Za-z0-9])[\u200b\u2060\ufeff](?=[A-Za-z])"
    f"|[{_SELECTORS}]{{2,}}|(?<=[A-Za-z])[{_SELECTORS}]"
    f"|[A-Za-z][\u0334-\u0338\u20d0-\u20f0]"
)
_MARKUP = re.compile(
    r"!?\[[^\]\n]{0,200}\]\s?(?:\(\s?[^)\s]|:\s?(?:https?:|//|data:))"
    r"|<!(?:--|\[cdata)|```|~~~|\{\{[^}\n]{1,100}\}\}|\{%"
    r"|\b(?:javascript|vbscript|data|file|blob):(?:[a-z]{1,20}/|//|\s?[a-z]{1,20}\()"
)
# A place in an address where the assistant is to put what it knows.
_FILLED_ADDRESS = re.compile(
    r"://\S{0,300}[?&=/](?:\{|\[[a-z]|<[a-z]|\$\{|%7b)"
)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_\-.])[A-Za-z0-9+/_\-]{12,4000}={0,2}")
_HEXADECIMAL = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:0x)?[0-9a-fA-F]{2}[\s:,\-]{0,2}){10,2000}"
)
_URL_SIGNS = str.maketrans("+/", "-_", "=")
_ESCAPED = re.compile(
    r"(?:%[2-7][0-9a-f]){4}|(?:&#x?[0-9a-f]{2,6};\s?){4}|(?:\\x[0-9a-f]{2}"
    r"|\\u00[0-9a-f]{2}){4}"
    r"|(?<!\d)(?:[01]{7,8}[\s,]{1,2}){4}"
)
_SPACED_LETTERS = re.compile(
    r"(?<![^\W_])(?:[^\W\d_][ .\-_*/|]{1,3}){11}[^\W\d_](?![^\W_])"
)
# Of the buckets, runs of signs have the lower half, words and pairs of words the upper one.
BUCKETS = 1 << 17
_BUCKET_SHIFT = 64 - 16
# Words tell more of what a text is than pieces of them do, and there are fewer.
_WORD_VALUE = 4.0
# Multipliers that spread the bits: of FNV-1a, and the golden ratio.
_NEXT_SIGN = 0x100000001B3
_SPREAD = 0x9E3779B97F4A7C15
_WORD_APART = 0x100000001B5
_LONGEST_GRAM = 5
# A sum over n features grows more slowly than n, and faster than its root.
_LENGTH_EXPONENT = 0.7
_START = "\x02"
_SENTENCE_ENDS = re.compile(r"(?<=[.!?;:])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
# So few ordinary memories score as high (one in 700), and half of the attacks do.
_QUOTED_BAR = 1.5
# A shorter piece is judged together with the one after it.
_SHORTEST_SENTENCE = 12


def injection_reason(
    text: str, *, typed: bool = False, quoted: bool = False
) -> str:
    """Why a text may not be a memory; empty where it may.

    The reason completes "Not saved: ..." and repeats nothing of the text, which is judged by its
    structure alone where the user ``typed`` it as it stands, and by a higher bar where it is what a
    model has made of words that are ``quoted`` of the user.
    """
    if len(text) > LONGEST_CANDIDATE:
        return "it is too long to be one memory"
    if _HIDDEN.search(re.sub(TAG_FLAG, "", text)):
        return "it holds characters that cannot be seen"
    if imitates_structure(text) or (
        "&" in text and imitates_structure(html.unescape(text))
    ):
        return "it imitates the marks that structure a chat"
    seen = seen_text(text).text
    if _MARKUP.search(seen) or TAG_OPENING.search(seen):
        return "it carries markup, an image or a link to be fetched"
    if _FILLED_ADDRESS.search(seen):
        return "it holds a link that the assistant is to fill in"
    if (
        _ESCAPED.search(seen)
        or _SPACED_LETTERS.search(seen)
        or any(map(_reads, _decoded(text)))
    ):
        return "it hides words in a code"
    if not typed and order_score(text) > (_QUOTED_BAR if quoted else 0):
        return "it reads as an order, not as a fact; /remember keeps it all the same"
    return ""


def passed_mark(text: str) -> str:
    """What a row keeps of the text that the gate let pass, by which recall knows it unchanged."""
    return hashlib.blake2b(
        text.encode(errors="replace"), digest_size=8
    ).hexdigest()


def _decoded(text: str) -> Iterator[bytes]:
    """What stands in a text as base64 or hexadecimal."""
    for run in _BASE64.findall(text):
        with suppress(ValueError):
            yield base64.urlsafe_b64decode(f"{run.translate(_URL_SIGNS)}==")
    for run in _HEXADECIMAL.findall(text):
        figures = re.sub(r"0x|[^0-9a-fA-F]", "", run)
        if not figures.isdecimal():  # as card numbers are
            yield bytes.fromhex(figures[: len(figures) // 2 * 2])


def _reads(decoded: bytes) -> bool:
    """Whether it is words, as hashes and identifiers are none."""
    words = decoded.decode(errors="replace")
    letters = sum(sign.isalpha() or sign in " .,:;!?'\"=\n" for sign in words)
    return (
        len(words) >= 6
        and letters >= 0.85 * len(words)
        and "\ufffd" not in words
    )


def order_score(text: str) -> float:
    """How much the text, or the worst of its sentences, reads like an order.

    Above 0 are one in fifty harmless look-alikes, and one in forty ordinary memories.
    """
    parts = map(order_features, order_parts(text))
    worst = max(
        _weights()[buckets] @ feature_values(buckets) for buckets in parts
    )
    return float(worst) * GUARD_SCALE + GUARD_BIAS


def order_features(seen: str) -> NDArray[np.intp]:
    """The buckets of a text that was brought to plain signs (``seen_text``), each once."""
    seen = re.sub(r"\d", "0", seen)
    signs = f"{_START}{' '.join(seen.split())} ".encode("utf-32-le", "replace")
    codes = np.frombuffer(signs, dtype="<u4").astype(np.uint64)
    grams = [codes]
    for size in range(2, min(_LONGEST_GRAM, len(codes)) + 1):
        grams.append(grams[-1][:-1] * _NEXT_SIGN + codes[size - 1 :])
    words = [_START, *re.findall(r"\w+", seen)]
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
            [_hashed(grams), _hashed(words_and_pairs) + BUCKETS // 2]
        ),
    )


def _hashed(codes: Sequence[NDArray[np.uint64]]) -> NDArray[np.intp]:
    """The buckets of all these codes, in one half."""
    return ((np.concatenate(codes) * _SPREAD) >> _BUCKET_SHIFT).astype(np.intp)


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


def feature_values(buckets: NDArray[np.intp]) -> NDArray[np.float64]:
    """What each of a text's features counts: less where there are many, and words more."""
    return (
        np.where(buckets < BUCKETS // 2, 1.0, _WORD_VALUE)
        * len(buckets) ** -_LENGTH_EXPONENT
    )


@cache
def _weights() -> NDArray[np.int8]:
    return np.frombuffer(unpacked(PACKED_GUARD_WEIGHTS), dtype=np.int8)
