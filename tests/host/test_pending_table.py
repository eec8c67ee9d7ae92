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
from adaptive.table_ports import PendingTable, PendingTurn, TurnLease
from tests.host.databases import DATABASES, Worker, two_workers
from tests.learn.listed_turns import ListedTurns

NOW = 1_700_000_000.5
DAY = 24 * 3600
TABLE = "adaptive_memory_pending"
WORDS = '{"words": "I live in Porto."}'
Workers = tuple[Worker, Worker]
Tables = tuple[PendingTable, PendingTable]


@pytest.fixture(params=DATABASES)
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Workers, None]:
    """Two workers on a database without the table."""
    async with two_workers(request.param, tmp_path, TABLE) as both:
        yield both


@pytest.fixture
def real(workers: Workers) -> Tables:
    """The table as each of them has it."""
    first, second = workers
    return HostPendingTable(first.sessions), HostPendingTable(second.sessions)


@pytest.fixture(params=["listed", *DATABASES])
async def tables(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Tables, None]:
    """The table as two workers have it, and what stands for it where time is virtual."""
    if request.param == "listed":
        listed = ListedTurns()
        yield listed, listed
    else:
        async with two_workers(request.param, tmp_path, TABLE) as (first, second):
            yield HostPendingTable(first.sessions), HostPendingTable(second.sessions)


def turn(message_id: str, *, user_id: str = "ada", at: float = NOW) -> PendingTurn:
    """A turn of the only chat, due two seconds after it was queued."""
    return PendingTurn(user_id, message_id, "chat", WORDS, at, at + 2)


def lease(owner: str, *message_ids: str, user_id: str = "ada", batch: str = "") -> TurnLease:
    """A lease on a user, with some messages."""
    return TurnLease(user_id, owner, message_ids, batch)


async def waiting(table: PendingTable, user_id: str = "ada") -> tuple[PendingTurn, ...]:
    """A user's waiting turns."""
    return (await table.waiting(user_id, NOW)).turns


async def calls(table: PendingTable, user_id: str, since: float) -> int:
    """The model calls that are counted for a user."""
    return (await table.waiting(user_id, since)).calls


async def taken(table: PendingTable, held: TurnLease, now: float) -> tuple[PendingTurn, ...]:
    """Turns under a lease that can be had."""
    turns = await table.take(held, now, now + 30)
    assert turns is not None
    return turns


async def test_put_and_read(tables: Tables) -> None:
    """What one worker has put another reads, without the personal words, and takes with them."""
    a, b = tables
    await a.put(turn("m-1"))
    assert await waiting(b) == (replace(turn("m-1"), payload=""),)
    assert await waiting(b, "bob") == ()
    assert await taken(b, lease("b", "m-1"), NOW) == (turn("m-1"),)
    assert (await a.waiting("ada", NOW)).leased_until == NOW + 30


async def test_each_call_is_one_statement(real: Tables, workers: Workers) -> None:
    """From the outlet to the end of the lesson a turn costs five; the lease's row stays."""
    for number in range(2):
        workers[0].statements.clear()
        held = lease("a", f"m-{number}")
        await real[0].put(turn(f"m-{number}"))
        await real[0].waiting("ada", NOW)
        await taken(real[0], held, NOW)
        await real[0].renew(held, NOW + 30, "[]", 1)
        await real[0].finish(held, 0, NOW)
    assert workers[0].statements == ["INSERT", "SELECT", "UPDATE", "UPDATE", "UPDATE"]


async def test_put_twice(tables: Tables) -> None:
    """Regenerated, continued and multi-model answers of a message queue it once, at once too."""
    answers = [turn("m-1"), turn("m-1", at=NOW + 60), turn("m-1", user_id="bob")] * 4
    await asyncio.gather(*(tables[n % 2].put(one) for n, one in enumerate(answers)))
    (left,) = await waiting(tables[0])
    assert (left.message_id, left.due_at) == ("m-1", NOW + 2)


async def test_repeated_turn_is_due_sooner(tables: Tables) -> None:
    """A turn that waits for another try is due at once when its message is answered again."""
    a, b = tables
    await a.put(turn("m-1"))
    await taken(a, lease("a", "m-1"), NOW)
    await a.give_back(lease("a", "m-1"), NOW + 900, failed=True, calls=0)
    for at in (NOW + 10, NOW + 20):
        await b.put(turn("m-1", at=at))
        assert [one.due_at for one in await waiting(a)] == [NOW + 12]


