"""A turn on its way through the queue."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.waiting_turn import (
    WaitingTurn,
    joined_turn,
    pending_turn,
    read_pending,
)
from adaptive.model import Utterance
from tests.fakes import turn

NOW = 1_700_000_000.0


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=20))
def test_there_and_back(words: str, before: str, zone: str) -> None:
    """Whatever was said comes out of the queue as it went in."""
    said = turn(words, Utterance("user", before), Utterance("assistant", words))
    waiting = WaitingTurn(replace(said, injected=("m-1", zone)), (zone, "UTC"), "answer")
    pending = pending_turn(waiting, NOW, 2)
    assert (pending.user_id, pending.message_id, pending.due_at) == ("ada", "m", NOW + 2)
    assert read_pending(pending) == waiting


def test_huge_turn() -> None:
    """Of a huge message head and tail are learned from, and little of what was said before."""
    said = turn("I start. " + "x" * 300_000 + " I end.", Utterance("assistant", "y" * 100_000))
    joined = joined_turn([said])
    assert len(joined.words) + sum(len(one.text) for one in joined.earlier) < 30_000
    assert joined.words.startswith("I start.")
    assert joined.words.endswith("I end.")


def test_payload_that_can_not_be_read() -> None:
    """What is damaged, or another turn's, is no turn."""
    pending = pending_turn(WaitingTurn(turn("I live in Porto.")), NOW, 0)
    for broken in ("", "{}", "[1]", pending.payload[:-2], pending.payload.replace("ada", "eve")):
        assert read_pending(replace(pending, payload=broken)) is None


def test_joined() -> None:
    """Messages of one chat are learned as one, dated by the newest, with all that was shown."""
    past = Utterance("assistant", "Hello!")
    first = turn("I live in Porto.", past, message_id="m-1")
    second = turn("And I have a cat.", past, Utterance("user", "I live in Porto."))
    first, second = replace(first, injected=("a", "b")), replace(second, injected=("b", "c"))
    joined = joined_turn([first, second])
    assert joined.injected == ("a", "b", "c")
    assert joined.words == "I live in Porto.\n\nAnd I have a cat."
    assert joined.earlier == (past,)
    assert joined.source == second.source
