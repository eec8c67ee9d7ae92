"""Forgetting in a real database: nothing of the user is left, nothing of anybody else's gone."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from datetime import UTC, date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from adaptive.control.erasing import period_of_day
from adaptive.conversation_ports import ChatNotes
from adaptive.errors import MemoryUnavailable, StoreError, TablesUnavailable
from adaptive.host.archive_table import HostArchiveTable
from adaptive.host.audit_table import HostAuditTable
from adaptive.host.chat_notes_table import HostChatNotesTable
from adaptive.host.chat_table import HostChatTable
from adaptive.host.erasure import ErasureReport, Holdings, erase_held, find_held
from adaptive.host.pending_table import HostPendingTable
from adaptive.host.sealed_tables import (
    SealedArchiveTable,
    SealedAuditTable,
    SealedChatTable,
    SealedPendingTable,
)
from adaptive.host.usage_table import HostUsageTable
from adaptive.host.user_rows import UserRows
from adaptive.host.vector_table import HostVectorTable
from adaptive.model import Memory
from adaptive.privacy.origin import Origin
from adaptive.privacy.sealing import Sealer
from adaptive.table_ports import ArchivedMemory, AuditEntry, PendingTurn, StoredVector, TurnLease
from tests.fakes import memory
from tests.host.databases import DATABASES, Worker, two_workers

NOW = 1_700_000_000
DAY = 86_400
KINDS = ("archive", "audit", "chat", "chat_notes", "pending", "usage", "vector", "newer")
PREFIX = "adaptive_memory_"
TABLES = tuple(f"{PREFIX}{kind}" for kind in KINDS)
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
    keeps_history: bool = True
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
        if self.refusal or self.stuck:
            raise self.refusal or StoreError("rows are stuck")
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
        self.usage = HostUsageTable(sessions)
        self.vectors = HostVectorTable()
        self.vectors._table._sessions = sessions

    async def fill(self, user_id: str) -> None:
        """What a user has after some turns in three chats."""
        for chat in "cde":
            turn = PendingTurn(user_id, f"m-{chat}", chat, '["words"]', NOW, NOW)
            await self.pending.put(turn)
            await self.chats.write(user_id, chat, "[]", NOW)
            await self.notes.write(user_id, chat, ChatNotes(summary="About tea."), NOW)
            change = AuditEntry("saved", f"{chat}1", NOW, "", "words", "new", chat, f"m-{chat}")
            await self.audit.append(user_id, [change], NOW)
        ids = ["c1", "d1", "e1", "c9"]
        await self.archive.put(user_id, [ArchivedMemory(row("c9", chat_id="c"), "", NOW)])
        await self.usage.record(user_id, ids, NOW)
        vector = StoredVector("hash", np.ones(4, np.float32) / 2)
        await self.vectors.write(user_id, "words", dict.fromkeys(ids, vector))

    async def copy(self) -> None:
        """The same rows for all other users, as far as the database can tell."""
        tables = await UserRows("ada", self.worker.sessions).tables()
        async with self.worker.sessions() as session:
            for name, table in tables.items():
                columns = set(table.c.keys())
                copied = sorted(columns - {"id"})
                new = [
                    "replace(user_id, 'ada', :id)" if one == "user_id" else one for one in copied
                ]
                query = (
                    f"INSERT INTO {PREFIX}{name} ({', '.join(copied)}) "
                    f"SELECT {', '.join(new)} FROM {PREFIX}{name} WHERE user_id = 'ada'"
                )
                for user_id in USERS[1:]:
                    await session.execute(text(query), {"id": user_id})
            await session.commit()

    async def contents(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table of ours, whoever made the table."""
        tables = await UserRows("ada", self.worker.sessions).tables()
        rows = {name: await self.worker.rows(f"SELECT * FROM {PREFIX}{name}") for name in tables}
        return {name: sorted(map(tuple, found), key=repr) for name, found in rows.items()}

    async def ids(self, kind: str, user_id: str, column: str = "memory_id") -> set[str]:
        """What stands in a column of a user's rows."""
        query = f"SELECT {column} FROM {PREFIX}{kind} WHERE user_id = '{user_id}'"
        return {one for (one,) in await self.worker.rows(query)}

    def holdings(self, rows: Any, user_id: str = "ada", **fields: Any) -> Holdings:
        """What is held of Ada, or of somebody else."""
        tables = UserRows(user_id, self.worker.sessions)
        return Holdings(user_id, rows, tables, self.archive, **fields)


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


