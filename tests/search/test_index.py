"""One version of a user's memories, prepared for ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adaptive.core.model import Memory, StoreStamp
from adaptive.core.ports import Vectors
from adaptive.core.table_ports import StoredVector
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.index import MemoryIndex, build_index, content_hash
from adaptive.search.vectors import normalised
from tests.fakes import memory
from tests.rates import over

DIMENSION = 8
OLD = StoreStamp(3, 100)
TEA = memory("tea", "User likes tea.", created_at=3, updated_at=30)
DOG = memory("dog", "User has a dog.", created_at=1, updated_at=90)
HOME = memory("home", "User lives in Lisbon.", created_at=2, updated_at=60)
ALL = (TEA, DOG, HOME)


def vectors_of(seed: int, size: int, dimension: int = DIMENSION) -> Vectors:
    """Vectors of length 1."""
    chance = np.random.default_rng(seed)
    return normalised(chance.normal(size=(size, dimension)).astype(np.float32))


def stored(memories: Sequence[Memory], dimension: int = DIMENSION) -> dict[str, StoredVector]:
    """A vector for each."""
    rows = vectors_of(1, len(memories), dimension)
    return {
        one.id: StoredVector(content_hash(one.content), row)
        for one, row in zip(memories, rows, strict=True)
    }


NULLS = vectors_of(2, len(NULL_PROMPTS))


def index_of(
    memories: Sequence[Memory] = ALL, known: Any = None, nulls: Vectors | None = NULLS, **parts: Any
) -> MemoryIndex:
    """An index that was read long after the last change, with all vectors unless some are given."""
    known = stored(memories) if known is None else known
    given = {"embedder": "e", "stamp": OLD, "read_at": 1000.0, **parts}
    return build_index(memories, known, nulls, **given)


def test_order_is_that_of_learning() -> None:
    """Memories stand oldest first, whatever order the database gives, and are known by place."""
    index = index_of()
    assert [one.id for one in index.memories] == ["dog", "home", "tea"]
    assert dict(index.places) == {"dog": 0, "home": 1, "tea": 2}
    assert index.hashes == tuple(content_hash(one.content) for one in index.memories)
    assert np.array_equal(index.shelf.vectors[2], stored(ALL)["tea"].vector)
    assert index.ready


@dataclass(frozen=True)
class Standing:
    """When the newest change was and when the rows were read; the stamp now; whether it stands."""

    id: str
    newest: int
    read_at: float
    now: StoreStamp
    stands: bool


STANDING = [
    Standing("unchanged", 100, 1000.0, StoreStamp(3, 100), True),
    Standing("one more", 100, 1000.0, StoreStamp(4, 100), False),
    Standing("one less", 100, 1000.0, StoreStamp(2, 100), False),
    Standing("newer", 100, 1000.0, StoreStamp(3, 101), False),
    Standing("newest is gone", 100, 1000.0, StoreStamp(3, 99), False),
    Standing("same second", 100, 100.9, StoreStamp(3, 100), False),
    Standing("next second", 100, 101.9, StoreStamp(3, 100), False),
    Standing("two seconds after", 100, 102.0, StoreStamp(3, 100), True),
    Standing("dated ahead", 5000, 1000.0, StoreStamp(3, 5000), False),
]


@over("case", STANDING)
def test_stands(case: Standing) -> None:
    """An index stands while count and newest change do, unless that was just before the reading."""
    index = index_of(stamp=StoreStamp(3, case.newest), read_at=case.read_at)
    assert index.stands(case.now) == case.stands


@dataclass(frozen=True)
class Known:
    """What the table knows of DOG, and whether the index uses it."""

    id: str
    vector: StoredVector
    used: bool


ONES = np.ones(DIMENSION, np.float32)
KNOWN = [
    Known("same text", StoredVector(content_hash(DOG.content), ONES), True),
    Known("old text", StoredVector(content_hash("User has a cat."), ONES), False),
    Known("other length", StoredVector(content_hash(DOG.content), ONES[:3]), False),
]


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.id)
def test_known_vectors(case: Known) -> None:
    """A vector is used for the text it was made of alone, and next to others of its length."""
    index = index_of(known={**stored([TEA]), "dog": case.vector, "gone": case.vector})
    assert bool(index.embedded[index.places["dog"]]) == case.used
    assert bool(index.shelf.vectors[index.places["dog"]].any()) == case.used
    assert set(index.stored_vectors()) == {"tea", "dog"} if case.used else {"tea"}


def test_with_vectors_of_another_length() -> None:
    """Vectors of another length replace all former ones: they can't be compared."""
    after = index_of().with_vectors(stored([DOG], dimension=5), NULLS)
    assert after.dimension == 5
    assert set(after.stored_vectors()) == {"dog"}
    assert (after.ready, after.shelf.levels) == (False, {})
