"""The indexes of a process: as fresh as the database, each text embedded once, users apart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from adaptive.errors import HostError, MemoryUnavailable
from adaptive.model import Memory, StoreStamp
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.fusion import Asked, rank
from adaptive.search.index import MemoryIndex, content_hash
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.table_ports import StoredVector
from tests.fakes import DIMENSION, ListedMemories, ShelvedVectors, WordEmbedder, memory

NOW = 1_800_000_000.0
PLENTY = 2**30
TEA = memory("tea", "User likes green tea.", created_at=10)
DOG = memory("dog", "User has a dog.", created_at=20)
HOME = memory("home", "User lives in Lisbon.", created_at=30)
NULLS = list(NULL_PROMPTS)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


class World:
    """A process with its clock, and one user's store, provider and table."""

    def __init__(self, *memories: Memory, user_id: str = "ada", **parts: Any) -> None:
        self.clock: Clock = parts.get("clock") or Clock()
        self.store = ListedMemories(*memories, clock=self.clock)
        self.embedder: WordEmbedder = parts.get("embedder") or WordEmbedder()
        self.table: ShelvedVectors = parts.get("table") or ShelvedVectors()
        self.indexes: MemoryIndexes = parts.get("indexes") or MemoryIndexes(self.clock)
        self.user_id = user_id

    @property
    def sources(self) -> Sources:
        """Where the user's index comes from."""
        return Sources(self.user_id, self.store, self.embedder, self.table)

    async def current(self, patience: float = 60, budget: int = PLENTY) -> MemoryIndex:
        """The index of a turn."""
        return await self.indexes.current(self.sources, budget, patience)

    async def warm(self) -> MemoryIndex:
        """The index when everything is embedded and nothing is recent."""
        await self.current()
        await settled()
        self.clock.now += 100
        index = await self.current()
        await settled()
        assert index.ready
        return index

    def restarted(self, **parts: Any) -> World:
        """Another process on the same database."""
        other = World(user_id=self.user_id, table=self.table, clock=self.clock, **parts)
        other.store = self.store
        return other


async def settled() -> None:
    """Wait for what runs in the background."""
    background = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*background, return_exceptions=True)


async def until(happened: Callable[[], object]) -> None:
    """Let the others run until something has happened."""
    while not happened():
        await asyncio.sleep(0)


def contents(index: MemoryIndex) -> list[str]:
    """What the memories of an index say, oldest first."""
    return [one.content for one in index.memories]


def found(index: MemoryIndex, text: str) -> str:
    """The memory that keywords find first."""
    return index.memories[rank(index.shelf, Asked(text, None))[0].place].id


# --- freshness ------------------------------------------------------------------------------------


async def test_what_was_written_here_is_not_embedded_again() -> None:
    """Vectors made before a write are kept with it, and the next turn has them without a wait."""
    world = World(TEA)
    await world.warm()
    made = np.ones((1, DIMENSION), np.float32) / np.sqrt(np.float32(DIMENSION))
    world.indexes.expect_texts("ada", [DOG.content], made)
    world.store.rows[DOG.id] = DOG
    assert await world.indexes.wrote(world.sources, {DOG.id: DOG.content})
    asked = len(world.embedder.calls)
    assert (await world.current(patience=0)).ready
    other = world.restarted()
    assert (await other.current()).ready
    assert len(world.embedder.calls) == asked
    assert [DOG.content] not in other.embedder.calls
    assert not await world.indexes.wrote(world.sources, {HOME.id: HOME.content})


async def test_unchanged_store_is_not_read_again() -> None:
    """Turn after turn, one cheap query tells that nothing changed, and nothing else is asked."""
    world = World(TEA, DOG)
    first = await world.current()
    for _ in range(3):
        assert await world.current() is first
    assert (world.store.reads, world.store.partial_reads) == (1, 0)
    assert world.embedder.calls == [[DOG.content, TEA.content]]
    assert world.embedder.queries == [NULLS]


@pytest.mark.parametrize(("age", "trusted"), [(0, False), (1, False), (2, True), (60, True)])
async def test_recent_change_is_not_trusted(age: int, trusted: bool) -> None:
    """The host counts seconds, so a row may have changed again since its newest change was read."""
    world = World(TEA, replace(DOG, updated_at=int(NOW) - age))
    await world.current()
    # Within the same second: count and newest change stay as they were.
    world.store.rows["dog"] = replace(world.store.rows["dog"], content="User has a cat.")
    assert (contents(await world.current())[1] == DOG.content) == trusted


