"""Writing, pruning and bringing back: that nothing is lost, whatever breaks on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from adaptive.core.model import (
    Draft,
    Memory,
    Proposal,
    StoreError,
    TablesUnavailable,
)
from adaptive.learn.queue import always
from adaptive.memory.archive import (
    plan_restoration,
    prune_store,
    restore_memory,
)
from adaptive.memory.audit import AuditEntry
from adaptive.memory.gate import Gate, draft_of
from adaptive.memory.tables import ArchivedMemory
from adaptive.memory.writing import apply_proposals
from tests.fakes import SOURCE, hook_settings, memory
from tests.learn.world import NOW, Fuse, Killed, World, fuses


def rows(*ids: str, **fields: Any) -> list[Memory]:
    """Memories of these ids, the first the oldest."""
    return [
        memory(id, f"Fact {id}.", created_at=at, **fields)
        for at, id in enumerate(ids, 1)
    ]


# The first is a core fact, "c" has ended, "e" is the most important of the rest.
KEPT = [
    *rows("a", importance=9),
    *(replace(one, updated_at=at) for at, one in enumerate(rows("b"), 2)),
    replace(rows("c")[0], updated_at=3, until="2020-01-14"),
    replace(rows("d")[0], updated_at=4, importance=3),
    replace(rows("e")[0], updated_at=5, importance=6),
]
CHOICES = [(0, "", ""), (2, "cdb", ""), (2, "cde", "ba")]


@pytest.mark.parametrize(("limit", "gone", "fresh"), CHOICES)
async def test_order(limit: int, gone: str, fresh: str) -> None:
    """The least important goes first; core facts go last, what is new never."""
    world = World(*KEPT)
    settings = hook_settings(max_total_memories=limit)
    told = await prune_store(world.room(), settings, SOURCE, frozenset(fresh))
    assert [one.before for one in told] == [f"Fact {id}." for id in gone]


async def test_archive_that_keeps_nothing() -> None:
    """Nothing leaves the store for an archive that says it holds it, and does not."""
    world = World(*rows("a", "b"))
    world.archive.put = AsyncMock()
    settings = hook_settings(max_total_memories=1)
    assert await prune_store(world.room(), settings, SOURCE, frozenset()) == []
    assert world.contents == ["Fact a.", "Fact b."]


async def test_pruned_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too much goes by one deletion; where that fails, all of it stays for the next time."""
    for broken, left in (("", "e"), ("b", "abcde")):
        world = World(*rows("a", "b", "c", "d", "e"), broken=[broken])
        write = AsyncMock(wraps=world.store.write)
        monkeypatch.setattr(world.store, "write", write)
        settings = hook_settings(max_total_memories=1)
        await prune_store(world.room(), settings, SOURCE, frozenset())
        assert write.await_count == 1
        assert world.contents == [f"Fact {id}." for id in left]
        pruned = [change.memory_id for change in world.audit.entries]
        assert pruned == [id for id in "abcde" if id not in left]


async def test_pruned_into_the_archive() -> None:
    """What goes stands in the archive whole, with when and why; the user is told of each."""
    gone = replace(
        rows("a")[0],
        tags=("goal",),
        bank="Work",
        meta={"said_at": 3, "chat_id": "c"},
    )
    world = World(gone, *rows("b", "c"))
    settings = hook_settings(max_total_memories=2)
    told = await prune_store(world.room(), settings, SOURCE, frozenset("bc"))
    reason = "more than 2 memories; the least important go first"
    assert told == [
        Proposal(
            "END",
            "a",
            draft=draft_of(gone),
            status="archived",
            reason=reason,
            before="Fact a.",
        )
    ]
    assert world.contents == ["Fact b.", "Fact c."]
    copy = world.archive.rows["a"]
    assert copy == ArchivedMemory(gone, reason, copy.archived_at)
    (change,) = world.audit.entries
    assert change == AuditEntry(
        kind="pruned",
        memory_id="a",
        changed_at=change.changed_at,
        before=gone,
        reason=reason,
        chat_id=SOURCE.chat_id,
        message_id=SOURCE.message_id,
        archived=copy,
    )


async def test_pruning_broken_at_any_call() -> None:
    """Whichever call breaks, no fact is lost, and the next turn ends where it should have."""
    settings = hook_settings(max_total_memories=2)
    facts = {f"Fact {id}." for id in "abcde"}
    for fuse in fuses(14):
        world = World(*rows(*"abcde"))
        try:
            told = await prune_store(
                world.room(fuse), settings, SOURCE, frozenset()
            )
            assert {one.before for one in told} <= facts - set(world.contents)
        except Killed:
            assert fuse.kills
        where = f"{fuse.calls} broke at its end"
        assert set(world.contents) | world.archive.contents == facts, where
        assert len(world.contents) >= 2, where
        await prune_store(world.room(), settings, SOURCE, frozenset())
        assert world.contents == ["Fact d.", "Fact e."], where
        assert world.archive.contents == {"Fact a.", "Fact b.", "Fact c."}, (
            where
        )