async def test_nothing_is_left(house: House) -> None:
    """After all was erased, no table of ours names the user; everybody else's rows are the same."""
    before = await house.contents()
    rows = held()
    report = await erase_held(house.holdings(rows))
    after = await house.contents()
    assert rows.rows == []
    assert not report.failed
    assert report.note == ""
    assert report.counts == {
        "memory": 3,
        "archive": 1,
        "audit": 3,
        "chat": 3,
        "chat_notes": 3,
        "newer": 1,
        "pending": 3,
        "usage": 4,
        "vector": 4,
    }
    assert before.keys() == after.keys() == set(KINDS)
    for name, contents in before.items():
        others = [one for one in contents if not any(value == "ada" for value in one)]
        assert after[name] == others, name
        assert len(others) < len(contents), name


async def test_repeated(house: House) -> None:
    """To erase what is gone removes nothing, and fails at nothing."""
    await erase_held(house.holdings(held()))
    contents = await house.contents()
    report = await erase_held(house.holdings(Rows([])))
    assert set(report.counts.values()) == {0}
    assert not report.failed
    assert report.line == "There was nothing to erase."
    assert await house.contents() == contents


async def test_no_table_is_made(worker: Worker) -> None:
    """Nothing is created to erase from it, nor to look for what came from somewhere."""
    house = House(worker)
    report = await erase_held(house.holdings(held()))
    assert report.counts == {"memory": 3}
    assert (await erase_held(house.holdings(held()), Origin("c"))).counts == {"memory": 1}
    assert await house.contents() == {}
    assert {"CREATE", "INSERT"}.isdisjoint(worker.statements)


async def test_vectors_without_rows(worker: Worker) -> None:
    """Vectors of the host's that were left behind are erased, though the user has no row."""
    rows = Rows([])
    await erase_held(House(worker).holdings(rows))
    assert rows.erasures


async def test_worker_under_way(house: House) -> None:
    """A worker that has turns in its hands finds them gone before its next write; others go on."""
    for user_id in ("bob", "eve"):
        await house.pending.put(PendingTurn(user_id, "m-c", "c", "[]", NOW, NOW))
    for user_id, origin in (("ada", None), ("bob", Origin("c"))):
        lease = TurnLease(user_id, "worker", ("m-c",))
        assert await house.pending.take(lease, NOW, NOW + 30) is not None
        holdings = house.holdings(held(), user_id)
        await (erase_held(holdings, origin) if origin else erase_held(holdings))
        assert not await house.pending.renew(lease, NOW + 60)
        assert not await house.pending.renew(lease, NOW + 30, "[]", 0)
    assert await house.pending.take(TurnLease("eve", "worker", ("m-c",)), NOW, NOW + 30)


async def test_written_meanwhile(house: House) -> None:
    """A write that had begun before the first look is found by the second."""
    rows = Rows([row("1")], late=[row("2")])
    report = await erase_held(house.holdings(rows))
    assert (report.counts["memory"], rows.rows) == (2, [])


@pytest.mark.parametrize("refusal", [None, MemoryUnavailable("memories are switched off")])
async def test_host_refuses(house: House, refusal: Exception | None) -> None:
    """Where the host keeps its rows, everything of ours goes all the same, and the report tells."""
    rows = replace(held(), refusal=refusal, stuck={"c1"})
    report = await erase_held(house.holdings(rows))
    assert set(report.failed) == {str(refusal or "rows are stuck")}
    assert report.line.endswith(f"Not everything could be erased: {report.failed[0]}.")
    assert await house.ids("archive", "ada") == set()
    assert await house.ids("pending", "ada", "message_id") == set()


async def test_vectors_of_the_host_stay(worker: Worker) -> None:
    """Rows that are gone are counted, though the host could not delete their vectors."""
    rows = replace(held(), vectors_stuck=True)
    report = await erase_held(House(worker).holdings(rows))
    assert report.counts["memory"] == 3
    assert report.failed == ["vectors still stand"]


