"""Whether a change speaks of the memory that it names: models copy numbers and ids badly."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from adaptive.core.model import Memory, Operation
from adaptive.learn.support import beginning, telling_words
from adaptive.learn.words import UNSPACED

_LEAST_SHARED = 0.3  # of the telling words of the shorter of the two
_LEAST_LETTERS = 2
_LONGEST_ENDING = 2
_SAME_LETTERS = 5  # of words that differ more in length


def readdressed(operation: Operation, memory: Memory | None) -> Operation:
    """An update, or a new fact where it has too little in common with the memory that it names.

    Nothing is overwritten on doubt. Where the memory said the same in another language, both
    stand until it is checked what no longer holds.
    """
    if operation.kind != "UPDATE" or memory is None:
        return operation
    draft = operation.draft
    ours, theirs = subjects(draft.content), subjects(memory.content)
    if len(ours & theirs) >= _LEAST_SHARED * max(1, min(len(ours), len(theirs))):
        return operation
    until = "" if draft.until == memory.until else draft.until
    return replace(operation, kind="NEW", id="", draft=replace(draft, until=until))


def is_named(memory: Memory, said: str) -> bool:
    """Whether words that were said have something in common with a memory."""
    lengths: dict[str, set[int]] = {}
    for own in _subject_words(memory.content):
        lengths.setdefault(beginning(own), set()).add(len(own))
    firsts = {own[:_SAME_LETTERS] for own in _subject_words(memory.content)}
    return any(_is_form(word, lengths, firsts) for word in telling_words(said))


def _is_form(word: str, lengths: Mapping[str, Set[int]], firsts: Set[str]) -> bool:
    """Whether a word may be a form of another one: "work" is no form of "workout".

    The others are given by their lengths behind how they begin, and by their first letters.
    """
    alike = lengths.get(beginning(word), frozenset())
    return (
        any(abs(len(word) - length) <= _LONGEST_ENDING for length in alike)
        or word[:_SAME_LETTERS] in firsts
    )


def subjects(sentence: str) -> frozenset[str]:
    """How the words begin by which a sentence tells what it speaks of."""
    return frozenset(map(beginning, _subject_words(sentence)))


def _subject_words(sentence: str) -> list[str]:
    """The telling words of a sentence but the first word, which is the user, and numbers."""
    first = sentence.split(maxsplit=1)[:1]
    is_spaced = first and not UNSPACED.search(first[0])
    user = set(map(beginning, telling_words(first[0]))) if is_spaced else set[str]()
    return [
        word
        for word in telling_words(sentence)
        if len(word) >= _LEAST_LETTERS and not word.isdecimal() and beginning(word) not in user
    ]
