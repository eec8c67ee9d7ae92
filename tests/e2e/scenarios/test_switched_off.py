"""Who has switched memory off in the host's settings is not remembered, and is told so once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.e2e.driver.events import stored_text
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.turn import Turn
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.extraction import learns, new, operations
from tests.e2e.scenarios.test_history import UNITS, chroma

LINE = (
    "Memory is off in your settings (Settings > Personalization > Memory), so nothing is recalled "
    "or saved."
)
PORTO = "User lives in Porto."
CAT = "User has a cat called Miso."
QUESTION = "Where do I live?"
pytestmark = pytest.mark.every_release

EVERYTHING = {
    "history_recall": "all",
    "history_recall_default": "all",
    "enable_preprocessing": True,
    "enable_postprocessing": True,
    "suggest_follow_ups": True,
    "enable_summarization_task": True,
    "use_llm_for_relevance": True,
}


async def resident(host: RunningHost) -> Page:
    """A user of whom it is known where they live, and who has a cat to tell of."""
    page = await host.user("ann")
    learns(host.model, "I live in Porto", operations(new(PORTO)))
    learns(host.model, "cat", operations(new(CAT)))
    turn = await page.new_chat().send("I live in Porto.")
    await page.wait_for_status(turn, f"Memory saved: {PORTO}")
    return page


def lines(page: Page, turn: Turn) -> list[str]:
    """What was said with an answer."""
    return [str(status.get("description")) for status in page.statuses(turn)]


def rows(host: RunningHost, page: Page, kind: str) -> list[dict[str, Any]]:
    """A user's rows in a table of ours."""
    if not host.query("SELECT 1 FROM sqlite_master WHERE name = ?", f"adaptive_memory_{kind}"):
        return []
    return host.query(f"SELECT * FROM adaptive_memory_{kind} WHERE user_id = ?", page.user_id)


async def test_nothing_is_recalled_or_saved(host: RunningHost, plugin: InstalledFilter) -> None:
    """Off, nothing reaches the model, nothing waits or is saved; one line says why, once."""
    page = await resident(host)
    await page.switch_memory(False)
    waiting, asked = rows(host, page, "pending"), len(host.model.requests)
    turn = await page.new_chat().send(f"I have a cat called Miso. {QUESTION}")
    await page.wait_for_status(turn, LINE)
    again = await page.new_chat().send(f"I have a cat called Miso. {QUESTION}")
    await page.complete(QUESTION)
    await host.rest()
    assert lines(page, turn) == [LINE]
    assert lines(page, again) == []
    requests = host.model.requests[asked:]
    assert len(requests) == 3
    assert "Porto" not in str([one.body for one in requests])
    assert [PORTO in one.content for one in await page.memories()] == [True]
    assert rows(host, page, "pending") == waiting


async def test_all_features(host: RunningHost, plugin: InstalledFilter) -> None:
    """Off, nothing of what else the admin has switched on asks a model or keeps anything."""
    page = await resident(host)
    await plugin.set_valves(EVERYTHING)
    await page.switch_memory(False)
    kinds = ("pending", "chat_notes", "suggestion", "audit", "chat")
    before, asked = [rows(host, page, kind) for kind in kinds], len(host.model.requests)
    chat = page.new_chat()
    turn = await chat.send(f"I have a cat called Miso. {QUESTION}")
    await page.wait_for_status(turn, LINE)
    await chat.send("What is my cat called?")
    await host.rest()
    assert len(host.model.requests) == asked + 2
    assert "Porto" not in str([one.body for one in host.model.requests[asked:]])
    assert [rows(host, page, kind) for kind in kinds] == before
    assert chroma(host, page, UNITS) == 0
    await page.switch_memory(True)
    await chat.send("Fine.")
    await until(lambda: chroma(host, page, UNITS) > 0, 20, "past conversation is indexed")


