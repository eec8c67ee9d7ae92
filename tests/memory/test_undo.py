"""Taking changes back: whatever was done, undoing all of it leaves the store as it was before."""

from __future__ import annotations

import asyncio
import contextlib
import random
from dataclasses import replace
from typing import Any

import pytest

from adaptive.core.model import (
    Draft,
    Memory,
    MemoryUnavailable,
    NewMemory,
    Proposal,
    StoreError,
    WriteRefused,
)
from adaptive.learn.queue import always
from adaptive.memory.archive import prune_store, restore_memory
from adaptive.memory.user_memory import _PORTION
from adaptive.memory.writing import apply_proposals, take_back
from tests.fakes import SOURCE, hook_settings, memory
from tests.learn.world import World
from tests.memory.test_archive import rows

SEQUENCES = 1000


def said(world: World) -> list[tuple[Any, ...]]:
    """All that rows say, whatever their ids."""
    rows = world.store.rows.values()
    told = (
        (one.content, one.tags, one.bank, one.until, str(dict(one.meta)))
        for one in rows
    )
    return sorted(told)


async def undo(world: World, at: int | None = None) -> bool:
    """Take back what stands at a place of the log, or the last change that stands."""
    steps = await world.room().steps()
    wanted = [
        one
        for one in steps
        if one.standing and (at is not None or not one.is_undo)
    ]
    if not wanted:
        return False
    chosen = wanted[(at or 0) % len(wanted)]
    await take_back(world.room(), chosen, chosen.standing)
    return True


async def changed(world: World, chance: random.Random, number: int) -> None:
    """One change of any kind: learned, ended, deleted, pruned, restored, taken back."""
    stored, user = list(world.store.rows.values()), world.room()
    some = chance.choice(stored) if stored else Memory("none", "", 0, 0)
    draft = Draft(
        f"User knows fact {number}.", ("goal",), "Work", until="2030-01-01"
    )
    archived = sorted(world.archive.rows)
    match chance.randrange(8):
        case 0 | 1:
            operation = Proposal("NEW", draft=draft)
        case 2 | 3:
            operation = Proposal("UPDATE", some.id, draft)
        case 4:
            operation = Proposal("DELETE", some.id)
        case 5:
            operation = Proposal(
                "END", some.id, Draft(some.content, until=some.until)
            )
        case 6 if archived:
            await restore_memory(user, chance.choice(archived))
            return
        case 6:
            settings = hook_settings(
                max_total_memories=max(len(stored) - 1, 1)
            )
            await prune_store(user, settings, SOURCE, frozenset())
            return
        case _:
            with contextlib.suppress(WriteRefused):
                await undo(world, chance.randrange(6))
            return
    await apply_proposals([operation], stored, user, SOURCE, always)


async def sequence(seed: int) -> None:
    """Change a store at random, take everything back, and look."""
    chance = random.Random(seed)
    world = World(*rows("a", "b", "c"))
    before = said(world)
    for number in range(chance.randrange(1, 15)):
        await changed(world, chance, number)
    while await undo(world):
        pass
    assert said(world) == before, f"sequence {seed}"
    assert world.archive.rows == {}, f"sequence {seed}"


def test_undoing_everything() -> None:
    """A thousand random sequences of changes, undos and redos all lead back to the beginning."""

    async def all_of_them() -> None:
        for seed in range(SEQUENCES):
            await sequence(seed)

    asyncio.run(all_of_them())


async def test_changed_since() -> None:
    """What somebody has edited since is left alone, and the reason says so without its words."""
    world = World(*rows("a"))
    draft = Draft("User knows better.")
    operation = Proposal("UPDATE", "a", draft)
    stored = list(world.store.rows.values())
    await apply_proposals([operation], stored, world.room(), SOURCE, always)
    edited = NewMemory(
        Draft("User edits this."), SOURCE, former=world.store.rows["a"]
    )
    await world.store.write(edited)
    with pytest.raises(
        WriteRefused, match=r"^it was changed or deleted meanwhile$"
    ):
        await world.memory().undo((await world.room().steps())[0])
    assert world.contents == ["User edits this."]


