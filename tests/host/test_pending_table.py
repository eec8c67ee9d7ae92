"""Turns to be learned in a real database, put and taken by two workers."""

from __future__ import annotations

import asyncio
import logging
import random
import sqlite3
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from adaptive.errors import TablesUnavailable
from adaptive.host.pending_table import HostPendingTable
from adaptive.table_ports import PendingTurn, TurnLease
from tests.host.databases import DATABASES, Worker, two_workers

NOW = 1_700_000_000.5
DAY = 24 * 3600
TABLE = "adaptive_memory_pending"
WORDS = '{"words": "I live in Porto."}'
Workers = tuple[Worker, Worker]
Tables = tuple[HostPendingTable, HostPendingTable]


@pytest.fixture(params=DATABASES)
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Workers, None]:
    """Two workers on a database without the table."""
    async with two_workers(request.param, tmp_path, TABLE) as both:
        yield both


@pytest.fixture
def tables(workers: Workers) -> Tables:
    """The table as each of them has it."""
    first, second = workers
    return HostPendingTable(first.sessions), HostPendingTable(second.sessions)


def turn(message_id: str, *, user_id: str = "ada", at: float = NOW) -> PendingTurn:
    """A turn of the only chat, due two seconds after it was queued."""
    return PendingTurn(user_id, message_id, "chat", WORDS, at, at + 2)


def lease(owner: str, *message_ids: str, user_id: str = "ada") -> TurnLease:
    """A lease on messages of a user."""
    return TurnLease(user_id, owner, message_ids)


async def test_put_and_read(tables: Tables) -> None:
    """What one worker has put another reads, without the personal words, and takes with them."""
    a, b = tables
    assert await a.put(turn("m-1"))
    assert await b.waiting("ada") == (replace(turn("m-1"), payload=""),)
    assert await b.waiting("bob") == ()
    (taken,) = await b.take(lease("b", "m-1"), NOW, NOW + 30)
    assert taken == replace(turn("m-1"), takes=1, lease_owner="b", lease_until=NOW + 30)


async def test_put_is_one_statement(tables: Tables, workers: Workers) -> None:
    """The outlet pays for one INSERT."""
    await tables[0].put(turn("m-1"))
    workers[0].statements.clear()
    await tables[0].put(turn("m-2"))
    assert workers[0].statements == ["INSERT"]


async def test_put_twice(tables: Tables) -> None:
    """Regenerated, continued and multi-model answers of a message queue it once."""
    a, b = tables
    assert await a.put(turn("m-1"))
    assert not await b.put(turn("m-1", at=NOW + 60))
    assert not await a.put(turn("m-1"))
    assert await b.put(turn("m-1", user_id="bob"))
    assert len(await a.waiting("ada")) == 1


async def test_repeated_turn_is_due_sooner(tables: Tables) -> None:
    """A turn that waits for another try is due at once when its message is answered again."""
    a, b = tables
    await a.put(turn("m-1"))
    await a.take(lease("a", "m-1"), NOW, NOW + 30)
    await a.give_back(lease("a", "m-1"), NOW + 900, failed=True, calls=0, now=NOW)
    assert not await b.put(turn("m-1", at=NOW + 10))
    assert [one.due_at for one in await a.waiting("ada")] == [NOW + 12]
    assert not await b.put(turn("m-1", at=NOW + 20))
    assert [one.due_at for one in await a.waiting("ada")] == [NOW + 12]


async def test_put_at_once(tables: Tables) -> None:
    """Of answers that end at the same moment one puts the turn, the first ever ones included."""
    for message in ("m-1", "m-2"):
        put = await asyncio.gather(*(tables[n % 2].put(turn(message)) for n in range(10)))
        assert put.count(True) == 1


async def test_oldest_first(tables: Tables) -> None:
    """Waiting turns stand in the order in which they were queued, 200 at most."""
    for number in range(210):
        await tables[number % 2].put(turn(f"m-{number:03}", at=NOW - number))
    waiting = [one.message_id for one in await tables[0].waiting("ada")]
    assert waiting == [f"m-{number:03}" for number in range(209, 9, -1)]


