"""The indexes of a process: as fresh as the database, each text embedded once, users apart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NoReturn
from unittest.mock import AsyncMock

import numpy as np
import pytest

from adaptive.core.embedding import Sources
from adaptive.core.marks import NOWHERE, Place
from adaptive.core.model import Memory, MemoryUnavailable
from adaptive.search.calibration import EXAMPLE_TEXTS, NULL_PROMPTS
from adaptive.search.fusion import RankingQuery, rank
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.vectors import EmbedderRests, keep_vectors, normalised
from tests.fakes import (
    DIMENSION,
    ListedMemories,
    ShelvedVectors,
    WordEmbedder,
    memory,
)

NOW = 1_800_000_000.0
TEA = memory("tea", "User likes green tea.", created_at=10)
DOG = memory("dog", "User has a dog.", created_at=20)
HOME = memory("home", "User lives in Lisbon.", created_at=30)
NULLS = [*dict.fromkeys([*NULL_PROMPTS, *EXAMPLE_TEXTS])]


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def told_by(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have indexes ask that clock alone."""
    clocks = SimpleNamespace(monotonic=clock, time=clock)
    monkeypatch.setattr("adaptive.search.indexes.time", clocks)


class World:
    """A process with its clock, and one user's store, provider and table."""

    def __init__(
        self, *memories: Memory, user_id: str = "ada", **parts: Any
    ) -> None:
        self.clock: Clock = parts.get("clock") or Clock()
        self.store = ListedMemories(*memories, clock=self.clock)
        self.embedder: WordEmbedder = parts.get("embedder") or WordEmbedder()
        self.table: ShelvedVectors = parts.get("table") or ShelvedVectors()
        self.indexes: MemoryIndexes = parts.get("indexes") or MemoryIndexes()
        self.user_id = user_id
        self.table.memories[user_id] = self.store.rows

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
        other = World(
            user_id=self.user_id, table=self.table, clock=self.clock, **parts
        )
        other.store, self.table.memories[self.user_id] = (
            self.store,
            self.store.rows,
        )
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
    return index.memories[
        rank(index.ranking, RankingQuery(text, None))[0].place
    ].id


async def test_what_was_written_here_is_not_embedded_again() -> None:
    """Vectors made before a write are kept with it, and the next turn has them without a wait."""
    world = World(TEA)
    await world.warm()
    made = {
        DOG.content: np.ones(DIMENSION, np.float32)
        / np.sqrt(np.float32(DIMENSION))
    }
    world.store.rows[DOG.id] = DOG
    assert await keep_vectors(world.sources, {DOG.id: DOG.content}, made)
    asked = len(world.embedder.calls)
    assert (await world.current(patience=0)).ready
    other = world.restarted()
    assert (await other.current()).ready
    assert len(world.embedder.calls) == asked
    assert [DOG.content] not in other.embedder.calls
    assert not await keep_vectors(world.sources, {HOME.id: HOME.content}, made)


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
    asked = [one for portion in world.embedder.queries for one in portion]
    assert asked == NULLS


T, D, H = TEA.content, DOG.content, HOME.content
CAT, BOAT, BIKE = "User has a cat.", "User has a boat.", "User had a bike."
EDITED = replace(DOG, content=CAT, updated_at=int(NOW) + 100)
LEARNED = memory("new", BOAT, created_at=int(NOW) + 100)
RESTORED = (
    memory("new", BOAT, created_at=5),
    memory("older", BIKE, created_at=4),
)


