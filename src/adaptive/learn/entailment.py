"""Whether a sentence that repeats the user's words says what they say, or turns it round.

"My sister is vegan" does not say that the user is; nor does "I am not", or "if I were". What tells
are the words that one side has and the other has not, and how they stand around those that both
have. Small models quote little, "a dog" of "if I had a dog": so all of the sentence is read in which
a quotation stands, and a little of those around it. A linear model weighs that;
``tools/train_entailment.py`` learns its weights from pairs in many languages.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise

from adaptive.core.texts import listed_lines, unpacked
from adaptive.learn.quotation import UNSPACED, word_units
from adaptive.learn.support import BegunSentences, beginning, beginnings

_CLAUSE = re.compile(r"[^,;:\u060c\u3001\uff0c\uff1a\uff1b]+")
_QUESTION = re.compile(r"[?\u061f\uff1f]")
_SHARED = "="
_CUT = ".."
# Of a sentence's telling words, for it to repeat a quotation: others are judged by what is new.
_LEAST_REPEATED = 0.6
# Of the clause that is repeated, around what it shares; of the sentences around it
_WORDS_BEFORE = 6
_WORDS_BEHIND = 3
_WORDS_AROUND = 8


def turns_round(
    said: BegunSentences, spans: Sequence[str], sentence: str
) -> bool:
    """Whether a sentence has the words of a quotation, and says something else by them."""
    if not is_repeated(spans, sentence):
        return False
    weights = _weights()
    features = pair_features(said, spans, sentence)
    score = sum(weights.get(feature, 0) for feature in features)
    return score < weights[""]


def is_repeated(spans: Sequence[str], sentence: str) -> bool:
    """Whether most telling words of a sentence stand in a quotation."""
    telling = beginnings(sentence)
    repeated = telling & beginnings("\n".join(spans))
    return len(repeated) >= _LEAST_REPEATED * len(telling)


def pair_features(
    said: BegunSentences, spans: Sequence[str], sentence: str
) -> frozenset[str]:
    """What tells of a sentence beside what was said where most of it and its quotation stands."""
    telling = beginnings(sentence)
    quoted = beginnings("\n".join(spans))
    shared = [
        (len(begun & quoted & telling), len(begun & quoted))
        for _, begun in said
    ]
    place = shared.index(max(shared))
    text, _ = said[place]
    claimed = _forms(sentence)
    clauses = list(map(_forms, _CLAUSE.findall(text)))
    counts = [
        (len(telling & words), len(words.intersection(claimed)))
        for words in map(frozenset, clauses)
    ]
    nearest = counts.index(max(counts))
    clause = clauses[nearest]
    repeated = [
        at
        for at, word in enumerate(clause)
        if word in claimed and (word in telling or UNSPACED.match(word))
    ] or [0]
    first = max(0, repeated[0] - _WORDS_BEFORE)
    end = repeated[-1] + 1 + _WORDS_BEHIND
    around = {
        "b": [*chain(*clauses[:nearest]), *clause[:first]],
        "a": [*clause[end:], *chain(*clauses[nearest + 1 :])],
        "m": _forms("".join(one for one, _ in said[:place]))[-_WORDS_AROUND:],
        "n": _forms("".join(one for one, _ in said[place + 1 :]))[
            :_WORDS_AROUND
        ],
    }
    near = clause[first:end]
    if first:
        near.insert(0, _CUT)
    if end < len(clause):
        near.append(_CUT)
    is_spaced = not UNSPACED.search(sentence)
    opening = list(chain(*clauses))[:2]
    return frozenset(
        (
            *_features("c", _differing(claimed, clause), is_spaced),
            *_features("q", _differing(near, claimed), is_spaced),
            *(f"{side} {one}" for side in around for one in around[side]),
            f"f {' '.join(opening[:1])}",
            f"f {' '.join(opening)}",
            f"? {bool(_QUESTION.search(text))} {len(clauses) - nearest}",
        )
    )


def _forms(text: str) -> list[str]:
    """What the words of a text are known by: how they begin, or the one sign that they are."""
    return [
        word if UNSPACED.match(word) else beginning(word)
        for word in word_units(text)
    ]


def _differing(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """Words, with a mark in the place of those that stand among the others, too."""
    shared = frozenset(others)
    return [_SHARED if word in shared else word for word in words]


def _features(
    side: str, words: Sequence[str], is_spaced: bool
) -> Iterator[str]:
    """The words of one side, alone and with their neighbours, before and behind shared ones.

    Where words are spaced, each stands for any other one, too.
    """
    place = "before"
    for word in words:
        if word == _SHARED:
            place = "behind"
        else:
            yield f"{side} {word}"
            yield f"{side} {word} {place}"
    marked = ["^", *words, "$"]
    plain = marked
    if is_spaced:
        plain = [one if one in ("^", _SHARED, "$") else "_" for one in marked]
    else:
        side = side.upper()
    for (one, any_one), (two, any_two) in pairwise(
        zip(marked, plain, strict=True)
    ):
        yield from (
            f"{side} {a}|{b}" for a in (one, any_one) for b in (two, any_two)
        )
    for row in (marked, plain):
        yield from map(
            "|".join,
            zip(
                [f"{side} {one}" for one in row],
                row[1:],
                row[2:],
                strict=False,
            ),
        )
    yield from (
        f"{side} {one}|*|{two}"
        for one, two in zip(marked, marked[2:], strict=False)
    )


@cache
def _weights() -> dict[str, int]:
    """The weights by feature, and the bar without one."""
    (packed,) = listed_lines("entailment_weights")
    lines = unpacked(packed).decode().split("\n")
    parted = (line.rpartition("\t") for line in lines)
    return {feature: int(weight) for feature, _, weight in parted}
