"""Other work on a user's store, which no lesson of any worker goes on beside."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from adaptive.learn.turn_work import LEASE_SECONDS
from tests.learn.queue_world import School
from tests.learn.virtual_time import EPOCH, epoch_now, in_virtual_time

Held = Callable[[], Awaitable[bool]]


def test_waits_for_lessons() -> None:
    """It begins when the lesson of the same user is over, whichever worker gives it."""

    async def scene() -> None:
        school = School(seconds=3)
        a, b = school.worker("a"), school.worker("b")
        began: list[tuple[float, int]] = []

        async def work(held: Held) -> None:
            assert await held()
            began.append((epoch_now() - EPOCH, school.running))

        task = await a.say("m-1")
        await asyncio.sleep(2.5)  # the lesson has begun
        assert await b.queue.alone("bob", work)
        assert await a.queue.alone("ada", work)
        assert await b.queue.alone("ada", work)
        await task
        assert began[0] == (2.5, 1)  # of another user
        assert all(5 < when < 10 and not running for when, running in began[1:])
        assert school.database.leases == {}

    in_virtual_time(scene())


def test_lessons_wait_for_it() -> None:
    """A lesson that is due meanwhile begins behind it."""

    async def scene() -> None:
        school = School()
        a = school.worker()

        async def work(held: Held) -> None:
            await asyncio.sleep(5)
            assert school.lessons == []

        task = asyncio.create_task(a.queue.alone("ada", work))
        learned = await a.say("m-1")
        assert await task
        await learned
        assert [one.began - EPOCH for one in school.lessons] == [5]

    in_virtual_time(scene())


def test_somebody_holds_the_user() -> None:
    """It is left where another worker holds the user for longer than a lease lasts."""

    async def scene() -> None:
        school = School()
        a = school.worker()
        school.database.leases["learn:ada"] = ("other", epoch_now() + 10 * LEASE_SECONDS)
        done: list[Held] = []

        async def work(held: Held) -> None:
            done.append(held)

        assert not await a.queue.alone("ada", work)
        assert done == []
        a.link.failing = {"acquire", "release"}
        assert await a.queue.alone("ada", work)  # without a table the process's lock must do

    in_virtual_time(scene())