async def test_audit_trail(caplog: pytest.LogCaptureFixture) -> None:
    """A trail holds no secret of another tool's row; where it can't be written nothing stops."""
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    world = World()
    plain = AuditEntry(
        "saved", "m-1", 7, None, "User likes tea.", "why", "c", "m"
    )
    said = f"User's token is {token}."
    gone = Memory(
        "m-2",
        said,
        1,
        1,
        meta={"history": [said]},
        stored=(said, "context", None),
    )
    secret = AuditEntry("deleted", "m-2", 7, gone, token)
    await world.room().trail.record("ada", [plain, secret])
    await world.room(Fuse(at=0)).trail.record("ada", [plain])
    assert world.audit.told() == [("saved", "m-1"), ("deleted", "m-2")]
    assert world.audit.entries[0] == plain
    assert token not in repr(world.audit.entries)
    assert caplog.messages == [
        "changes are not written down: append is broken"
    ]


async def test_ids_are_no_secrets() -> None:
    """A row whose ids look like a code by chance is noted whole, so that it can be put back."""
    world = World()
    by_chance = "f668c26c-62fa-4d30-9f2f-a70c0de2fa48"
    meta = {"message_id": f"pin {by_chance}", "passed": by_chance}
    said = "User lives in Porto."
    row = Memory("m-1", said, 1, 1, meta=meta, stored=(said, "user", "Home"))
    change = AuditEntry("updated", "m-1", 7, row, "User lives in Lisbon.")
    await world.room().trail.record("ada", [change])
    assert world.audit.entries == [change]


# --- bringing back ---

SAID = {
    "chat_id": "c",
    "message_id": "m",
    "said_at": 4,
    "history": [{"content": "coffee"}],
}
LABELS = (("preference",), "Work", 0.5, 7)
FULL = Memory(
    "old", "User likes tea.", 5, 6, *LABELS, meta=SAID, until="2030-05-01"
)


async def test_restored() -> None:
    """A restored memory says what it said, from where it was said, and leaves the archive."""
    world = World()
    room = world.room()
    await room.archive.put("ada", [ArchivedMemory(FULL, "too many", NOW)])
    assert await restore_memory(room, "old")
    (row,) = world.store.rows.values()
    assert replace(row, updated_at=6) == FULL
    assert world.archive.rows == {}
    archived = ArchivedMemory(FULL, "too many", NOW)
    (change,) = world.audit.entries
    assert change == AuditEntry(
        kind="restored",
        memory_id=row.id,
        changed_at=change.changed_at,
        after=row.content,
        archived=archived,
    )
    assert not await restore_memory(room, "old")


@pytest.mark.parametrize(
    "standing",
    [
        memory("old", "User likes tea, green."),
        memory("new", "user likes  TEA"),
    ],
    ids=["never deleted", "said again"],
)
async def test_not_restored_twice(standing: Memory) -> None:
    """What stands in the store already is not written again, nor told as restored."""
    world = World(standing)
    room = world.room()
    await room.archive.put("ada", [ArchivedMemory(FULL, "too many", NOW)])
    assert not await restore_memory(room, "old")
    assert world.contents == [standing.content]
    assert world.archive.rows == {}


@pytest.mark.parametrize("keeps_meta", [True, False])
async def test_restoring_broken_at_any_call(*, keeps_meta: bool) -> None:
    """Whichever call breaks, another try has the memory in the store, once, on any release."""
    for fuse in fuses(8):
        world = World(memory("x", "Other."), keeps_meta=keeps_meta)
        await world.archive.put("ada", [ArchivedMemory(FULL, "too many", NOW)])
        try:
            await restore_memory(world.room(fuse), "old")
        except (Killed, StoreError, TablesUnavailable):
            assert fuse.kills or fuse.blown
        assert "User likes tea." in {*world.contents, *world.archive.contents}
        await restore_memory(world.room(), "old")
        assert world.contents == ["Other.", "User likes tea."], fuse.calls
        assert world.archive.rows == {}


async def test_restored_and_archived() -> None:
    """What is back in the store is told and logged so, though its archived copy can't be dropped."""
    world = World()
    await world.archive.put("ada", [ArchivedMemory(FULL, "too many", NOW)])
    world.archive.discard = AsyncMock(side_effect=TablesUnavailable("away"))
    assert await world.room().restore(["old"]) == ["Restored: 1 memory."]
    assert world.contents == ["User likes tea."]
    assert [change.kind for change in world.audit.entries] == ["restored"]


