"""May a text be a memory, and how is one shown so that it can neither order nor play a role?

A memory is shown to the assistant in every later chat, so an order in it would stand forever. What
the user typed as it stands is judged by its structure alone; what a model proposed or another tool
wrote is held against a linear classifier as well. Its features are hashed n-grams of one to five
signs, words, and pairs of words, so that it needs no list of words and no language;
``tools/train_guard.py`` learns the weights from labelled texts.

Rows of any age and origin are escaped, those of other tools included. Ordinary text stays as it is,
byte for byte; where a sign imitates structure, that sign alone is changed, so that a person can
still read what was said.
"""

# ruff: noqa: RUF001 - signs of several scripts

import hashlib
import html
import re
import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaptive.core import (
    NGRAM_BUCKETS,
    Phrase,
    compiled_patterns,
    listed_lines,
    ngram_buckets,
    storable_text,
    text_cache,
    unpacked,
)
from adaptive.privacy.scanning import Respelling, respelled

_FORMS = compiled_patterns("imitations")
# Letters and brackets that look like these.
_TWINS = str.maketrans(
    "асԁеɡһіјкӏорԛѕтхуαεικνορτυ‹❮⟨〈˂ᐸ〈❬❰›❯⟩〉˃ᐳ〉❭❱",
    "acdeghijklopqstxyaeikvoptu<<<<<<<<<>>>>>>>>>",
)
_ENTITIES = {"<": "&lt;", "[": "&#91;", "{": "&#123;"}
# No memory is as long; what is longer is refused unread.
LONGEST_CANDIDATE = 8000
# Words tell more of what a text is than pieces of them do, and there are fewer.
_WORD_VALUE = 4.0
# A sum over n features grows more slowly than n, and faster than its root.
_LENGTH_EXPONENT = 0.7
_SENTENCE_ENDS = re.compile(r"(?<=[.!?;:])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
# Few ordinary memories score as high (one in 350), and four attacks in nine do.
_QUOTED_BAR = 2.0
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
        return Phrase("bad_length")
    if _FORMS["hidden"].search(_FORMS["tag flag"].sub("", text)):
        return Phrase("imitation")
    if imitates_structure(text) or imitates_structure(html.unescape(text)):
        return Phrase("imitation")
    seen = seen_text(text).text
    for reason, form in _FORMS.items():
        if reason.startswith("it ") and form.search(seen):
            return Phrase("imitation")
    if not typed and order_score(text) > (_QUOTED_BAR if quoted else 0):
        return Phrase("order")
    return ""


def passed_mark(text: str) -> str:
    """What a row keeps of the text that the gate let pass, by which recall knows it unchanged."""
    return hashlib.blake2b(
        text.encode(errors="replace"), digest_size=8
    ).hexdigest()


def order_score(text: str) -> float:
    """How much the text, or the worst of its sentences, reads like an order.

    Above 0 are one in fifty harmless look-alikes, and one in forty ordinary memories.
    """
    parts = map(ngram_buckets, order_parts(text))
    weights, bias = _guard()
    worst = max(
        weights[buckets] @ feature_values(buckets) for buckets in parts
    )
    return float(worst) + bias


@cache
def _guard() -> tuple[NDArray[np.float64], float]:
    """The weights of all buckets, few of which are not zero, and the bias."""
    label, packed = listed_lines("guard_weights")
    _, step, bias = label.split()
    table = np.frombuffer(unpacked(packed), dtype=np.int8)
    gaps, steps = table.reshape(2, -1)
    weights = np.zeros(NGRAM_BUCKETS)
    weights[np.cumsum(gaps.view(np.uint8))] = steps * float(step)
    return weights, float(bias)


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
        np.where(buckets < NGRAM_BUCKETS // 2, 1.0, _WORD_VALUE)
        * len(buckets) ** -_LENGTH_EXPONENT
    )


def seen_text(text: str) -> Respelling:
    """The text in small, plain signs without what cannot be seen."""
    if text.isascii() and text.isprintable():
        return Respelling(text.lower(), range(len(text)))
    return respelled(text, _seen_sign)


@text_cache(20_000)
def _seen_sign(sign: str) -> str:
    """One small, plain sign for what looks like it; nothing for what is not seen."""
    if _FORMS["unseen"].match(sign):
        return ""
    if _FORMS["line break"].match(sign):
        return "\n"
    plain = unicodedata.normalize("NFKC", sign).lower().translate(_TWINS)
    return plain if len(plain) == 1 else sign


def escaped_entry(text: str) -> str:
    """A text as one line that imitates no structure; the same for what was escaped before."""
    shown = storable_text(_FORMS["never shown"].sub(r"\1", text))
    shown = _FORMS["stray joiners"].sub("", shown)
    lines = [
        _without_opening(line).strip(" \t")
        for line in _FORMS["line break"].split(shown)
    ]
    shown = re.sub("\t+", " ", " ".join(filter(None, lines))).strip()
    shown = _FORMS["backticks"].sub(lambda run: "'" * len(run[0]), shown)
    shown = _without_imitations(_without_opening(shown))
    return _FORMS["image"].sub("&#91;", shown)


def imitates_structure(text: str) -> bool:
    """Whether a text imitates a mark of a block, a token of a chat template, or a commanding turn.

    A turn counts at the beginning of a line, of a quotation or of a bracket.
    """
    seen = seen_text(text).text
    return bool(
        _FORMS["imitation"].search(seen)
        or _FORMS["commanding turn"].search(seen)
    )


def _without_opening(line: str) -> str:
    """A line that begins neither as a heading or a rule nor as somebody's turn."""
    former = None
    while line != former:
        former = line
        line = _FORMS["line opening"].sub("", line)
        seen = seen_text(line)
        role = _FORMS["role"].match(seen.text)
        if role:
            colon = seen.places[role.start("colon")]
            line = f"{line[:colon].rstrip()} -{line[colon + 1 :]}"
    return line


def _without_imitations(text: str) -> str:
    """A text in which each sign that opens an imitation or a tag is an entity."""
    seen = seen_text(text)
    signs = list(text)
    for pattern in (_FORMS["imitation"], _FORMS["tag"]):
        for match in pattern.finditer(seen.text):
            signs[seen.places[match.start()]] = _ENTITIES[match[0]]
    return "".join(signs)
