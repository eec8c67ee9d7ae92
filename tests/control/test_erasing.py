"""Erasing by what is typed: asked first, told afterwards, and nothing else goes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from zoneinfo import ZoneInfo

from adaptive.control.erasing import NO_PAGE, Eraser, Erasing
from adaptive.control.restoring import Restoring
from adaptive.control.spoken_requests import ErasureRequest
from adaptive.host.erasure import ErasureReport
from adaptive.privacy.origin import Origin
from adaptive.settings.hook import Hook
from tests.control.page import Page, Room, put_away
from tests.fakes import memory
from tests.rates import over

# The files of zones are read once, and no hook waits for one.
ZoneInfo("Asia/Tokyo")
EVERYTHING = ErasureRequest("everything")
TOLD = "Erased: 4 memories and everything noted about them."


@dataclass
class Held:
    """An ``Eraser`` that notes what it is asked to look for and to erase."""

    room: Room
    report: ErasureReport
    erased: list[Origin | None] = field(default_factory=list[Origin | None])

    async def find(self, origin: Origin | None) -> ErasureReport:
        """What there is."""
        return self.report

    async def erase(self, origin: Origin | None) -> ErasureReport:
        """Only while no lesson of this process writes."""
        assert self.room.writing.locked()
        self.erased.append(origin)
        return self.report


class House:
    """Four memories of Ada's, and what erases them."""

    def __init__(self, report: ErasureReport | None = None) -> None:
        self.room, self.page = Room(), Page()
        memories = tuple(memory(str(n), f"User likes c{n}.") for n in range(4))
        found = report or ErasureReport(Counter(memory=4), memories=memories)
        self.held = Held(self.room, found)

    async def erase(self, request: ErasureRequest) -> str:
        """What is told at the end."""

        async def eraser_of(_: Hook) -> Eraser:
            return self.held

        restoring = Restoring(self.room, self.room.restore_memory)
        return await Erasing(self.room, restoring, eraser_of).erase(self.page.hook, request)


async def test_everything() -> None:
    """Asked with what would go and which word is to be typed, it goes and is told."""
    house = House()
    assert await house.erase(ErasureRequest("everything", None, "löschen")) == TOLD
    assert house.held.erased == [None]
    assert house.room.lines == ["You are asked before anything is erased"]
    (asked,) = house.page.asked
    assert asked["title"] == "Erase everything that is remembered about you?"
    assert "for good: 4 memories and everything noted about them." in asked["message"]
    assert "- User likes c1" in asked["message"]
    assert 'Type "erase" or "löschen" to erase it' in asked["message"]
    assert asked["placeholder"] == 'Type "löschen" here'


UNANSWERED = "Nothing erased: the question was not answered"
EXPECTED = 'Nothing erased: "erase" was expected, but'


@over(
    "answer, line",
    [
        (None, UNANSWERED),
        ({"error": "gone"}, UNANSWERED),
        ("", f"{EXPECTED} nothing was typed"),
        (True, f"{EXPECTED} nothing was typed"),
        ("yes", f"{EXPECTED} something else was typed"),
        ("erase not", f"{EXPECTED} something else was typed"),
    ],
)
async def test_declined(answer: object, line: str) -> None:
    """Unanswered, left with Enter or answered otherwise, nothing goes and it is told."""
    house = House()
    house.page.answer = answer
    assert await house.erase(EVERYTHING) == line
    assert house.held.erased == []


async def test_nobody_to_ask() -> None:
    """Where nobody can be asked nothing goes and it is told how to; so where there is nothing."""
    for page in (Page(can_ask=False), Page(told_kind="api")):
        house = House()
        house.page = page
        assert await house.erase(EVERYTHING) == NO_PAGE
        assert house.held.erased == []
    empty = House(ErasureReport())
    assert await empty.erase(EVERYTHING) == "There is nothing to erase"
    assert empty.page.asked == []


@dataclass(frozen=True)
class Scope:
    """A request, the title of its question, and what goes."""

    id: str
    request: ErasureRequest
    title: str
    origin: Origin


TOKYO = (1_793_631_600.0, 1_793_718_000.0)
SCOPES = [
    Scope("chat", ErasureRequest("chat"), "Erase what was learned from this chat?", Origin("c")),
    Scope(
        "day",
        ErasureRequest("day", date(2026, 11, 3)),
        "Erase what was learned on 3 November 2026?",
        Origin(period=TOKYO),
    ),
    Scope(
        "imported",
        ErasureRequest("imported"),
        "Erase what was imported?",
        Origin(sources=("import",)),
    ),
    Scope(
        "tools",
        ErasureRequest("tools"),
        "Erase what tools have saved?",
        Origin(sources=("tool", "background_review")),
    ),
]


@over("case", SCOPES)
async def test_scopes(case: Scope) -> None:
    """One chat, one day where the user lives or one source goes, and the question says which."""
    house = House()
    assert await house.erase(case.request) == TOLD
    assert house.held.erased == [case.origin]
    assert house.page.asked[0]["title"] == case.title


async def test_originals_come_back() -> None:
    """What an erased summary stood for comes back; where it can't, that is told."""
    house = House(ErasureReport(Counter(memory=4), bereft=("d8", "d9")))
    await house.room.archive.put("ada", [put_away("d8"), put_away("d9")])
    house.room.broken = "d9"
    line = await house.erase(ErasureRequest("chat"))
    assert line == (
        f"{TOLD} Restored, as they came from elsewhere: 1."
        " What a summary stood for is still archived: the row is stuck."
    )
    assert house.room.store.contents == ["User likes d8."]