async def test_one_worker_serves_a_user(tables: Tables) -> None:
    """While one turn of a user is taken, no other worker takes any; another user's it does."""
    a, b = tables
    for message in ("m-1", "m-2", "m-3"):
        await a.put(turn(message))
    await a.put(turn("m-1", user_id="bob"))
    assert len(await a.take(lease("a", "m-1", "m-2"), NOW, NOW + 30)) == 2
    assert await b.take(lease("b", "m-2"), NOW, NOW + 30) == ()
    assert await b.take(lease("b", "m-3"), NOW, NOW + 30) == ()
    assert await b.take(lease("b", "m-1", user_id="bob"), NOW, NOW + 30)


async def test_take_all_or_none(tables: Tables) -> None:
    """Where one of the turns is not there any more none is taken."""
    a, b = tables
    await a.put(turn("m-1"))
    assert await a.take(lease("a", "m-1", "m-2"), NOW, NOW + 30) == ()
    assert await b.take(lease("b", "m-1"), NOW, NOW + 30)


async def test_taken_at_once(tables: Tables) -> None:
    """Of workers that take a turn at the same moment one gets it."""
    await tables[0].put(turn("m-1"))
    taken = await asyncio.gather(
        *(tables[n % 2].take(lease(f"w-{n}", "m-1"), NOW, NOW + 30) for n in range(10))
    )
    assert len([turns for turns in taken if turns]) == 1


async def test_done(tables: Tables, workers: Workers) -> None:
    """A turn that was learned leaves a row without words, and is not learned again."""
    a, b = tables
    await a.put(turn("m-1"))
    await a.take(lease("a", "m-1"), NOW, NOW + 30)
    await a.keep(lease("a", "m-1"), "[journal]", 1, NOW)
    assert await a.finish(lease("a", "m-1"), 0, NOW + 3)
    assert await b.waiting("ada") == ()
    assert not await b.put(turn("m-1"))
    assert await b.take(lease("b", "m-1"), NOW + 99, NOW + 129) == ()
    assert not await a.finish(lease("a", "m-1"), 0, NOW + 4)
    assert await workers[0].rows(f"SELECT state, payload, journal, learned_at FROM {TABLE}") == [
        ("done", "", "", NOW + 3)
    ]


async def test_killed_worker(tables: Tables) -> None:
    """What a killed worker had taken is free when its lease has ended, with its journal."""
    a, b = tables
    for message in ("m-1", "m-2"):
        await a.put(turn(message))
    await a.take(lease("a", "m-1", "m-2"), NOW, NOW + 30)
    await a.keep(lease("a", "m-1", "m-2"), "[journal]", 1, NOW)
    del a
    assert await b.take(lease("b", "m-1", "m-2"), NOW + 30, NOW + 60) == ()
    assert [one.batch for one in await b.waiting("ada")] == ["m-2", "m-2"]
    turns = await b.take(lease("b", "m-1", "m-2"), NOW + 31, NOW + 61)
    assert [(one.journal, one.payload, one.takes) for one in turns] == [
        ("", WORDS, 2),
        ("[journal]", WORDS, 2),
    ]


async def test_loser_changes_nothing(tables: Tables) -> None:
    """A worker whose turns were taken over can neither renew, keep, finish nor give back."""
    a, b = tables
    await a.put(turn("m-1"))
    late, winner = lease("a", "m-1"), lease("b", "m-1")
    await a.take(late, NOW, NOW + 30)
    await b.take(winner, NOW + 31, NOW + 61)
    assert not await a.renew(late, NOW + 90)
    assert not await a.keep(late, "[late]", 1, NOW + 32)
    assert not await a.finish(late, 1, NOW + 32)
    assert not await a.give_back(late, NOW, failed=True, calls=1, now=NOW + 32)
    (row,) = await b.waiting("ada")
    assert (row.lease_owner, row.lease_until, row.attempts, row.batch) == ("b", NOW + 61, 0, "")
    assert await b.finish(winner, 1, NOW + 33)
    assert await b.calls_since("ada", NOW) == 1


async def test_partly_taken_over(tables: Tables) -> None:
    """A worker that lost one of its turns has lost all: it finishes none."""
    a, b = tables
    both = lease("a", "m-1", "m-2")
    for message in ("m-1", "m-2"):
        await a.put(turn(message))
    await a.take(both, NOW, NOW + 30)
    await b.take(lease("b", "m-1"), NOW + 31, NOW + 61)
    assert not await a.finish(both, 0, NOW + 32)
    assert len(await a.waiting("ada")) == 2


