"""What the user is asked: which memories go, and which suggestions are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from adaptive.core.marks import Place
from adaptive.core.model import Draft, Memory
from adaptive.core.texts import CHANGED_MEANWHILE
from adaptive.host.dialog import PageDialog
from adaptive.learn.confirmation import (
    DECLINED,
    UNANSWERED,
    delete_confirmed,
    offer_suggestions,
)
from adaptive.learn.lesson import LessonResources
from adaptive.learn.suggestions import suggestion_digest
from adaptive.memory.suggestion_table import WaitingSuggestion
from adaptive.settings.hook import Hook, Report
from tests.fakes import SOURCE, hook_settings, memory
from tests.learn.world import Work, World, reply
from tests.rates import over

SAID = "I drink green tea every morning."
DRINKS_TEA = "User drinks green tea every morning."
TEA = Draft(DRINKS_TEA, ("preference",), "Personal", importance=9)

# --- deletions ------------------------------------------------------------------------------------


def memories(count: int) -> list[Memory]:
    """That many memories."""
    return [
        memory(f"m-{number}", f"User owns cat {number}.")
        for number in range(1, count + 1)
    ]


def page(
    answer: str | Callable[[], str] | None, asked: list[Any] | None = None
) -> PageDialog:
    """A page whose user answers so; what is asked is noted."""

    async def called(event: dict[str, Any]) -> object:
        if asked is not None:
            asked.append(event)
        return answer() if callable(answer) else answer

    return PageDialog(called)


@pytest.mark.parametrize(
    ("answer", "reason"), [(None, UNANSWERED), ("no", DECLINED)]
)
async def test_question(answer: str | None, reason: str) -> None:
    """At most ten memories are named in short lines; without a yes all stay, and it says why."""
    rows = [
        memory(f"m-{number}", "long\nwords " * 100) for number in range(30)
    ]
    world, asked = World(*rows), list[Any]()
    lesson = await delete_confirmed(
        world.resources(), SOURCE, page(answer, asked), rows
    )
    told = str(asked)
    for words in (
        "Delete memories?",
        "Your message would delete",
        "… and 20 more",
    ):
        assert words in told
    assert "12. " not in told
    assert "Anything else deletes nothing." in told
    assert len(told) < 2500
    assert lesson.line.startswith("Not deleted (30): long words")
    assert f"({reason})" in lesson.line
    assert len(world.contents) == 30


@over(
    "answer, count, left",
    [
        ("ALL", 3, ()),
        ("all", 12, ()),
        ("3,1, 3", 3, (2,)),
        ("3 -1", 3, (1, 2)),
        ("11", 12, tuple(range(1, 11))),
        *(
            (one, 3, (1, 2, 3))
            for one in (
                " ",
                "yes",
                "all but 2",
                "4",
                "0",
                "-1",
                "1 x",
                "9" * 5000,
            )
        ),
    ],
)
async def test_answer(answer: str, count: int, left: tuple[int, ...]) -> None:
    """What is wholly understood is deleted, those behind the last number too, and nothing else."""
    rows = memories(count)
    world = World(*rows)
    await delete_confirmed(world.resources(), SOURCE, page(answer), rows)
    stay = [f"User owns cat {number}." for number in left]
    assert sorted(world.contents) == sorted(stay)


async def test_store_changed_meanwhile() -> None:
    """What says something else by the time of the answer stays, and what is gone is told."""
    rows = memories(3)
    world = World(*rows)

    def answer() -> str:
        world.store.edit("m-2", "User owns a dog.")
        del world.store.rows["m-3"]
        return "all"

    lesson = await delete_confirmed(
        world.resources(), SOURCE, page(answer), rows
    )
    kept = f"Not deleted (2): User owns cat 2. ({CHANGED_MEANWHILE}) …"
    assert lesson.line == f"Deleted: User owns cat 1. · {kept}"
    assert world.contents == ["User owns a dog."]
    assert world.audit.told() == [("deleted", "m-1")]


async def test_question_that_came_too_late() -> None:
    """What another question has deleted by then is not asked about."""
    rows, asked = memories(2), list[Any]()
    room, dialog = World(rows[1]).resources(), page("no", asked)
    await delete_confirmed(room, SOURCE, dialog, rows)
    assert "User owns cat 1." not in str(asked)
    assert "User owns cat 2." in str(asked)
    told = await delete_confirmed(room, SOURCE, dialog, rows[:1])
    assert (told.line, len(asked)) == (
        f"Nothing was changed: {CHANGED_MEANWHILE}",
        1,
    )


# --- suggestions ----------------------------------------------------------------------------------

FOUND_TEA = reply(
    {
        "operation": "NEW",
        "content": DRINKS_TEA,
        "importance": 9,
        "tags": ["preference"],
        "memory_bank": "Personal",
        "evidence": SAID,
    }
)


class House(World):
    """A user's world in suggest mode."""

    async def suggesting(self, *, can_ask: bool = True) -> LessonResources:
        """What learning needs."""
        settings = hook_settings(
            save_mode="suggest", allowed_memory_banks="Personal, General"
        )
        return self.resources(settings=settings, can_ask=can_ask)

    async def told(
        self, words: str, work: Work | None = None, *, can_ask: bool = True
    ) -> str:
        """The line of a lesson."""
        settings = (await self.suggesting()).settings
        return (
            await self.lesson(words, work, settings=settings, can_ask=can_ask)
        ).report.line

    async def offer(
        self, answer: str | Callable[[], str] | None, chat: str = "chat"
    ) -> Report:
        """Offer what waits to a page that answers so, a while later each time."""
        self.leases.rows.clear()
        hook = SimpleNamespace(
            place=Place(), user_id="ada", chat_id=chat, dialog=page(answer)
        )
        return await offer_suggestions(
            self.suggestions, self.suggesting, cast(Hook, hook)
        )

    @property
    def waiting(self) -> list[Draft]:
        """What waits."""
        drafts = (
            one.body["draft"]
            for (kind, _, _), one in self.entries.rows.items()
            if kind == "suggestion"
        )
        return [Draft(**{**one, "tags": (*one["tags"],)}) for one in drafts]


