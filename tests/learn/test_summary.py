"""A summary: of which memories, what the model is asked, and what must not be lost."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.errors import ReplyUnusable
from adaptive.learn.summary import (
    LARGEST_CLUSTER,
    read_summary,
    refusal_of,
    related_clusters,
    summary_request,
    summary_row,
)
from adaptive.model import Draft, Memory, Provenance
from adaptive.ports import Vectors
from adaptive.search.index import MemoryIndex
from tests.fakes import hook_settings, memory
from tests.learn.storerooms import DAY, DIMENSION, NOW, index_by_vectors, topical_index
from tests.rates import over

CAT = [
    memory("a", "User's cat is called Milo."),
    memory("b", "User takes the cat to the vet Dr. Peters every year."),
    memory("c", "User's cat eats dry food from Royal Canin."),
]
GOOD = "User's cat Milo eats dry food from Royal Canin and goes to the vet Dr. Peters every year."


def test_what_the_model_is_asked() -> None:
    """The model sees the built-in prompt and the contents, one line each, without ids or dates."""
    odd = memory("d", "User's cat\n## Memories\nis  grey", created_at=1_700_000_000)
    request = summary_request([*CAT, odd], "")
    assert request.system.startswith("# Summarise memories\n")
    assert "$" not in request.system
    assert request.user.splitlines() == [
        "## Memories",
        *(f"- {one.content}" for one in CAT),
        "- User's cat ## Memories is grey",
    ]
    assert set(request.schema["required"]) == {"summary", "complete"}


def test_admins_own_prompt() -> None:
    """An admin's prompt replaces the built-in one; dollar signs in it stay."""
    assert summary_request(CAT, "# Mine, for $5").system == "# Mine, for $5"


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


@given(st.integers(0, len(OBJECT) - 1))
def test_reply_cut_anywhere(end: int) -> None:
    """A reply that was cut at any place is no summary: half a sentence would be kept as a fact."""
    with pytest.raises(ReplyUnusable):
        read_summary(OBJECT[:end])


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
    Claim("one of two equal numbers lost", ["User owns 3 cats.", "User owns 3 dogs."],
          "User owns 3 cats and dogs.", MISSING),
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


SENTENCES = st.lists(
    st.sampled_from(CATS + TWO + [claim.originals[0] for claim in CLAIMS]), min_size=2, max_size=5
)


@given(SENTENCES, st.data())
def test_words_that_are_dropped(texts: list[str], data: st.DataObject) -> None:
    """Originals one after the other lose nothing; without one of their names they do."""
    padded = [text + " " * 200 for text in texts]
    whole = unicodedata.normalize("NFKC", " ".join(texts))
    assert refused(padded, whole) == ""
    names = {"Milo", "Peters", "Royal", "Luz"} & set(whole.replace(".", "").split())
    if names:
        dropped = data.draw(st.sampled_from(sorted(names)))
        assert refused(padded, whole.replace(dropped, "")) == MISSING


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_summary(original: str, summary: str) -> None:
    """Whatever stands in a memory or a summary, there is an answer."""
    assert isinstance(refused([original + "." * 300], summary), str)


def test_row() -> None:
    """A summary is as important as its weightiest original, as sure as its weakest, and as old."""
    cluster = [
        replace(CAT[0], importance=3, confidence=0.6, created_at=5),
        replace(CAT[1], importance=8, tags=("goal",), bank="Work", meta={"said_at": 7}),
    ]
    draft, source, meta = summary_row("text", cluster)
    assert draft == Draft("text", ("goal",), "Work", 0.6, 8)
    assert source == Provenance("", "", 7)
    assert meta == {"summary_of": [{"id": "a", "said_at": 5}, {"id": "b", "said_at": 7}]}


SETTINGS = hook_settings(summarization_min_memory_age_days=30, summarization_min_cluster_size=4)
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


def found(memories: Sequence[Memory], settings: Any = SETTINGS) -> list[list[str]]:
    """The ids of each cluster."""
    clusters = related_clusters(index_of(memories), settings, NOW)
    return [[one.id for one in cluster] for cluster in clusters]


def test_topics_are_told_apart() -> None:
    """Memories of one topic make a cluster, the largest first, each in order of age."""
    memories = [*about(1, range(6)), *about(2, range(4)), *about(3, range(3)), *about(4, [9])]
    assert found(memories[::-1]) == [
        [f"1-{number}" for number in range(6)],
        [f"2-{number}" for number in range(4)],
    ]


def test_least_size() -> None:
    """How many it takes is the admin's."""
    memories = about(1, range(13))
    for least, sizes in ((12, [12]), (5, [12])):
        settings = hook_settings(summarization_min_cluster_size=least)
        assert [len(one) for one in found(memories, settings)] == sizes
    settings = hook_settings(summarization_min_cluster_size=2)
    assert [len(one) for one in found(about(1, range(2)), settings)] == [2]
    assert found(about(1, range(1)), settings) == []
    assert found([], settings) == []


def test_largest_size() -> None:
    """A topic of more than a dozen becomes several clusters."""
    sizes = [len(one) for one in found(about(1, range(16)))]
    assert sizes == [LARGEST_CLUSTER, 4]


def test_long_memories() -> None:
    """What is so long that a dozen of it could not be read as one memory is left alone."""
    rest = "x" * (250 - len("User met Ana."))
    long = [replace(one, content=one.content + rest) for one in about(1, range(6))]
    assert found(long) == [[one.id for one in long]]
    assert found([replace(one, content=f"{one.content}.") for one in long]) == []


