"""Turns on their way to a lesson: joined, leased, tried again, and never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import pytest

from adaptive.errors import ModelBusy, TablesUnavailable
from adaptive.learn.queue import WORK_SECONDS
from adaptive.learn.turn_work import LEASE_SECONDS, MOST_ATTEMPTS, TurnWork
from tests.learn.queue_world import School, told
from tests.learn.virtual_time import EPOCH, epoch_now, in_virtual_time

Scene = Callable[..., Coroutine[Any, Any, None]]


def virtually(scene: Scene) -> Callable[..., None]:
    """Play a scene in virtual time, with a school of its own."""

    @wraps(scene)
    def play(*args: Any, **fixtures: Any) -> None:
        in_virtual_time(scene(*args, **fixtures))

    return play


@virtually
async def test_learned_after_the_debounce() -> None:
    """A turn waits in the table, is learned when it is due, and is then done for good."""
    school = School()
    a = school.worker()
    task = await a.say("m-1")
    assert set(school.waiting()) == {"m-1"}
    assert told(await task) == [("m-1", "learned", "")]
    assert [lesson.began for lesson in school.lessons] == [EPOCH + 2]
    assert school.waiting() == {}
    assert school.database.leases == {}
    assert school.written == ["m-1"]


@virtually
async def test_answers_to_one_message() -> None:
    """Regenerated, continued and multi-model answers of a message are learned from once."""
    school = School()
    a, b = school.worker("a"), school.worker("b")
    first, second = await asyncio.gather(a.say("m-1"), a.say("m-1"))
    third = await b.say("m-1")
    results = [told(await task) for task in (first, second, third)]
    assert sorted(results) == [[], [], [("m-1", "learned", "")]]
    assert await a.hear("m-1") == []
    assert school.taught == ["m-1"]


@virtually
async def test_quick_succession() -> None:
    """A newer turn of the chat joins the waiting one, on whichever worker it ended."""
    school = School()
    older = await school.worker("a").say("m-1")
    await asyncio.sleep(1.5)
    newer = await school.worker("b").say("m-2")
    assert told(await older) == []
    assert told(await newer) == [("m-1 m-2", "learned", "")]
    assert school.asked == 1


@virtually
async def test_messages_without_end() -> None:
    """A chat whose messages follow each other for minutes is learned from meanwhile."""
    school = School()
    a = school.worker()
    tasks = []
    for number in range(60):
        tasks.append(await a.say(f"m-{number:02}"))
        await asyncio.sleep(1)
    await asyncio.gather(*tasks)
    assert school.lessons[0].began < EPOCH + 35
    assert sorted(school.written) == [f"m-{number:02}" for number in range(60)]
    assert school.asked <= 20


@virtually
async def test_one_lesson_per_user() -> None:
    """A user's chats are learned from one after the other, on whichever worker."""
    school = School(seconds=40)
    workers = [school.worker("a"), school.worker("b")]
    tasks = [await workers[n % 2].say(f"m-{n}", chat_id=f"c-{n}") for n in range(6)]
    results = [result for task in tasks for result in told(await task)]
    assert sorted(results) == [(f"m-{n}", "learned", "") for n in range(6)]
    assert school.most_running == 1


@virtually
async def test_lease_on_the_user() -> None:
    """During a lesson the user is under a lease; within a process nobody asks for it twice."""
    school = School(seconds=40)
    a = school.worker()
    tasks = [await a.say(f"m-{number}", chat_id=f"c-{number}") for number in range(3)]
    await asyncio.sleep(15)
    assert list(school.database.leases) == ["ada"]
    await asyncio.gather(*tasks)
    assert a.link.calls.count("take") == 3
    assert a.link.calls.count("renew") <= 3 * 5


