"""Other work on a user's store, which no lesson of any worker goes on beside."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from adaptive.errors import TablesUnavailable
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
    """It waits for a lease to end, and is left where the table tells nothing of leases."""

    async def scene() -> None:
        school = School()
        a = school.worker()
        school.database.leases["ada"] = ("killed", epoch_now() + LEASE_SECONDS)
        began: list[float] = []

        async def work(held: Held) -> None:
            assert await held()
            began.append(epoch_now() - EPOCH)

        assert await a.queue.alone("ada", work)
        assert LEASE_SECONDS < began[0] < LEASE_SECONDS + 3
        a.link.failing = {"take"}
        with pytest.raises(TablesUnavailable):
            await a.queue.alone("ada", work)
        assert len(began) == 1

    in_virtual_time(scene())


def test_no_longer_alone() -> None:
    """Other work that stood still for longer than its lease is told so before it writes."""

    async def scene() -> None:
        school = School()
        a, b = school.worker("a"), school.worker("b")
        told: list[bool] = []

        async def work(held: Held) -> None:
            told.append(await held())
            await asyncio.sleep(LEASE_SECONDS + 5)
            told.append(await held())

        task = asyncio.create_task(a.queue.alone("ada", work))
        await asyncio.sleep(1)
        assert await b.hear("m-1") == [("m-1", "learned", "")]
        assert await task
        assert told == [True, False]

    in_virtual_time(scene())
