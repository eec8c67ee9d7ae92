"""Turns to be learned in a real database, put and taken by two workers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import event

from adaptive.core.model import Utterance
from adaptive.host.tables import HostTables
from adaptive.memory.turn_table import (
    QueuedTurn,
    TurnLease,
    TurnTable,
)
from adaptive.privacy.sealing import Sealer
from tests.fakes import turn as said_turn
from tests.host.databases import Worker
from tests.learn.listed_turns import ListedTurns

NOW = 1_700_000_000.5
TABLE = "adaptive_memory_entries"
SECRET = "made-up secret of a host"
WORDS = "I live in Porto."
Workers = tuple[Worker, Worker]
Tables = tuple[TurnTable, TurnTable]


@pytest.fixture
def real(workers: Workers) -> Tables:
    """The table as each of them has it."""
    first, second = (
        HostTables(Sealer(SECRET), worker.database).pending
        for worker in workers
    )
    return first, second


@pytest.fixture(params=["listed", "real"])
def tables(request: pytest.FixtureRequest, real: Tables) -> Tables:
    """The table as two workers have it, and what stands for it where time is virtual."""
    listed = ListedTurns()
    return real if request.param == "real" else (listed, listed)


def turn(
    message_id: str,
    *,
    user_id: str = "ada",
    at: float = NOW,
    words: str = WORDS,
) -> QueuedTurn:
    """A turn of the only chat, due two seconds after it was queued."""
    return QueuedTurn(
        said_turn(words, message_id=message_id, user_id=user_id), at, at + 2
    )


def lease(owner: str, *message_ids: str, user_id: str = "ada") -> TurnLease:
    """A lease on a user, with some messages."""
    return TurnLease(user_id, owner, message_ids)


async def waiting(
    table: TurnTable, user_id: str = "ada"
) -> tuple[QueuedTurn, ...]:
    """A user's waiting turns."""
    return (await table.waiting(user_id, NOW)).turns


async def calls(table: TurnTable, user_id: str, since: float) -> int:
    """The model calls that are counted for a user."""
    return (await table.waiting(user_id, since)).calls


async def taken(
    table: TurnTable, held: TurnLease, now: float
) -> tuple[QueuedTurn, ...]:
    """Turns under a lease that can be had."""
    turns = await table.take(held, now, now + 30)
    assert turns is not None
    return turns


async def test_put_twice(tables: Tables) -> None:
    """Regenerated, continued and multi-model answers of a message queue it once, at once too."""
    answers = [
        turn("m-1"),
        turn("m-1", at=NOW + 60),
        turn("m-1", user_id="bob"),
    ] * 4
    await asyncio.gather(
        *(tables[n % 2].put(one) for n, one in enumerate(answers))
    )
    (left,) = await waiting(tables[0])
    assert left.message_id == "m-1"


async def test_taken_at_once(tables: Tables) -> None:
    """Of workers that take turns of a user at the same moment one gets them: each its own turn."""
    for number in range(10):
        await tables[0].put(turn(f"m-{number}"))
    for _ in range(3):
        got = await asyncio.gather(
            *(
                tables[n % 2].take(lease(f"w-{n}", f"m-{n}"), NOW, NOW + 30)
                for n in range(10)
            )
        )
        (number,) = (
            number for number, turns in enumerate(got) if turns is not None
        )
        winner = lease(f"w-{number}", f"m-{number}")
        assert await tables[0].end(winner, NOW, 0, failed=False)


async def test_within_a_second(real: Tables) -> None:
    """Turns that were queued within a second come in their order, whatever their messages are called."""
    table, _ = real
    for message_id, at in (("b", 0.1), ("c", 0.2), ("a", 0.3)):
        await table.put(turn(message_id, at=NOW + at))
    waiting = await table.waiting("ada", 0.0)
    assert [each.message_id for each in waiting.turns] == ["b", "c", "a"]
    taken = await table.take(lease("me", "a", "b", "c"), NOW + 9, NOW + 39)
    assert taken is not None
    assert [each.message_id for each in taken] == ["b", "c", "a"]


async def test_done(real: Tables, workers: Workers) -> None:
    """A turn that was learned leaves a row without words, and is not learned again."""
    a, b = real
    await a.put(turn("m-1"))
    held = lease("a", "m-1")
    turns = await taken(a, held, NOW)
    assert await a.end(held, NOW + 3, 0, learned=turns)
    await b.put(turn("m-1"))
    assert await waiting(b) == ()
    assert await b.take(lease("b", "m-1"), NOW + 99, NOW + 129) is None
    assert not await a.end(held, NOW + 4, 0, learned=turns)
    kept = await workers[0].rows(f"SELECT kind, key, chat_id FROM {TABLE}")
    assert kept == [("done", "m-1", "")]


async def test_statements_of_a_learned_turn(
    real: Tables, workers: Workers
) -> None:
    """A turn is put, found, taken and ended by few statements; it never waits and is done at once."""
    table, _ = real
    await table.waiting("ada", NOW)  # creates the tables
    made: list[str] = []

    def note(*arguments: Any) -> None:
        """Keep a statement, or that what was changed stands."""
        made.append(arguments[2].split()[0] if arguments[2:] else "COMMIT")

    engine = workers[0].engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    event.listen(engine, "commit", note)
    await table.put(turn("m-1"))
    assert len(await waiting(table)) == 1
    held = lease("a", "m-1")
    turns = await taken(table, held, NOW)
    before_end = len(made)
    assert await table.end(held, NOW + 3, 0, learned=turns)
    ended = [
        "UPDATE",
        "COMMIT",
        "INSERT",
        "DELETE",
        "COMMIT",
        "DELETE",
        "COMMIT",
    ]
    assert made[before_end:] == ended
    assert before_end - made[:before_end].count("COMMIT") == 6