async def test_restored_elsewhere_meanwhile() -> None:
    """What another tab has brought back is counted neither as restored nor as still archived."""
    world = World(memory("x", "Other."))
    other = memory("b", "User lives in Porto.")
    copies = [ArchivedMemory(each, "old", NOW) for each in (FULL, other)]
    await world.archive.put("ada", copies)
    assert await restore_memory(world.room(), "old")
    ada = world.memory(blacklist_topics="porto")
    (told,) = await ada.restore(["old", "b"])
    assert told.startswith("Still archived: 1 (")


async def test_two_copies_of_a_fact() -> None:
    """Of copies that say the same one comes back, and the other is told to stay."""
    world = World()
    copies = [
        ArchivedMemory(memory(each, "User likes tea."), "old", NOW)
        for each in ("a", "b")
    ]
    await world.archive.put("ada", copies)
    chosen, told = plan_restoration(copies, [], 0)
    assert [one.content for one in chosen] == ["User likes tea."]
    assert told.startswith("Still archived: 1 (")


# --- writing what was accepted, none spoiling another ---------------------------------------------

LIKES_TEA = memory("m-1", "User likes tea.")
HAS_DOG = memory("m-2", "User's dog is called Biscuit.")
SAID_AT = 1_700_000_500


async def applied(
    world: World, proposal: Proposal, *known: Memory
) -> Proposal:
    """What becomes of a proposal by one who takes these memories for the store."""
    (outcome,) = await apply_proposals(
        [proposal], known, world.room(), SOURCE, always
    )
    return outcome


async def test_typed_words_stand_alone() -> None:
    """What a user types in a memory's place is all that it says then, where nothing keeps history."""
    world = World(LIKES_TEA, keeps_meta=False)
    world.store.keeps_history = False
    draft = Draft("User hates tea.")
    change = Proposal("UPDATE", "m-1", draft, fact_kind="ASKED")
    await applied(world, change, LIKES_TEA)
    assert world.contents == ["User hates tea."]


async def test_former_content_without_a_place_for_it() -> None:
    """On a release without history a changed fact tells in itself what it was before, once."""
    world = World(LIKES_TEA, keeps_meta=False)
    world.store.keeps_history = False
    outcome = await applied(
        world, Proposal("UPDATE", "m-1", Draft("User hates tea.")), LIKES_TEA
    )
    assert outcome.draft.content == "User hates tea."
    assert world.contents == [
        "User hates tea. (until 2023-11: User likes tea)"
    ]
    (row,) = world.store.rows.values()
    await applied(
        world, Proposal("UPDATE", "m-1", Draft("User loves coffee.")), row
    )
    assert world.contents == [
        "User loves coffee. (until 2023-11: User hates tea)"
    ]
    (row,) = world.store.rows.values()
    more = Draft("User loves coffee and cake.")
    world.store.rows["m-1"] = replace(row, content="User loves coffee.")
    await applied(
        world, Proposal("UPDATE", "m-1", more), world.store.rows["m-1"]
    )
    assert world.contents == [more.content]


async def test_gate_refuses() -> None:
    """What the store's gate refuses is told by its reason alone, and is not tried again."""
    world, card = (
        World(LIKES_TEA),
        Draft("User pays with card 4111 1111 1111 1111."),
    )
    gate = Gate(hook_settings())
    new = Proposal("NEW", "", Draft("User lives in Lisbon."))
    proposals = [
        Proposal("NEW", "", card),
        Proposal("UPDATE", "m-1", card),
        new,
    ]
    room = replace(world.room(), gate=gate)
    outcomes = await apply_proposals(
        proposals, [LIKES_TEA], room, SOURCE, always
    )
    reason = "it holds personal data that is not to be stored: card"
    assert outcomes == [
        Proposal("NEW", status="rejected", reason=reason),
        Proposal("UPDATE", "m-1", status="rejected", reason=reason),
        replace(new, memory_id="new-1", status="saved"),
    ]
    assert world.store.contents == [LIKES_TEA.content, "User lives in Lisbon."]


async def test_archived_memory_that_is_changed_meanwhile() -> None:
    """What says something else by then stays as it is, and the outcome is a failure."""
    world = World(LIKES_TEA, HAS_DOG)
    world.store.edit("m-2", "User's dog is called Rex.")
    outcome = await applied(
        world,
        Proposal("END", "m-2", Draft(HAS_DOG.content)),
        LIKES_TEA,
        HAS_DOG,
    )
    assert outcome.status == "failed"
    assert world.store.contents == [
        LIKES_TEA.content,
        "User's dog is called Rex.",
    ]