@pytest.mark.parametrize(
    ("rows", "found", "embedded"),
    [
        ((TEA, EDITED, HOME), [T, CAT, H], [CAT]),
        ((TEA, DOG, HOME, LEARNED), [T, D, H, BOAT], [BOAT]),
        ((TEA, HOME), [T, H], []),
        ((), [], []),
        ((TEA, DOG, HOME, RESTORED[0]), [BOAT, T, D, H], [BOAT]),
        ((TEA, HOME, *RESTORED), [BIKE, BOAT, T, H], [BOAT, BIKE]),
    ],
    ids=[
        "edited",
        "learned",
        "deleted",
        "all deleted",
        "old dates",
        "one for two of old dates",
    ],
)
async def test_change_is_seen_on_the_next_turn(
    rows: Sequence[Memory], found: list[str], embedded: list[str]
) -> None:
    """Whoever changes the table, the next turn knows it; only what is new gets a vector."""
    world = World(TEA, DOG, HOME)
    await world.warm()
    world.embedder.calls.clear()
    world.store.rows = {one.id: one for one in rows}
    # A process that was down meanwhile knows just what the table of vectors holds.
    for process, reads in ((world, 1), (world.restarted(), 2)):
        index = await process.current()
        assert contents(index) == found
        assert index.ready
        assert world.store.reads == reads
    assert world.embedder.embedded == embedded
    await settled()
    assert world.table.ids("ada") == {one.id for one in rows}