async def test_renewed(tables: Tables) -> None:
    """A lease lasts as long as it is renewed, one that has ended too if nobody took the turns."""
    a, b = tables
    await a.put(turn("m-1"))
    await a.take(lease("a", "m-1"), NOW, NOW + 30)
    assert await a.renew(lease("a", "m-1"), NOW + 60)
    assert await b.take(lease("b", "m-1"), NOW + 59, NOW + 89) == ()
    assert await a.renew(lease("a", "m-1"), NOW + 120)
    assert await b.take(lease("b", "m-1"), NOW + 61, NOW + 91) == ()


async def test_given_back(tables: Tables) -> None:
    """What is given back is free at once, counts its failures and keeps its journal."""
    a, b = tables
    await a.put(turn("m-1"))
    for number in (1, 2):
        await a.take(lease(f"a-{number}", "m-1"), NOW, NOW + 30)
        await a.keep(lease(f"a-{number}", "m-1"), f"[{number}]", 1, NOW)
        assert await a.give_back(
            lease(f"a-{number}", "m-1"), NOW + 15, failed=number == 1, calls=1, now=NOW
        )
    (row,) = await b.waiting("ada")
    assert (row.attempts, row.takes, row.due_at, row.lease_owner) == (1, 2, NOW + 15, "")
    (taken,) = await b.take(lease("b", "m-1"), NOW, NOW + 30)
    assert taken.journal == "[2]"
    assert await b.calls_since("ada", NOW) == 4


async def test_calls_are_counted(tables: Tables) -> None:
    """Calls count for their user and from their time on, once for turns that shared them."""
    a, b = tables
    for number, user in enumerate(("ada", "ada", "ada", "bob")):
        await a.put(turn(f"m-{number}", user_id=user))
    assert await b.calls_since("ada", 0) == 0
    shared, later = lease("a", "m-0", "m-1"), lease("a-2", "m-2")
    await a.take(shared, NOW, NOW + 30)
    await a.keep(shared, "[]", 1, NOW)
    await a.finish(shared, 0, NOW + 10)
    await a.take(later, NOW, NOW + 30)
    await a.finish(later, 2, NOW + 3600)
    await a.take(lease("a-3", "m-3", user_id="bob"), NOW, NOW + 30)
    await a.finish(lease("a-3", "m-3", user_id="bob"), 7, NOW)
    assert await b.calls_since("ada", NOW) == 3
    assert await b.calls_since("ada", NOW + 1) == 2
    assert await b.calls_since("bob", NOW) == 7


async def test_tidy_up(tables: Tables, workers: Workers, caplog: pytest.LogCaptureFixture) -> None:
    """Rows of turns learned a month ago go; what waits does not, but for half a year."""
    a, b = tables
    for message, at in (("old", NOW), ("newer", NOW + 20 * DAY), ("waits", NOW)):
        await a.put(turn(message, at=at))
        if message != "waits":
            await a.take(lease(message, message), at, at + 30)
            await a.finish(lease(message, message), 0, at)
    for day, left in ((29, 4), (31, 4), (181, 1)):
        now = NOW + day * DAY
        await b.put(turn(f"day-{day}", at=now))
        await b.take(lease("b", f"day-{day}"), now, now + 30)
        await b.finish(lease("b", f"day-{day}"), 0, now)
        assert len(await workers[0].rows(f"SELECT 1 FROM {TABLE}")) == left
    assert [record.message for record in caplog.records] == [
        "1 turns of users who stayed away for half a year were never learned"
    ]


async def test_tidy_up_once_a_day(tables: Tables, workers: Workers) -> None:
    """Tidying up is not paid for by each turn."""
    for number in range(3):
        await tables[0].put(turn(f"m-{number}"))
        await tables[0].take(lease("a", f"m-{number}"), NOW, NOW + 30)
        await tables[0].finish(lease("a", f"m-{number}"), 0, NOW + number)
    assert workers[0].statements.count("DELETE") == 2


