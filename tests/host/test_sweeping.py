"""What stands of deleted memories and accounts in the host's databases is swept, and no more."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from adaptive.core.model import HostError, StoredVector, StoreError
from adaptive.host import memory_vectors
from adaptive.host.erasure import HostSweep
from adaptive.host.memories import note_deletion, stale_vectors
from adaptive.host.memory_vectors import (
    delete_vectors,
)
from adaptive.host.tables import HostTables
from adaptive.host.vector_database import (
    HostHistoryVectors,
    history_collection,
)
from adaptive.memory.audit import AuditEntry
from adaptive.memory.tables import Addition, ChatNotes
from adaptive.memory.turn_table import QueuedTurn, TurnLease
from adaptive.privacy.sealing import Sealer
from tests.fakes import turn
from tests.host import test_history_vectors
from tests.host.databases import OUR_TABLES, Worker
from tests.host.test_history_vectors import unit

NOW = 1_700_000_000.0
DAY = 24 * 3600


@dataclass
class Engine(test_history_vectors.Engine):
    """A vector database that does nothing about its first deletions, so many of them."""

    swallowed: int = 0
    away: bool = False
    asked: list[str] = field(default_factory=list[str])

    def hold(self, user_id: str, *ids: str) -> None:
        """Vectors of a user's memories."""
        items = {id: {"id": id, "text": id, "metadata": {}} for id in ids}
        self.collections[f"user-memory-{user_id}"] = items

    def ids(self, user_id: str = "ada") -> list[str]:
        """What stands in a user's collection."""
        return sorted(self.collections.get(f"user-memory-{user_id}", {}))

    def get(self, collection_name: str) -> Any:
        """All of a collection."""
        self.asked.append("get")
        if self.away or collection_name not in self.collections:
            raise OSError("no answer")
        return self._result(self._found(collection_name, None), None)

    def has_collection(self, collection_name: str) -> bool:
        """Whether there is one."""
        if self.away:
            raise OSError("no answer")
        return collection_name in self.collections

    def delete(self, collection_name: str, ids: Sequence[str]) -> None:
        """Swallows what goes wrong."""
        self.asked.append("delete")
        if self.swallowed:
            self.swallowed -= 1
            return
        for id in ids:
            self.collections[collection_name].pop(id, None)

    def delete_collection(self, collection_name: str) -> None:
        """Swallows what goes wrong."""
        if not self.swallowed and not self.away:
            super().delete_collection(collection_name)


@pytest.fixture
def engine(
    workers: tuple[Worker, Worker], monkeypatch: pytest.MonkeyPatch
) -> Engine:
    """The host's vector database, and its sessions."""
    monkeypatch.setattr(
        memory_vectors, "_LOOK_PAUSES_SECONDS", (0.0, 0.0, 0.0)
    )
    running = Engine()
    client = SimpleNamespace(
        ASYNC_VECTOR_DB_CLIENT=SimpleNamespace(sync=running)
    )
    monkeypatch.setitem(
        sys.modules, "open_webui.retrieval.vector.async_client", client
    )
    database = SimpleNamespace(get_async_db_context=workers[0].sessions)
    monkeypatch.setitem(sys.modules, "open_webui.internal.db", database)
    return running