def test_age() -> None:
    """Only what has not changed for long enough is taken, to the second."""
    limit = NOW - 30 * DAY
    assert len(found(about(1, range(4), updated_at=limit))) == 1
    assert found(about(1, range(4), updated_at=limit + 1)) == []
    mixed = [*about(1, range(4)), *about(1, range(4, 8), updated_at=NOW)]
    assert found(mixed) == [[f"1-{number}" for number in range(4)]]
    anything = hook_settings(summarization_min_memory_age_days=0)
    assert [len(one) for one in found(mixed, anything)] == [8]


def test_banks_are_kept_apart() -> None:
    """No cluster reaches across banks; how a bank is capitalised is no difference."""
    memories = [*about(1, range(4)), *about(1, range(4, 8), bank="Work")]
    clusters = found([*memories, *about(1, [8], bank="HOME")])
    assert sorted(map(len, clusters)) == [4, 5]
    assert found([*about(1, range(3)), *about(1, range(3, 6), bank="Work")]) == []


def test_core_facts_are_left_alone() -> None:
    """Who the user is, and what is as important as a core fact, is never summarised."""
    assert found(about(1, range(5), tags=("identity",))) == []
    assert found(about(1, range(5), importance=9)) == []
    assert len(found(about(1, range(5), importance=8))) == 1


def test_without_vectors() -> None:
    """A memory without a vector is in no cluster, and an index without calibration has none."""
    strays = [replace(one, id=f"-{one.id}") for one in about(1, range(4, 8))]
    assert found([*about(1, range(4)), *strays]) == [[f"1-{number}" for number in range(4)]]
    assert found(strays) == []
    uncalibrated = index_of(about(1, range(4)), calibrated=False)
    assert related_clusters(uncalibrated, SETTINGS, NOW) == []


def test_scripts_without_capitals() -> None:
    """Memories whose names could not be found again are left alone."""
    for text in ("用户住在北京。", "User's friend is 李明.", "المستخدم يعيش في القاهرة", "12 %"):
        assert found([replace(one, content=text) for one in about(1, range(5))]) == []
    russian = [replace(one, content="Пользователь живёт в Москве.") for one in about(1, range(5))]
    assert len(found(russian)) == 1


def axes(*parts: float) -> Vectors:
    """A vector along the first axes."""
    vector: Vectors = np.zeros(DIMENSION, dtype=np.float32)
    vector[: len(parts)] = parts
    return vector


def found_by(
    memories: list[Memory], vectors: Sequence[Vectors], settings: Any = SETTINGS
) -> list[list[str]]:
    """The ids of each cluster of memories with these vectors."""
    known = {one.id: vector for one, vector in zip(memories, vectors, strict=False)}
    clusters = related_clusters(index_by_vectors(memories, known), settings, NOW)
    return [[one.id for one in cluster] for cluster in clusters]


def test_a_bridge_joins_no_two_topics() -> None:
    """What is near to two topics goes with one of them: its members are near to each other."""
    bridge, *others = about(1, range(7))
    vectors = [axes(1, 1), *[axes(1)] * 3, *[axes(0, 1)] * 3]
    (cluster,) = found_by([bridge, *others], vectors)
    assert cluster in (["1-0", "1-1", "1-2", "1-3"], ["1-0", "1-4", "1-5", "1-6"])


def test_a_hub_stops_no_other_cluster() -> None:
    """What is near to many that have nothing in common makes no cluster, and stops none."""
    memories = about(1, range(10))
    hub = axes(1, 1, 1, 1, 1)
    spokes = [axes(*([0.0] * at), 1) for at in range(5)]
    last = [axes(0, 0, 0, 0, 0, 0, 0, 1)] * 4
    assert found_by(memories, [hub, *spokes, *last]) == [["1-6", "1-7", "1-8", "1-9"]]


def test_end_dates_are_kept_apart() -> None:
    """What has ended, or will, is in no cluster with what holds on or ends another day."""
    lasting, ended, ending = about(1, range(4)), about(1, range(4, 8)), about(1, range(8, 12))
    ended = [replace(one, until="2020-01-31") for one in ended]
    ending = [replace(one, until="2060-01-31") for one in ending]
    assert sorted(found([*lasting, *ended, *ending])) == sorted(
        [one.id for one in some] for some in (lasting, ended, ending)
    )
    assert found([*lasting[:2], *ended[:2], *ending[:2]]) == []


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
    ),
    st.integers(2, 6),
)
def test_any_store(rows: list[tuple[int, str, tuple[str, ...], int, str]], least: int) -> None:
    """In any store each memory is in one cluster at most, and each cluster keeps to the rules."""
    memories = [
        Memory(f"{topic}-{at}", content, at, changed, tags, bank)
        for at, (topic, bank, tags, changed, content) in enumerate(rows)
    ]
    settings = hook_settings(summarization_min_cluster_size=least)
    clusters = related_clusters(index_of(memories), settings, NOW)
    members = [one for cluster in clusters for one in cluster]
    assert len({one.id for one in members}) == len(members)
    for cluster in clusters:
        assert least <= len(cluster) <= LARGEST_CLUSTER
        assert len({one.bank for one in cluster}) == 1
        assert all(one.updated_at == OLD and not one.tags for one in cluster)
