"""Which memories are taken together: related ones, old ones, of one bank and one end date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.clusters import LARGEST_CLUSTER, related_clusters
from adaptive.model import Memory
from adaptive.ports import Vectors
from adaptive.search.index import MemoryIndex
from tests.fakes import hook_settings
from tests.learn.storerooms import DAY, DIMENSION, NOW, index_by_vectors, topical_index

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


def found(
    memories: Sequence[Memory], settings: Any = SETTINGS, left_out: frozenset[str] = frozenset()
) -> list[list[str]]:
    """The ids of each cluster."""
    clusters = related_clusters(index_of(memories), settings, NOW, left_out)
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
    """What is too long together to be read as one memory is not put together."""
    long = [
        replace(one, content=f"{one.content} {'And so it went on. ' * 60}")
        for one in about(1, range(6))
    ]
    assert found(long) == []


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


def test_left_out() -> None:
    """What the caller names, as summaries of a former run, is not taken."""
    memories = about(1, range(6))
    assert found(memories, left_out=frozenset({"1-0", "1-5"})) == [["1-1", "1-2", "1-3", "1-4"]]


def test_without_vectors() -> None:
    """A memory without a vector is in no cluster, and an index without calibration has none."""
    strays = [replace(one, id=f"-{one.id}") for one in about(1, range(4, 8))]
    assert found([*about(1, range(4)), *strays]) == [[f"1-{number}" for number in range(4)]]
    assert found(strays) == []
    uncalibrated = index_of(about(1, range(4)), calibrated=False)
    assert related_clusters(uncalibrated, SETTINGS, NOW) == []


def test_scripts_without_capitals() -> None:
    """Memories whose names could not be found again are left alone."""
    chinese = [replace(one, content=f"用户认识了{one.id}。") for one in about(1, range(5))]
    assert found(chinese) == []


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
