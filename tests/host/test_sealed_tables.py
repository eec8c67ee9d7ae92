"""Sealed tables in a real database: nothing personal in clear, and what can't be opened."""

from __future__ import annotations

import json
import logging
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
from adaptive.host.audit_table import HostAuditTable
from adaptive.host.chat_table import HostChatTable
from adaptive.host.pending_table import HostPendingTable
from adaptive.host.sealed_tables import (
    SealedArchiveTable,
    SealedAuditTable,
    SealedChatTable,
    SealedPendingTable,
)
from adaptive.host.secret import bounded_secret, host_secret
from adaptive.learn.queue import LearningQueue
from adaptive.learn.turn_work import TurnWork
from adaptive.model import Memory
from adaptive.privacy.sealing import Sealer
from adaptive.table_ports import ArchivedMemory, AuditEntry, PendingTurn, TurnLease
from tests.host.databases import DATABASES, Worker, two_workers
from tests.rates import over

NOW = 1_700_000_000
TABLES = tuple(
    f"adaptive_memory_{kind}" for kind in ("pending", "audit", "archive", "chat", "lease")
)
SECRET = "made-up secret of a host"
WORDS = '{"words": "I live in Porto."}'
TURN = PendingTurn("ada", "m-1", "chat", WORDS, NOW, NOW + 2)
CHANGE = AuditEntry(
    "updated", "m-1", NOW, "User lives in Porto", "User lives in Faro", "moved", "chat", "message"
)
ROW = Memory(
    "m-1",
    "User lives in Porto; 喜欢 \x00",
    NOW - 9,
    NOW - 5,
    ("identity",),
    "Porto",
    0.875,
    7,
    {"chat_id": "c", "history": [{"content": "User lives in Faro"}], "odd": [None, 1.5, "\ud800"]},
    "2027-02-28",
)
ARCHIVED = ArchivedMemory(ROW, "too many of Porto", NOW, "User lives by the sea in Porto")
STATE = '[["m-1","d1g3st",0]]'


class Town:
    """All sealed tables of one worker, sealed with one secret."""

    def __init__(self, worker: Worker, secret: str = SECRET) -> None:
        sealer = Sealer(secret)
        self.worker = worker
        self.pending = SealedPendingTable(HostPendingTable(worker.sessions), sealer)
        self.audit = SealedAuditTable(HostAuditTable(worker.sessions), sealer)
        self.archive = SealedArchiveTable(HostArchiveTable(worker.sessions), sealer)
        self.chats = SealedChatTable(HostChatTable(worker.sessions), sealer)

    async def taken(self, lease: TurnLease) -> tuple[PendingTurn, ...]:
        """Turns under a lease that can be had."""
        turns = await self.pending.take(lease, NOW, NOW + 30)
        assert turns is not None
        return turns

    async def fill(self) -> None:
        """One row in each table."""
        await self.pending.put(TURN)
        await self.audit.append("ada", [CHANGE], NOW)
        await self.archive.put("ada", [ARCHIVED])
        await self.chats.write("ada", "chat", STATE, NOW)

    async def change(self, statement: str, **values: Any) -> None:
        """A row as somebody else would leave it."""
        async with self.worker.sessions() as session:
            await session.execute(text(statement), values)
            await session.commit()


Workers = tuple[Worker, Worker]


@pytest.fixture(params=DATABASES)
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Workers, None]:
    """Two workers on a database without the tables."""
    async with two_workers(request.param, tmp_path, *TABLES) as both:
        yield both


@pytest.fixture
async def town(workers: Workers) -> Town:
    """The tables of the first worker, with one row in each."""
    filled = Town(workers[0])
    await filled.fill()
    return filled


def lease(*message_ids: str, owner: str = "worker") -> TurnLease:
    """A lease on turns of the only user."""
    return TurnLease("ada", owner, message_ids)


async def test_everything_comes_back(town: Town, workers: Workers) -> None:
    """What one worker has sealed another one reads, equal in every field."""
    other = Town(workers[1])
    assert await other.audit.changes("ada", 0, 9) == (CHANGE,)
    assert await other.archive.read("ada") == (ARCHIVED,)
    assert await other.archive.find("ada", ["m-1", "m-2"]) == {"m-1": ARCHIVED}
    assert await other.archive.restore("ada", "m-1") == ARCHIVED
    assert await other.chats.read("ada", "chat") == STATE
    assert (await other.pending.waiting("ada", 0)).turns == (replace(TURN, payload=""),)
    taken = await other.pending.take(lease("m-1"), NOW, NOW + 30)
    assert taken == (TURN,)
    assert await other.pending.renew(lease("m-1"), NOW - 1, '{"journal": "Porto"}', 1)
    (taken,) = await town.taken(replace(lease("m-1"), batch="m-1"))
    assert (taken.payload, taken.journal, taken.batch) == (WORDS, '{"journal": "Porto"}', "m-1")


