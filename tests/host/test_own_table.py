"""Leases and vectors in a real database, shared by two workers."""

from __future__ import annotations

import asyncio
import random

import numpy as np
import pytest

from adaptive.core.errors import TablesUnavailable
from adaptive.core.table_ports import StoredVector
from adaptive.host.own_table import HostLeaseTable
from adaptive.host.tables import host_secret
from adaptive.host.vector_table import HostVectorTable
from tests.host.databases import Worker

NOW = 1_700_000_000.0
MODEL = "host:local:minilm"
CAT = StoredVector("hash of cat", np.array([1, 0], np.float32))
DOG = StoredVector("hash of dog", np.array([0, 1], np.float32))
Workers = tuple[Worker, Worker]


async def test_lease_is_released(workers: Workers) -> None:
    """Only its owner releases a lease, unless it is dropped; then it is free at once."""
    a, b = (HostLeaseTable(worker.sessions) for worker in workers)
    await a.acquire("ada", "a", NOW, 30)
    await b.release("ada", "b")
    assert not await b.acquire("ada", "b", NOW, 30)
    await a.release("ada", "a")
    assert await b.acquire("ada", "b", NOW, 30)
    for _ in range(2):
        await a.drop("ada")
    assert await a.acquire("ada", "a", NOW, 30)


async def test_many_at_once(workers: Workers) -> None:
    """Of many that ask at the same moment exactly one gets a name: a new, a free, an ended one."""
    leases = [HostLeaseTable(worker.sessions) for worker in workers]
    for moment in (NOW, NOW + 31, NOW + 62):
        asking = [
            leases[number % 2].acquire("ada", f"w-{number}-{moment}", moment, 30)
            for number in range(12)
        ]
        assert (await asyncio.gather(*asking)).count(True) == 1


@pytest.mark.parametrize("seed", range(3))
async def test_random_order(workers: Workers, seed: int) -> None:
    """Whatever two workers do in which order, a name has one owner whose lease has not ended."""
    leases = [HostLeaseTable(worker.sessions) for worker in workers]
    chance = random.Random(seed)
    now, held = NOW, {0: 0.0, 1: 0.0}
    for _ in range(60):
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


def told(rows: dict[str, StoredVector]) -> dict[str, tuple[str, list[float]]]:
    """Rows in a form that can be compared."""
    return {id: (one.content_hash, one.vector.tolist()) for id, one in rows.items()}


async def test_vectors_are_shared(workers: Workers) -> None:
    """A worker reads what another wrote of a user and a model, until its memory changes or goes."""
    one, other = (HostVectorTable(worker.sessions) for worker in workers)
    await one.write("ada", MODEL, {"cat": CAT, "dog": DOG})
    await one.write("bob", MODEL, {"cat": DOG})
    await one.write("ada", "another", {"cat": DOG})
    assert told(await other.read("ada", MODEL)) == told({"cat": CAT, "dog": DOG})
    assert told(await other.read("ada", MODEL, ["dog", "gone"])) == told({"dog": DOG})
    assert await other.read("ada", MODEL, []) == {}
    await other.write("ada", MODEL, {"cat": DOG})
    await one.keep_only("ada", MODEL, ["cat"])
    assert told(await other.read("ada", MODEL)) == told({"cat": DOG})
    assert await one.read("ada", "another") == {}


async def test_no_host() -> None:
    """Where the host's database can't be had that is told; there is no secret then."""
    with pytest.raises(TablesUnavailable, match="taking a lease"):
        await HostLeaseTable().acquire("ada", "a", NOW, 30)
    with pytest.raises(TablesUnavailable, match="reading vectors"):
        await HostVectorTable().read("ada", MODEL)
    assert host_secret() == ""