async def test_tidy_up_fails(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A turn is finished even where nothing can be tidied up."""
    async with two_workers("sqlite", tmp_path, TABLE) as (worker, _):
        table = HostPendingTable(worker.sessions)
        await table.put(turn("m-1"))
        await table.take(lease("a", "m-1"), NOW, NOW + 30)
        refusing = f"CREATE TRIGGER t BEFORE DELETE ON {TABLE} BEGIN SELECT RAISE(FAIL, 'no'); END"
        old = f"UPDATE {TABLE} SET learned_at = 1, state = 'done' WHERE message_id = 'old'"
        await table.put(turn("old"))
        async with worker.sessions() as session:
            for statement in (refusing, old):
                await session.execute(text(statement))
            await session.commit()
        with caplog.at_level(logging.INFO):
            assert await table.finish(lease("a", "m-1"), 0, NOW)
    assert "it will be tried again tomorrow: dropping turns learned long ago: no" in caplog.text


async def test_any_text(tables: Tables) -> None:
    """Payload and journal are kept as they are, long ones and those of any script."""
    a, _ = tables
    words = "I am 東京 🗼 'quoted' \\ \" %s :name $1 " * 5_000
    await a.put(replace(turn("m-1"), payload=words))
    await a.take(lease("a", "m-1"), NOW, NOW + 30)
    await a.keep(lease("a", "m-1"), words[::-1], 0, NOW)
    (taken,) = await a.take(lease("b", "m-1"), NOW + 31, NOW + 61)
    assert (taken.payload, taken.journal) == (words, words[::-1])


async def test_no_table() -> None:
    """Where the host's database can't be had, each call says so."""
    table = HostPendingTable()
    held = lease("a", "m-1")
    for call in (
        table.put(turn("m-1")),
        table.waiting("ada"),
        table.take(held, NOW, NOW + 30),
        table.renew(held, NOW + 30),
        table.keep(held, "", 0, NOW),
        table.finish(held, 0, NOW),
        table.give_back(held, NOW, failed=True, calls=0, now=NOW),
        table.calls_since("ada", NOW),
    ):
        with pytest.raises(TablesUnavailable):
            await call


async def test_locked_database(tmp_path: Path) -> None:
    """A locked SQLite file is told in few words, which hold nothing of what was to be written."""
    async with two_workers("sqlite", tmp_path, TABLE, busy_seconds=0.01) as (worker, _):
        table = HostPendingTable(worker.sessions)
        await table.put(turn("m-1"))
        lock = sqlite3.connect(tmp_path / "webui.db", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with pytest.raises(TablesUnavailable, match=r"^queueing a turn: database is locked$"):
            await table.put(turn("m-2"))
        lock.execute("ROLLBACK")
        lock.close()
        assert await table.put(turn("m-2"))


@pytest.mark.parametrize("seed", range(4))
async def test_random_order(tables: Tables, seed: int) -> None:
    """Whatever workers do in which order, a turn has one valid lease and is finished once."""
    chance = random.Random(seed)
    now, messages = NOW, [f"m-{number}" for number in range(6)]
    for message in messages:
        await tables[0].put(turn(message))
    taken: dict[TurnLease, float] = {}
    finished: list[str] = []
    for number in range(120):
        now += chance.choice([0, 1, 5, 17])
        table = tables[number % 2]
        old = chance.choice([*taken, None])
        if old is None:
            some = chance.sample(messages, chance.randint(1, 3))
            wanted = lease(f"w-{number}", *some)
            running = [held for held, until in taken.items() if until >= now]
            got = await table.take(wanted, now, now + 30)
            assert bool(got) == (not running and not set(some) & set(finished))
            if got:
                lost = [held for held in taken if set(held.message_ids) & set(some)]
                taken = {held: until for held, until in taken.items() if held not in lost}
                taken[wanted] = now + 30
                for held in lost:
                    assert not await table.finish(held, 0, now)
        elif chance.random() < 0.4:
            assert await table.renew(old, now + 30)
            taken[old] = now + 30
        elif chance.random() < 0.3:
            assert await table.finish(old, 0, now)
            finished += old.message_ids
            del taken[old]
        elif chance.random() < 0.5:
            assert await table.give_back(old, now, failed=True, calls=0, now=now)
            del taken[old]
        # Otherwise the worker crashes: nothing happens, and time passes.
    assert len(finished) == len(set(finished))
    left = {one.message_id for one in await tables[1].waiting("ada")}
    assert left == set(messages) - set(finished)
