"""Vectors in a real database, kept by one worker and read by another."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import numpy as np
import pytest

from adaptive.host.vector_table import HostVectorTable
from adaptive.table_ports import StoredVector
from tests.host.databases import DATABASES, Worker, two_workers

MODEL = "host:local:minilm"
CAT = StoredVector("hash of cat", np.array([1, 0], np.float32))
DOG = StoredVector("hash of dog", np.array([0, 1], np.float32))
Workers = tuple[Worker, Worker]


@pytest.fixture(params=DATABASES)
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Workers, None]:
    """Two workers on a database without the table."""
    async with two_workers(request.param, tmp_path, "adaptive_memory_vector") as both:
        yield both


def told(rows: dict[str, StoredVector]) -> dict[str, tuple[str, list[float]]]:
    """Rows in a form that can be compared."""
    return {id: (one.content_hash, one.vector.tolist()) for id, one in rows.items()}


async def test_other_worker_reads_what_one_wrote(workers: Workers) -> None:
    """All vectors of a user and a model, or those of some memories, and nobody else's."""
    one, other = (HostVectorTable(worker.sessions) for worker in workers)
    await one.write("ada", MODEL, {"cat": CAT, "dog": DOG})
    await one.write("bob", MODEL, {"cat": DOG})
    await one.write("ada", "another", {"cat": DOG})
    both = told({"cat": CAT, "dog": DOG})
    assert told(await other.read("ada", MODEL)) == both
    assert told(await other.read("ada", MODEL, ["dog", "gone"])) == told({"dog": DOG})
    assert await other.read("ada", MODEL, []) == {}
    assert await other.read("cy", MODEL, ["cat"]) == {}


async def test_the_last_writer_wins(workers: Workers) -> None:
    """A memory that changed has its new vector, and none when it is gone."""
    one, other = (HostVectorTable(worker.sessions) for worker in workers)
    await one.write("ada", MODEL, {"cat": CAT, "dog": DOG})
    await other.write("ada", MODEL, {"cat": DOG})
    assert told(await one.read("ada", MODEL, ["cat"])) == told({"cat": DOG})
    await one.keep_only("ada", MODEL, ["cat"])
    assert told(await other.read("ada", MODEL)) == told({"cat": DOG})