@virtually
async def test_long_work_keeps_its_lease() -> None:
    """However long the model takes, nobody else takes the turn; what came in meanwhile waits."""
    school = School(seconds=400)
    a, b = school.worker("a"), school.worker("b")
    first = await a.say("m-1")
    await asyncio.sleep(20)
    second = await b.say("m-2")
    assert told(await first) == [("m-1", "learned", "")]
    assert told(await second) == [("m-2", "learned", "")]
    assert school.most_running == 1
    assert set(b.link.calls[1:180]) == {"waiting"}  # it looks, and writes nothing meanwhile


@virtually
async def test_statements_of_a_learned_turn() -> None:
    """A turn with three facts that are written at once costs the database five calls."""
    school = School(seconds=1)
    a = school.worker()
    a.queue = a.reloaded()

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
async def test_killed_worker() -> None:
    """What a killed worker had begun is learned by the next one, once its lease has ended."""
    school = School()
    a = school.worker("a")
    await a.say("m-1")
    await asyncio.sleep(3)
    a.kill()
    b = school.worker("b")
    assert await b.hear("m-2", chat_id="other") == [
        ("m-1", "learned", ""),
        ("m-2", "learned", ""),
    ]
    assert LEASE_SECONDS < school.lessons[1].began - EPOCH < LEASE_SECONDS + 10
    assert school.written == ["m-1", "m-2"]


@virtually
async def test_killed_before_it_began() -> None:
    """A turn that was only put is taken along at once by the next one that serves the user."""
    school = School()
    a = school.worker("a")
    await a.queue.put(a.turn("m-1"))
    a.kill()
    await asyncio.sleep(60)
    assert await school.worker("b").hear("m-2") == [("m-1 m-2", "learned", "")]


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
    b = school.worker("b")
    assert await b.resume() == [("m-0 m-1", "learned", "")]
    assert epoch_now() > EPOCH + LEASE_SECONDS
    assert [lesson.journal for lesson in school.lessons] == ["", "m-0 m-1"]
    assert (school.asked, school.written) == (1, ["m-0", "m-1"])


@virtually
async def test_poisonous_turn() -> None:
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
    reason = "it was begun 8 times in vain"
    assert await school.worker("z").resume() == [("m-1", "given up", reason)]
    assert len(school.lessons) == MOST_ATTEMPTS
    assert school.waiting() == {}


@virtually
async def test_failures_in_a_row() -> None:
    """Delays grow; the task waits for near ones alone, and the eighth failure is the last."""
    school = School(trouble=[ModelBusy("the provider is down") for _ in range(9)])
    a = school.worker()
    again = ("m-1", "again", "the provider is down")
    assert await a.hear("m-1") == [again, again]
    (left,) = (school.waiting()).values()
    assert (left.attempts, left.due_at) == (2, EPOCH + 17 + 60)
    for attempt in range(2, 7):
        assert await a.resume() == []
        await asyncio.sleep(15 * 4 ** (attempt - 1))
        assert await a.resume() == [again]
    await asyncio.sleep(15 * 4**6)
    assert await a.resume() == [("m-1", "given up", "the provider is down")]
    assert school.waiting() == {}
    assert await a.hear("m-1") == []


@virtually
async def test_last_attempt_is_known() -> None:
    """Whoever teaches can tell whether the user may be promised another attempt."""
    school = School()
    a = school.worker()
    known: list[bool] = []

    async def failing(work: TurnWork) -> None:
        known.append(work.last_attempt)
        raise ModelBusy("no")

    await a.queue.put(a.turn("m-1"))
    for _ in range(10):
        await asyncio.sleep(100_000)
        await a.queue.resume("ada", failing)
    assert known == [False] * 7 + [True]


@virtually
async def test_failing_turn_does_not_hold_up_others() -> None:
    """After a failure the user's other chats are learned from all the same."""
    school = School(trouble=[ModelBusy("no")])
    a = school.worker()
    await a.queue.put(a.turn("m-1", chat_id="other"))
    await asyncio.sleep(1)
    assert await a.hear("m-2") == [
        ("m-1", "again", "no"),
        ("m-2", "learned", ""),
        ("m-1", "learned", ""),
    ]


