"""Summaries: when they are made, of which memories, what must not be lost, whatever breaks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.core.embedding import Sources
from adaptive.core.model import AdaptiveMemoryError, Memory
from adaptive.core.providers import (
    Completion,
    CompletionRequest,
    ResponseFormat,
)
from adaptive.learn.summaries import (
    LARGEST_CLUSTER,
    is_faithful,
    related_clusters,
    summarise_when_due,
)
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.merged import HiddenMemories
from tests.fakes import hook_settings, memory
from tests.learn.world import (
    DAY,
    NOW,
    Fuse,
    Killed,
    World,
    fuses,
    topical_index,
)
from tests.rates import over, rate

OLD = NOW - 100 * DAY
GUITAR = [
    "User plays the acoustic guitar.",
    "User takes guitar lessons on Mondays.",
    "User owns a Yamaha guitar.",
    "User tunes the guitar daily.",
]
CAT = [
    "User's cat is called Milo.",
    "User's cat eats dry food.",
    "User's cat sleeps on the sofa.",
    "User's cat likes Anna.",
]
OTHER = "User's brother works in Canada."
SHORT = {
    "guitar": "User tunes daily and plays the acoustic Yamaha guitar they own, takes lessons on "
    "Mondays.",
    "cat": "User's cat Milo eats dry food, is called Milo, likes Anna, sleeps on the sofa.",
}


def rows(*contents: str) -> list[Memory]:
    """Old memories, in order of age."""
    return [
        memory(f"{content.split()[1]}-{at}", content, created_at=OLD - 99 + at)
        for at, content in enumerate(contents)
    ]


def topic(content: str) -> str:
    """What a memory is about."""
    return next(
        (word for word in (*SHORT, "mail") if word in content), content
    )


class Summariser:
    """A model that puts the memories it is shown into one; no two of its answers are the same.

    ``summary`` is one that it writes in place of its own.
    """

    key = "summariser"

    def __init__(self, summary: str = "") -> None:
        self.requests: list[CompletionRequest] = []
        self.summary, self.numbers = summary, itertools.count()
        self.is_complete = True
        self.before_answer: Callable[[], object] = lambda: None

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        self.requests.append(request)
        self.before_answer()
        signs = f"  {'-' * next(self.numbers)}"  # that say nothing
        text = self.summary or SHORT[topic(request.user)].replace(
            " ", signs, 1
        )
        return Completion(
            json.dumps({"summary": text, "complete": self.is_complete})
        )


class TopicIndexes(MemoryIndexes):
    """Indexes whose vectors tell topics apart."""

    async def current(self, sources: Sources, patience: float) -> MemoryIndex:
        """The store as it stands."""
        return topical_index(
            await sources.store.read(), lambda one: topic(one.content)
        )


class Household(World):
    """A world, and processes that keep it up, each a little later."""

    def __init__(
        self, *contents: str, summary: str = "", **store: Any
    ) -> None:
        super().__init__(*rows(*contents), **store)
        self.summariser, self.now = Summariser(summary), NOW

    async def run(self, fuse: Fuse | None = None, **parts: Any) -> None:
        """Upkeep after a turn, by another process each time."""
        fuse = fuse or Fuse()
        parts = {
            "completer": self.summariser,
            "indexes": TopicIndexes(),
            **parts,
        }
        await summarise_when_due(
            self.resources(fuse, **parts), fuse.wired(self.leases), self.now
        )


async def test_a_cluster_becomes_one_memory() -> None:
    """The summary stands for its originals with the last of their dates; they are in the archive."""
    home = Household(*GUITAR, OTHER)
    originals = rows(*GUITAR)
    await home.run()
    assert home.contents == sorted([SHORT["guitar"], OTHER])
    (row,) = [
        one
        for one in home.store.rows.values()
        if one.content == SHORT["guitar"]
    ]
    assert row.meta["said_at"] == OLD - 96
    assert [home.archive.rows[one.id].memory for one in originals] == originals
    assert {one.summary_id for one in home.archive.rows.values()} == {row.id}
    gone = [("summarised", one.id) for one in originals]
    assert home.audit.told() == [("saved", row.id), *gone]
    told = home.audit.entries[1]
    assert (told.before, told.after) == (originals[0], "")
    assert told.step == home.audit.entries[0].step == row.id


async def test_interval() -> None:
    """After a run the next one comes when the interval is over, not a second before."""
    home = Household(*GUITAR)
    await home.run()
    home.store.rows |= {one.id: one for one in rows(*CAT)}
    home.now += DAY
    await home.run()
    assert len(home.summariser.requests) == 1
    home.now += 1
    await home.run()
    assert len(home.summariser.requests) == 2


async def test_banks_for_local_models() -> None:
    """A cluster with memories for local models alone is not sent to another one."""
    home = Household(*GUITAR, *CAT)
    for id, row in home.store.rows.items():
        if "cat" in row.content:
            home.store.rows[id] = replace(row, bank="Health")
    hidden = HiddenMemories.of(
        hook_settings(
            local_only_banks="health",
            allowed_memory_banks="General, Personal, Work, Health",
        )
    )
    await home.run(hidden=hidden)
    assert all(
        "Milo" not in request.user for request in home.summariser.requests
    )
    assert len(home.summariser.requests) == 1


async def test_changed_while_the_model_thinks() -> None:
    """What a lesson changes meanwhile is not overwritten by a summary of what it said before."""
    home = Household(*GUITAR)

    fender = "User owns a Fender guitar."
    home.summariser.before_answer = lambda: home.store.edit("owns-2", fender)
    await home.run()
    assert fender in home.contents
    assert SHORT["guitar"] not in home.contents
    assert home.archive.rows == {}


SUMMARIES = {"guitar": GUITAR, "cat": CAT}


def assert_nothing_lost(world: World, where: str) -> None:
    """Each fact stands in the store: itself, or archived with its summary in its place."""
    contents = set(world.contents)
    for name, originals in SUMMARIES.items():
        stands = any(
            topic(one) == name and one not in originals for one in contents
        )
        for original in originals:
            archived = original in world.archive.contents
            assert original in contents or (stands and archived), where
    assert OTHER in contents, where


@pytest.mark.parametrize("keeps_meta", [True, False])
async def test_broken_at_any_call(*, keeps_meta: bool) -> None:
    """Whichever call breaks on whatever release, no fact is lost, and later runs double none."""
    for fuse in fuses(44):
        home = Household(*GUITAR, *CAT, OTHER, keeps_meta=keeps_meta)
        try:
            await home.run(fuse)
        except (Killed, AdaptiveMemoryError):
            assert fuse.kills or fuse.blown
        where = f"{fuse.calls} broke at its end"
        assert_nothing_lost(home, where)
        for _ in range(2):
            home.now += DAY + 3600
            await home.run()
            assert_nothing_lost(home, where)
        topics = sorted(topic(content) for content in home.contents)
        assert topics == sorted([OTHER, "cat", "guitar"]), where
        assert not {*GUITAR, *CAT} & set(home.contents), where
        assert home.archive.contents == {*GUITAR, *CAT}, where


@pytest.mark.parametrize("choice", ["refuse", "mask"])
async def test_gate(choice: str) -> None:
    """A summary passes the gate before anything is archived, and is archived as it was masked."""
    mails = [
        f"User's mail for {use} is {use}@example.org."
        for use in ("work", "home", "bank", "tax")
    ]
    text = (
        "User's mail for work is work@example.org, for home home@example.org, for the bank "
        "bank@example.org, for tax tax@example.org."
    )
    home = Household(*mails, keeps_meta=False, summary=text)
    await home.run(
        settings=hook_settings(None, **{f"{choice}_in_memories": "email"})
    )
    if choice == "refuse":
        assert (home.contents, home.archive.rows) == (sorted(mails), {})
    else:
        (content,) = home.contents
        assert "work@example.org" not in content
        assert "for work is …" in content
        assert {
            one.summary_id for one in home.archive.rows.values()
        } == home.store.rows.keys()


# --- one summary ----------------------------------------------------------------------------------

GOOD = "User's cat Milo eats dry food from Royal Canin and goes to the vet Dr. Peters every year."


async def test_incomplete() -> None:
    """A summary that its model does not call complete takes nobody's place."""
    home = Household(*GUITAR)
    home.summariser.is_complete = False
    await home.run()
    assert home.contents == sorted(GUITAR)


