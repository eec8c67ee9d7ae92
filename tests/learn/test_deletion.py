"""Asking before deleting: what is asked, how answers are read, what may go then."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.deletion import (
    CHANGED_MEANWHILE,
    DECLINED,
    UNANSWERED,
    answered_deletions,
    deletion_question,
)
from adaptive.model import Memory, Operation
from tests.fakes import memory
from tests.rates import over


def memories(count: int) -> list[Memory]:
    """That many memories."""
    return [memory(f"m-{number}", f"User owns cat {number}.") for number in range(1, count + 1)]


def contents(rows: list[Memory]) -> dict[str, str]:
    """What a store says, by id."""
    return {one.id: one.content for one in rows}


def test_question() -> None:
    """The question names the memories in plain words, and how to answer."""
    title, message, hint = deletion_question(memories(2))
    assert (title, hint) == ("Delete memories?", "all, or 1 3")
    assert message.split("\n") == [
        "Your message would delete:",
        "",
        "1. User owns cat 1.",
        "2. User owns cat 2.",
        "",
        'Type "all" to delete all of it, or the numbers of what to delete, as "1 3". '
        "Anything else deletes nothing.",
    ]


def test_question_is_bounded() -> None:
    """At most ten memories are shown, each on one shortened line."""
    rows = [memory(f"m-{number}", "long\nwords " * 100) for number in range(30)]
    _, message, _ = deletion_question(rows)
    assert "10. long words" in message
    assert "11. " not in message
    assert "… and 20 more" in message
    assert len(message) < 2000


@dataclass(frozen=True)
class Case:
    """An answer to a question about some memories; which of them may go, or why none may."""

    id: str
    count: int
    answer: str | None
    chosen: tuple[int, ...] = ()
    reason: str = DECLINED


CASES = [
    Case("unanswered", 3, None, reason=UNANSWERED),
    Case("nothing typed", 3, " "),
    Case("all in capitals", 3, "ALL", (1, 2, 3)),
    Case("all of more than are shown", 12, "all", tuple(range(1, 13))),
    Case("some, in any order and twice", 3, "3,1, 3", (1, 3)),
    Case("not shown", 12, "11"),
]
NO_ANSWERS = ["yes", "no", "all but 2", "not all", "4", "0", "-1", "1 x", "1 plus 2?", "9" * 5000]
CASES += [Case(answer[:12], 3, answer) for answer in NO_ANSWERS]


@over("case", CASES)
def test_answer(case: Case) -> None:
    """What is wholly understood is allowed, and everything else stays, with its reason."""
    rows = memories(case.count)
    operations, outcomes = answered_deletions(rows, case.answer, contents(rows))
    assert operations == [Operation("DELETE", f"m-{one}") for one in case.chosen]
    kept = [one.content for number, one in enumerate(rows, 1) if number not in case.chosen]
    assert [one.content for one in outcomes] == kept
    assert {(one.status, one.reason) for one in outcomes} <= {("kept", case.reason)}


def test_store_changed_meanwhile() -> None:
    """A memory that says something else by now stays, and one that is gone is no matter."""
    rows = memories(3)
    now = {"m-1": rows[0].content, "m-2": "User owns a dog."}
    operations, [kept] = answered_deletions(rows, "all", now)
    assert operations == [Operation("DELETE", "m-1")]
    assert (kept.content, kept.reason) == ("User owns a dog.", CHANGED_MEANWHILE)


@given(st.text(max_size=300), st.integers(1, 15))
def test_any_answer(answer: str, count: int) -> None:
    """No text raises, and every memory is either allowed to go or has an outcome."""
    rows = memories(count)
    operations, outcomes = answered_deletions(rows, answer, contents(rows))
    assert len(operations) + len(outcomes) == count