class House:
    """Our tables and the host's, with something of Ada and Bob, and of nobody, in each."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.tables = HostTables(Sealer("secret"), worker.database)
        self.sweep = self.new_sweep()

    def new_sweep(self) -> HostSweep:
        """The sweep of another worker."""
        return HostSweep(self.tables, HostHistoryVectors())

    async def fill(self, engine: Engine) -> None:
        """Ada and Bob have memories; nobody has the vectors that all share."""
        await self.worker.change(
            "CREATE TABLE memory (id VARCHAR PRIMARY KEY, user_id VARCHAR)"
        )
        await self.worker.change("CREATE TABLE chat (id VARCHAR PRIMARY KEY)")
        await self.worker.change("INSERT INTO chat VALUES ('c')")
        vector = StoredVector("hash", np.full(4, 0.5, np.float32))
        for user_id in ("ada", "bob"):
            await self.worker.change(
                "INSERT INTO memory VALUES (:id, :user)",
                id=f"{user_id}-1",
                user=user_id,
            )
            await self.tables.pending.put(
                QueuedTurn(turn("words", user_id=user_id), NOW, NOW)
            )
            await self.tables.costs.add(user_id, Counter(calls=1), int(NOW))
            await self.tables.vectors.write(
                user_id, "words", {f"{user_id}-1": vector}
            )
            engine.hold(user_id, f"{user_id}-1")
            units = [unit("a")]
            await HostHistoryVectors().upsert(
                user_id, "words", units, np.eye(4)[:1]
            )
        await self.tables.vectors.write("", "words", {"null prompt": vector})

    async def accounts(self, *user_ids: str) -> None:
        """The host's users are these."""
        await self.worker.change(
            'CREATE TABLE IF NOT EXISTS "user" (id VARCHAR PRIMARY KEY)'
        )
        await self.worker.change('DELETE FROM "user"')
        for user_id in user_ids:
            await self.worker.change(
                'INSERT INTO "user" VALUES (:id)', id=user_id
            )

    async def users(self) -> dict[str, set[str]]:
        """Whose rows stand in each table."""
        names = (*OUR_TABLES, "memory")
        rows = {
            name: await self.worker.rows(f"SELECT user_id FROM {name}")
            for name in names
        }
        return {
            name: {row.user_id for row in found} - {""}
            for name, found in rows.items()
        }


@pytest.fixture
async def house(workers: tuple[Worker, Worker], engine: Engine) -> Any:
    """The house, whose table of users is dropped in the end."""
    filled = House(workers[0])
    await filled.worker.change('DROP TABLE IF EXISTS "user"')
    await filled.fill(engine)
    yield filled
    await filled.worker.change('DROP TABLE IF EXISTS "user"')


# --- accounts -------------------------------------------------------------------------------------


async def test_deleted_account(house: House, engine: Engine) -> None:
    """Of a deleted account nothing is left in a day; others' rows and nobody's stay."""
    await house.accounts("bob")
    await house.sweep.run(NOW)
    assert set(map(tuple, (await house.users()).values())) == {("bob",)}
    assert sorted(engine.collections) == sorted(
        ["user-memory-bob", history_collection("bob")]
    )
    (shared,) = await house.worker.rows(
        "SELECT memory_id FROM adaptive_memory_vector WHERE user_id = ''"
    )
    assert shared.memory_id == "null prompt"


async def test_once_a_day(house: House) -> None:
    """One worker sweeps for all, and none looks again before an hour is over."""
    await house.accounts("ada", "bob")
    await house.sweep.run(NOW)
    assert not house.sweep.is_due(NOW + 1800)
    assert house.sweep.is_due(NOW + 3600)
    await house.accounts("bob")
    await house.new_sweep().run(NOW + DAY - 10)
    assert "ada" in (await house.users())["memory"]
    await house.new_sweep().run(NOW + DAY + 10)
    assert (await house.users())["memory"] == {"bob"}


@pytest.mark.parametrize("there", [False, True], ids=["unreadable", "empty"])
async def test_no_account_is_known(
    house: House, engine: Engine, there: bool
) -> None:
    """Where the host's users can't be read, or there seem to be none, nobody's rows go."""
    before = await house.users()
    if there:
        await house.accounts()
        await house.sweep.run(NOW)
    else:
        with pytest.raises(HostError):
            await house.sweep.run(NOW)
    assert await house.users() == before
    assert engine.ids() == ["ada-1"]


async def test_vectors_first(house: House, engine: Engine) -> None:
    """Where the vectors of an account can't be erased its rows stay, and so it is tried again."""
    await house.accounts("bob")
    engine.swallowed = 1
    await house.sweep.run(NOW)
    assert "ada" in (await house.users())["adaptive_memory_entries"]
    engine.swallowed = 0
    await house.sweep.run(NOW + 2 * DAY)
    assert set(map(tuple, (await house.users()).values())) == {("bob",)}


# --- what is outdated ---------------------------------------------------------------------------


