"""Whether what a model takes for a fact about the user is what the user said of themselves.

Three mistakes of small models are told from the message alone: somebody else's fact under the
user's name ("my sister is allergic to nuts"), a statement turned around ("I don't like jazz"), and
something that was only imagined. Refused is only what the message speaks against in the same words;
what it says in other words, or not at all, is left to the model.
"""

# ruff: noqa: RUF001 - the words are in several scripts

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from adaptive.learn.imagination import imagined_parts
from adaptive.learn.statement import (
    WEAK,
    Clause,
    Statement,
    Word,
    meanings_said,
    read_statement,
    strong,
)
from adaptive.learn.worth import has_first_person
from adaptive.search.meanings import people
from adaptive.text_cache import text_cache

_TESTIMONY_TEXT = 4000
_TESTIMONY_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
# "No, I like it": an answer to what was said before, no negation.
_ANSWERING = re.compile(
    r"\W{0,9}(?:(?:no|nope|not really|nein|nee|non|não|нет|yes|yeah|sure|ja|oui|si|sí|sim|да|不是?"
    r"|嗯|是的?|いいえ|はい)\s{0,3}[,.!:;—，。！、]{1,3}\s{0,3}){1,4}",
    re.IGNORECASE,
)
# Then what is said of another may hold for the user too.
_SHARED = re.compile(
    r"\b(?:we|us|our|ours|both|together|me too|so (?:do|am|have|did|was|will|can) i|as (?:do|am) i"
    r"|neither (?:do|am) i|same here|like me|and (?:i|me|myself)|(?:i|me) and|myself|wir|uns"
    r"|unser\w*|beide|zusammen|ich auch|auch ich|genau wie ich|und ich|ich und|nous|notre|nos"
    r"|ensemble|moi aussi|comme moi|et moi|nosotr[oa]s|nuestr[oa]s?|junt[oa]s|yo también"
    r"|como yo|y yo|nós|noss[oa]s?|eu também|como eu|e eu|noi|nostr[oaie]|insieme|anch'io|come me"
    r"|e io|мы|нас|нам|наш\w*|вместе|я тоже|как и я|и я)\b"
    "|我[们們也和跟与與]|咱|[和跟与與]我|一起|私も|僕も|一緒",
    re.IGNORECASE,
)
# "My mother says I have a fever" is about the user.
_OF_THE_SPEAKER = re.compile(
    r"\b(?:i|i'm|i've|im|me|myself|ich|mich|mir|je|j'\w+|moi|me|m'\w+|yo|mí|eu|mim|io|я|меня|мне|мной)"
    r"\b|.我|私[はがも]",
    re.IGNORECASE,
)
# Who speaks of their team or family speaks of themselves as well.
_WITH_THE_USER = frozenset(("team", "family", "parent"))
# By these a name is known to be a subject: "Tom lives in Berlin".
_SUBJECT_VERBS_TEXT = (
    "be have live moved work like prefer want eat drink play speak learn study drive use"
)
_SUBJECT_VERBS = frozenset((*_SUBJECT_VERBS_TEXT.split(), "smoke", "teach", "bought"))
# Those that models put in and leave out; what is felt or wanted must have been said.
_DOING_VERBS = _SUBJECT_VERBS - {"like", "prefer", "want", "smoke", "teach", "bought"}
_SUBJECT_PREPS = frozenset(("", "ma"))  # French "ma sœur", which Italian reads as "but"
_LEAST_CONTAINED = 2


class _Testimony(NamedTuple):
    """Clauses of a message: ``own`` of the user or nobody in particular, ``others`` of others."""

    own: tuple[Clause, ...]
    others: tuple[Clause, ...]


def is_of_somebody_else(content: str, typed: str) -> bool:
    """Whether a fact about the user is one that the message tells of somebody else only."""
    fact = read_statement(content)
    if fact.about != "user" or not fact.clauses or _SHARED.search(typed):
        return False
    said = _testimony(typed)
    return bool(said.others) and all(_only_of_others(clause, said) for clause in fact.clauses)


def is_turned_around(content: str, typed: str) -> bool:
    """Whether the message says the opposite of a fact about the user, in the same words."""
    fact = read_statement(content)
    if fact.about != "user" or len(fact.clauses) != 1 or fact.clauses[0].time != "present":
        return False
    clause = fact.clauses[0]
    words = _keys(clause.words)
    if not words or (len(words) == 1 and _verbs(clause.words)):
        return False
    own = [one for one in _testimony(typed).own if one.time == "present"]
    if any(one.negative == clause.negative and words <= _keys(one.words) for one in own):
        return False
    return any(
        one.negative != clause.negative
        and (words == _keys(one.words) or (clause.negative and words <= _keys(one.words)))
        and not one.also
        for one in own
    )


def is_told_in(content: str, text: str) -> bool:
    """Whether a text that somebody wrote of themselves says all of a fact, in the same words."""
    clauses = read_statement(content).clauses
    own = _testimony(text).own
    return bool(clauses) and all(
        any(one.negative == clause.negative and words <= _keys(one.words) for one in own)
        if (words := _keys(clause.words))
        else False
        for clause in clauses
    )


