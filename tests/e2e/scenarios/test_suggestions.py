"""Saving only what the user agrees to: asked in the page, kept until answered, refused for good."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.driver.extraction import EXTRACT, learns, new, operations
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.told_facts import our_rows

SAID = "I drink a pot of green tea every morning."
TEA = "User drinks a pot of green tea every morning."
FACT = new(TEA, tags=["preference", "behavior"])


async def careful(host: RunningHost, plugin: InstalledFilter) -> Page:
    """A user who wants to be asked, who keeps one fact, and whose tea the model finds."""
    learns(host.model, "green tea", operations(FACT))
    page = await host.user("ann")
    await plugin.set_user_valves(page, {"save_mode": "suggest"})
    page.will_choose(1)
    return page


def states(host: RunningHost, page: Page) -> list[str]:
    """How a user's suggestions stand."""
    found = our_rows(host, page, "suggestion")
    assert all(
        "green tea" not in str(tuple(row.values())).casefold() for row in found
    )
    return ["waiting" if row["body"] else "rejected" for row in found]


@pytest.mark.every_release
async def test_accepted(host: RunningHost, plugin: InstalledFilter) -> None:
    """Nothing is stored before the answer; then the memory stands with bank, tags and origin."""
    stored_before: list[int] = []

    page = await careful(host, plugin)
    keep = page.answers["input"]

    def yes(asked: dict[str, Any]) -> str:
        rows = host.query(
            "SELECT id FROM memory WHERE user_id = ?", page.user_id
        )
        stored_before.append(len(rows))
        return keep(asked)

    page.answers["input"] = yes
    turn = await page.say(SAID, f"Saved: {TEA}")
    assert stored_before == [0]
    (asked,) = page.questions()
    assert asked["title"] == "Keep this?"
    assert TEA.rstrip(".") in asked["message"]
    (row,) = await page.memories()
    told = f"{row.content} {row.path} {row.meta}"
    assert TEA in told
    for part in ("Personal", "preference", "behavior"):
        assert part.casefold() in told.casefold()
    (change,) = our_rows(host, page, "audit")
    assert change["message_id"] == turn.user_message_id
    assert states(host, page) == []
    assert len(host.model.requests_titled(EXTRACT)) == 1
    await page.new_chat().send("What do I drink in the morning?")
    assert TEA in host.model.last_prompt


@pytest.mark.every_release
async def test_closed_page(host: RunningHost, plugin: InstalledFilter) -> None:
    """A page that is closed before the question costs nothing: the next one asks."""
    await host.set_valves({"extraction_debounce_seconds": 1})
    page = await careful(host, plugin)
    await page.new_chat().send(SAID)
    await page.disconnect()
    await until(
        lambda: states(host, page) == ["waiting"], 30, "the suggestion"
    )
    await host.rest()
    assert await page.memories() == []
    await page.connect()
    await page.say("What is the capital of Portugal?", f"Saved: {TEA}")


@pytest.mark.every_release
async def test_five_facts(host: RunningHost, plugin: InstalledFilter) -> None:
    """Five facts of one message are asked about at once, and each becomes what its user says."""
    facts = [
        f"User owns a {colour} kayak."
        for colour in ("red", "blue", "green", "grey", "black")
    ]
    page = await careful(host, plugin)
    page.will_choose(1, 2, 1, 0, 1)
    learns(host.model, "kayak", operations(*map(new, facts)))
    await page.say(
        "I own a red kayak, a blue, a green, a grey and a black kayak.",
        "Saved",
    )
    await host.rest()
    (asked,) = page.questions()
    assert [fact for fact in facts if fact.rstrip(".") not in str(asked)] == []
    assert len(await page.memories()) == 3
    assert states(host, page) == ["waiting"]
    assert len(our_rows(host, page, "rejection")) == 1


async def test_declined_form(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """A form that is declined, or that shows in no page, saves nothing and refuses nothing."""
    answers = ({"action": "decline"}, {"status": "cancelled", "answers": {}})
    for number, answer in enumerate(answers):
        page = await careful(host, plugin)
        page.answers |= {"input": False, "request:elicitation": answer}
        facts = [new(f"User owns a {one} sledge.") for one in ("red", "blue")]
        learns(host.model, f"sledge {number}", operations(*facts))
        await page.new_chat().send(f"I own a red and a blue sledge {number}.")
        await host.rest()
        assert len(page.questions()) == 1
        assert await page.memories() == []
        assert states(host, page) == ["waiting", "waiting"]
