"""Asking before deleting: what is asked, how answers are read, what may go then."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.deletion import (
    CHANGED_MEANWHILE,
    DECLINED,
    NOT_CHOSEN,
    NOT_UNDERSTOOD,
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


def by_id(*rows: Memory) -> dict[str, Memory]:
    """A store by id."""
    return {one.id: one for one in rows}


def test_question_of_many() -> None:
    """The question names the memories in plain words, and how to answer."""
    title, message, hint = deletion_question(memories(4))
    assert title == "Delete 4 memories?"
    assert message.split("\n") == [
        "Your message would delete these 4 memories:",
        "",
        "1. User owns cat 1.",
        "2. User owns cat 2.",
        "3. User owns cat 3.",
        "4. User owns cat 4.",
        "",
        'Type "all" to delete all 4, or the numbers of those to delete, as "1 3". '
        "Anything else deletes nothing.",
    ]
    assert hint == "all, or 1 3"


def test_question_of_one() -> None:
    """A single memory is asked about in the singular."""
    title, message, hint = deletion_question(memories(1))
    assert title == "Delete this memory?"
    assert "Your message would delete this memory:" in message
    assert 'Type "all" to delete it. Anything else deletes nothing.' in message
    assert hint == "all"


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
    reason: str = NOT_CHOSEN


CASES = [
    Case("unanswered", 3, None, reason=UNANSWERED),
    Case("only marks", 3, " . ", reason=DECLINED),
    Case("all in capitals with a mark", 3, "ALL.", (1, 2, 3)),
    Case("all in another language", 3, "Alle", (1, 2, 3)),
    Case("all of more than are shown", 12, "all", tuple(range(1, 13))),
    Case("some, in any order and twice", 3, "3,1, 3 and 1", (1, 3)),
    Case("range", 4, "2-4", (2, 3, 4)),
    Case("other digits", 3, "２", (2,)),
    Case("yes to one", 1, "yes", (1,)),
]
NO_ANSWERS = ["yes", "no", "all but 2", "not all", "4", "0", "-1", "3-1", "1 3-1", "2-9", "1 x"]
NO_ANSWERS += ["What is 1 plus 2?", "9" * 5000, "and", "1-99999999"]
CASES += [Case(answer[:12], 3, answer, reason=NOT_UNDERSTOOD) for answer in NO_ANSWERS]
CASES += [Case("not shown", 12, "11", reason=NOT_UNDERSTOOD)]


@over("case", CASES)
def test_answer(case: Case) -> None:
    """What is wholly understood is allowed, and everything else stays, with its reason."""
    rows = memories(case.count)
    operations, outcomes = answered_deletions(rows, case.answer, by_id(*rows))
    assert operations == [Operation("DELETE", f"m-{one}") for one in case.chosen]
    kept = [outcome.content for outcome in outcomes]
    expected = [one for number, one in enumerate(rows, 1) if number not in case.chosen]
    assert kept[:10] == [one.content for one in expected[:10]]
    assert all(case.reason in outcome.reason for outcome in outcomes)
    assert {outcome.status for outcome in outcomes} <= {"kept"}


def test_many_kept_are_counted() -> None:
    """Of many that stay ten are named, and the others counted."""
    rows = memories(30)
    _, outcomes = answered_deletions(rows, None, by_id(*rows))
    assert len(outcomes) == 11
    assert outcomes[-1].reason == f"20 more: {UNANSWERED}"


def test_store_changed_meanwhile() -> None:
    """A memory that says something else by now stays, and one that is gone is no matter."""
    one, two, three = memories(3)
    now = by_id(one, replace(two, content="User owns a dog."))
    operations, [kept] = answered_deletions([one, two, three], "all", now)
    assert operations == [Operation("DELETE", one.id)]
    assert (kept.content, kept.reason) == ("User owns a dog.", CHANGED_MEANWHILE)


@given(st.text(max_size=300), st.integers(1, 15))
def test_any_answer(answer: str, count: int) -> None:
    """No text raises, and every memory is either allowed to go or has an outcome."""
    rows = memories(count)
    operations, outcomes = answered_deletions(rows, answer, by_id(*rows))
    assert {one.id for one in operations} <= {one.id for one in rows}
    assert len(operations) + len(outcomes) == count or count > 10
