"""Upkeep: when it runs, what it does to a store, and whatever breaks on the way."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from adaptive.core.errors import TablesUnavailable
from adaptive.core.model import Completion, CompletionRequest, Memory
from adaptive.core.ports import ResponseFormat
from adaptive.core.table_ports import Sources
from adaptive.learn.summaries import summarise_when_due
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.local_only import LocalOnlyBanks
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
from tests.learn.work_in_hand import lesson_room

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
    return next((word for word in (*SHORT, "mail") if word in content), content)


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


class TopicIndexes(MemoryIndexes):
    """Indexes whose vectors tell topics apart."""

    async def current(self, sources: Sources, patience: float) -> MemoryIndex:
        """The store as it stands."""
        return topical_index(await sources.store.read(), lambda one: topic(one.content))


@pytest.fixture(autouse=True)
def _small_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three memories are enough for a summary."""
    monkeypatch.setattr("adaptive.learn.summaries._SMALLEST_CLUSTER", 3)


@dataclass
class Household:
    """A world, and processes that keep it up, each a little later."""

    world: World
    model: Summariser = field(default_factory=Summariser)
    now: float = NOW

    async def run(self, fuse: Fuse | None = None, **parts: Any) -> None:
        """Upkeep after a turn, by another process each time."""
        fuse = fuse or Fuse()
        user = self.world.room(fuse)
        leases = fuse.wired(self.world.leases, TablesUnavailable)
        fresh = {"user_store": user, "indexes": TopicIndexes(), **parts}
        room = lesson_room(user.store, self.model, **fresh)
        await summarise_when_due(room, leases, self.now)


def household(*contents: str, keeps_meta: bool = True, **fields: Any) -> Household:
    """One with these old memories."""
    return Household(World(MetaMemories(*rows(*contents), keeps_meta=keeps_meta)), **fields)


async def test_a_cluster_becomes_one_memory() -> None:
    """The summary stands for its originals with their ids and dates; they are in the archive."""
    home = household(*GUITAR, OTHER)
    home.world.usage = CountedRecalls(**{"plays-0": 3, "owns-2": 1})
    originals = rows(*GUITAR)
    await home.run()
    assert home.world.contents == sorted([SHORT["guitar"], OTHER])
    (row,) = [one for one in home.world.store.rows.values() if one.content == SHORT["guitar"]]
    assert [one["id"] for one in row.meta["summary_of"]] == [one.id for one in originals]
    assert [one["said_at"] for one in row.meta["summary_of"]] == [OLD - 99, OLD - 98, OLD - 97]
    assert row.meta["said_at"] == OLD - 97
    assert [home.world.archive.rows[one.id].memory for one in originals] == originals
    assert {one.summary for one in home.world.archive.rows.values()} == {SHORT["guitar"]}
    assert home.world.usage.rows[row.id] == 4
    assert home.world.audit.told() == [
        ("saved", row.id),
        *(("summarised", one.id) for one in originals),
    ]
    assert (home.world.audit.entries[1].before, home.world.audit.entries[1].after) == (
        GUITAR[0],
        SHORT["guitar"],
    )


async def test_interval() -> None:
    """After a run the next one comes when the interval is over, not a second before."""
    home = household(*GUITAR)
    await home.run()
    home.world.store.rows |= {one.id: one for one in rows(*CAT)}
    home.now += DAY
    await home.run()
    assert len(home.model.requests) == 1
    home.now += 1
    await home.run()
    assert len(home.model.requests) == 2


async def test_banks_for_local_models() -> None:
    """A cluster with memories for local models alone is not sent to another one."""
    home = household(*GUITAR, *CAT)
    for id, row in home.world.store.rows.items():
        if "cat" in row.content:
            home.world.store.rows[id] = replace(row, bank="Health")
    hidden = LocalOnlyBanks.of(hook_settings(local_only_banks="health"))
    await home.run(hidden=hidden)
    assert all("Milo" not in request.user for request in home.model.requests)
    assert len(home.model.requests) == 1


async def test_changed_while_the_model_thinks() -> None:
    """What a lesson changes meanwhile is not overwritten by a summary of what it said before."""
    home = household(*GUITAR)

    async def edit() -> None:
        home.world.store.edit("owns-2", "User owns a Fender guitar.")

    home.model.before_answer = edit
    await home.run()
    assert "User owns a Fender guitar." in home.world.contents
    assert SHORT["guitar"] not in home.world.contents
    assert home.world.archive.rows == {}


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


@pytest.mark.parametrize("choice", ["refuse", "mask"])
async def test_gate(choice: str) -> None:
    """A summary passes the gate before anything is archived, and is archived as it was masked."""
    mails = [f"User's mail for {use} is {use}@example.org." for use in ("work", "home", "bank")]
    home = household(*mails, keeps_meta=False)
    text = "User's mails: work@example.org, home@example.org, bank@example.org for work, home, bank"
    home.model = Summariser(json.dumps({"summary": text, "complete": True}))
    await home.run(settings=hook_settings(None, **{f"{choice}_in_memories": "email"}))
    if choice == "refuse":
        assert (home.world.contents, home.world.archive.rows) == (sorted(mails), {})
    else:
        (content,) = home.world.contents
        assert "work@example.org" not in content
        assert "…@example.org" in content
        assert {one.summary for one in home.world.archive.rows.values()} == {content}
