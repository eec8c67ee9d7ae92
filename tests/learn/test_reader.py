"""What a reader who played the model has answered, held against what the user had said."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from adaptive.learn.grounding import Source, grounding_refusal
from adaptive.learn.outdated import Change, read_outdated
from adaptive.model import Completion, Memory, Operation, Proof
from adaptive.settings import Settings
from adaptive.user_valves import UserValves
from adaptive.valves import Valves
from tests.learn.reader.lessons import LESSONS, ReadLesson, read_lessons

SETTINGS = Settings.merge(Valves(), UserValves())


def test_right_facts_pass() -> None:
    """Of the facts that were read in a message at most one in fifty is refused."""
    facts = [(one, operation) for one in read_lessons() for operation in _kept(one)]
    refused = [fact for fact in facts if _refusal(*fact)]
    _tell("refused", refused)
    assert len(facts) > 100
    assert len(refused) <= 0.02 * len(facts)


def test_swapped_replies_are_refused() -> None:
    """Of facts that were read in another user's message, evidence and all, next to none passes."""
    swapped = list(_swapped())
    passed = [fact for fact in swapped if not _refusal(*fact)]
    _tell("passed", passed)
    assert len(swapped) > 1000
    assert len(passed) <= 0.02 * len(swapped)


def test_swapped_replies_without_evidence_are_refused() -> None:
    """The same where the model quotes nothing: words of the message alone decide."""
    swapped = [(one, replace(operation, proof=Proof())) for one, operation in _swapped()]
    passed = [fact for fact in swapped if not _refusal(*fact)]
    _tell("passed", passed)
    assert len(passed) <= 0.03 * len(swapped)


def _kept(lesson: ReadLesson) -> list[Operation]:
    """The operations of a reply that it says are to be kept."""
    found = lesson.operations(SETTINGS)
    return [one for one in found if one.proof.kind in ("FACT", "STYLE", "")]


def _swapped() -> Iterator[tuple[ReadLesson, Operation]]:
    """Each message with the new facts of a message of each other user."""
    by_user: dict[str, list[ReadLesson]] = {}
    for lesson in read_lessons():
        by_user.setdefault(lesson.user, []).append(lesson)
    users = list(by_user)
    for at, user in enumerate(users):
        for step in range(1, len(users)):
            others = by_user[users[(at + step) % len(users)]]
            for place, lesson in enumerate(by_user[user]):
                for operation in _kept(others[place % len(others)]):
                    if operation.kind == "NEW":
                        yield lesson, operation


def _refusal(lesson: ReadLesson, operation: Operation) -> str:
    changed = lesson.memories.get(operation.id)
    return grounding_refusal(operation, Source.of(lesson.turn), changed, SETTINGS)


def _tell(what: str, facts: list[tuple[ReadLesson, Operation]]) -> None:
    for lesson, operation in facts:
        print(  # noqa: T201 - pytest shows it for tests that failed
            f"{what}: {operation.draft.content!r} {operation.proof} of {lesson.words[:200]!r}"
        )


def test_outdated_memories_are_taken() -> None:
    """What the reader said no longer holds is read, and believed of nearly all of it."""
    named = taken = 0
    for row in json.loads(LESSONS.with_name("outdated.json").read_text(encoding="utf-8")):
        changed, _, others = row["request"].partition("\n\n## Other memories\n")
        shown = [
            Memory(*one.removeprefix("- id=").split(" | ", 1), 0, 0) for one in others.split("\n")
        ]
        before = re.findall(r"- Before: (.*)\n  Now: (.*)", changed)
        changes = [Change(Memory("", one, 0, 0), after) for one, after in before]
        words = changed.rpartition("The user's words: ")[2]
        read = read_outdated(Completion(row["reply"]), changes, shown, words, date(2026, 11, 23))
        named += len(json.loads(row["reply"])["outdated"])
        taken += len(read)
    assert named > 10
    assert taken >= 0.95 * named
