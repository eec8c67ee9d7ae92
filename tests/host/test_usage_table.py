"""Recalls in a real database, counted by two workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.dialects import postgresql

from adaptive.errors import TablesUnavailable
from adaptive.host.usage_table import HostUsageTable
from adaptive.table_ports import Recalls
from tests.host.databases import DATABASES, Worker, two_workers

NOW = 1_700_000_000
Workers = tuple[Worker, Worker]


@pytest.fixture(params=DATABASES)
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Workers, None]:
    """Two workers on a database without the table."""
    async with two_workers(request.param, tmp_path, "adaptive_memory_usage") as both:
        yield both


@pytest.fixture
def table(workers: Workers) -> HostUsageTable:
    """The table as one of them has it."""
    return HostUsageTable(workers[0].sessions)


async def test_counted(table: HostUsageTable, workers: Workers) -> None:
    """Each turn adds one to the memories it recalled, however often it names them."""
    await table.record("ada", ["a", "b", "a"], NOW)
    await HostUsageTable(workers[1].sessions).record("ada", ["b"], NOW + 5)
    await table.record("bob", ["a"], NOW + 9)
    assert await table.read("ada") == {"a": Recalls(1, NOW), "b": Recalls(2, NOW + 5)}
    assert await table.read("bob") == {"a": Recalls(1, NOW + 9)}
    assert await table.read("cy") == {}


async def test_one_statement_per_turn(table: HostUsageTable, workers: Workers) -> None:
    """A turn's recalls are one statement, however many they are; none is none."""
    await table.record("ada", ["a"], NOW)
    workers[0].statements.clear()
    await table.record("ada", [f"m{number}" for number in range(100)], NOW)
    assert [one for one in workers[0].statements if one != "PRAGMA"] == ["INSERT"]
    workers[0].statements.clear()
    await table.record("ada", [], NOW)
    assert workers[0].statements == []


async def test_more_than_one_statement_holds(table: HostUsageTable) -> None:
    """A whole store can be counted at once."""
    ids = [f"m{number}" for number in range(1000)]
    await table.record("ada", ids, NOW)
    await table.record("ada", ids, NOW + 1)
    assert await table.read("ada") == dict.fromkeys(ids, Recalls(2, NOW + 1))


async def test_two_workers_at_once(workers: Workers) -> None:
    """What two workers count at the same time adds up, in whatever order each names it."""
    tables = [HostUsageTable(worker.sessions) for worker in workers]
    ids = [f"m{number}" for number in range(40)]
    await asyncio.gather(
        *(tables[turn % 2].record("ada", ids[:: 1 - 2 * (turn % 2)], NOW) for turn in range(10))
    )
    assert await tables[0].read("ada") == dict.fromkeys(ids, Recalls(10, NOW))


async def test_merged(table: HostUsageTable) -> None:
    """A summary inherits the recalls of its originals, once, on top of its own."""
    await table.record("ada", ["a", "b", "other"], NOW)
    await table.record("ada", ["b", "sum"], NOW + 7)
    await table.record("bob", ["a"], NOW)
    for _ in range(2):
        await table.merge("ada", ["a", "b", "never", "sum"], "sum")
        read = await table.read("ada")
        assert read == {"other": Recalls(1, NOW), "sum": Recalls(4, NOW + 7)}
    assert await table.read("bob") == {"a": Recalls(1, NOW)}


async def test_merged_without_recalls(table: HostUsageTable) -> None:
    """Where nothing was ever recalled there is nothing to inherit."""
    await table.merge("ada", ["a", "b"], "sum")
    await table.merge("ada", [], "sum")
    assert await table.read("ada") == {}


async def test_gone_memories(table: HostUsageTable) -> None:
    """Recalls go with their memory, those of other users stay."""
    await table.record("ada", [f"m{number}" for number in range(400)], NOW)
    await table.record("bob", ["m1"], NOW)
    await table.keep_only("ada", ["m1", "never"])
    await table.keep_only("ada", ["m1"])
    assert await table.read("ada") == {"m1": Recalls(1, NOW)}
    assert await table.read("bob") == {"m1": Recalls(1, NOW)}


async def test_no_usage_table() -> None:
    """Where the host's database can't be had, that is told."""
    table = HostUsageTable()
    with pytest.raises(TablesUnavailable, match="counting recalls"):
        await table.record("ada", ["m"], NOW)
    with pytest.raises(TablesUnavailable, match="reading recalls"):
        await table.read("ada")
    with pytest.raises(TablesUnavailable, match="handing recalls over"):
        await table.merge("ada", ["m"], "n")
    with pytest.raises(TablesUnavailable, match="reading recalls"):
        await table.keep_only("ada", [])


async def test_counted_on_postgresql() -> None:
    """PostgreSQL gets its own form of the statement, which adds to what other workers counted."""
    dialect = postgresql.dialect()
    statements: list[str] = []

    class Session:
        def get_bind(self) -> Any:
            return SimpleNamespace(dialect=dialect)

        async def execute(self, statement: Any) -> None:
            statements.append(str(statement.compile(dialect=dialect)))

        async def commit(self) -> None: ...

    @asynccontextmanager
    async def sessions() -> AsyncGenerator[Any, None]:
        yield Session()

    table = HostUsageTable(sessions)
    table._table._created = True
    await table.record("ada", ["b", "a"], NOW)
    (statement,) = statements
    assert "ON CONFLICT (user_id, memory_id) DO UPDATE SET" in statement
    assert "adaptive_memory_usage.recalled + excluded.recalled" in statement
