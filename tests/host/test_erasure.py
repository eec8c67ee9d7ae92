"""Forgetting in a real database: nothing of the user is left, nothing of anybody else's gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from datetime import UTC, date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from adaptive.conversation_ports import ChatNotes
from adaptive.errors import MemoryUnavailable, StoreError, TablesUnavailable
from adaptive.host.archive_table import HostArchiveTable
from adaptive.host.audit_table import HostAuditTable
from adaptive.host.chat_notes_table import HostChatNotesTable
from adaptive.host.chat_table import HostChatTable
from adaptive.host.erasable_tables import ErasableTables
from adaptive.host.erasure import ErasureReport, Holdings, erase_everything
from adaptive.host.lease_table import HostLeaseTable
from adaptive.host.origin_erasure import erase_where, forecast_where
from adaptive.host.pending_table import HostPendingTable
from adaptive.host.sealed_tables import (
    SealedArchiveTable,
    SealedAuditTable,
    SealedChatTable,
    SealedPendingTable,
)
from adaptive.host.usage_table import HostUsageTable
from adaptive.host.vector_table import HostVectorTable
from adaptive.model import Memory
from adaptive.privacy.retention import FromChat, FromPeriod, FromSource, Origin
from adaptive.privacy.sealing import Sealer
from adaptive.table_ports import ArchivedMemory, AuditEntry, PendingTurn, StoredVector, TurnLease
from tests.fakes import memory
from tests.host.databases import DATABASES, Worker, two_workers

NOW = 1_700_000_000
DAY = 86_400
KINDS = ("archive", "audit", "chat", "chat_notes", "lease", "pending", "usage", "vector", "newer")
TABLES = tuple(f"adaptive_memory_{kind}" for kind in KINDS)
# Ids that patterns and quotes might mix up.
USERS = ("ada", "ADA", "ada2", "a%", "a_a", "o'ada")


def row(id: str, **meta: Any) -> Memory:
    """A memory of Ada's, saved when its meta says it was said."""
    meta = {"source": "adaptive_memory", "said_at": NOW, **meta}
    return memory(id, f"content of {id}", created_at=NOW, meta=meta)


@dataclass
class Rows:
    """``ErasableMemories`` whose rows are a list.

    Deleting an id in ``stuck`` fails; ``refusal`` is raised by everything; after each deletion of
    all, one of ``late`` is written, and it fails where only vectors are stuck.
    """

    rows: list[Memory]
    keeps_provenance: bool = True
    stuck: set[str] = field(default_factory=set)
    refusal: Exception | None = None
    late: list[Memory] = field(default_factory=list)
    vectors_stuck: bool = False
    erasures: int = 0

    async def read(self) -> tuple[Memory, ...]:
        """A copy."""
        if self.refusal:
            raise self.refusal
        return tuple(self.rows)

    async def delete(self, memory: Memory) -> None:
        """One row less."""
        if self.refusal:
            raise self.refusal
        if memory.id in self.stuck:
            raise StoreError("the row is stuck")
        self.rows.remove(memory)

    async def delete_all(self) -> None:
        """No row."""
        self.erasures += 1
        if self.stuck:
            raise StoreError("rows are stuck")
        self.rows[:] = self.late[:1]
        del self.late[:1]
        if self.vectors_stuck:
            raise StoreError("vectors still stand")


