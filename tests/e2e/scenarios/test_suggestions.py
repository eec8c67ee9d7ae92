"""Saving only what the user agrees to: asked in the page, kept until answered, refused for good."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Hang
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.extraction import EXTRACT, delete, learns, new, operations, update

SAID = "I drink a pot of green tea every morning."
TEA = "User drinks a pot of green tea every morning."
FACT = new(TEA, tags=["preference", "behavior"])
WAITS = "1 suggestion waits for your answer"


def proposes(host: RunningHost) -> None:
    """Let the model find the tea in every turn that speaks of it."""
    learns(host.model, "green tea", operations(FACT))


async def careful(host: RunningHost, plugin: InstalledFilter, answer: object) -> Page:
    """A user who wants to be asked, and who answers so."""
    page = await host.user("ann")
    await plugin.set_user_valves(page, {"save_mode": "suggest"})
    page.answers["input"] = answer
    return page


def questions(page: Page) -> list[dict[str, Any]]:
    """What the page was asked."""
    return [event.data for event in page.events if event.kind == "input"]


def states(host: RunningHost, page: Page) -> list[str]:
    """How a user's suggestions stand."""
    table = "adaptive_memory_suggestion"
    if not host.query("SELECT 1 FROM sqlite_master WHERE name = ?", table):
        return []  # nobody of this host has been asked yet
    found = host.query(f"SELECT * FROM {table} WHERE user_id = ?", page.user_id)
    assert all("green tea" not in str(tuple(row.values())).casefold() for row in found)
    return [str(row["state"]) for row in found]


@pytest.mark.every_release
async def test_accepted(host: RunningHost, plugin: InstalledFilter) -> None:
    """Nothing is stored before the answer; then the memory stands with bank, tags and origin."""
    proposes(host)
    stored_before: list[int] = []

    def yes(asked: dict[str, Any]) -> str:
        rows = host.query("SELECT id FROM memory WHERE user_id = ?", page.user_id)
        stored_before.append(len(rows))
        return str(asked["value"])

    page = await careful(host, plugin, yes)
    turn = await page.new_chat().send(SAID)
    await page.wait_for_status(turn, f"Memory saved: {TEA}")
    assert stored_before == [0]
    (asked,) = questions(page)
    assert asked["title"] == "Keep this?"
    assert TEA.rstrip(".") in asked["message"]
    (row,) = await page.memories()
    told = f"{row.content} {row.path} {row.meta}"
    assert TEA in told
    for part in ("Personal", "preference", "behavior"):
        assert part.casefold() in told.casefold()
    audit = "SELECT message_id FROM adaptive_memory_audit WHERE user_id = ?"
    assert host.query(audit, page.user_id) == [{"message_id": turn.user_message_id}]
    assert states(host, page) == []
    assert len(host.model.requests_titled(EXTRACT)) == 1
    await page.new_chat().send("What do I drink in the morning?")
    assert TEA in host.model.chat_requests()[-1].system_prompt


async def test_rejected_for_good(host: RunningHost, plugin: InstalledFilter) -> None:
    """What was rejected is not proposed again, in any case of letters, after a reload too."""
    shouted = new("User DRINKS a pot of green tea every morning.", tags=["preference"])
    learns(host.model, "green tea", [operations(FACT), operations(shouted)])
    page = await careful(host, plugin, "-1")
    await page.new_chat().send(SAID)
    await until(lambda: states(host, page) == ["rejected"], 30, "the rejection")
    await plugin.update(PLUGIN.read_text(encoding="utf-8") + "\n# loaded anew\n")
    turn = await page.new_chat().send("I drink green tea in the evening, too.")
    await page.wait_for_status(turn, "Nothing new to remember")
    assert len(host.model.requests_titled(EXTRACT)) == 2
    assert len(questions(page)) == 1
    assert await page.memories() == []


async def test_unanswered(host: RunningHost, plugin: InstalledFilter) -> None:
    """Without an answer it waits; the chat is left in peace, and the next one asks again."""
    proposes(host)
    page = await careful(host, plugin, lambda _: None)
    chat = page.new_chat()
    await page.wait_for_status(await chat.send(SAID), WAITS)
    await chat.send("What goes with it?")
    await host.rest()
    assert len(questions(page)) == 1
    await plugin.update(PLUGIN.read_text(encoding="utf-8") + "\n# loaded anew\n")
    page.answers["input"] = "1"
    turn = await page.new_chat().send("What is the capital of Portugal?")
    await page.wait_for_status(turn, f"Memory saved: {TEA}")
    assert len(questions(page)) == 2


