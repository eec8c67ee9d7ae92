"""Workers with queues over one shared database, in virtual time; each can be cut off or killed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from adaptive.core.model import LeaseLost, TablesUnavailable
from adaptive.core.runtime import Foreground
from adaptive.learn.queue import LearningQueue, TurnWork
from adaptive.memory.turn_table import QueuedTurn
from tests.fakes import turn
from tests.learn.listed_turns import ListedTurns
from tests.learn.virtual_time import epoch_now

DEBOUNCE = 2.0


class Link:
    """One worker's way to the database, as ``TurnTable``.

    What is named in ``failing`` fails, "all" stands for everything; ``gate`` holds calls up while
    it is closed; ``delay`` is how long each way takes. When ``killed`` no call ever comes back.
    """

    def __init__(
        self, database: ListedTurns, delay: Callable[[], float]
    ) -> None:
        self.database, self.delay = database, delay
        self.failing: set[str] = set()
        self.gate = asyncio.Event()
        self.gate.set()
        self.killed = False
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return partial(self._through, name, getattr(self.database, name))

    async def pause(self, seconds: float) -> None:
        """Wait as this worker's process does: for ever once it is killed."""
        await asyncio.sleep(seconds)
        await self.gate.wait()
        if self.killed:
            if asyncio.get_running_loop().ending:
                raise asyncio.CancelledError
            await asyncio.Event().wait()

    async def _through(
        self,
        name: str,
        call: Callable[..., Awaitable[Any]],
        *args: Any,
        **k: Any,
    ):
        self.calls.append(name)
        await self._travel(name)
        answer = await call(*args, **k)
        await self._travel(
            name
        )  # may fail too: then it is done, and nobody here knows
        return answer

    async def _travel(self, name: str) -> None:
        await self.pause(self.delay())
        if self.failing & {name, "all"}:
            raise TablesUnavailable("database is locked")


@dataclass
class School:
    """Workers that learn, what they did, and what came of it in the user's store.

    ``seconds`` is how long the model takes; each exception in ``trouble`` is raised by one lesson
    in place of what it should do. The model runs on a ``machine``. ``lessons`` are the attempts
    that lessons began with, ``written`` is what was written to the store, in order.
    """

    seconds: float = 3.0
    trouble: list[BaseException] = field(default_factory=list)
    machine: str = "gpu"
    database: ListedTurns = field(default_factory=ListedTurns)
    lessons: list[int] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    asked: int = 0

    def waiting(self, user_id: str = "ada") -> dict[str, QueuedTurn]:
        """What waits to be learned, by message."""
        turns = self.database.turns.items()
        return {
            message_id: one
            for (user, message_id), one in turns
            if user == user_id
        }


class Worker:
    """One process of the host, with the plug-in's instance in it; ``skew`` is its clock's error.

    Its turns are due after the ``debounce``, in seconds.
    """

    def __init__(
        self,
        school: School,
        delay: Callable[[], float] = float,
        skew: float = 0.0,
        debounce: float = DEBOUNCE,
    ) -> None:
        self.school, self.skew, self.debounce = school, skew, debounce
        self.link = Link(school.database, delay)
        self.reload()

    def reload(self) -> None:
        """Another instance of the plug-in, as a change of its code makes one."""
        self.foreground = Foreground()
        self.queue = LearningQueue(self.link, self.foreground, self.clock)

    def clock(self) -> float:
        """This machine's time."""
        return epoch_now() + self.skew

    async def put(self, message_id: str, **where: str) -> QueuedTurn:
        """Let a turn wait that ends now."""
        return await self.queue.put(
            turn("", message_id=message_id, **where), self.debounce
        )

    async def say(self, message_id: str, **where: str) -> asyncio.Task[None]:
        """What the outlet does: put the turn, and start the task that learns from it."""
        queue = self.queue
        queued = await self.put(message_id, **where)
        return asyncio.create_task(queue.learn(queued, self.teach))

    async def hear(self, message_id: str, **where: str) -> None:
        """Say something and wait until it was dealt with."""
        await (await self.say(message_id, **where))

    async def answer(self, seconds: float, machine: str = "gpu") -> None:
        """Answer somebody, in a task of its own."""
        await asyncio.create_task(self._answered(seconds, machine))

    async def _answered(self, seconds: float, machine: str) -> None:
        self.foreground.begin_answer(machine)
        await self.link.pause(seconds)

    async def resume(self, user_id: str = "ada") -> None:
        """Work on what was left."""
        await self.queue.resume(user_id, self.teach)

    def kill(self) -> None:
        """End the process as ``kill -9`` does: nothing of it ever happens again."""
        self.link.killed = True

    async def teach(self, work: TurnWork) -> None:
        """Ask the model, then write each fact.

        At each write it is proven against the shared table that nobody else may.
        """
        school = self.school
        school.lessons.append(work.attempts)
        if school.trouble:
            raise school.trouble.pop(0)
        async with self.foreground.call(
            school.machine if work.patience else ""
        ):
            await self.link.pause(school.seconds)
        school.asked += 1
        work.calls += 1
        for fact in (one.turn.source.message_id for one in work.turns):
            if not await work.held():
                raise LeaseLost("another worker has it")
            self._is_the_only_one(work)
            if fact not in school.written:  # read back
                school.written.append(fact)
            await self.link.pause(school.seconds / 10)

    def _is_the_only_one(self, work: TurnWork) -> None:
        """Nobody else has this user's lease or one of these turns, and the lease has not ended."""
        table, user_id = self.school.database, work.lease.user_id
        owner, until = table.leases[user_id]
        assert (owner, until >= epoch_now()) == (work.lease.owner, True), (
            "a write without a lease"
        )
        assert {
            table.owners[user_id, one] for one in work.lease.message_ids
        } == {owner}, "two"
