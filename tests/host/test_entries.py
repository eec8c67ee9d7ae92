"""The table of all that is kept of users, in a real database, as two workers see it."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adaptive.core.errors import TablesUnavailable
from adaptive.core.kept import Entry
from adaptive.host.entries import SealedEntries
from adaptive.privacy.sealing import Sealer
from tests.host.databases import Worker

NOW = 1_700_000_000
SECRET = "made-up secret of a host"
TABLE = "adaptive_memory_entries"
Workers = tuple[Worker, Worker]


def entries(worker: Worker, secret: str = SECRET) -> SealedEntries:
    """The table as a worker has it."""
    return SealedEntries(Sealer(secret), worker.sessions)


def entry(key: str, at: int = 0, body: Any = "words") -> Entry:
    """One of a chat of its own."""
    return Entry(key, body, NOW + at, f"chat {key}", f"message {key}")


async def keys(table: SealedEntries, user_id: str = "ada", **asked: Any) -> str:
    """Which entries there are, newest first."""
    return " ".join(one.key for one in await table.read("audit", user_id, **asked))


async def test_other_worker_reads_what_one_wrote(workers: Workers) -> None:
    """All fields come back, of this user and kind alone, newest first, some or all."""
    here, there = map(entries, workers)
    await here.put("audit", "ada", [entry("b", 1, {"to": ["Porto", 5]}), entry("a", 1), entry("c")])
    await here.put("audit", "bob", [entry("d")])
    await here.put("usage", "ada", [entry("e", body=3)])
    (first, *_) = await there.read("audit", "ada")
    assert (first.body, first.created_at) == ({"to": ["Porto", 5]}, NOW + 1)
    assert (first.chat_id, first.message_id, first.expires_at) == ("chat b", "message b", None)
    assert await keys(there) == "b a c"
    assert await keys(there, "bob") == "d"
    assert await keys(there, keys=["c", "d", "a"]) == "a c"
    assert await keys(there, keys=[]) == ""
    await there.put("audit", "ada", [entry("k6", 6), entry("k7", 7)], newest=2)
    assert await keys(here) == "k7 k6"
    await here.drop("audit", "ada", ["k6", "never"])
    assert (await keys(there), await keys(there, "bob")) == ("k7", "d")
    many = [entry(f"{number:04}") for number in range(1200)]
    await there.put("chat", "ada", many)
    assert len(await here.read("chat", "ada", [one.key for one in many])) == 1200


async def test_nothing_in_clear(workers: Workers, caplog: pytest.LogCaptureFixture) -> None:
    """Texts are sealed for their user, kind and secret: elsewhere or damaged they are absent."""
    table = entries(workers[0])
    await table.put("archive", "ada", [entry("a", body={"content": "User lives in Porto."})])
    await table.put("archive", "ada", [entry("b", body=["Porto"])])
    told = json.dumps([tuple(row) for row in await workers[0].rows(f"SELECT * FROM {TABLE}")])
    assert "Porto" not in told
    assert told.count("am1:") == 2
    for another in (entries(workers[1], "another secret"), entries(workers[1], "")):
        assert await another.read("archive", "ada") == []
        assert await another.read("archive", "ada", ["a"]) == []
    for change in ("body = 'am1:garbage'", "kind = 'usage'", "user_id = 'bob'"):
        await workers[0].change(f"UPDATE {TABLE} SET {change} WHERE key = 'a'")
        found = [
            await table.read(kind, user) for kind in ("archive", "usage") for user in ("ada", "bob")
        ]
        assert [one.key for some in found for one in some] == ["b"]
    warned = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len({record.getMessage() for record in warned}) <= 3
    assert "Porto" not in caplog.text


async def test_changed_by_one(workers: Workers) -> None:
    """Of workers that change what they have read at the same time one succeeds."""
    here, there = map(entries, workers)
    await here.put("suggestion", "ada", [entry("a")])
    (read,) = await there.read("suggestion", "ada")
    changing = [one.replace("suggestion", "ada", read, "new") for one in (here, there) * 3]
    assert (await asyncio.gather(*changing)).count(True) == 1
    assert [one.body for one in await here.read("suggestion", "ada")] == ["new"]
    assert not await here.replace("suggestion", "bob", read, "newer")


async def test_settled(workers: Workers) -> None:
    """What is settled is neither replaced nor dropped, whoever writes at the same time."""
    here, there = map(entries, workers)
    work = [there.put("suggestion", "ada", [entry("a"), entry("b")]) for _ in range(3)]
    await asyncio.gather(*work, here.put("suggestion", "ada", [Entry("a", None, NOW)]))
    await there.put("suggestion", "ada", [entry("a")], newest=1)
    await there.drop("suggestion", "ada", ["a"])
    assert [one.key for one in await here.read("suggestion", "ada")] == ["b"]
    (settled,) = await here.read("suggestion", "ada", ["a", "b"], settled=True)
    assert (settled.key, settled.chat_id) == ("a", "")


async def test_expired(workers: Workers) -> None:
    """What has expired goes within the hour, whosever it is and whoever writes."""
    table = entries(workers[0])
    await table.put("chat", "bob", [Entry("c", "state", NOW, expires_at=NOW + 60), entry("d")])
    for minutes, left in ((2, 2), (59, 2), (61, 1)):
        await table.put("usage", "ada", [entry("m", minutes * 60, 1)])
        assert len(await table.read("chat", "bob")) == left


async def test_deleted_chats(workers: Workers) -> None:
    """What belongs to chats that the host has no more goes, the current chat excepted."""
    table = entries(workers[0])
    await table.put(
        "chat", "ada", [Entry(one, "", NOW, one) for one in ("kept", "gone", "local:1")]
    )
    await table.put("chat", "bob", [Entry("gone", "", NOW, "gone")])
    with pytest.raises(TablesUnavailable, match="dropping old chat entries"):
        await table.drop_deleted("chat", "ada", "")
    await workers[0].change("CREATE TABLE chat (id VARCHAR PRIMARY KEY)")
    await workers[0].change("INSERT INTO chat VALUES ('kept')")
    await table.drop_deleted("chat", "ada", "local:1")
    assert {one.key for one in await table.read("chat", "ada")} == {"kept", "local:1"}
    await table.drop_deleted("chat", "ada", "kept")
    assert [one.key for one in await table.read("chat", "ada")] == ["kept"]
    assert len(await table.read("chat", "bob")) == 1


async def test_made_by_both(workers: Workers) -> None:
    """Two workers that find no table make it between them, and make it anew where it is gone."""
    tables = [entries(worker) for worker in workers]
    for _ in range(2):
        putting = [tables[n % 2].put("usage", "ada", [entry(f"{n}")]) for n in range(8)]
        done = await asyncio.gather(*putting, return_exceptions=True)
        assert [one for one in done if one] == []
        assert len(await tables[0].read("usage", "ada")) == 8
        await workers[0].change(f"DROP TABLE {TABLE}")
        for table in tables:
            with pytest.raises(TablesUnavailable, match="reading usage entries: "):
                await table.read("usage", "ada")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(JSON | st.text(st.characters(exclude_categories=[])), min_size=1))
async def test_any_value_comes_back(workers: Workers, body: Any) -> None:
    """Whatever JSON can say comes back, signs that PostgreSQL takes in no text included."""
    table = entries(workers[0])
    await table.put("usage", "ada", [entry("a", body=body)])
    (read,) = await table.read("usage", "ada")
    assert read.body == body
