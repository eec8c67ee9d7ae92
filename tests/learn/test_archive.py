"""Archive and pruning: who goes first, that nothing is lost, and whatever breaks on the way."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import pytest

from adaptive.core.model import Memory, Outcome
from adaptive.core.table_ports import ArchivedMemory, AuditEntry
from adaptive.learn.archive import prune_store
from tests.fakes import SOURCE, hook_settings, memory
from tests.learn.storerooms import NOW, CountedRecalls, Fuse, Killed, MetaMemories, World

NOBODY: frozenset[str] = frozenset()


def rows(*ids: str, **fields: Any) -> list[Memory]:
    """Memories of these ids, the first the oldest."""
    return [memory(id, f"Fact {id}.", created_at=at, **fields) for at, id in enumerate(ids, 1)]


@dataclass(frozen=True)
class Choice:
    """How memories are pruned, and which of them go, in order."""

    id: str
    strategy: str
    limit: int
    gone: str
    fresh: str = ""


# The first is a core fact, "c" has ended, "e" is the most important and most recalled of the rest.
KEPT = [
    *rows("a", importance=9),
    *(replace(one, updated_at=at) for at, one in enumerate(rows("b"), 2)),
    replace(rows("c")[0], updated_at=3, until="2027-01-14"),
    replace(rows("d")[0], updated_at=4, importance=3),
    replace(rows("e")[0], updated_at=5, importance=6),
]
CHOICES = [
    Choice("few enough", "oldest", 5, ""),
    Choice("no limit", "oldest", 0, ""),
    Choice("what has ended first, core last", "oldest", 1, "cbde"),
    Choice("least important", "least_important", 2, "cdb"),
    Choice("least recalled", "least_recalled", 2, "cdb"),
    Choice("new ones stay", "oldest", 2, "cde", fresh="ba"),
]


@pytest.mark.parametrize("case", CHOICES, ids=lambda case: case.id)
async def test_order(case: Choice) -> None:
    """What goes first is what the strategy says; core facts go last, what is new never."""
    world = World(MetaMemories(*KEPT), usage=CountedRecalls(b=2, d=1, e=3))
    settings = hook_settings(max_total_memories=case.limit, pruning_strategy=case.strategy)
    told = await prune_store(world.room(), settings, SOURCE, frozenset(case.fresh), NOW)
    assert [one.content for one in told] == [f"Fact {id}." for id in case.gone]


async def test_pruned_into_the_archive() -> None:
    """What goes stands in the archive whole, with when and why; the user is told of each."""
    gone = replace(rows("a")[0], tags=("goal",), bank="Work", meta={"said_at": 3, "chat_id": "c"})
    world = World(MetaMemories(gone, *rows("b", "c")[:2]), usage=CountedRecalls(a=1, b=2, x=3))
    settings = hook_settings(max_total_memories=2, pruning_strategy="least_recalled")
    told = await prune_store(world.room(), settings, SOURCE, frozenset("bc"), NOW)
    reason = "more than 2 memories; the least recalled go first"
    assert told == [Outcome("archived", "Fact a.", reason)]
    assert world.contents == ["Fact b.", "Fact c."]
    assert world.archive.rows == {"a": ArchivedMemory(gone, reason, NOW)}
    assert world.audit.entries == [
        AuditEntry("pruned", "a", NOW, "Fact a.", "", reason, SOURCE.chat_id, SOURCE.message_id)
    ]


class Forgetful(MetaMemories):
    """A store of which somebody changes a row once its memories were read."""

    changed: Memory | None = None

    async def read(self) -> tuple[Memory, ...]:
        """The rows as they are, and then differently."""
        found = await super().read()
        if self.changed:
            self.rows[self.changed.id] = self.changed
        return found


async def test_changed_on_the_way() -> None:
    """What the user edits while it is archived is not deleted: the archive has the old words."""
    store = Forgetful(*rows("a", "b", "c"))
    store.changed = replace(store.rows["a"], content="Fact A, corrected.")
    world = World(store)
    settings = hook_settings(max_total_memories=1, pruning_strategy="oldest")
    told = await prune_store(world.room(), settings, SOURCE, NOBODY, NOW)
    assert [one.content for one in told] == ["Fact b."]
    assert world.contents == ["Fact A, corrected.", "Fact c."]


async def test_archive_that_forgets() -> None:
    """An archive that does not hold what it was given costs no memory."""
    world = World(MetaMemories(*rows("a", "b")))

    async def forget(user_id: str, archived: object) -> None: ...

    world.archive.put = forget  # type: ignore[method-assign]
    settings = hook_settings(max_total_memories=1)
    assert await prune_store(world.room(), settings, SOURCE, NOBODY, NOW) == []
    assert len(world.contents) == 2


async def test_broken_at_any_call() -> None:
    """Whichever call breaks, no fact is lost, and the next turn ends where it should have."""
    settings = hook_settings(max_total_memories=2, pruning_strategy="least_recalled")
    facts, fuse = {f"Fact {id}." for id in "abcde"}, Fuse()
    for at, after, kills in itertools.product(range(14), [False, True], [False, True]):
        world = World(MetaMemories(*rows(*"abcde")))
        fuse = Fuse(at, after, kills)
        try:
            told = await prune_store(world.room(fuse), settings, SOURCE, NOBODY, NOW)
            assert {one.content for one in told} <= facts - set(world.contents)
        except Killed:
            assert kills
        where = f"{fuse.calls} broke at its end"
        assert set(world.contents) | world.archive.contents == facts, where
        assert len(world.contents) >= 2, where
        await prune_store(world.room(), settings, SOURCE, NOBODY, NOW + 1)
        assert world.contents == ["Fact d.", "Fact e."], where
        assert world.archive.contents == {"Fact a.", "Fact b.", "Fact c."}, where
    assert not fuse.blown


async def test_audit_trail(caplog: pytest.LogCaptureFixture) -> None:
    """A trail holds no secret of another tool's row; where it can't be written nothing stops."""
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    world = World(MetaMemories())
    plain = AuditEntry("saved", "m-1", 7, "", "User likes tea.", "why", "c", "m")
    secret = AuditEntry("deleted", "m-2", 7, f"User's token is {token}.", token)
    await world.room().trail.record("ada", [plain, secret], 7)
    await world.room(Fuse(at=0)).trail.record("ada", [plain], 7)
    assert world.audit.told() == [("saved", "m-1"), ("deleted", "m-2")]
    assert world.audit.entries[0] == plain
    assert token not in repr(world.audit.entries)
    assert caplog.messages == ["changes are not written down: append is broken"]
