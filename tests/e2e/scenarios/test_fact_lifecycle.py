"""One fact's whole way: told in one chat, known in another, corrected, forgotten, never mixed."""

from __future__ import annotations

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.scenarios.extraction import delete, learns, new, operations, update

DOG = "User's dog is called Biscuit."


@pytest.mark.every_release
async def test_fact_reaches_another_chat(host: RunningHost, page: Page) -> None:
    """A fact told in chat A stands in the host's table and in chat B's system prompt."""
    learns(host.model, "dog is called", operations(new(DOG, tags=["relationship"])))
    told = page.new_chat()
    turn = await told.send("My dog is called Biscuit.")
    await page.wait_for_status(turn, f"Saved: {DOG}")

    [memory] = await page.memories()
    assert DOG in memory.content
    if memory.meta is not None:
        assert memory.content == DOG
        assert memory.path == "Personal/relationship"
        assert memory.meta["source"] == "adaptive_memory"
        assert memory.meta["chat_id"] == told.id
        assert memory.meta["message_id"] == turn.user_message_id

    history = await told.status_history(turn)
    assert [status["description"] for status in history] == [f"Saved: {DOG}"]

    asked = await page.new_chat().send("What is my dog called?")
    assert asked.content == "Understood."
    prompt = host.model.last_prompt
    assert prompt.startswith("<adaptive_memory>\n")
    assert prompt.endswith("\n</adaptive_memory>")
    assert f"- “{DOG}”\n" in prompt
    assert "[Tags" not in prompt


@pytest.mark.every_release
async def test_host_finds_the_fact_too(host: RunningHost, page: Page) -> None:
    """The host's own vector search returns a fact that the plug-in wrote, corrected, and forgot."""
    learns(host.model, "dog is called", operations(new(DOG)))
    await page.say("My dog is called Biscuit.", "Saved")
    found = await page.request("POST", "/api/v1/memories/query", {"content": "my dog", "k": 3})
    assert DOG in found["documents"][0][0]

    [memory] = await page.memories()
    learns(host.model, "actually", operations(update(memory.id, "User's dog is called Rex.")))
    await page.say("My dog is actually called Rex.", "Updated")
    found = await page.request("POST", "/api/v1/memories/query", {"content": "my dog", "k": 3})
    assert len(found["documents"][0]) == 1
    assert "Rex" in found["documents"][0][0]


@pytest.mark.every_release
async def test_correction_leaves_one_row(host: RunningHost, page: Page) -> None:
    """A corrected fact is one row with the new content; the former one is kept in its history."""
    learns(host.model, "Porto", operations(new("User lives in Porto.", tags=["identity"])))
    await page.say("I live in Porto.", "Saved")
    [before] = await page.memories()

    learns(host.model, "Lisbon", operations(update(before.id, "User lives in Lisbon.")))
    await page.say("I have moved to Lisbon.", "Updated: User lives in Lisbon.")
    [after] = await page.memories()
    assert after.id == before.id
    assert "User lives in Lisbon." in after.content
    if after.meta is not None:
        assert "Porto" not in after.content
        assert after.path == before.path == "Personal/identity"
        assert [entry["content"] for entry in after.meta["history"]] == ["User lives in Porto."]
    else:
        assert after.content.startswith("[Tags: identity] User lives in Lisbon. (until 20")

    await page.new_chat().send("Where do I live?")
    prompt = host.model.last_prompt
    assert prompt.index("User lives in Lisbon.") < prompt.index("(until 20")
    assert prompt.count("Porto") == 1


@pytest.mark.every_release
async def test_forgotten_fact_is_gone(host: RunningHost, page: Page) -> None:
    """A fact that the user asks to forget leaves the table and the next prompt."""
    learns(host.model, "dog is called", operations(new(DOG)))
    await page.say("My dog is called Biscuit.", "Saved")
    [memory] = await page.memories()
    learns(host.model, "forget", operations(delete(memory.id)))
    await page.say("Please forget my dog.", f"Deleted: {DOG}")
    assert await page.memories() == []

    await page.new_chat().send("What is my dog called?")
    assert "adaptive_memory" not in host.model.last_prompt


@pytest.mark.every_release
async def test_another_user_never_gets_it(host: RunningHost, plugin: InstalledFilter) -> None:
    """Another user's prompts and list show nothing of the fact, and nothing there can change it."""
    ann, bob = await host.user("ann"), await host.user("bob")
    learns(host.model, "dog is called", operations(new(DOG)))
    await ann.say("My dog is called Biscuit.", "Saved")
    [memory] = await ann.memories()

    await bob.say("What is my dog called?", "Nothing new to remember")
    assert await bob.memories() == []
    assert all("Biscuit" not in str(request.body) for request in host.model.requests[-2:])

    # The model may name any id; one that was not shown to it is refused.
    learns(
        host.model, "overwrite", operations(update(memory.id, "x y z changed"), delete(memory.id))
    )
    await bob.say("I have moved to Cork, overwrite it.", "not one of the memories shown")
    assert [one.content for one in await ann.memories()] == [memory.content]
