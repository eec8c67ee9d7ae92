"""Turns that wait in the process: the same contract as the table's, and a bounded size."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from adaptive.learn.process_turns import ProcessTurns
from adaptive.table_ports import PendingTurn, TurnLease

NOW = 1_700_000_000.0


def turn(message_id: str, user_id: str = "ada") -> PendingTurn:
    """A turn that is due at once."""
    return PendingTurn(user_id, message_id, "chat", "words", NOW, NOW)


def lease(owner: str, *message_ids: str) -> TurnLease:
    """A lease on messages of the only user."""
    return TurnLease("ada", owner, message_ids)


async def test_once() -> None:
    """A message waits once, and not again when it was learned."""
    turns = ProcessTurns()
    assert await turns.put(turn("m"))
    assert not await turns.put(turn("m"))
    await turns.take(lease("a", "m"), NOW, NOW + 30)
    assert await turns.finish(lease("a", "m"), 0, NOW)
    assert not await turns.put(turn("m"))
    assert await turns.waiting("ada") == ()


async def test_dropped() -> None:
    """A turn that stands elsewhere now is unknown here."""
    turns = ProcessTurns()
    await turns.put(turn("m"))
    turns.drop(turn("m"))
    turns.drop(turn("never"))
    assert await turns.put(turn("m"))


async def test_lease() -> None:
    """One lease at a time serves a user; when it has ended another may."""
    turns = ProcessTurns()
    for message in ("m-1", "m-2"):
        await turns.put(turn(message))
    assert await turns.take(lease("a", "m-1", "gone"), NOW, NOW + 30) == ()
    (taken,) = await turns.take(lease("a", "m-1"), NOW, NOW + 30)
    assert taken == replace(turn("m-1"), takes=1, lease_owner="a", lease_until=NOW + 30)
    assert await turns.take(lease("b", "m-2"), NOW + 30, NOW + 60) == ()
    assert await turns.renew(lease("a", "m-1"), NOW + 60)
    assert await turns.take(lease("b", "m-1", "m-2"), NOW + 61, NOW + 99)
    assert not await turns.renew(lease("a", "m-1"), NOW + 99)
    assert not await turns.keep(lease("a", "m-1"), "late", 0, NOW)
    assert not await turns.finish(lease("a", "m-1"), 0, NOW)
    assert not await turns.give_back(lease("a", "m-1"), NOW, failed=True, calls=0, now=NOW)
    assert [one.attempts for one in await turns.waiting("ada")] == [0, 0]


async def test_journal_and_failure() -> None:
    """The newest turn keeps the journal; what is given back is free, counts and keeps it."""
    turns = ProcessTurns()
    for message in ("m-1", "m-2"):
        await turns.put(turn(message))
    both = lease("a", "m-1", "m-2")
    await turns.take(both, NOW, NOW + 30)
    assert await turns.keep(both, "old", 1, NOW)
    assert await turns.keep(both, "new", 0, NOW)
    assert await turns.give_back(both, NOW + 15, failed=True, calls=1, now=NOW + 5)
    one, two = await turns.take(lease("b", "m-1", "m-2"), NOW, NOW + 30)
    assert (one.journal, two.journal) == ("", "new")
    assert (one.batch, two.batch) == ("m-2", "m-2")
    assert (one.attempts, one.due_at, one.takes) == (1, NOW + 15, 2)
    assert await turns.calls_since("ada", NOW) == 2
    assert await turns.calls_since("ada", NOW + 5) == 1
    assert await turns.calls_since("bob", NOW) == 0


async def test_bounded(caplog: pytest.LogCaptureFixture) -> None:
    """A database that stays away for long fills no memory: the oldest goes, which is told."""
    turns = ProcessTurns()
    with caplog.at_level(logging.ERROR):
        for number in range(1_001):
            turns.add(turn(f"m-{number}"))
    waiting = await turns.waiting("ada")
    assert (len(waiting), waiting[0].message_id) == (1_000, "m-1")
    assert [record.message for record in caplog.records] == [
        "too many turns wait in this process: the oldest is lost"
    ]


async def test_learned_ones_are_bounded() -> None:
    """Of what was learned the newest ids are remembered."""
    turns = ProcessTurns()
    for number in range(10_001):
        turns.add(turn(f"m-{number}"))
        await turns.take(lease("a", f"m-{number}"), NOW, NOW + 30)
        await turns.finish(lease("a", f"m-{number}"), 1, NOW)
    assert turns.add(turn("m-0"))
    assert not turns.add(turn("m-10000"))
    assert await turns.calls_since("ada", NOW) == 10_000


async def test_repeated_turn_is_due_sooner() -> None:
    """A turn that waits for another try is due at once when its message is answered again."""
    turns = ProcessTurns()
    assert turns.add(replace(turn("m"), due_at=NOW + 90))
    assert not turns.add(replace(turn("m"), due_at=NOW + 5))
    assert not turns.add(replace(turn("m"), due_at=NOW + 50))
    assert [one.due_at for one in await turns.waiting("ada")] == [NOW + 5]
