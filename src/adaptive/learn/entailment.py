"""Whether a sentence that repeats the user's words says what they say, or turns it round.

"My sister is vegan" does not say that the user is; nor does "I am not", or "if I were". What tells
are the words that one side has and the other has not, and how they stand around those that both
have. A linear model weighs them; ``tools/train_entailment.py`` learns its weights from pairs in
many languages. Words that it has never met count as any word.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from adaptive.core import listed_lines, unpacked
from adaptive.learn.quotation import UNSPACED, word_units
from adaptive.learn.support import beginning, beginnings, parts_nearest

_SHARED = "="
_ANY = "_"
# Of a sentence's telling words, for it to repeat a quotation: others are judged by what is new.
_LEAST_REPEATED = 0.6


def turns_round(spans: Sequence[str], sentence: str) -> bool:
    """Whether a sentence has the words of a quotation, and says something else by them."""
    if not is_repeated(spans, sentence):
        return False
    weights = _weights()
    features = pair_features(spans, sentence, _known_words())
    score = sum(weights.get(feature, 0) for feature in features)
    return score < weights[""]


def is_repeated(spans: Sequence[str], sentence: str) -> bool:
    """Whether most telling words of a sentence stand in a quotation."""
    telling = beginnings(sentence)
    repeated = telling & beginnings("\n".join(spans))
    return len(repeated) >= _LEAST_REPEATED * len(telling)


def pair_features(
    spans: Sequence[str], sentence: str, known: Container[str] | None
) -> frozenset[str]:
    """What of a quotation beside a sentence tells; without ``known`` words all count as such."""
    claimed = word_units(sentence)
    parts = parts_nearest(spans, sentence)
    quoted = word_units("\n".join(parts))
    features = set(_features("c", _differing(claimed, quoted), known))
    for words in map(word_units, parts):
        features.update(_features("q", _differing(words, claimed), known))
    return frozenset(features)


def _differing(words: Iterable[str], others: Iterable[str]) -> list[str]:
    """Words, with a mark in the place of those that stand among the others, too."""
    shared = set(map(_form, others))
    return [_SHARED if _form(word) in shared else word for word in words]


def _form(word: str) -> str:
    """What a word is known by: its beginning, or the one sign that it is."""
    return word if UNSPACED.match(word) else beginning(word)


def _features(
    side: str, words: list[str], known: Container[str] | None
) -> Iterator[str]:
    """The words of one side, alone and with their neighbours, before and behind shared ones."""
    plain = [
        word if known is None or word == _SHARED or word in known else _ANY
        for word in words
    ]
    place = "before"
    for word in plain:
        if word == _SHARED:
            place = "behind"
        else:
            yield f"{side} {word}"
            yield f"{side} {word} {place}"
    marked = ["^", *plain, "$"]
    yield from (f"{side} {one}|{two}" for one, two in pairwise(marked))
    yield from (
        f"{side} {one}|{two}|{three}"
        for one, two, three in zip(
            marked, marked[1:], marked[2:], strict=False
        )
    )


@cache
def _weights() -> dict[str, int]:
    """The weights by feature, and the bar without one."""
    (packed,) = listed_lines("entailment_weights")
    lines = unpacked(packed).decode().split("\n")
    parted = (line.rpartition("\t") for line in lines)
    return {feature: int(weight) for feature, _, weight in parted}


@cache
def _known_words() -> frozenset[str]:
    """The words that were met in training on one side alone."""
    return frozenset(
        feature.split(" ")[1]
        for feature in _weights()
        if " " in feature and "|" not in feature
    )
