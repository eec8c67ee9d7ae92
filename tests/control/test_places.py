"""What a user says about where memories are known, and what the memory answers."""

from __future__ import annotations

import pytest

from adaptive.control.transfer import exported, read_import
from adaptive.core.marks import NOWHERE, Place, PlaceChoice
from adaptive.core.texts import phrase
from tests.control.test_commands import House, named
from tests.fakes import memory
from tests.rates import over

SEA, BOT = "folder=sea", "model=bot"
IN_FOLDER = Place(SEA, BOT)
OUTSIDE = Place("", BOT)


async def chosen(house: House) -> dict[str, PlaceChoice]:
    """What Ada has chosen so far."""
    return await house.commands.places.read("ada", "")


@over(
    "typed, choices, told",
    [
        ("here", {SEA: "here"}, "in this folder alone"),
        (
            "here.",
            {SEA: "here"},
            "What is learned here is known in this folder alone",
        ),
        ("here only", {SEA: "here only"}, "and nothing else comes"),
        ("HERE Only Model", {BOT: "here only"}, "with this model alone"),
        ("here model only", {BOT: "here only"}, "and nothing else comes"),
        ("here model", {BOT: "here"}, "with this model alone"),
        (
            "everywhere",
            {SEA: "everywhere"},
            "in this folder is known everywhere",
        ),
        ("everywhere model", {BOT: "everywhere"}, "is known everywhere"),
        ("here we go", {}, "For example: `/memory here`"),
    ],
)
async def test_choosing(
    typed: str, choices: dict[str, PlaceChoice], told: str
) -> None:
    """Each wording is noted for the folder or the model, in whatever order and case."""
    house = House()
    house.page.place = IN_FOLDER
    assert told in await house.answer(f"/memory {typed}")
    assert await chosen(house) == choices


async def test_without_a_folder() -> None:
    """Where there is no folder it is said how to have one; where nothing is known nothing is done."""
    house = House()
    house.page.place = OUTSIDE
    assert "in no folder" in await house.answer("/memory here")
    assert "in no folder" in await house.answer("/memory everywhere")
    assert "this model" in await house.answer("/memory here model")
    house.page.place = Place()
    assert "Nothing was found" in await house.answer("/memory here model")
    house.page.place = NOWHERE
    for typed in ("/memory here", "/memory move 1 here", "/remember I sail"):
        assert "could not be read" in await house.answer(typed)
    assert await chosen(house) == {BOT: "here"}
    house.learner.do.assert_not_called()


async def test_moving() -> None:
    """A memory is moved by number or words, keeps its other marks, and `/undo` takes it back."""
    house = House()
    await house.learn("User sails.")
    house.page.place = IN_FOLDER
    await house.answer("/memory")
    (row,) = house.world.store.rows.values()
    ada = house.world.memory()
    await ada.mark(row, "pinned")
    told = await house.answer("/memory move #1 here")
    assert told.startswith("Updated: User sails. (in this folder)")
    (row,) = house.world.store.rows.values()
    assert row.marks == ("pinned", f"in {SEA}")
    # Though nothing was chosen, it is known from now on that not all is known everywhere.
    assert await chosen(house) == {SEA: "everywhere"}
    house.page.place = OUTSIDE
    told = await house.answer("/memory move 1 everywhere")
    assert told == "There is no memory 1."
    listed = await house.answer("/memory")
    assert "1 known elsewhere alone" in listed
    assert "sails" not in listed
    log = await house.answer("/memory log")
    assert "sails" not in log
    assert "a memory that is not repeated here" in log
    await house.answer("/undo")
    (row,) = house.world.store.rows.values()
    assert row.marks == ("pinned",)
    house.named = [named(row)]
    told = await house.answer("/memory move the sails here model")
    assert told.startswith("Updated: User sails. (with this model)")
    assert "Updated: " in await house.answer("/memory move 1 EVERYWHERE")
    (row,) = house.world.store.rows.values()
    assert row.marks == ("pinned",)


@over(
    "typed", ["move", "move 1", "move here", "move 1 model", "move 1 to sea"]
)
async def test_how_to_move(typed: str) -> None:
    """What is not understood is asked back, and nothing is moved."""
    house = House()
    house.page.place = IN_FOLDER
    await house.learn("User sails.")
    assert await house.answer(f"/memory {typed}") == phrase(
        "for_example",
        commands="`/memory move 3 here`, `/memory move 3 here model`,"
        " `/memory move 3 everywhere`",
    )
    assert await chosen(house) == {}


@pytest.mark.parametrize(
    ("choice", "note", "scope"),
    [
        ("everywhere", "", ""),
        ("here", "known in this folder alone", SEA),
        ("here only", "and nothing else comes", SEA),
    ],
)
async def test_told_and_kept(
    choice: PlaceChoice, note: str, scope: str
) -> None:
    """The list tells where one is; what is remembered or imported belongs there, or where it did."""
    house = House()
    house.page.place = Place(SEA, choices={SEA: choice})
    house.world.store.rows["m"] = memory(
        "m", "User rides.", tags=(f"in {SEA}",)
    )
    listed = await house.answer("/memory")
    assert note in listed
    assert ("known in" in listed) == bool(note)
    assert "User rides. (1970-01-01, here alone)" in listed
    house.learner.do.return_value = "Saved"
    await house.answer("/remember I sail")
    (proposal,) = house.learner.do.call_args.args[1]
    assert proposal.draft.scope == scope
    house.page.answer = True
    moved = '{"memories": [{"content": "User skis.", "tags": ["in model=x"]}]}'
    assert "1 / 1" in await house.answer("/memory import - User cooks")
    assert "1 / 1" in await house.answer(f"/memory import {moved}")
    scopes = {
        row.content: row.scope for row in house.world.store.rows.values()
    }
    assert (scopes["User cooks"], scopes["User skis."]) == (scope, "model=x")
    assert "model=x" in await chosen(house)


def test_the_same_of_two_folders() -> None:
    """What an export holds of two folders is brought back to both, though the words are the same."""
    rows = [
        memory(id, "User sails.", tags=(f"in folder={id}",))
        for id in ("sea", "lake")
    ]
    (first, second) = read_import(exported(rows, 2e9)).memories
    assert {*first.tags, *second.tags} == {"in folder=sea", "in folder=lake"}


async def test_brought_twice() -> None:
    """What is known in another folder alone is not known here: it can be imported here as well."""
    house = House()
    house.world.store.rows["m"] = memory(
        "m", "User rides.", tags=("in folder=stable",)
    )
    house.page.answer = True
    house.page.place = OUTSIDE
    assert "1 / 1" in await house.answer("/memory import - User rides.")
    assert "Already known: 1" in await house.answer(
        "/memory import\n- User rides."
    )
