"""Indexes let go of a user: what is being read or embedded meanwhile does not come back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np

from adaptive.search.indexes import MemoryIndexes, Sources
from tests.fakes import ListedMemories, ShelvedVectors, WordEmbedder, memory

PLENTY = 2**30


class Process:
    """The indexes of a process, and the sources of some users on one table."""

    def __init__(self) -> None:
        self.indexes = MemoryIndexes()
        self.table = ShelvedVectors()
        self.embedder = WordEmbedder()
        self.stores = {
            user_id: ListedMemories(memory("tea", "User likes tea."), memory("dog", "A dog."))
            for user_id in ("ada", "bob")
        }

    async def current(self, user_id: str, patience: float = 60) -> list[str]:
        """The ids of what a turn of a user is given."""
        sources = Sources(user_id, self.stores[user_id], self.embedder, self.table)
        index = await self.indexes.current(sources, PLENTY, patience)
        return sorted(one.id for one in index.memories)


async def settled() -> None:
    """Wait for what runs in the background."""
    background = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*background, return_exceptions=True)


async def until(happened: Callable[[], object]) -> None:
    """Let the others run until something has happened."""
    while not happened():
        await asyncio.sleep(0)


async def test_everything_of_one_user() -> None:
    """Index, queries and expected vectors of a user go; those of another stay."""
    process = Process()
    for user_id in ("ada", "bob"):
        await process.current(user_id)
        await settled()
        process.indexes.remember_query(user_id, "e", "What tea?", np.ones(4, np.float32))
        process.indexes.expect_texts(user_id, ["a"], np.ones((1, 4), np.float32))
    process.indexes.forget("ada")
    indexes = process.indexes
    assert list(indexes._held) == list(indexes._read) == list(indexes._expected) == ["bob"]
    assert indexes.known_query("ada", "e", "What tea?") is None
    assert indexes.known_query("bob", "e", "What tea?") is not None
    process.stores["ada"].rows.clear()
    assert await process.current("ada") == []
    assert await process.current("bob") == ["dog", "tea"]


async def test_embedded_meanwhile() -> None:
    """Vectors that the provider makes while a user is forgotten are not written."""
    process = Process()
    process.embedder.gate.clear()
    asking = asyncio.create_task(process.current("ada", patience=0))
    await until(lambda: "ada" in process.indexes._embedding)
    await asking
    process.stores["ada"].rows.clear()
    process.table.rows.clear()
    process.indexes.forget("ada")
    process.embedder.gate.set()
    await settled()
    assert process.table.ids("ada") == set()
    assert "ada" not in process.indexes._held


async def test_written_meanwhile() -> None:
    """Vectors that were being written while a user was forgotten are taken back."""
    process = Process()
    write = process.table.write

    async def forgotten_meanwhile(user_id: str, name: str, vectors: object) -> None:
        if user_id == "ada":
            process.stores["ada"].rows.clear()
            process.indexes.forget("ada")
        await write(user_id, name, vectors)  # type: ignore[arg-type]

    process.table.write = forgotten_meanwhile  # type: ignore[method-assign]
    await process.current("ada", patience=0)
    await settled()
    assert process.table.ids("ada") == set()


async def test_read_meanwhile() -> None:
    """Memories that were being read while a user was forgotten are read again."""
    process = Process()
    store = process.stores["ada"]
    read = store.read

    async def forgotten_meanwhile() -> object:
        rows = await read()
        if store.rows:
            store.rows.clear()
            process.indexes.forget("ada")
        return rows

    store.read = forgotten_meanwhile  # type: ignore[method-assign,assignment]
    assert await process.current("ada") == []


async def test_deleted_by_hand() -> None:
    """What the user deletes in Settings loses its vector at the next read, in other processes too.

    Also when it was the last one, and when the process that reads never held it.
    """
    process = Process()
    await process.current("ada")
    await settled()
    assert process.table.ids("ada") == {"tea", "dog"}
    del process.stores["ada"].rows["dog"]
    other = Process()
    other.table, other.stores = process.table, process.stores
    await other.current("ada")
    await settled()
    assert process.table.ids("ada") == {"tea"}
    process.stores["ada"].rows.clear()
    await process.current("ada")
    await settled()
    assert process.table.ids("ada") == set()
