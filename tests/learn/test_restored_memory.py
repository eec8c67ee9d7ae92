"""Writing one archived memory back, whatever breaks on the way."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from adaptive.core.errors import StoreError, TablesUnavailable
from adaptive.core.model import Memory
from adaptive.core.table_ports import ArchivedMemory, AuditEntry
from adaptive.learn.archive import put_into_archive, restore_memory
from tests.fakes import memory
from tests.learn.storerooms import NOW, Fuse, Killed, MetaMemories, World

FULL = Memory(
    "old",
    "User likes tea.",
    5,
    6,
    ("preference",),
    "Work",
    0.5,
    7,
    {"chat_id": "c", "message_id": "m", "said_at": 4, "history": [{"content": "coffee"}]},
    "2030-05-01",
)


async def test_restored() -> None:
    """A restored memory says what it said, from where it was said, and leaves the archive."""
    world = World(MetaMemories())
    room = world.room()
    await put_into_archive(room, [ArchivedMemory(FULL, "too many", NOW)])
    row = await restore_memory(room, "old", NOW + 9)
    assert row is not None
    assert list(world.store.rows.values()) == [row]
    assert replace(row, id="old", created_at=5, updated_at=6, meta=FULL.meta) == FULL
    assert row.meta["history"] == FULL.meta["history"]
    assert row.meta["restored_from"] == "old"
    assert (row.meta["chat_id"], row.meta["said_at"]) == ("c", 4)
    assert world.archive.rows == {}
    expected = AuditEntry("restored", row.id, NOW + 9, after=row.content, reason="it was old")
    assert world.audit.entries == [expected]
    assert await restore_memory(room, "old", NOW) is None


@pytest.mark.parametrize(
    "standing",
    [
        memory("old", "User likes tea, green."),
        memory("new", "User likes tea, green.", meta={"restored_from": "old"}),
        memory("new", "user likes  TEA"),
    ],
    ids=["never deleted", "restored before", "said again"],
)
async def test_not_restored_twice(standing: Memory) -> None:
    """What stands in the store already is not written again."""
    world = World(MetaMemories(standing))
    room = world.room()
    await put_into_archive(room, [ArchivedMemory(FULL, "too many", NOW)])
    assert await restore_memory(room, "old", NOW) == standing
    assert world.contents == [standing.content]
    assert world.archive.rows == {}


async def test_restoring_broken_at_any_call() -> None:
    """Whichever call breaks, another try has the memory in the store, once, on any release."""
    either, fuse = [False, True], Fuse()
    for at, after, kills, keeps_meta in itertools.product(range(8), either, either, either):
        world = World(MetaMemories(memory("x", "Other."), keeps_meta=keeps_meta))
        await put_into_archive(world.room(), [ArchivedMemory(FULL, "too many", NOW)])
        fuse = Fuse(at, after, kills)
        try:
            await restore_memory(world.room(fuse), "old", NOW)
        except (Killed, StoreError, TablesUnavailable):
            assert kills or fuse.blown
        assert "User likes tea." in {*world.contents, *world.archive.contents}
        await restore_memory(world.room(), "old", NOW)
        assert world.contents == ["Other.", "User likes tea."], fuse.calls
        assert world.archive.rows == {}
    assert not fuse.blown