async def test_table_refuses(house: House) -> None:
    """A table that can't be changed is named; everything else is erased."""

    class Refusing(UserRows):
        async def erase(self, table: Any, condition: Any) -> int:
            """No row of the audit."""
            if table.name.endswith("audit"):
                raise TablesUnavailable("erasing from audit: it is locked")
            return await super().erase(table, condition)

    tables = Refusing("ada", house.worker.sessions)
    report = await erase_held(replace(house.holdings(held()), rows=tables))
    assert report.failed == ["erasing from audit: it is locked"]
    assert await house.ids("vector", "ada") == set()
    assert not (await erase_held(house.holdings(Rows([])))).failed


async def test_no_database() -> None:
    """Where our tables can't be reached, the host's rows are erased, and the report tells."""
    rows = held()
    memories: Any = rows
    holdings = Holdings("ada", memories, UserRows("ada"), HostArchiveTable())
    report = await erase_held(holdings)
    assert (rows.rows, report.counts["memory"], len(report.failed)) == ([], 3, 1)
    report = await erase_held(replace(holdings, memories=held()), Origin("c"))
    assert (report.counts["memory"], len(report.failed)) == (1, 1)


async def test_caches_forget(house: House) -> None:
    """Each cache of the process is told whom to forget."""
    forgotten: list[str] = []
    holdings = house.holdings(held(), caches=(forgotten.append,))
    await erase_held(holdings, Origin("c"))
    assert set(forgotten) == {"ada"}
    forgotten.clear()
    await erase_held(holdings)
    assert set(forgotten) == {"ada"}


async def test_caller_gives_up(house: House) -> None:
    """An erasure that is cut off leaves what a repetition then finds."""
    task = asyncio.create_task(erase_held(house.holdings(held())))
    await asyncio.sleep(0.005)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.sleep(0.05)  # the statement under way goes on to its end
    await erase_held(house.holdings(held()))
    told = [value for rows in (await house.contents()).values() for one in rows for value in one]
    assert not any(value == "ada" for value in told)


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
    Case("chat", Origin("c"), "d1 e1"),
    Case("another chat", Origin("d"), "c1 e1 s1"),
    Case("unknown chat", Origin("x"), "c1 d1 e1 m1 s1"),
    Case("day", Origin(period=period_of_day(date(2023, 11, 14), UTC)), "m1"),
    Case("day before", Origin(period=period_of_day(date(2023, 11, 11), UTC)), "c1"),
    Case("source", Origin(sources=("import",)), "c1 d1 m1 s1"),
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
    report = await erase_held(house.holdings(rows), case.origin)
    assert not report.failed
    stay = set(case.stay.split())
    assert {one.id for one in rows.rows} == stay
    assert report.counts.get("memory", 0) == len(ROWS) - len(stay)
    assert stay <= await house.ids("usage", "ada")
    erased = {one.id for one in ROWS} - stay
    for name in ("archive", "audit", "usage", "vector"):
        assert not erased & await house.ids(name, "ada")
    after = await house.contents()
    for name, contents in before.items():
        others = [one for one in contents if not any(value == "ada" for value in one)]
        assert [one for one in after[name] if one in others] == others, name


@pytest.mark.parametrize("origin", [Origin(""), Origin(sources=())])
async def test_erase_from_nowhere(house: House, origin: Origin) -> None:
    """Without a chat or a source nothing is erased: much has none, which does not make it one."""
    rows = await prepare(house)
    before = await house.contents()
    report = await erase_held(house.holdings(rows), origin)
    assert report == ErasureReport()
    assert (rows.rows, await house.contents()) == (ROWS, before)