async def test_oldest_first(real: Tables) -> None:
    """Waiting turns stand in the order in which they were queued, 200 at most."""
    for number in range(210):
        await real[number % 2].put(turn(f"m-{number:03}", at=NOW - number))
    await taken(real[0], lease("a"), NOW)
    queued = [one.message_id for one in await waiting(real[1])]
    assert queued == [f"m-{number:03}" for number in range(209, 9, -1)]


async def test_one_worker_serves_a_user(tables: Tables) -> None:
    """While a user is under a lease no other worker gets it, for turns or for other work."""
    a, b = tables
    for message in ("m-1", "m-2", "m-3"):
        await a.put(turn(message))
    await a.put(turn("m-1", user_id="bob"))
    for held in (lease("a", "m-1", "m-2"), lease("a-2")):
        await taken(a, held, NOW)
        for other in (lease("b", "m-2"), lease("b", "m-3"), lease("b")):
            assert await b.take(other, NOW, NOW + 30) is None
        assert await a.give_back(held, NOW, failed=False, calls=0)
    assert await taken(b, lease("b", "m-1", user_id="bob"), NOW)


async def test_take_all_or_none(tables: Tables) -> None:
    """Where one of the turns is not there any more, or has a journal by now, none is taken."""
    a, b = tables
    await a.put(turn("m-1"))
    assert await a.take(lease("a", "m-1", "m-2"), NOW, NOW + 30) is None
    await taken(b, lease("b", "m-1"), NOW)
    await b.renew(lease("b", "m-1"), NOW + 30, "[1]", 1)
    await b.give_back(lease("b", "m-1"), NOW, failed=False, calls=0)
    assert await a.take(lease("a", "m-1"), NOW, NOW + 30) is None
    assert await taken(a, lease("a", "m-1", batch="m-1"), NOW)


async def test_taken_at_once(tables: Tables) -> None:
    """Of workers that take turns of a user at the same moment one gets them: each its own turn."""
    for number in range(10):
        await tables[0].put(turn(f"m-{number}"))
    for _ in range(3):
        got = await asyncio.gather(
            *(tables[n % 2].take(lease(f"w-{n}", f"m-{n}"), NOW, NOW + 30) for n in range(10))
        )
        (number,) = (number for number, turns in enumerate(got) if turns is not None)
        winner = lease(f"w-{number}", f"m-{number}")
        assert await tables[0].give_back(winner, NOW, failed=False, calls=0)


async def test_done(real: Tables, workers: Workers) -> None:
    """A turn that was learned leaves a row without words, and is not learned again."""
    a, b = real
    await a.put(turn("m-1"))
    held = lease("a", "m-1")
    await taken(a, held, NOW)
    await a.renew(held, NOW + 30, "[journal]", 1)
    assert await a.finish(held, 0, NOW + 3)
    await b.put(turn("m-1"))
    assert await waiting(b) == ()
    assert await b.take(lease("b", "m-1", batch="m-1"), NOW + 99, NOW + 129) is None
    assert not await a.finish(held, 0, NOW + 4)
    columns = "state, payload, journal, learned_at, lease_owner"
    assert await workers[0].rows(f"SELECT {columns} FROM {TABLE} ORDER BY state") == [
        ("done", "", "", NOW + 3, ""),
        ("lease", "", "", NOW + 3, ""),
    ]


async def test_killed_worker(tables: Tables) -> None:
    """What a killed worker had taken is free when its lease has ended, with its journal."""
    a, b = tables
    for message in ("m-1", "m-2"):
        await a.put(turn(message))
    await taken(a, lease("a", "m-1", "m-2"), NOW)
    await a.renew(lease("a", "m-1", "m-2"), NOW + 30, "[journal]", 1)
    del a
    assert [one.batch for one in await waiting(b)] == ["m-2", "m-2"]
    both = lease("b", "m-1", "m-2", batch="m-2")
    assert await b.take(both, NOW + 30, NOW + 60) is None
    turns = await taken(b, both, NOW + 31)
    assert [(one.payload, one.attempts) for one in turns] == [(WORDS, 1), (WORDS, 1)]
    assert turns[-1].journal == "[journal]"


