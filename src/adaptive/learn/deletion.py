"""Asking before memories are deleted, and reading what the user answers.

Words have to be typed: in the page the Enter key confirms a plain question, and whoever is typing
the next message when it opens would delete by it.
"""

# ruff: noqa: RUF001 - the words and marks are in several scripts

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from adaptive.model import Memory, Operation, Outcome
from adaptive.plain_markdown import clipped_line
from adaptive.ports import Dialog

DeletionCause = Literal["many", "forget"]

_MOST_SHOWN = 10
_LONGEST_SHOWN = 120
_LONGEST_ANSWER = 200
_MOST_DIGITS = 2
_ALL_WORDS = frozenset(
    ["all", "alle", "alles", "tout", "tous", "todo", "todos", "tudo", "tutto", "tutti"]
).union(["все", "всё", "全部", "すべて"])
_YES_WORDS = frozenset(["yes", "ok", "delete", "ja", "oui", "si", "sí", "sim", "да", "はい", "是"])
_BETWEEN_NUMBERS = frozenset(["and", "und", "et", "y", "e", "и"])


# Where nobody can be asked.
NOT_CONFIRMED: Mapping[DeletionCause, str] = {
    "many": "so many at once are not deleted; say which, one by one",
    "forget": "no model confirmed it; delete it under Settings > Personalization",
}
UNANSWERED = "the question was not answered"
DECLINED = "you did not confirm it"
NOT_UNDERSTOOD = "the answer was not understood"
NOT_CHOSEN = "as you chose"
CHANGED_MEANWHILE = "it changed while you were asked"


@dataclass(frozen=True, slots=True)
class DeletionQuestion:
    """What to ask: plain text; ``memories`` are all that it is about, the shown ones first."""

    title: str
    message: str
    hint: str
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class AnsweredDeletions:
    """The deletions that the user allowed, and the outcomes of the others."""

    operations: tuple[Operation, ...]
    outcomes: tuple[Outcome, ...]


def deletion_question(memories: Sequence[Memory], cause: DeletionCause) -> DeletionQuestion:
    """What to ask about deletions: ``many`` of one turn, or those that match a ``forget`` command.

    At most ten memories are shown, each shortened to one line.
    """
    count = len(memories)
    some = "this memory" if count == 1 else f"these {count} memories"
    why = {
        "many": f"Your message would delete {some}:",
        "forget": f"You asked to forget something, and {some} may be meant:",
    }[cause]
    shown = [
        f"{number}. {clipped_line(memory.content, _LONGEST_SHOWN)}"
        for number, memory in enumerate(memories[:_MOST_SHOWN], 1)
    ]
    if count > _MOST_SHOWN:
        shown.append(f"… and {count - _MOST_SHOWN} more")
    everything = "it" if count == 1 else f"all {count}"
    how = (
        f'Type "all" to delete {everything}'
        + ("" if count == 1 else ', or the numbers of those to delete, as "1 3"')
        + ". Anything else deletes nothing."
    )
    title = "Delete this memory?" if count == 1 else f"Delete {count} memories?"
    hint = "all" if count == 1 else "all, or 1 3"
    return DeletionQuestion(title, "\n\n".join([why, "\n".join(shown), how]), hint, tuple(memories))


def answered_deletions(
    question: DeletionQuestion, answer: str | None, current: Mapping[str, Memory]
) -> AnsweredDeletions:
    """Which deletions an answer allows; ``None`` is no answer.

    ``current`` are the memories as they stand now, by id: only what still says what was asked
    about may go. Nothing is deleted on an answer that is not wholly understood.
    """
    chosen = _chosen(question, answer)
    if isinstance(chosen, str):
        return AnsweredDeletions((), _kept(question.memories, chosen))
    allowed: list[Operation] = []
    changed: list[Memory] = []
    for place in sorted(chosen):
        memory = question.memories[place]
        now = current.get(memory.id)
        if now is not None and now.content == memory.content:
            allowed.append(Operation("DELETE", memory.id))
        elif now is not None:
            changed.append(now)
    others = [one for place, one in enumerate(question.memories) if place not in chosen]
    outcomes = (*_kept(changed, CHANGED_MEANWHILE), *_kept(others, NOT_CHOSEN))
    return AnsweredDeletions(tuple(allowed), outcomes)


async def ask_deletions(
    dialog: Dialog, memories: Sequence[Memory], cause: DeletionCause
) -> tuple[DeletionQuestion, str | None]:
    """Ask, and return what was asked and answered, for ``answered_deletions``.

    The store may change meanwhile: nothing may be locked while this waits, and the memories are
    to be read again after it.
    """
    question = deletion_question(memories, cause)
    if not memories:
        return question, None
    return question, await dialog.ask(question.title, question.message, question.hint)


def _chosen(question: DeletionQuestion, answer: str | None) -> frozenset[int] | str:
    """Places of the chosen memories, or the reason why none is."""
    if answer is None:
        return UNANSWERED
    words = [one for one in _answer_marks()[0].split(answer[:_LONGEST_ANSWER].casefold()) if one]
    words = [one.strip("\"'“”«».!。") for one in words]
    if not any(words):
        return DECLINED
    count = len(question.memories)
    if words[0] in _ALL_WORDS or (count == 1 and words[0] in _YES_WORDS):
        return frozenset(range(count)) if len(words) == 1 else NOT_UNDERSTOOD
    places: set[int] = set()
    for word in words:
        if word in _BETWEEN_NUMBERS:
            continue
        numbers = _numbers(word)
        if not numbers or numbers[0] < 1 or numbers[-1] > min(count, _MOST_SHOWN):
            return NOT_UNDERSTOOD
        places |= {number - 1 for number in numbers}
    return frozenset(places) if places else NOT_UNDERSTOOD


@functools.cache
def _answer_marks() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What stands between numbers, and a range of them."""
    return re.compile(r"[\s,;、，&+]+"), re.compile(r"(\d{1,2})[-–](\d{1,2})")


def _numbers(word: str) -> range:
    """The number that a word is, or those of a range as "2-4"; none where it is neither."""
    if span := _answer_marks()[1].fullmatch(word):
        return range(int(span[1]), int(span[2]) + 1)
    if word.isdecimal() and len(word) <= _MOST_DIGITS:
        return range(int(word), int(word) + 1)
    return range(0)


def _kept(memories: Sequence[Memory], reason: str) -> tuple[Outcome, ...]:
    """An outcome for each memory that stays; of many, one for all that are not named."""
    named = tuple(Outcome("kept", one.content, reason) for one in memories[:_MOST_SHOWN])
    if (more := len(memories) - _MOST_SHOWN) > 0:
        return (*named, Outcome("kept", "", f"{more} more: {reason}"))
    return named
