"""Another ``WEBUI_SECRET_KEY``: what it can't open is counted and kept, and comes back with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adaptive.host.doctor import _sealed
from adaptive.host.tables import HostTables
from adaptive.memory.tables import ArchivedMemory, ChatNotes
from adaptive.memory.turn_table import QueuedTurn, TurnLease, next_batch
from adaptive.privacy.sealing import MARKED, Sealer
from tests.fakes import memory, turn
from tests.host.databases import Worker

NOW = 1_700_000_000
TURN = QueuedTurn(turn("words", message_id="old"), NOW, NOW)


class EarlierSealer(Sealer):
    """Seals as releases did that told no key in the seal."""

    def seal(self, user_id: str, purpose: str, text: str) -> str:
        """A text under the mark of then."""
        return "am1:" + super().seal(user_id, purpose, text).partition(":")[2]


@pytest.fixture
def former() -> Sealer:
    """The secret of before."""
    return Sealer("former")


async def test_entries(workers: tuple[Worker, Worker], former: Sealer) -> None:
    """Archived memories are counted under another secret, stay, and are there with the former."""
    tables = HostTables(former, workers[0].database)
    kept = ArchivedMemory(memory("m1", "User likes tea."), "too many", NOW)
    await tables.archive.put("ada", [kept])
    later = HostTables(Sealer("later"), workers[1].database)
    assert await later.archive.read("ada") == ()
    assert await later.archive.unopened("ada") == 1
    assert await later.archive.unopened("bob") == 0
    await later.archive.put("ada", [replace(kept, memory=memory("m2", "b"))])
    assert await later.archive.unopened("ada") == 1
    assert await tables.archive.read("ada") == (kept,)


async def test_doctor_counts(
    workers: tuple[Worker, Worker], former: Sealer
) -> None:
    """An administrator is told how much of all users waits for the former secret."""
    tables = HostTables(former, workers[0].database)
    assert [found async for found in _sealed(workers[1].database)] == []
    kept = [
        ArchivedMemory(memory(f"m{n}", "User likes tea."), "many", NOW)
        for n in range(3)
    ]
    await tables.archive.put("ada", kept)
    await tables.pending.put(TURN)
    assert await tables.leases.acquire("tidy:ada", NOW, 9)
    ((level, told),) = [found async for found in _sealed(workers[1].database)]
    assert level == "problem"
    assert told.startswith("Open WebUI's secret key has changed")
    assert told.endswith("(archive: 3, waiting: 1)")


async def test_nothing_is_replaced(workers: tuple[Worker, Worker]) -> None:
    """What a secret has sealed is not replaced under another one."""
    tables = HostTables(Sealer("former"), workers[0].database)
    await workers[0].change("CREATE TABLE chat (id VARCHAR(255))")
    await workers[0].change("INSERT INTO chat VALUES ('c')")
    await tables.chat_notes.write("ada", "c", ChatNotes("before"), NOW)
    later = HostTables(Sealer("later"), workers[1].database)
    await later.chat_notes.write("ada", "c", ChatNotes("after"), NOW)
    assert await tables.chat_notes.read("ada", "c") == ChatNotes("before")


async def test_waiting_turns(
    workers: tuple[Worker, Worker], former: Sealer
) -> None:
    """A turn that can't be opened waits on, untried, holds up no newer one, and comes back."""
    before = HostTables(former, workers[0].database).pending
    await before.put(TURN)
    later = HostTables(Sealer("later"), workers[1].database).pending
    await later.put(QueuedTurn(turn("words", message_id="new"), NOW, NOW))
    taken = None
    for attempt in range(3):
        places = (await later.waiting("ada", NOW)).turns
        lease = TurnLease("ada", f"me{attempt}", next_batch(places, NOW + 1))
        taken = taken or await later.take(
            lease, NOW + attempt, NOW + attempt + 9
        )
        if taken:
            assert await later.end(lease, NOW + attempt, 1, learned=taken)
            break
    assert taken
    assert [one.turn.source.message_id for one in taken] == ["new"]
    assert (await later.waiting("ada", NOW)).turns == ()
    entries = HostTables(Sealer("later"), workers[1].database).entries
    assert (await entries.unopened())["waiting"] == 1
    (waiting,) = (await before.waiting("ada", NOW)).turns
    assert (waiting.message_id, waiting.attempts) == ("old", 0)
    lease = TurnLease("ada", "again", ("old",))
    assert await before.take(lease, NOW + 99, NOW + 120) == (TURN,)


def test_seal_tells_its_key() -> None:
    """Seals of one secret begin alike, those of others differ, and those of before are opened."""
    mine, other = Sealer("a"), Sealer("b")
    assert mine.mark.startswith(MARKED)
    assert mine.mark != other.mark
    assert Sealer("a").seal("ada", "x", "words").startswith(mine.mark)
    assert (
        mine.open("ada", "x", EarlierSealer("a").seal("ada", "x", "words"))
        == "words"
    )