@virtually
async def test_bug_in_the_lesson() -> None:
    """An error that nobody foresaw passes, and the turn waits for another attempt."""
    school = School(trouble=[ZeroDivisionError()])
    a = school.worker()
    with pytest.raises(ZeroDivisionError):
        await a.hear("m-1")
    (left,) = (school.waiting()).values()
    assert left.attempts == 1
    assert school.database.leases == {}


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
async def test_frozen_worker() -> None:
    """A process that stands still for a minute has lost its turns, and writes nothing after it."""
    school = School(seconds=10)
    a, b = school.worker("a"), school.worker("b")
    frozen = await a.say("m-1")
    await asyncio.sleep(4)
    a.link.gate.clear()
    await asyncio.sleep(60)
    winner = await b.say("m-2")
    await asyncio.sleep(5)
    a.link.gate.set()
    await winner
    assert told(await frozen) == [("m-1", "lost", "another worker has taken over")]
    assert [lesson.worker for lesson in school.lessons] == ["a", "b"]
    assert sorted(school.written) == ["m-1", "m-2"]


@virtually
async def test_taken_over_at_the_very_end() -> None:
    """Turns that somebody else has finished meanwhile are told as lost, not as learned."""
    school = School()
    a = school.worker()

    async def overtaken(work: TurnWork) -> None:
        await school.database.finish(work.lease, 0, epoch_now())

    turn = a.turn("m-1")
    await a.queue.put(turn)
    results = told(await a.queue.learn(turn, overtaken))
    assert results == [("m-1", "lost", "another worker has taken over")]


@virtually
async def test_late_without_a_rival() -> None:
    """A process that stood still, but whose turns nobody took, goes on."""
    school = School(seconds=10)
    a = school.worker("a")
    frozen = await a.say("m-1")
    await asyncio.sleep(4)
    a.link.gate.clear()
    await asyncio.sleep(60)
    a.link.gate.set()
    assert (await frozen)[-1].verdict == "learned"
    assert (school.asked, school.written) == (1, ["m-1"])


@virtually
async def test_lesson_without_end() -> None:
    """A lesson that never ends is ended, and tried again as one that failed."""
    school = School(seconds=10 * WORK_SECONDS)
    a = school.worker()
    ((names, verdict, reason), *_) = await a.hear("m-1")
    assert (names, verdict, reason) == ("m-1", "again", "learning took too long")
    assert school.most_running == 1


@virtually
async def test_reload() -> None:
    """A change of the plug-in's code starts nothing twice: the old instance ends its work."""
    school = School(seconds=20)
    a = school.worker("a")
    old = await a.say("m-1")
    await asyncio.sleep(5)
    a.queue = a.reloaded()
    new = await a.say("m-2", chat_id="other")
    results = [*told(await old), *told(await new)]
    assert sorted(results) == [("m-1", "learned", ""), ("m-2", "learned", "")]
    assert sorted(school.taught) == ["m-1", "m-2"]
    assert school.most_running == 1


@virtually
async def test_clock_that_is_set_back() -> None:
    """A clock that is set back while a turn waits does not strand it."""
    school = School()
    a = school.worker()
    task = await a.say("m-1")
    await asyncio.sleep(1)
    a.skew = -1
    assert told(await task) == [("m-1", "learned", "")]


@pytest.mark.parametrize("skew", [-2.0, 2.0])
def test_clocks_apart(skew: float) -> None:
    """With clocks two seconds apart a lease in use is not taken for one that has ended."""

    async def scene() -> None:
        school = School(seconds=100)
        a, b = school.worker("a"), school.worker("b", skew=skew)
        tasks = [await a.say("m-1"), await b.say("m-2", chat_id="other")]
        await asyncio.gather(*tasks)
        await b.resume()
        assert sorted(school.taught) == ["m-1", "m-2"]
        assert school.most_running == 1

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
    a.link.failing.clear()
    assert await a.hear("m-1") == [("m-1", "learned", "")]
    assert not a.queue._inserts