async def waits(*rows: Memory, **store: Any) -> House:
    """A house in which the tea waits to be answered."""
    house = House(*rows, **store)
    one = WaitingSuggestion(suggestion_digest(TEA), TEA, "", SOURCE)
    await house.table.put("ada", [one])
    return house


async def test_proposed() -> None:
    """What is found waits and nothing is written; it is one model call."""
    house, work = House(script=[FOUND_TEA]), Work()
    assert await house.told(SAID, work) == ""
    assert (house.waiting, house.contents, work.calls) == ([TEA], [], 1)
    line = await House(script=[FOUND_TEA]).told(SAID, can_ask=False)
    assert line == "1 suggestion waits for your answer"


async def test_nothing_is_proposed() -> None:
    """What is known, or was rejected before, is not proposed, and the line says what is known."""
    house = House(memory("m-1", DRINKS_TEA), script=[FOUND_TEA])
    assert await house.told(SAID) == f"Already known: {DRINKS_TEA}"
    rejecting = House(script=[FOUND_TEA])
    await rejecting.table.reject("ada", suggestion_digest(TEA), 0)
    assert await rejecting.told(SAID) == "Nothing new to remember"
    assert house.waiting == rejecting.waiting == []


async def test_changed() -> None:
    """A change waits with the row that it is of, which a yes changes."""
    update = {
        "operation": "UPDATE",
        "id": "m-1",
        "content": "User lives in Lisbon.",
    }
    porto = memory("m-1", "User lives in Porto.", tags=("identity",))
    house = House(
        porto,
        memory("m-2", "User has a dog called Rex."),
        script=[reply(update)],
    )
    await house.told("I live in Lisbon now.")
    assert house.store.rows["m-1"] == porto
    assert (await house.offer("1")).line == "Updated: User lives in Lisbon."
    assert house.store.rows["m-1"].content == "User lives in Lisbon."


async def test_accepted() -> None:
    """A yes saves the memory with bank, tags and the message it came from, and it waits no more."""
    house = await waits()
    report = await house.offer("1")
    assert (report.line, report.kind) == (f"Saved: {DRINKS_TEA}", "reply")
    (row,) = house.store.rows.values()
    assert (row.content, row.bank, row.tags) == (
        DRINKS_TEA,
        "Personal",
        ("preference",),
    )
    assert row.importance == 9
    assert row.meta["message_id"] == SOURCE.message_id
    assert house.waiting == []
    assert [(one.kind, one.chat_id) for one in house.audit.entries] == [
        ("saved", SOURCE.chat_id)
    ]
    assert (
        await (await waits(row)).offer("1")
    ).line == f"Already known: {DRINKS_TEA}"


@pytest.mark.parametrize("refusal", ["", "memories are switched off"])
async def test_accepted_but_not_saved(refusal: str) -> None:
    """What could not be saved waits on, and the line says why."""
    house = await waits(refusal=refusal, broken=[DRINKS_TEA])
    lesson = await house.offer("1")
    assert lesson.line.startswith(f"Could not be saved: {DRINKS_TEA} (")
    assert house.waiting == [TEA]


async def test_erased_while_asked() -> None:
    """What the user has erased while the question stood is not saved."""
    house = await waits()

    def erased() -> str:
        house.entries.rows.clear()
        return "1"

    assert (await house.offer(erased)).line == ""
    assert house.contents == []


async def test_unanswered() -> None:
    """Without an answer, a table, or while another question stands it waits; a no tells nothing."""
    house, over_now = await waits(), asyncio.Event()
    house.entries.unavailable = True
    assert (await house.offer("1")).line == ""
    house.entries.unavailable = False
    question = asyncio.create_task(
        house.suggestions.asking("ada", over_now.wait())
    )
    await asyncio.sleep(0)
    assert (await house.offer("1")).line == ""
    over_now.set()
    await question
    assert await house.offer(None) == Report(
        "1 suggestion waits for your answer", kind="notice"
    )
    # Nobody has answered there: the chat is left in peace, and another one asks.
    assert (await house.offer("-1")).line == ""
    assert house.waiting
    assert (await house.offer("-1", "another chat")).line == ""
    assert house.waiting == []
