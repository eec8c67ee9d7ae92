"""Turns on their way to a lesson: joined, leased, tried again, and never lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import pytest

from adaptive.core.errors import ModelBusy, TablesUnavailable
from adaptive.learn.queue import LEASE_SECONDS, MOST_ATTEMPTS, LearningQueue, TurnWork
from tests.learn.queue_world import School
from tests.learn.virtual_time import EPOCH, epoch_now, in_virtual_time

Scene = Callable[..., Coroutine[Any, Any, None]]


def virtually(scene: Scene) -> Callable[..., None]:
    """Play a scene in virtual time."""

    @wraps(scene)
    def play(*args: Any, **fixtures: Any) -> None:
        in_virtual_time(scene(*args, **fixtures))

    return play


@virtually
async def test_learned_after_the_debounce() -> None:
    """A turn waits in the table, is learned once when it is due, and is then done for good."""
    school = School()
    a, b = school.worker("a"), school.worker("b")
    tasks = [await a.say("m-1"), await a.say("m-1"), await b.say("m-1")]
    assert set(school.waiting()) == {"m-1"}
    await asyncio.gather(*tasks)
    await b.hear("m-1")
    assert [lesson.began for lesson in school.lessons] == [EPOCH + 2]
    assert (school.waiting(), school.database.leases, school.written) == ({}, {}, ["m-1"])


@virtually
async def test_one_lesson_per_user() -> None:
    """A user's chats are learned from one after the other, on whichever worker, however long."""
    school = School(seconds=40)
    workers = [school.worker("a"), school.worker("b", skew=2.0)]
    tasks = [await workers[n % 2].say(f"m-{n}", chat_id=f"c-{n}") for n in range(6)]
    await asyncio.gather(*tasks)
    assert sorted(school.taught) == [f"m-{n}" for n in range(6)]
    assert school.most_running == 1


@virtually
async def test_statements_of_a_learned_turn() -> None:
    """A turn with three facts that are written at once costs the database five calls."""
    school = School(seconds=1)
    a = school.worker()

    async def three_facts(work: TurnWork) -> None:
        assert await work.keep("m-1")
        for _ in range(3):
            assert await work.held()
            await a.link.pause(0.2)

    turn = a.turn("m-1")
    await a.queue.put(turn)
    await a.queue.learn(turn, three_facts)
    assert a.link.calls == ["put", "waiting", "take", "renew", "finish"]


@virtually
async def test_killed_after_the_model_answered() -> None:
    """What the model had answered is kept: it is asked no second time, and nothing is doubled."""
    school = School(seconds=10)
    a = school.worker("a")
    await a.queue.put(a.turn("m-0"))
    await a.say("m-1")
    await asyncio.sleep(12.5)
    a.kill()
    assert school.written == ["m-0"]
    await school.worker("b").resume()
    assert epoch_now() > EPOCH + LEASE_SECONDS
    assert [lesson.journal for lesson in school.lessons] == ["", "m-0 m-1"]
    assert (school.asked, school.written) == (1, ["m-0", "m-1"])


@virtually
async def test_poisonous_turn(caplog: pytest.LogCaptureFixture) -> None:
    """A turn that ends the process each time is given up in the end, with a reason."""
    school = School()
    a = school.worker("a")
    await a.queue.put(a.turn("m-1"))
    tasks = []
    for number in range(MOST_ATTEMPTS):
        await asyncio.sleep(60)
        worker = school.worker(str(number))
        tasks.append(asyncio.create_task(worker.resume()))
        await asyncio.sleep(1)
        worker.kill()
    await asyncio.sleep(60)
    await school.worker("z").resume()
    assert "turns are not learned: it was begun 8 times in vain" in caplog.text
    assert len(school.lessons) == MOST_ATTEMPTS
    assert school.waiting() == {}


@virtually
async def test_failures_in_a_row() -> None:
    """Delays grow; the task waits for near ones alone, and the eighth failure is the last."""
    school = School(trouble=[ModelBusy("the provider is down") for _ in range(9)])
    a = school.worker()
    await a.hear("m-1")
    (left,) = school.waiting().values()
    assert (left.attempts, left.due_at) == (2, EPOCH + 17 + 60)
    for attempt in range(2, 7):
        await a.resume()
        assert len(school.lessons) == attempt
        await asyncio.sleep(15 * 4 ** (attempt - 1))
        await a.resume()
    await asyncio.sleep(15 * 4**6)
    await a.resume()
    assert (len(school.lessons), school.waiting()) == (8, {})
    await a.hear("m-1")
    assert len(school.lessons) == 8


