"""The indexes of a process: as fresh as the database, each text embedded once, users apart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adaptive.core.errors import HostError, MemoryUnavailable
from adaptive.core.model import Memory, StoreStamp
from adaptive.core.table_ports import Sources
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.fusion import Asked, rank
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from tests.fakes import DIMENSION, ListedMemories, ShelvedVectors, WordEmbedder, memory

NOW = 1_800_000_000.0
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

    async def current(self, patience: float = 60) -> MemoryIndex:
        """The index of a turn."""
        return await self.indexes.current(self.sources, patience)

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
    async with asyncio.timeout(5):
        while not happened():
            await asyncio.sleep(0.001)


def contents(index: MemoryIndex) -> list[str]:
    """What the memories of an index say, oldest first."""
    return [one.content for one in index.memories]


def found(index: MemoryIndex, text: str) -> str:
    """The memory that keywords find first."""
    return index.memories[rank(index.shelf, Asked(text, None))[0].place].id


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
    await settled()
    asked = world.store.partial_reads
    await world.current()
    assert (world.store.reads, world.store.partial_reads) == (1, asked)
    assert world.embedder.calls == [[DOG.content, TEA.content]]
    assert world.embedder.queries == [NULLS]


def edit(store: ListedMemories) -> None:
    """The user changes a memory in Settings."""
    store.edit("dog", "User has a cat.")


def add(store: ListedMemories) -> None:
    """Another worker learns something."""
    store.rows["new"] = memory("new", "User has a boat.", created_at=int(NOW) + 100)


def delete(store: ListedMemories) -> None:
    """The host's own tool forgets something."""
    del store.rows["dog"]


def delete_all(store: ListedMemories) -> None:
    """The user deletes everything."""
    store.rows.clear()


def restore(store: ListedMemories) -> None:
    """Rows of a backup come with the dates of long ago."""
    store.rows["new"] = memory("new", "User has a boat.", created_at=5)


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
    Change(delete_all, ()),
    Change(restore, (BOAT, T, D, H), (BOAT,), whole=True),
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
    assert world.store.reads == 1 + case.whole


async def test_provider_fails_rests_and_recovers(caplog: pytest.LogCaptureFixture) -> None:
    """After a failure keywords serve, the provider is left in peace for a while, then asked."""
    world = World(TEA, DOG)
    world.embedder.failing = True
    with caplog.at_level(logging.WARNING):
        index = await world.current()
    assert index.missing() == [1, 0]
    assert found(index, "any tea left?") == "tea"
    assert "found by keywords only for now: the provider is down" in caplog.text
    await world.current()
    await settled()
    assert len(world.embedder.calls) == 1
    world.embedder.failing = False
    world.clock.now += 60
    assert (await world.current()).ready


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


async def test_budget() -> None:
    """Over the budget the user who was idle longest is dropped, whoever asks now is not."""
    size = (await World(TEA, DOG).warm()).nbytes
    indexes = MemoryIndexes(most_bytes=(size + 1000) * 5 // 2)
    users = {name: World(TEA, DOG, user_id=name, indexes=indexes) for name in ("ada", "bob", "eve")}
    for name in ("bob", "ada", "ada", "eve", "eve", "ada", "eve"):
        await users[name].current()
        await settled()
    assert [users[name].store.reads for name in users] == [1, 1, 1]
    await users["bob"].current()
    assert users["bob"].store.reads == 2


async def test_forgotten_user() -> None:
    """Index, queries and expected vectors of a user go; those of another stay."""
    ada = World(TEA, DOG)
    bob = World(TEA, user_id="bob", indexes=ada.indexes, clock=ada.clock)
    for world in (ada, bob):
        await world.warm()
        ada.indexes.remember_query(world.user_id, "e", "What tea?", np.ones(4, np.float32))
    ada.indexes.forget("ada")
    assert ada.indexes.known_query("ada", "e", "What tea?") is None
    assert ada.indexes.known_query("bob", "e", "What tea?") is not None
    await asyncio.gather(ada.current(), bob.current())
    assert (ada.store.reads, bob.store.reads) == (2, 1)


async def test_forgotten_while_it_is_embedded() -> None:
    """Vectors that the provider makes or that are written meanwhile do not stay."""
    for moment in ("embedding", "writing"):
        world = World(TEA, DOG)
        write = world.table.write

        async def forgotten_meanwhile(
            user_id: str, name: str, vectors: Any, world: World = world, write: Any = write
        ) -> None:
            if user_id == "ada":
                world.store.rows.clear()
                world.indexes.forget("ada")
            await write(user_id, name, vectors)

        world.embedder.gate.clear()
        await world.current(patience=0)
        await until(lambda world=world: world.embedder.calls)
        if moment == "embedding":
            world.store.rows.clear()
            world.indexes.forget("ada")
        else:
            world.table.write = forgotten_meanwhile  # type: ignore[method-assign]
        world.embedder.gate.set()
        await settled()
        await settled()
        assert world.table.ids("ada") == set()


async def test_deleted_by_hand() -> None:
    """What the user deletes in Settings loses its vector at the next read, in other processes too.

    Also when it was the last one.
    """
    world = World(TEA, DOG)
    await world.warm()
    for deleted, left in (("dog", {"tea"}), ("tea", set[str]())):
        del world.store.rows[deleted]
        await world.restarted().current()
        await settled()
        assert world.table.ids("ada") == left