async def test_expired(house: House) -> None:
    """A change goes after 400 days; what a chat was given, and notes of it, go with the chat."""
    tables = house.tables
    await house.accounts("ada", "bob")
    change = AuditEntry("saved", "ada-1", int(NOW), None, "a fact")
    await tables.audit.record("ada", [change])
    await tables.suggestions.reject("ada", "rejected", int(NOW))
    given = {"k": Addition(core=[], retrieved=["ada-1"], texts=[])}
    for chat in ("c", "deleted"):
        await tables.chats.write("ada", chat, given, int(NOW))
        await tables.chat_notes.write("ada", chat, ChatNotes(chat), int(NOW))
    for days, changes in ((0.9, 1), (401, 0)):
        await house.new_sweep().run(NOW + days * DAY)
        assert len(await tables.audit.keys("ada")) == changes
        assert await tables.chats.read("ada", "c") == given
        assert await tables.chats.read("ada", "deleted") == {}
    assert await tables.chat_notes.read("ada", "c") == ChatNotes("c")
    assert await tables.chat_notes.read("ada", "deleted") == ChatNotes()
    assert await tables.suggestions.rejected("ada", ["rejected"])


async def test_old_turns(house: House) -> None:
    """Turns learned a month ago go; what waits does not, but for half a year."""
    await house.accounts("ada", "bob")
    pending = house.tables.pending
    for message_id, days in (("old", 0), ("newer", 20)):
        at = NOW + days * DAY
        await pending.put(
            QueuedTurn(turn("words", message_id=message_id), at, at)
        )
        lease = TurnLease("ada", message_id, (message_id,))
        taken = await pending.take(lease, at, at + 30)
        assert taken
        assert await pending.end(lease, at, 0, learned=taken)
    left: list[list[str]] = []
    for days in (29, 31, 181):
        await house.new_sweep().run(NOW + days * DAY)
        rows = await house.worker.rows(
            "SELECT key FROM adaptive_memory_entries WHERE user_id = 'ada'"
            " AND kind IN ('waiting', 'done') ORDER BY key"
        )
        left.append([row.key for row in rows])
    assert left == [["m", "newer", "old"], ["m", "newer"], []]


# --- vectors of deleted memories ------------------------------------------------------------------


@pytest.mark.parametrize("away", [False, True])
async def test_vector_stays(house: House, engine: Engine, away: bool) -> None:
    """A vector that a deletion has left is an error, until it is gone; others' vectors stay."""
    engine.hold("ada", "tea", "boat")
    engine.swallowed, engine.away = 1, away
    with pytest.raises(HostError):
        await delete_vectors("ada", ["tea"])
    engine.swallowed, engine.away = 0, False
    await delete_vectors("ada", ["tea"])
    assert engine.ids() == ["boat"]


async def test_no_collection(engine: Engine) -> None:
    """Where an engine refuses to delete from a collection that is not there nothing stands."""
    await delete_vectors("ada", ["tea"])
    assert engine.asked == ["delete", "get"]


async def noted(house: House) -> list[str]:
    """Of whom vectors may stand without a memory."""
    rows = await house.worker.rows(
        "SELECT user_id, key FROM adaptive_memory_entries"
    )
    return [
        row.user_id for row in rows if row.key == stale_vectors(row.user_id)
    ]


async def test_vector_comes_back(house: House, engine: Engine) -> None:
    """Vectors without a memory go with the day's sweep, be it after the process has ended.

    Where the database is away they go another day. What has just been deleted is looked for in a
    day again, since a vector may still be in the making.
    """
    await house.accounts("ada", "bob")
    now = time.time()
    await note_deletion("ada", house.worker.database)
    engine.hold("ada", "ada-1", "tea")
    engine.hold("bob", "bob-1", "boat")
    engine.away = True
    await house.new_sweep().run(now + 2 * DAY)
    assert engine.ids() == ["ada-1", "tea"]
    engine.away = False
    await house.new_sweep().run(now + 4 * DAY)
    assert (engine.ids(), await noted(house)) == (["ada-1"], [])
    assert engine.ids("bob") == ["boat", "bob-1"]

    engine.hold("ada", "ada-1", "tea")
    await note_deletion("ada", house.worker.database)
    await house.worker.change(
        "DELETE FROM adaptive_memory_entries WHERE key = 'daily_sweep:'"
    )
    await house.new_sweep().run(now + 60)
    assert (engine.ids(), await noted(house)) == (["ada-1"], ["ada"])


async def test_collection_stays(house: House, engine: Engine) -> None:
    """A collection that can't be dropped is an error."""
    engine.swallowed = 1
    with pytest.raises(StoreError) as failed:
        await delete_vectors("ada")
    assert failed.value.detail == "vectors of deleted memories still stand"