async def test_killed_worker(tables: Tables) -> None:
    """What a killed worker had taken is free when its lease has ended."""
    a, b = tables
    for message in ("m-1", "m-2"):
        await a.put(turn(message))
    await taken(a, lease("a", "m-1", "m-2"), NOW)
    del a
    both = lease("b", "m-1", "m-2")
    assert await b.take(both, NOW + 30, NOW + 60) is None
    turns = await taken(b, both, NOW + 31)
    assert [(one.turn.words, one.attempts) for one in turns] == [
        (WORDS, 1),
        (WORDS, 1),
    ]


async def test_loser_changes_nothing(tables: Tables) -> None:
    """A worker whose turns were taken over can neither renew, finish nor give back."""
    a, b = tables
    await a.put(turn("m-1"))
    late, winner = lease("a", "m-1"), lease("b", "m-1")
    turns = await taken(a, late, NOW)
    await taken(b, winner, NOW + 31)
    assert not await a.renew(late, NOW + 90)
    assert not await a.end(late, NOW + 32, 1, learned=turns)
    assert not await a.end(late, NOW, 1, failed=True)
    assert await b.end(winner, NOW + 33, 1, learned=turns)
    assert await calls(b, "ada", NOW) == 1


async def test_given_back(tables: Tables) -> None:
    """What is given back is free at once, and counts its failures."""
    a, b = tables
    await a.put(turn("m-1"))
    for number in (1, 2):
        held = lease(f"a-{number}", "m-1")
        await taken(a, held, NOW)
        assert await a.end(held, NOW + 15, 1, failed=number == 1)
    (back,) = await taken(b, lease("b", "m-1"), NOW)
    assert (back.attempts, back.due_at) == (1, NOW + 15)
    assert await calls(b, "ada", NOW) == 2


async def test_calls_are_counted(tables: Tables) -> None:
    """Calls count for their user, by when the turn was queued or learned, once for turns that shared them."""
    a, b = tables
    assert await calls(b, "ada", 0) == 0
    await a.put(turn("m-3", user_id="bob"))
    for number in range(3):
        await a.put(turn(f"m-{number}", at=NOW + number))
    shared, later = lease("a", "m-0", "m-1"), lease("a-2", "m-2")
    bobs = lease("a-3", "m-3", user_id="bob")
    turns = await taken(a, shared, NOW)
    await a.end(shared, NOW + 1, 1, learned=turns)
    await taken(a, later, NOW)
    await a.end(later, NOW, 2, failed=True)
    await taken(a, bobs, NOW)
    await a.end(bobs, NOW, 7, failed=True)
    assert [await calls(b, "ada", NOW + since) for since in (0, 2, 3)] == [
        3,
        2,
        0,
    ]
    assert await calls(b, "bob", NOW) == 7


async def test_sealed(real: Tables, workers: Workers) -> None:
    """Words stand in no column in clear; what another secret has sealed is not taken."""
    words = "I am 東京 🗼 'quoted' \\ \" %s :name $1 " * 500
    await real[0].put(turn("m-1", words=words))
    other = HostTables(Sealer("another secret"), workers[1].database).pending
    await other.put(turn("m-2"))
    assert await other.take(lease("a", "m-1", "m-2"), NOW, NOW + 30) is None
    assert [
        one.turn.words for one in await taken(other, lease("b", "m-2"), NOW)
    ] == [WORDS]
    stored = str(await workers[0].rows(f"SELECT * FROM {TABLE}"))
    assert ("東京" in stored, stored.count("'waiting'")) == (False, 2)
    again = await taken(real[1], lease("c", "m-1"), NOW + 31)
    assert [one.turn.words for one in again] == [words]


async def test_unreadable(real: Tables, workers: Workers) -> None:
    """A turn that this build can't read waits for the one that queued it; its neighbour is had."""
    for message in ("m-1", "m-2"):
        await real[0].put(turn(message))
    sealed = Sealer(SECRET).seal(
        "ada", "waiting", '{"words": "of a later build"}'
    )
    await workers[0].change(
        f"UPDATE {TABLE} SET body = :sealed WHERE key = 'm-1'", sealed=sealed
    )
    assert await real[1].take(lease("a", "m-1", "m-2"), NOW, NOW + 30) is None
    assert [place.message_id for place in await waiting(real[1])] == ["m-2"]
    assert [
        one.attempts for one in await taken(real[1], lease("b", "m-2"), NOW)
    ] == [0]
    kept = await workers[0].rows(
        f"SELECT key FROM {TABLE} WHERE body = '{sealed}'"
    )
    assert kept == [("m-1",)]


async def test_there_and_back(real: Tables) -> None:
    """Everything that was said comes out of the table as it went in."""
    earlier = (Utterance("user", "Hm?"), Utterance("assistant", WORDS))
    said = said_turn(
        "東京 'quoted' \\ {}",
        *earlier,
        answer_id="answer",
        time_zones=("Asia/Tokyo", "UTC"),
        chat_model="gpt",
        is_direct=True,
    )
    await real[0].put(QueuedTurn(said, NOW, NOW))
    assert [queued.turn for queued in await waiting(real[1])] == [said]


async def test_any_text_can_wait(real: Tables) -> None:
    """Halves of characters, in what was said or what the browser names, can be stored."""
    said = said_turn("Porto \ud83d", time_zones=("Europe/\ude00",))
    await real[0].put(QueuedTurn(said, NOW, NOW))
    (read,) = await waiting(real[1])
    assert (read.turn.words, read.turn.time_zones) == (
        "Porto ?",
        ("Europe/?",),
    )
