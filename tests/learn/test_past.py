"""Learning from past chats: the run, its turns, and what it may change."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from adaptive.control.turn import rememberable_messages
from adaptive.core.model import Draft, Memory, Proposal, Turn
from adaptive.core.providers import (
    Completion,
    CompletionRequest,
    ResponseFormat,
)
from adaptive.learn.lesson import learn_turn
from adaptive.learn.outdated import without_changes_of_later
from adaptive.learn.past import PastLearning, PastRun
from adaptive.llm.endpoints import chat_body
from adaptive.memory.erasure import period_of
from adaptive.memory.tables import ValueTable
from adaptive.memory.turn_table import QueuedTurn, TurnTable, next_batch
from tests.e2e.driver.extraction import CHECK
from tests.e2e.driver.made_up_lives import (
    Saying,
    extraction_reply,
    facts_in,
    made_up_sayings,
)
from tests.fakes import SOURCE, ShelvedVectors, memory, turn
from tests.history.world import StoredChats, chat_of
from tests.learn.test_learning import House, Page
from tests.learn.world import MORNING, Work, World, index_of, reply
from tests.minilm import MINILM

DAY = 24 * 3600
SUMMER_2024 = 1_720_000_000


class FactModel:
    """A ``Completer`` that finds the facts of made-up lives; ``broken_at`` calls it dies."""

    key = "host:scripted"

    def __init__(self, broken_at: int = -1) -> None:
        self.broken_at = broken_at
        self.broken = asyncio.Event()
        self.calls = 0
        self.requests: list[CompletionRequest] = []

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """The facts of the newest message; what was said later has ended none."""
        self.calls += 1
        self.requests.append(request)
        if self.calls == self.broken_at:
            # As if the process had been killed: nothing goes on after it.
            self.broken.set()
            await asyncio.Event().wait()
        if request.system.startswith(CHECK):
            return Completion(json.dumps({"outdated": []}))
        body = chat_body("scripted", request, response_format)
        return Completion(json.dumps(extraction_reply(body)))


class PastHouse(House):
    """A world whose user has chats; each ``process`` is one of the host's."""

    def __init__(self, chats: dict[str, list[dict[str, Any]]]) -> None:
        super().__init__()
        self.pending: Any = TurnTable(self.entries, self.leases)
        self.chats = StoredChats(self.entries, **chats)
        self.model: Any = FactModel()
        self.embedder: Any = MINILM
        self.page = Page(self)
        self.page.is_served = True

    def process(self) -> PastLearning:
        """A process that has just begun."""
        return PastLearning(
            learning=self.learning(),
            chats=self.chats,
            runs=self.runs,
            rememberable=rememberable_messages,
            behind=self.begin,
        )

    def begin(self, work: Coroutine[None, None, None], _: str) -> None:
        """Run it behind."""
        self.tasks.add(asyncio.create_task(work))

    async def rest(self) -> None:
        """Wait until nothing goes on."""
        while self.tasks:
            await self.tasks.pop()

    async def kill(self) -> None:
        """End the process; its leases end a while later."""
        await self.model.broken.wait()
        self.model.broken.clear()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.tasks.clear()
        self.leases.rows.clear()

    @property
    def runs(self) -> ValueTable[PastRun]:
        """The run of each user."""
        return ValueTable(self.entries, "past_run", PastRun, PastRun())

    @property
    def facts(self) -> dict[int, Memory]:
        """What is remembered, by the number of each fact."""
        return {
            number: row
            for row in self.store.rows.values()
            for number, _ in facts_in(row.content)
        }


