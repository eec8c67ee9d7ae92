"""Restoring by what is typed: asked first, told afterwards, each fact once and no more than fit."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from adaptive.control.restoring import (
    MOST_RESTORED_AT_ONCE,
    Restoring,
    named_memories,
    plan_restoration,
)
from adaptive.core.model import Memory
from adaptive.core.table_ports import ArchivedMemory
from tests.control.page import Page, Room, put_away
from tests.fakes import ListedMemories, hook_settings, memory
from tests.rates import over


class House:
    """One memory in the store, three in the archive."""

    def __init__(self) -> None:
        self.room, self.page = Room(ListedMemories(memory("x", "User likes x."))), Page(True)
        for one in (put_away("a"), put_away("b"), put_away("c", at=1)):
            self.room.archive.rows[one.memory.id] = one

    async def restore(self) -> str:
        """What is told at the end."""
        return await Restoring(self.room, self.room.restore_memory).restore(self.page.hook)

    @property
    def untouched(self) -> bool:
        """Whether nothing came back."""
        return self.room.store.contents == ["User likes x."] and len(self.room.archive.rows) == 3


@pytest.fixture
def house() -> House:
    """A house of a test's own."""
    return House()


async def test_restored(house: House) -> None:
    """Confirmed, all come back, and it is told before and afterwards."""
    assert await house.restore() == "Restored: 3 memories."
    assert house.room.lines == ["You are asked before anything is restored"]
    assert len(house.room.store.contents) == 4
    (asked,) = house.page.asked
    assert "from the archive: 3 memories" in asked["message"]
    assert "User likes c." in asked["message"]
    assert await house.restore() == "Nothing is archived"


async def test_limit(house: House) -> None:
    """No more come back than fit, the newest archived first, and it is told."""
    house.page.settings = hook_settings(max_total_memories=3)
    line = await house.restore()
    assert line == "Restored: 2 memories. Still archived: 1 (the limit is 3 memories)."
    assert house.room.store.contents == ["User likes x.", "User likes a.", "User likes b."]
    line = await house.restore()
    assert line == "Nothing restored. Still archived: 1 (the limit is 3 memories)."
    assert len(house.page.asked) == 1


@over(
    "answer, why",
    [
        (False, "you did not confirm it"),
        (None, "the question was not answered"),
        ("yes", "the question was not answered"),
        ({"error": "gone"}, "the question was not answered"),
    ],
)
async def test_declined(answer: object, why: str) -> None:
    """Without a yes nothing comes back, and it is told."""
    house = House()
    house.page.answer = answer
    assert await house.restore() == f"Nothing restored: {why}"
    assert house.untouched


NOBODY = "Nothing restored: you can be asked in a chat of the page only"


@over(
    "page, line",
    [
        (Page(True, can_ask=False), NOBODY),
        (Page(True, told_kind="api"), NOBODY),
        (
            Page(True, told_kind="temporary"),
            "Nothing restored: ask for it in a chat that is not temporary",
        ),
        (Page(True, owned_kind="shared"), ""),
    ],
)
async def test_nobody_to_ask(page: Page, line: str) -> None:
    """Where nobody can be asked, nothing is kept or others read along, nothing is done."""
    house = House()
    house.page = page
    assert await house.restore() == line
    assert page.asked == []
    assert house.untouched


async def test_failures(house: House) -> None:
    """What can't be written stays archived with its reason; the others come back."""
    house.room.broken = "b"
    line = await house.restore()
    assert line == "Restored: 2 memories. Not restored, still archived: the row is stuck."
    assert list(house.room.archive.rows) == ["b"]
    assert not house.room.writing.locked()


@dataclass(frozen=True)
class Plan:
    """An archive, a store's rows, and ids of what would come back, in its order."""

    id: str
    archived: list[ArchivedMemory]
    coming: list[str]
    rows: tuple[Memory, ...] = ()
    staying: str = ""


OF_FRUIT = {"summary_of": [{"id": "a"}]}
PLANS = [
    Plan(
        "the newest archived first, of the same time the most important",
        [put_away("old", at=1), put_away("small"), put_away("big", importance=8)],
        ["big", "small", "old"],
    ),
    Plan(
        "each fact once",
        [
            put_away("a", "User likes tea."),
            put_away("b", "user likes  tea"),
            put_away("c", "User likes x."),
        ],
        ["a"],
        (memory("x", "User likes x."),),
    ),
    Plan(
        "a summary stands for its originals, by its meta or its text",
        [put_away("a", summary="User likes fruit."), put_away("b", summary="All of it.")],
        [],
        (memory("s", "User likes all fruit.", meta=OF_FRUIT), memory("t", "all of it")),
        "Still archived: 2 (a summary says the same",
    ),
    Plan("originals of a summary that is gone", [put_away("a", summary="All of it.")], ["a"]),
    Plan(
        "an archived summary comes back alone",
        [
            put_away("a", summary="User likes fruit."),
            put_away("s", "User likes fruit.", meta=OF_FRUIT),
        ],
        ["s"],
    ),
]


@over("plan", PLANS)
def test_what_comes_back(plan: Plan) -> None:
    """Each fact comes back once, and what stays is told."""
    coming, staying = plan_restoration(plan.archived, plan.rows, 0)
    assert [one.id for one in coming] == plan.coming
    assert plan.staying in "".join(staying)


def test_many() -> None:
    """So many come back at once; the others are told, and ten are named in short lines."""
    archived = [
        put_away(str(number), f"User likes\n{number} " + "very " * 99)
        for number in range(MOST_RESTORED_AT_ONCE + 7)
    ]
    coming, staying = plan_restoration(archived, [], 0)
    assert len(coming) == MOST_RESTORED_AT_ONCE
    assert "Still archived: 7 (at most 50" in staying[0]
    named = named_memories(coming)
    assert named.count("- User likes") == 10
    assert named.endswith("… and 40 more")
    assert max(map(len, named.splitlines())) <= 122
