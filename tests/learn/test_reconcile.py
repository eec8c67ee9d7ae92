"""What becomes of the operations of a reply beside the store and each other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from adaptive.core.model import Draft, Memory, Operation, StoreStamp
from adaptive.core.table_ports import StoredVector
from adaptive.learn.duplicates import (
    KNOWN_ALREADY,
    REPLACED_IN_BATCH,
    reconciled,
)
from adaptive.learn.lesson import allowed_deletions
from adaptive.learn.operations import Extraction
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.index import MemoryIndex, build_index, content_hash
from tests.fakes import hook_settings, memory

# Null prompts whose mean cosine is almost 0: the likeness of two vectors is almost their cosine.
NULLS = np.eye(1, 4, dtype=np.float32) * (1 - 2 * (np.arange(len(NULL_PROMPTS))[:, None] % 2))
NULLS = NULLS.astype(np.float32)


def index_of(
    *memories: Memory, vectors: Mapping[str, Sequence[float]] | None = None
) -> MemoryIndex:
    """An index of memories, some with vectors."""
    contents = {one.id: one.content for one in memories}
    known = {
        id: StoredVector(content_hash(contents[id]), np.asarray(vector, dtype=np.float32))
        for id, vector in (vectors or {}).items()
    }
    stamp = StoreStamp(len(memories), 1)
    return build_index(memories, known, NULLS, "fake", stamp, 0.0)


def new(content: str, **fields: Any) -> Operation:
    """A proposed new fact."""
    return Operation("NEW", "", Draft(content, **fields))


def update(id: str, content: str, **fields: Any) -> Operation:
    """A proposed change."""
    return Operation("UPDATE", id, Draft(content, **fields))


def delete(id: str) -> Operation:
    """A proposed removal."""
    return Operation("DELETE", id)


HOME = memory("home", "User lives in Porto.", created_at=10)
DOG = memory("dog", "User has a dog named Rex.", created_at=20)
TEA = memory("tea", "User likes tea.", created_at=30)
STORE = (HOME, DOG, TEA)


def outcome(result: Extraction) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
    """Operations and outcomes as plain values."""
    return (
        [(one.kind, one.id, one.draft.content) for one in result.operations],
        [(one.content, one.reason) for one in result.refused],
    )


@dataclass(frozen=True)
class Reply:
    """A reply on a store of home, dog and tea, what is carried out of it, and what is not."""

    id: str
    operations: list[Operation]
    carried_out: list[tuple[str, str, str]]
    left: list[tuple[str, str]] = field(default_factory=list)
    valves: dict[str, Any] = field(default_factory=dict)


LISBON = "User lives in Lisbon."
ROME = "User lives in Rome."
REPLIES = (
    Reply("nothing", [], []),
    Reply("new", [new("User plays chess.")], [("NEW", "", "User plays chess.")]),
    Reply(
        "known", [new("User resides in Porto.")], [], [("User resides in Porto.", KNOWN_ALREADY)]
    ),
    Reply("another value", [new(LISBON)], [("NEW", "", LISBON)]),
    Reply(
        "more of it",
        [new("User likes tea with milk.")],
        [("NEW", "", "User likes tea with milk.")],
    ),
    Reply("update", [update("home", LISBON)], [("UPDATE", "home", LISBON)]),
    Reply(
        "update that changes nothing",
        [update("home", HOME.content)],
        [],
        [(HOME.content, KNOWN_ALREADY)],
    ),
    Reply(
        "update that says when it ends",
        [update("home", HOME.content, until="2027-01-31")],
        [("UPDATE", "home", HOME.content)],
    ),
    Reply("delete", [delete("dog")], [("DELETE", "dog", "")]),
    Reply(
        "deleted and said anew",
        [delete("home"), new(LISBON)],
        [("DELETE", "home", ""), ("NEW", "", LISBON)],
    ),
    Reply(
        "twice",
        [new("User has a cat."), new("user has a cat")],
        [("NEW", "", "User has a cat.")],
        [("user has a cat", KNOWN_ALREADY)],
    ),
    Reply(
        "twice in other words",
        [new("User has a cat."), new("User owns a cat.")],
        [("NEW", "", "User has a cat.")],
        [("User owns a cat.", KNOWN_ALREADY)],
    ),
    Reply(
        "new says what the row said that is changed",
        [update("home", LISBON), new("User resides in Porto.")],
        [("UPDATE", "home", LISBON), ("NEW", "", "User resides in Porto.")],
    ),
    Reply(
        "two updates of a row",
        [update("home", ROME), update("home", LISBON)],
        [("UPDATE", "home", LISBON)],
        [(ROME, REPLACED_IN_BATCH)],
    ),
    Reply(
        "new says what the update says",
        [update("home", LISBON), new("User resides in Lisbon.")],
        [("UPDATE", "home", LISBON)],
        [("User resides in Lisbon.", KNOWN_ALREADY)],
    ),
    Reply(
        "update says what the new says",
        [new(LISBON), update("home", "User resides in Lisbon.")],
        [("UPDATE", "home", "User resides in Lisbon.")],
        [(LISBON, KNOWN_ALREADY)],
    ),
    Reply(
        "updated and deleted",
        [update("tea", "User hates tea."), delete("tea")],
        [("DELETE", "tea", "")],
        [("User hates tea.", REPLACED_IN_BATCH)],
    ),
    Reply(
        "deleted and updated",
        [delete("tea"), update("tea", "User hates tea.")],
        [("UPDATE", "tea", "User hates tea.")],
        [("User likes tea.", REPLACED_IN_BATCH)],
    ),
    Reply(
        "everything is kept",
        [new("User resides in Porto."), new(LISBON)],
        [("NEW", "", "User resides in Porto."), ("NEW", "", LISBON)],
        [],
        {"deduplicate_memories": False},
    ),
)


@pytest.mark.parametrize("case", REPLIES, ids=lambda case: case.id)
def test_reconciled(case: Reply) -> None:
    """A reply doubles neither the store nor itself, whatever the order of rows."""
    settings = hook_settings(**case.valves)
    for rows in itertools.permutations(STORE):
        result = reconciled(case.operations, index_of(*rows), {}, settings)
        assert outcome(result) == (case.carried_out, case.left)
        assert {one.status for one in result.refused} <= {"unchanged"}


VECTORS = {"home": (0, 0, 1, 0), "tea": (0, 0, 0, 1)}


@dataclass(frozen=True)
class Vectored:
    """A new fact with its vector, what becomes of it, and the valve ``similarity_threshold``."""

    id: str
    content: str
    vector: tuple[float, ...]
    stored: list[str]
    threshold: float = 0.0


FOND = "User is fond of tea."
WORDED = "User is really very fond of tea."
RESIDES = "User resides in Porto."
WITH_VECTORS = (
    Vectored("one word for another", "User prefers tea.", (0, 0, 0, 1), ["User prefers tea."]),
    Vectored("learned, near", FOND, (0, 0, 0, 1), []),
    Vectored("learned, far", FOND, (0, 0, 1, 0), [FOND]),
    Vectored("not learned as a whole, near", WORDED, (0, 0, 0, 1), []),
    Vectored("not learned as a whole, not near enough", WORDED, (0, 0.6, 0, 0.8), [WORDED]),
    Vectored("not learned as a whole, no vector", WORDED, (0, 0, 0, 0), [WORDED]),
    Vectored("of another model", WORDED, (0, 1), [WORDED]),
    Vectored("valve raised", RESIDES, (0, 0.6, 0.8, 0), [RESIDES], 0.9),
    Vectored("valve met", RESIDES, (0, 0, 1, 0), [], 0.9),
    Vectored("valve lowered", WORDED, (0, 0.6, 0, 0.8), [], 0.7),
    Vectored("valve without a vector", RESIDES, (0, 0, 0, 0), [], 0.95),
)


@pytest.mark.parametrize("case", WITH_VECTORS, ids=lambda case: case.id)
def test_reconciled_with_vectors(case: Vectored) -> None:
    """Vectors add to what words tell, as far as the valve allows; nothing fails without them."""
    index = index_of(*STORE, vectors=VECTORS)
    vector = np.asarray(case.vector, dtype=np.float32)
    known = {case.content: vector} if vector.any() else {}
    settings = hook_settings(similarity_threshold=case.threshold)
    result = reconciled([new(case.content)], index, known, settings)
    assert [one.draft.content for one in result.operations] == case.stored


def test_found_in_a_large_store() -> None:
    """The row that says the same is found among thousands, in other words, without vectors."""
    rows = [
        memory(f"m-{at}", f"User likes thing{at} and place{at} in Lisbon.", created_at=at)
        for at in range(3000)
    ]
    home = memory("home", "User resides in Porto.", created_at=3)
    index = index_of(*rows[:1500], home, *rows[1500:])
    said = [new("User lives in Porto."), new(LISBON)]
    assert outcome(reconciled(said, index, {}, hook_settings()))[0] == [("NEW", "", LISBON)]


@pytest.mark.parametrize(
    ("deletions", "others", "size", "asked"),
    [
        (0, 2, 0, 0),
        (1, 0, 1, 0),
        (2, 0, 9, 2),
        (2, 1, 10, 0),
        (3, 0, 14, 3),
        (3, 0, 15, 0),
        (4, 2, 1000, 4),
    ],
)
def test_many_deletions_are_asked_for(deletions: int, others: int, size: int, asked: int) -> None:
    """More than three deletions, or several that are over a fifth of the store, wait for a yes."""
    operations = [*(delete(str(at)) for at in range(deletions)), *[new(ROME)] * others]
    allowed, to_ask = allowed_deletions(operations, size)
    assert (len(to_ask), len(allowed)) == (asked, len(operations) - asked)
    assert {one.kind for one in to_ask} <= {"DELETE"}
