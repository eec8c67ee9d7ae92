"""What is learned in a folder stays in it, and a folder that is deleted leaves its memories."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from adaptive.core.marks import NOWHERE, Place
from adaptive.core.model import Draft, Memory, Proposal, ProposalKind
from adaptive.learn.addressing import leave_deleted_folders, placed
from adaptive.learn.turns import typed_turn
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.hook import Hook
from tests.fakes import memory
from tests.learn.test_learning import House, Page
from tests.learn.world import World, reply

SEA = "folder=sea"
MARK = f"in {SEA}"
EVERYWHERE = memory("all", "User likes tea.", tags=("preference",))
AT_SEA = memory("sea", "User sails.", tags=("behavior", MARK))
STABLE = memory("stable", "User rides.", tags=("in folder=stable",))


@pytest.mark.parametrize(
    ("kind", "memory_id", "scope", "expected"),
    [
        ("NEW", "", SEA, ("NEW", "", SEA, "open")),
        ("NEW", "", "", ("NEW", "", "", "open")),
        ("UPDATE", "sea", SEA, ("UPDATE", "sea", SEA, "open")),
        ("UPDATE", "all", SEA, ("NEW", "", SEA, "open")),
        # What is corrected stays where it is known.
        ("UPDATE", "sea", "", ("UPDATE", "sea", SEA, "open")),
        ("END", "all", SEA, ("END", "all", "", "superseded")),
        ("END", "sea", SEA, ("END", "sea", SEA, "open")),
        ("DELETE", "all", SEA, ("DELETE", "all", "", "open")),
    ],
)
async def test_what_may_be_changed(
    kind: ProposalKind,
    memory_id: str,
    scope: str,
    expected: tuple[str, str, str, str],
) -> None:
    """In a folder nothing is rewritten that is known elsewhere, too; it may be forgotten."""
    world = World(EVERYWHERE, AT_SEA)
    world.place = Place(SEA)
    index = await world.resources().index()
    proposal = Proposal(kind, memory_id, Draft("User says so."))
    (made,) = placed([proposal], scope, index)
    assert (
        made.kind,
        made.memory_id,
        made.draft.scope,
        made.status,
    ) == expected


async def test_known_elsewhere_is_new_here() -> None:
    """A fact of another folder is not known here: it is learned, and nobody is told that it is known."""
    twin = {
        "operation": "NEW",
        "content": "User rides.",
        "tags": ["behavior"],
        "evidence": ["I ride"],
    }
    world = World(STABLE, script=[reply(twin)])
    world.place = Place(SEA, choices={SEA: "here"})
    lesson = await world.lesson("I ride every day, and have for years.")
    assert lesson.report.line == "Saved: User rides."
    assert "User rides" not in str(world.model.requests).partition("Newest")[0]
    assert sorted(row.scope for row in world.store.rows.values()) == [
        SEA,
        "folder=stable",
    ]


@pytest.mark.parametrize("kept", [True, False])
async def test_deleted_folder(kept: bool) -> None:
    """The host is asked for folders that have memories; what is left of deleted ones is archived.

    It comes back as known everywhere, and as one step.
    """
    house = House(rows=(EVERYWHERE, AT_SEA))
    page = Page(house)
    page.folders = frozenset({SEA} if kept else ())
    page.place = Place(choices={SEA: "here"})
    indexes = MemoryIndexes()
    memories = house.everybody
    line = await leave_deleted_folders(page.hook, indexes, memories)
    standing = {row.id for row in house.store.rows.values()}
    assert standing == ({"all", "sea"} if kept else {"all"})
    if kept:
        assert line == ""
        return
    assert line.startswith("1 memory of a deleted folder archived")
    ada = await memories.of(page.hook)
    chosen, _ = await ada.restorable("sails")
    assert await ada.restore([one.id for one in chosen]) == [
        "Restored: 1 memory."
    ]
    back = house.store.rows["sea"]
    assert (back.content, back.tags) == ("User sails.", ("behavior",))


async def test_nobody_is_asked_without_need() -> None:
    """Of somebody who has chosen nothing nothing is read."""
    page: Any = SimpleNamespace(place=Place(SEA))
    nothing: Any = None
    assert await leave_deleted_folders(page, nothing, nothing) == ""


@pytest.mark.parametrize("is_known", [True, False])
async def test_where_it_was_said(is_known: bool) -> None:
    """A turn keeps its place; where that is not known nothing is learned, and that is told."""
    place = Place(SEA, choices={SEA: "here"})
    page: Any = Page(House())
    page.place = place if is_known else NOWHERE
    said = [{"role": "user", "content": "I sail.", "id": "m-1"}]
    turn = typed_turn(cast(Hook, page), said, said)
    if is_known:
        assert turn is not None
        assert turn.place == place
    else:
        assert turn is None
        assert "folder of this chat" in page.state["unlearned"]


def test_marks_stand_behind() -> None:
    """A scope takes the place of another one, behind what a memory is about."""
    moved = replace(AT_SEA, tags=AT_SEA.tags_in("model=bot"))
    assert moved.tags == ("behavior", "in model=bot")
    assert cast(Memory, moved).scope == "model=bot"
    assert AT_SEA.tags_in("") == ("behavior",)
