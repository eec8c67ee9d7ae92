"""What is searched: one user's memories, prepared for ranking, as they stood at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaptive.core.model import Memory, StoreStamp, is_core
from adaptive.core.ports import StoredVector, Vectors
from adaptive.search.fusion import RankingIndex, ranking_index
from adaptive.search.vectors import content_hash

# The host's clock counts seconds (host: models/memories.py): a row may change again within the
# second of its last change, so what changed just before it was read is not trusted.
_CLOCK_SECONDS = 2
# A text of a sentence, its words as the keyword index keeps them, and the objects around both.
_BYTES_PER_MEMORY = 1500


@dataclass(frozen=True, slots=True)
class MemoryIndex:
    """Memories in a fixed order, known by their place in it."""

    memories: tuple[Memory, ...]
    hashes: tuple[str, ...]
    places: Mapping[str, int]
    core: tuple[Memory, ...]  # the core facts, most important first, then oldest
    ending: tuple[Memory, ...]  # those that have a last day
    embedded: NDArray[np.bool_]  # which have a vector
    ranking: RankingIndex
    nulls: Vectors | None  # those of the null prompts
    embedder: str
    stamp: StoreStamp
    read_at: float  # when the memories were read, in epoch seconds

    @property
    def dimension(self) -> int:
        """Length of the vectors; 0 while there are none."""
        return int(self.ranking.vectors.shape[1])

    @property
    def nbytes(self) -> int:
        """About how much memory this takes."""
        return self.ranking.vectors.nbytes + len(self.memories) * _BYTES_PER_MEMORY

    def stands(self, stamp: StoreStamp) -> bool:
        """Whether nothing can have changed since the memories were read."""
        return self.stamp == stamp and stamp.newest + _CLOCK_SECONDS <= self.read_at

    def memory(self, memory_id: str) -> Memory | None:
        """The memory of that id, if it stands here."""
        place = self.places.get(memory_id)
        return None if place is None else self.memories[place]

    def missing(self) -> list[int]:
        """Places of memories without a vector, the most important first, then the newest."""
        places, own = np.flatnonzero(~self.embedded).tolist(), self.memories
        return sorted(places, key=lambda at: (-own[at].importance, -own[at].updated_at))

    def stored_vectors(self) -> dict[str, StoredVector]:
        """Vectors that are known, by memory id."""
        return {
            memory.id: StoredVector(digest, self.ranking.vectors[place])
            for place, (memory, digest) in enumerate(zip(self.memories, self.hashes, strict=True))
            if self.embedded[place]
        }

    @property
    def ready(self) -> bool:
        """Whether nothing is left to embed, null prompts of the same length included."""
        nulls = self.nulls is not None and self.dimension in (0, self.nulls.shape[1])
        return bool(self.embedded.all()) and (nulls or not self.memories)

    def with_vectors(self, found: Mapping[str, StoredVector], nulls: Vectors) -> MemoryIndex:
        """The same memories with these vectors, too; others of another length are dropped."""
        known = {**found, **self.stored_vectors(), **found}
        made = (nulls, self.embedder, self.stamp, self.read_at, self)
        return build_index(self.memories, known, *made)


def build_index(
    memories: Sequence[Memory],
    known: Mapping[str, StoredVector],
    nulls: Vectors | None,
    embedder: str,
    stamp: StoreStamp,
    read_at: float,
    previous: MemoryIndex | None = None,
) -> MemoryIndex:
    """An index of memories, with those of the known vectors whose text is still the same.

    Vectors of another length than the first one are left out; ``previous`` spares work.
    """
    # Rows of one second stay as the database gave them: mostly in the order they were written.
    ordered = tuple(sorted(memories, key=lambda memory: memory.created_at))
    hashes = tuple(content_hash(memory.content) for memory in ordered)
    places = {memory.id: place for place, memory in enumerate(ordered)}
    dimension = next((len(one.vector) for one in known.values()), 0)
    vectors = np.zeros((len(ordered), dimension), dtype=np.float32)
    embedded = np.zeros(len(ordered), dtype=np.bool_)
    for memory_id, one in known.items():
        place = places.get(memory_id)
        if place is not None and hashes[place] == one.content_hash and len(one.vector) == dimension:
            vectors[place], embedded[place] = one.vector, True
    prepared = ranking_index(
        [memory.content for memory in ordered],
        vectors,
        nulls if nulls is not None and nulls.shape[1] == dimension else None,
        [memory.created_at for memory in ordered],
        [memory.importance for memory in ordered],
        previous.ranking if previous else None,
    )
    core = sorted(
        filter(is_core, ordered), key=lambda one: (-one.importance, one.created_at, one.id)
    )
    sorts = (tuple(core), tuple(one for one in ordered if one.until))
    made = (embedded, prepared, nulls, embedder, stamp, read_at)
    return MemoryIndex(ordered, hashes, places, *sorts, *made)