async def test_recent_change_is_trusted_later() -> None:
    """Once a change is old enough, a store that was read after it is not read again."""
    world = World(TEA, replace(DOG, updated_at=int(NOW)))
    await world.current()
    world.clock.now += 5
    await world.current()
    before = (world.store.reads, world.store.partial_reads)
    await world.current()
    assert (world.store.reads, world.store.partial_reads) == before == (1, 1)


def edit(store: ListedMemories) -> None:
    """The user changes a memory in Settings."""
    store.edit("dog", "User has a cat.")


def add(store: ListedMemories) -> None:
    """Another worker learns something."""
    store.rows["new"] = memory("new", "User has a boat.", created_at=int(NOW) + 100)


def delete(store: ListedMemories) -> None:
    """The host's own tool forgets something."""
    del store.rows["dog"]


def delete_newest(store: ListedMemories) -> None:
    """What was learned last is forgotten."""
    del store.rows["home"]


def delete_all(store: ListedMemories) -> None:
    """The user deletes everything."""
    store.rows.clear()


def restore(store: ListedMemories) -> None:
    """Rows of a backup come with the dates of long ago."""
    store.rows["new"] = memory("new", "User has a boat.", created_at=5)


def replace_one(store: ListedMemories) -> None:
    """One memory goes and another one comes."""
    delete(store)
    add(store)


def restore_instead(store: ListedMemories) -> None:
    """One memory goes and two old ones come."""
    delete(store)
    restore(store)
    store.rows["older"] = memory("older", "User had a bike.", created_at=4)


@dataclass(frozen=True)
class Change:
    """What changes, what the next turn finds and embeds, and whether it reads the whole store."""

    change: Callable[[ListedMemories], None]
    contents: tuple[str, ...]
    embedded: tuple[str, ...] = ()
    whole: bool = False


T, D, H = TEA.content, DOG.content, HOME.content
CAT, BOAT, BIKE = "User has a cat.", "User has a boat.", "User had a bike."

CHANGES = [
    Change(edit, (T, CAT, H), (CAT,)),
    Change(add, (T, D, H, BOAT), (BOAT,)),
    Change(delete, (T, H)),
    Change(delete_newest, (T, D)),
    Change(delete_all, ()),
    Change(restore, (BOAT, T, D, H), (BOAT,), whole=True),
    Change(replace_one, (T, H, BOAT), (BOAT,)),
    Change(restore_instead, (BIKE, BOAT, T, H), (BOAT, BIKE), whole=True),
]


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.change.__name__)
async def test_change_is_seen_on_the_next_turn(case: Change) -> None:
    """Whoever changes the table, the next turn knows it, and only what is new is embedded."""
    world = World(TEA, DOG, HOME)
    await world.warm()
    world.embedder.calls.clear()
    case.change(world.store)
    index = await world.current()
    assert contents(index) == list(case.contents)
    assert index.ready
    assert world.embedder.embedded == list(case.embedded)
    assert (world.store.reads, world.store.partial_reads) == (1 + case.whole, 1)


async def test_clock_that_is_set_back() -> None:
    """A clock that is corrected by an hour makes no stale answer."""
    world = World(TEA, DOG)
    await world.warm()
    world.clock.now -= 3600
    edit(world.store)
    assert contents(await world.current()) == [TEA.content, CAT]


async def test_change_while_it_is_read() -> None:
    """A change between the stamp and the rows is seen by the next turn at the latest."""
    world = World(TEA, DOG)
    await world.warm()

    class Busy(ListedMemories):
        async def changes(self, since: int) -> tuple[tuple[Memory, ...], frozenset[str]]:
            rows = await super().changes(since)
            if "boat" not in self.rows:
                self.rows["boat"] = memory("boat", BOAT, created_at=int(NOW) + 200)
            return rows

    world.store = Busy(*world.store.rows.values(), clock=world.clock)
    edit(world.store)
    await world.current()
    assert contents(await world.current()) == [TEA.content, CAT, BOAT]


