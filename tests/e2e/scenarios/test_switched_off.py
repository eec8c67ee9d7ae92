"""Who has switched memory off in the host's settings is not remembered, and is told so once."""

from __future__ import annotations

import asyncio

import pytest

from tests.e2e.driver.extraction import learns, new, operations
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import CHAT_MODEL
from tests.e2e.driver.turn import Turn
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.told_facts import CAT, PORTO, our_rows

LINE = (
    "Memory is off in your settings (Settings > Personalization > Memory), so nothing is recalled "
    "or saved."
)
QUESTION = "Where do I live?"
pytestmark = pytest.mark.every_release


async def resident(host: RunningHost) -> Page:
    """A user of whom it is known where they live, and who has a cat to tell of."""
    page = await host.user("ann")
    learns(host.model, "I live in Porto", operations(new(PORTO)))
    learns(host.model, "cat", operations(new(CAT)))
    await page.say("I live in Porto.", f"Saved: {PORTO}")
    return page


def lines(page: Page, turn: Turn) -> list[str]:
    """What was said with an answer."""
    return [str(status.get("description")) for status in page.statuses(turn)]


async def test_nothing_is_recalled_or_saved(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """Off, nothing reaches the model, nothing is saved; one line says why, once.

    What was said before the switch, and waits still, is learned when it is on again.
    """
    page = await resident(host)
    await host.set_valves({"extraction_debounce_seconds": 2})
    await page.new_chat().send("I have a cat called Miso.")
    await page.switch_memory(False)
    waiting, asked = (
        len(our_rows(host, page, "waiting")),
        len(host.model.requests),
    )
    turn = await page.say(f"I have a boat called Freya. {QUESTION}", LINE)
    again = await page.new_chat().send(
        f"I have a boat called Freya. {QUESTION}"
    )
    await page.complete(QUESTION)
    await host.rest()
    assert lines(page, turn) == [LINE]
    assert lines(page, again) == []
    requests = host.model.requests[asked:]
    assert [request.kind for request in requests].count("chat") == 3
    assert not [request for request in requests if request.kind == "plug-in"]
    assert "Porto" not in str([request.body for request in requests])
    assert [PORTO in one.content for one in await page.memories()] == [True]
    assert len(our_rows(host, page, "waiting")) == waiting
    await page.switch_memory(True)
    await page.new_chat().send("I like to sing in the morning.")

    def learned() -> bool:
        query = "SELECT content FROM memory WHERE user_id = ?"
        return any(
            CAT in one["content"] for one in host.query(query, page.user_id)
        )

    await until(learned, 15, "the turn that waited is learned")


async def test_off_by_default(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """Where the admin wants it off, it is on for those alone who switch it on (since 0.11.1)."""
    page = await resident(host)
    if page.release.number < (0, 11, 1):
        return
    path = "/api/v1/auths/admin/config"
    off = {"DEFAULT_INTERFACE_SETTINGS": {"memory": False}}
    async with host.admin_settings(path, off):
        await asyncio.sleep(5.1)  # so long a process trusts what it has read
        turn = await page.new_chat().send(
            f"I have a cat called Miso. {QUESTION}"
        )
        await host.rest()
        assert "Porto" not in str(
            [one.body for one in host.model.requests[-1:]]
        )
        assert lines(page, turn) == []
        assert len(await page.memories()) == 1
        await page.switch_memory(True)
        await page.new_chat().send(QUESTION)
        assert PORTO in host.model.last_prompt
    await asyncio.sleep(5.1)


async def test_model_without_memory(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """A model whose Memory capability is off is shown nothing and learned nothing of."""
    page = await resident(host)
    if page.release.number < (0, 10):
        return
    model = {
        "id": "forgetful",
        "name": "Forgetful",
        "base_model_id": CHAT_MODEL,
        "meta": {"capabilities": {"memory": False}},
        "params": {},
        "access_grants": [
            {
                "principal_type": "user",
                "principal_id": "*",
                "permission": "read",
            },
        ],
    }
    await host.admin.request("POST", "/api/v1/models/create", model)
    await page.request("GET", "/api/models")
    chat = page.new_chat(model="forgetful")
    turn = await chat.send(f"I have a cat called Miso. {QUESTION}")
    await host.rest()
    assert turn.content == "Understood."
    assert "Porto" not in str(host.model.requests[-1].body)
    assert lines(page, turn) == []
    assert len(await page.memories()) == 1
    answer = await chat.send("/memory")
    assert PORTO in answer.content


async def test_erased_all_the_same(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """What is stored can be erased by asking for it, also with the first words after the switch."""
    page = await resident(host)
    await page.switch_memory(False)
    page.answers["input"] = "erase"
    await page.say(
        "Forget everything about me", "Erased: 1 memory", timeout=20
    )
    assert await page.memories() == []