@pytest.mark.parametrize("ahead", [0, 5000, -5000], ids=str)
async def test_edits_under_any_clock(
    ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit is seen on the next turn, whatever the clocks of those say who write.

    Another one within the same second is seen as well, and then nothing is read any more.
    """
    written_at = int(NOW) + ahead
    far = replace(TEA, updated_at=written_at)
    world = World(far, DOG, HOME)
    told_by(world.clock, monkeypatch)
    await world.warm()
    for content in (CAT, BOAT, BIKE):
        edited = replace(DOG, content=content, updated_at=written_at - 7)
        world.store.rows[DOG.id] = edited
        assert contents(await world.current()) == [T, content, H]
    world.clock.now += 3
    world.store.rows[HOME.id] = replace(HOME, updated_at=written_at + 1)
    for _ in range(3):
        await world.current()
        world.clock.now += 3
    asked = world.store.partial_reads
    await world.current()
    assert (world.store.reads, world.store.partial_reads) == (1, asked)


async def test_edit_in_the_second_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However often a row was read in the second of its change, one more change in it is seen."""
    clock = Clock()
    told_by(clock, monkeypatch)
    for known in (DOG, replace(DOG, updated_at=int(NOW))):
        world = World(TEA, known)
        for content in (CAT, BOAT, BIKE):
            await world.current()
            edited = replace(DOG, content=content, updated_at=int(NOW))
            world.store.rows[DOG.id] = edited
            for _ in range(3):
                assert contents(await world.current()) == [T, content]
        clock.now += 3
        await world.current()
        asked = world.store.partial_reads
        await world.current()
        assert world.store.partial_reads == asked
        clock.now = NOW


async def test_provider_fails_rests_and_recovers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After a failure keywords serve, the provider is left in peace for a while, then asked."""
    rested = asyncio.Event()

    async def rest(_: float) -> None:
        await rested.wait()

    world = World(TEA, DOG, indexes=MemoryIndexes(rests=EmbedderRests(rest)))
    world.embedder.failing = True
    with caplog.at_level(logging.WARNING):
        index = await world.current()
    assert index.missing() == [DOG, TEA]
    assert found(index, "any tea left?") == "tea"
    assert (
        "found by keywords only for now: the provider is down" in caplog.text
    )
    asked = len(world.embedder.queries)
    await world.current()
    assert len(world.embedder.queries) == asked
    world.embedder.failing = False
    rested.set()
    while world.indexes.rests.is_open(await world.embedder.name()):
        await asyncio.sleep(0)
    assert (await world.current()).ready


async def test_rest_of_turns_embedder_ends() -> None:
    """An embedder that rests since a turn's memory could not be embedded is asked again until it answers."""
    rests = EmbedderRests(lambda _: asyncio.sleep(0))
    world = World(TEA, DOG, indexes=MemoryIndexes(rests=rests))
    await world.warm()
    world.store.rows[HOME.id] = HOME
    turn = world.indexes.turn_embedder(world.sources)
    world.embedder.failing = True
    await world.indexes.current(replace(world.sources, embedder=turn), 60)
    for _ in range(20):
        await asyncio.sleep(0)
    assert rests.is_open(world.embedder.service)
    world.embedder.failing = False
    for _ in range(500):
        await asyncio.sleep(0)
    assert not rests.is_open(world.embedder.service)


@pytest.mark.parametrize(
    ("size", "filling", "taken"),
    [(64, 0, True), (64, 8, True), (56, 8, False), (63, 1, False)],
)
async def test_vectors_that_the_host_has(
    size: int, filling: int, taken: bool
) -> None:
    """They serve the first turn of a store from before, but for probes, where they are ours."""
    old = [
        memory(str(at), f"{chr(97 + at)} word{at}", created_at=at)
        for at in range(20)
    ]
    world, unknown = World(*old), {"3", "17"}
    texts = [one.content for one in old]
    rows = await WordEmbedder(dimension=size).embed(texts, query=False) * 3
    rows = np.pad(rows, ((0, 0), (0, filling)))
    held = {
        one.id: row
        for one, row in zip(old, rows, strict=True)
        if one.id not in unknown
    }
    world.table.hosts |= held
    first, index = await world.current(), await world.current()
    assert first.embedded.sum() >= len(held)
    assert index.ready
    assert len(world.embedder.calls[0]) == 8
    anew = [one.content for one in old if one.id in unknown]
    if taken:
        assert sorted(world.embedder.calls[-1]) == sorted(anew)
    else:
        assert sorted(world.embedder.embedded) == sorted(texts)
    own = await world.embedder.embed(texts, query=False)
    assert np.allclose(index.ranking.vectors, normalised(own), atol=1e-6)
    assert world.table.ids("ada") == {one.id for one in old}


async def test_changed_embedder() -> None:
    """Vectors of a model of another name are made, and the former ones dropped."""
    world = World(TEA)
    await world.warm()
    world.embedder = WordEmbedder("large")
    assert (await world.current()).ready
    await settled()
    assert world.embedder.embedded == [TEA.content]
    assert (world.table.ids("ada", "large"), world.table.ids("ada")) == (
        {"tea"},
        set(),
    )


@pytest.mark.parametrize("calls", [1, 2])
async def test_embedder_that_changes_at_the_first_vectors(calls: int) -> None:
    """Where another model answers to a name meanwhile, what is nobody's is made by that one."""

    class Changing(WordEmbedder):
        """Has another name after some calls."""

        async def name(self) -> str:
            await asyncio.sleep(0)
            return "other" if len(self.queries) >= calls else "words"

    embedder = Changing()
    indexes = MemoryIndexes()
    async with asyncio.timeout(5):
        await indexes.warm_up(embedder, ShelvedVectors())
    assert indexes.judges("other", DIMENSION) is not None


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
        assert [contents(one) for one in both] == [
            ["User likes green tea."],
            ["User hates tea."],
        ]
    await settled()
    assert ada.embedder.embedded == ["User likes green tea."]
    assert bob.embedder.embedded == ["User hates tea."]
    assert ada.table.ids("ada") == ada.table.ids("bob") == {"1"}
    bob.store.rows.clear()
    await bob.current()
    await settled()
    assert (ada.table.ids("ada"), ada.table.ids("bob")) == ({"1"}, set())


async def refuse(*_: object) -> NoReturn:
    """What a store does whose user may have no memories."""
    raise MemoryUnavailable("you lack the permission")


async def test_unknown_store_is_read_once() -> None:
    """Nothing but its rows is asked of a store that is not known: they tell how it stands."""
    world = World(TEA)
    world.store.stamp = refuse  # type: ignore[method-assign]
    assert contents(await world.current()) == [TEA.content]
    del world.store.stamp
    world.store.read = refuse  # type: ignore[method-assign]
    assert contents(await world.current()) == [TEA.content]


async def test_store_that_refuses() -> None:
    """Everybody who waits learns why the memories can't be read; the next turn tries again."""
    world = World(TEA)
    world.store.read = refuse  # type: ignore[method-assign]
    results = await asyncio.gather(
        world.current(), world.current(), return_exceptions=True
    )
    assert [str(one) for one in results] == ["you lack the permission"] * 2
    del world.store.read
    assert contents(await world.current()) == [TEA.content]


async def test_forgotten_user() -> None:
    """Index and queries of a user go; those of another stay."""
    ada = World(TEA, DOG)
    bob = World(TEA, user_id="bob", indexes=ada.indexes, clock=ada.clock)
    for world in (ada, bob):
        await world.warm()
        ada.indexes._queries.put(
            (world.user_id, "e", "hash"), np.ones(4, np.float32)
        )
    ada.indexes.forget("ada")
    assert ada.indexes._queries.get(("ada", "e", "hash")) is None
    assert ada.indexes._queries.get(("bob", "e", "hash")) is not None
    await asyncio.gather(ada.current(), bob.current())
    assert (ada.store.reads, bob.store.reads) == (2, 1)


async def test_forgotten_while_it_is_embedded() -> None:
    """Vectors that the provider makes or that are written meanwhile do not stay."""
    for moment in ("embedding", "writing"):
        world = World(TEA, DOG)
        write = world.table.write

        async def forgotten_meanwhile(
            user_id: str,
            name: str,
            vectors: Any,
            world: World = world,
            write: Any = write,
        ) -> None:
            if user_id == "ada":
                world.store.rows.clear()
                world.indexes.forget("ada")
            await write(user_id, name, vectors)

        await world.indexes.warm_up(world.embedder, world.table)
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


async def test_forgotten_while_it_is_read() -> None:
    """What was being read when its user was forgotten is not kept, and is read anew."""
    ada, gate = World(TEA), asyncio.Event()
    read, ada.store.read = ada.store.read, AsyncMock(wraps=ada.store.read)

    async def held_up() -> tuple[Memory, ...]:
        found = await read()
        await gate.wait()
        return found

    ada.store.read.side_effect = held_up
    reading = asyncio.create_task(ada.current())
    while not ada.store.read.called:
        await asyncio.sleep(0)
    ada.indexes.forget("ada")
    ada.store.rows.clear()
    gate.set()
    assert (await reading).memories == ()


async def test_index_of_a_place() -> None:
    """At a place stands what may be shown there alone, prepared once until something changes."""
    sails = memory("sea", "User sails far.", tags=("in folder=sea",))
    rides = memory("stable", "User rides far.", tags=("in folder=stable",))
    world = World(sails, rides, memory("all", "User walks far."))
    whole = await world.warm()
    assert len(whole.memories) == 3

    async def at(place: Place | None) -> MemoryIndex:
        sources = replace(world.sources, place=place)
        return await world.indexes.current(sources, 60)

    sea = Place("folder=sea")
    part = await at(sea)
    assert sorted(contents(part)) == ["User sails far.", "User walks far."]
    assert part.memory("stable") is None
    assert [part.memories[part.places[id]].id for id in ("sea", "all")] == [
        "sea",
        "all",
    ]
    assert part.ready
    # Of what stands elsewhere neither words nor vectors are in it.
    assert "rides" not in str(part.ranking.words)
    assert len(part.ranking.vectors) == 2
    assert await at(sea) is part
    assert await at(None) is await world.current()
    assert contents(await at(Place())) == ["User walks far."]
    assert contents(await at(NOWHERE)) == []
    world.clock.now += 100
    world.store.edit("sea", "User sails near.")
    assert "User sails near." in contents(await at(sea))
    world.indexes.forget("ada")
    assert await at(sea) is not part


async def test_a_large_index_stays_while_others_come() -> None:
    """An index that is larger than all that may be kept is not made anew when others come between."""
    facts = [memory(str(at), f"User has {at} hens.") for at in range(40)]
    indexes = MemoryIndexes(most_bytes=40 * 1024)
    large = World(*facts, user_id="ada", indexes=indexes)
    assert (await large.current()).nbytes > indexes.most_bytes
    for name in ("bob", "cid", "dan"):
        await World(TEA, user_id=name, indexes=indexes).current()
    assert indexes.known("ada")
    for name in ("eve", "fay"):
        await World(*facts, user_id=name, indexes=indexes).current()
    assert not indexes.known("ada")
    await settled()