@pytest.mark.parametrize("moment", [0.5, 2.0, 2.5, 5.0, 5.2])
def test_cancelled_at_any_moment(moment: float) -> None:
    """Whenever the task is cancelled, nothing is lost and no lease is left behind."""

    async def scene() -> None:
        school = School()
        a = school.worker("a", delay=lambda: 0.05)
        task = await a.say("m-1")
        await asyncio.sleep(moment)
        task.cancel()
        await asyncio.wait({task})
        await asyncio.sleep(1)
        await school.worker("b").hear("m-2")
        assert school.written == ["m-1", "m-2"]
        assert school.waiting() == {}
        assert epoch_now() < EPOCH + LEASE_SECONDS
        assert asyncio.all_tasks() == {asyncio.current_task()}

    in_virtual_time(scene())


@virtually
async def test_table_that_never_answers(caplog: pytest.LogCaptureFixture) -> None:
    """A turn that can't be put into the table for minutes is given up, which is told."""
    school = School()
    a = school.worker()
    a.link.failing.add("all")
    task = await a.say("m-1")
    assert epoch_now() == EPOCH + 1
    with pytest.raises(TablesUnavailable, match="database is locked"):
        await task
    assert epoch_now() > EPOCH + 200
    assert [record.message for record in caplog.records] == [
        "a turn is not learned: database is locked"
    ]


@virtually
async def test_forgotten_on_its_way_into_the_table() -> None:
    """A turn whose user has everything erased meanwhile does not come into the table after it."""
    school = School()
    a = school.worker()
    a.link.failing.add("put")
    tasks = [await a.say("m-1"), await a.say("m-2", user_id="bob")]
    a.queue.forget("ada")
    a.link.failing.clear()
    await asyncio.gather(*tasks)
    assert school.written == ["m-2"]


@virtually
async def test_outlet_that_is_stopped() -> None:
    """A user who presses Stop while the turn is put does not lose it."""
    school = School()
    a = school.worker("a", delay=lambda: 0.2)
    outlet = asyncio.create_task(a.queue.put(a.turn("m-1")))
    await asyncio.sleep(0.1)
    outlet.cancel()
    await asyncio.wait({outlet})
    assert school.waiting() == {}
    await asyncio.sleep(1)
    assert set(school.waiting()) == {"m-1"}


@virtually
async def test_table_fails_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    """What was learned but could not be marked is taken again; its journal spares the model."""
    school = School()
    a = school.worker()
    a.link.failing.add("finish")
    await a.hear("m-1")
    assert "turns are taken again when their lease has ended" in caplog.text
    a.link.failing.clear()
    await asyncio.sleep(LEASE_SECONDS + 1)
    await a.resume()
    assert (len(school.lessons), school.asked, school.written) == (2, 1, ["m-1"])
    assert school.waiting() == {}


@virtually
async def test_calls_are_counted() -> None:
    """Model calls of the last hour are counted, those of lessons that failed too."""
    school = School()
    a, b = school.worker("a"), school.worker("b")

    async def asking(work: TurnWork) -> None:
        work.calls += 2
        if work.attempts == 0:
            raise ModelBusy("no")
        await work.keep("[]")
        work.calls += 1

    turn = a.turn("m-1")
    await a.queue.put(turn)
    await a.queue.learn(turn, asking)
    before: list[int] = []

    async def counting(work: TurnWork) -> None:
        before.append(work.calls_before)

    for seconds, message in ((0, "m-2"), (3601, "m-3")):
        await asyncio.sleep(seconds)
        await b.queue.put(b.turn(message))
        await asyncio.sleep(3)
        await b.queue.resume("ada", counting)
    assert before == [5, 0]


@virtually
async def test_user_who_wants_no_learning() -> None:
    """A turn of a user who has switched memory off waits, unharmed, until it is on again."""
    school = School()
    a = school.worker()
    switch = [False]

    async def wanted() -> bool:
        return switch[0]

    turn = a.turn("m-1")
    await a.queue.put(turn)
    await a.queue.learn(turn, a.teach, wanted)
    (waiting,) = school.waiting().values()
    assert (school.lessons, waiting.attempts) == ([], 0)
    switch[0] = True
    await a.queue.resume("ada", a.teach, wanted)
    assert school.written == ["m-1"]


@virtually
async def test_retry_is_left_to_the_next_load(caplog: pytest.LogCaptureFixture) -> None:
    """A turn that failed is not tried again by a load that was replaced, but by the next one."""
    school = School(trouble=[ModelBusy("no")])
    a = school.worker()

    async def serves() -> bool:
        return False

    a.queue = LearningQueue(a.link, clock=a.clock, serves=serves)
    with caplog.at_level(logging.INFO, "adaptive_memory.learn"):
        await a.hear("m-1")
    assert len(school.lessons) == 1
    assert "wait for whoever serves their user next" in caplog.text
    a.queue = a.reloaded()
    await a.resume()
    assert school.written == ["m-1"]
