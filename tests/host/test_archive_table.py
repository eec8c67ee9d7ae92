"""The archive in a real database, used by two workers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from adaptive.errors import TablesUnavailable
from adaptive.host.archive_table import HostArchiveTable
from adaptive.model import Memory
from adaptive.table_ports import ArchivedMemory
from tests.fakes import memory
from tests.host.databases import DATABASES, Worker, two_workers

NOW = 1_700_000_000
Workers = tuple[Worker, Worker]
FULL = Memory(
    "memory-1",
    "User likes tea; 喜欢 'quoted' \\ \N{TEACUP WITHOUT HANDLE}",
    NOW - 9,
    NOW - 5,
    ("preference", "behavior"),
    "Work",
    0.875,
    7,
    {
        "chat_id": "c",
        "said_at": NOW - 9,
        "history": [{"content": "User likes coffee", "until": NOW - 5}],
        "odd": [None, True, 1.5, {"a": {}}, "\u0000"],
    },
    "2027-02-28",
)


def archived(one: Memory, at: int = NOW, summary: str = "") -> ArchivedMemory:
    """A memory as it is put into the archive."""
    return ArchivedMemory(one, "too many", at, summary)


@pytest.fixture(params=DATABASES)
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Workers, None]:
    """Two workers on a database without the table."""
    async with two_workers(request.param, tmp_path, "adaptive_memory_archive") as both:
        yield both


@pytest.fixture
def table(workers: Workers) -> HostArchiveTable:
    """The table as one of them has it."""
    return HostArchiveTable(workers[0].sessions)


async def test_whole_row_comes_back(table: HostArchiveTable, workers: Workers) -> None:
    """Everything a memory has comes back, to another worker too, and it stays in the archive."""
    put = archived(FULL, summary="User likes hot drinks.")
    await table.put("ada", [put])
    other = HostArchiveTable(workers[1].sessions)
    for _ in range(2):
        assert await other.restore("ada", "memory-1") == put
    assert await other.find("ada", ["memory-1", "memory-2"]) == {"memory-1": put}


async def test_nothing_archived(table: HostArchiveTable) -> None:
    """What was never archived is not found, and users see their own."""
    await table.put("ada", [archived(FULL)])
    await table.put("ada", [])
    assert await table.restore("bob", "memory-1") is None
    assert await table.restore("ada", "memory-2") is None
    assert await table.read("bob") == ()
    assert await table.find("ada", []) == {}
    await table.discard("bob", ["memory-1"])
    assert await table.restore("ada", "memory-1") == archived(FULL)


async def test_put_again_replaces(table: HostArchiveTable) -> None:
    """A memory is archived once: the last time counts, also within one call."""
    later = archived(replace(FULL, content="User likes green tea"), NOW + 1)
    await table.put("ada", [archived(FULL)])
    await table.put("ada", [archived(FULL), later])
    assert await table.read("ada") == (later,)


async def test_last_archived_first(table: HostArchiveTable) -> None:
    """The whole archive is read in the order in which one would look for a loss."""
    many = [archived(memory(f"m{number:03}", "a"), NOW + number) for number in range(250)]
    await table.put("ada", many)
    assert list(await table.read("ada")) == many[::-1]
    ids = [one.memory.id for one in many]
    assert await table.find("ada", ids) == {one.memory.id: one for one in many}


async def test_discarded(table: HostArchiveTable) -> None:
    """What was brought back is gone from the archive, the rest is not."""
    await table.put("ada", [archived(memory(name, "a")) for name in "abc"])
    await table.discard("ada", ["a", "c", "never"])
    assert [one.memory.id for one in await table.read("ada")] == ["b"]


async def test_all_or_none(table: HostArchiveTable) -> None:
    """If one of them can't be archived, none is, and what stood there before still does."""
    await table.put("ada", [archived(FULL)])
    broken: Any = replace(FULL, id="memory-2", created_at="yesterday" * 9)
    circular: dict[str, Any] = {}
    circular["self"] = circular
    for bad in (replace(broken, content=None), replace(FULL, id="memory-3", meta=circular)):
        with pytest.raises(TablesUnavailable, match="archiving memories"):
            await table.put("ada", [archived(replace(FULL, content="new")), archived(bad)])
    assert await table.read("ada") == (archived(FULL),)


async def test_what_is_no_json_is_seen(table: HostArchiveTable) -> None:
    """Meta that can't be kept as it is comes back different, so that nobody deletes the row."""
    put = archived(replace(FULL, meta={"when": object()}))
    await table.put("ada", [put])
    assert await table.restore("ada", "memory-1") != put


@pytest.mark.parametrize("details", ["", "{", "[]", "null", '{"tags": 5, "meta": []}'])
async def test_damaged_details(table: HostArchiveTable, workers: Workers, details: str) -> None:
    """A row whose details were damaged still gives its content and its dates back."""
    await table.put("ada", [archived(FULL)])
    async with workers[0].sessions() as session:
        await session.execute(
            text("UPDATE adaptive_memory_archive SET details = :it"), {"it": details}
        )
        await session.commit()
    found = await table.restore("ada", "memory-1")
    assert found is not None
    assert (found.memory.content, found.memory.created_at) == (FULL.content, FULL.created_at)
    assert (found.memory.tags, found.memory.meta) == ((), {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
# What a text column of PostgreSQL takes.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.builds(
        Memory,
        id=st.just("m"),
        content=TEXT,
        created_at=st.integers(0, 2**62),
        updated_at=st.integers(0, 2**62),
        tags=st.lists(TEXT, max_size=3).map(tuple),
        bank=TEXT,
        confidence=st.floats(0, 1),
        importance=st.integers(),
        meta=st.dictionaries(st.text(), JSON, max_size=4),
    ),
    TEXT,
)
async def test_any_row_comes_back(table: HostArchiveTable, row: Memory, summary: str) -> None:
    """Whatever a row of the host holds, it comes back equal."""
    put = ArchivedMemory(row, "", NOW, summary)
    await table.put("ada", [put])
    assert await table.restore("ada", "m") == put


async def test_no_archive_table() -> None:
    """Where the host's database can't be had, that is told, so that nothing is deleted."""
    table = HostArchiveTable()
    with pytest.raises(TablesUnavailable, match="archiving memories"):
        await table.put("ada", [archived(FULL)])
    with pytest.raises(TablesUnavailable, match="looking into the archive"):
        await table.restore("ada", "m")
    with pytest.raises(TablesUnavailable, match="reading the archive"):
        await table.read("ada")
    with pytest.raises(TablesUnavailable, match="clearing the archive"):
        await table.discard("ada", ["m"])