async def test_question_during_a_refresh() -> None:
    """A turn that comes while an older one reads is not given what may be read too early."""
    world = World(TEA, DOG)
    await world.warm()
    rows_read, go_on = asyncio.Event(), asyncio.Event()

    class Slow(ListedMemories):
        async def changes(self, since: int) -> tuple[tuple[Memory, ...], frozenset[str]]:
            rows = await super().changes(since)
            rows_read.set()
            await go_on.wait()
            return rows

    world.store = Slow(*world.store.rows.values(), clock=world.clock)
    edit(world.store)
    first = asyncio.create_task(world.current())
    await rows_read.wait()
    world.store.edit("dog", "User has a bird.")
    second = asyncio.create_task(world.current())
    await asyncio.sleep(0.01)
    go_on.set()
    await first
    assert contents(await second) == [TEA.content, "User has a bird."]


# --- vectors that last ----------------------------------------------------------------------------


async def test_restart_embeds_nothing() -> None:
    """A restarted or second worker finds every vector in the table, null prompts included."""
    world = World(TEA, DOG)
    before = await world.warm()
    other = world.restarted()
    after = await other.current()
    assert after.ready
    assert (other.embedder.calls, other.embedder.queries) == ([], [])
    assert np.array_equal(before.shelf.vectors, after.shelf.vectors)
    assert before.shelf.levels == after.shelf.levels


async def test_restart_after_a_change() -> None:
    """Of a store that changed while nobody looked, only what is new is embedded."""
    world = World(TEA, DOG, HOME)
    await world.warm()
    edit(world.store)
    delete_newest(world.store)
    other = world.restarted()
    assert contents(await other.current()) == [TEA.content, CAT]
    await settled()
    assert other.embedder.embedded == [CAT]
    assert world.table.ids("ada") == {"tea", "dog"}


async def test_another_worker_has_embedded_it() -> None:
    """What another worker has learned and embedded is taken from the table, though it came late."""
    one = World(TEA, DOG)
    await one.warm()
    other = one.restarted()
    await other.warm()
    add(one.store)
    one.store.edit("dog", CAT)
    await one.current()
    await settled()
    assert sorted(one.embedder.embedded[-2:]) == ["User has a boat.", CAT]
    index = await other.current()
    assert index.ready
    assert other.embedder.embedded == []
    assert np.array_equal(index.shelf.vectors, (await one.current()).shelf.vectors)


async def test_another_worker_had_another_model() -> None:
    """A vector of another text or another length is not taken from the table."""
    one = World(TEA, DOG)
    await one.warm()
    other = one.restarted()
    await other.warm()
    add(one.store)
    one.store.edit("dog", CAT)
    rows = one.table.rows["ada", "words"]
    rows["new"] = StoredVector(content_hash("User has a boat."), np.ones(3, np.float32))
    index = await other.current()
    assert index.ready
    assert sorted(other.embedder.embedded) == ["User has a boat.", CAT]


async def test_prepared_index() -> None:
    """What was prepared after a restart serves the first question without reading the rows."""
    before = World(TEA, DOG)
    await before.warm()
    after = before.restarted()
    reads = before.store.reads
    assert await after.indexes.prepare(after.sources, PLENTY)
    assert await after.indexes.prepare(after.sources, PLENTY)
    assert after.store.reads == reads + 1
    assert (await after.current()).ready
    assert after.store.reads == reads + 1
    assert not after.embedder.calls


async def test_preparing_embeds_nothing() -> None:
    """Memories without vectors wait for a question: nobody may ever ask."""
    world = World(TEA, DOG)
    await world.indexes.prepare(world.sources, PLENTY)
    await settled()
    assert not world.embedder.calls
    assert (await world.current()).ready


async def test_preparing_takes_nobodys_place() -> None:
    """Half of the budget stays free, and what was prepared is the first to go."""
    ada = World(TEA, DOG)
    size = (await ada.warm()).nbytes
    bob = World(TEA, DOG, user_id="bob", indexes=ada.indexes, clock=ada.clock)
    eve = World(TEA, DOG, user_id="eve", indexes=ada.indexes, clock=ada.clock)
    assert not await bob.indexes.prepare(bob.sources, size)
    await eve.current(budget=size * 2)
    reads = ada.store.reads
    await ada.current()
    assert ada.store.reads == reads
    await bob.current()
    assert bob.store.reads == 2


