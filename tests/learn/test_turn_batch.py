"""Which waiting turns are worked on next, and together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.turn_work import next_batch
from adaptive.table_ports import PendingTurn
from tests.rates import over

NOW = 1_000.0


def turn(name: str, *, at: float = 990, chat: str = "c", **fields: Any) -> PendingTurn:
    """A turn that was queued at a time, and is due two seconds later if nothing else is said."""
    fresh = PendingTurn("ada", name, chat, "{}", at, at + 2)
    return replace(fresh, **fields)


@dataclass(frozen=True)
class Case:
    """Turns that wait, and the names of those that are taken."""

    id: str
    turns: tuple[PendingTurn, ...]
    taken: str


CASES = [
    Case("nothing waits", (), ""),
    Case("one is due", (turn("a"),), "a"),
    Case("due at this moment", (turn("a", at=998),), "a"),
    Case("none is due yet", (turn("a", at=999),), ""),
    Case("two of a chat", (turn("a"), turn("b", at=991)), "a b"),
    Case("the order is that of time", (turn("a", at=991), turn("b", at=990)), "b a"),
    Case("of one moment by name", (turn("b"), turn("a")), "a b"),
    Case("a newer one is awaited", (turn("a"), turn("b", at=999)), ""),
    Case(
        "but of eight at most",
        tuple(turn(n, at=999 - (n == "a")) for n in "abcdefgh"),
        "a b c d e f g h",
    ),
    Case("nor that of another chat", (turn("a"), turn("b", at=999, chat="d")), "a"),
    Case("chats one by one", (turn("a", chat="d"), turn("b", at=980), turn("c", at=985)), "b c"),
    Case("failed, not due", (turn("a", attempts=1, due_at=1_010),), ""),
    Case("failed, due", (turn("a", attempts=1, due_at=999),), "a"),
    Case("failed, goes along", (turn("a", attempts=1, due_at=1_010), turn("b", at=991)), "a b"),
    Case(
        "failed, goes first though of another chat",
        (turn("a", chat="d", attempts=2, due_at=1_010), turn("b", at=991)),
        "a",
    ),
    Case("failed often, stays", (turn("a", attempts=3, due_at=1_010), turn("b", at=991)), "b"),
    Case("failed often, alone", (turn("a", attempts=3, due_at=999), turn("b", at=991)), "a"),
    Case("failed, awaits nobody", (turn("a", attempts=1, due_at=999), turn("b", at=999)), "a b"),
    Case(
        "a journal's turns only",
        (turn("a", batch="b"), turn("b", at=991, batch="b"), turn("c", at=992)),
        "a b",
    ),
    Case("two journals", (turn("a", batch="a"), turn("b", at=991, batch="b")), "a"),
    Case("journal awaits nobody", (turn("a", batch="a"), turn("b", at=999)), "a"),
    Case("eight at most", tuple(turn(name) for name in "abcdefghij"), "a b c d e f g h"),
]


@over("case", CASES)
def test_next_batch(case: Case) -> None:
    """The oldest goes first, and what belongs to it goes with it."""
    assert [one.message_id for one in next_batch(case.turns, NOW)] == case.taken.split()
    assert [one.message_id for one in next_batch(case.turns[::-1], NOW)] == case.taken.split()


TURNS = st.builds(
    PendingTurn,
    user_id=st.just("ada"),
    message_id=st.uuids().map(str),
    chat_id=st.sampled_from("cd"),
    payload=st.just("{}"),
    queued_at=st.integers(900, 1_000).map(float),
    due_at=st.integers(900, 1_100).map(float),
    batch=st.sampled_from(["", "", "x", "y"]),
    attempts=st.integers(0, 8),
)


@given(st.lists(TURNS, max_size=12))
def test_everything_gets_its_turn(turns: list[PendingTurn]) -> None:
    """Whatever waits: batches are of one chat, never empty once all is due, and finite."""
    later = NOW + 200
    for now in (NOW, later):
        batch = next_batch(turns, now)
        assert len({(one.chat_id, one.batch) for one in batch}) <= 1
    left = list(turns)
    while left:
        batch = next_batch(left, later)
        assert batch
        left = [one for one in left if one not in batch]