@virtually
async def test_locked_for_long() -> None:
    """Behind the answer a turn is put again and again, until the table has it."""
    school = School()
    a = school.worker()
    a.link.failing.add("all")
    task = await a.say("m-1")
    await asyncio.sleep(60)
    a.link.failing.clear()
    assert await a.hear("m-2") == [("m-2", "learned", "")]
    assert told(await task) == [("m-1", "learned", "")]


@virtually
async def test_hanging_table() -> None:
    """The outlet waits a second for a table that does not answer; the turn gets there later."""
    school = School()
    a = school.worker()
    a.link.gate.clear()
    task = await a.say("m-1")
    assert epoch_now() == EPOCH + 1
    await asyncio.sleep(30)
    a.link.gate.set()
    assert told(await task) == [("m-1", "learned", "")]
    assert school.asked == 1


@virtually
async def test_forgotten_on_its_way_into_the_table() -> None:
    """A turn whose user has everything erased meanwhile does not come into the table after it."""
    school = School()
    a = school.worker()
    a.link.failing.add("put")
    tasks = [await a.say("m-1"), await a.say("m-2", user_id="bob")]
    a.queue.forget("ada")
    a.link.failing.clear()
    assert [told(await task) for task in tasks] == [[], [("m-2", "learned", "")]]


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
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtually
async def test_table_fails_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    """What was learned but could not be marked is taken again; its journal spares the model."""
    school = School()
    a = school.worker()
    a.link.failing.add("finish")
    assert await a.hear("m-1") == [("m-1", "learned", "")]
    assert "turns are taken again when their lease has ended" in caplog.text
    a.link.failing.clear()
    await asyncio.sleep(LEASE_SECONDS + 1)
    assert await a.resume() == [("m-1", "learned", "")]
    assert (school.asked, school.written) == (1, ["m-1"])


@virtually
async def test_table_fails_at_taking() -> None:
    """A turn that could not be taken is tried again soon, as is said."""
    school = School()
    a = school.worker()
    a.link.failing.add("take")
    task = await a.say("m-1")
    await asyncio.sleep(8)
    a.link.failing.clear()
    assert told(await task) == [("", "again", "database is locked"), ("m-1", "learned", "")]


@virtually
async def test_table_fails_while_working() -> None:
    """Without the table work is held until its lease nears its end, and again with the table."""
    school = School()
    a = school.worker()
    seen = []

    async def writing(work: TurnWork) -> None:
        a.link.failing.add("all")
        seen.append(await work.held())
        await asyncio.sleep(15)
        seen.append(await work.held())
        a.link.failing.clear()
        await asyncio.sleep(10)
        seen.append(await work.held())
        a.link.failing.add("all")
        await asyncio.sleep(LEASE_SECONDS - 7)
        seen.append(await work.held())
        a.link.failing.clear()
        seen.append(await work.held())

    await a.queue.put(a.turn("m-1"))
    await asyncio.sleep(3)
    task = asyncio.create_task(a.queue.resume("ada", writing))
    await asyncio.sleep(50)
    assert seen == [True, True, True, False, True]
    assert told(await task) == [("m-1", "learned", "")]


@virtually
async def test_calls_are_counted() -> None:
    """Model calls of the last hour are counted, those of lessons that failed too."""
    school = School()
    a = school.worker()

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

    b = school.worker("b")
    for seconds, message in ((0, "m-2"), (3601, "m-3")):
        await asyncio.sleep(seconds)
        await b.queue.put(b.turn(message))
        await asyncio.sleep(3)
        await b.queue.resume("ada", counting)
    assert before == [5, 0]


@virtually
async def test_many_turns_left_by_others() -> None:
    """What was left in many chats is learned in bounded portions."""
    school = School()
    a = school.worker()
    for number in range(50):
        await a.queue.put(a.turn(f"m-{number:02}", chat_id=f"c-{number}"))
    await asyncio.sleep(3)
    for learned in (20, 40, 50, 50):
        await a.resume()
        assert len(school.written) == learned