async def test_without_a_table() -> None:
    """Where no table can be created, everything works within the process."""
    world = World(TEA, DOG, table=ShelvedVectors(unavailable=True))
    assert (await world.warm()).ready
    edit(world.store)
    index = await world.current()
    assert index.ready
    assert world.embedder.embedded == [DOG.content, TEA.content, CAT]


async def test_deleted_memory_leaves_the_table() -> None:
    """The vector of a memory tells what it said, so it goes when the memory goes."""
    world = World(TEA, DOG)
    await world.warm()
    assert world.table.ids("ada") == {"tea", "dog"}
    delete(world.store)
    await world.current()
    await settled()
    assert world.table.ids("ada") == {"tea"}


async def test_deleted_while_it_is_embedded() -> None:
    """A memory that is deleted while the provider works on it leaves no vector behind."""
    world = World(TEA)
    await world.warm()
    world.embedder.gate.clear()
    add(world.store)
    await world.current(patience=0)
    await until(lambda: BOAT in world.embedder.embedded)
    del world.store.rows["new"]
    assert contents(await world.current(patience=0)) == [TEA.content]
    world.embedder.gate.set()
    await settled()
    assert world.table.ids("ada") == {"tea"}


async def test_edited_while_it_is_embedded() -> None:
    """A memory that changes while the provider works on it never gets its old words' vector."""
    world = World(TEA, DOG)
    world.embedder.gate.clear()
    first = asyncio.create_task(world.current())
    await until(lambda: world.embedder.queries)
    edit(world.store)
    world.embedder.gate.set()
    await first
    await world.current()
    await settled()
    fresh = await World(*world.store.rows.values()).warm()
    assert np.array_equal((await world.current()).shelf.vectors, fresh.shelf.vectors)


# --- a provider in trouble ------------------------------------------------------------------------


async def test_provider_fails_rests_and_recovers(caplog: pytest.LogCaptureFixture) -> None:
    """After a failure keywords serve, the provider is left in peace for a while, then asked."""
    world = World(TEA, DOG)
    world.embedder.failing = True
    with caplog.at_level(logging.WARNING):
        index = await world.current()
    assert (index.complete, index.missing()) == (False, [1, 0])
    assert found(index, "any tea left?") == "tea"
    assert "found by keywords only for now: the provider is down" in caplog.text
    await world.current()
    await settled()
    assert len(world.embedder.queries) == 1
    world.embedder.failing = False
    world.clock.now += 60
    assert (await world.current()).ready


async def test_provider_hangs() -> None:
    """A turn waits for its patience alone; the provider's late answer serves the next one."""
    world = World(TEA, DOG)
    world.embedder.gate.clear()
    index = await world.current(patience=0.01)
    assert found(index, "any tea left?") == "tea"
    assert not index.complete
    assert "ada" in world.indexes._embedding
    world.embedder.gate.set()
    await settled()
    assert "ada" not in world.indexes._embedding
    assert (await world.current()).ready
    assert world.embedder.calls == [[DOG.content, TEA.content]]


async def test_turns_while_the_provider_hangs() -> None:
    """However many turns come meanwhile, the provider is asked once."""
    world = World(TEA, DOG)
    world.embedder.gate.clear()
    await asyncio.gather(*(world.current(patience=0.01) for _ in range(5)))
    world.embedder.gate.set()
    await settled()
    assert (len(world.embedder.queries), len(world.embedder.calls)) == (1, 1)


