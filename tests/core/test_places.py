"""What a place admits and quotes, by what its user has chosen."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from adaptive.core.marks import NOWHERE, Place, PlaceChoice, is_mark, scope_of

SEA, STABLE, BOT, OTHER = (
    "folder=sea",
    "folder=stable",
    "model=bot",
    "model=other",
)
ALL = {"", SEA, STABLE, BOT, OTHER}


@dataclass(frozen=True)
class Case:
    """Choices, and what comes of them in a chat in the folder of the sea with the bot."""

    choices: dict[str, PlaceChoice]
    admitted: set[str]
    scope: str
    new_folders: PlaceChoice = "everywhere"


CASES = {
    "nothing": Case({}, {"", SEA, BOT}, ""),
    "here": Case({SEA: "here"}, {"", SEA, BOT}, SEA),
    "only": Case({SEA: "here only"}, {SEA}, SEA),
    "here again": Case({SEA: "everywhere"}, {"", SEA, BOT}, "", "here only"),
    "new": Case({}, {"", SEA, BOT}, SEA, "here"),
    "new only": Case({}, {SEA}, SEA, "here only"),
    "model": Case({BOT: "here"}, {"", SEA, BOT}, BOT),
    "model only": Case({BOT: "here only"}, {BOT}, BOT),
    "both": Case({SEA: "here", BOT: "here"}, {"", SEA, BOT}, SEA),
    "model alone": Case({SEA: "here", BOT: "here only"}, {BOT}, BOT),
    "folder alone": Case({SEA: "here only", BOT: "here only"}, {SEA}, SEA),
    "elsewhere": Case({STABLE: "here only"}, {"", SEA, BOT}, ""),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_comes(case: Case) -> None:
    """A folder's own memories and a model's come, and all that is known everywhere, unless only one's may."""
    place = Place(SEA, BOT, case.choices, case.new_folders)
    assert {scope for scope in ALL if place.admits(scope)} == case.admitted
    assert place.scope == case.scope


def test_past_chats() -> None:
    """A chat of a folder, or with a model, that is kept apart is quoted in such chats alone."""
    apart: dict[str, PlaceChoice] = {STABLE: "here", OTHER: "here only"}
    outside = Place("", BOT, apart)
    assert outside.quotes({SEA, BOT})
    assert outside.quotes(set())
    assert not outside.quotes({STABLE, BOT})
    assert not outside.quotes({BOT, OTHER})
    assert Place(STABLE, BOT, apart).quotes({STABLE, BOT})
    only = Place(SEA, BOT, {SEA: "here only"})
    assert only.quotes({SEA, OTHER})
    assert not only.quotes({BOT})
    assert not Place("", BOT, {}, "here").quotes({SEA})


def test_unknown_place() -> None:
    """Where it is not known where a chat is, nothing is shown, quoted or taken for known everywhere."""
    assert not any(map(NOWHERE.admits, ALL))
    assert not NOWHERE.quotes(set())
    assert NOWHERE.is_divided
    assert not Place(SEA, BOT).is_divided


@pytest.mark.parametrize(
    "host_id", ["llama3:8b", "a b,[c]/d", "x" * 300, "é" * 80]
)
def test_names_of_scopes(host_id: str) -> None:
    """Whatever a model is called, its scope is a mark; nothing has none."""
    assert is_mark(f"in {scope_of('model', host_id)}")
    assert scope_of("model", "") == ""
