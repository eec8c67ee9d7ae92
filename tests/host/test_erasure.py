"""Erasing in a real database: nothing of the user is left, nothing of anybody else's gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from typing import Any

import numpy as np
import pytest

from adaptive.core.model import Draft, Memory, Provenance, StoredVector
from adaptive.host.erasure import Forget, HostEraser
from adaptive.host.tables import HostTables
from adaptive.memory.audit import AuditEntry
from adaptive.memory.erasure import ErasureReport, Origin, period_of
from adaptive.memory.suggestion_table import WaitingSuggestion
from adaptive.memory.tables import ArchivedMemory, ChatNotes
from adaptive.memory.turn_table import QueuedTurn, TurnLease
from adaptive.privacy.sealing import Sealer
from tests.fakes import ListedMemories, memory, turn
from tests.host.databases import OUR_TABLES, Worker

NOW = 1_700_000_000
DAY = 86_400
STUCK = "the table is locked for '{}'"
EARLIER = NOW - 3 * DAY
VECTOR = StoredVector("hash", np.full(4, 0.5, np.float32))


def row(id: str, **meta: Any) -> Memory:
    """A memory of Ada's, saved when its meta says it was said."""
    meta = {"source": "adaptive_memory", "said_at": NOW, **meta}
    return memory(id, f"content of {id}", created_at=NOW, meta=meta)


ROWS = [
    row("c1", chat_id="c"),
    row("d1", chat_id="d", said_at=EARLIER),
    row("e1", chat_id="e", said_at=EARLIER, source="import"),
    # Said in chat `c`, changed in chat `d` since: only the audit knows of the first.
    row("m1", chat_id="d", said_at=EARLIER, history=[{"said_at": EARLIER}]),
    row("s1", said_at=EARLIER),
]
ARCHIVED = [
    ArchivedMemory(row("c9", chat_id="c"), "", NOW, "s1"),
    ArchivedMemory(row("d9", chat_id="q", said_at=EARLIER), "", NOW, "s1"),
]


class Rows(ListedMemories):
    """A ``HostMemoryStore`` with Ada's rows; all are deleted unless one of them can't be."""

    def __init__(self, *memories: Memory, **fails: Any) -> None:
        super().__init__(*(memories or ROWS), **fails)

    @property
    def left(self) -> str:
        """Which are there."""
        return " ".join(sorted(self.rows))

    async def delete_all(self) -> None:
        """No row."""
        self._check(*self.broken)
        self.rows.clear()


class NoHistory:
    """An index in which nothing is."""

    async def erase(self, user_id: str, chat_id: str = "") -> None:
        """Nothing goes."""


class House:
    """All our tables on one database, with the same rows for each user."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.tables = HostTables(Sealer("secret"), worker.database)

    async def fill(self, user_id: str) -> None:
        """What a user has after some turns in three chats, and before that in others."""
        tables = self.tables
        for chat, days in (("old", -2), ("newer", 2)):
            await tables.chat_notes.write(
                user_id, chat, ChatNotes(summary="."), NOW + days * DAY
            )
        entries = [
            AuditEntry("saved", "m1", EARLIER, None, "first", "", "c", "m-c0"),
            AuditEntry(
                "updated", "m1", EARLIER + 60, None, "second", "", "d", "m-d0"
            ),
            AuditEntry("saved", "s1", EARLIER + 90, None, "a summary"),
            AuditEntry("summarised", "c9", EARLIER + 90, None, "", "now s1"),
        ]
        for chat in "cde":
            said = turn(
                "words", user_id=user_id, message_id=f"m-{chat}", chat_id=chat
            )
            await tables.pending.put(QueuedTurn(said, NOW, NOW))
            await tables.chats.write(user_id, chat, {}, NOW)
            await tables.chat_notes.write(
                user_id, chat, ChatNotes(summary="Tea."), NOW
            )
            entries.append(
                AuditEntry(
                    "saved", f"{chat}1", NOW, None, "a", "", chat, f"m-{chat}"
                )
            )
        waiting = [
            WaitingSuggestion(
                digest,
                Draft("User plays chess.", bank="General"),
                "",
                Provenance(chat, f"m-{chat}", said_at),
            )
            for digest, chat, said_at in (
                ("a", "c", NOW),
                ("b", "d", EARLIER),
                ("no", "c", NOW),
            )
        ]
        await tables.suggestions.put(user_id, waiting)
        await tables.suggestions.reject(user_id, "no", NOW)
        await tables.audit.record(user_id, entries)
        await tables.archive.put(user_id, ARCHIVED)
        ids = [one.id for one in ROWS]
        await tables.vectors.write(
            user_id, "words", dict.fromkeys(ids, VECTOR)
        )
        await tables.vectors.write(
            user_id, "other", {"c1": VECTOR, "gone": VECTOR}
        )
        await tables.leases.acquire(f"upkeep:{user_id}", NOW, 30)

    async def contents(self) -> list[tuple[Any, ...]]:
        """Every row of every table of ours, whosever it is."""
        rows = [
            await self.worker.rows(f"SELECT * FROM {table}")
            for table in OUR_TABLES
        ]
        return sorted((tuple(one) for some in rows for one in some), key=repr)

    async def entries(self) -> list[Any]:
        """Ada's entries."""
        rows = await self.worker.rows("SELECT * FROM adaptive_memory_entries")
        return [row for row in rows if row.user_id == "ada"]

    async def of(self, kind: str) -> str:
        """The keys of Ada's entries of a kind."""
        return " ".join(
            sorted(row.key for row in await self.entries() if row.kind == kind)
        )

    async def is_named(self, memory_id: str) -> bool:
        """Whether any row of Ada's is about a memory."""
        values = [
            str(value)
            for row in await self.contents()
            if "ada" in row
            for value in row
        ]
        return any(
            value == memory_id or value.endswith(f":{memory_id}")
            for value in values
        )

    def eraser(self, rows: Any, caches: Sequence[Forget] = ()) -> HostEraser:
        """What erases of Ada."""
        return HostEraser(
            memories=rows,
            user_id="ada",
            tables=self.tables,
            history=NoHistory(),
            caches=caches,
        )

    async def erase(
        self, rows: Any, origin: Origin | None = None
    ) -> ErasureReport:
        """Erase of Ada."""
        return await self.eraser(rows).erase(origin)