async def test_loser_changes_nothing(tables: Tables) -> None:
    """A worker whose turns were taken over can neither renew, keep, finish nor give back."""
    a, b = tables
    await a.put(turn("m-1"))
    late, winner = lease("a", "m-1"), lease("b", "m-1")
    await taken(a, late, NOW)
    await taken(b, winner, NOW + 31)
    assert not await a.renew(late, NOW + 90)
    assert not await a.renew(late, NOW + 30, "[late]", 1)
    assert not await a.finish(late, 1, NOW + 32)
    assert not await a.give_back(late, NOW, failed=True, calls=1)
    now = await b.waiting("ada", NOW)
    assert [(one.attempts, one.batch) for one in now.turns] == [(1, "")]
    assert now.leased_until == NOW + 61
    assert await b.finish(winner, 1, NOW + 33)
    assert await calls(b, "ada", NOW) == 1


async def test_user_taken_over(tables: Tables) -> None:
    """A worker whose user is under another lease finishes nothing, though its turns are free."""
    a, b = tables
    both = lease("a", "m-1", "m-2")
    for message in ("m-1", "m-2", "m-3"):
        await a.put(turn(message))
    await taken(a, both, NOW)
    for other in (lease("b", "m-3"), lease("b-2", "m-1"), lease("b-3")):
        await taken(b, other, NOW + 31)
        assert not await a.renew(both, NOW + 99)
        assert not await a.finish(both, 0, NOW + 32)
        await b.give_back(other, NOW, failed=False, calls=0)
    assert len(await waiting(a)) == 3


async def test_renewed(tables: Tables) -> None:
    """A lease lasts as long as it is renewed, one that has ended too if nobody took it."""
    a, b = tables
    await a.put(turn("m-1"))
    held, other = lease("a", "m-1"), lease("b", "m-1")
    await taken(a, held, NOW)
    assert await a.renew(held, NOW + 60)
    assert await b.take(other, NOW + 59, NOW + 89) is None
    assert await a.renew(held, NOW + 120)
    assert await b.take(other, NOW + 61, NOW + 91) is None


async def test_given_back(tables: Tables) -> None:
    """What is given back is free at once, counts its failures and keeps its journal."""
    a, b = tables
    await a.put(turn("m-1"))
    for number, batch in ((1, ""), (2, "m-1")):
        held = lease(f"a-{number}", "m-1", batch=batch)
        await taken(a, held, NOW)
        await a.renew(held, NOW + 30, f"[{number}]", 1)
        assert await a.give_back(held, NOW + 15, failed=number == 1, calls=1)
    now = await b.waiting("ada", NOW)
    assert [(one.attempts, one.due_at) for one in now.turns] == [(1, NOW + 15)]
    assert now.leased_until <= NOW
    (back,) = await taken(b, lease("b", "m-1", batch="m-1"), NOW)
    assert back.journal == "[2]"
    assert await calls(b, "ada", NOW) == 4


async def test_calls_are_counted(tables: Tables) -> None:
    """Calls count for their user, by when the turn was queued, once for turns that shared them."""
    a, b = tables
    assert await calls(b, "ada", 0) == 0
    await a.put(turn("m-3", user_id="bob"))
    for number in range(3):
        await a.put(turn(f"m-{number}", at=NOW + number))
    shared, later = lease("a", "m-0", "m-1"), lease("a-2", "m-2")
    bobs = lease("a-3", "m-3", user_id="bob")
    await taken(a, shared, NOW)
    await a.renew(shared, NOW + 30, "[]", 1)
    await a.finish(shared, 0, NOW + 10)
    await taken(a, later, NOW)
    await a.give_back(later, NOW, failed=True, calls=2)
    await taken(a, bobs, NOW)
    await a.give_back(bobs, NOW, failed=True, calls=7)
    assert [await calls(b, "ada", NOW + since) for since in (0, 2, 3)] == [3, 2, 0]
    assert await calls(b, "bob", NOW) == 7


async def test_tidy_up(real: Tables, workers: Workers, caplog: pytest.LogCaptureFixture) -> None:
    """Rows of turns learned a month ago go; what waits does not, but for half a year."""
    a, b = real
    for message, at in (("old", NOW), ("newer", NOW + 20 * DAY), ("waits", NOW)):
        await a.put(turn(message, at=at))
        if message != "waits":
            await taken(a, lease(message, message), at)
            await a.finish(lease(message, message), 0, at)
    for day, left in ((29, 5), (31, 5), (181, 2)):
        now = NOW + day * DAY
        await b.put(turn(f"day-{day}", at=now))
        await taken(b, lease("b", f"day-{day}"), now)
        await b.finish(lease("b", f"day-{day}"), 0, now)
        assert len(await workers[0].rows(f"SELECT 1 FROM {TABLE}")) == left
    assert [record.message for record in caplog.records] == [
        "1 turns of users who stayed away for half a year were never learned"
    ]