async def test_chat_leaves_nothing(house: House) -> None:
    """Of one chat neither entries, state, archive nor words to learn stay; other chats' do."""
    rows = await prepare(house)
    report = await erase_held(house.holdings(rows), Origin("c"))
    assert await house.ids("audit", "ada", "chat_id") == {"d", "e"}
    assert await house.ids("chat", "ada", "chat_id") == {"d", "e"}
    assert await house.ids("archive", "ada") == {"d9"}
    assert report.bereft == ("d9",)
    await house.pending.put(PendingTurn("ada", "m-c", "c", "[]", NOW, NOW))
    waiting = (await house.pending.waiting("ada", 0)).turns
    assert [turn.message_id for turn in waiting] == ["m-d", "m-e"]
    assert await house.ids("pending", "ada", "payload") >= {""}
    assert +report.counts == {
        "memory": 3,
        "archive": 1,
        "audit": 5,
        "chat": 1,
        "chat_notes": 1,
        "pending": 1,
        "usage": 4,
        "vector": 4,
    }


async def test_interrupted_at_any_row(house: House) -> None:
    """Where a row can't be deleted, what tells of it stays, so that a repetition finds it."""
    rows = await prepare(house)
    rows.stuck = {"m1"}
    report = await erase_held(house.holdings(rows), Origin("c"))
    assert report.failed == ["the row is stuck"]
    assert {one.id for one in rows.rows} == {"d1", "e1", "m1"}
    rows.stuck = set()
    report = await erase_held(house.holdings(rows), Origin("c"))
    assert not report.failed
    assert {one.id for one in rows.rows} == {"d1", "e1"}
    assert "m1" not in await house.ids("vector", "ada")
    assert await house.ids("audit", "ada", "chat_id") == {"d", "e"}


async def test_host_without_provenance(house: House) -> None:
    """On 0.9 the audit and the archive tell what came from a chat, and the report says so."""
    await prepare(house)
    bare = [replace(one, meta={}) for one in ROWS]
    rows = Rows(bare, keeps_history=False)
    report = await erase_held(house.holdings(rows), Origin("c"))
    assert {one.id for one in rows.rows} == {"d1", "e1"}
    assert "keeps no provenance" in report.note
    report = await erase_held(house.holdings(rows), Origin(period=(NOW, NOW + 1)))
    assert rows.rows == []
    assert report.note == ""


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        ({"memory": 4, "audit": 7, "vector": 4}, "4 memories and everything noted about them"),
        ({"memory": 1, "chat": 0}, "1 memory and everything noted about it"),
        (
            {"archive": 1, "memory": 12, "history": 27, "suggestion": 1},
            "12 memories, 1 archived memory, 1 suggestion, 27 chats' index"
            " and everything noted about them",
        ),
        ({"audit": 3, "newer": 1}, "what was noted"),
    ],
)
def test_line(counts: dict[str, int], line: str) -> None:
    """The report as the user reads it: what people know is counted, nothing else is named."""
    assert ErasureReport(Counter(counts)).line == f"Erased: {line}."


def test_line_of_a_failure() -> None:
    """What failed is told once with its reason, beside what was erased."""
    report = ErasureReport(Counter(memory=1), ["no connection"] * 2, "A note.")
    told = "Erased: 1 memory and everything noted about it. Not everything could be erased:"
    assert report.line == f"{told} no connection. A note."
    assert ErasureReport().line == "There was nothing to erase."


async def test_notes_of_a_chat(house: House) -> None:
    """Notes go with their chat, and with a day at or across which they were written."""
    await house.notes.write("ada", "old", ChatNotes(summary="Once."), NOW - 2 * DAY)
    await house.notes.write("ada", "long", ChatNotes(summary="Then."), NOW - 2 * DAY)
    await house.notes.write("ada", "long", ChatNotes(summary="Now."), NOW + 2 * DAY)
    forecast = await find_held(house.holdings(held()), Origin("c"))
    assert forecast.counts["chat_notes"] == 1
    await erase_held(house.holdings(held()), Origin("c"))
    assert await house.ids("chat_notes", "ada", "chat_id") == {"d", "e", "old", "long"}
    await erase_held(house.holdings(held()), Origin(sources=("import",)))
    assert len(await house.ids("chat_notes", "ada", "chat_id")) == 4
    await erase_held(house.holdings(held()), Origin(period=(NOW - 1, NOW + 1)))
    assert await house.ids("chat_notes", "ada", "chat_id") == {"old"}
    assert await house.ids("chat_notes", "ADA", "chat_id") == {"c", "d", "e"}
