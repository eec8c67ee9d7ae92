"""Upkeep: when it runs, what it does to a store, and whatever breaks on the way."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from adaptive.errors import ModelBusy, TablesUnavailable
from adaptive.learn.upkeep import UpkeepResources, upkeep_when_due
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Completion, CompletionRequest, Memory
from adaptive.ports import ResponseFormat
from adaptive.privacy.local_only import LocalOnlyBanks
from adaptive.search.index import MemoryIndex
from tests.fakes import hook_settings, memory
from tests.learn.storerooms import (
    DAY,
    NOW,
    CountedRecalls,
    Fuse,
    Killed,
    MetaMemories,
    World,
    topical_index,
)

SETTINGS = hook_settings(
    enable_summarization_task=True,
    summarization_interval=DAY,
    summarization_min_cluster_size=3,
    max_retries=0,
)
OLD = NOW - 100 * DAY
GUITAR = [
    "User plays the acoustic guitar.",
    "User takes guitar lessons on Mondays.",
    "User owns a Yamaha guitar.",
]
CAT = ["User's cat is called Milo.", "User's cat eats dry food.", "User's cat sleeps on the sofa."]
TEA = ["User drinks green tea.", "User buys tea in Porto.", "User owns 3 tea pots."]
OTHER = "User's brother works in Canada."
SHORT = {
    "guitar": "User plays the acoustic Yamaha guitar they own and takes guitar lessons on Mondays.",
    "cat": "User's cat Milo eats dry food, is called Milo, sleeps on the sofa.",
    "tea": "User drinks green tea, buys tea in Porto, owns 3 tea pots.",
}


def rows(*contents: str, changed: int = OLD) -> list[Memory]:
    """Old memories, in order of age."""
    return [
        memory(f"{content.split()[1]}-{at}", content, created_at=changed - 99 + at)
        for at, content in enumerate(contents)
    ]


def topic(content: str) -> str:
    """What a memory is about."""
    return next((word for word in SHORT if word in content), content)


class Summariser:
    """A model that puts the memories it is shown into one; no two of its answers are the same.

    ``answers`` come first; an exception among them is raised.
    """

    key = "summariser"

    def __init__(self, *answers: str | Exception) -> None:
        self.requests: list[CompletionRequest] = []
        self.answers = list(answers)
        self.numbers = itertools.count()
        self.before_answer: Any = None

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """A summary of the topic, each time with more signs that say nothing."""
        self.requests.append(request)
        if self.before_answer:
            await self.before_answer()
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return Completion(answer)
        text = SHORT[topic(request.user)].replace(" ", "  " + "-" * next(self.numbers), 1)
        return Completion(json.dumps({"summary": text, "complete": True}))


@dataclass
class Household:
    """A world, and processes that keep it up, each a little later."""

    world: World
    model: Summariser = field(default_factory=Summariser)
    now: float = NOW
    numbers: Any = field(default_factory=itertools.count)

    def resources(self, fuse: Fuse | None = None, **fields: Any) -> UpkeepResources:
        """What a new process works with."""
        fuse = fuse or Fuse()
        room = self.world.room(fuse)

        async def current() -> MemoryIndex:
            memories = await room.store.read()
            return topical_index(memories, lambda one: topic(one.content))

        leases = fuse.wired(self.world.leases, TablesUnavailable)
        resources = UpkeepResources(room, current, self.model, AnswerFormats(), leases)
        return replace(resources, **fields)

    async def run(
        self, fuse: Fuse | None = None, settings: Any = SETTINGS, **fields: Any
    ) -> Counter[str] | None:
        """Upkeep after a turn, by another process each time."""
        owner = f"process-{next(self.numbers)}"
        resources = self.resources(fuse, **fields)
        return await upkeep_when_due(resources, settings, owner, self.now)


def household(*contents: str, keeps_meta: bool = True, **fields: Any) -> Household:
    """One with these old memories."""
    return Household(World(MetaMemories(*rows(*contents), keeps_meta=keeps_meta)), **fields)


async def test_a_cluster_becomes_one_memory(caplog: pytest.LogCaptureFixture) -> None:
    """The summary stands for its originals with their ids and dates; they are in the archive."""
    home = household(*GUITAR, OTHER)
    home.world.usage = CountedRecalls(**{"plays-0": 3, "owns-2": 1})
    originals = rows(*GUITAR)
    with caplog.at_level(logging.INFO, "adaptive_memory.learn"):
        report = await home.run()
    assert caplog.messages == ["upkeep: clusters 1, originals archived 3, summarised 1"]
    assert home.world.contents == sorted([SHORT["guitar"], OTHER])
    (row,) = [one for one in home.world.store.rows.values() if one.content == SHORT["guitar"]]
    assert [one["id"] for one in row.meta["summary_of"]] == [one.id for one in originals]
    assert [one["said_at"] for one in row.meta["summary_of"]] == [OLD - 99, OLD - 98, OLD - 97]
    assert row.meta["said_at"] == OLD - 97
    assert [home.world.archive.rows[one.id].memory for one in originals] == originals
    assert {one.summary for one in home.world.archive.rows.values()} == {SHORT["guitar"]}
    assert home.world.usage.rows[row.id].count == 4
    assert home.world.audit.told() == [
        ("saved", row.id),
        *(("summarised", one.id) for one in originals),
    ]
    assert (home.world.audit.entries[1].before, home.world.audit.entries[1].after) == (
        GUITAR[0],
        SHORT["guitar"],
    )
    assert report == {"clusters": 1, "originals archived": 3, "summarised": 1}


async def test_interval() -> None:
    """After a run the next one comes when the interval is over, not a second before."""
    home = household(*GUITAR)
    assert await home.run() is not None
    home.now += DAY
    assert await home.run() is None
    home.now += 1
    report = await home.run()
    assert report == {}
    assert len(home.model.requests) == 1


async def test_one_worker_at_a_time() -> None:
    """Of several workers that begin at once one does the work, and the model is asked once."""
    home = household(*GUITAR)
    reports = await asyncio.gather(*(home.run() for _ in range(5)))
    assert sum(report is not None for report in reports) == 1
    assert len(home.model.requests) == 1


async def test_after_a_failure() -> None:
    """A run that left something undone is due again after an hour."""
    home = household(*GUITAR, model=Summariser(ModelBusy("no answer")))
    report = await home.run()
    assert report == {"clusters": 1, "failed: ModelBusy": 1}
    home.now += 3600
    assert await home.run() is None
    home.now += 1
    await home.run()
    assert home.world.contents == [SHORT["guitar"]]


async def test_no_leases() -> None:
    """Where workers can't agree on who does it, nobody does."""
    home = household(*GUITAR)
    assert await home.run(Fuse(at=0)) == {"failed: TablesUnavailable": 1}
    assert home.world.contents == sorted(GUITAR)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"summary": SHORT["guitar"], "complete": False}, "the model could not keep every fact"),
        ({"summary": "", "complete": True}, "the model could not keep every fact"),
        (
            {"summary": "User plays guitar.", "complete": True},
            "a name, number or negation is missing",
        ),
    ],
)
async def test_left_alone(answer: dict[str, Any], reason: str) -> None:
    """A summary that may have lost something changes nothing, and the report says why."""
    home = household(*GUITAR, model=Summariser(json.dumps(answer)))
    report = await home.run()
    assert home.world.contents == sorted(GUITAR)
    assert (home.world.archive.rows, home.world.audit.entries) == ({}, [])
    assert report == {"clusters": 1, f"left alone: {reason}": 1}