async def test_lease_is_not_tidied_away(real: Tables) -> None:
    """Where a user comes back after a month, another worker's tidying up leaves the lease alone."""
    a, b = real
    for user, now in (("ada", NOW), ("ada", NOW + 40 * DAY), ("bob", NOW + 40 * DAY)):
        await a.put(turn(f"at-{now}", user_id=user, at=now))
    first, again = lease("a", f"at-{NOW}"), lease("a", f"at-{NOW + 40 * DAY}")
    bobs = replace(again, user_id="bob", owner="b")
    await taken(a, first, NOW)
    await a.finish(first, 0, NOW)
    await taken(a, again, NOW + 40 * DAY)
    await taken(b, bobs, NOW + 40 * DAY)
    assert await b.finish(bobs, 0, NOW + 40 * DAY)
    assert await a.renew(again, NOW + 41 * DAY)


async def test_tidy_up_once_a_day(real: Tables, workers: Workers) -> None:
    """Tidying up is not paid for by each turn."""
    for number in range(3):
        held = lease("a", f"m-{number}")
        await real[0].put(turn(f"m-{number}"))
        await taken(real[0], held, NOW)
        await real[0].finish(held, 0, NOW + number)
    assert workers[0].statements.count("DELETE") == 1


async def test_tidy_up_fails(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A turn is finished even where nothing can be tidied up."""
    async with two_workers("sqlite", tmp_path, TABLE) as (worker, _):
        table = HostPendingTable(worker.sessions)
        await table.put(turn("m-1"))
        await taken(table, lease("a", "m-1"), NOW)
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


async def test_any_text(real: Tables) -> None:
    """Payload and journal are kept as they are, long ones and those of any script."""
    a, _ = real
    words = "I am 東京 🗼 'quoted' \\ \" %s :name $1 " * 5_000
    await a.put(replace(turn("m-1"), payload=words))
    await taken(a, lease("a", "m-1"), NOW)
    await a.renew(lease("a", "m-1"), NOW + 30, words[::-1], 0)
    (back,) = await taken(a, lease("b", "m-1", batch="m-1"), NOW + 31)
    assert (back.payload, back.journal) == (words, words[::-1])


async def test_no_table() -> None:
    """Where the host's database can't be had, each call says so."""
    table = HostPendingTable()
    held = lease("a", "m-1")
    for call in (
        table.put(turn("m-1")),
        table.waiting("ada", NOW),
        table.take(held, NOW, NOW + 30),
        table.renew(held, NOW + 30),
        table.renew(held, NOW + 30, "", 0),
        table.finish(held, 0, NOW),
        table.give_back(held, NOW, failed=True, calls=0),
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
        await table.put(turn("m-2"))
        assert len(await waiting(table)) == 2


async def test_random_order(tables: Tables) -> None:
    """Whatever workers do in which order, a user has one valid lease; a turn is finished once."""
    for seed in range(4):
        chance, user = random.Random(seed), f"user-{seed}"
        now, messages = NOW, [f"m-{number}" for number in range(6)]
        for message in messages:
            await tables[0].put(turn(message, user_id=user))
        held, until = lease("nobody"), 0.0
        finished: list[str] = []
        for number in range(80):
            now += chance.choice([0, 1, 5, 17])
            table = tables[number % 2]
            if chance.random() < 0.5:
                some = chance.sample(messages, chance.randint(0, 3))
                wanted = lease(f"w-{number}", *some, user_id=user)
                got = await table.take(wanted, now, now + 30)
                assert (got is not None) == (until < now and not set(some) & set(finished))
                if got is not None:
                    assert not await table.finish(held, 0, now)
                    held, until = wanted, now + 30
            elif until and chance.random() < 0.4:
                assert await table.renew(held, now + 30)
                until = now + 30
            elif until and chance.random() < 0.5:
                assert await table.finish(held, 0, now)
                finished += held.message_ids
                until = 0.0
            elif until and chance.random() < 0.5:
                assert await table.give_back(held, now, failed=True, calls=0)
                until = 0.0
            # Otherwise the worker crashes: nothing happens, and time passes.
        assert len(finished) == len(set(finished)) > 0
        left = {one.message_id for one in await waiting(tables[1], user)}
        assert left == set(messages) - set(finished)
