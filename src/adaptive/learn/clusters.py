"""Which old memories are so closely related that one could stand for them.

Nearness is the cosine of two memories less the store's mean, in the spreads that null prompts show
in the same measure (``search/fusion.py``): what all of a user's memories have in common does not
make any two of them related, and a threshold means the same for every embedding model. A cluster
grows from the memory with the most near ones; who joins must be near to its members on average.

That two memories may contradict each other keeps neither out: a summary has to hold the numbers,
names and negations of both (``learn/summary.py``), so it decides nothing between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from adaptive.learn.prune import is_core
from adaptive.learn.summary import has_capitals
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


def related_clusters(
    index: MemoryIndex, settings: Settings, now: float, left_out: AbstractSet[str] = frozenset()
) -> list[tuple[Memory, ...]]:
    """Clusters of old memories of one bank and one end date, the most related first.

    Left out are core facts, memories without a vector, those whose names no check could find
    again, and the ids in ``left_out``. There are none until the index is calibrated.
    """
    least = settings.summarization_min_cluster_size
    unchanged_since = now - settings.summarization_min_memory_age_days * _CLUSTER_DAY_SECONDS
    places = [
        place
        for place, memory in enumerate(index.memories)
        if index.embedded[place]
        and memory.updated_at <= unchanged_since
        and memory.id not in left_out
        and not is_core(memory, settings)
        and has_capitals(memory.content)
    ]
    if not index.calibrated or len(places) < least:
        return []
    places.sort(key=lambda place: index.memories[place].updated_at)
    places = sorted(places[:_MOST_COMPARED])
    members = [index.memories[place] for place in places]
    apart = normalised((index.shelf.vectors[places] - index.shelf.centre).astype(np.float32))
    nearness: Vectors = apart @ apart.T / index.shelf.unit
    kinds = np.asarray([f"{one.until}/{one.bank.casefold()}" for one in members], dtype=str)
    nearness[kinds[:, None] != kinds[None, :]] = -1
    grown = _grown(nearness, least, [len(one.content) for one in members])
    return [tuple(members[at] for at in sorted(cluster)) for cluster in grown]


def _grown(nearness: Vectors, least: int, lengths: Sequence[int]) -> list[list[int]]:
    """Clusters that grow one after the other, each from what has the most near ones left."""
    near = nearness >= RELATED_FROM
    np.fill_diagonal(near, False)
    clusters: list[list[int]] = []
    while (degree := near.sum(axis=1)).max() + 1 >= least:
        seed = int(degree.argmax())
        beside = np.flatnonzero(near[seed])
        cluster = [seed]
        for at in beside[np.argsort(-nearness[seed][beside])].tolist():
            length = sum(lengths[one] for one in [*cluster, at])
            if len(cluster) == LARGEST_CLUSTER or length > _LONGEST_CLUSTER:
                break
            if nearness[at][cluster].mean() >= RELATED_FROM:
                cluster.append(at)
        if len(cluster) >= least:
            clusters.append(cluster)
            near[:, cluster] = near[cluster] = False
        else:
            near[seed] = False
    return clusters