async def test_banks_for_local_models() -> None:
    """A cluster with memories for local models alone is not sent to another one."""
    home = household(*GUITAR, *CAT)
    for id, row in home.world.store.rows.items():
        if "cat" in row.content:
            home.world.store.rows[id] = replace(row, bank="Health")
    hidden = LocalOnlyBanks.of(hook_settings(local_only_banks="health"))
    report = await home.run(hidden=hidden)
    assert report and report["left alone: for local models only"] == 1
    assert all("Milo" not in request.user for request in home.model.requests)
    assert len(home.model.requests) == 1


async def test_few_clusters_per_run() -> None:
    """A run asks the model three times at most, and those left wait for no failing one."""
    contents: list[str] = []
    for name in ("An", "Be", "Ca", "Do", "Ev"):
        contents += [f"User met {name}{end}." for end in ("a", "e", "o", "y")]
    home = household(*contents, model=Summariser(*["no JSON"] * 99))
    asked: set[str] = set()

    async def current() -> MemoryIndex:
        return topical_index(await home.world.store.read(), lambda one: one.content[9:11])

    for _ in range(30):  # which clusters a run takes up is left to chance
        before = len(home.model.requests)
        await home.run(current=current)
        assert len(home.model.requests) - before == 3
        asked |= {request.user for request in home.model.requests}
        home.now += DAY + 1
    assert len(asked) == 5


