"""The audit in a real database, written by two workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from adaptive.errors import TablesUnavailable
from adaptive.host.audit_table import HostAuditTable
from adaptive.table_ports import AuditEntry
from tests.host.databases import DATABASES, Worker, two_workers

NOW = 1_700_000_000
DAY = 24 * 3600
Workers = tuple[Worker, Worker]
SAVED = AuditEntry(
    "saved",
    "memory-1",
    NOW,
    after="User likes tea; 喜欢 \N{TEACUP WITHOUT HANDLE} 'quoted' \\ ",
    reason="said so",
    chat_id="chat-1",
    message_id="message-1",
)


def entry(at: int, memory_id: str = "m") -> AuditEntry:
    """A change of a moment."""
    return AuditEntry("updated", memory_id, at, before="a", after="b")


@pytest.fixture(params=DATABASES)
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Workers, None]:
    """Two workers on a database without the table."""
    async with two_workers(request.param, tmp_path, "adaptive_memory_audit") as both:
        yield both


async def test_what_was_written_is_read(workers: Workers) -> None:
    """Every field of every kind of change comes back, to another worker too, newest first."""
    entries = [
        SAVED,
        AuditEntry("updated", "memory-1", NOW, "User likes tea", "User likes green tea", "refined"),
        AuditEntry("deleted", "memory-1", NOW, before="User likes green tea"),
        AuditEntry("pruned", "memory-2", NOW + 1, before="b", reason="too many"),
        AuditEntry("summarised", "memory-3", NOW + 1, "c", "d", "now memory-4"),
        AuditEntry("restored", "memory-5", NOW + 1, after="b"),
    ]
    await HostAuditTable(workers[0].sessions).append("ada", entries, NOW)
    read = await HostAuditTable(workers[1].sessions).changes("ada", 0, 100)
    assert list(read) == entries[::-1]


async def test_since_and_limit(workers: Workers) -> None:
    """Only changes at or after the moment are read, and no more than wanted."""
    table = HostAuditTable(workers[0].sessions)
    await table.append("ada", [entry(NOW + second) for second in range(5)], NOW)
    assert [one.changed_at - NOW for one in await table.changes("ada", NOW + 3, 100)] == [4, 3]
    assert [one.changed_at - NOW for one in await table.changes("ada", 0, 2)] == [4, 3]
    assert await table.changes("ada", 0, 0) == ()
    assert await table.changes("ada", 0, -1) == ()
    assert await table.changes("ada", NOW + 5, 100) == ()


async def test_users_do_not_mix(workers: Workers) -> None:
    """Each user reads their own changes."""
    table = HostAuditTable(workers[0].sessions)
    await table.append("ada", [SAVED], NOW)
    await table.append("bob", [entry(NOW)], NOW)
    assert await table.changes("ada", 0, 9) == (SAVED,)
    assert await table.changes("bob", 0, 9) == (entry(NOW),)


async def test_nothing_to_write(workers: Workers) -> None:
    """Without changes the database is left in peace."""
    await HostAuditTable(workers[0].sessions).append("ada", [], NOW)
    assert workers[0].statements[1:] == []


async def test_old_changes_go(workers: Workers) -> None:
    """After 400 days a change goes, whoever writes next; a day younger it stays."""
    table = HostAuditTable(workers[0].sessions)
    await table.append("ada", [entry(NOW), entry(NOW + DAY)], NOW)
    await table.append("bob", [entry(NOW + 400 * DAY + 1)], NOW + 400 * DAY + 1)
    assert [one.changed_at for one in await table.changes("ada", 0, 9)] == [NOW + DAY]


async def test_tidied_once_a_day(workers: Workers) -> None:
    """Within a day nothing is looked for that may go: a database with one writer has no time."""
    table = HostAuditTable(workers[0].sessions)
    late = NOW + 400 * DAY
    await table.append("ada", [entry(NOW - DAY, "old")], late)
    assert await table.changes("ada", 0, 9) == ()
    await table.append("ada", [entry(NOW - DAY, "old")], late + DAY - 1)
    assert len(await table.changes("ada", 0, 9)) == 1
    await table.append("ada", [entry(late, "new")], late + DAY)
    assert [one.memory_id for one in await table.changes("ada", 0, 9)] == ["new"]


async def test_no_more_than_5000_of_a_user(workers: Workers) -> None:
    """Of one who changes a lot the newest 5,000 stay; nobody else loses any."""
    table = HostAuditTable(workers[0].sessions)
    await table.append("bob", [entry(NOW, "bob's")], NOW)
    await table.append("ada", [entry(NOW, f"m{number}") for number in range(5002)], NOW)
    await table.append("cy", [entry(NOW)], NOW + DAY)
    kept = await table.changes("ada", 0, 9999)
    assert [one.memory_id for one in kept] == [f"m{number}" for number in range(5001, 1, -1)]
    assert len(await table.changes("bob", 0, 9)) == 1


async def test_only_added_to(workers: Workers) -> None:
    """The same change, written twice, stands there twice: nothing is ever replaced."""
    table = HostAuditTable(workers[0].sessions)
    for _ in range(2):
        await table.append("ada", [SAVED], NOW)
    assert await table.changes("ada", 0, 9) == (SAVED, SAVED)


async def test_two_workers_at_once(workers: Workers) -> None:
    """What both write at the same time is all there, in the order in which each wrote."""
    tables = [HostAuditTable(worker.sessions) for worker in workers]
    await asyncio.gather(
        *(
            table.append("ada", [entry(NOW, f"{name}{number}") for number in range(20)], NOW)
            for name, table in zip("ab", tables, strict=True)
        )
    )
    read = [one.memory_id for one in await tables[0].changes("ada", 0, 99)]
    for name in "ab":
        own = [memory_id for memory_id in read if memory_id.startswith(name)]
        assert own == [f"{name}{number}" for number in range(19, -1, -1)]


async def test_newest_of_a_user_by_index(workers: Workers) -> None:
    """The newest changes are found by an index, not by reading the table."""
    worker = workers[0]
    await HostAuditTable(worker.sessions).append("ada", [SAVED], NOW)
    if worker.engine.dialect.name == "sqlite":
        (step,) = await worker.rows(
            "EXPLAIN QUERY PLAN SELECT * FROM adaptive_memory_audit "
            "WHERE user_id = 'ada' AND changed_at >= 0 ORDER BY id DESC LIMIT 9"
        )
        assert "USING INDEX" in step[-1]


async def test_no_audit_table() -> None:
    """Where the host's database can't be had, that is told."""
    table = HostAuditTable()
    with pytest.raises(TablesUnavailable, match="writing the audit"):
        await table.append("ada", [replace(SAVED)], NOW)
    with pytest.raises(TablesUnavailable, match="reading the audit"):
        await table.changes("ada", 0, 9)
