"""Writing accepted operations, none spoiling another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from adaptive.errors import LeaseLost, MemoryUnavailable
from adaptive.learn.apply import NO_LONGER_TRUE, apply_operations, audit_entries, finish_broken_off
from adaptive.learn.archive import AuditTrail, UserStore
from adaptive.model import Draft, Memory, Operation, Outcome, Provenance
from adaptive.ports import MemoryStore
from adaptive.privacy.gate import GuardedStore, gate_policy
from adaptive.table_ports import ArchivedMemory
from tests.fakes import SOURCE, ListedMemories, hook_settings, memory
from tests.learn.storerooms import ArchivedRows, CountedRecalls, WrittenAudit

TEA = memory("m-1", "User likes tea.")
DOG = memory("m-2", "User's dog is called Biscuit.")
NEW = Operation("NEW", "", Draft("User lives in Lisbon."))
UPDATE = Operation("UPDATE", "m-1", Draft("User hates tea."))
DELETE = Operation("DELETE", "m-2", Draft(""))
POLICY = gate_policy(hook_settings())
NOW = 1_700_000_500


def room(
    store: MemoryStore, archive: ArchivedRows | None = None, audit: WrittenAudit | None = None
) -> UserStore:
    """A store with its tables."""
    trail = AuditTrail(audit or WrittenAudit())
    return UserStore("ada", store, archive or ArchivedRows(), CountedRecalls(), trail)


async def always_held() -> bool:
    """The turn is this worker's for ever."""
    return True


async def test_every_kind() -> None:
    """New facts are added, changed ones replaced, forgotten ones removed, each told by its text."""
    store = ListedMemories(TEA, DOG)
    assert await apply_operations(
        [NEW, UPDATE, DELETE], [TEA, DOG], room(store), SOURCE, always_held, NOW
    ) == [
        Outcome("saved", "User lives in Lisbon.", memory_id="new-1"),
        Outcome("updated", "User hates tea.", memory_id="m-1", before=TEA.content),
        Outcome("deleted", DOG.content, memory_id="m-2", before=DOG.content),
    ]
    assert store.contents == ["User hates tea.", "User lives in Lisbon."]


async def test_one_failure_spoils_no_other() -> None:
    """A write that can't be proven is told with its reason; the others go on."""
    store = ListedMemories(TEA, DOG, broken=["m-1", "m-2"])
    assert await apply_operations(
        [UPDATE, NEW, DELETE], [TEA, DOG], room(store), SOURCE, always_held, NOW
    ) == [
        Outcome("failed", "User hates tea.", "the table is locked for 'User hates tea.'"),
        Outcome("saved", "User lives in Lisbon.", memory_id="new-1"),
        Outcome("failed", "User's dog is called Biscuit.", "the table is locked for 'm-2'"),
    ]
    assert store.contents == [TEA.content, DOG.content, "User lives in Lisbon."]


async def test_memory_that_is_gone() -> None:
    """A memory that the user deleted meanwhile is neither changed nor made anew."""
    store = ListedMemories()
    outcomes = await apply_operations([UPDATE, DELETE], [], room(store), SOURCE, always_held, NOW)
    assert [(one.status, one.reason) for one in outcomes] == [
        ("rejected", "the memory is gone meanwhile")
    ] * 2
    assert store.contents == []


async def test_refusal_stops() -> None:
    """Where the host allows no memories, nothing of the rest is tried."""
    store = ListedMemories(TEA, refusal="you lack the permission")
    with pytest.raises(MemoryUnavailable, match="you lack the permission"):
        await apply_operations([NEW, UPDATE], [TEA], room(store), SOURCE, always_held, NOW)
    assert store.contents == [TEA.content]


class SwitchedOffAfterOne(ListedMemories):
    """A store that the admin switches off after its first write."""

    async def add(
        self, draft: Draft, source: Provenance, extra: Mapping[str, Any] | None = None
    ) -> Memory:
        added = await super().add(draft, source, extra)
        self.refusal = "memories are switched off"
        return added


