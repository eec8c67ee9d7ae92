"""Erasing and restoring by what is typed: asked first, told afterwards, and no more than asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from unittest.mock import AsyncMock

from adaptive.control.requests import (
    MemoryRequests,
    named_memories,
)
from adaptive.core.model import Memory
from adaptive.core.texts import Phrase
from adaptive.memory.archive import plan_restoration
from adaptive.memory.erasure import ErasureReport, Origin
from adaptive.memory.tables import ArchivedMemory
from adaptive.memory.user_memory import Eraser
from adaptive.privacy.spoken_requests import ErasureRequest
from adaptive.settings.hook import Hook
from tests.control.page import Page, Room, put_away
from tests.fakes import hook_settings, memory
from tests.rates import over

EVERYTHING = ErasureRequest("everything")
STUCK = "the table is locked for 'User likes b.'"
TOLD = "Erased: 4 memories, what was noted."


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
        assert self.room.is_held
        self.erased.append(origin)
        return self.report


class House:
    """A memory in the store, three in the archive, and four that somebody finds to erase."""

    def __init__(
        self, page: Page | None = None, report: ErasureReport | None = None
    ) -> None:
        self.room, self.page = Room(), page or Page()
        self.page.store = self.room.store
        self.room.store.rows["x"] = memory("x", "User likes x.")
        for one in (put_away("a"), put_away("b"), put_away("c", at=1)):
            self.room.archive.rows[one.memory.id] = one
        memories = tuple(memory(str(n), f"User likes c{n}.") for n in range(4))
        found = report or ErasureReport(Counter(memory=4), memories=memories)
        self.held = Held(self.room, found)

        async def eraser_of(_: Hook) -> Eraser:
            return self.held

        self.requests = MemoryRequests(
            memories=self.room.everybody,
            learner=AsyncMock(),
            eraser_of=eraser_of,
        )

    async def erase(self, request: ErasureRequest = EVERYTHING) -> str:
        """What is told at the end."""
        return await self.requests.erase(self.page.hook, request)

    async def restore(self) -> str:
        """What is told at the end."""
        return await self.requests.restore(self.page.hook)


async def test_everything() -> None:
    """Asked with what would go and which word is to be typed, it goes and is told."""
    house = House()
    assert await house.erase() == TOLD
    assert house.held.erased == [None]
    (asked,) = house.page.asked
    assert asked["title"] == "Erase everything that is remembered about you?"
    assert "for good: 4 memories, what was noted." in asked["message"]
    assert "- User likes c1" in asked["message"]
    assert 'Type "erase" to go ahead.' in asked["message"]
    assert asked["placeholder"] == "erase"


NOT_TYPED = "Nothing was changed: you did not confirm it."


@over(
    "answer, line",
    [
        *((answer, NOT_TYPED) for answer in (None, {"error": "gone"})),
        *(
            (answer, NOT_TYPED)
            for answer in ("", True, "yes", "erase not", "don't erase")
        ),
        *(
            (answer, TOLD)
            for answer in (' "ERASE". ', "Erase!", "「erase」", "ｅｒａｓｅ")
        ),
    ],
)
async def test_answers(answer: object, line: str) -> None:
    """Only the word itself erases: else, also where nobody answers, nothing goes and it is told."""
    house = House(Page(answer))
    assert await house.erase() == line
    assert house.held.erased == ([None] if line == TOLD else [])


async def test_nobody_to_ask() -> None:
    """Where nobody can be asked nothing goes and it is told how to; so where there is nothing."""
    for page in (Page(can_ask=False), Page(told_kind="api")):
        house = House(page)
        assert await house.erase() == Phrase("no_own_chat")
        assert house.held.erased == []
    empty = House(report=ErasureReport())
    assert await empty.erase() == "Nothing was found."
    assert empty.page.asked == []


TOKYO = (1_793_631_600.0, 1_793_718_000.0)
SCOPES = [
    (ErasureRequest("chat"), "what was learned from this chat", Origin("c")),
    (
        ErasureRequest("day", date(2026, 11, 3)),
        "what was learned on 2026-11-03",
        Origin(period=TOKYO),
    ),
]


@over("request, what, origin", SCOPES)
async def test_scopes(
    request: ErasureRequest, what: str, origin: Origin
) -> None:
    """One chat, or one day where the user lives, goes, and the question says which."""
    house = House()
    assert await house.erase(request) == TOLD
    assert house.held.erased == [origin]
    assert house.page.asked[0]["title"] == f"Erase {what}?"


async def test_originals_come_back() -> None:
    """What an erased summary stood for comes back; where it can't, that is told."""
    house = House(report=ErasureReport(Counter(memory=4), bereft=("a", "b")))
    house.room.store.broken = frozenset({"User likes b."})
    line = await house.erase(ErasureRequest("chat"))
    assert line == (f"{TOLD} Restored: 1 memory. Still archived: 1 ({STUCK}).")
    assert house.room.store.contents == ["User likes x.", "User likes a."]


async def test_restored() -> None:
    """Confirmed, all come back, and it is told before and afterwards."""
    house = House(Page(True))
    assert await house.restore() == "Restored: 3 memories."
    assert len(house.room.store.contents) == 4
    (asked,) = house.page.asked
    assert "from the archive: 3 memories" in asked["title"]
    assert "User likes c." in asked["message"]
    assert await house.restore() == "Nothing was found."