def is_borne_out(content: str, typed: str) -> bool:
    """Whether every word of a fact about the user, by its meaning, stands in what they typed.

    Only a verb of doing may be another one: "I'm a nurse" bears out that the user works as one. No
    question bears anything out. Unlike the rules above, this one refuses where it is not sure: it
    is for facts of a model that was shown more than the user's words.
    """
    fact = read_statement(content)
    if fact.about == "other" or not has_first_person(typed):
        return False
    said = (_stated(sentence) for sentence in _TESTIMONY_END.split(typed[:_TESTIMONY_TEXT]))
    return adds_nothing_to(content, *said)


def adds_nothing_to(content: str, *texts: str) -> bool:
    """Whether texts have all words of a fact by their meanings, but for a verb of doing."""
    telling = meanings_said(content) - _DOING_VERBS
    return bool(telling) and telling <= frozenset[str]().union(*map(meanings_said, texts))


def is_imagined(content: str, typed: str) -> bool:
    """Whether the words of a fact stand in what the message imagines, and one of them only there.

    A wish, or what may come, may be told of what is imagined.
    """
    parts = imagined_parts(typed)
    if not parts.imagined:
        return False
    times = read_statement(content).times
    if times and "present" not in times:
        return False
    telling = meanings_said(content)
    imagined, meant = meanings_said(parts.imagined), meanings_said(parts.meant)
    said = telling & (imagined | meant)
    only_there = said - meant - _SUBJECT_VERBS
    return bool(only_there) and said <= imagined and 2 * len(said) > len(telling)


def _only_of_others(clause: Clause, said: _Testimony) -> bool:
    words = _keys(clause.words)
    if not words or any(words <= _keys(one.words) for one in said.own):
        return False
    return any(
        one.negative == clause.negative
        and (
            words == _keys(one.words)
            or (len(words) >= _LEAST_CONTAINED and words <= _keys(one.words))
        )
        for one in said.others
    )


@text_cache(64)
def _testimony(typed: str) -> _Testimony:
    own: list[Clause] = []
    others: list[Clause] = []
    for sentence in _TESTIMONY_END.split(typed[:_TESTIMONY_TEXT]):
        answer = _ANSWERING.match(sentence)
        said = sentence[answer.end() if answer else 0 :].strip()
        stated = _stated(said)
        asked, said = stated != said, stated
        statement = read_statement(said)
        mixed = statement.about != "user" and _OF_THE_SPEAKER.search(said)
        for clause, foreign in _clauses_told(statement):
            if foreign and not mixed:
                others.append(clause)
            elif not asked:
                own.append(clause)
    return _Testimony(tuple(own), tuple(others))


def _stated(sentence: str) -> str:
    """A sentence without what it asks: "My boss drives a Tesla, can you believe it?"."""
    asked = sentence.rstrip(" )\"'”").endswith(("?", "？"))
    return sentence.rpartition(",")[0] if asked else sentence


def _clauses_told(statement: Statement) -> Iterator[tuple[Clause, bool]]:
    """Each clause, without who is its subject, and whether that is somebody else."""
    others = False  # whom the sentence is about
    for number, clause in enumerate(statement.clauses):
        size = _subject_size(clause)
        if size:
            others = True
            yield _clause_after(clause, size), True
        elif number and clause.foreign:
            # "and I ...", or "who ..." behind a person.
            yield (
                clause,
                statement.about == "user" and _ends_with_person(statement.clauses[number - 1]),
            )
        elif not number and statement.about == "other" and clause.foreign:
            others = True  # "She works at ..."
            yield clause, True
        else:
            yield clause, others and not clause.foreign


def _clause_after(clause: Clause, size: int) -> Clause:
    """A clause without its first words."""
    return Clause(clause.words[size:], clause.negative, clause.time, clause.foreign, clause.also)


def _subject_size(clause: Clause) -> int:
    """How many words at the beginning of a clause name another person as its subject."""
    words = clause.words
    if not words or words[0].prep not in _SUBJECT_PREPS:
        return 0
    if words[0].meaning in people() and words[0].meaning not in _WITH_THE_USER:
        size = 1
        while size < len(words) and (words[size].name or words[size].meaning in people()):
            if words[size].prep:
                break
            size += 1
        return size if size < len(words) else 0
    size = 0
    while size < len(words) and words[size].name and not words[size].prep:
        size += 1
    return size if 0 < size < len(words) and words[size].meaning in _SUBJECT_VERBS else 0


def _ends_with_person(clause: Clause) -> bool:
    last = clause.words[-1]
    return last.meaning in people() or last.name


def _keys(words: tuple[Word, ...]) -> frozenset[str]:
    return frozenset(word.key for word in strong(words))


def _verbs(words: tuple[Word, ...]) -> bool:
    return all(
        word.meaning in _SUBJECT_VERBS and word.meaning not in WEAK for word in strong(words)
    )