def told_chats(
    sayings: list[Saying], start: int = SUMMER_2024
) -> dict[str, list[dict[str, Any]]]:
    """A chat a week with two messages each, one a day, each with an answer."""
    chats: dict[str, list[dict[str, Any]]] = {}
    for at in range(0, len(sayings), 2):
        chat_id = f"c{at:03}"
        texts = [
            text
            for saying in sayings[at : at + 2]
            for text in (saying.words, "I see.")
        ]
        messages = chat_of(chat_id, *texts, start=start + at // 2 * 7 * DAY)
        for number, message in enumerate(messages):
            message["timestamp"] += number // 2 * DAY
        chats[chat_id] = messages
    return chats


def last_said(
    sayings: list[Saying], chats: dict[str, list[dict[str, Any]]]
) -> dict[int, tuple[str, int]]:
    """What each fact is in the end, and when it was said so."""
    stamps = [
        message["timestamp"]
        for messages in chats.values()
        for message in messages
        if message["role"] == "user"
    ]
    return {
        fact.number: (fact.told, stamp)
        for saying, stamp in zip(sayings, stamps, strict=True)
        for fact in saying.facts
    }


async def test_all_is_learned_once_with_its_dates() -> None:
    """Two killed processes later each fact stands once, as it was said last, with that date."""
    sayings = made_up_sayings(0, 24, seed=5)
    chats = told_chats(sayings)
    house = PastHouse(chats)
    house.model.broken_at = 4
    told = await house.process().start(house.page, None)
    assert told.startswith("Learning from 12 past chats")
    await house.kill()
    assert len(house.facts) > 0
    assert "learning from past chats" in await house.process().progress("ada")
    house.model.broken_at = house.model.calls + 5
    house.process().take_up(house.page)
    await house.kill()
    house.process().take_up(house.page)
    await house.rest()
    expected = last_said(sayings, chats)
    assert {number: row.content for number, row in house.facts.items()} == {
        number: told for number, (told, _) in expected.items()
    }
    assert len(house.store.rows) == len(expected)
    wrong = [
        row.content
        for number, row in house.facts.items()
        # A fact that is said again is known by then, or by now.
        if row.said_at
        not in {
            message["timestamp"]
            for messages in chats.values()
            for message in messages
            if str(number) in message["content"]
        }
    ]
    assert wrong == []
    assert house.page.shown[-1].startswith("Learned from past chats: 12")


async def test_two_processes_learn_once() -> None:
    """Where two processes are at the same run each message is learned from once all the same."""
    sayings = made_up_sayings(0, 8, seed=5)
    chats = told_chats(sayings)
    house = PastHouse(chats)
    await house.process().start(house.page, None)
    house.process().take_up(house.page)
    await house.rest()
    expected = last_said(sayings, chats)
    assert sorted(row.content for row in house.store.rows.values()) == sorted(
        told for told, _ in expected.values()
    )
    asked = [one.user for one in house.model.requests if one.earlier]
    assert len(asked) == len({*asked}) == len(sayings)
    assert await house.process().progress("ada") == ""


async def test_last_chat_is_queued_by_another() -> None:
    """A run is not over while another process has just let the last chat of it wait."""
    sayings = made_up_sayings(0, 2, seed=2)
    house = PastHouse(told_chats(sayings))
    process, other = house.process(), house.process()
    unlearned = house.chats.unlearned
    queries = 0

    async def queued_before(*asked: Any) -> Any:
        """Have the other one queue what is left before the run looks what that is."""
        nonlocal queries
        queries += 1
        if queries == 3:  # the first two are those of its beginning
            [chat] = await unlearned(*asked)
            run = await house.runs.read("ada", "")
            await other._queue(house.page.hook, chat, run, {"": True})
        return await unlearned(*asked)

    house.chats.unlearned = queued_before  # pyright: ignore[reportAttributeAccessIssue]
    await process.start(house.page, None)
    await house.rest()
    assert {*house.facts} == {
        fact.number for saying in sayings for fact in saying.facts
    }


async def test_run_that_is_begun_while_another_ends() -> None:
    """A run that has come to its end leaves one alone that was begun in its place."""
    house = PastHouse(told_chats(made_up_sayings(0, 2, seed=2)))
    process = house.process()
    unlearned = house.chats.unlearned

    async def begun_meanwhile(*asked: Any) -> Any:
        """Begin another run while the one that is over looks what is left."""
        left = await unlearned(*asked)
        if not left:
            house.chats.unlearned = unlearned  # pyright: ignore[reportAttributeAccessIssue]
            later = chat_of("later", "I have 7 cats.", "I see.", start=1000)
            house.chats.rows["later"] = later
            await house.process().start(house.page, None)
        return left

    house.chats.unlearned = begun_meanwhile  # pyright: ignore[reportAttributeAccessIssue]
    await process.start(house.page, None)
    await house.rest()
    assert await unlearned("ada", 0, 10**12) == []


async def test_one_undo_takes_all_back() -> None:
    """A run is one step of the log, and taking it back leaves what was known before."""
    house = PastHouse(told_chats(made_up_sayings(0, 8, seed=2)))
    known = memory("known", "User likes tea.")
    house.store.rows[known.id] = known
    await house.process().start(house.page, None)
    await house.rest()
    ada = house.memory()
    steps = await ada.steps()
    assert len(steps) == 1
    assert len(steps[0].changes) == len(house.facts) > 4
    await ada.undo(steps[0])
    assert house.contents == [known.content]
    # Nothing is left to learn from: what was taken back does not come again.
    assert "Nothing was found" in await house.process().start(house.page, None)


async def test_what_is_left_out() -> None:
    """Commands, what was said while off, and models without memory teach nothing, ever."""
    facts = made_up_sayings(0, 3, seed=1)
    said = [one.words for one in facts]
    texts = ["/memory off", "Off.", said[0], "I see.", "/memory on", "On."]
    chats = {
        "off": chat_of("off", *texts, said[1], "I see."),
        "unserved": chat_of("unserved", said[2], "I see."),
    }
    chats["unserved"][1]["model_id"] = "without"
    house = PastHouse(chats)
    served = house.page.typed_to

    async def typed_to(model_id: str, *, is_direct: bool) -> Any:
        """A hook of a model, of which one has memory switched off."""
        page = await served(model_id, is_direct=is_direct)
        page = Page(house)
        page.is_served = model_id != "without"
        return page

    house.page.typed_to = typed_to
    await house.process().start(house.page, None)
    await house.rest()
    assert [row.content for row in house.facts.values()] == [
        fact.told for fact in facts[1].facts
    ]
    assert await house.chats.unlearned("ada", 0, 10**12) == []


async def test_years_and_stopping() -> None:
    """A run over a year leaves the others; one that is stopped leaves the rest for another."""
    sayings = made_up_sayings(0, 60, seed=3)
    house = PastHouse(told_chats(sayings))
    first = period_of("2024", UTC)
    begun = await house.process().start(house.page, 2024)
    assert "from 26 past chats" in begun
    await house.rest()
    assert await house.chats.unlearned("ada", *first) == []
    left = await house.chats.unlearned("ada", 0, 10**12)
    assert left
    process = house.process()
    house.model.broken_at = house.model.calls + 2
    await process.start(house.page, None)
    await house.model.broken.wait()
    learned = len(left) - len(await house.chats.unlearned("ada", 0, 10**12))
    # The one that is at work is not learned yet.
    told = await process.progress("ada")
    assert told.endswith(f": {learned - 1} of {len(left)}")
    assert await process.stop("ada")
    assert not await process.stop("ada")
    await house.kill()
    assert await process.progress("ada") == ""
    assert await house.chats.unlearned("ada", 0, 10**12)
    assert await house.pending.waiting("ada", 0) is not None


async def test_what_is_said_meanwhile() -> None:
    """What is said after a run has begun is learned as it comes; what nobody answered is not."""
    sayings = made_up_sayings(0, 6, seed=2)
    house = PastHouse(told_chats(sayings[:4]))
    unanswered = chat_of("lost", sayings[4].words, start=SUMMER_2024)
    house.chats.rows["lost"] = unanswered
    await house.process().start(house.page, None)
    live = chat_of("live", sayings[5].words, "I see.", start=int(time.time()))
    house.chats.rows["live"] = live
    await house.rest()
    assert {*house.facts} == {
        fact.number for saying in sayings[:4] for fact in saying.facts
    }
    (left,) = await house.chats.unlearned("ada", 0, 10**12)
    assert left.id == "live"


async def test_stopped_while_turns_are_put() -> None:
    """Nothing waits for ever of a run that ends while it reads a chat; what others learn goes on."""
    house = PastHouse(told_chats(made_up_sayings(0, 4, seed=2)))
    process = house.process()
    read = house.chats.messages

    async def stopped_first(*asked: Any, **how: Any) -> Any:
        """Stop the run before a chat's words are there."""
        await process.stop("ada")
        return await read(*asked, **how)

    house.chats.messages = stopped_first  # pyright: ignore[reportAttributeAccessIssue]
    await house.leases.acquire("turns:ada", time.time(), 60, "a live lesson")
    await process.start(house.page, None)
    await house.rest()
    assert (await house.pending.waiting("ada", 0)).turns == ()
    assert house.facts == {}


async def test_long_chats_wait_in_parts() -> None:
    """Of a very long chat no more waits at a time than whoever looks at the queue may read."""
    texts = [text for at in range(230) for text in (f"Hello, {at}!", "Hi.")]
    house = PastHouse({"long": chat_of("long", *texts, start=SUMMER_2024)})
    put = house.pending.put
    waiting: list[int] = []

    async def noted(*turns: QueuedTurn) -> None:
        """Note how many are put at a time."""
        waiting.append(len(turns))
        await put(*turns)

    object.__setattr__(house.pending, "put", noted)
    await house.process().start(house.page, None)
    await house.rest()
    assert waiting == [100, 100, 30]
    assert await house.chats.unlearned("ada", 0, 10**12) == []
    # Nor are they read by whoever counts the calls of the last hour, but the command itself.
    counted = await house.entries.read("done", "ada", since=1)
    assert [entry.key for entry in counted] == [house.page.question_id]


async def test_estimate() -> None:
    """Before it begins its user is told what it takes; what holds no fact costs nothing."""
    house = PastHouse(told_chats(made_up_sayings(0, 8, seed=2)))
    told = await house.process().estimate(house.page, None)
    assert told.startswith("4 chats, 8 messages of yours, about 8 calls and ")
    assert "tokens of *scripted*" in told
    assert await house.process().estimate(house.page, 1999) == (
        "Nothing was found."
    )


def past(words: str = "", said_at: int = SUMMER_2024) -> Turn:
    """A turn of a past chat."""
    blank = turn(words)
    source = replace(SOURCE, said_at=said_at, step="past-1")
    return replace(blank, source=source)


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        ("User lives in Rome.", "UPDATE", "superseded"),
        ("User lives in Lyon with Ada.", "NEW", "open"),
    ],
)
def test_later_memories_stay(content: str, kind: str, status: str) -> None:
    """What was said earlier changes no memory of what was said later; more of it is added."""
    later = memory(
        "a", "User lives in Lyon.", meta={"said_at": SUMMER_2024 + DAY}
    )
    earlier = memory("b", "User works in Lyon.", created_at=SUMMER_2024 - DAY)
    index = index_of([later, earlier], {}, np.zeros((0, 1), np.float32))
    ends = Proposal("END", "a", draft=Draft("User lived in Lyon."))
    update = Proposal("UPDATE", "a", draft=Draft(content))
    allowed = Proposal("UPDATE", "b", draft=Draft("User works in Rome."))
    results = without_changes_of_later([update, ends, allowed], index, past())
    assert [(one.kind, one.status) for one in results] == [
        (kind, status),
        ("END", "superseded"),
        ("UPDATE", "open"),
    ]