async def test_refusal_in_the_middle() -> None:
    """What was written before memories were switched off is told, and what was not is, too."""
    store = SwitchedOffAfterOne(TEA)
    assert await apply_operations([NEW, UPDATE], [TEA], room(store), SOURCE, always_held, NOW) == [
        Outcome("saved", "User lives in Lisbon.", memory_id="new-1"),
        Outcome("failed", "User hates tea.", "memories are switched off"),
    ]


async def test_lost_lease() -> None:
    """Nothing more is written once another worker has the turn."""
    answers = iter([True, False])

    async def held() -> bool:
        return next(answers)

    store = ListedMemories(TEA)
    with pytest.raises(LeaseLost):
        await apply_operations([NEW, UPDATE], [TEA], room(store), SOURCE, held, NOW)
    assert store.contents == [TEA.content, "User lives in Lisbon."]


async def test_changes_for_the_trail() -> None:
    """What was written stands in the trail with its row, both contents, chat and message."""
    store = ListedMemories(TEA, DOG, broken=["User has a cat."])
    operations = [NEW, UPDATE, DELETE, Operation("NEW", "", Draft("User has a cat."))]
    outcomes = await apply_operations(operations, [TEA, DOG], room(store), SOURCE, always_held, NOW)
    entries = audit_entries([*outcomes, Outcome("rejected", "x", "y")], SOURCE, 7)
    assert [(one.kind, one.memory_id, one.before, one.after) for one in entries] == [
        ("saved", "new-1", "", "User lives in Lisbon."),
        ("updated", "m-1", TEA.content, "User hates tea."),
        ("deleted", "m-2", DOG.content, ""),
    ]
    assert {(one.chat_id, one.message_id, one.changed_at) for one in entries} == {
        (SOURCE.chat_id, SOURCE.message_id, 7)
    }


async def test_rows_of_a_broken_off_lesson_are_finished() -> None:
    """A row that an ended process has left without its provenance gets it; no other row does."""
    late = SOURCE.said_at + 1
    left = memory("left", "User lives in Lisbon.", created_at=late)
    older = memory("older", "User lives in Lisbon.", created_at=SOURCE.said_at - 9)
    whole = memory("whole", "User lives in Lisbon.", created_at=late, meta={"message_id": "m"})
    store = ListedMemories(left, older, whole, TEA)
    await finish_broken_off([NEW, UPDATE], [left, older, whole, TEA], store, SOURCE)
    assert store.rows["left"].meta["message_id"] == SOURCE.message_id
    assert [store.rows[one.id] for one in (older, whole, TEA)] == [older, whole, TEA]
    broken = ListedMemories(left, broken=["left"])
    await finish_broken_off([NEW], [left], broken, SOURCE)
    assert broken.rows["left"].meta == {}


async def test_former_content_without_a_place_for_it() -> None:
    """On a release without history a changed fact tells in itself what it was before, once."""
    store = ListedMemories(TEA)
    store.keeps_history = False
    (outcome,) = await apply_operations([UPDATE], [TEA], room(store), SOURCE, always_held, NOW)
    assert outcome.content == "User hates tea."
    assert store.contents == ["User hates tea. (until 2023-11: User likes tea)"]
    (row,) = store.rows.values()
    love = Operation("UPDATE", "m-1", Draft("User loves coffee."))
    await apply_operations([love], [row], room(store), SOURCE, always_held, NOW)
    assert store.contents == ["User loves coffee. (until 2023-11: User hates tea)"]
    more = Operation("UPDATE", "m-2", Draft("User's dog is called Biscuit and is six."))
    store = ListedMemories(DOG)
    store.keeps_history = False
    await apply_operations([more], [DOG], room(store), SOURCE, always_held, NOW)
    assert store.contents == ["User's dog is called Biscuit and is six."]


