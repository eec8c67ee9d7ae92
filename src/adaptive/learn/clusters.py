"""Which old memories are so closely related that one could stand for them.

Nearness is the cosine of two memories less the store's mean, in the spreads that null prompts show
in the same measure (``search/fusion.py``): what all of a user's memories have in common does not
make any two of them related, and a threshold means the same for every embedding model. A cluster
grows from the memory with the most near ones; who joins must be near to its members on average.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from adaptive.learn.particulars import Particulars, contradict, particulars, tells_names
from adaptive.learn.prune import is_core
from adaptive.model import Memory
from adaptive.ports import Vectors
from adaptive.search.index import MemoryIndex
from adaptive.search.vectors import normalised
from adaptive.settings import Settings

_CLUSTER_DAY_SECONDS = 24 * 3600
# Null spreads from which two memories are related. Of 59 memories in 12 invented topics, among 20
# of no topic, 0.69 are found, and 0.98 of what is found stands with its own topic; at 4 these are
# 0.66 and 0.80, at 6 0.59 and 0.94 (all-MiniLM-L6-v2, clusters of 4 and more).
RELATED_FROM = 5.0
# More than a dozen facts in one are no longer read as facts.
LARGEST_CLUSTER = 12
_LONGEST_CLUSTER = 3000
# Of a large store this many are compared in one run, those first that rest for longest.
_MOST_COMPARED = 1000
_COMPARED_AT_ONCE = 256
# What contradicts a memory says nearly the same, so it is among the nearest.
_NEAREST_CHECKED = 20
FactAt = Callable[[int], Particulars]


@dataclass(frozen=True, slots=True)
class ClusterRules:
    """What makes a cluster; ``unchanged_since`` is an epoch second, ``left_out`` are memory ids."""

    least: int
    unchanged_since: float
    left_out: AbstractSet[str] = frozenset()
    related_from: float = RELATED_FROM

    @classmethod
    def of(cls, settings: Settings, now: float, left_out: AbstractSet[str]) -> ClusterRules:
        """The rules that an admin set; a least size above a dozen counts as a dozen."""
        least = min(settings.summarization_min_cluster_size, LARGEST_CLUSTER)
        return cls(
            least, now - settings.summarization_min_memory_age_days * _CLUSTER_DAY_SECONDS, left_out
        )


def related_clusters(
    index: MemoryIndex, settings: Settings, rules: ClusterRules
) -> list[tuple[Memory, ...]]:
    """Clusters of old memories of one bank, the most related first, their members by age.

    Left out are core facts, memories without a vector, those whose names no check could find
    again, and those that contradict any other. There are no clusters until the index is calibrated.
    """
    places = _old_places(index, settings, rules)
    if not index.calibrated or len(places) < rules.least:
        return []
    known: dict[int, Particulars] = {}

    def fact(place: int) -> Particulars:
        if place not in known:
            known[place] = particulars(index.memories[place].content)
        return known[place]

    floor = rules.related_from * index.shelf.unit
    apart = normalised((index.shelf.vectors - index.shelf.centre).astype(np.float32))
    apart[~index.embedded] = 0
    calm = _uncontradicted(places, apart, floor, fact)
    banks = np.asarray([index.memories[place].bank.casefold() for place in calm], dtype=str)
    nearness: Vectors = apart[calm] @ apart[calm].T
    nearness[banks[:, None] != banks[None, :]] = -1
    members = [index.memories[place] for place in calm]
    facts = [fact(place) for place in calm]
    grown = _grown(nearness, floor, rules.least, members, facts)
    return [tuple(members[at] for at in sorted(cluster)) for cluster in grown]


def _old_places(index: MemoryIndex, settings: Settings, rules: ClusterRules) -> list[int]:
    """Places of the memories that may be summarised, in order."""
    memories = index.memories
    places = [
        place
        for place in np.flatnonzero(index.embedded).tolist()
        if memories[place].updated_at <= rules.unchanged_since
        and memories[place].id not in rules.left_out
        and not is_core(memories[place], settings)
        and tells_names(memories[place].content)
    ]
    longest_unchanged = sorted(places, key=lambda place: memories[place].updated_at)
    return sorted(longest_unchanged[:_MOST_COMPARED])


def _uncontradicted(places: Sequence[int], apart: Vectors, floor: float, fact: FactAt) -> list[int]:
    """The places whose memory contradicts none of those near to it, however new these are.

    Which of two is true is for a lesson to find out; a summary would fix one of them.
    """
    calm: list[int] = []
    for start in range(0, len(places), _COMPARED_AT_ONCE):
        some = places[start : start + _COMPARED_AT_ONCE]
        for place, row in zip(some, apart[some] @ apart.T, strict=True):
            row[place] = -1
            near = np.flatnonzero(row >= floor)
            nearest = near[np.argsort(-row[near], kind="stable")][:_NEAREST_CHECKED].tolist()
            if not any(contradict(fact(place), fact(other)) for other in nearest):
                calm.append(place)
    return calm


def _grown(
    nearness: Vectors,
    floor: float,
    least: int,
    members: Sequence[Memory],
    facts: Sequence[Particulars],
) -> list[list[int]]:
    """Clusters that grow one after the other, each from what has the most near ones left."""
    near = nearness >= floor
    np.fill_diagonal(near, False)
    free = np.ones(len(members), dtype=np.bool_)
    degree = near.sum(axis=1)
    clusters: list[list[int]] = []
    while len(members) and (seed := int(degree.argmax())) >= 0 and degree[seed] + 1 >= least:
        beside = np.flatnonzero(near[seed] & free)
        cluster = [seed]
        length = len(members[seed].content)
        nearest_first: list[int] = beside[np.argsort(-nearness[seed][beside])].tolist()
        for at in nearest_first:
            longer = length + len(members[at].content)
            if len(cluster) == LARGEST_CLUSTER or longer > _LONGEST_CLUSTER:
                break
            related = nearness[at][cluster].mean() >= floor
            if related and not any(contradict(facts[at], facts[other]) for other in cluster):
                cluster.append(at)
                length = longer
        if len(cluster) < least:
            degree[seed] = -1
            continue
        clusters.append(cluster)
        free[cluster] = False
        degree -= near[:, cluster].sum(axis=1)
        degree[~free] = -1
    return clusters