async def test_turn_that_waited(host: RunningHost, plugin: InstalledFilter) -> None:
    """What was said before the switch, and waits still, is learned only when it is on again."""
    page = await resident(host)
    await plugin.set_valves({"extraction_debounce_seconds": 2})
    await page.new_chat().send("I have a cat called Miso.")
    await page.switch_memory(False)
    asked = len(host.model.requests)
    await host.rest()
    assert len(host.model.requests) == asked
    assert len(await page.memories()) == 1
    await page.switch_memory(True)
    await page.new_chat().send("I like to sing in the morning.")

    def learned() -> bool:
        query = "SELECT content FROM memory WHERE user_id = ?"
        return any(CAT in one["content"] for one in host.query(query, page.user_id))

    await until(learned, 15, "the turn that waited is learned")


async def test_on_again_and_off_again(host: RunningHost, plugin: InstalledFilter) -> None:
    """On again, everything is as before; off again, it is told again."""
    page = await resident(host)
    await page.switch_memory(False)
    await page.wait_for_status(await page.new_chat().send(QUESTION), LINE)
    await page.switch_memory(True)
    turn = await page.new_chat().send(f"I have a cat called Miso. {QUESTION}")
    assert PORTO in host.model.chat_requests()[-1].system_prompt
    await page.wait_for_status(turn, f"Memory saved: {CAT}")
    await page.switch_memory(False)
    turn = await page.new_chat().send(QUESTION)
    await page.wait_for_status(turn, LINE)
    assert "Porto" not in str(host.model.chat_requests()[-1].body)


async def test_two_tabs(host: RunningHost, plugin: InstalledFilter) -> None:
    """Of two tabs that speak at once one is told."""
    page = await resident(host)
    await page.switch_memory(False)
    other = await host.another_page(page)
    other.native_memory = False
    turns = await asyncio.gather(page.new_chat().send("Hello"), other.new_chat().send("Hello"))
    await host.rest()
    told = [*lines(page, turns[0]), *lines(other, turns[1])]
    assert told == [LINE]


async def test_silent_status(host: RunningHost, plugin: InstalledFilter) -> None:
    """Who wants no lines gets none; the user's own choices outlive the switch."""
    page = await resident(host)
    await plugin.set_user_valves(page, {"show_status": False})
    await page.switch_memory(False)
    turn = await page.new_chat().send(QUESTION)
    await host.rest()
    assert lines(page, turn) == []
    await plugin.set_user_valves(page, {"show_status": True})
    await page.wait_for_status(await page.new_chat().send(QUESTION), LINE)


async def test_erased_all_the_same(host: RunningHost, plugin: InstalledFilter) -> None:
    """What is stored can be erased by asking for it, also with the first words after the switch."""
    page = await resident(host)
    await page.switch_memory(False)
    page.answers["input"] = "erase"
    turn = await page.new_chat().send("Forget everything about me")
    await page.wait_for_status(turn, "Erased: 1 memory", timeout=20)
    assert await page.memories() == []


async def test_personal_data_is_redacted(host: RunningHost, plugin: InstalledFilter) -> None:
    """What the admin keeps from models is kept from them for who is off, too."""
    page = await host.user("ann")
    await plugin.set_valves({"pii_redaction": "all"})
    await page.switch_memory(False)
    host.model.when_chatting("Noted: [EMAIL_1]")
    chat = page.new_chat()
    turn = await chat.send("My address is ann@example.org.")
    sent = str(host.model.chat_requests()[-1].body)
    assert "ann@example.org" not in sent
    assert "[EMAIL_1]" in sent
    stored = await chat.stored_message(turn.message_id)
    assert stored_text(stored) == "Noted: ann@example.org"


@pytest.mark.parametrize("stored", [{}, {"ui": {}}, {"ui": {"memory": None}}], ids=str)
async def test_never_touched(
    host: RunningHost, plugin: InstalledFilter, stored: dict[str, Any]
) -> None:
    """Who has never touched the switch is remembered, whatever the page makes of it."""
    page = await resident(host)
    await page.request("POST", "/api/v1/users/user/settings/update", stored)
    turn = await page.new_chat().send(f"I have a cat called Miso. {QUESTION}")
    assert PORTO in host.model.chat_requests()[-1].system_prompt
    await page.wait_for_status(turn, f"Memory saved: {CAT}")
