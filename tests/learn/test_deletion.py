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
    ask_deletions,
    deletion_question,
)
from adaptive.model import Memory, Operation
from adaptive.ports import Consent
from tests.fakes import memory
from tests.rates import over


def memories(count: int) -> list[Memory]:
    """That many memories."""
    return [memory(f"m-{number}", f"User owns cat {number}.") for number in range(1, count + 1)]


def by_id(*rows: Memory) -> dict[str, Memory]:
    """A store by id."""
    return {one.id: one for one in rows}


class User:
    """A ``Dialog`` with one answer."""

    def __init__(self, answer: str | None) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self._answer = answer

    async def confirm(self, title: str, message: str) -> Consent:
        """Never asked here."""
        raise AssertionError(title + message)

    async def ask(self, title: str, message: str, hint: str) -> str | None:
        """Give the answer."""
        self.asked.append((title, message, hint))
        return self._answer


def test_question_of_many() -> None:
    """The question names the memories in plain words, and how to answer."""
    question = deletion_question(memories(4), "many")
    assert question.title == "Delete 4 memories?"
    assert question.message.split("\n") == [
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
    assert question.hint == "all, or 1 3"


def test_question_of_one() -> None:
    """A single memory is asked about in the singular."""
    question = deletion_question(memories(1), "forget")
    assert question.title == "Delete this memory?"
    assert "You asked to forget something, and this memory may be meant:" in question.message
    assert 'Type "all" to delete it. Anything else deletes nothing.' in question.message
    assert question.hint == "all"


def test_question_is_bounded() -> None:
    """At most ten memories are shown, each on one shortened line."""
    rows = [memory(f"m-{number}", "long\nwords " * 100) for number in range(30)]
    message = deletion_question(rows, "many").message
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
    Case("declined", 3, "", reason=DECLINED),
    Case("only marks", 3, " . ", reason=DECLINED),
    Case("all", 3, "all", (1, 2, 3)),
    Case("all in capitals with a mark", 3, "ALL.", (1, 2, 3)),
    Case("all in another language", 3, "Alle", (1, 2, 3)),
    Case("all of more than are shown", 12, "all", tuple(range(1, 13))),
    Case("one", 3, "2", (2,)),
    Case("some", 3, "1 3", (1, 3)),
    Case("with commas", 3, "3,1, 2", (1, 2, 3)),
    Case("with and", 3, "1 and 3", (1, 3)),
    Case("twice", 3, "1 1", (1,)),
    Case("range", 4, "2-4", (2, 3, 4)),
    Case("other digits", 3, "２", (2,)),
    Case("yes to one", 1, "yes", (1,)),
    Case("yes to several", 3, "yes", reason=NOT_UNDERSTOOD),
    Case("no", 3, "no", reason=NOT_UNDERSTOOD),
    Case("all but", 3, "all but 2", reason=NOT_UNDERSTOOD),
    Case("not all", 3, "not all", reason=NOT_UNDERSTOOD),
    Case("too high", 3, "4", reason=NOT_UNDERSTOOD),
    Case("not shown", 12, "11", reason=NOT_UNDERSTOOD),
    Case("zero", 3, "0", reason=NOT_UNDERSTOOD),
    Case("negative", 3, "-1", reason=NOT_UNDERSTOOD),
    Case("backwards", 3, "3-1", reason=NOT_UNDERSTOOD),
    Case("range too far", 3, "2-9", reason=NOT_UNDERSTOOD),
    Case("one is wrong", 3, "1 x", reason=NOT_UNDERSTOOD),
    Case("the next message", 3, "What is 1 plus 2?", reason=NOT_UNDERSTOOD),
    Case("huge", 3, "9" * 5000, reason=NOT_UNDERSTOOD),
    Case("only and", 3, "and", reason=NOT_UNDERSTOOD),
]


@over("case", CASES)
def test_answer(case: Case) -> None:
    """What is wholly understood is allowed, and everything else stays, with its reason."""
    rows = memories(case.count)
    found = answered_deletions(deletion_question(rows, "many"), case.answer, by_id(*rows))
    assert found.operations == tuple(Operation("DELETE", f"m-{one}") for one in case.chosen)
    kept = [outcome.content for outcome in found.outcomes]
    expected = [one for number, one in enumerate(rows, 1) if number not in case.chosen]
    assert kept[:10] == [one.content for one in expected[:10]]
    assert all(case.reason in outcome.reason for outcome in found.outcomes)
    assert {outcome.status for outcome in found.outcomes} <= {"kept"}


def test_many_kept_are_counted() -> None:
    """Of many that stay ten are named, and the others counted."""
    rows = memories(30)
    found = answered_deletions(deletion_question(rows, "many"), None, by_id(*rows))
    assert len(found.outcomes) == 11
    assert found.outcomes[-1].reason == f"20 more: {UNANSWERED}"


def test_store_changed_meanwhile() -> None:
    """A memory that says something else by now stays, and one that is gone is no matter."""
    one, two, three = memories(3)
    now = by_id(one, replace(two, content="User owns a dog."))
    found = answered_deletions(deletion_question([one, two, three], "many"), "all", now)
    assert found.operations == (Operation("DELETE", one.id),)
    [kept] = found.outcomes
    assert (kept.content, kept.reason) == ("User owns a dog.", CHANGED_MEANWHILE)


async def test_asking() -> None:
    """The user is asked once, with the question's own words."""
    user = User("1")
    question, answer = await ask_deletions(user, memories(2), "forget")
    assert user.asked == [(question.title, question.message, question.hint)]
    assert answer == "1"


async def test_nothing_to_ask() -> None:
    """Without memories nobody is asked."""
    user = User("all")
    question, answer = await ask_deletions(user, [], "forget")
    assert (user.asked, answer) == ([], None)
    assert answered_deletions(question, answer, {}).operations == ()


@given(st.text(max_size=300), st.integers(1, 15))
def test_any_answer(answer: str, count: int) -> None:
    """No text raises, and every memory is either allowed to go or has an outcome."""
    rows = memories(count)
    found = answered_deletions(deletion_question(rows, "many"), answer, by_id(*rows))
    assert {one.id for one in found.operations} <= {one.id for one in rows}
    assert len(found.operations) + len(found.outcomes) == count or count > 10