async def test_nothing_personal_in_clear(town: Town) -> None:
    """In no column of any table there is a word of the user's, of a bank, or of a summary."""
    await town.pending.take(lease("m-1"), NOW, NOW + 30)
    await town.pending.renew(lease("m-1"), NOW + 30, '{"journal": "Porto"}', 1)
    rows = [
        tuple(row)
        for table in TABLES[:4]
        for row in await town.worker.rows(f"SELECT * FROM {table}")
    ]
    assert len(rows) == 5  # the lease on the user is one
    told = json.dumps(rows)
    for word in ("in Porto", "in Faro", "moved", "identity", "by the sea", "words", "d1g3st"):
        assert word not in told


async def test_missing_ones(town: Town) -> None:
    """What was never written, or belongs to somebody else, is not there."""
    assert await town.chats.read("ada", "other") is None
    assert await town.chats.read("bob", "chat") is None
    assert await town.archive.restore("ada", "m-2") is None
    assert await town.archive.read("bob") == ()
    assert await town.audit.changes("bob", 0, 9) == ()
    assert (await town.pending.waiting("bob", 0)).turns == ()
    assert await town.pending.take(lease("m-2"), NOW, NOW + 30) is None


async def test_rest_of_the_ports(town: Town) -> None:
    """What has no text in it is passed on."""
    assert not await town.pending.put(TURN)
    await town.pending.take(lease("m-1"), NOW, NOW + 30)
    assert await town.pending.renew(lease("m-1"), NOW + 60)
    assert await town.pending.give_back(lease("m-1"), NOW, failed=True, calls=2)
    assert (await town.pending.waiting("ada", 0)).calls == 2
    await town.pending.take(lease("m-1"), NOW, NOW + 30)
    assert await town.pending.finish(lease("m-1"), 1, NOW)
    assert (await town.pending.waiting("ada", 0)).turns == ()
    await town.archive.discard("ada", ["m-1"])
    assert await town.archive.read("ada") == ()
    assert await town.chats.keep_newest("ada", 0, 0) == 1
    assert await town.chats.read("ada", "chat") is None
    await town.chats.write("ada", "chat", "", NOW)
    assert await town.chats.read("ada", "chat") == ""


@pytest.mark.parametrize("secret", ["another secret", ""])
async def test_changed_secret(town: Town, secret: str) -> None:
    """After a changed secret everything is absent, and nothing is raised."""
    other = Town(town.worker, secret)
    assert await other.chats.read("ada", "chat") is None
    assert await other.archive.read("ada") == ()
    assert await other.archive.find("ada", ["m-1"]) == {}
    assert await other.archive.restore("ada", "m-1") is None
    assert await other.audit.changes("ada", 0, 9) == (
        replace(CHANGE, before="", after="", reason=""),
    )
    assert await other.pending.take(lease("m-1"), NOW, NOW + 30) is None
    await other.chats.write("ada", "chat", STATE, NOW)
    assert await other.chats.read("ada", "chat") == STATE


