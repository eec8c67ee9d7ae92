"""A vector database that hangs: nobody waits for long, and it is asked again behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Iterator
from typing import Any

import pytest

from adaptive.core.model import HostError
from adaptive.host.memory_vectors import VectorUpkeep
from adaptive.host.vector_database import VectorDatabase


class Client:
    """A synchronous client whose calls wait while it hangs."""

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.answers.set()

    def has_collection(self, name: str) -> bool:
        """Whether it is there, once anything is answered."""
        self.answers.wait()
        return bool(name)


@pytest.fixture
def client() -> Iterator[Client]:
    """A client that lets go of all threads in the end."""
    client = Client()
    yield client
    client.answers.set()


async def test_hanging(client: Client) -> None:
    """A call comes to its limit, further ones fail at once, and all is well when one returns."""
    database = VectorDatabase(lambda: client)
    assert await database.call("looking", "has_collection", "c") is True
    client.answers.clear()
    silent = "the vector database does not answer"
    with pytest.raises(HostError, match="database can't be used") as failed:
        await database.call("looking", "has_collection", "c", seconds=0.05)
    assert failed.value.detail == f"{silent} within 0.05 s"
    await resting(database)
    for _ in range(10):
        with pytest.raises(HostError) as failed:
            await database.call("looking", "has_collection", "c", seconds=3600)
        assert failed.value.detail == silent
    client.answers.set()
    await resting(database, over=True)
    assert await database.call("looking", "has_collection", "c") is True


async def test_probed_behind(client: Client) -> None:
    """A call that never returns is no hindrance: another one is tried on a thread of its own."""
    database, lost = VectorDatabase(lambda: client), threading.Event()
    with pytest.raises(HostError, match="database can't be used"):
        await database.ask("waiting", lambda _: lost.wait(), 0.01)
    await resting(database, over=True)
    assert await database.call("looking", "has_collection", "c") is True
    lost.set()


async def test_lost_patience(client: Client) -> None:
    """That it hangs is noticed even where whoever asks has given up before."""
    database = VectorDatabase(lambda: client)
    client.answers.clear()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await database.call("looking", "has_collection", "c", seconds=0.05)
    await resting(database)
    client.answers.set()
    await resting(database, over=True)


async def resting(database: VectorDatabase, *, over: bool = False) -> None:
    """Wait until it rests, or until that is over."""
    while database._breaker.is_open("the vector database") is over:
        await asyncio.sleep(0.001)


class Collections:
    """What users' collections hold, brought in step unless the database is ``away``."""

    def __init__(self) -> None:
        self.away = True
        self.in_step: list[str] = []

    async def step(self, row_ids: Collection[str]) -> None:
        """Bring these rows in step."""
        if self.away:
            raise HostError("away")
        self.in_step += row_ids


async def test_vectors_come_later() -> None:
    """What could not be written with the rows is written behind; nobody waits for another user."""
    collections, back = Collections(), asyncio.Event()

    async def sleep(_: float) -> None:
        await back.wait()

    upkeep: Any = VectorUpkeep(sleep=sleep)
    await upkeep.written("ada", ["a"], collections.step)
    await upkeep.written("ada", ["b"], collections.step)
    assert (collections.in_step, len(upkeep.tasks)) == ([], 2)
    collections.away = False
    await upkeep.written("bob", ["c"], collections.step)
    assert collections.in_step == ["c"]
    back.set()
    while upkeep.tasks:
        await asyncio.sleep(0)
    assert collections.in_step == ["c", "a", "b"]


async def test_given_up(caplog: pytest.LogCaptureFixture) -> None:
    """After a day the log says what helps, and nothing is kept of the user."""
    collections = Collections()

    async def sleep(_: float) -> None:
        """No time passes."""

    upkeep: Any = VectorUpkeep(sleep=sleep)
    await upkeep.written("ada", ["a", "b"], collections.step)
    while upkeep.tasks:
        await asyncio.sleep(0)
    assert "vectors are not in step: reindex memories" in caplog.text
