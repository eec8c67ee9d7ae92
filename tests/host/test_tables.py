"""Our tables in a real database, as two workers see them: what is kept, leases and vectors."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from typing import Any

import numpy as np
import pytest
from sqlalchemy import inspect, select
from sqlalchemy.exc import OperationalError

from adaptive.core.model import HostError, StoredVector, TablesUnavailable
from adaptive.host.database import ENTRIES, HOST_CHATS
from adaptive.host.faults import refused_for_good
from adaptive.host.memory_vectors import HostVectorTable
from adaptive.host.tables import (
    HostLeases,
    SealedEntries,
)
from adaptive.memory.tables import Entry
from adaptive.privacy.sealing import Sealer
from adaptive.search.vectors import FINGERPRINT_MARK
from tests.host.databases import Worker

NOW = 1_700_000_000
Workers = tuple[Worker, Worker]
SECRET = "made-up secret of a host"
TABLE = "adaptive_memory_entries"
COLUMNS = [one.name for one in ENTRIES.c]


def entries(worker: Worker, secret: str = SECRET) -> SealedEntries:
    """The table as a worker has it."""
    return SealedEntries(Sealer(secret), worker.database)


def entry(key: str, at: int = 0, body: Any = "words") -> Entry:
    """One of a chat of its own."""
    return Entry(key, body, NOW + at, f"chat {key}", f"message {key}")


async def keys(
    table: SealedEntries, user_id: str = "ada", **asked: Any
) -> str:
    """Which entries there are, newest first."""
    return " ".join(
        one.key for one in await table.read("audit", user_id, **asked)
    )


async def test_other_worker_reads_what_one_wrote(workers: Workers) -> None:
    """All fields come back, of this user and kind alone, newest first, some or all."""
    here, there = map(entries, workers)
    await here.put(
        "audit",
        "ada",
        [entry("b", 1, {"to": ["Porto", 5]}), entry("a", 1), entry("c")],
    )
    await here.put("audit", "bob", [entry("d")])
    await here.put("cost", "ada", [entry("e", body=3)])
    (first, *_) = await there.read("audit", "ada")
    assert (first.body, first.created_at) == ({"to": ["Porto", 5]}, NOW + 1)
    assert (first.chat_id, first.message_id, first.expires_at) == (
        "chat b",
        "message b",
        None,
    )
    assert await keys(there) == "b a c"
    assert await keys(there, "bob") == "d"
    assert await keys(there, keys=["c", "d", "a"]) == "a c"
    assert await keys(there, keys=[]) == ""
    await there.put("audit", "ada", [entry("k6", 6), entry("k7", 7)])
    assert await keys(here) == "k7 k6 b a c"
    await here.drop("audit", "ada", ["k6", "never"])
    assert (await keys(there), await keys(there, "bob")) == ("k7 b a c", "d")
    many = [entry(f"{number:04}") for number in range(1200)]
    await there.put("chat", "ada", many)
    assert (
        len(await here.read("chat", "ada", [one.key for one in many])) == 1200
    )


async def test_nothing_in_clear(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    """Texts are sealed for their user, kind and secret: elsewhere or damaged they are absent."""
    table = entries(workers[0])
    await table.put(
        "archive",
        "ada",
        [entry("a", body={"content": "User lives in Porto."})],
    )
    await table.put("archive", "ada", [entry("b", body=["Porto"])])
    told = json.dumps(
        [tuple(row) for row in await workers[0].rows(f"SELECT * FROM {TABLE}")]
    )
    assert "Porto" not in told
    assert told.count("am1-") == 2
    for another in (
        entries(workers[1], "another secret"),
        entries(workers[1], ""),
    ):
        assert await another.read("archive", "ada") == []
        assert await another.read("archive", "ada", ["a"]) == []
    for change in (
        "body = 'am1:garbage'",
        "kind = 'cost'",
        "user_id = 'bob'",
    ):
        await workers[0].change(f"UPDATE {TABLE} SET {change} WHERE key = 'a'")
        found = [
            await table.read(kind, user)
            for kind in ("archive", "cost")
            for user in ("ada", "bob")
        ]
        assert [one.key for some in found for one in some] == ["b"]
    warned = [
        record
        for record in caplog.records
        if record.levelno == logging.WARNING
    ]
    assert len({record.getMessage() for record in warned}) <= 3
    assert "Porto" not in caplog.text


async def test_refused_for_good(workers: Workers) -> None:
    """A table of another release, one to be filled otherwise, and none at all are lasting."""
    worker = workers[0]
    shapes = {
        "user_id": "user_id VARCHAR(64), kind VARCHAR(16), key VARCHAR(255), words TEXT",
        "words": ", ".join(
            [
                *(f'"{one}" VARCHAR(255)' for one in COLUMNS),
                "words TEXT NOT NULL",
            ]
        ),
    }
    unique = ", PRIMARY KEY (user_id, kind, key)"
    for column, columns in shapes.items():
        await worker.change(f"CREATE TABLE {TABLE} ({columns}{unique})")
        with pytest.raises(TablesUnavailable) as failed:
            await entries(worker).put("cost", "ada", [entry("a")])
        assert failed.value.lasting, column
        assert failed.value.detail.startswith("writing cost entries: ")
        assert (
            str(failed.value)
            == "Open WebUI's database refuses what memory needs"
        )
        await worker.change(f"DROP TABLE {TABLE}")
    with pytest.raises(HostError) as failed:
        await worker.database.rows("reading", select(HOST_CHATS.c.id))
    assert failed.value.lasting


def test_locked_for_a_while() -> None:
    """A database that is locked, or gone for a moment, refuses nothing for good."""
    for raised in (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
    ):
        cause = sqlite3.OperationalError("database is locked")
        cause.sqlite_errorcode = raised
        assert not refused_for_good(OperationalError("INSERT", {}, cause))
    assert not refused_for_good(OSError("away"))


async def test_made_by_both(workers: Workers) -> None:
    """Two workers that find no table make it between them, and make it anew where it is gone."""
    tables = [entries(worker) for worker in workers]
    for _ in range(2):
        putting = [
            tables[n % 2].put("cost", "ada", [entry(f"{n}")]) for n in range(8)
        ]
        done = await asyncio.gather(*putting, return_exceptions=True)
        assert [one for one in done if one] == []
        assert len(await tables[0].read("cost", "ada")) == 8
        await workers[0].change(f"DROP TABLE {TABLE}")
        for table in tables:
            with pytest.raises(TablesUnavailable) as failed:
                await table.read("cost", "ada")
            assert failed.value.detail.startswith("reading cost entries: ")
            assert TABLE in failed.value.detail


async def test_index_is_made_anew(workers: Workers) -> None:
    """An index that is gone from a table that stands is there again after the next start."""
    worker, _ = workers
    await entries(worker).put("cost", "ada", [entry("a")])
    [name] = [str(index.name) for index in ENTRIES.indexes]
    await worker.change(f"DROP INDEX {name}")
    assert await keys_of_cost(worker) == ["a"]
    async with worker.engine.connect() as connection:
        assert await connection.run_sync(
            lambda one: inspect(one).has_index(TABLE, name)
        )


async def keys_of_cost(worker: Worker) -> list[str]:
    """What a process that has just started reads of a user's costs."""
    return [one.key for one in await entries(worker).read("cost", "ada")]