def test_days_are_learned_apart() -> None:
    """Messages of one day and no longer than a model is shown are learned together."""
    morning = int(datetime(2024, 7, 1, 8, tzinfo=UTC).timestamp())

    def queued(at: int, words: str = "words") -> QueuedTurn:
        """A turn of a past chat."""
        one = past(words, morning + at)
        source = replace(one.source, message_id=f"m{at}")
        return QueuedTurn(replace(one, source=source), at, 0)

    turns = [queued(0), queued(60), queued(DAY), queued(DAY + 60)]
    assert next_batch(turns, time.time()) == ("m0", "m60")
    long = [queued(0, "long " * 1000), queued(60, "long " * 1000)]
    assert next_batch(long, time.time()) == ("m0",)


@pytest.mark.parametrize("has_ended", [True, False])
async def test_what_has_ended_since(has_ended: bool) -> None:
    """A past fact that ended with what was said later is not saved; the later one stays."""
    later = memory(
        "home",
        "User lives in Lyon.",
        tags=("home",),
        created_at=SUMMER_2024 + DAY,
    )
    fact = {
        "operation": "NEW",
        "content": "User lives in Rome.",
        "evidence": "I live in Rome",
        "tags": ["home"],
    }
    item = {"id": "1", "because": "User lives in Lyon", "now": ""}
    outdated = {"outdated": [item] if has_ended else []}
    world = World(later, script=[reply(fact), json.dumps(outdated)])
    world.embedder = MINILM  # pyright: ignore[reportAttributeAccessIssue]
    room = world.resources()
    await room.indexes.warm_up(MINILM, ShelvedVectors())
    await room.indexes.current(room.sources, patience=5)
    lesson = await learn_turn(room, past("I live in Rome."), MORNING, Work())
    assert "New: User lives in Lyon." in world.model.requests[1].user
    assert "#1 User lives in Rome." in world.model.requests[1].user
    kept = [later.content]
    assert world.contents == kept + ["User lives in Rome."] * (not has_ended)
    assert lesson.has_failures is False