class House:
    """All our tables on one database, with the same rows for each user."""

    def __init__(self, worker: Worker) -> None:
        self.worker, sessions = worker, worker.sessions
        self.pending = SealedPendingTable(HostPendingTable(sessions), Sealer("secret"))
        self.audit = SealedAuditTable(HostAuditTable(sessions), Sealer("secret"))
        self.archive = SealedArchiveTable(HostArchiveTable(sessions), Sealer("secret"))
        self.chats = SealedChatTable(HostChatTable(sessions), Sealer("secret"))
        self.notes = HostChatNotesTable(Sealer("secret"), sessions)
        self.leases = HostLeaseTable(sessions)
        self.usage = HostUsageTable(sessions)
        self.vectors = HostVectorTable()
        self.vectors._table._sessions = sessions

    async def fill(self, user_id: str) -> None:
        """What a user has after some turns in three chats."""
        for chat in "cde":
            turn = PendingTurn(user_id, f"m-{chat}", chat, '["words"]', NOW, NOW)
            await self.pending.put(turn)
            await self.chats.write(user_id, chat, "[]", NOW)
            await self.notes.write(user_id, chat, ChatNotes("tea", "About tea."), NOW)
            change = AuditEntry("saved", f"{chat}1", NOW, "", "words", "new", chat, f"m-{chat}")
            await self.audit.append(user_id, [change], NOW)
        ids = ["c1", "d1", "e1", "c9"]
        await self.archive.put(user_id, [ArchivedMemory(row("c9", chat_id="c"), "", NOW)])
        await self.usage.record(user_id, ids, NOW)
        vector = StoredVector("hash", np.ones(4, np.float32) / 2)
        await self.vectors.write(user_id, "words", dict.fromkeys(ids, vector))
        for subject in ("topics", "upkeep"):
            await self.leases.acquire(f"{subject}:{user_id}", "worker", NOW, 30)

    async def copy(self) -> None:
        """The same rows for all other users, as far as the database can tell."""
        tables = await ErasableTables(self.worker.sessions).existing()
        async with self.worker.sessions() as session:
            for name, columns in tables.items():
                copied = sorted(columns - {"id"})
                whose = "name" if "name" in columns else "user_id"
                new = [f"replace({one}, 'ada', :id)" if one == whose else one for one in copied]
                query = (
                    f"INSERT INTO {name} ({', '.join(copied)}) "
                    f"SELECT {', '.join(new)} FROM {name} WHERE {whose} IN ('ada', 'topics:ada')"
                )
                for user_id in USERS[1:]:
                    await session.execute(text(query), {"id": user_id})
            await session.commit()

    async def contents(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table of ours, whoever made the table."""
        tables = await ErasableTables(self.worker.sessions).existing()
        return {
            name: sorted(
                (tuple(one) for one in await self.worker.rows(f"SELECT * FROM {name}")), key=repr
            )
            for name in tables
        }

    async def ids(self, kind: str, user_id: str, column: str = "memory_id") -> set[str]:
        """What stands in a column of a user's rows."""
        query = f"SELECT {column} FROM adaptive_memory_{kind} WHERE user_id = '{user_id}'"
        return {one for (one,) in await self.worker.rows(query)}

    def holdings(self, rows: Rows, **fields: Any) -> Holdings:
        """What is held of Ada."""
        sessions = self.worker.sessions
        return Holdings("ada", rows, ErasableTables(sessions), self.archive, **fields)


@pytest.fixture(params=DATABASES)
async def worker(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Worker, None]:
    """A database without the tables."""
    async with two_workers(request.param, tmp_path, *TABLES) as (first, _):
        yield first


@pytest.fixture
async def house(worker: Worker) -> House:
    """All tables, filled for users of many names, and one table that this release does not know."""
    filled = House(worker)
    await filled.fill("ada")
    async with worker.sessions() as session:
        await session.execute(
            text("CREATE TABLE adaptive_memory_newer (user_id VARCHAR(64), thought TEXT)")
        )
        await session.execute(text("INSERT INTO adaptive_memory_newer VALUES ('ada', 'words')"))
        await session.commit()
    await filled.copy()
    return filled


def held() -> Rows:
    """Ada's rows in the host's table."""
    return Rows([row("c1", chat_id="c"), row("d1", chat_id="d"), row("e1", chat_id="e")])


def mentions(content: object, user_id: str) -> bool:
    """Whether a value of a column names a user, alone or after a colon."""
    return isinstance(content, str) and content.rpartition(":")[2] == user_id


async def test_nothing_is_left(house: House) -> None:
    """After all was erased, no table of ours names the user; everybody else's rows are the same."""
    before = await house.contents()
    rows = held()
    report = await erase_everything(house.holdings(rows))
    after = await house.contents()
    assert rows.rows == []
    assert report.complete
    assert report.notes == ()
    assert report.removed == {
        "memory": 3,
        "archive": 1,
        "audit": 3,
        "chat": 3,
        "chat_notes": 3,
        "lease": 2,
        "newer": 1,
        "pending": 3,
        "usage": 4,
        "vector": 4,
    }
    assert before.keys() == after.keys() == set(TABLES)
    for name, contents in before.items():
        others = [one for one in contents if not any(mentions(value, "ada") for value in one)]
        assert after[name] == others, name
        assert len(others) < len(contents), name


async def test_repeated(house: House) -> None:
    """To erase what is gone removes nothing, and fails at nothing."""
    await erase_everything(house.holdings(held()))
    contents = await house.contents()
    report = await erase_everything(house.holdings(Rows([])))
    assert set(report.removed.values()) == {0}
    assert report.complete
    assert report.line == "There was nothing to erase."
    assert await house.contents() == contents


async def test_no_table_is_made(worker: Worker) -> None:
    """Nothing is created to erase from it, nor to look for what came from somewhere."""
    house = House(worker)
    report = await erase_everything(house.holdings(held()))
    assert report.removed == {"memory": 3}
    assert (await erase_where(house.holdings(held()), FromChat("c"), NOW)).removed == {"memory": 1}
    assert await house.contents() == {}
    assert {"CREATE", "INSERT"}.isdisjoint(worker.statements)


async def test_vectors_without_rows(worker: Worker) -> None:
    """Vectors of the host's that were left behind are erased, though the user has no row."""
    rows = Rows([])
    await erase_everything(House(worker).holdings(rows))
    assert rows.erasures == 1


async def test_worker_under_way(house: House) -> None:
    """A worker that has turns in its hands finds them gone before its next write; others go on."""
    for user_id in ("bob", "eve"):
        await house.pending.put(PendingTurn(user_id, "m-c", "c", "[]", NOW, NOW))
    for user_id, origin in (("ada", None), ("bob", FromChat("c"))):
        lease = TurnLease(user_id, "worker", ("m-c",))
        assert await house.pending.take(lease, NOW, NOW + 30) is not None
        holdings = replace(house.holdings(held()), user_id=user_id)
        await (erase_where(holdings, origin, NOW) if origin else erase_everything(holdings))
        assert not await house.pending.renew(lease, NOW + 60)
        assert not await house.pending.renew(lease, NOW + 30, "[]", 0)
    assert await house.pending.take(TurnLease("eve", "worker", ("m-c",)), NOW, NOW + 30)


async def test_written_meanwhile(house: House) -> None:
    """What is written behind the first look is erased, too; if it never ends, that is told."""
    report = await erase_everything(house.holdings(Rows([row("1")], late=[row("2")])))
    assert (report.removed["memory"], report.notes) == (2, ())
    endless = Rows([row("1")], late=[row(str(number)) for number in range(9)])
    report = await erase_everything(house.holdings(endless))
    assert report.complete
    assert report.notes == ("something was written meanwhile; please erase once more",)


@pytest.mark.parametrize("refusal", [None, MemoryUnavailable("memories are switched off")])
async def test_host_refuses(house: House, refusal: Exception | None) -> None:
    """Where the host keeps its rows, everything of ours goes all the same, and the report tells."""
    rows = replace(held(), refusal=refusal, stuck={"c1"})
    report = await erase_everything(house.holdings(rows))
    assert not report.complete
    assert report.failed == {"memory": str(refusal or "rows are stuck")}
    assert report.line.endswith(f"Not erased: memories ({report.failed['memory']}).")
    assert await house.ids("archive", "ada") == set()
    assert await house.ids("pending", "ada", "message_id") == set()


async def test_vectors_of_the_host_stay(worker: Worker) -> None:
    """Rows that are gone are counted, though the host could not delete their vectors."""
    rows = replace(held(), vectors_stuck=True)
    report = await erase_everything(House(worker).holdings(rows))
    assert report.removed["memory"] == 3
    assert report.failed == {"memory": "vectors still stand"}


async def test_table_refuses(house: House) -> None:
    """A table that can't be changed is named; the next erasure finishes what is left."""
    async with house.worker.sessions() as session:
        await session.execute(text("DROP TABLE adaptive_memory_audit"))
        await session.execute(
            text("CREATE VIEW adaptive_memory_view AS SELECT user_id FROM adaptive_memory_chat")
        )
        await session.commit()
    tables = ErasableTables(house.worker.sessions)
    await tables.existing()
    tables._columns = {**tables._columns, "adaptive_memory_audit": frozenset({"user_id"})}

    async def remembered() -> Any:
        return tables._columns

    tables.existing = remembered  # type: ignore[method-assign]
    try:
        report = await erase_everything(replace(house.holdings(held()), tables=tables))
        assert set(report.failed) == {"audit"}
        assert "erasing from adaptive_memory_audit" in report.failed["audit"]
        assert await house.ids("vector", "ada") == set()
        report = await erase_everything(house.holdings(Rows([])))
        assert report.complete
    finally:
        async with house.worker.sessions() as session:
            await session.execute(text("DROP VIEW adaptive_memory_view"))
            await session.commit()


async def test_no_database() -> None:
    """Where our tables can't be reached, the host's rows are erased, and the report tells."""
    rows = held()
    tables, archive = ErasableTables(), HostArchiveTable()
    holdings = Holdings("ada", rows, tables, archive)
    report = await erase_everything(holdings)
    assert (rows.rows, report.removed["memory"]) == ([], 3)
    assert set(report.failed) == {"tables"}
    report = await erase_where(replace(holdings, memories=held()), FromChat("c"), NOW)
    assert (report.removed["memory"], set(report.failed)) == (1, {"tables"})
    with pytest.raises(TablesUnavailable):
        await tables.existing()


async def test_caches_forget(house: House) -> None:
    """Each cache of the process is told whom to forget."""
    forgotten: list[str] = []
    holdings = house.holdings(held(), caches=(forgotten.append,))
    await erase_where(holdings, FromChat("c"), NOW)
    assert forgotten == ["ada"]
    await erase_everything(holdings)
    assert set(forgotten) == {"ada"}


async def test_caller_gives_up(house: House) -> None:
    """An erasure that is cut off leaves what a repetition then finds."""
    task = asyncio.create_task(erase_everything(house.holdings(held())))
    await asyncio.sleep(0.005)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.sleep(0.05)  # the statement under way goes on to its end
    await erase_everything(house.holdings(held()))
    told = [value for rows in (await house.contents()).values() for one in rows for value in one]
    assert not any(mentions(value, "ada") for value in told)


@dataclass(frozen=True)
class Case:
    """Where something came from, and which of Ada's memories stay in the store."""

    id: str
    origin: Origin
    stay: str


EARLIER = NOW - 3 * DAY
ROWS = [
    row("c1", chat_id="c"),
    row("d1", chat_id="d", said_at=EARLIER),
    row("e1", chat_id="e", said_at=EARLIER, source="import"),
    # Said in chat `c`, changed in chat `d` since: only the audit knows of the first.
    row("m1", chat_id="d", said_at=EARLIER, history=[{"said_at": EARLIER}]),
    row("s1", said_at=EARLIER, summary_of=[{"id": "c9"}, {"id": "d9"}]),
]
CASES = [
    Case("chat", FromChat("c"), "d1 e1"),
    Case("another chat", FromChat("d"), "c1 e1 s1"),
    Case("unknown chat", FromChat("x"), "c1 d1 e1 m1 s1"),
    Case("day", FromPeriod.of_day(date(2023, 11, 14), UTC), "m1"),
    Case("day before", FromPeriod.of_day(date(2023, 11, 11), UTC), "c1"),
    Case("source", FromSource("import"), "c1 d1 m1 s1"),
]


async def prepare(house: House) -> Rows:
    """More rows of Ada's, and what the tables tell of them."""
    archived = [
        ArchivedMemory(row("c9", chat_id="c"), "", NOW, "content of s1"),
        ArchivedMemory(row("d9", chat_id="q", said_at=EARLIER), "", NOW, "content of s1"),
    ]
    await house.archive.put("ada", archived)
    entries = [
        AuditEntry("saved", "m1", EARLIER, "", "first", "", "c", "m-c0"),
        AuditEntry("updated", "m1", EARLIER + 60, "first", "second", "", "d", "m-d0"),
        AuditEntry("saved", "s1", EARLIER + 90, "", "a summary"),
        AuditEntry("summarised", "c9", EARLIER + 90, "content of c9", "a summary", "now s1"),
    ]
    await house.audit.append("ada", entries, NOW)
    ids = ["m1", "s1", "gone"]
    vector = StoredVector("hash", np.ones(4, np.float32) / 2)
    await house.vectors.write("ada", "other", dict.fromkeys(ids, vector))
    await house.usage.record("ada", ids, NOW)
    return Rows(list(ROWS))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_erase_where(house: House, case: Case) -> None:
    """What came from there goes, with all that belongs to it; the rest stays, others' untouched."""
    rows = await prepare(house)
    before = await house.contents()
    report = await erase_where(house.holdings(rows), case.origin, NOW + 9)
    assert report.complete
    stay = set(case.stay.split())
    assert {one.id for one in rows.rows} == stay
    assert report.removed.get("memory", 0) == len(ROWS) - len(stay)
    archived = await house.ids("archive", "ada")
    assert await house.ids("vector", "ada") <= stay | archived
    assert await house.ids("usage", "ada") <= stay | archived
    assert stay <= await house.ids("usage", "ada")
    erased = {one.id for one in ROWS} - stay
    assert not erased & await house.ids("audit", "ada")
    after = await house.contents()
    for name, contents in before.items():
        others = [one for one in contents if not any(mentions(value, "ada") for value in one)]
        assert [one for one in after[name] if one in others] == others, name


@pytest.mark.parametrize("origin", [FromChat(""), FromSource("")])
async def test_erase_from_nowhere(house: House, origin: Origin) -> None:
    """Without a chat or a source nothing is erased: much has none, which does not make it one."""
    rows = await prepare(house)
    before = await house.contents()
    report = await erase_where(house.holdings(rows), origin, NOW)
    assert report == ErasureReport({}, {})
    assert (rows.rows, await house.contents()) == (ROWS, before)


async def test_chat_leaves_nothing(house: House) -> None:
    """Of one chat neither entries, state, archive nor words to learn stay; other chats' do."""
    rows = await prepare(house)
    report = await erase_where(house.holdings(rows), FromChat("c"), NOW + 9)
    assert await house.ids("audit", "ada", "chat_id") == {"d", "e"}
    assert await house.ids("chat", "ada", "chat_id") == {"d", "e"}
    assert await house.ids("archive", "ada") == {"d9"}
    assert report.bereft == ("d9",)
    await house.pending.put(PendingTurn("ada", "m-c", "c", "[]", NOW, NOW))
    waiting = (await house.pending.waiting("ada", 0)).turns
    assert [turn.message_id for turn in waiting] == ["m-d", "m-e"]
    assert await house.ids("pending", "ada", "payload") >= {""}
    assert report.removed == {
        "memory": 3,
        "archive": 1,
        "audit": 5,
        "chat": 1,
        "chat_notes": 1,
        "pending": 1,
        "usage": 5,
        "vector": 5,
    }


async def test_interrupted_at_any_row(house: House) -> None:
    """Where a row can't be deleted, what tells of it stays, so that a repetition finds it."""
    rows = await prepare(house)
    rows.stuck = {"m1"}
    report = await erase_where(house.holdings(rows), FromChat("c"), NOW)
    assert report.failed == {"memory": "the row is stuck"}
    assert {one.id for one in rows.rows} == {"d1", "e1", "m1"}
    assert "m1" in await house.ids("vector", "ada")
    rows.stuck = set()
    report = await erase_where(house.holdings(rows), FromChat("c"), NOW)
    assert report.complete
    assert {one.id for one in rows.rows} == {"d1", "e1"}
    assert "m1" not in await house.ids("vector", "ada")
    assert await house.ids("audit", "ada", "chat_id") == {"d", "e"}


async def test_refused_in_the_middle(house: House) -> None:
    """Once the host refuses, no further row is tried; the tables' part is done and told."""
    rows = replace(await prepare(house), refusal=MemoryUnavailable("memories are switched off"))
    report = await erase_where(house.holdings(rows), FromChat("c"), NOW)
    assert report.failed == {"memory": "memories are switched off"}
    assert await house.ids("archive", "ada") == {"d9"}
    assert len(rows.rows) == len(ROWS)


async def test_host_without_provenance(house: House) -> None:
    """On 0.9 the audit and the archive tell what came from a chat, and the report says so."""
    await prepare(house)
    bare = [replace(one, meta={}) for one in ROWS]
    rows = Rows(bare, keeps_provenance=False)
    report = await erase_where(house.holdings(rows), FromChat("c"), NOW)
    assert {one.id for one in rows.rows} == {"d1", "e1"}
    assert "keeps no provenance" in report.notes[0]
    report = await erase_where(house.holdings(rows), FromPeriod(NOW, NOW + 1), NOW)
    assert rows.rows == []
    assert report.notes == ()


async def test_closed_archive(house: House) -> None:
    """Nobody can tell where an archived memory is from that can't be opened: the report says so."""
    await prepare(house)
    archive = SealedArchiveTable(HostArchiveTable(house.worker.sessions), Sealer("another"))
    holdings = replace(house.holdings(Rows([])), archive=archive)
    report = await erase_where(holdings, FromChat("c"), NOW)
    assert "2 archived memories can't be opened" in report.notes[0]
    assert await house.ids("archive", "ada") == {"c9", "d9"}


def test_line() -> None:
    """The report as the user reads it, the memories first, without what is none."""
    report = ErasureReport({"audit": 3, "chat": 0, "memory": 12, "newer": 1}, {})
    assert report.line == "Erased: memories (12), entries of the audit (3), newer (1)."
    failed = replace(report, removed={}, failed={"tables": "no connection"})
    assert failed.line == "There was nothing to erase. Not erased: tables (no connection)."


async def test_notes_of_a_chat(house: House) -> None:
    """Notes go with their chat, and with a day at or across which they were written."""
    await house.notes.write("ada", "old", ChatNotes(summary="Once."), NOW - 2 * DAY)
    await house.notes.write("ada", "long", ChatNotes(summary="Then."), NOW - 2 * DAY)
    await house.notes.write("ada", "long", ChatNotes(summary="Now."), NOW + 2 * DAY)
    forecast = await forecast_where(house.holdings(held()), FromChat("c"))
    assert forecast.counts["chat_notes"] == 1
    await erase_where(house.holdings(held()), FromChat("c"), NOW)
    assert await house.ids("chat_notes", "ada", "chat_id") == {"d", "e", "old", "long"}
    await erase_where(house.holdings(held()), FromSource("import"), NOW)
    assert len(await house.ids("chat_notes", "ada", "chat_id")) == 4
    await erase_where(house.holdings(held()), FromPeriod(NOW - 1, NOW + 1), NOW)
    assert await house.ids("chat_notes", "ada", "chat_id") == {"old"}
    assert await house.ids("chat_notes", "ADA", "chat_id") == {"c", "d", "e"}
