"""Writing accepted operations, none spoiling another."""

from __future__ import annotations

from adaptive.core.model import Draft, Operation, Outcome
from adaptive.core.ports import MemoryStore
from adaptive.learn.apply import apply_operations, finish_broken_off
from adaptive.learn.archive import UserStore
from adaptive.privacy.gate import AuditTrail, GuardedStore, gate_policy
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


END = Operation("END", "m-2", Draft(DOG.content))


async def test_ended_memory_that_is_changed_meanwhile() -> None:
    """What says something else by then stays as it is, and the outcome is a failure."""
    store = ListedMemories(TEA, DOG)
    store.edit("m-2", "User's dog is called Rex.")
    (outcome,) = await apply_operations([END], [TEA, DOG], room(store), SOURCE, always_held, NOW)
    assert outcome.status == "failed"
    assert store.contents == [TEA.content, "User's dog is called Rex."]
