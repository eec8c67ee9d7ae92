"""Leases in a real database, taken by two workers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from adaptive.errors import TablesUnavailable
from adaptive.host.lease_table import HostLeaseTable
from tests.host.databases import DATABASES, Worker, two_workers

NOW = 1_700_000_000.0
Workers = tuple[Worker, Worker]


@pytest.fixture(params=DATABASES)
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Workers, None]:
    """Two workers on a database without the table."""
    async with two_workers(request.param, tmp_path, "adaptive_memory_lease") as both:
        yield both


@pytest.fixture
def leases(workers: Workers) -> tuple[HostLeaseTable, HostLeaseTable]:
    """The table as each of them has it."""
    first, second = workers
    return HostLeaseTable(first.sessions), HostLeaseTable(second.sessions)


Leases = tuple[HostLeaseTable, HostLeaseTable]


async def test_one_owner_at_a_time(leases: Leases) -> None:
    """What one worker holds another does not get; another name it does."""
    a, b = leases
    assert await a.acquire("ada", "a", NOW, 30)
    assert not await b.acquire("ada", "b", NOW + 1, 30)
    assert await b.acquire("bob", "b", NOW + 1, 30)


async def test_released(leases: Leases, workers: Workers) -> None:
    """What its owner has released is free at once and leaves no row."""
    a, b = leases
    await a.acquire("ada", "a", NOW, 30)
    await b.release("ada", "b")
    assert not await b.acquire("ada", "b", NOW, 30)
    await a.release("ada", "a")
    assert await workers[0].rows("SELECT * FROM adaptive_memory_lease") == []
    assert await b.acquire("ada", "b", NOW, 30)


async def test_owner_prolongs(leases: Leases) -> None:
    """The owner's lease lasts as long as it is prolonged, and not a moment longer."""
    a, b = leases
    for moment in range(0, 100, 10):
        assert await a.acquire("ada", "a", NOW + moment, 30)
    assert not await b.acquire("ada", "b", NOW + 119, 30)
    assert not await b.acquire("ada", "b", NOW + 120, 30)
    assert await b.acquire("ada", "b", NOW + 120.1, 30)
    assert not await a.acquire("ada", "a", NOW + 120.2, 30)


async def test_killed_worker(leases: Leases) -> None:
    """The lease of a worker that was killed ends by itself."""
    a, b = leases
    await a.acquire("ada", "a", NOW, 30)
    del a
    assert not await b.acquire("ada", "b", NOW + 29, 30)
    assert await b.acquire("ada", "b", NOW + 31, 30)


async def test_late_release(leases: Leases) -> None:
    """A worker that comes too late does not free what is another one's by now."""
    a, b = leases
    await a.acquire("ada", "a", NOW, 30)
    await b.acquire("ada", "b", NOW + 31, 30)
    await a.release("ada", "a")
    assert not await a.acquire("ada", "a", NOW + 32, 30)


async def test_many_at_once(leases: Leases) -> None:
    """Of many that ask at the same moment exactly one gets a name: a new, a free, an ended one."""
    for moment in (NOW, NOW + 31, NOW + 62):
        taken = await asyncio.gather(
            *(
                leases[number % 2].acquire("ada", f"w-{number}-{moment}", moment, 30)
                for number in range(12)
            )
        )
        assert taken.count(True) == 1


async def test_table_is_created_by_both(leases: Leases) -> None:
    """Two workers that both find no table create it between them, and neither fails."""
    names = [f"user-{number}" for number in range(8)]
    taken = await asyncio.gather(
        *(leases[number % 2].acquire(name, "w", NOW, 30) for number, name in enumerate(names))
    )
    assert all(taken)


@pytest.mark.parametrize("seed", range(5))
async def test_random_order(leases: Leases, seed: int) -> None:
    """Whatever two workers do in which order, a name has one owner whose lease has not ended."""
    chance = random.Random(seed)
    now, held = NOW, {0: 0.0, 1: 0.0}
    for _ in range(80):
        now += chance.choice([0, 1, 7, 13])
        worker = chance.randrange(2)
        if chance.random() < 0.25:
            await leases[worker].release("ada", f"w-{worker}")
            held[worker] = 0.0
            continue
        taken = await leases[worker].acquire("ada", f"w-{worker}", now, 30)
        # A lease that has ended stays its owner's until somebody else takes it.
        assert taken == (held[1 - worker] < now)
        if taken:
            held = {worker: now + 30, 1 - worker: 0.0}


async def test_no_table() -> None:
    """Where the host's database can't be had, that is told."""
    table = HostLeaseTable()
    with pytest.raises(TablesUnavailable, match="taking a lease"):
        await table.acquire("ada", "a", NOW, 30)
    with pytest.raises(TablesUnavailable, match="releasing a lease"):
        await table.release("ada", "a")