SPOILED: dict[str, Callable[[Any], object]] = {
    "none": lambda rows: None,
    "fewer": lambda rows: rows[1:],
    "more": lambda rows: np.concatenate([rows, rows]),
    "not a number": lambda rows: rows * np.nan,
    "ragged": lambda rows: [list(row)[: 1 + at] for at, row in enumerate(rows)],
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
async def test_unusable_vectors(spoil: Callable[[Any], object]) -> None:
    """What are no vectors is never kept; keywords serve until the provider is well again."""
    world = World(TEA, DOG)
    world.embedder.spoil = spoil
    index = await world.current()
    assert found(index, "any tea left?") == "tea"
    assert index.missing() == [1, 0]
    assert world.table.rows == {}
    world.embedder.spoil = lambda rows: rows
    world.clock.now += 60
    assert (await world.current()).ready


async def test_failure_half_way() -> None:
    """What was embedded before a failure stays, and is not asked for again."""
    rows = [memory(f"m-{n}", f"Fact number {n}.", created_at=n) for n in range(300)]
    world = World(*rows)

    def fails_from_now_on(vectors: Any) -> object:
        world.embedder.failing = len(world.embedder.calls) > 0
        return vectors

    world.embedder.spoil = fails_from_now_on
    await world.current()
    await settled()
    index = await world.current()
    left = len(index.missing())
    assert 0 < left < 300
    world.embedder.spoil = lambda vectors: vectors
    world.embedder.failing = False
    world.embedder.calls.clear()
    world.clock.now += 60
    await world.current()
    await settled()
    assert len(world.embedder.embedded) == left
    assert (await world.current()).ready


class Broken(WordEmbedder):
    """An embedder with a bug."""

    async def embed(self, texts: Any, *, query: bool) -> Any:
        """Fail as nobody expects."""
        raise RuntimeError("a bug")


async def test_bug_behind_the_turn(caplog: pytest.LogCaptureFixture) -> None:
    """An unexpected error behind the turn is in the log, and keywords serve."""
    world = World(TEA, embedder=Broken())
    with caplog.at_level(logging.ERROR):
        assert found(await world.current(), "any tea left?") == "tea"
        await settled()
    assert "a bug" in caplog.text


# --- another model --------------------------------------------------------------------------------


async def test_changed_embedder() -> None:
    """Another model's vectors are made behind the turns, and the former ones are dropped."""
    world = World(TEA, DOG)
    await world.warm()
    world.embedder = WordEmbedder("large", dimension=96)
    index = await world.current()
    await settled()
    assert (index.embedder, index.dimension, index.ready) == ("large", 96, True)
    assert sorted(world.embedder.embedded) == [DOG.content, TEA.content]
    assert world.table.ids("ada", "large") == {"tea", "dog"}
    assert world.table.ids("ada", "words") == set()


async def test_changed_embedder_is_not_waited_for_in_a_large_store() -> None:
    """While a large store is embedded anew, keywords serve, and the index says so."""
    rows = [memory(f"m-{n}", f"Fact number {n}.", created_at=n) for n in range(300)]
    world = World(*rows)
    await world.warm()
    world.embedder = WordEmbedder("large", dimension=96)
    world.embedder.gate.clear()
    index = await world.current()
    assert len(index.missing()) == 300
    assert "ada" in world.indexes._embedding
    assert found(index, "number 217") == "m-217"
    world.embedder.gate.set()
    await settled()
    index = await world.current()
    assert (index.dimension, index.ready) == (96, True)
    assert world.table.ids("ada", "words") == set()


async def test_other_dimension_under_the_same_name() -> None:
    """Where another model answers to the old name, the store ends with vectors of one length."""
    world = World(TEA, DOG)
    await world.warm()
    world.embedder.dimension = 96
    add(world.store)
    for _ in range(3):
        index = await world.current()
        await settled()
    assert (index.dimension, index.ready) == (96, True)
    assert index.shelf.levels
    after = await world.restarted(embedder=world.embedder).current()
    assert (after.dimension, after.ready) == (96, True)


async def test_messages_of_another_length() -> None:
    """Where only the message tells that another model answers, the store is embedded anew once."""
    world = World(TEA, DOG)
    await world.warm()
    world.embedder.dimension = 96
    world.indexes.expect("ada", DIMENSION)
    assert (await world.current()).dimension == DIMENSION
    world.indexes.expect("ada", 96)
    index = await world.current()
    assert (index.dimension, index.ready, bool(index.shelf.levels)) == (96, True, True)
    assert world.embedder.calls == [[DOG.content, TEA.content]] * 2
    world.indexes.expect("eve", 96)


class Asymmetric(WordEmbedder):
    """A provider whose vectors of messages are longer than those of memories."""

    async def embed(self, texts: Any, *, query: bool) -> Any:
        """Two lengths."""
        self.dimension = 96 if query else DIMENSION
        return await super().embed(texts, query=query)


async def test_provider_of_two_lengths(caplog: pytest.LogCaptureFixture) -> None:
    """A provider that can't be used for search is told so in the log, and not asked on and on."""
    world = World(TEA, DOG, embedder=Asymmetric())
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            world.indexes.expect("ada", 96)
            assert found(await world.current(), "any tea left?") == "tea"
            world.clock.now += 60
    assert "messages and memories get vectors of different lengths" in caplog.text
    assert len(world.embedder.calls) <= 2


# --- many at once ---------------------------------------------------------------------------------


@pytest.mark.timeout(120)
async def test_turn_that_comes_as_a_refresh_ends() -> None:
    """A turn that arrives between the end of a refresh and its bookkeeping starts one of its own.

    Waiting for the finished one would never give way to the bookkeeping: the whole host would
    stand still.
    """
    world = World(replace(TEA, updated_at=int(NOW)))
    read = asyncio.Event()

    class Announced(ListedMemories):
        async def read(self) -> tuple[Memory, ...]:
            rows = await super().read()
            read.set()
            return rows

    world.store = Announced(*world.store.rows.values(), clock=world.clock)

    async def second() -> MemoryIndex:
        await read.wait()
        return await world.current()

    first, later = await asyncio.gather(world.current(), second())
    assert contents(first) == contents(later) == [TEA.content]
    await settled()


async def test_two_turns_at_once() -> None:
    """Two turns of one user read and embed once, and get the same index."""
    world = World(TEA, DOG)
    first, second = await asyncio.gather(world.current(), world.current())
    assert first is second
    assert world.store.reads == 1
    assert world.embedder.calls == [[DOG.content, TEA.content]]


async def test_cancelled_caller_does_not_stop_the_work() -> None:
    """A turn that is stopped while it waits leaves reading and vectors to the next one."""
    world = World(TEA, DOG)
    world.embedder.gate.clear()
    task = asyncio.create_task(world.current())
    await until(lambda: world.embedder.queries)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    world.embedder.gate.set()
    assert (await world.current()).ready
    assert world.store.reads == 1
    assert len(world.embedder.calls) == len(world.embedder.queries) == 1


async def test_cancelled_while_it_reads() -> None:
    """A turn that is stopped while the store is read takes nothing from another that waits."""
    world, gate = World(TEA, DOG), asyncio.Event()

    class Slow(ListedMemories):
        async def read(self) -> tuple[Memory, ...]:
            await gate.wait()
            return await super().read()

    world.store = Slow(TEA, DOG, clock=world.clock)
    stopped, waits = (asyncio.create_task(world.current()) for _ in range(2))
    await asyncio.sleep(0.01)
    stopped.cancel()
    gate.set()
    assert contents(await waits) == [TEA.content, DOG.content]
    assert world.store.reads == 1
    assert stopped.cancelled()


async def test_users_never_mix() -> None:
    """Users of one process have their own memories and vectors, also where ids are alike."""
    ada = World(memory("1", "User likes green tea."))
    bob = World(
        memory("1", "User hates tea."),
        user_id="bob",
        indexes=ada.indexes,
        table=ada.table,
        clock=ada.clock,
    )
    for _ in range(2):
        both = await asyncio.gather(ada.current(), bob.current())
        assert [contents(one) for one in both] == [["User likes green tea."], ["User hates tea."]]
    await settled()
    assert ada.embedder.embedded == ["User likes green tea."]
    assert bob.embedder.embedded == ["User hates tea."]
    assert ada.table.ids("ada") == ada.table.ids("bob") == {"1"}
    bob.store.rows.clear()
    await bob.current()
    await settled()
    assert (ada.table.ids("ada"), ada.table.ids("bob")) == ({"1"}, set())


async def test_one_users_failure_is_not_the_others() -> None:
    """Where one user's provider fails, another one's is asked all the same."""
    ada = World(TEA)
    bob = World(DOG, user_id="bob", indexes=ada.indexes, clock=ada.clock)
    ada.embedder.failing = True
    assert not (await ada.current()).ready
    assert (await bob.current()).ready


@pytest.mark.parametrize("call", ["stamp", "read"])
async def test_store_that_refuses(call: str) -> None:
    """Everybody who waits learns why the memories can't be read; the next turn tries again."""

    class Refusing(ListedMemories):
        async def stamp(self) -> StoreStamp:
            if call == "stamp" and self.broken:
                raise MemoryUnavailable("you lack the permission")
            return await super().stamp()

        async def read(self) -> tuple[Memory, ...]:
            if call == "read" and self.broken:
                raise HostError("you lack the permission")
            return await super().read()

    world = World()
    world.store = Refusing(TEA, broken=["x"], clock=world.clock)
    results = await asyncio.gather(world.current(), world.current(), return_exceptions=True)
    assert [str(one) for one in results] == ["you lack the permission"] * 2
    world.store.broken = frozenset()
    assert contents(await world.current()) == [TEA.content]


async def test_refusal_is_seen_with_a_known_index() -> None:
    """When memories are switched off, what is known in the process serves nobody."""
    world = World(TEA)
    await world.warm()
    world.store.refusal = "switched off"
    with pytest.raises(MemoryUnavailable, match="switched off"):
        await world.current()


# --- large and many stores ------------------------------------------------------------------------


async def test_budget() -> None:
    """Over the budget the user who was idle longest is dropped, whoever asks now is not."""
    first = World(TEA, DOG)
    parts = {"indexes": first.indexes, "clock": first.clock}
    users = {
        "ada": first,
        "bob": World(TEA, DOG, user_id="bob", **parts),
        "eve": World(TEA, DOG, user_id="eve", **parts),
    }
    size = (await first.warm()).nbytes
    budget = size * 5 // 2
    for name in ("bob", "ada", "eve"):
        await users[name].current(budget=budget)
    # Now Bob has been idle longest, and Ada and Eve have their places.
    for name in ("ada", "eve", "ada"):
        await users[name].current(budget=budget)
    assert [users[name].store.reads for name in ("ada", "bob", "eve")] == [1, 1, 1]
    await users["bob"].current(budget=budget)
    assert users["bob"].store.reads == 2
    await users["ada"].current(budget=budget)
    assert users["ada"].store.reads == 1
    assert users["bob"].embedder.calls == [[DOG.content, TEA.content]]


async def test_one_user_over_the_budget() -> None:
    """A single user with more than the budget is served from the process all the same."""
    world = World(TEA, DOG)
    await world.warm()
    for _ in range(3):
        assert (await world.current(budget=1)).ready
    assert world.store.reads == 1


async def test_dropped_while_it_is_embedded() -> None:
    """A user who is dropped while the provider works finds the vectors in the table."""
    ada = World(TEA, DOG)
    bob = World(HOME, user_id="bob", indexes=ada.indexes, clock=ada.clock)
    ada.embedder.gate.clear()
    await ada.current(patience=0)
    await bob.current(budget=1, patience=0)
    ada.embedder.gate.set()
    await settled()
    index = await ada.current()
    await settled()
    assert index.ready
    assert sorted(ada.embedder.embedded) == [DOG.content, TEA.content]


async def test_large_store() -> None:
    """A large store is embedded behind the turn in few requests; keywords serve at once."""
    rows = [memory(f"m-{n}", f"Fact number {n}.", created_at=n) for n in range(1000)]
    world = World(*rows)
    index = await world.current()
    assert found(index, "number 217") == "m-217"
    await settled()
    assert 1 < len(world.embedder.calls) <= 8
    assert sorted(world.embedder.embedded) == sorted(one.content for one in rows)
    index = await world.current()
    assert index.ready
    assert index.dimension == DIMENSION
    assert len(world.table.ids("ada")) == 1000


async def test_no_memories() -> None:
    """A user without memories costs no embedding."""
    world = World()
    assert contents(await world.current()) == []
    await settled()
    assert (world.embedder.calls, world.embedder.queries) == ([], [])


async def test_half_a_character() -> None:
    """A memory that holds half a surrogate pair is embedded and found like any other."""
    index = await World(memory("m", "tea \ud800")).current()
    assert index.ready
    assert found(index, "tea") == "m"


async def test_identical_memories() -> None:
    """Memories of the same words each have their vector."""
    index = await World(memory("a", "User likes tea."), memory("b", "User likes tea.")).current()
    assert index.ready
    assert np.array_equal(index.shelf.vectors[0], index.shelf.vectors[1])
