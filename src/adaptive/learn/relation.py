"""How a statement stands to a known fact: the same, refining it, contradicting it, or different.

No model is asked. Losing a true fact is the worst that can happen here, so what is not clearly
about the same thing is another fact:

- *same*: word for word; the same meanings with the same negation, time, person, numbers and names;
  less than what is known; or, where only plain words differ, vectors nearer than those of any two
  different facts in ``benchmarks/deduplication_pairs.json``;
- *contradicts*: the same sentence turned around ("likes", "does not like"), or another value of an
  attribute that has one at a time (``learn.attribute``); also where it is said to have ended;
- *refines*: all that is known, and more.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adaptive.learn.attribute import Relation, attribute, compared, of_one
from adaptive.learn.statement import (
    Clause,
    Statement,
    Word,
    bare_text,
    read_statement,
    strong,
    weak_words,
)
from adaptive.ports import Vectors
from adaptive.search.meanings import people
from adaptive.search.text_similarity import jaccard

# Likeness from which plain words may differ and yet nothing new is said, and the one from which a
# model's UPDATE is believed to speak of the same thing although they share no word. Both from
# ``benchmarks/deduplication.py``.
SAME_FROM = 0.93
RELATED_LIKENESS = 0.65

# Verbs beside which "has" and "is" mean nothing: "has an allergy", "is allergic".
_CARRYING_TEXT = "allergic afraid born old vegetarian vegan smoke live work like married speak play"
_CARRYING = frozenset(_CARRYING_TEXT.split())
# Beside these the order of two words tells which is which.
_ORDERING = frozenset(("prefer", "moved"))
# Two facts that share but one of these have nothing to do with each other.
_GENERIC = frozenset(("like", "want", "plan", "prefer", "use", "do"))
_ROLES_TEXT = """
with: with mit avec con com с
about: about uber sur sobre su о об
for: for fur pour para per для
by: by durch par por
to: to nach zu zum zur
"""
_ROLES = {
    word: role
    for role, _, words in (line.partition(": ") for line in _ROLES_TEXT.strip().splitlines())
    for word in words.split()
}
# One works for a firm, at it, and is employed by it; one has a nut allergy, or is allergic to nuts.
_SAME_ROLE = {
    "work": ("for", "by", "fur", "pour", "para", "per", "par", "por"),
    "allergic": ("to", "para"),
}
_ENDING_YEAR = re.compile(r"(?:19|20)\d\d")
_DIRECTED = ("than ", "until ", "of ")


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near two vectors are: 0 as unrelated texts, 1 identical; ``None`` without vectors.

    From ``bar`` on plain words may differ; below ``floor`` only what is word for word the same is.
    """

    value: float | None = None
    bar: float = SAME_FROM
    floor: float = 0.0


def unrelated_cosine(nulls: Vectors | None) -> float | None:
    """The mean cosine of texts that have nothing to do with each other; ``None`` without any.

    ``nulls`` are the normalised vectors of ``NULL_PROMPTS``.
    """
    if nulls is None or len(nulls) < 2:
        return None
    total = float(np.square(nulls.sum(axis=0, dtype=np.float64)).sum())
    return (total - len(nulls)) / (len(nulls) * (len(nulls) - 1))


def likeness_of(cosine: float | None, unrelated: float | None) -> float | None:
    """A cosine on a scale that is the same for every embedding model.

    0 is that of ``unrelated`` texts: a model that finds all texts alike only squeezes the scale.
    """
    if cosine is None or unrelated is None:
        return None
    return (cosine - unrelated) / max(1 - unrelated, 1e-6)


def relation(known: str, said: str, likeness: Likeness | None = None) -> Relation:
    """How what is ``said`` now stands to a ``known`` fact."""
    near = likeness or Likeness()
    if bare_text(known) == bare_text(said):
        return "same"
    old, new = read_statement(known), read_statement(said)
    if not old.clauses or not new.clauses:
        return "different"
    found = _by_words(old, new)
    proven = near.value is not None and near.value >= near.bar
    if found == "different" and proven:
        found = _by_vectors(old, new)
    doubtful = near.value is not None and near.value < near.floor
    return "different" if found == "same" and doubtful else found


