"""What is searched: one user's memories, prepared for ranking, as they stood at one moment.

Of those that were read before only what changed is read. A row is known by its id and the second
that its change is dated. Dates are compared with nothing but themselves, since the clocks of those
who write need not agree; a row may change again within the second of its change, so one that was
found changed is read again until that is over (host: models/memories.py, dates count seconds).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adaptive.core import (
    PER_STATEMENT,
    Memory,
    MemoryStore,
    Place,
    StoredVector,
    StoreStamp,
    Vectors,
    frozen,
    is_core,
)
from adaptive.search.fusion import RankingIndex, ranking_index
from adaptive.search.vectors import content_hash

# A row as the plug-in writes it, with its words as the keyword index keeps them; measured.
_BYTES_PER_MEMORY = 2150


@frozen
class FoundMemory:
    """A memory that words name; ``score`` is its relevance in percent.

    ``withheld`` says why its words may not be repeated in the chat; mostly it is empty.
    """

    memory: Memory
    score: int
    has_all_words: bool
    withheld: str = ""


@frozen
class MemoryIndex:
    """Memories in a fixed order, known by their place in it."""

    memories: tuple[Memory, ...]
    places: Mapping[str, int]
    core: Sequence[Memory]  # the core facts, most important first, then oldest
    ranking: RankingIndex
    nulls: Vectors | None  # those of the null prompts
    embedder: str
    stamp: StoreStamp
    scopes: frozenset[str]  # of all that is in it

    @property
    def dimension(self) -> int:
        """Length of the vectors; 0 while there are none."""
        return int(self.ranking.vectors.shape[1])

    @property
    def embedded(self) -> NDArray[np.bool_]:
        """Which memories have a vector."""
        return self.ranking.embedded

    @property
    def nbytes(self) -> int:
        """About how much memory this takes."""
        return (
            self.ranking.vectors.nbytes
            + len(self.memories) * _BYTES_PER_MEMORY
        )

    def memory(self, memory_id: str) -> Memory | None:
        """The memory of that id, if it stands here."""
        place = self.places.get(memory_id)
        return None if place is None else self.memories[place]

    def missing(self) -> list[Memory]:
        """Memories without a vector, the most important first, then the newest."""
        missing = [
            self.memories[place] for place in np.flatnonzero(~self.embedded)
        ]
        return sorted(
            missing,
            key=lambda memory: (-memory.importance, -memory.updated_at),
        )

    def stored_vectors(self) -> dict[str, StoredVector]:
        """Vectors that are known, by memory id."""
        return {
            memory.id: StoredVector(content_hash(memory.content), vector)
            for memory, vector in self._known()
        }

    def vectors_of(self, new: Mapping[str, Vectors]) -> dict[str, Vectors]:
        """Vectors by the text that they are of: new ones, and those of memories."""
        return {
            **new,
            **{memory.content: vector for memory, vector in self._known()},
        }

    def _known(self) -> Iterator[tuple[Memory, Vectors]]:
        """The memories that have a vector, with that."""
        known = zip(self.memories, self.ranking.vectors, strict=True)
        return itertools.compress(known, self.embedded)

    @property
    def ready(self) -> bool:
        """Whether nothing is left to embed, null prompts of the same length included."""
        has_nulls = self.nulls is not None and self.dimension in (
            0,
            self.nulls.shape[1],
        )
        return (has_nulls and bool(self.embedded.all())) or not self.memories

    def with_vectors(
        self, vectors: Mapping[str, StoredVector], nulls: Vectors
    ) -> MemoryIndex:
        """The same memories with these vectors, too; others of another length are dropped."""
        # The first one tells the length.
        known = {**vectors, **self.stored_vectors(), **vectors}
        return build_index(
            self.memories,
            known,
            nulls,
            self.embedder,
            self,
        )


@frozen
class PlaceIndex:
    """The ``part`` of a ``whole`` index that may be shown at a place."""

    whole: MemoryIndex
    part: MemoryIndex


def index_at(index: MemoryIndex, place: Place) -> MemoryIndex:
    """The index of what may be shown at a place: of all else not even a mean is in it."""
    rows = [
        row
        for row, memory in enumerate(index.memories)
        if place.admits(memory.scope)
    ]
    memories = tuple(index.memories[row] for row in rows)
    return replace(
        index,
        memories=memories,
        places={memory.id: row for row, memory in enumerate(memories)},
        core=[memory for memory in index.core if place.admits(memory.scope)],
        ranking=_ranking_of(
            memories, index.ranking.vectors[rows], index.nulls, index
        ),
    )


def build_index(
    memories: Sequence[Memory],
    known: Mapping[str, StoredVector],
    nulls: Vectors | None,
    embedder: str,
    previous: MemoryIndex | None = None,
) -> MemoryIndex:
    """An index of memories, with those of the known vectors whose text is still the same.

    Vectors of another length than the first one are left out; ``previous`` spares work.
    """
    # Rows of one second stay as the database gave them: mostly in the order they were written.
    ordered = tuple(sorted(memories, key=lambda memory: memory.created_at))
    dimension = next((len(stored.vector) for stored in known.values()), 0)
    vectors = np.zeros((len(ordered), dimension), dtype=np.float32)
    for place, memory in enumerate(ordered):
        stored = known.get(memory.id)
        if (
            stored
            and len(stored.vector) == dimension
            and stored.content_hash == content_hash(memory.content)
        ):
            vectors[place] = stored.vector
    core = [memory for memory in ordered if is_core(memory)]
    core.sort(
        key=lambda memory: (-memory.importance, memory.created_at, memory.id)
    )
    return MemoryIndex(
        memories=ordered,
        places={memory.id: place for place, memory in enumerate(ordered)},
        core=core,
        ranking=_ranking_of(ordered, vectors, nulls, previous),
        nulls=nulls,
        embedder=embedder,
        stamp=stamp_of(ordered),
        scopes=frozenset(memory.scope for memory in ordered),
    )


def stamp_of(memories: Sequence[Memory]) -> StoreStamp:
    """The stamp of a table that holds just these."""
    dates = [memory.updated_at for memory in memories]
    return StoreStamp(
        count=len(dates),
        newest=max(dates, default=0),
        total=sum(dates),
    )


async def read_anew(
    store: MemoryStore,
    known: Sequence[Memory],
    doubtful: Collection[str] = (),
) -> tuple[Memory, ...]:
    """All memories; those that are known, and not ``doubtful``, are read where their date differs."""
    if not known:
        return await store.read()
    dates = await store.dates()
    standing = {memory.id: memory for memory in known if memory.id in dates}
    changed = {
        memory_id
        for memory_id, date in dates.items()
        if memory_id not in standing
        or memory_id in doubtful
        or standing[memory_id].updated_at != date
    }
    if len(changed) > PER_STATEMENT:
        return await store.read()
    if changed:
        read = {memory.id: memory for memory in await store.read(changed)}
        for memory_id in changed - read.keys():
            standing.pop(memory_id, None)  # it was deleted in between
        standing.update(read)
    return tuple(standing.values())


def _ranking_of(
    memories: Sequence[Memory],
    vectors: Vectors,
    nulls: Vectors | None,
    previous: MemoryIndex | None,
) -> RankingIndex:
    """Memories with their vectors prepared for ranking; null prompts of another length don't serve."""
    has_nulls = nulls is not None and nulls.shape[1] == vectors.shape[1]
    return ranking_index(
        [memory.content for memory in memories],
        vectors,
        nulls if has_nulls else None,
        previous.ranking if previous else None,
    )
