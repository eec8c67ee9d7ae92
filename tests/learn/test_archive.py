"""Archive and pruning: who goes first, that nothing is lost, and whatever breaks on the way."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.errors import StoreError, TablesUnavailable
from adaptive.learn.archive import (
    is_core,
    prune_store,
    put_into_archive,
    remove_archived,
    restore_memory,
    surplus,
)
from adaptive.model import Memory, Outcome
from adaptive.table_ports import ArchivedMemory, AuditEntry, Recalls
from tests.fakes import SOURCE, hook_settings, memory
from tests.learn.storerooms import NOW, CountedRecalls, Fuse, Killed, MetaMemories, World
from tests.rates import over

NOBODY: frozenset[str] = frozenset()


def rows(*ids: str, **fields: Any) -> list[Memory]:
    """Memories of these ids, the first the oldest."""
    return [memory(id, f"Fact {id}.", created_at=at, **fields) for at, id in enumerate(ids, 1)]


@dataclass(frozen=True)
class Choice:
    """Memories in a store, and which of them go, in order."""

    id: str
    strategy: str
    memories: list[Memory]
    limit: int
    gone: list[str]
    fresh: frozenset[str] = NOBODY
    recalls: dict[str, int] | None = None
    core_importance: int = 9


TODAY = "2027-01-15"  # the day of NOW
CHOICES = [
    Choice("few enough", "oldest", rows("a", "b"), 2, []),
    Choice("no limit", "oldest", rows("a", "b"), 0, []),
    Choice("oldest", "oldest", rows("a", "b", "c"), 1, ["a", "b"]),
    Choice(
        "oldest is what has not changed for longest",
        "oldest",
        [memory("a", "a", created_at=1, updated_at=9), memory("b", "b", created_at=2)],
        1,
        ["b"],
    ),
    Choice("of one second by id", "oldest", [memory("b", "b"), memory("a", "a")], 1, ["a"]),
    Choice(
        "least important",
        "least_important",
        [*rows("a", "b", importance=5), *rows("c", "d", importance=2)],
        1,
        ["c", "d", "a"],
    ),
    Choice(
        "least recalled",
        "least_recalled",
        rows("a", "b", "c", "d"),
        1,
        ["b", "d", "c"],
        recalls={"a": 7, "c": 1, "gone": 0},
    ),
    Choice(
        "core facts last",
        "least_important",
        [
            *rows("name", tags=("identity",), importance=1),
            *rows("vital", importance=9),
            *rows("c", "d", importance=8),
        ],
        1,
        ["c", "d", "name"],
    ),
    Choice(
        "what counts as core is the admin's",
        "oldest",
        [*rows("a", importance=7), *rows("b", importance=6)],
        1,
        ["b"],
        core_importance=7,
    ),
    Choice(
        "identity is core even where nothing is important enough",
        "oldest",
        [*rows("name", tags=("goal", "identity")), *rows("b", importance=10)],
        1,
        ["b"],
        core_importance=11,
    ),
    Choice(
        "what has ended first",
        "least_important",
        [
            *rows("a", "b", importance=2),
            *rows("over", until="2027-01-14", importance=9),
            *rows("today", until=TODAY, importance=3),
        ],
        1,
        ["over", "a", "b"],
    ),
    Choice("not of this turn", "oldest", rows("a", "b", "c"), 1, ["b", "c"], frozenset("a")),
    Choice("all of this turn", "oldest", rows("a", "b"), 1, [], frozenset("ab")),
]


@over("case", CHOICES)
def test_surplus(case: Choice) -> None:
    """What goes first is what the strategy says; core facts go last, what is new never."""
    settings = hook_settings(
        max_total_memories=case.limit,
        pruning_strategy=case.strategy,
        core_importance=case.core_importance,
    )
    recalls = {id: Recalls(count, NOW) for id, count in (case.recalls or {}).items()}
    gone = surplus(case.memories, settings, recalls, case.fresh, TODAY)
    assert [one.id for one in gone] == case.gone
    backwards = surplus(case.memories[::-1], settings, recalls, case.fresh, TODAY)
    assert [one.id for one in backwards] == case.gone


MEMORIES = st.lists(
    st.builds(
        Memory,
        id=st.text("abcdef", min_size=1, max_size=2),
        content=st.just("a"),
        created_at=st.integers(0, 3),
        updated_at=st.integers(0, 3),
        tags=st.sampled_from([(), ("identity",), ("goal",)]),
        importance=st.integers(0, 10),
    ),
    unique_by=lambda one: one.id,
    max_size=12,
)


@given(
    MEMORIES,
    st.integers(0, 8),
    st.sampled_from(["oldest", "least_recalled", "least_important"]),
    st.sets(st.text("abcdef", min_size=1, max_size=2)),
)
def test_surplus_of_any_store(
    memories: list[Memory], limit: int, strategy: str, fresh: set[str]
) -> None:
    """In any store exactly what is too much goes, no core fact before another, nothing new."""
    settings = hook_settings(max_total_memories=limit, pruning_strategy=strategy)
    gone = surplus(memories, settings, {}, fresh)
    ids = [one.id for one in gone]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & fresh
    old = [one for one in memories if one.id not in fresh]
    assert len(gone) == min(len(old), max(0, len(memories) - limit) if limit else 0)
    cores = [is_core(one, settings) for one in gone]
    assert cores == sorted(cores)
    if any(cores):
        assert all(is_core(one, settings) for one in old if one not in gone)


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
    assert world.usage.rows.keys() == {"b"}
    assert world.audit.entries == [
        AuditEntry("pruned", "a", NOW, "Fact a.", "", reason, SOURCE.chat_id, SOURCE.message_id)
    ]


@pytest.mark.parametrize("limit", [0, 3, 4])
async def test_nothing_to_prune(limit: int) -> None:
    """Without a limit the store is not even asked; within it its rows are not read."""
    world = World(MetaMemories(*rows("a", "b", "c")))
    settings = hook_settings(max_total_memories=limit)
    assert await prune_store(world.room(), settings, SOURCE, NOBODY, NOW) == []
    assert (world.store.stamps, world.store.reads) == (int(limit > 0), 0)


async def test_limit_is_reached_over_several_turns() -> None:
    """A limit that comes late prunes no more than 25 memories after one turn."""
    world = World(MetaMemories(*rows(*(f"m{number:02}" for number in range(60)))))
    settings = hook_settings(max_total_memories=5, pruning_strategy="oldest")
    counts = [len(await prune_store(world.room(), settings, SOURCE, NOBODY, NOW)) for _ in range(4)]
    assert counts == [25, 25, 5, 0]
    assert world.contents == [f"Fact m{number}." for number in range(55, 60)]
    assert len(world.archive.rows) == 55


async def test_recalls_are_only_asked_for_where_they_count() -> None:
    """Unless the least recalled go first the counts are neither read nor cleaned."""
    fuse = Fuse()
    world = World(MetaMemories(*rows("a", "b")))
    settings = hook_settings(max_total_memories=1, pruning_strategy="oldest")
    await prune_store(world.room(fuse), settings, SOURCE, NOBODY, NOW)
    assert fuse.calls == ["stamp", "read", "put", "find", "read", "delete", "append"]


async def test_what_has_ended_is_told_as_past() -> None:
    """The user is told that a memory went because it has ended, whatever the strategy."""
    world = World(MetaMemories(*rows("a"), *rows("b", until="2027-01-14")))
    settings = hook_settings(max_total_memories=1, pruning_strategy="oldest")
    (told,) = await prune_store(world.room(), settings, SOURCE, NOBODY, NOW)
    reason = "more than 1 memories; this one ended on 2027-01-14"
    assert told == Outcome("archived", "Fact b.", reason)


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


async def test_memories_switched_off_on_the_way() -> None:
    """When the host stops allowing writes, the rest is left."""
    world = World(MetaMemories(*rows("a", "b", "c")))
    memories = list(world.store.rows.values())

    class Closing(MetaMemories):
        async def delete(self, memory: Memory) -> None:
            await super().delete(memory)
            self.refusal = "memories are off"

    world.store = Closing(*memories)
    assert await remove_archived(world.room(), memories) == memories[:1]
    assert world.contents == ["Fact b.", "Fact c."]


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


@pytest.mark.parametrize("said_at", [None, "yesterday", -1])
async def test_restored_without_provenance(said_at: object) -> None:
    """Where nothing usable says when a memory was said, it is when it was made."""
    world = World(MetaMemories())
    meta = {"chat_id": None, "said_at": said_at}
    await put_into_archive(
        world.room(), [ArchivedMemory(replace(FULL, meta=meta), "too many", NOW)]
    )
    row = await restore_memory(world.room(), "old", NOW)
    assert row is not None
    assert (row.meta["chat_id"], row.meta["said_at"]) == ("", 5)


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