async def test_one_failing_cluster_spoils_no_other() -> None:
    """Where the model fails for one cluster the others are summarised."""
    home = household(*GUITAR, *CAT, *TEA, model=Summariser("no JSON"))
    report = await home.run()
    assert report and report["summarised"] == 2
    assert len(home.world.contents) == 3 + 2


async def test_memories_switched_off() -> None:
    """When the host allows no memories meanwhile the run ends at once."""

    async def close() -> None:
        home.world.store.refusal = "memories are off"

    home = household(*GUITAR, *CAT)
    home.model.before_answer = close
    report = await home.run()
    assert report and report["failed: MemoryUnavailable"] == 1
    assert len(home.model.requests) == 1


async def test_changed_while_the_model_thinks() -> None:
    """What a lesson changes meanwhile is not overwritten by a summary of what it said before."""
    home = household(*GUITAR)

    async def edit() -> None:
        home.world.store.edit("owns-2", "User owns a Fender guitar.")

    home.model.before_answer = edit
    report = await home.run()
    assert "User owns a Fender guitar." in home.world.contents
    assert SHORT["guitar"] not in home.world.contents
    assert home.world.archive.rows == {}
    assert report and report["left alone: a memory was changed meanwhile"] == 1


async def test_lessons_are_kept_out_while_it_writes() -> None:
    """The store is changed within the lock of the lessons, which is free while the model thinks."""
    home = household(*GUITAR)
    lock = asyncio.Lock()
    held: list[bool] = []

    @asynccontextmanager
    async def writing() -> AsyncGenerator[None]:
        async with lock:
            yield

    async def look() -> None:
        held.append(lock.locked())

    home.model.before_answer = look
    add = home.world.store.add

    async def watched(*given: Any) -> Memory:
        held.append(lock.locked())
        return await add(*given)

    home.world.store.add = watched  # type: ignore[method-assign]
    await home.run(writing=writing)
    assert held == [False, True]
    assert not lock.locked()


@pytest.mark.parametrize("keeps_meta", [True, False], ids=["0.10", "0.9"])
async def test_summaries_are_not_summarised(keeps_meta: bool) -> None:
    """Neither a summary nor what the user has brought back is made into something shorter."""
    home = household(*GUITAR, keeps_meta=keeps_meta)
    await home.run()
    (summary,) = home.world.store.rows.values()
    old = replace(summary, created_at=OLD, updated_at=OLD)
    home.world.store.rows = {one.id: one for one in [old, *rows(*GUITAR[:2])]}
    home.world.archive.rows = {
        id: one for id, one in home.world.archive.rows.items() if id == "owns-2"
    }
    home.now += 2 * DAY
    assert await home.run() == {}
    home.world.store.rows = {
        one.id: replace(one, meta={"restored_from": f"{one.id}-before"}) for one in rows(*CAT)
    }
    home.now += 2 * DAY
    assert await home.run() == {}


class Breaking(MetaMemories):
    """A store of which one row can't be deleted."""

    async def delete(self, memory: Memory) -> None:
        """Fails for one of them."""
        self._check(memory.id)
        await super().delete(memory)


async def test_original_that_can_not_be_deleted() -> None:
    """An original that stays beside its summary is deleted by a later run, without the model."""
    home = Household(World(Breaking(*rows(*GUITAR), broken=["takes-1"])))
    report = await home.run()
    assert home.world.contents == sorted([SHORT["guitar"], GUITAR[1]])
    assert report and report["failed: originals kept"] == 1
    home.world.store.broken = frozenset()
    home.now += DAY
    report = await home.run()
    assert home.world.contents == [SHORT["guitar"]]
    assert report == {"originals archived": 1}
    assert len(home.model.requests) == 1
    assert home.world.audit.told()[-1] == ("summarised", "takes-1")


