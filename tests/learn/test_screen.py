"""Which proposed changes may be written, and why the others may not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from adaptive.learn.screen import comparable, screened
from adaptive.model import Draft, Operation, OutcomeStatus
from tests.fakes import hook_settings, memory

TEA = memory("m-1", "User likes tea.")
DOG = memory("m-2", "User's dog is called Biscuit.")


def new(content: str, **fields: Any) -> Operation:
    """A proposed new fact."""
    return Operation("NEW", "", Draft(content, **fields))


def update(id: str, content: str) -> Operation:
    """A proposed change."""
    return Operation("UPDATE", id, Draft(content))


def delete(id: str) -> Operation:
    """A proposed removal."""
    return Operation("DELETE", id)


@dataclass(frozen=True)
class Case:
    """Operations where tea and dog are known, and for each its verdict, empty for accepted."""

    id: str
    operations: list[Operation]
    verdicts: list[tuple[OutcomeStatus, str] | None]
    valves: dict[str, Any] = field(default_factory=dict)


KNOWN = ("unchanged", "already known")
SAME = ("unchanged", "it already says so")
SHORT = ("rejected", "shorter than 8 characters")
HATES = update("m-1", "User hates tea.")

CASES = [
    Case("nothing", [], []),
    Case(
        "all kinds",
        [new("User lives here."), HATES, delete("m-2")],
        [None] * 3,
    ),
    Case("known", [new("User likes tea.")], [KNOWN]),
    Case("known in other letters", [new("USER  likes\ntea")], [KNOWN]),
    Case("twice in the reply", [new("User has a cat."), new("user has a cat")], [None, KNOWN]),
    Case(
        "update says the same",
        [update("m-1", "User likes tea")],
        [SAME],
    ),
    Case("update becomes another's", [update("m-1", DOG.content)], [KNOWN]),
    Case(
        "update, then the same as new",
        [HATES, new("User hates tea.")],
        [None, KNOWN],
    ),
    Case(
        "same memory twice",
        [HATES, delete("m-1")],
        [None, ("rejected", "the model changed the same memory twice")],
    ),
    Case("deleted and said anew", [delete("m-1"), new("User likes tea.")], [None, None]),
    Case("said anew and deleted", [new("User likes tea."), delete("m-1")], [None, None]),
    Case("another one deleted", [delete("m-2"), new("User likes tea.")], [None, KNOWN]),
    Case("too short", [new("Tea!")], [SHORT]),
    Case("short enough", [new("喜欢茶")], [None], {"min_memory_length": 3}),
    Case(
        "not sure",
        [new("User may move.", confidence=0.4)],
        [("rejected", "the model is not sure (0.40)")],
    ),
    Case("just sure enough", [new("User may move.", confidence=0.5)], [None]),
    Case(
        "category is off",
        [new("User wants to run.", tags=("goal",))],
        [("rejected", "goal is not to be remembered")],
        {"enable_goal_memory": False},
    ),
    Case(
        "one of its categories is on",
        [new("User wants to run.", tags=("goal", "behavior"))],
        [None],
        {"enable_goal_memory": False},
    ),
    Case("no category", [new("User wants to run.")], [None], {"enable_goal_memory": False}),
    Case(
        "refused fact is not held",
        [new("Tea!"), new("Tea!")],
        [("rejected", "shorter than 8 characters")] * 2,
    ),
    Case("deletion is never doubted", [delete("m-1")], [None], {"min_memory_length": 200}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_screened(case: Case) -> None:
    """Each operation is accepted, or has an outcome with its reason; the order stays."""
    accepted, outcomes = screened(case.operations, [TEA, DOG], hook_settings(**case.valves))
    pairs = list(zip(case.operations, case.verdicts, strict=True))
    assert accepted == [operation for operation, verdict in pairs if verdict is None]
    assert [(one.status, one.content, one.reason) for one in outcomes] == [
        (verdict[0], operation.draft.content, verdict[1])
        for operation, verdict in pairs
        if verdict is not None
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("User likes tea.", " user  LIKES\ntea", True),
        ("Straße", "STRASSE", True),
        ("用户喜欢茶。", "用户喜欢茶", True),
        ("User likes tea", "User likes teas", False),
        ("User likes C", "User likes C++", False),
    ],
)
def test_comparable(one: str, other: str, same: bool) -> None:
    """Case, spaces and the final stop do not count, every other character does."""
    assert (comparable(one) == comparable(other)) is same
