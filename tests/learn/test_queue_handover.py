"""A queue whose instance the host has replaced or dropped: turns that failed are left to others."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import pytest

from adaptive.errors import ModelBusy
from adaptive.learn.queue import LearningQueue
from adaptive.measures import TurnMeasures, measured
from tests.learn.queue_world import School, Worker
from tests.learn.virtual_time import EPOCH, epoch_now, in_virtual_time


class Load:
    """One load of the plug-in in a process, which serves until it is told otherwise.

    Its user wants to be learned from until that is taken back.
    """

    def __init__(self, worker: Worker) -> None:
        self.serving = self.wanting = True
        worker.queue = LearningQueue(
            worker.link, clock=worker.clock, serves=self.serves, wanted=self.wanted
        )

    async def wanted(self, user_id: str) -> bool:
        """Whether the user wants to be learned from."""
        return self.wanting and bool(user_id)

    async def serves(self) -> bool:
        """Whether the host uses it."""
        return self.serving


def test_retry_is_left_to_the_next_load(caplog: pytest.LogCaptureFixture) -> None:
    """A turn that failed is not tried again by a load that was replaced, but by the next one."""

    async def scene() -> None:
        school = School(trouble=[ModelBusy("no")])
        worker = school.worker()
        load = Load(worker)
        task = await worker.say("m-1")
        load.serving = False
        with caplog.at_level(logging.INFO, "adaptive_memory.learn"):
            [result] = await task
        assert (result.verdict, len(school.lessons)) == ("again", 1)
        assert "wait for whoever serves their user next" in caplog.text
        assert set(school.waiting()) == {"m-1"}
        Load(worker)
        assert await worker.resume() == [("m-1", "learned", "")]
        assert school.written == ["m-1"]

    in_virtual_time(scene())


def test_user_who_wants_no_learning() -> None:
    """A turn of a user who has switched memory off waits, unharmed, until it is on again."""

    async def scene() -> None:
        school = School()
        worker = school.worker()
        load = Load(worker)
        task = await worker.say("m-1")
        load.wanting = False
        assert await task == []
        assert await worker.resume() == []
        assert school.lessons == []
        (waiting,) = school.waiting().values()
        assert waiting.attempts == 0
        load.wanting = True
        assert await worker.resume() == [("m-1", "learned", "")]

    in_virtual_time(scene())


def test_other_work_of_a_user_who_wants_none() -> None:
    """Other work on the store of a user who has switched memory off is not begun."""

    async def scene() -> None:
        worker = School().worker()
        load = Load(worker)
        begun: list[bool] = []

        async def work(held: Callable[[], Awaitable[bool]]) -> None:
            begun.append(await held())

        load.wanting = False
        assert not await worker.queue.alone("ada", work)
        assert begun == []
        load.wanting = True
        assert await worker.queue.alone("ada", work)
        assert begun == [True]

    in_virtual_time(scene())


def test_retry_of_a_load_that_serves() -> None:
    """A load that the host uses tries again by itself, and the measures tell it all."""
    measures = TurnMeasures("learning", lambda: 0.0)

    async def scene() -> None:
        school = School(trouble=[ModelBusy("no")])
        worker = school.worker()
        Load(worker)
        with measured(measures):
            verdicts = [verdict for _, verdict, _ in await worker.hear("m-1")]
        assert verdicts == ["again", "learned"]
        assert epoch_now() > EPOCH + 15

    in_virtual_time(scene())
    assert (measures.outcome, measures.reason) == ("learned", "")
    assert measures.anomalies == {"retried": 1}


def test_failure_is_told_by_its_class() -> None:
    """Measures name the class of what went wrong, and quote nothing of it."""
    measures = TurnMeasures("learning", lambda: 0.0)

    async def scene() -> None:
        school = School(trouble=[ModelBusy("secret")] * 9)
        worker = school.worker()
        Load(worker).serving = False
        with measured(measures):
            await worker.hear("m-1")

    in_virtual_time(scene())
    assert (measures.outcome, measures.reason) == ("again", "ModelBusy")
    assert "queue" in measures.seconds