async def test_others_of_a_step() -> None:
    """What was edited since stays as it is; all else of its step is taken back, and can be redone."""
    world = World()
    ada = world.memory()
    facts = [f"User knows fact {number}." for number in range(4)]
    carried = [NewMemory(Draft(fact), SOURCE) for fact in facts]
    await ada.bring_in(carried, "chat-1")
    edited = list(world.store.rows)[2]
    world.store.edit(edited, "User edits this.")
    (step,) = await ada.steps()
    assert len(await ada.undo(step)) == 3
    assert world.contents == ["User edits this."]
    undoing, step = await ada.steps()
    assert [key.memory_id for key in step.standing] == [edited]
    await ada.undo(undoing)
    assert len(world.contents) == 4


async def test_changed_twice_in_a_step() -> None:
    """A memory that one step has made and changed is gone once that is taken back."""
    world = World()
    ada = world.memory()
    source = replace(SOURCE, step="past-1")
    for words in ("User lives in Porto.", "User lives in Faro."):
        stored = list(world.store.rows.values())
        kind = "UPDATE" if stored else "NEW"
        memory_id = stored[0].id if stored else ""
        change = Proposal(kind, memory_id, Draft(words))
        await apply_proposals([change], stored, world.room(), source, always)
    (step,) = await ada.steps()
    assert len(step.standing) == 2
    assert len(await ada.undo(step)) == 2
    assert world.contents == []
    assert [one.is_undo for one in await ada.steps()] == [True, False]


async def test_end_date_is_taken_back() -> None:
    """A change that leaves the words as they are is taken back and made again like any other."""
    row = memory("a", "User has a gym pass.", until="2026-12-31")
    world = World(row)
    ended = Draft(row.content, until="2027-02-01")
    stored = list(world.store.rows.values())
    await apply_proposals(
        [Proposal("END", "a", ended)],
        stored,
        world.room(),
        SOURCE,
        always,
    )
    for until in (row.until, ended.until, row.until):
        assert await undo(world, 0)
        assert world.store.rows["a"].until == until


IMPORTED = 250


async def test_large_step_is_taken_back_in_portions() -> None:
    """An import goes portion by portion, others may come between, and a broken one is repeated."""
    world = World()
    ada = world.memory()
    carried = [
        NewMemory(Draft(f"User knows fact {number}."), SOURCE)
        for number in range(IMPORTED)
    ]
    assert (
        await ada.bring_in(carried, "chat-1")
        == f"Saved: {IMPORTED} / {IMPORTED}"
    )
    [step] = await world.room().steps()
    stuck = step.standing[150].memory_id
    gone = 150 // _PORTION * _PORTION
    world.store.broken = frozenset({stuck})
    with pytest.raises(StoreError, match="locked"):
        await ada.undo(step)
    assert len(world.contents) == IMPORTED - gone
    world.store.broken = frozenset()
    [_, step] = await world.room().steps()
    # Of a portion that was not written down, the rows are gone all the same.
    await world.store.write(
        gone=[world.store.rows[step.standing[0].memory_id]]
    )
    left = IMPORTED - gone
    assert len(await ada.undo(step)) == left
    assert world.contents == []


async def test_broken_import_is_repeated() -> None:
    """Whatever fails between portions, the rest comes with the next try, and doubles nothing."""
    world = World()
    refusals = iter(["it is switched off"])

    async def give_way() -> None:
        world.store.refusal = next(refusals, "")

    ada = replace(world.memory(), give_way=give_way)
    carried = [
        NewMemory(Draft(f"User knows fact {number}."), SOURCE)
        for number in range(IMPORTED)
    ]
    with pytest.raises(MemoryUnavailable):
        await ada.bring_in(carried, "chat-1")
    world.store.refusal = ""
    told = f"Saved: {IMPORTED - _PORTION} / {IMPORTED} · Already known: {_PORTION}"
    assert await ada.bring_in(carried, "chat-1") == told