MODEL = "host:local:minilm"
CAT = StoredVector("hash of cat", np.array([1, 0], np.float32))
DOG = StoredVector("hash of dog", np.array([0, 1], np.float32))


async def test_leases(workers: Workers) -> None:
    """One of many gets a name, a new or an ended one, and nobody else while it lasts."""
    leases = [HostLeases(worker.database) for worker in workers]

    for moment in (NOW, NOW + 31):
        asking = [leases[n % 2].acquire("ada", moment, 30) for n in range(12)]
        assert sum(await asyncio.gather(*asking)) == 1
    assert not await leases[1].acquire("ada", NOW + 32, 30)


def told(rows: dict[str, StoredVector]) -> dict[str, tuple[str, list[float]]]:
    """Rows in a form that can be compared."""
    return {
        id: (one.content_hash, one.vector.tolist()) for id, one in rows.items()
    }


async def test_vectors_of_two_models_of_one_name(workers: Workers) -> None:
    """What another model of the same identity has made is not read, and not dropped either."""
    table = HostVectorTable(workers[0].database)
    old, new = (f"{MODEL}{FINGERPRINT_MARK}{letter * 32}" for letter in "ab")
    await table.write("ada", old, {"cat": CAT})
    await table.write("ada", new, {"cat": DOG})
    await workers[0].change(
        "CREATE TABLE memory (id VARCHAR, user_id VARCHAR)"
    )
    await workers[0].change("INSERT INTO memory VALUES ('cat', 'ada')")
    await table.tidy("ada", old)
    assert told(await table.read("ada", old)) == told({"cat": CAT})
    assert told(await table.read("ada", new)) == told({"cat": DOG})
    await table.tidy("ada", "another")
    assert await table.read("ada", new) == {}


async def test_vectors_are_shared(workers: Workers) -> None:
    """A worker reads what another wrote of a user and a model, until its memory changes or goes."""
    one, other = (HostVectorTable(worker.database) for worker in workers)
    await one.write("ada", MODEL, {"cat": CAT, "dog": DOG})
    await one.write("bob", MODEL, {"cat": DOG})
    await one.write("ada", "another", {"cat": DOG})
    assert told(await other.read("ada", MODEL)) == told(
        {"cat": CAT, "dog": DOG}
    )
    assert told(await other.read("ada", MODEL, ["dog", "gone"])) == told(
        {"dog": DOG}
    )
    assert await other.read("ada", MODEL, []) == {}
    await other.write("ada", MODEL, {"cat": DOG})
    await workers[0].change(
        "CREATE TABLE memory (id VARCHAR, user_id VARCHAR)"
    )
    await workers[0].change(
        "INSERT INTO memory VALUES ('cat', 'ada'), ('dog', 'bob')"
    )
    await one.tidy("ada", MODEL)
    assert told(await other.read("ada", MODEL)) == told({"cat": DOG})
    assert await one.read("ada", "another") == {}
    assert told(await one.read("bob", MODEL)) == told({"cat": DOG})