async def test_restored_meanwhile() -> None:
    """Where all came back elsewhere while the question stood, that nothing did is told."""

    class Elsewhere(Page):
        async def _call(self, event: dict[str, Any]) -> object:
            """Confirm when another tab has done it."""
            await house.room.memory().restore(["a", "b", "c"])
            return await super()._call(event)

    house = House(Elsewhere(True))
    assert await house.restore() == "Nothing was changed."
    assert len(house.room.store.contents) == 4


async def test_sealed_with_a_former_secret() -> None:
    """What can't be opened is told with what helps, be there something else to restore or not."""
    house = House(Page(True))
    house.room.archive.sealed = 3
    told = (
        "3 archived memories: Open WebUI's secret key has changed; "
        "with the former WEBUI_SECRET_KEY it can be read again."
    )
    assert await house.restore() == f"Restored: 3 memories. {told}"
    assert await house.restore() == f"Nothing was changed. {told}"


async def test_limit() -> None:
    """No more come back than fit, the newest archived first, and it is told."""
    house = House(Page(True, settings=hook_settings(max_total_memories=3)))
    line = await house.restore()
    assert (
        line
        == "Restored: 2 memories. Still archived: 1 (the limit is 3 memories)."
    )
    assert house.room.store.contents == [
        "User likes x.",
        "User likes a.",
        "User likes b.",
    ]
    line = await house.restore()
    assert (
        line
        == "Nothing was changed. Still archived: 1 (the limit is 3 memories)."
    )
    assert len(house.page.asked) == 1


NOBODY = (
    "That has to be confirmed in a saved chat of your own on the web page."
)


@over(
    "page, why",
    [
        (Page(False), "Nothing was changed: you did not confirm it"),
        (Page("yes"), "Nothing was changed: you did not confirm it"),
        (
            Page({"error": "gone"}),
            "Nothing was changed: you did not confirm it",
        ),
        (Page(True, can_ask=False), NOBODY),
        (Page(True, owned_kind="temporary"), NOBODY),
        (Page(True, owned_kind="shared"), NOBODY),
        (
            Page(True, settings=hook_settings(enabled=False)),
            "Nothing was changed: memory is off in your settings",
        ),
    ],
)
async def test_declined(page: Page, why: str) -> None:
    """Without a yes, or where nobody can be asked alone, nothing comes back, and it is told."""
    house = House(page)
    assert await house.restore() == why
    assert page.asked == [] or page.answer is not True
    assert (house.room.store.contents, len(house.room.archive.rows)) == (
        ["User likes x."],
        3,
    )


async def test_failures() -> None:
    """What can't be written stays archived with its reason; the others come back."""
    house = House(Page(True))
    house.room.store.broken = frozenset({"User likes b."})
    line = await house.restore()
    assert line == f"Restored: 2 memories. Still archived: 1 ({STUCK})."
    assert list(house.room.archive.rows) == ["b"]
    assert not house.room.is_held


A, B = (
    put_away("a", summary_id="s"),
    put_away("b", summary_id="t"),
)
SUMMARIES = (
    memory("s", "User likes all fruit."),
    memory("t", "all of it"),
)
TEA = put_away("a", "User likes tea.")
REPEATED = "the same, a later version or a summary is remembered"
# An archive, a store's rows, and ids of what would come back, in its order.
PLANS: list[tuple[list[ArchivedMemory], Sequence[Memory], str, int]] = [
    (
        [put_away("o", at=1), put_away("s"), put_away("b", importance=8)],
        (),
        "b s o",
        0,
    ),
    (
        [TEA, put_away("c", "User likes x.")],
        [memory("x", "User likes x.")],
        "a",
        1,
    ),
    # A summary stands for its originals, by its id, unless it is gone.
    ([A, B], SUMMARIES, "", 2),
    ([A, B], (), "a b", 0),
    ([A, put_away("s", "User likes fruit.")], (), "s", 1),
]


@over("archived, rows, coming, stays", PLANS)
def test_what_comes_back(
    archived: list[ArchivedMemory],
    rows: Sequence[Memory],
    coming: str,
    stays: int,
) -> None:
    """Each fact comes back once, the newest and most important first, and what stays is told."""
    found, staying = plan_restoration(archived, rows, 0)
    assert " ".join(one.id for one in found) == coming
    told = f"Still archived: {stays} ({REPEATED})."
    assert staying == (told if stays else "")


def test_what_was_changed_since_stays_archived() -> None:
    """Of a memory that never left the store no former version comes back beside it."""
    rows = [memory("a", "User likes coffee.")]
    told = f"Still archived: 1 ({REPEATED})."
    assert plan_restoration([TEA], rows, 0) == ([], told)


def test_many() -> None:
    """Ten are named in short lines, and how many more there are."""
    named = named_memories(
        [memory(str(n), f"User likes\n{n} " + "very " * 99) for n in range(50)]
    )
    assert named.count("- User likes") == 10
    assert named.endswith("… and 40 more")
    assert max(map(len, named.splitlines())) <= 122
