"""One version of a user's memories, prepared for ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.model import Memory, StoreStamp
from adaptive.ports import Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.fusion import Asked, rank
from adaptive.search.index import IndexParts, MemoryIndex, build_index, content_hash
from adaptive.search.vectors import normalised
from adaptive.table_ports import StoredVector
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
    return build_index(IndexParts(memories, known, nulls, **given))


def test_order_is_that_of_learning() -> None:
    """Memories stand oldest first, whatever order the database gives, and are known by place."""
    index = index_of()
    assert [one.id for one in index.memories] == ["dog", "home", "tea"]
    assert dict(index.places) == {"dog": 0, "home": 1, "tea": 2}
    assert index.hashes == tuple(content_hash(one.content) for one in index.memories)
    assert np.array_equal(index.shelf.vectors[2], stored(ALL)["tea"].vector)
    assert (index.complete, index.calibrated, index.ready) == (True, True, True)


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


def test_missing_newest_first() -> None:
    """What has no vector is embedded by its last change, the newest first."""
    index = index_of(known={})
    assert [index.memories[place].id for place in index.missing()] == ["dog", "home", "tea"]
    assert (index.complete, index.dimension) == (False, 0)
    partly = index_of(known=stored([HOME]))
    assert [partly.memories[place].id for place in partly.missing()] == ["dog", "tea"]


@dataclass(frozen=True)
class Known:
    """What the table knows of DOG, and whether the index uses it."""

    id: str
    vector: StoredVector
    used: bool


KNOWN = [
    Known("same text", StoredVector(content_hash(DOG.content), np.ones(DIMENSION)), True),
    Known("old text", StoredVector(content_hash("User has a cat."), np.ones(DIMENSION)), False),
    Known("other length", StoredVector(content_hash(DOG.content), np.ones(3)), False),
]


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.id)
def test_known_vectors(case: Known) -> None:
    """A vector is used for the text it was made of alone, and next to others of its length."""
    index = index_of(known={**stored([TEA]), "dog": case.vector, "gone": case.vector})
    assert bool(index.embedded[index.places["dog"]]) == case.used
    assert bool(index.shelf.vectors[index.places["dog"]].any()) == case.used
    assert set(index.stored_vectors()) == {"tea", "dog"} if case.used else {"tea"}


def test_stored_vectors_make_the_same_index() -> None:
    """What an index gives back for the next version is what it was made of."""
    first = index_of(known=stored([TEA, HOME]))
    second = index_of(known=first.stored_vectors(), previous=first)
    assert np.array_equal(first.shelf.vectors, second.shelf.vectors)
    assert np.array_equal(first.embedded, second.embedded)


def test_with_vectors() -> None:
    """Vectors are filled in where the text is still the same; the former version is untouched."""
    before = index_of(known=stored([TEA]))
    changed = StoredVector(content_hash("User had a home."), np.ones(DIMENSION, np.float32))
    after = before.with_vectors({**stored([DOG]), "home": changed, "gone": changed})
    assert set(after.stored_vectors()) == {"tea", "dog"}
    assert set(before.stored_vectors()) == {"tea"}
    assert after.shelf.levels


def test_with_vectors_of_another_length() -> None:
    """Vectors of another length replace all former ones: they can't be compared."""
    after = index_of().with_vectors(stored([DOG], dimension=5))
    assert after.dimension == 5
    assert set(after.stored_vectors()) == {"dog"}
    assert (after.calibrated, after.shelf.levels) == (False, {})


def test_without_vectors() -> None:
    """An index that begins anew still finds by keywords."""
    after = index_of().without_vectors()
    assert (after.dimension, after.missing(), after.ready) == (0, [0, 1, 2], False)
    assert after.memories[rank(after.shelf, Asked("any tea?", None))[0].place] == TEA


def test_with_nulls() -> None:
    """The null prompts calibrate an index that had none."""
    before = index_of(nulls=None)
    assert (before.complete, before.ready, before.shelf.levels) == (True, False, {})
    after = before.with_nulls(NULLS)
    assert after.ready
    assert after.shelf.levels == index_of().shelf.levels


def test_empty() -> None:
    """A user without memories has an index, which is ready and finds nothing."""
    index = index_of((), {}, None)
    assert (index.ready, index.dimension, index.missing()) == (True, 0, [])
    assert rank(index.shelf, Asked("tea", None)) == []


def test_more_takes_more() -> None:
    """The size that counts against the budget grows with texts and with vectors."""
    bare = index_of(known={}, nulls=None)
    assert bare.nbytes < index_of().nbytes
    long = replace(TEA, content="User likes tea. " * 100)
    assert index_of([long, DOG, HOME]).nbytes > index_of().nbytes + 1000


texts = st.text(max_size=20)


@settings(deadline=None)
@given(st.lists(st.tuples(texts, st.integers(0, 5)), max_size=8), st.data())
def test_any_version_after_any_other(rows: list[tuple[str, int]], data: st.DataObject) -> None:
    """An index that reuses its former version equals one that is made anew."""
    memories = [
        memory(f"m-{n}", content, created_at=age, updated_at=n)
        for n, (content, age) in enumerate(rows)
    ]
    kept = data.draw(st.lists(st.sampled_from(memories), unique_by=id)) if memories else []
    former = index_of(kept)
    known = former.stored_vectors()
    reused, anew = index_of(memories, known, previous=former), index_of(memories, known)
    assert reused.memories == anew.memories
    assert sorted(reused.missing() + list(np.flatnonzero(reused.embedded))) == [*range(len(rows))]
    for name in ("vectors", "embedded", "centrality", "places"):
        assert np.array_equal(getattr(reused.shelf, name), getattr(anew.shelf, name))
    for word in ("user", "tea"):
        assert np.array_equal(
            reused.shelf.keywords.scores([word]), anew.shelf.keywords.scores([word])
        )


def test_content_hash() -> None:
    """The key of a text is short, differs for other texts, and takes half characters."""
    assert content_hash("a") == content_hash("a") != content_hash("b")
    assert len(content_hash("\ud800" * 1000)) == 32
