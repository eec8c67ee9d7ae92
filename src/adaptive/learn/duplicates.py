"""Whether a new statement says the same as a known one, told without a model.

Losing a true fact is the worst that can happen here, so what is not proven to be the same is new.
The words in which two statements differ must be a rewording that ``tools/train_duplicates.py`` has
learned ("lives", "resides"), or be made of such words while the vectors are very near. Numbers,
names and all words that were not learned make a fact of its own, however near the vectors are.
"""

from __future__ import annotations

import base64
import lzma
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np

from adaptive.learn.rewordings import PACKED_REWORDINGS
from adaptive.ports import Vectors
from adaptive.search.text_similarity import folded_text
from adaptive.search.tokens import tokens
from adaptive.text_cache import text_cache

# Likeness (see ``calibrated_likeness``) from which learned words need not be a learned rewording;
# in cross-validation nothing is lost from 0.85 on. Below the other all rewordings are doubted.
REWORDED_FROM = 0.87
DOUBTED_BELOW = 0.6
_SHORTEST_BEGINNING = 3

# Signs of scripts without spaces are compared one by one.
_UNSPACED_SIGNS = "\u0e01-\u109f\u1780-\u17d3\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_COUNTED_WORDS = re.compile(rf"[{_UNSPACED_SIGNS}]|[^\W_{_UNSPACED_SIGNS}]+")
# Articles, possessives, and whom all statements are about.
_IDLE_WORDS_TEXT = """
    a an the this that s d his her their user users nutzer nutzers nutzerin benutzer benutzers
    utilisateur utilisatrice usuario usuaria utente пользователь пользователя пользователю der die
    das den dem des ein eine einen einem einer eines le la les l un une el los las o os um uma il lo
    gli i dell all al
"""
_IDLE_WORDS = frozenset(_IDLE_WORDS_TEXT.split())
_NEGATIONS_TEXT = """
    not no never nor without non nobody nothing none neither hardly longer anymore stopped quit
    nicht kein keine keinen keinem keiner nie niemals ohne weder mehr pas jamais sans aucun aucune
    plus rien sin ni nunca jamas ya nem sem nao mai senza niet geen nooit zonder
    не нет без никогда больше 不 没 沒 别 無 无
"""
NEGATIONS = frozenset(_NEGATIONS_TEXT.split())


def unrelated_likeness(nulls: Vectors | None) -> float | None:
    """The mean cosine of texts that have nothing to do with each other; ``None`` without any.

    ``nulls`` are the normalised vectors of ``NULL_PROMPTS``.
    """
    if nulls is None or len(nulls) < 2:
        return None
    total = float(np.square(nulls.sum(axis=0, dtype=np.float64)).sum())
    return (total - len(nulls)) / (len(nulls) * (len(nulls) - 1))


def calibrated_likeness(cosine: float | None, unrelated: float | None) -> float | None:
    """A cosine on a scale that is the same for every embedding model: 0 for unrelated texts."""
    if cosine is None or unrelated is None:
        return None
    return (cosine - unrelated) / max(1 - unrelated, 1e-6)


def same_fact(
    known: str,
    said: str,
    likeness: float | None = None,
    bar: float = REWORDED_FROM,
    learned: frozenset[str] | None = None,
) -> bool:
    """Whether what is said now says the same as a known fact, and no more.

    ``likeness`` is ``None`` where there are no vectors: then nothing but learned rewordings counts.
    """
    learned = learned_rewordings() if learned is None else learned
    ours, theirs = counted_words(known), counted_words(said)
    if _telling(ours) == _telling(theirs):
        return True
    if likeness is not None and likeness < min(DOUBTED_BELOW, bar):
        return False
    negated = NEGATIONS.isdisjoint(ours) != NEGATIONS.isdisjoint(theirs)
    if _begins(ours, theirs):
        return not negated
    left, new = differing_words(ours, theirs)
    if not (left and new) and not _in_turn(ours, theirs):
        return False
    if rewording(left, new) in learned:
        return True
    if not left and not new:
        return likeness is None or likeness >= bar
    if likeness is None or likeness < bar or negated or not (left and new):
        return False
    return len(left) + len(new) > 2 and _vocabulary(learned).issuperset(left + new)


@text_cache(8192)
def counted_words(text: str) -> tuple[str, ...]:
    """The words of a text as they are compared."""
    plain = re.sub(r"n't\b", " not", folded_text(text)).replace("cannot", "can not")
    return tuple(_COUNTED_WORDS.findall(plain))


def differing_words(known: Sequence[str], said: Sequence[str]) -> tuple[list[str], list[str]]:
    """The telling words that only the one has, and those that only the other has."""
    ours, theirs = Counter(_telling(known)), Counter(_telling(said))
    return list((ours - theirs).elements()), list((theirs - ours).elements())


def rewording(left: Sequence[str], new: Sequence[str]) -> str:
    """Words in the place of others, in one form whichever come first."""
    return "|".join(sorted((" ".join(sorted(left)), " ".join(sorted(new)))))


@cache
def learned_rewordings() -> frozenset[str]:
    """Those of ``learn.rewordings``: pairs of phrases."""
    packed = lzma.decompress(base64.b85decode(PACKED_REWORDINGS), lzma.FORMAT_ALONE)
    groups = (line.split("|") for line in packed.decode().split("\n"))
    return frozenset("|".join(pair) for group in groups for pair in combinations(group, 2))


@cache
def _vocabulary(learned: frozenset[str]) -> frozenset[str]:
    """All words that stand in rewordings: they tell little by themselves."""
    return frozenset(re.split(r"[| \n]", "\n".join(learned)))


def _telling(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in _IDLE_WORDS]


def _has_place(word: str) -> bool:
    """Whether a word is no function word."""
    return word == "user" or tokens(f"{word} x0x") != ["x0x"]


def _begins(known: Sequence[str], said: Sequence[str]) -> bool:
    """Whether a known fact begins as what is said and goes on with a phrase of its own.

    "has a dog and a cat" says all that "has a dog" does; "has a dog house" does not.
    """
    size = len(said)
    if not _SHORTEST_BEGINNING <= size < len(known):
        return False
    return known[:size] == said and not _has_place(known[size])


def _in_turn(known: Sequence[str], said: Sequence[str]) -> bool:
    """Whether the words that both have once go round in the same order.

    "Blue is her favorite color" says what "her favorite color is blue" does; "prefers tea to
    coffee" and "prefers coffee to tea" are two facts.
    """
    ours, theirs = Counter(known), Counter(said)
    once = {word for word in ours if ours[word] == theirs[word] == 1 and _has_place(word)}
    first, second = ([word for word in words if word in once] for words in (known, said))
    return not first or any(first[at:] + first[:at] == second for at in range(len(first)))