CATS = [
    "User's cat is called Milo.",
    "User takes the cat to the vet Dr. Peters every year.",
    "User's cat eats dry food from Royal Canin.",
]
CLAIMS = [
    (CATS, GOOD, True),
    (["User likes Cafe\u0301 Luz."] * 2, "User likes Café Luz.", True),
    (["User has 2 sons."] * 2, "User has 3 sons.", False),
    (["User doesn't eat meat."] * 2, "User eats meat.", False),
    (CATS, GOOD.replace("Milo ", ""), False),
    (CATS, GOOD.replace("year", "May"), False),
    (["User hikes.", "User collects rare stamps."], "User hikes.", False),
    (["User has a cat."], "User has a cat.", False),
    (CATS, "", False),
]


def believed(labelled: dict[str, Any]) -> bool:
    """Whether a summary may stand for its originals."""
    cluster = [
        memory(str(at), text) for at, text in enumerate(labelled["memories"])
    ]
    return is_faithful(labelled["summary"], cluster)


@over("originals, summary, faithful", CLAIMS)
def test_faithful(
    originals: list[str], summary: str, *, faithful: bool
) -> None:
    """A summary stands for its originals only with every number, name and negation, and no more."""
    assert believed({"memories": originals, "summary": summary}) is faithful


def test_labelled_summaries() -> None:
    """Of labelled summaries those with a loss are refused, and most faithful ones are believed."""
    sets = json.loads((Path(__file__).parent / "summaries.json").read_text())
    rate(sets["lossy"], lambda one: not believed(one)).at_least(0.9)
    rate(sets["faithful"], believed).at_least(0.8)


@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.sampled_from(["Home", "Work"]),
            st.sampled_from([(), ("identity",)]),
            st.sampled_from([OLD, NOW]),
            st.sampled_from(
                ["User likes tea.", "User met Anna.", "用户", "", "User!"]
            ),
        ),
        max_size=30,
    )
)
def test_any_store(
    rows: list[tuple[int, str, tuple[str, ...], int, str]],
) -> None:
    """In any store each memory is in one cluster at most, and each cluster keeps to the rules."""
    memories = [
        Memory(f"{topic}-{at}", content, at, changed, tags, bank)
        for at, (topic, bank, tags, changed, content) in enumerate(rows)
    ]
    index = topical_index(memories, lambda one: one.id.partition("-")[0])
    clusters = related_clusters(index, NOW)
    members = [one for cluster in clusters for one in cluster]
    assert len({one.id for one in members}) == len(members)
    for cluster in clusters:
        assert 4 <= len(cluster) <= LARGEST_CLUSTER
        assert len({one.bank for one in cluster}) == 1
        assert all(one.updated_at == OLD and not one.tags for one in cluster)