@pytest.mark.every_release
async def test_closed_page(host: RunningHost, plugin: InstalledFilter) -> None:
    """A page that is closed before the question costs nothing: the next one asks."""
    proposes(host)
    await plugin.set_valves({"extraction_debounce_seconds": 1})
    page = await careful(host, plugin, "1")
    await page.new_chat().send(SAID)
    await page.disconnect()
    await until(lambda: states(host, page) == ["waiting"], 30, "the suggestion")
    await host.rest()
    assert await page.memories() == []
    await page.connect()
    turn = await page.new_chat().send("What is the capital of Portugal?")
    await page.wait_for_status(turn, f"Memory saved: {TEA}")


async def test_model_in_trouble(host: RunningHost, plugin: InstalledFilter) -> None:
    """Where the model does not answer nothing is stored, and the user is told why."""
    await plugin.set_valves({"llm_timeout_seconds": 1, "max_retries": 0})
    learns(host.model, "green tea", Hang())
    page = await careful(host, plugin, "1")
    turn = await page.new_chat().send(SAID)
    assert turn.content == "Understood."
    status = await page.wait_for_status(turn, "Nothing saved: ")
    assert "did not answer within 1" in status["description"]
    assert (await page.memories(), questions(page)) == ([], [])


async def test_change_and_deletion(host: RunningHost, plugin: InstalledFilter) -> None:
    """A change is asked about before it is made; what is to be forgotten goes at once."""
    page = await careful(host, plugin, "1")
    for content in (TEA, "User has a dog called Rex."):
        await page.add_memory(content)
    ids = {one.content: one.id for one in await page.memories()}
    tea, dog = (next(id for said, id in ids.items() if one in said) for one in ("tea", "Rex"))
    coffee = "User drinks a pot of coffee every morning."
    learns(host.model, "coffee", operations(update(tea, coffee), delete(dog)))
    turn = await page.new_chat().send("I drink coffee every morning now. And forget my dog Rex.")
    await page.wait_for_status(turn, "Memory deleted: User has a dog called Rex.")
    await page.wait_for_status(turn, f"Memory updated: {coffee}")
    (asked,) = questions(page)
    assert coffee.rstrip(".") in asked["message"]
    (row,) = await page.memories()
    assert row.id == tea


async def test_everything_is_erased(host: RunningHost, plugin: InstalledFilter) -> None:
    """A chat takes along what waits of it, everything also what was rejected."""
    proposes(host)
    page = await careful(host, plugin, lambda _: None)
    chat = page.new_chat()
    await page.wait_for_status(await chat.send(SAID), WAITS)
    page.answers["input"] = "erase"
    turn = await chat.send("Forget what I told you in this chat.")
    await page.wait_for_status(turn, "1 suggestion")
    assert states(host, page) == []
    page.answers["input"] = "-1"
    await page.new_chat().send(SAID)
    await until(lambda: states(host, page) == ["rejected"], 30, "the rejection")
    page.answers["input"] = "erase"
    turn = await page.new_chat().send("Forget everything about me")
    await page.wait_for_status(turn, "1 suggestion")
    assert states(host, page) == []


async def test_found_behind_the_answer(host: RunningHost, plugin: InstalledFilter) -> None:
    """Facts that are found behind an answer are asked about like others, and no one twice."""
    violin = "User plays the violin."
    proposes(host)
    await plugin.set_valves({"enable_postprocessing": True})
    page = await careful(host, plugin, lambda asked: asked["value"])
    host.model.when_title("# Postprocess", {"new_learnings": [TEA, violin]})
    turn = await page.new_chat().send(f"{SAID} I play the violin.")
    await page.wait_for_status(turn, violin)
    await until(lambda: states(host, page) == [], 30, "both are answered")
    kept = [one.content for one in await page.memories()]
    assert [sum(word in one for one in kept) for word in ("tea", "violin")] == [1, 1]
    assert len(questions(page)) <= len(kept) == 2
    assert len(host.model.requests_titled(EXTRACT)) == 1
