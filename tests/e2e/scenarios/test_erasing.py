"""Erasing by what is typed: asked in the page, gone everywhere, and what stays is sealed."""

from __future__ import annotations

import pytest

from adaptive.host.vector_database import history_collection
from tests.e2e.driver.extraction import learns, new, operations
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.told_facts import (
    CAT,
    PORTO,
    held,
    lived,
    our_rows,
    sweep_again,
    told,
)


def host_vectors(host: RunningHost, page: Page) -> int:
    """How many vectors of a user's memories the host's own database of vectors has."""
    return host.vectors(f"user-memory-{page.user_id}")


@pytest.mark.every_release
async def test_everything_is_erased(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """After the word was typed nothing of the user is left anywhere; another user's all is."""
    await host.set_valves({"history_recall_default": "all"})
    page, other = await lived(host, "ann"), await lived(host, "bob")
    kept, vectors = held(host, other), host_vectors(host, other)
    units = host.vectors(history_collection(other.user_id))
    assert (host_vectors(host, page), vectors) == (2, 2)
    assert host.vectors(history_collection(page.user_id)) == units > 0
    page.answers["input"] = "erase"
    turn = await page.new_chat().send("Forget everything about me")
    status = await page.wait_for_status(turn, "Erased: 2 memories")
    assert "what was noted" in status["description"]
    (asked,) = page.questions()
    assert asked["title"] == "Erase everything that is remembered about you?"
    assert "2 memories" in asked["message"]
    assert await page.memories() == []
    assert host_vectors(host, page) == 0
    await host.rest()
    assert held(host, page) == {}
    assert len(await other.memories()) == 2
    assert (held(host, other), host_vectors(host, other)) == (kept, vectors)
    assert host.vectors(history_collection(other.user_id)) == units
    assert host.vectors(history_collection(page.user_id)) == 0
    await page.new_chat().send("Where do I live?")
    assert "Porto" not in host.model.last_prompt
    await told(host, page, "I live in Porto.", PORTO)


async def test_erased_without_status_lines(
    host: RunningHost, page: Page
) -> None:
    """With status lines off, a wish to erase is answered all the same: the question, then a line.

    What is recalled and learned is not told.
    """
    await told(host, page, "I live in Porto.", PORTO)
    await host.set_valves({"show_status": False})
    learns(host.model, "cat", operations(new(CAT)))
    chat = page.new_chat()
    silent = await chat.send("I live in Porto and have a cat called Miso.")
    await host.rest()
    assert len(await page.memories()) == 2
    assert page.statuses(silent) == []
    turn = await chat.send("Forget everything about me")
    await page.wait_for_status(turn, "Nothing was changed")
    page.answers["input"] = "erase"
    turn = await chat.send("Forget everything about me")
    await page.wait_for_status(turn, "Erased: 2 memories")
    assert await page.memories() == []


@pytest.mark.every_release
async def test_this_chat_is_erased(host: RunningHost, page: Page) -> None:
    """What was learned in this chat goes, here and in our tables; what another chat told stays."""
    await told(host, page, "I live in Porto.", PORTO)
    chat = page.new_chat()
    learns(host.model, "cat", operations(new(CAT)))
    turn = await chat.send("I have a cat called Miso.")
    await page.wait_for_status(turn, f"Saved: {CAT}")
    page.answers["input"] = "erase"
    turn = await chat.send("Forget what I told you in this chat.")
    await page.wait_for_status(turn, "Erased: 1 memory")
    (left,) = await page.memories()
    assert PORTO in left.content  # 0.9 keeps tags and bank in it
    assert host_vectors(host, page) == 1
    assert [
        one["chat_id"] == chat.id for one in our_rows(host, page, "audit")
    ] == [False]


@pytest.mark.every_release
async def test_deleted_account_is_swept(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """What the host leaves of an account that its admin deletes is gone with the day's sweep."""
    await host.set_valves({"history_recall_default": "all"})
    page, other = await lived(host, "ann"), await lived(host, "bob")
    kept, vectors = held(host, other), host_vectors(host, other)
    await host.admin.request("DELETE", f"/api/v1/users/{page.user_id}")
    remembered = "SELECT id FROM memory WHERE user_id = ?"
    assert len(host.query(remembered, page.user_id)) == 2
    await sweep_again(host, plugin, PLUGIN)
    await other.new_chat().send("How are you?")
    await host.rest()
    assert held(host, page) == {}
    assert host.query(remembered, page.user_id) == []
    assert host_vectors(host, page) == 0
    assert host.vectors(history_collection(page.user_id)) == 0
    assert len(await other.memories()) == 2
    assert host_vectors(host, other) == vectors
    assert (
        held(host, other).items()
        >= {"audit": kept["audit"], "vector": kept["vector"]}.items()
    )


@pytest.mark.every_release
async def test_edited_message(host: RunningHost, page: Page) -> None:
    """What only the former words of an edited message said goes once its user says so."""
    chat = page.new_chat()
    learns(host.model, "Porto", operations(new(PORTO)))
    turn = await chat.send("I live in Porto.")
    await page.wait_for_status(turn, f"Saved: {PORTO}")
    learns(host.model, "cat", operations(new(CAT)))
    page.will_choose(1)
    turn = await chat.edit_last("I have a cat called Miso.")
    await page.wait_for_status(turn, f"Deleted: {PORTO}")
    (asked,) = page.questions()
    assert "You changed that message." in asked["message"]
    (left,) = await page.memories()
    assert CAT in left.content
    await chat.send("How are you?")
    await host.rest()
    assert len(page.questions()) == 1