SUMMARIES = {"guitar": GUITAR, "cat": CAT}


def assert_nothing_lost(world: World, where: str) -> None:
    """Each fact stands in the store: itself, or archived with its summary in its place."""
    contents = set(world.contents)
    for name, originals in SUMMARIES.items():
        stands = any(topic(one) == name and one not in originals for one in contents)
        for original in originals:
            archived = original in world.archive.contents
            assert original in contents or (stands and archived), where
    assert OTHER in contents, where


CALLS = 40  # at most, that a run makes with two clusters


async def test_broken_at_any_call() -> None:
    """Whichever call breaks on whatever release, no fact is lost, and later runs double none."""
    either, fuse = [False, True], Fuse()
    for at, after, kills, keeps_meta in itertools.product(range(CALLS), either, either, either):
        home = household(*GUITAR, *CAT, OTHER, keeps_meta=keeps_meta)
        fuse = Fuse(at, after, kills)
        try:
            await home.run(fuse)
        except Killed:
            assert kills
        where = f"{fuse.calls} broke at its end"
        assert_nothing_lost(home.world, where)
        for _ in range(2):
            home.now += DAY + 3600
            await home.run()
            assert_nothing_lost(home.world, where)
        topics = sorted(topic(content) for content in home.world.contents)
        assert topics == sorted([OTHER, "cat", "guitar"]), where
        assert not {*GUITAR, *CAT} & set(home.world.contents), where
        assert home.world.archive.contents == {*GUITAR, *CAT}, where
    assert not fuse.blown


async def test_broken_twice() -> None:
    """Two breaks one after the other, at any two calls, lose and double nothing either."""
    for first, second in itertools.product(range(2, 22, 3), range(2, 14, 2)):
        home = household(*GUITAR, OTHER)
        for at in (first, second):
            try:
                await home.run(Fuse(at, after=bool(at % 2), kills=True))
            except Killed:
                home.now += DAY
        home.now += 2 * DAY
        await home.run()
        assert sorted(map(topic, home.world.contents)) == sorted([OTHER, "guitar"]), (first, second)
        assert home.world.archive.contents == set(GUITAR)


async def test_lease_of_a_killed_worker() -> None:
    """The lease of a run that was killed ends by itself within the hour."""
    home = household(*GUITAR)
    with pytest.raises(Killed):
        await home.run(Fuse(at=5, kills=True))
    home.now += 3600
    assert await home.run() is None
    home.now += 1
    assert await home.run() is not None
    assert len(home.world.contents) == 1


async def test_cancelled_while_the_model_thinks() -> None:
    """A cancelled run passes the cancellation on and has changed nothing."""
    home = household(*GUITAR)
    started = asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    home.model.before_answer = wait
    task = asyncio.create_task(home.run())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert home.world.contents == sorted(GUITAR)


@pytest.mark.parametrize("choice", ["refuse", "mask"])
async def test_gate(choice: str) -> None:
    """A summary passes the gate before anything is archived, and is archived as it was masked."""
    mails = [f"User's mail for {use} is {use}@example.org." for use in ("work", "home", "bank")]
    home = household(*mails, keeps_meta=False)
    text = "User's mails: work@example.org, home@example.org, bank@example.org for work, home, bank"
    home.model = Summariser(json.dumps({"summary": text, "complete": True}))

    async def current() -> MemoryIndex:
        return topical_index(await home.world.store.read(), lambda _: "mail")

    settings = SETTINGS.model_copy(update={f"{choice}_in_memories": "email"})
    report = await home.run(settings=settings, current=current)
    if choice == "refuse":
        reason = "left alone: it holds personal data that is not to be stored: email"
        assert report == {"clusters": 1, reason: 1}
        assert (home.world.contents, home.world.archive.rows) == (sorted(mails), {})
    else:
        (content,) = home.world.contents
        assert "work@example.org" not in content
        assert "…@example.org" in content
        assert {one.summary for one in home.world.archive.rows.values()} == {content}
