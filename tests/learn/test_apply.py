"""Writing accepted operations, none spoiling another."""

from __future__ import annotations

import pytest

from adaptive.errors import MemoryUnavailable
from adaptive.learn.apply import apply_operations
from adaptive.model import Draft, Memory, Operation, Outcome, Provenance
from tests.fakes import SOURCE, ListedMemories, memory

TEA = memory("m-1", "User likes tea.")
DOG = memory("m-2", "User's dog is called Biscuit.")
NEW = Operation("NEW", "", Draft("User lives in Lisbon."))
UPDATE = Operation("UPDATE", "m-1", Draft("User hates tea."))
DELETE = Operation("DELETE", "m-2", Draft(""))


async def test_every_kind() -> None:
    """New facts are added, changed ones replaced, forgotten ones removed, each told by its text."""
    store = ListedMemories(TEA, DOG)
    assert await apply_operations([NEW, UPDATE, DELETE], [TEA, DOG], store, SOURCE) == [
        Outcome("saved", "User lives in Lisbon."),
        Outcome("updated", "User hates tea."),
        Outcome("deleted", "User's dog is called Biscuit."),
    ]
    assert store.contents == ["User hates tea.", "User lives in Lisbon."]


async def test_one_failure_spoils_no_other() -> None:
    """A write that can't be proven is told with its reason; the others go on."""
    store = ListedMemories(TEA, DOG, broken=["m-1", "m-2"])
    assert await apply_operations([UPDATE, NEW, DELETE], [TEA, DOG], store, SOURCE) == [
        Outcome("failed", "User hates tea.", "the table is locked for 'User hates tea.'"),
        Outcome("saved", "User lives in Lisbon."),
        Outcome("failed", "User's dog is called Biscuit.", "the table is locked for 'm-2'"),
    ]
    assert store.contents == [TEA.content, DOG.content, "User lives in Lisbon."]


async def test_memory_that_is_gone() -> None:
    """A memory that the user deleted meanwhile is neither changed nor made anew."""
    store = ListedMemories()
    outcomes = await apply_operations([UPDATE, DELETE], [], store, SOURCE)
    assert [(one.status, one.reason) for one in outcomes] == [
        ("rejected", "the memory is gone meanwhile")
    ] * 2
    assert store.contents == []


async def test_refusal_stops() -> None:
    """Where the host allows no memories, nothing of the rest is tried."""
    store = ListedMemories(TEA, refusal="you lack the permission")
    with pytest.raises(MemoryUnavailable, match="you lack the permission"):
        await apply_operations([NEW, UPDATE], [TEA], store, SOURCE)
    assert store.contents == [TEA.content]


class SwitchedOffAfterOne(ListedMemories):
    """A store that the admin switches off after its first write."""

    async def add(self, draft: Draft, source: Provenance) -> Memory:
        added = await super().add(draft, source)
        self.refusal = "memories are switched off"
        return added


async def test_refusal_in_the_middle() -> None:
    """What was written before memories were switched off is told, and what was not is, too."""
    store = SwitchedOffAfterOne(TEA)
    assert await apply_operations([NEW, UPDATE], [TEA], store, SOURCE) == [
        Outcome("saved", "User lives in Lisbon."),
        Outcome("failed", "User hates tea.", "memories were switched off meanwhile"),
    ]


async def test_nothing_to_do() -> None:
    """Without operations nothing is written and nothing is told."""
    assert await apply_operations([], [TEA], ListedMemories(TEA), SOURCE) == []