def others_of(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows of other users than Ada."""
    return [one for one in rows if not any(value == "ada" for value in one)]


@pytest.fixture
async def house(workers: tuple[Worker, Worker]) -> House:
    """All tables, filled for two users, beside the host's own of chats."""
    await workers[0].change("CREATE TABLE chat (id VARCHAR PRIMARY KEY)")
    await workers[0].change(
        "INSERT INTO chat VALUES ('c'), ('d'), ('e'), ('old'), ('newer')"
    )
    filled = House(workers[0])
    for user_id in ("ada", "ADA"):
        await filled.fill(user_id)
    return filled


async def test_nothing_is_left(house: House) -> None:
    """After all was erased no table of ours names the user; others' rows are the same."""
    before = await house.contents()
    forecast = await house.eraser(Rows()).find(None)
    assert await house.contents() == before
    rows, forgotten = Rows(), list[str]()
    report = await house.eraser(rows, caches=(forgotten.append,)).erase(None)
    assert (rows.left, report.failed) == ("", [])
    assert report.counts == forecast.counts
    kinds = {
        "memory": 5,
        "archive": 2,
        "audit": 7,
        "chat": 3,
        "chat_notes": 5,
        "rejection": 1,
        "suggestion": 2,
    }
    assert +report.counts == {**kinds, "waiting": 3}
    assert await house.contents() == others_of(before) != before
    assert set(forgotten) == {"ada"}
    again = await house.erase(rows)
    assert (again.line, again.empty) == ("Nothing was found.", True)


async def test_worker_under_way(house: House) -> None:
    """A worker that has turns in its hands finds them gone before its next write; others go on."""
    pending = house.tables.pending
    for now, origin in ((NOW, Origin("c")), (NOW + 31, None)):
        lease = TurnLease("ada", "worker", ("m-c" if origin else "m-d",))
        theirs = replace(lease, user_id="ADA", owner=f"at {origin}")
        for one in (lease, theirs):
            assert await pending.take(one, now, now + 30) is not None
        await house.erase(Rows(), origin)
        assert not await pending.renew(lease, NOW + 30)
        assert await pending.end(theirs, NOW, 0, failed=False)


@pytest.mark.parametrize("refusal", ["", "memories are switched off"])
async def test_host_refuses(house: House, refusal: str) -> None:
    """Where the host keeps its rows, everything of ours goes all the same, and the report tells."""
    report = await house.erase(Rows(refusal=refusal, broken=["c1"]))
    assert set(report.failed) == {refusal or STUCK.format("c1")}
    assert report.line.endswith(
        f"Not everything could be erased: {report.failed[0]}."
    )
    assert await house.contents() == others_of(await house.contents())


async def test_no_database() -> None:
    """Where our tables can't be reached, the host's rows are erased, and the report tells."""
    rows: Any = Rows()
    eraser = HostEraser(rows, "ada", HostTables(Sealer("secret")), NoHistory())
    report = await eraser.erase(None)
    assert (rows.left, report.counts["memory"]) == ("", 5)
    assert "can't be used right now" in report.line


# Where something came from, and which of Ada's memories, suggestions and notes stay.
CASES = [
    (Origin("c"), "d1 e1", "b", "d e newer old"),
    (Origin("d"), "c1 e1 s1", "a", "c e newer old"),
    (
        Origin(period=period_of("2023-11-14", UTC)),
        "m1",
        "b",
        "old",
    ),
    (Origin(period=period_of("2023-11-11", UTC)), "c1", "a", ""),
    (Origin(""), "c1 d1 e1 m1 s1", "a b", "c d e newer old"),
]


@pytest.mark.parametrize(("origin", "stay", "suggestions", "notes"), CASES)
async def test_erase_where(
    house: House, origin: Origin, stay: str, suggestions: str, notes: str
) -> None:
    """What came from there goes, with all that belongs to it; the rest stays, others' untouched."""
    rows, before = Rows(), await house.contents()
    forecast = await house.eraser(rows).find(origin)
    report = await house.erase(rows, origin)
    assert (report.failed, rows.left) == ([], stay)
    assert +report.counts == +forecast.counts
    assert await house.of("suggestion") == suggestions
    assert await house.of("chat_notes") == notes
    # What chats were given may quote others, and sums up what was said on any day.
    is_said = origin.chat_id or origin.period
    assert await house.of("chat") == ("" if is_said else "c d e")
    erased = {one.id for one in ROWS} - set(stay.split())
    for memory_id in erased:
        assert not await house.is_named(memory_id)
    assert others_of(await house.contents()) == others_of(before)


async def test_chat_leaves_nothing(house: House) -> None:
    """Of one chat neither entries, state, notes, archive nor words to learn stay; others' do."""
    report = await house.erase(Rows(), Origin("c"))
    assert {row.chat_id for row in await house.entries()} == {
        "",
        "d",
        "e",
        "newer",
        "old",
    }
    assert await house.of("archive") == "d9"
    assert report.bereft == ("d9",)
    await house.tables.pending.put(
        QueuedTurn(turn("words", message_id="m-c", chat_id="c"), NOW, NOW)
    )
    waiting = (await house.tables.pending.waiting("ada", 0)).turns
    assert [queued.message_id for queued in waiting] == ["m-d", "m-e"]
    line = (
        "Erased: 3 memories, 1 archived memory, 1 suggestion, what was noted."
    )
    assert report.line == line


async def test_interrupted_at_any_row(house: House) -> None:
    """Where rows can't be deleted, what tells of them stays, so that a repetition finds them."""
    rows = Rows(broken=["m1"])
    report = await house.erase(rows, Origin("c"))
    assert (report.failed, rows.left) == (
        [STUCK.format("c1")],
        "c1 d1 e1 m1 s1",
    )
    rows.broken = frozenset()
    report = await house.erase(rows, Origin("c"))
    assert (report.failed, rows.left) == ([], "d1 e1")
    assert not [
        row
        for row in await house.entries()
        if "m1" in row.key or row.chat_id == "c"
    ]


async def test_host_without_provenance(house: House) -> None:
    """On 0.9 the audit and the archive tell what came from a chat."""
    rows = Rows(*(replace(one, meta={}) for one in ROWS))
    rows.keeps_history = False
    await house.erase(rows, Origin("c"))
    assert rows.left == "d1 e1"


async def test_turn_that_comes_meanwhile(house: House) -> None:
    """A turn that is put while everything is erased goes as well, without a trace."""
    late = turn("late words", message_id="m-late", chat_id="c")

    class Slow(Rows):
        """Rows during whose deletion the user goes on."""

        async def delete_all(self) -> None:
            """No row."""
            if self.rows:
                await house.tables.pending.put(QueuedTurn(late, NOW, NOW))
            await super().delete_all()

    await house.erase(Slow())
    assert await house.contents() == others_of(await house.contents())


def test_line() -> None:
    """The report names what people know, and tells what failed once with its reason."""
    one = ErasureReport(Counter(memory=1, chat=0))
    assert one.line == "Erased: 1 memory, what was noted."
    failed = ErasureReport(Counter(audit=3, history=27), ["no connection"] * 2)
    assert failed.line == (
        "Erased: what was noted. "
        "Not everything could be erased: no connection."
    )
    assert ErasureReport(Counter(audit=3)).line == "Erased: what was noted."
