"""What a reader who played the model has answered, held against what the user had said.

As it was answered, and as a careless model would have: what is lost then, and what slips in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest

from adaptive.core.model import Draft, Memory, Proposal
from adaptive.core.providers import Completion
from adaptive.learn.grounding import grounding_refusal
from adaptive.learn.outdated import read_outdated
from adaptive.learn.proposals import ExtractionSource, read_proposals
from adaptive.learn.support import Source
from tests.fakes import hook_settings
from tests.learn.reader.lessons import LESSONS, ReadLesson, read_lessons
from tests.rates import rate

SETTINGS = hook_settings()
Item = dict[str, Any]
Fact = tuple[ReadLesson, Item]
STRUCTURE = ("operation", "id", "content")
WRONG_KINDS = {"FACT": "STYLE", "STYLE": "FACT"}
FOREIGN = "je l'ai dit à ma voisine hier soir"


def items_of(lesson: ReadLesson) -> list[Item]:
    """The operations of a reply as they were written, as far as they are to be kept."""
    items: list[Item] = json.loads(lesson.reply)["operations"]
    return [
        one for one in items if one.get("kind", "FACT") in ("FACT", "STYLE")
    ]


def right_facts() -> list[Fact]:
    """Each message with what was read in it."""
    return [
        (lesson, item)
        for lesson in read_lessons()
        for item in items_of(lesson)
    ]


def strange_facts() -> Iterator[Fact]:
    """Each message with the new facts that were read in a message of each other user."""
    by_user: dict[str, list[ReadLesson]] = {}
    for lesson in read_lessons():
        by_user.setdefault(lesson.user, []).append(lesson)
    for user, lessons in by_user.items():
        for others in (by_user[one] for one in by_user if one != user):
            for place, lesson in enumerate(lessons):
                for item in items_of(others[place % len(others)]):
                    if item["operation"] == "NEW":
                        yield lesson, item


def passes(lesson: ReadLesson, item: Item) -> bool:
    """Whether an item of a reply is read and grounded."""
    reply = json.dumps({"operations": [item]})
    offered = tuple(lesson.memories.values())
    found = read_proposals(
        Completion(reply), ExtractionSource((), offered), SETTINGS
    )
    return any(
        not grounding_refusal(
            one,
            Source.of(lesson.turn, lesson.memories.values()),
            SETTINGS,
        )
        for one in found
        if one.is_open
    )


@dataclass(frozen=True)
class Damage:
    """What a careless model does to an item, and the shares that must be kept and kept out."""

    id: str
    damaged: Callable[[Item], Item]
    kept: float
    kept_out: float


DAMAGES = [
    # Two of 182 are refused: "spark here" does not say "electrician" in any word, nor "grandson"
    # that he goes to school. One more may go.
    Damage("as it was answered", dict, 0.983, 0.995),
    Damage(
        "evidence is the sentence",
        lambda one: {**one, "evidence": one["content"]},
        0.9,
        0.98,
    ),
    Damage(
        "evidence in another language",
        lambda one: {**one, "evidence": FOREIGN},
        0.9,
        0.98,
    ),
    Damage(
        "no field but what is to be done",
        lambda one: {
            name: value for name, value in one.items() if name in STRUCTURE
        },
        0.9,
        0.98,
    ),
    Damage(
        "wrong kind",
        lambda one: {**one, "kind": WRONG_KINDS[one["kind"]]},
        0.983,
        0.995,
    ),
    Damage(
        "imagined, it says", lambda one: {**one, "kind": "IMAGINED"}, 0.0, 1.0
    ),
]


@pytest.mark.parametrize("case", DAMAGES, ids=lambda case: case.id)
def test_damaged_replies(case: Damage) -> None:
    """Most right facts survive what a model leaves out or makes up; next to no stranger's does."""
    rate(
        right_facts(), lambda fact: passes(fact[0], case.damaged(fact[1]))
    ).at_least(case.kept)
    strange = rate(
        strange_facts(),
        lambda fact: not passes(fact[0], case.damaged(fact[1])),
    )
    strange.at_least(case.kept_out)


def test_merged_facts() -> None:
    """Two facts of one message in one sentence survive by the evidence of one of them."""
    pairs = [
        (
            lesson,
            {
                **first,
                "content": f"{first['content'].rstrip('.')} and {second['content']}",
            },
        )
        for lesson in read_lessons()
        for first, second in zip(
            items_of(lesson), items_of(lesson)[1:], strict=False
        )
    ]
    rate(pairs, lambda fact: passes(*fact)).at_least(0.975)


def test_outdated_memories_are_taken() -> None:
    """What the reader said no longer holds is read, and believed of nearly all of it."""
    named = taken = 0
    for row in json.loads(
        LESSONS.with_name("outdated.json").read_text(encoding="utf-8")
    ):
        changed, _, others = row["request"].partition(
            "\n\n## Other memories\n"
        )
        lines = (
            one.removeprefix("- id=").split(" | ", 1)
            for one in others.split("\n")
        )
        shown = [Memory(id, content, 0, 0) for id, content in lines]
        before = re.findall(r"- Before: (.*)\n  Now: (.*)", changed)
        changes = [
            Proposal("UPDATE", draft=Draft(after), before=one)
            for one, after in before
        ]
        words = changed.rpartition("The user's words: ")[2]
        read = read_outdated(
            Completion(row["reply"]), changes, shown, words, date(2026, 11, 23)
        )
        named += len(json.loads(row["reply"])["outdated"])
        taken += len(read)
    assert named > 10
    assert taken >= 0.95 * named