def _by_words(old: Statement, new: Statement) -> Relation:
    ours, theirs = old.flags, new.flags
    if len(ours) == 1 and len(theirs) == 1 and _same_words(old, new):
        (negative, time), (negates, when) = next(iter(ours)), next(iter(theirs))
        if time == when and negative == negates:
            return "same"
        if time == when:
            return "contradicts" if of_one(new) else "different"
    if _ends(new, old):
        return "contradicts"
    known, said = attribute(old), attribute(new)
    if known and said and known.key == said.key:
        return compared(known, said, new)
    if _covers(old, new):
        return "same"
    return "refines" if _covers(new, old) else "different"


def _ends(new: Statement, old: Statement) -> bool:
    """Whether a statement says that what the whole of another says is so no longer."""
    if len(old.clauses) != 1 or old.about != new.about or not of_one(new):
        return False
    clause = old.clauses[0]
    if clause.negative or clause.foreign or clause.time != "present":
        return False
    return any(
        other.ended and other.time == "present" and not other.foreign and _is_over(clause, other)
        for other in new.clauses
    )


def _is_over(so_far: Clause, ended: Clause) -> bool:
    """Whether a clause begins as one that has ended, but for the year in which it did.

    "no longer works at ACME" ends "works at ACME in Rome"; "no longer eats fish at ACME" does not
    end "eats fish".
    """
    dated = any(_ENDING_YEAR.fullmatch(word.meaning) for word in ended.words)
    over = [w for w in ended.words if not (dated and w.figure) and w.meaning != "be"]
    known = [w for w in so_far.words if w.meaning != "be"]
    if len(known) > len(over) and known[1].meaning == "like":  # German: "trinkt gern Kaffee"
        del known[1]
    if not strong(over) or _clause_keys(known[: len(over)]) != _clause_keys(over):
        return False
    return len(known) == len(over) or (len(over) > 1 and not known[len(over)].glued)


def _clause_keys(words: Sequence[Word]) -> list[str]:
    return [word.key.removeprefix("doing ") for word in words]


def _same_words(one: Statement, other: Statement) -> bool:
    """Whether both have the same words, in the same order where that matters."""
    words = strong(one.words)
    ours, theirs = (_roles(part) for part in (words, strong(other.words)))
    if not ours or sorted(ours) != sorted(theirs) or not _weak_words_agree(one, other):
        return False
    if ours == theirs:
        return True
    foreign = any(clause.foreign for clause in (*one.clauses, *other.clauses))
    return not foreign and one.about == other.about and not _ordered(words)


def _roles(words: Sequence[Word]) -> list[str]:
    """The words, those behind "with", "about" and the like with their role: "with Anna"."""
    meanings_here = {word.meaning for word in words}
    if "prefer" in meanings_here:
        return [word.key for word in words]
    alike = {prep for verb, preps in _SAME_ROLE.items() if verb in meanings_here for prep in preps}
    roles = ("" if word.prep in alike else _ROLES.get(word.prep, "") for word in words)
    # An infinitive's "to" is no role: "likes to hike", "likes hiking".
    return [
        word.key if "doing" in word.key else f"{role} {word.key}"
        for role, word in zip(roles, words, strict=True)
    ]


def _weak_words_agree(one: Statement, other: Statement) -> bool:
    """Not so in "has a doctor" and "is a doctor", but in "has an allergy" and "is allergic"."""
    ours, theirs = weak_words(one), weak_words(other)
    if ("name" in ours) != ("name" in theirs) and "have" not in ours & theirs:
        return False
    if any(word.meaning in _CARRYING for word in one.words):
        return True
    return not ours or not theirs or ("have" in ours) == ("have" in theirs)