async def test_lost_turn_blocks_nobody(
    town: Town, workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    """A turn that can't be opened is done; those that share its lease are free again at once."""
    other = Town(workers[1], "another secret")
    await other.pending.put(replace(TURN, message_id="m-2"))
    assert await other.pending.take(lease("m-1", "m-2"), NOW, NOW + 30) is None
    waiting = await other.pending.waiting("ada", 0)
    assert [(one.message_id, one.attempts) for one in waiting.turns] == [("m-2", 0)]
    assert waiting.leased_until == 0
    (taken,) = await other.taken(lease("m-2", owner="next"))
    assert taken.payload == WORDS
    await town.pending.put(TURN)
    assert [one.message_id for one in (await other.pending.waiting("ada", 0)).turns] == ["m-2"]
    assert "turns that are lost to learning" in caplog.text
    assert "Porto" not in caplog.text


async def test_queue_goes_on(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue learns what can be opened, in order, though the oldest turn can't be."""
    table = HostPendingTable(workers[0].sessions)
    foreign = SealedPendingTable(table, Sealer("another secret"))
    ours = SealedPendingTable(table, Sealer(SECRET))
    for number in range(4):
        by = foreign if number in (0, 2) else ours
        turn = replace(TURN, message_id=f"m-{number}", payload=f'["words {number}"]')
        await by.put(replace(turn, queued_at=NOW + number))
    learned: list[str] = []

    async def teach(work: TurnWork) -> None:
        learned.extend(turn.payload for turn in work.turns)

    monkeypatch.setattr("adaptive.learn.queue._POLL_SECONDS", 0.0)
    queue = LearningQueue(ours, clock=lambda: NOW + 60.0)
    results = await queue.resume("ada", teach)
    assert [result.verdict for result in results] == ["learned"]
    assert learned == ['["words 1"]', '["words 3"]']
    assert (await ours.waiting("ada", 0)).turns == ()


async def test_lost_journal(town: Town, workers: Workers) -> None:
    """A journal that can't be opened is absent; the words are still there to be learned from."""
    await town.pending.take(lease("m-1"), NOW, NOW + 30)
    await town.pending.renew(lease("m-1"), NOW + 30, "[1]", 0)
    journal = (
        await town.worker.rows("SELECT journal FROM adaptive_memory_pending WHERE chat_id <> ''")
    )[0][0]
    damaged = journal[:-9] + journal[-8:]
    await town.change("UPDATE adaptive_memory_pending SET journal = :it", it=damaged)
    await town.pending.give_back(lease("m-1"), NOW, failed=False, calls=0)
    (taken,) = await town.taken(replace(lease("m-1"), batch="m-1"))
    assert (taken.payload, taken.journal) == (WORDS, "")


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("pending", "payload"),
        ("audit", "before"),
        ("archive", "content"),
        ("chat", "state"),
    ],
)
async def test_swapped_texts(town: Town, table: str, column: str) -> None:
    """A sealed text of another purpose, or of another user, opens nowhere else."""
    others = [Sealer(SECRET).seal("bob", table, "[]"), Sealer(SECRET).seal("ada", "journal", "[]")]
    for sealed in others:
        await town.change(f"UPDATE adaptive_memory_{table} SET {column} = :it", it=sealed)
        assert await town.chats.read("ada", "chat") == (None if table == "chat" else STATE)
        assert await town.archive.read("ada") == (() if table == "archive" else (ARCHIVED,))
        (change,) = await town.audit.changes("ada", 0, 9)
        assert change.before == ("" if table == "audit" else CHANGE.before)


async def test_rows_from_before_sealing(workers: Workers) -> None:
    """What a former release has written unsealed is read as it is."""
    sessions = workers[0].sessions
    archived = replace(ARCHIVED, memory=replace(ROW, content="User lives in Porto", meta={}))
    await HostPendingTable(sessions).put(TURN)
    await HostAuditTable(sessions).append("ada", [CHANGE], NOW)
    await HostArchiveTable(sessions).put("ada", [archived])
    await HostChatTable(sessions).write("ada", "chat", STATE, NOW)
    town = Town(workers[0])
    assert await town.audit.changes("ada", 0, 9) == (CHANGE,)
    assert await town.archive.read("ada") == (archived,)
    assert await town.chats.read("ada", "chat") == STATE
    (taken,) = await town.taken(lease("m-1"))
    assert taken.payload == WORDS


@pytest.mark.parametrize("column", ["content", "reason"])
async def test_damaged_archive(town: Town, column: str) -> None:
    """Damage in either of the columns that tell a sealed row never makes cipher text a memory."""
    await town.change(f"UPDATE adaptive_memory_archive SET {column} = 'damaged'")
    read = await town.archive.read("ada")
    assert read == (() if column == "content" else (ARCHIVED,))


@pytest.mark.parametrize("texts", ["[]", "{}", '{"content": 5}', "null", "3", "{", "[1, 2, 3]"])
async def test_sealed_texts_of_another_shape(town: Town, texts: str) -> None:
    """What was sealed and has another shape than ours is absent, too."""
    sealer = Sealer(SECRET)
    await town.change(
        "UPDATE adaptive_memory_archive SET content = :it", it=sealer.seal("ada", "archive", texts)
    )
    await town.change(
        "UPDATE adaptive_memory_audit SET before = :it", it=sealer.seal("ada", "audit", texts)
    )
    assert await town.archive.read("ada") == ()
    (change,) = await town.audit.changes("ada", 0, 9)
    assert (change.before, change.after, change.reason) == ("", "", "")