async def test_gate_refuses() -> None:
    """What the store's gate refuses is told by its reason alone, and is not tried again."""
    card = Draft("User pays with card 4111 1111 1111 1111.")
    store = ListedMemories(TEA)
    outcomes = await apply_operations(
        [Operation("NEW", "", card), Operation("UPDATE", "m-1", card), NEW],
        [TEA],
        room(GuardedStore(store, POLICY)),
        SOURCE,
        always_held,
        NOW,
    )
    reason = "it holds personal data that is not to be stored: card"
    assert outcomes == [
        Outcome("rejected", "", reason),
        Outcome("rejected", "", reason),
        Outcome("saved", "User lives in Lisbon.", memory_id="new-1"),
    ]
    assert store.contents == [TEA.content, "User lives in Lisbon."]


async def test_former_content_that_may_not_be_kept() -> None:
    """Without history, a former content that the gate refuses is dropped, the new one is kept."""
    old = memory("m-1", "User pays with card 4111 1111 1111 1111.")
    store = ListedMemories(old)
    store.keeps_history = False
    update = Operation("UPDATE", "m-1", Draft("User has no credit cards."))
    wall = GuardedStore(store, POLICY)
    (outcome,) = await apply_operations([update], [old], room(wall), SOURCE, always_held, NOW)
    assert outcome.status == "updated"
    assert store.contents == ["User has no credit cards."]


async def test_gate_keeps_a_broken_off_row_as_it_is() -> None:
    """A row that the gate would not let pass any more is left alone, and the lesson goes on."""
    content = "User pays with card 4111 1111 1111 1111."
    left = memory("left", content, created_at=SOURCE.said_at + 1)
    store = ListedMemories(left)
    operations = [Operation("NEW", "", Draft(content))]
    await finish_broken_off(operations, [left], GuardedStore(store, POLICY), SOURCE)
    assert store.rows["left"] == left


END = Operation("END", "m-2", Draft(DOG.content))


async def test_ended_memory_goes_to_the_archive() -> None:
    """What no longer holds is gone from the store, waits in the archive, and is written down."""
    store, archive = ListedMemories(TEA, DOG), ArchivedRows()
    outcomes = await apply_operations(
        [END], [TEA, DOG], room(store, archive), SOURCE, always_held, NOW
    )
    assert outcomes == [Outcome("ended", "", NO_LONGER_TRUE, "m-2", DOG.content)]
    assert store.contents == [TEA.content]
    assert archive.rows["m-2"] == ArchivedMemory(DOG, NO_LONGER_TRUE, NOW)
    (entry,) = audit_entries(outcomes, SOURCE, NOW)
    assert (entry.kind, entry.before, entry.after) == ("ended", DOG.content, "")


async def test_ended_memory_is_rewritten_or_dated() -> None:
    """With another sentence, or a later day, the row stays and says so; nothing is archived."""
    past = Operation("END", "m-2", Draft("User had a dog called Biscuit."))
    later = Operation("END", "m-1", Draft(TEA.content, until="2027-02-28"))
    store, archive = ListedMemories(TEA, DOG), ArchivedRows()
    outcomes = await apply_operations(
        [past, later], [TEA, DOG], room(store, archive), SOURCE, always_held, NOW
    )
    assert [(one.status, one.before) for one in outcomes] == [
        ("ended", DOG.content),
        ("ended", TEA.content),
    ]
    assert store.rows["m-2"].content == "User had a dog called Biscuit."
    assert store.rows["m-1"].until == "2027-02-28"
    assert archive.rows == {}


async def test_ended_memory_that_is_changed_meanwhile() -> None:
    """What says something else by then stays as it is, and the outcome is a failure."""
    store = ListedMemories(TEA, DOG)
    store.edit("m-2", "User's dog is called Rex.")
    (outcome,) = await apply_operations([END], [TEA, DOG], room(store), SOURCE, always_held, NOW)
    assert outcome.status == "failed"
    assert store.contents == [TEA.content, "User's dog is called Rex."]
