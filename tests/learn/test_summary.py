"""A summary: of which memories, what the model is asked, and what must not be lost."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.core.errors import ReplyUnusable
from adaptive.core.model import Memory
from adaptive.learn.summaries import (
    LARGEST_CLUSTER,
    read_summary,
    refusal_of,
    related_clusters,
)
from adaptive.search.index import MemoryIndex
from tests.fakes import memory
from tests.learn.storerooms import DAY, NOW, topical_index
from tests.rates import over

CAT = [
    memory("a", "User's cat is called Milo."),
    memory("b", "User takes the cat to the vet Dr. Peters every year."),
    memory("c", "User's cat eats dry food from Royal Canin."),
]
GOOD = "User's cat Milo eats dry food from Royal Canin and goes to the vet Dr. Peters every year."


OBJECT = json.dumps({"summary": " User  has\na cat. ", "complete": True})
WHOLE = "User has a cat."


@dataclass(frozen=True)
class Reply:
    """A reply of a model, and what is read of it; ``None`` where nothing can be."""

    id: str
    text: str
    expected: str | None = WHOLE


REPLIES = [
    Reply("clean", OBJECT),
    Reply("the last one", f'<think>{{"summary": "draft", "complete": true}}</think>{OBJECT}'),
    Reply("not complete", OBJECT.replace("true", "false"), ""),
    Reply("complete in words", '{"summary": "a", "complete": "true"}', ""),
    Reply("of another type", '{"summary": ["a"], "complete": true}', None),
    Reply("empty", "", None),
]


@over("case", REPLIES)
def test_reply(case: Reply) -> None:
    """The last whole object with a summary is taken, nothing half is, and the rest is an error."""
    if case.expected is None:
        with pytest.raises(ReplyUnusable):
            read_summary(case.text)
    else:
        assert read_summary(case.text) == case.expected


@dataclass(frozen=True)
class Claim:
    """Originals, what a model made of them, and why it may not stand for them."""

    id: str
    originals: list[str]
    summary: str
    refusal: str = ""


MISSING = "a name, number or negation is missing"
CATS = [one.content for one in CAT]
TWO = ["User has 2 sons.", "User's sons play chess with a coach."]
CLAIMS = [
    Claim("everything kept", CATS, GOOD),
    Claim("shared year", ["User moved in 2019.", "User married in 2019."], "User moved and married "
          "in 2019."),
    Claim("composed letters", ["User likes Cafe\u0301 Luz.", "User likes Bar Sol."],
          "User likes Café Luz and Bar Sol."),
    Claim("number changed", TWO, "User has 3 sons, who play chess with a coach.",
          MISSING),
    Claim("name lost", CATS, GOOD.replace("Milo ", ""), MISSING),
    Claim("name that opens a sentence", ["Ben is User's son.", "User's son plays chess."],
          "User's son plays chess.", MISSING),
    Claim("negation lost", ["User doesn't eat meat.", "User eats fish."],
          "User eats meat and fish.", MISSING),
    Claim("one of two negations lost", ["User never drinks wine.", "User does not eat fish."],
          "User never drinks wine, eats fish.", MISSING),
    Claim("negation invented", ["User drinks wine.", "User eats fish."],
          "User drinks no wine, eats fish.", "it says more than the memories do"),
    Claim("name invented", CATS, GOOD.replace("year", "May"), "it says more than the memories do"),
    Claim("number invented", ["User likes tea a lot.", "User likes jam."],
          "User likes tea and 2 jam.", "it says more than the memories do"),
    Claim("memory left out", ["User likes hiking.", "User collects rare stamps at home."],
          "User likes hiking.", "a memory is left out"),
    Claim("not shorter", ["User has a cat.", "User's cat is old."],
          "User has a cat. User's cat is old, by now.", "it is not shorter than the memories"),
    Claim("incomplete by its own words", CATS, "", "the model could not keep every fact"),
]  # fmt: skip


def refused(originals: list[str], summary: str) -> str:
    """Why a summary may not stand for these originals."""
    cluster = [memory(str(at), text) for at, text in enumerate(originals)]
    return refusal_of(summary, cluster)


@over("case", CLAIMS)
def test_refusal(case: Claim) -> None:
    """A summary stands for its originals only with every number, name and negation, and no more."""
    assert refused(case.originals, case.summary) == case.refusal


def test_labelled_summaries() -> None:
    """Of labelled summaries those with a loss are refused, and most faithful ones are believed."""
    sets = json.loads((Path(__file__).parent / "summaries.json").read_text())
    believed = [one for one in sets["lossy"] if not refused(one["memories"], one["summary"])]
    doubted = [
        f"{why}: {one['summary']}"
        for one in sets["faithful"]
        if (why := refused(one["memories"], one["summary"]))
    ]
    misses = "\n".join(["believed:", *(one["summary"] for one in believed), "doubted:", *doubted])
    sys.stdout.write(misses)
    assert len(believed) <= 0.1 * len(sets["lossy"])
    assert len(doubted) <= 0.2 * len(sets["faithful"])


OLD = NOW - 100 * DAY
NAMES = [f"{first}{last}" for first in ("An", "Be", "Ca", "Do") for last in ("a", "e", "o", "y")]


def about(topic: int, numbers: Sequence[int], **fields: Any) -> list[Memory]:
    """Memories of a topic, each about somebody else."""
    at = fields.pop("updated_at", OLD)
    bank = fields.pop("bank", "Home")
    return [
        Memory(f"{topic}-{number}", f"User met {NAMES[number]}.", number, at, bank=bank, **fields)
        for number in numbers
    ]


def index_of(memories: Sequence[Memory], *, calibrated: bool = True) -> MemoryIndex:
    """An index by the topics that the ids begin with."""
    return topical_index(memories, lambda one: one.id.partition("-")[0], calibrated=calibrated)


def found(memories: Sequence[Memory]) -> list[list[str]]:
    """The ids of each cluster."""
    clusters = related_clusters(index_of(memories), NOW)
    return [[one.id for one in cluster] for cluster in clusters]


def test_topics_are_told_apart() -> None:
    """Memories of one topic make a cluster, the largest first, each in order of age."""
    memories = [*about(1, range(6)), *about(2, range(4)), *about(3, range(3)), *about(4, [9])]
    assert found(memories[::-1]) == [
        [f"1-{number}" for number in range(6)],
        [f"2-{number}" for number in range(4)],
    ]


@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.sampled_from(["Home", "Work"]),
            st.sampled_from([(), ("identity",)]),
            st.sampled_from([OLD, NOW]),
            st.sampled_from(["User likes tea.", "User met Anna.", "用户", "", "User!"]),
        ),
        max_size=30,
    )
)
def test_any_store(rows: list[tuple[int, str, tuple[str, ...], int, str]]) -> None:
    """In any store each memory is in one cluster at most, and each cluster keeps to the rules."""
    memories = [
        Memory(f"{topic}-{at}", content, at, changed, tags, bank)
        for at, (topic, bank, tags, changed, content) in enumerate(rows)
    ]
    clusters = related_clusters(index_of(memories), NOW)
    members = [one for cluster in clusters for one in cluster]
    assert len({one.id for one in members}) == len(members)
    for cluster in clusters:
        assert 4 <= len(cluster) <= LARGEST_CLUSTER
        assert len({one.bank for one in cluster}) == 1
        assert all(one.updated_at == OLD and not one.tags for one in cluster)
