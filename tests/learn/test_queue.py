"""Turns on their way to a lesson: joined, leased, tried again, and never lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any
from unittest.mock import AsyncMock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.core.model import TablesUnavailable, Utterance
from adaptive.core.providers import ModelBusy
from adaptive.learn.queue import (
    LEASE_SECONDS,
    MOST_ATTEMPTS,
    TurnWork,
)
from adaptive.learn.turns import by_model, joined_turn
from adaptive.memory.turn_table import (
    QueuedTurn,
    TurnLease,
    next_batch,
)
from tests.fakes import turn as said_turn
from tests.learn.listed_turns import ListedTurns
from tests.learn.queue_world import School, Worker
from tests.learn.virtual_time import EPOCH, epoch_now, in_virtual_time
from tests.rates import over

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
    a, b = Worker(school), Worker(school)
    tasks = [await a.say("m-1"), await a.say("m-1"), await b.say("m-1")]
    assert set(school.waiting()) == {"m-1"}
    await asyncio.sleep(1.9)
    assert school.lessons == []
    await asyncio.gather(*tasks)
    await b.hear("m-1")
    assert (school.lessons, school.asked, school.database.leases) == (
        [0],
        1,
        {},
    )
    assert (school.waiting(), school.written) == ({}, ["m-1"])


async def test_lost_lease_is_noticed() -> None:
    """What another worker has taken, or may have by now, is not in these hands any more."""
    table, now = ListedTurns(), 1.0
    queued = QueuedTurn(said_turn(""), 0.0, 0.0)
    await table.put(queued)
    lease = TurnLease("ada", "we", ("m",))
    assert await table.take(lease, now, now + LEASE_SECONDS)
    work = TurnWork((queued,), lease, table, lambda: now, now)
    now = 20.0
    assert await work.held()  # asked of the table, which has prolonged it
    renew = table.renew
    table.renew = AsyncMock(side_effect=TablesUnavailable("locked"))
    now = 40.0
    assert await work.held()  # by the clock alone
    now = 44.0
    assert not await work.held()
    table.renew = renew
    now = 60.0
    assert await table.take(
        TurnLease("ada", "they", ("m",)), now, now + LEASE_SECONDS
    )
    assert not await work.held()


@virtually
async def test_statements_of_a_learned_turn() -> None:
    """Three facts that are written at once cost the database four calls beside the putting."""
    a = Worker(School(seconds=1))
    for one in ("m-1", "m-2"):
        await a.put(one)
    await a.hear("m-3")
    assert a.link.calls == [*["put"] * 3, "waiting", "take", "renew", "end"]


@virtually
async def test_poisonous_turn(caplog: pytest.LogCaptureFixture) -> None:
    """A turn that ends the process each time is given up in the end, with a reason."""
    school = School()
    a = Worker(school)
    await a.put("m-1")
    tasks = []
    for _ in range(MOST_ATTEMPTS):
        await asyncio.sleep(60)
        worker = Worker(school)
        tasks.append(asyncio.create_task(worker.resume()))
        await asyncio.sleep(1)
        worker.kill()
    await asyncio.sleep(60)
    await Worker(school).resume()
    assert "turns are not learned: it was begun 8 times in vain" in caplog.text
    assert len(school.lessons) == MOST_ATTEMPTS
    assert school.waiting() == {}


@virtually
async def test_chat_without_end() -> None:
    """A chat that goes on for an hour is learned from, though each message closes a lesson."""
    school = School(seconds=300)
    a = Worker(school, debounce=600)
    tasks: list[asyncio.Task[None]] = []
    for number in range(12):
        await a.answer(60)
        tasks.append(await a.say(f"m-{number}"))
        await asyncio.sleep(240)
    assert school.written
    await asyncio.gather(*tasks)
    assert len(school.written) == len(tasks)


@virtually
async def test_failures_in_a_row() -> None:
    """Delays grow; the task waits for near ones alone, and the eighth failure is the last."""
    school = School(
        trouble=[ModelBusy("the provider is down") for _ in range(9)]
    )
    a = Worker(school)
    await a.hear("m-1")
    (left,) = school.waiting().values()
    assert (left.attempts, int(left.due_at)) == (2, EPOCH + 17 + 60)
    for attempt in range(2, 7):
        await a.resume()
        assert len(school.lessons) == attempt
        await asyncio.sleep(15 * 4 ** (attempt - 1) + 1)
        await a.resume()
    await asyncio.sleep(15 * 4**6)
    await a.resume()
    assert (len(school.lessons), school.waiting()) == (8, {})
    await a.hear("m-1")
    assert len(school.lessons) == 8


@virtually
async def test_spent_quota() -> None:
    """A turn waits for as long as the provider of the model asks for, and that counts once."""
    school = School(
        trouble=[ModelBusy("the quota is spent", retry_after=30_000.0)]
    )
    a = Worker(school)
    await a.hear("m-1")
    (left,) = school.waiting().values()
    assert (left.attempts, int(left.due_at)) == (1, EPOCH + 2 + 30_000)
    await asyncio.sleep(29_000)
    await a.resume()
    assert len(school.lessons) == 1
    await asyncio.sleep(1001)
    await a.resume()
    assert (len(school.lessons), school.waiting()) == (2, {})


@pytest.mark.parametrize("moment", [0.5, 2.0, 2.5, 5.0, 5.2])
@virtually
async def test_cancelled_at_any_moment(moment: float) -> None:
    """Whenever the task is cancelled, nothing is lost and no lease is left behind."""
    school = School()
    a = Worker(school, lambda: 0.05)
    task = await a.say("m-1")
    await asyncio.sleep(moment)
    task.cancel()
    await asyncio.wait({task})
    await asyncio.sleep(1)
    await Worker(school).hear("m-2")
    assert school.written == ["m-1", "m-2"]
    assert school.waiting() == {}
    assert epoch_now() < EPOCH + LEASE_SECONDS
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtually
async def test_table_that_never_answers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A turn that can't be put into the table for minutes is given up, which is told."""
    school = School()
    a = Worker(school)
    a.link.failing.add("all")
    task = await a.say("m-1")
    assert epoch_now() == EPOCH + 1
    with pytest.raises(TablesUnavailable, match="database is locked"):
        await task
    assert epoch_now() > EPOCH + 200
    first, *_, last = [record.message for record in caplog.records]
    assert first == "a turn is not kept yet: database is locked"
    assert last == "a turn is not learned: database is locked"


