"""Whether a sentence that repeats the user's words says what they say, or turns it round.

"My sister is vegan" does not say that the user is; nor does "I am not", or "if I were". What tells
are the words that one side has and the other has not, how they stand around those that both have,
and how these end. Small models quote little, "a dog" of "if I had a dog": so the sentence is read in
which a quotation stands. A linear model weighs that; ``tools/train_entailment.py`` learns its
weights from pairs in many languages.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from itertools import pairwise
from os.path import commonprefix

from adaptive.core import listed_lines, unpacked
from adaptive.learn.quotation import UNSPACED, word_units
from adaptive.learn.support import BegunSentences, beginning, beginnings

_CLAUSE = re.compile(
    r"(?:[^,;:\u060c\u3001\uff0c\uff1a\uff1b]|(?<=\d)[,:](?=\d))+"
)
_QUESTION = re.compile(r"[?\u061f\uff1f]")
_MARKS = re.compile('["\u201c\u201e\u00ab\u300c\u300e]')
_SHARED = "="
# Of a sentence's telling words, for it to repeat a quotation: others are judged by what is new.
_LEAST_REPEATED = 0.6
# Of the clause that is repeated, before what both have, and from its last word on
_WORDS_BEFORE = 4
_WORDS_BEHIND = 4
_ENDING = 2  # letters


def turns_round(
    said: BegunSentences, spans: Sequence[str], sentence: str
) -> bool:
    """Whether a sentence has the words of a quotation, and says something else by them."""
    units = word_units(sentence)
    is_copied = any(units == word_units(text) for text, _ in said)
    if is_copied or not is_repeated(spans, sentence):
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
    claimed = _words(sentence)
    quotation = "\n".join(spans)
    quoted = _words(quotation)
    place = _place_said(said, telling, quotation)
    text, _ = said[place]
    clauses = [*map(_words, _CLAUSE.findall(text))] or [claimed]
    nearest = max(
        range(len(clauses)),
        key=lambda at: (
            len(telling & clauses[at].keys()),
            len(quoted.keys() & clauses[at].keys()),
            len(claimed.keys() & clauses[at].keys()),
        ),
    )
    clause = clauses[nearest]
    # "My sister is vegan, and so am I", or in a sentence of its own
    for later, _ in said[place + 1 : place + 2]:
        clauses.extend(map(_words, _CLAUSE.findall(later)))
    following = [word for one in clauses[nearest + 1 :][:1] for word in one]
    wanted = claimed if UNSPACED.search(sentence) else telling
    repeated = [
        place for place, word in enumerate(clause) if word in wanted
    ] or [0]
    near = slice(
        max(0, repeated[0] - _WORDS_BEFORE), repeated[-1] + _WORDS_BEHIND
    )
    return frozenset(
        (
            *_features("c", claimed, {**quoted, **clause}),
            *_features("q", dict([*clause.items()][near]), claimed),
            f"b {' '.join(following[:_WORDS_BEHIND])}",
            f'" {bool(_MARKS.search(text))}',
            f"? {bool(_QUESTION.search(text))}",
        )
    )


def _place_said(
    said: BegunSentences, telling: Set[str], quotation: str
) -> int:
    """The place of the sentence that a claim is judged by: with most of what it quotes and tells."""
    quoted = beginnings(quotation)
    words = _words(quotation).keys()
    shared = [
        (
            len(begun & quoted & telling),
            len(begun & quoted),
            len(_words(text).keys() & words),
        )
        for text, begun in said
    ]
    return shared.index(max(shared))


def _words(text: str) -> dict[str, str]:
    """The words of a text by what they are known by: how they begin, or the sign that they are."""
    return {
        word if UNSPACED.match(word) else beginning(word): word
        for word in word_units(text)
    }


def _features(
    side: str, words: Mapping[str, str], others: Mapping[str, str]
) -> Iterator[str]:
    """The words of one side alone, the endings of those that both have, and neighbours.

    Each of these stands for any other one, too.
    """
    marked = ["^"]
    for form, word in words.items():
        if form in others:
            marked.append(_SHARED)
            alike = (word, others[form])
            same = len(commonprefix(alike))  # noqa: RUF071 - of letters
            yield f"{side} {word[same:]}>{others[form][same:]}"
        else:
            marked.append(form)
            yield f"{side} {form}"
            yield f"{side} -{word[-_ENDING:]}"
    marked.append("$")
    plain = [one if one in ("^", _SHARED, "$") else "_" for one in marked]
    for (one, any_one), (two, any_two) in pairwise(
        zip(marked, plain, strict=True)
    ):
        yield from (
            f"{side} {a}|{b}" for a in (one, any_one) for b in (two, any_two)
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
