"""Turns that wait: as text, which are worked on next, and several as one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adaptive.core.model import Utterance
from adaptive.core.table_ports import PendingTurn
from adaptive.learn.turns import (
    WaitingTurn,
    joined_turn,
    next_batch,
    pending_findings,
    pending_turn,
    read_pending,
)
from tests.fakes import turn as said_turn
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
    Case("none is due yet", (turn("a", at=999),), ""),
    Case("two of a chat", (turn("a"), turn("b", at=991)), "a b"),
    Case("the order is that of time", (turn("a", at=991), turn("b", at=990)), "b a"),
    Case("a newer one is awaited", (turn("a"), turn("b", at=999)), ""),
    Case(
        "but of eight at most",
        tuple(turn(n, at=999 - (n == "a")) for n in "abcdefgh"),
        "a b c d e f g h",
    ),
    Case("chats one by one", (turn("a", chat="d"), turn("b", at=980), turn("c", at=985)), "b c"),
    Case("failed, not due", (turn("a", attempts=1, due_at=1_010),), ""),
    Case("failed, goes along", (turn("a", attempts=1, due_at=1_010), turn("b", at=991)), "a b"),
    Case(
        "failed, goes first though of another chat",
        (turn("a", chat="d", attempts=2, due_at=1_010), turn("b", at=991)),
        "a",
    ),
    Case("failed often, stays", (turn("a", attempts=3, due_at=1_010), turn("b", at=991)), "b"),
    Case("failed, awaits nobody", (turn("a", attempts=1, due_at=999), turn("b", at=999)), "a b"),
    Case(
        "a journal's turns only",
        (turn("a", batch="b"), turn("b", at=991, batch="b"), turn("c", at=992)),
        "a b",
    ),
    Case("journal awaits nobody", (turn("a", batch="a"), turn("b", at=999)), "a"),
]


@over("case", CASES)
def test_next_batch(case: Case) -> None:
    """The oldest goes first, and what belongs to it goes with it."""
    assert [one.message_id for one in next_batch(case.turns, NOW)] == case.taken.split()
    assert [one.message_id for one in next_batch(case.turns[::-1], NOW)] == case.taken.split()


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=20))
def test_there_and_back(words: str, before: str, zone: str) -> None:
    """Whatever was said comes out of the queue as it went in."""
    said = said_turn(words, Utterance("user", before), Utterance("assistant", words))
    waiting = WaitingTurn(replace(said, injected=("m-1", zone)), (zone, "UTC"), "answer")
    pending = pending_turn(waiting, NOW, 2)
    assert (pending.user_id, pending.message_id, pending.due_at) == ("ada", "m", NOW + 2)
    assert read_pending(pending) == waiting


def test_payload_that_can_not_be_read() -> None:
    """What is damaged, or another turn's, is no turn."""
    pending = pending_turn(WaitingTurn(said_turn("I live in Porto.")), NOW, 0)
    for broken in ("", "{}", "[1]", pending.payload[:-2], pending.payload.replace("ada", "eve")):
        assert read_pending(replace(pending, payload=broken)) is None


def test_joined() -> None:
    """Messages of one chat are learned as one, dated by the newest, with all that was shown."""
    past = Utterance("assistant", "Hello!")
    first = said_turn("I live in Porto.", past, message_id="m-1")
    second = said_turn("And I have a cat.", past, Utterance("user", "I live in Porto."))
    first, second = replace(first, injected=("a", "b")), replace(second, injected=("b", "c"))
    joined = joined_turn([first, second])
    assert joined.injected == ("a", "b", "c")
    assert joined.words == "I live in Porto.\n\nAnd I have a cat."
    assert joined.earlier == (past,)
    assert joined.source == second.source


def test_findings() -> None:
    """Findings wait beside the turn that they are of, joined by nothing, and are due at once."""
    waiting = WaitingTurn(said_turn("I live in Porto."))
    pending = pending_turn(waiting, NOW, 2)
    found = pending_findings(waiting, NOW, "journal")
    assert found.message_id != pending.message_id
    assert (read_pending(found), found.journal, found.due_at) == (waiting, "journal", NOW)
    assert next_batch([pending, found], NOW) == (found,)