async def test_meta_that_is_no_json(town: Town) -> None:
    """What can't be written is refused; what comes back different is seen, so nobody deletes it."""
    circular: dict[str, Any] = {}
    circular["self"] = circular
    with pytest.raises(TablesUnavailable, match="archiving memories"):
        await town.archive.put("ada", [replace(ARCHIVED, memory=replace(ROW, meta=circular))])
    odd = replace(ARCHIVED, memory=replace(ROW, meta={"when": object()}))
    await town.archive.put("ada", [odd])
    assert await town.archive.restore("ada", "m-1") != odd


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TEXT = st.text(st.characters(exclude_categories=[]))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.builds(
        Memory,
        id=st.just("m-1"),
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
async def test_any_row_comes_back(town: Town, row: Memory, words: str) -> None:
    """Whatever a row holds, what PostgreSQL takes in no text included, it comes back equal."""
    put = ArchivedMemory(row, words, NOW, words)
    await town.archive.put("ada", [put])
    assert await town.archive.restore("ada", "m-1") == put
    change = replace(CHANGE, before=words, after=row.content, reason=row.bank)
    await town.audit.append("ada", [change], NOW)
    assert (await town.audit.changes("ada", 0, 1)) == (change,)


async def test_newest_chats_are_kept(workers: Workers) -> None:
    """Of a user's chats the newest stay, and none that is too old; other users keep theirs."""
    table = HostChatTable(workers[0].sessions)
    for number in range(5):
        await table.write("ada", f"chat-{number}", "[]", NOW + number)
    await table.write("bob", "chat-0", "[]", NOW)
    assert await table.keep_newest("ada", 3, NOW) == 2
    kept = [await table.read("ada", f"chat-{number}") for number in range(5)]
    assert kept == [None, None, "[]", "[]", "[]"]
    assert await table.keep_newest("ada", 3, NOW + 4) == 2
    assert await table.read("bob", "chat-0") == "[]"
    assert await table.keep_newest("ada", 3, NOW + 4) == 0


async def test_who_stays_away(workers: Workers) -> None:
    """Within an hour what is too old of everybody goes, whoever comes."""
    table = HostChatTable(workers[0].sessions)
    await table.write("bob", "chat", "[]", NOW)
    assert await table.keep_newest("ada", 3, NOW) == 0
    assert await table.keep_newest("ada", 3, NOW + 3599) == 0
    assert await table.keep_newest("ada", 3, NOW + 3600) == 1
    assert await table.read("bob", "chat") is None


async def test_deleted_chats(workers: Workers) -> None:
    """What belongs to chats that the host has no more goes, the current chat excepted."""
    town = Town(workers[0])
    await town.change("DROP TABLE IF EXISTS chat")
    await town.change("CREATE TABLE chat (id VARCHAR PRIMARY KEY, user_id VARCHAR)")
    try:
        await town.change("INSERT INTO chat VALUES ('kept', 'ada'), ('shared', 'bob')")
        for chat in ("kept", "shared", "deleted", "temporary:1"):
            await town.chats.write("ada", chat, STATE, NOW)
        await town.chats.write("bob", "deleted", STATE, NOW)
        workers[0].statements.clear()
        assert await town.chats.drop_deleted("ada", "temporary:1") == 1
        assert await town.chats.drop_deleted("ada", "kept") == 1
        workers[0].statements.clear()
        assert await town.chats.drop_deleted("ada") == 0
        assert workers[0].statements == ["SELECT"]
        left = await workers[0].rows("SELECT user_id, chat_id FROM adaptive_memory_chat")
        assert sorted(map(tuple, left)) == [("ada", "kept"), ("ada", "shared"), ("bob", "deleted")]
    finally:
        await town.change("DROP TABLE chat")


async def test_host_without_its_table(workers: Workers) -> None:
    """Where the host's chats can't be read, that is told and nothing is dropped."""
    town = Town(workers[0])
    await town.chats.write("ada", "chat", STATE, NOW)
    with pytest.raises(TablesUnavailable, match="deleted chats"):
        await town.chats.drop_deleted("ada")
    assert await town.chats.read("ada", "chat") == STATE


def test_no_host_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    """Outside of the host there is no secret, and nothing is logged of it."""
    with caplog.at_level(logging.DEBUG):
        assert host_secret() == ""
        assert host_secret() is host_secret()
    assert caplog.text == ""


@over(
    "value, secret",
    [
        ("made up", "made up"),
        (" made up\r\n", "made up"),
        ("x" * 5000, "x" * 4096),
        ("", ""),
        (None, ""),
        (5, ""),
        (b"made up", ""),
    ],
)
def test_bounded_secret(value: object, secret: str) -> None:
    """The same key file gives the same secret, with or without the end of its line."""
    assert bounded_secret(value) == secret