@virtually
async def test_forgotten_on_its_way_into_the_table() -> None:
    """A turn whose user has everything erased meanwhile does not come into the table after it."""
    school = School()
    a = Worker(school)
    a.link.failing.add("put")
    tasks = [await a.say("m-1"), await a.say("m-2", user_id="bob")]
    a.queue.forget("ada")
    a.link.failing.clear()
    await asyncio.gather(*tasks)
    assert school.written == ["m-2"]


@virtually
async def test_calls_are_counted() -> None:
    """Model calls of the last hour are counted, those of lessons that failed too."""
    a, before = Worker(School()), list[int]()

    async def asking(work: TurnWork) -> None:
        before.append(work.calls_before)
        work.calls += 2
        if work.attempts == 0:
            raise ModelBusy("no")
        work.calls += 1

    for seconds, message in ((0, "m-1"), (0, "m-2"), (3601, "m-3")):
        await asyncio.sleep(seconds)
        await a.queue.learn(await a.put(message), asking)
    assert before == [0, 2, 5, 7, 0, 2]


@virtually
async def test_user_who_wants_no_learning() -> None:
    """A turn of a user who has switched memory off waits, unharmed, until it is on again."""
    school = School()
    a = Worker(school)
    switch = [False]

    async def wanted() -> bool:
        return switch[0]

    await a.queue.learn(await a.put("m-1"), a.teach, wanted)
    (waiting,) = school.waiting().values()
    assert (school.lessons, waiting.attempts) == ([], 0)
    switch[0] = True
    await a.queue.resume("ada", a.teach, wanted)
    assert school.written == ["m-1"]


@virtually
async def test_lesson_gives_way() -> None:
    """A lesson that is closed for a message is no failure, and learns the chat's next turn, too."""
    school = School()
    a = Worker(school)
    first = await a.say("m-1")
    await asyncio.sleep(3)
    answering = asyncio.create_task(a.answer(60))
    await asyncio.sleep(30)
    (left,) = school.waiting().values()
    assert (school.lessons, left.attempts) == ([0], 0)
    assert (school.asked, school.written) == (0, [])
    assert school.database.leases == {}
    second = await a.say("m-2")
    await asyncio.gather(answering, first, second)
    assert (school.lessons, school.asked) == ([0, 0], 1)
    assert (school.written, school.waiting()) == (["m-1", "m-2"], {})
    assert [calls for _, _, calls in school.database.calls] == [1]


