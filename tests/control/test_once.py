"""A command is carried out once for its message, however often and from wherever it is asked."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter

import pytest

from adaptive.control.once import NOT_KNOWN, OncePerMessage
from adaptive.core.errors import TablesUnavailable
from adaptive.memory.tables import CommandTable
from tests.fakes import ListedEntries
from tests.learn.virtual_time import VirtualTimeLoop
from tests.learn.world import HeldLeases

ORDERS = 1000
MESSAGES = ("m1", "m2", "m3")


class Server:
    """The tables of a host, and what was carried out for each message."""

    def __init__(self) -> None:
        self.entries = ListedEntries()
        self.leases = HeldLeases()
        self.begun = Counter[str]()
        self.ended = Counter[str]()

    def worker(self) -> OncePerMessage:
        """A process of the server that has just started."""
        clock = asyncio.get_running_loop().time
        return OncePerMessage(CommandTable(self.entries), self.leases, clock)

    async def ask(self, worker: OncePerMessage, message: str, seconds: float = 0.0) -> str:
        """The answer to a message's command, which takes some seconds to carry out."""

        async def carry_out() -> str:
            self.begun[message] += 1
            await asyncio.sleep(seconds)
            self.ended[message] += 1
            return f"done: {message}"

        return await worker.answer("ada", "c", message, carry_out)


async def lived(chance: random.Random) -> Server:
    """Some messages' commands in any order: side by side, made anew, stopped, on a new process."""
    server = Server()
    worker = server.worker()
    running: list[asyncio.Task[str]] = []
    for _ in range(chance.randrange(3, 12)):
        message = chance.choice(MESSAGES)
        match chance.randrange(5):
            case 0:  # another worker has the same message
                asked = server.ask(server.worker(), message, chance.choice((0.0, 0.3, 5.0)))
                running.append(asyncio.create_task(asked))
            case 1 if running:  # its process is killed
                chance.choice(running).cancel()
                worker = server.worker()
            case _:
                asked = server.ask(worker, message, chance.choice((0.0, 0.3, 5.0)))
                running.append(asyncio.create_task(asked))
        await asyncio.sleep(chance.choice((0.0, 0.0, 0.2, 3.0)))
    answers = await asyncio.gather(*running, return_exceptions=True)
    for answer in answers:
        assert isinstance(answer, asyncio.CancelledError) or answer in (
            NOT_KNOWN,
            *(f"done: {message}" for message in MESSAGES),
        )
    return server


def test_random_orders() -> None:
    """In a thousand random orders no command is carried out more than once for its message."""
    chance = random.Random(12)
    for _ in range(ORDERS):
        with contextlib.closing(VirtualTimeLoop()) as loop:
            server = loop.run_until_complete(lived(chance))
        assert set(server.begun.values()) <= {1}


async def test_the_same_answer_for_all() -> None:
    """Whoever asks for a message's command again gets the answer that was given."""
    server = Server()
    first, second = server.worker(), server.worker()
    answers = await asyncio.gather(server.ask(first, "m1", 0.1), server.ask(second, "m1"))
    assert set(answers) == {"done: m1"}
    assert await server.ask(server.worker(), "m1") == "done: m1"
    assert await server.ask(first, "m2") == "done: m2"
    assert server.ended == {"m1": 1, "m2": 1}


async def test_nothing_is_done_that_cannot_be_remembered() -> None:
    """Where it can't be known whether a command was carried out it is not; later it is told."""
    server = Server()
    server.entries.unavailable = True
    with pytest.raises(TablesUnavailable):
        await server.ask(server.worker(), "m1")
    assert not server.begun


async def test_an_answer_that_cannot_be_kept_is_given() -> None:
    """What was done is answered, also where the answer can't be written down."""
    server = Server()

    async def carry_out() -> str:
        server.entries.unavailable = True
        return "done"

    assert await server.worker().answer("ada", "c", "m1", carry_out) == "done"
