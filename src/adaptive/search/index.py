"""What is searched: one user's memories, prepared for ranking, as they stood at one moment."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adaptive.model import Memory, StoreStamp
from adaptive.ports import Vectors
from adaptive.search.fusion import Shelf, shelf
from adaptive.table_ports import StoredVector

# The host's clock counts seconds (host: models/memories.py): a row may change again within the
# second of its last change, so what changed just before it was read is not trusted.
_CLOCK_SECONDS = 2
# The text itself, its words as the keyword index keeps them, and Python's objects around both.
_BYTES_PER_CHARACTER = 8


@dataclass(frozen=True, slots=True)
class MemoryIndex:
    """Memories in a fixed order, known by their place in it.

    A memory that has no vector yet, which ``embedded`` tells, is found by keywords meanwhile;
    ``identity`` tells which of them say who the user is.
    ``nulls`` are the vectors of the null prompts, ``None`` while there are none. ``read_at`` is
    when the memories were read, in epoch seconds.
    """

    memories: tuple[Memory, ...]
    hashes: tuple[str, ...]
    places: Mapping[str, int]
    embedded: NDArray[np.bool_]
    identity: NDArray[np.bool_]
    shelf: Shelf
    nulls: Vectors | None
    embedder: str
    stamp: StoreStamp
    read_at: float
    text_bytes: int

    @property
    def complete(self) -> bool:
        """Whether every memory has its vector."""
        return bool(self.embedded.all())

    @property
    def dimension(self) -> int:
        """Length of the vectors; 0 while there are none."""
        return int(self.shelf.vectors.shape[1])

    @property
    def nbytes(self) -> int:
        """About how much memory this takes."""
        words = self.shelf.keywords
        return 2 * self.shelf.vectors.nbytes + words.rows.nbytes * 2 + self.text_bytes

    def stands(self, stamp: StoreStamp) -> bool:
        """Whether nothing can have changed since the memories were read."""
        return self.stamp == stamp and stamp.newest + _CLOCK_SECONDS <= self.read_at

    def memory(self, memory_id: str) -> Memory | None:
        """The memory of that id, if it stands here."""
        place = self.places.get(memory_id)
        return None if place is None else self.memories[place]

    def missing(self) -> list[int]:
        """Places of memories without a vector, the newest first."""
        places = np.flatnonzero(~self.embedded).tolist()
        return sorted(places, key=lambda place: -self.memories[place].updated_at)

    def stored_vectors(self) -> dict[str, StoredVector]:
        """Vectors that are known, by memory id."""
        return {
            memory.id: StoredVector(digest, self.shelf.vectors[place])
            for place, (memory, digest) in enumerate(zip(self.memories, self.hashes, strict=True))
            if self.embedded[place]
        }

    @property
    def ready(self) -> bool:
        """Whether nothing is left to embed, null prompts included."""
        return self.complete and (self.calibrated or not self.memories)

    @property
    def calibrated(self) -> bool:
        """Whether it has the null prompts, in vectors of the memories' length."""
        return self.nulls is not None and self.dimension in (0, self.nulls.shape[1])

    def with_nulls(self, nulls: Vectors) -> MemoryIndex:
        """The same index, calibrated by the vectors of the null prompts."""
        prepared = _prepared(self.memories, self.shelf.vectors, nulls, self.shelf)
        return replace(self, nulls=nulls, shelf=prepared)

    def without_vectors(self) -> MemoryIndex:
        """The same index as if nothing had been embedded yet."""
        size = len(self.memories)
        prepared = _prepared(self.memories, np.zeros((size, 0), np.float32), None, self.shelf)
        return replace(self, embedded=np.zeros(size, np.bool_), shelf=prepared, nulls=None)

    def with_vectors(self, found: Mapping[str, StoredVector]) -> MemoryIndex:
        """The same index with these vectors filled in where the text is still the same."""
        known = self.shelf.vectors
        dimension = next((len(one.vector) for one in found.values()), known.shape[1])
        size = len(self.memories)
        same = dimension == known.shape[1]
        vectors = known.copy() if same else np.zeros((size, dimension), dtype=np.float32)
        embedded = self.embedded.copy() if same else np.zeros(size, dtype=np.bool_)
        for memory_id, one in found.items():
            place = self.places.get(memory_id)
            if place is not None and self.hashes[place] == one.content_hash:
                vectors[place] = one.vector
                embedded[place] = True
        prepared = _prepared(self.memories, vectors, self.nulls, self.shelf)
        return replace(self, embedded=embedded, shelf=prepared)


@dataclass(frozen=True, slots=True)
class IndexParts:
    """What an index is made of; ``previous`` spares work on what it knows."""

    memories: Sequence[Memory]
    known: Mapping[str, StoredVector]
    nulls: Vectors | None
    embedder: str
    stamp: StoreStamp
    read_at: float
    previous: MemoryIndex | None = None


def build_index(parts: IndexParts) -> MemoryIndex:
    """An index of memories, with those of the known vectors whose text is still the same."""
    # Rows of one second stay as the database gave them: mostly in the order they were written.
    ordered = tuple(sorted(parts.memories, key=lambda memory: memory.created_at))
    hashes = tuple(content_hash(memory.content) for memory in ordered)
    places = {memory.id: place for place, memory in enumerate(ordered)}
    dimension = next((len(one.vector) for one in parts.known.values()), 0)
    vectors = np.zeros((len(ordered), dimension), dtype=np.float32)
    embedded = np.zeros(len(ordered), dtype=np.bool_)
    for memory_id, one in parts.known.items():
        place = places.get(memory_id)
        if place is None or hashes[place] != one.content_hash or len(one.vector) != dimension:
            continue
        vectors[place] = one.vector
        embedded[place] = True
    before = parts.previous.shelf if parts.previous else None
    return MemoryIndex(
        memories=ordered,
        hashes=hashes,
        places=places,
        embedded=embedded,
        identity=np.fromiter(("identity" in one.tags for one in ordered), np.bool_, len(ordered)),
        shelf=_prepared(ordered, vectors, parts.nulls, before),
        nulls=parts.nulls,
        embedder=parts.embedder,
        stamp=parts.stamp,
        read_at=parts.read_at,
        text_bytes=sum(len(memory.content) for memory in ordered) * _BYTES_PER_CHARACTER,
    )


def _prepared(
    memories: Sequence[Memory], vectors: Vectors, nulls: Vectors | None, previous: Shelf | None
) -> Shelf:
    fitting = nulls if nulls is not None and nulls.shape[1] == vectors.shape[1] else None
    return shelf(
        [memory.content for memory in memories],
        vectors,
        fitting,
        [memory.created_at for memory in memories],
        [str(memory.meta.get("chat_id") or "") for memory in memories],
        [memory.importance for memory in memories],
        previous,
    )


def content_hash(text: str) -> str:
    """A key for a text: 32 hexadecimal digits."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=16).hexdigest()