def _ordered(words: Sequence[Word]) -> bool:
    """Whether the order of words tells something: two who could change places, "from" and "to"."""
    runs, before = 0, False
    for word in words:
        animate = word.name or word.meaning in people()
        runs += animate and not (before and word.glued)
        before = animate
    away = any(word.key.startswith("from ") for word in words)
    directed = any(word.meaning in _ORDERING or word.key.startswith(_DIRECTED) for word in words)
    return runs > 1 or directed or (away and any(word.prep == "to" for word in words))


def _covers(longer: Statement, shorter: Statement) -> bool:
    """Whether a statement says all that a shorter one of a single clause says."""
    if len(shorter.clauses) != 1 or longer.about != shorter.about:
        return False
    clause = shorter.clauses[0]
    return any(
        not other.foreign
        and (other.negative, other.time) == (clause.negative, clause.time)
        and _begins_as(other, clause)
        for other in longer.clauses
    )


def _begins_as(longer: Clause, shorter: Clause) -> bool:
    """Whether a clause begins as the shorter one and goes on with a phrase of its own.

    "has a dog named Rex" covers "has a dog", "has a dog house" does not.
    """
    size = len(shorter.words)
    if size < 2 or size > len(longer.words) or not strong(shorter.words):
        return False
    pairs = zip(longer.words[:size], shorter.words, strict=True)
    if any(ours.key != theirs.key or ours.prep != theirs.prep for ours, theirs in pairs):
        return False
    if size == len(longer.words) or not longer.words[size].glued:
        return True
    return longer.words[size].name and longer.words[size - 1].meaning in people()


def _by_vectors(old: Statement, new: Statement) -> Relation:
    """What statements with very near vectors are to each other.

    Different facts still if a number, date, name, person, negation or time differs, or if one word
    stands in the place of another, which mostly is another fact however near the vectors are:
    "left knee", "right knee".
    """
    if old.flags != new.flags or len(old.flags) != 1 or old.about != new.about:
        return "different"
    if any(clause.foreign for clause in (*old.clauses, *new.clauses)):
        return "different"
    ours, theirs = (Counter(w.key for w in strong(each.words)) for each in (old, new))
    only_ours, only_theirs = ours - theirs, theirs - ours
    left = only_ours | only_theirs
    if not left or any(word.hard for word in (*old.words, *new.words) if word.key in left):
        return "different"
    if only_ours.total() == only_theirs.total() == 1:
        mine, yours = next(iter(only_ours)), next(iter(only_theirs))
        related = mine[:5] == yours[:5] and min(len(mine), len(yours)) > 4
        return "same" if related else "different"
    return "same" if only_ours else "refines"


def was_so(former: str, said: str) -> bool:
    """Whether what is ``said`` only tells that a ``former`` content was so once.

    "lived in Porto before" does of "lives in Porto"; with a year it tells more.
    """
    old, new = read_statement(former), read_statement(said)
    if len(old.clauses) != 1 or len(new.clauses) != 1 or old.about != new.about:
        return False
    then, now = old.clauses[0], new.clauses[0]
    ended = (then.time, now.time) == ("present", "past") and then.negative == now.negative
    return ended and _same_words(old, new)


def believable(known: str, said: str, likeness: float | None = None) -> bool:
    """Whether a model's UPDATE of a ``known`` fact is about it at all.

    It is if both share a word that says more than "likes", give the same attribute a value, or have
    near vectors. What only was so once, or is only wished, replaces a present fact only if it
    speaks of all of it: "works at ACME", "used to work at ACME".
    """
    old, new = read_statement(known), read_statement(said)
    ours, theirs = ({word.meaning for word in strong(each.words)} for each in (old, new))
    if "present" in old.times and new.times and "present" not in new.times:
        return bool(ours) and ours <= theirs
    telling = {word.meaning for word in strong(old.words) if not word.figure} - _GENERIC
    if telling & theirs or (likeness is not None and likeness >= RELATED_LIKENESS):
        return True
    if not old.clauses or not new.clauses:
        return jaccard(known, said) > 0
    first, second = attribute(old), attribute(new)
    return first is not None and second is not None and first.key == second.key
