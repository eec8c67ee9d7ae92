"""Whatever happens in which order: each turn is learned, by one worker at a time, once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.core.errors import LeaseLost, ModelBusy
from adaptive.core.table_ports import PendingTurn, TurnLease
from adaptive.learn.queue import TurnWork
from tests.learn.listed_turns import ListedTurns
from tests.learn.queue_world import School, Worker
from tests.learn.virtual_time import epoch_now, in_virtual_time

SLOTS, USERS, CHATS = 3, 2, 2


@dataclass(frozen=True)
class Happening:
    """Something that happens to one of the processes; ``where`` is a user's or a chat's number."""

    at: float
    kind: str
    slot: int
    where: int
    seconds: float


HAPPENINGS = st.builds(
    Happening,
    at=st.floats(0, 150),
    kind=st.sampled_from(["say"] * 6 + ["kill", "freeze", "cut off", "reload", "cancel"]),
    slot=st.integers(0, SLOTS - 1),
    where=st.integers(0, USERS * CHATS - 1),
    seconds=st.floats(0.1, 60),
)


class WatchedTurns(ListedTurns):
    """The shared table, which counts what was put into it and what was finished."""

    def __init__(self) -> None:
        super().__init__()
        self.received: set[str] = set()
        self.finished: Counter[str] = Counter()

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait."""
        await super().put(turn)
        self.received.add(turn.message_id)

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Mark turns as learned."""
        finished = await super().finish(lease, calls, now)
        self.finished.update(lease.message_ids if finished else ())
        return finished


class Watchful(Worker):
    """A worker that looks over its own shoulder at each write."""

    async def teach(self, work: TurnWork) -> None:
        """What any worker does, in the places that matter proven against the shared table."""
        school = self.school
        if school.trouble:
            raise school.trouble.pop()
        if not work.journal:
            assert not any(turn.batch for turn in work.turns), "the model is asked again"
            work.calls += 1
            await self.link.pause(school.seconds)
            facts = " ".join(turn.message_id for turn in work.turns)
            if not await work.keep(facts):
                raise LeaseLost("another worker has it")
        for fact in work.journal.split():
            if not await work.held():
                raise LeaseLost("another worker has it")
            self._is_the_only_one(work)
            if fact not in school.written:
                school.written.append(fact)
            await self.link.pause(school.seconds / 10)

    def _is_the_only_one(self, work: TurnWork) -> None:
        """Nobody else has this user's lease or one of these turns, and the lease has not ended."""
        table = self.school.database
        owner, until = table.leases[work.lease.user_id]
        assert (owner, until >= epoch_now()) == (work.lease.owner, True), "a write without a lease"
        keys = [(work.lease.user_id, one) for one in work.lease.message_ids]
        assert {table.owners[key] for key in keys} == {owner}, "two at once"


class Play:
    """Processes to which things happen, and what came of it."""

    def __init__(self, seconds: float, troubles: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.table = WatchedTurns()
        self.school = School(seconds=seconds, trouble=[ModelBusy("no") for _ in range(troubles)])
        self.school.database = self.table
        self.workers = [self.started(slot) for slot in range(SLOTS)]
        self.heard: list[tuple[Watchful, str]] = []
        self.tasks: list[asyncio.Task[None]] = []

    def started(self, slot: int) -> Watchful:
        """A process, a second fast or slow at most."""
        chance = self.chance
        return Watchful(self.school, str(slot), lambda: chance.random() / 4, chance.uniform(-1, 1))

    async def outlet(self, worker: Watchful, message_id: str, where: int) -> None:
        """A turn ends in a process."""
        turn = worker.turn(message_id, f"user-{where % USERS}", f"chat-{where // USERS}")
        queue = worker.queue
        self.heard.append((worker, message_id))
        await queue.put(turn)
        await queue.learn(turn, worker.teach)

    async def happen(self, one: Happening, number: int) -> None:
        """One of the things that happen, when its time has come."""
        await asyncio.sleep(one.at)
        worker = self.workers[one.slot]
        if one.kind == "say":
            work = self.outlet(worker, f"m-{number:02}", one.where)
            self.tasks.append(asyncio.create_task(work))
        elif one.kind == "kill":
            worker.kill()
            self.workers[one.slot] = self.started(one.slot)
        elif one.kind == "reload":
            worker.queue = worker.reloaded()
        elif one.kind == "freeze":
            worker.link.gate.clear()
            await asyncio.sleep(one.seconds)
            worker.link.gate.set()
        elif one.kind == "cut off":
            worker.link.failing.add("all")
            await asyncio.sleep(one.seconds)
            worker.link.failing.clear()
        elif self.tasks:
            self.chance.choice(self.tasks).cancel()

    async def come_to_rest(self) -> None:
        """All that is alive serves all users from time to time."""
        await asyncio.sleep(300)
        self.workers.append(self.started(SLOTS))
        for _ in range(20):
            for worker in self.workers:
                for user in range(USERS):
                    await worker.queue.resume(f"user-{user}", worker.teach)
            await asyncio.sleep(4_000)
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.result()


async def play(happenings: list[Happening], seconds: float, troubles: int, seed: int) -> None:
    """Let it all happen, then wait until nothing waits, and see what came of it."""
    it = Play(seconds, troubles, seed)
    await asyncio.gather(*(it.happen(one, number) for number, one in enumerate(happenings)))
    await it.come_to_rest()
    # A turn that a process has not put into the table ends with it; nothing else is lost.
    expected = set(it.table.received)
    expected |= {message for worker, message in it.heard if not worker.link.killed}
    written = it.school.written
    assert set(written) >= expected
    assert len(written) == len(set(written))
    for user in range(USERS):
        assert it.school.waiting(f"user-{user}") == {}
    assert set(it.table.finished) == it.table.received
    assert set(it.table.finished.values()) <= {1}


@settings(max_examples=120)
@given(
    st.lists(HAPPENINGS, min_size=1, max_size=25),
    st.floats(0.1, 90),
    st.integers(0, 3),
    st.integers(0, 1_000),
)
def test_any_order(happenings: list[Happening], seconds: float, troubles: int, seed: int) -> None:
    """Messages, kills, freezes, outages, reloads and failures in any order, clocks apart."""
    in_virtual_time(play(happenings, seconds, troubles, seed))