@virtually
async def test_machine_that_is_always_busy() -> None:
    """A lesson that has given way for minutes goes through, however many messages come."""
    a = Worker(School(seconds=10))
    learning = await a.say("m-1")
    while not learning.done():
        await a.answer(1)
    assert a.school.written == ["m-1"]
    assert EPOCH + 300 < epoch_now() < EPOCH + 330


@virtually
async def test_users_who_close_each_others_lessons() -> None:
    """A lesson whose user says nothing more is closed for two messages of others, and goes through."""
    a = Worker(School(seconds=10))
    learning = await a.say("m-1")
    while not learning.done():
        await asyncio.sleep(4)
        await a.answer(1)
    assert a.school.written == ["m-1"]
    assert a.school.lessons == [0, 0, 0]
    assert epoch_now() < EPOCH + 300


@virtually
async def test_messages_elsewhere() -> None:
    """Messages to other machines, and to models that serve many at a time, close nothing."""
    a = Worker(School())
    learning = await a.say("m-1")
    await asyncio.sleep(3)
    await a.answer(1, "another")
    await a.answer(1, "")
    await learning
    assert a.school.lessons == [0]
    hosted = Worker(School(machine=""))
    learning = await hosted.say("m-1")
    await asyncio.sleep(3)
    await hosted.answer(1, "")
    await learning
    assert hosted.school.lessons == [0]


@virtually
async def test_killed_while_it_gives_way() -> None:
    """What a process that ends had closed is learned by another, as if nobody had begun it."""
    school = School()
    a = Worker(school)
    learning = await a.say("m-1")
    await asyncio.sleep(3)
    answering = asyncio.create_task(a.answer(60))
    await asyncio.sleep(1)
    a.kill()
    await Worker(school).resume()
    assert (school.lessons, school.written) == ([0, 0], ["m-1"])
    for task in (learning, answering):
        task.cancel()


# --- whatever happens in which order --------------------------------------------------------------

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
    kind=st.sampled_from(
        ["say"] * 6
        + ["kill", "freeze", "cut off", "reload", "cancel", "answer"]
    ),
    slot=st.integers(0, SLOTS - 1),
    where=st.integers(0, USERS * CHATS - 1),
    seconds=st.floats(0.1, 60),
)


class Play:
    """Processes to which things happen, and what came of it."""

    def __init__(self, seconds: float, troubles: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.school = School(
            seconds, [ModelBusy("no") for _ in range(troubles)]
        )
        self.workers = [self.started() for _ in range(SLOTS)]
        self.heard: list[tuple[Worker, str]] = []
        self.tasks: list[asyncio.Task[None]] = []

    def started(self) -> Worker:
        """A process, a second fast or slow at most."""
        return Worker(
            self.school,
            lambda: self.chance.random() / 4,
            self.chance.uniform(-1, 1),
        )

    async def outlet(
        self, worker: Worker, message_id: str, where: int
    ) -> None:
        """A turn ends in a process."""
        self.heard.append((worker, message_id))
        user_id, chat_id = f"user-{where % USERS}", f"chat-{where // USERS}"
        await worker.hear(message_id, user_id=user_id, chat_id=chat_id)

    async def happen(self, one: Happening, number: int) -> None:
        """One of the things that happen, when its time has come."""
        await asyncio.sleep(one.at)
        worker = self.workers[one.slot]
        if one.kind == "say":
            work = self.outlet(worker, f"m-{number:02}", one.where)
            self.tasks.append(asyncio.create_task(work))
        elif one.kind == "kill":
            worker.kill()
            self.workers[one.slot] = self.started()
        elif one.kind == "reload":
            worker.reload()
        elif one.kind == "freeze":
            worker.link.gate.clear()
            await asyncio.sleep(one.seconds)
            worker.link.gate.set()
        elif one.kind == "cut off":
            worker.link.failing.add("all")
            await asyncio.sleep(one.seconds)
            worker.link.failing.clear()
        elif one.kind == "answer":
            self.tasks.append(asyncio.create_task(worker.answer(one.seconds)))
        elif self.tasks:
            self.chance.choice(self.tasks).cancel()

    async def come_to_rest(self) -> None:
        """All that is alive serves all users from time to time."""
        await asyncio.sleep(300)
        self.workers.append(self.started())
        for _ in range(20):
            for worker in self.workers:
                for user in range(USERS):
                    await worker.resume(f"user-{user}")
            await asyncio.sleep(4_000)
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.result()


async def play(
    happenings: list[Happening], seconds: float, troubles: int, seed: int
) -> None:
    """Let it all happen, then wait until nothing waits, and see what came of it."""
    it = Play(seconds, troubles, seed)
    await asyncio.gather(
        *(it.happen(one, number) for number, one in enumerate(happenings))
    )
    await it.come_to_rest()
    assert it.school.database.turns == {}
    # A turn that a process has not put into the table ends with it; nothing else is lost.
    expected = {message_id for _, message_id in it.school.database.done}
    expected |= {
        message for worker, message in it.heard if not worker.link.killed
    }
    assert expected <= set(it.school.written)


@settings(max_examples=60)
@given(
    st.lists(HAPPENINGS, min_size=1, max_size=25),
    st.floats(0.1, 90),
    st.integers(0, 3),
    st.integers(0, 1_000),
)
def test_any_order(
    happenings: list[Happening], seconds: float, troubles: int, seed: int
) -> None:
    """Messages, kills, freezes, outages, reloads and failures in any order, clocks apart."""
    in_virtual_time(play(happenings, seconds, troubles, seed))


# --- which are worked on next, and several as one ----------------------------------------

NOW = 1_000.0


def place(
    name: str, *, at: float = 990, chat: str = "c", **fields: Any
) -> QueuedTurn:
    """A turn queued at a time, due two seconds later if nothing else is said."""
    said = said_turn("", message_id=name, chat_id=chat)
    return replace(QueuedTurn(said, at, at + 2), **fields)


CASES = [
    ((), ""),
    ((place("a", at=999),), ""),
    ((place("a", at=991), place("b", at=990)), "b a"),
    # A chat that goes on is left alone for a while; others are not.
    ((place("a"), place("b", at=999)), ""),
    ((place("a"), place("b", at=999), place("c", chat="d")), "c"),
    ((place("a", at=390), place("b", at=999)), "a b"),
    (tuple(place(name) for name in "abcdefghi"), "a b c d e f g h"),
    ((place("a", chat="d"), place("b", at=980), place("c", at=985)), "b c"),
    # What has failed goes along with what is due, but for what failed often.
    ((place("a", attempts=1, due_at=1_010),), ""),
    ((place("a", attempts=1, due_at=1_010), place("b", at=991)), "a b"),
    ((place("a", attempts=3, due_at=1_010), place("b", at=991)), "b"),
]


@over("turns, taken", CASES)
def test_next_batch(turns: tuple[QueuedTurn, ...], taken: str) -> None:
    """The oldest goes first, and what belongs to it goes with it."""
    for waiting in (turns, turns[::-1]):
        assert list(next_batch(waiting, NOW)) == taken.split()


def test_long_words_without_their_secrets() -> None:
    """Where a long message is cut, no half of a private key is left in it."""
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq2\n" * 90
    text = (
        f"{'a ' * 7600}\n{key}-----END RSA PRIVATE KEY-----\n{'b ' * 500_000}"
    )
    joined = joined_turn([said_turn(text, Utterance("user", text[14_000:]))])
    assert "MIIEpA" not in joined.words + joined.earlier[0].text
    assert len(joined.words) < 16_100
    assert len(joined.earlier[0].text) < 2100


def test_by_model() -> None:
    """Only neighbours that were typed to one model are learned together, in their order."""
    models = [
        ("x", False),
        ("x", False),
        ("x", True),
        ("y", False),
        ("x", False),
    ]
    turns = [
        said_turn(name, chat_model=model, is_direct=is_direct)
        for name, (model, is_direct) in zip("abcde", models, strict=True)
    ]
    grouped = [[one.words for one in together] for together in by_model(turns)]
    assert grouped == [["a", "b"], ["c"], ["d"], ["e"]]


def test_joined() -> None:
    """Messages of one chat are learned as one, dated by the newest, with all that was shown."""
    past = Utterance("assistant", "Hello!")
    first = said_turn("I live in Porto.", past, message_id="m-1")
    second = said_turn(
        "And I have a cat.", past, Utterance("user", "I live in Porto.")
    )
    joined = joined_turn([first, second])
    assert joined.words == "I live in Porto.\n\nAnd I have a cat."
    assert joined.earlier == (past,)
    assert joined.source == second.source
