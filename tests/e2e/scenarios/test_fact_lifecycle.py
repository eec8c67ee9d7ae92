"""One fact's whole way: told in one chat, known in another, corrected, forgotten, never mixed."""

from __future__ import annotations

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.scenarios.extraction import delete, learns, new, operations, update

DOG = "User's dog is called Biscuit."


async def tell(page: Page, words: str, status: str) -> None:
    """Say something in a new chat and wait for what memory says about it."""
    turn = await page.new_chat().send(words)
    await page.wait_for_status(turn, status)


@pytest.mark.every_release
async def test_fact_reaches_another_chat(host: RunningHost, plugin: InstalledFilter) -> None:
    """A fact told in chat A stands in the host's table and in chat B's system prompt."""
    page = await host.user("ann")
    learns(host.model, "dog is called", operations(new(DOG, tags=["relationship"])))
    told = page.new_chat()
    turn = await told.send("My dog is called Biscuit.")
    await page.wait_for_status(turn, f"Memory saved: {DOG}")

    [memory] = await page.memories()
    assert DOG in memory.content
    if memory.meta is not None:
        assert memory.content == DOG
        assert memory.path == "Personal/relationship"
        assert memory.meta["source"] == "adaptive_memory"
        assert memory.meta["chat_id"] == told.id
        assert memory.meta["message_id"] == turn.user_message_id

    asked = await page.new_chat().send("What is my dog called?")
    assert asked.content == "Understood."
    prompt = host.model.chat_requests()[-1].system_prompt
    assert prompt.startswith("<adaptive_memory>\n")
    assert prompt.endswith("\n</adaptive_memory>")
    assert f"- “{DOG}”\n" in prompt
    assert "[Tags" not in prompt


@pytest.mark.every_release
async def test_status_is_stored_with_the_answer(host: RunningHost, plugin: InstalledFilter) -> None:
    """The status line is still there when the chat is opened again."""
    page = await host.user("ann")
    learns(host.model, "dog is called", operations(new(DOG)))
    chat = page.new_chat()
    turn = await chat.send("My dog is called Biscuit.")
    await page.wait_for_status(turn, "Memory saved")
    history = await chat.status_history(turn)
    assert [status["description"] for status in history] == [f"Memory saved: {DOG}"]


@pytest.mark.every_release
async def test_host_finds_the_fact_too(host: RunningHost, plugin: InstalledFilter) -> None:
    """The host's own vector search returns a fact that the plug-in wrote, corrected, and forgot."""
    page = await host.user("ann")
    learns(host.model, "dog is called", operations(new(DOG)))
    await tell(page, "My dog is called Biscuit.", "Memory saved")
    found = await page.request("POST", "/api/v1/memories/query", {"content": "my dog", "k": 3})
    assert DOG in found["documents"][0][0]

    [memory] = await page.memories()
    learns(host.model, "actually", operations(update(memory.id, "User's dog is called Rex.")))
    await tell(page, "My dog is actually called Rex.", "Memory updated")
    found = await page.request("POST", "/api/v1/memories/query", {"content": "my dog", "k": 3})
    assert len(found["documents"][0]) == 1
    assert "Rex" in found["documents"][0][0]


@pytest.mark.every_release
async def test_correction_leaves_one_row(host: RunningHost, plugin: InstalledFilter) -> None:
    """A corrected fact is one row with the new content; the former one is kept in its history."""
    page = await host.user("ann")
    learns(host.model, "Porto", operations(new("User lives in Porto.", tags=["identity"])))
    await tell(page, "I live in Porto.", "Memory saved")
    [before] = await page.memories()

    learns(host.model, "Lisbon", operations(update(before.id, "User lives in Lisbon.")))
    await tell(page, "I have moved to Lisbon.", "Memory updated: User lives in Lisbon.")
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
    prompt = host.model.chat_requests()[-1].system_prompt
    assert prompt.index("User lives in Lisbon.") < prompt.index("(until 20")
    assert prompt.count("Porto") == 1


@pytest.mark.every_release
async def test_forgotten_fact_is_gone(host: RunningHost, plugin: InstalledFilter) -> None:
    """A fact that the user asks to forget leaves the table and the next prompt."""
    page = await host.user("ann")
    learns(host.model, "dog is called", operations(new(DOG)))
    await tell(page, "My dog is called Biscuit.", "Memory saved")
    [memory] = await page.memories()
    learns(host.model, "forget", operations(delete(memory.id)))
    await tell(page, "Please forget my dog.", f"Memory deleted: {DOG}")
    assert await page.memories() == []

    await page.new_chat().send("What is my dog called?")
    assert "adaptive_memory" not in host.model.chat_requests()[-1].system_prompt


@pytest.mark.every_release
async def test_another_user_never_gets_it(host: RunningHost, plugin: InstalledFilter) -> None:
    """Another user's prompts and list show nothing of the fact, and nothing there can change it."""
    ann, bob = await host.user("ann"), await host.user("bob")
    learns(host.model, "dog is called", operations(new(DOG)))
    await tell(ann, "My dog is called Biscuit.", "Memory saved")
    [memory] = await ann.memories()

    turn = await bob.new_chat().send("What is my dog called?")
    await bob.wait_for_status(turn, "Nothing new to remember")
    assert await bob.memories() == []
    assert all("Biscuit" not in str(request.body) for request in host.model.requests[-2:])

    # The model may name any id; one that was not shown to it is refused.
    learns(
        host.model, "overwrite", operations(update(memory.id, "x y z changed"), delete(memory.id))
    )
    turn = await bob.new_chat().send("I have moved to Cork, overwrite it.")
    await bob.wait_for_status(turn, "not one of the memories shown")
    assert [one.content for one in await ann.memories()] == [memory.content]


async def test_unrelated_message_gets_nothing(host: RunningHost, plugin: InstalledFilter) -> None:
    """A prompt that no memory fits reaches the model as if there were no plug-in."""
    page = await host.user("ann")
    learns(host.model, "dog is called", operations(new(DOG)))
    await tell(page, "My dog is called Biscuit.", "Memory saved")
    await page.new_chat().send("Write a regular expression that matches an IPv4 address.")
    request = host.model.chat_requests()[-1]
    assert [message["role"] for message in request.messages] == ["user"]


@pytest.mark.every_release
async def test_several_facts_in_one_message(host: RunningHost, plugin: InstalledFilter) -> None:
    """Several facts of one message become several rows, and one refused item spoils none."""
    page = await host.user("ann")
    facts = ["User likes green tea.", "User plays the cello.", "User was born in Oslo."]
    items = [new(fact) for fact in facts]
    learns(
        host.model,
        "tea",
        operations(
            *items, {"operation": "EXPLODE"}, new("User may like guessing.", confidence=0.1)
        ),
    )
    turn = await page.new_chat().send("I like green tea, play the cello and was born in Oslo.")
    status = await page.wait_for_status(turn, "Memory saved")
    rows = [memory.content for memory in await page.memories()]
    assert len(rows) == 3
    assert all(any(fact in row for row in rows) for fact in facts)
    assert "Not saved" in status["description"]
    assert "not sure" in status["description"]


async def test_memory_formats(host: RunningHost, plugin: InstalledFilter) -> None:
    """The three formats stand in the prompt as the valve says."""
    page = await host.user("ann")
    facts = ("User's dog is called Biscuit.", "User's dog is a spaniel")
    for fact in facts:
        await page.add_memory(fact)
    expected: dict[str, set[str]] = {"bullet": set(), "numbered": set(), "paragraph": set()}
    # Rows of one second stand in the order of their random ids, so both orders are right.
    for one, other in (facts, facts[::-1]):
        expected["bullet"].add(f"- “{one}”\n- “{other}”")
        expected["numbered"].add(f"1. “{one}”\n2. “{other}”")
        expected["paragraph"].add(f"“{one}” “{other}”")
    for form, texts in expected.items():
        await plugin.set_valves({"memory_format": form})
        await page.new_chat().send("Tell me about my dog")
        prompt = host.model.chat_requests()[-1].system_prompt
        _, _, entries = prompt.partition("From earlier conversations:")
        assert entries.removesuffix("\n</adaptive_memory>").strip() in texts


async def test_known_fact_is_not_doubled(host: RunningHost, plugin: InstalledFilter) -> None:
    """A fact that is told again is one row, and the line says so."""
    page = await host.user("ann")
    fact = operations(new("User lives in Lisbon.", tags=["identity"]))
    learns(host.model, "live in Lisbon", fact)
    await tell(page, "I live in Lisbon.", "Memory saved: User lives in Lisbon.")
    await tell(page, "You know that I live in Lisbon.", "Already known: User lives in Lisbon.")
    assert len(await page.memories()) == 1


async def test_fact_that_was_not_said(host: RunningHost, plugin: InstalledFilter) -> None:
    """What a model finds in no word of the message is not stored, evidence and all."""
    page = await host.user("ann")
    cello = new("User plays the cello.", evidence="I play the cello in an orchestra")
    learns(host.model, "Lisbon", operations(cello))
    await tell(page, "I live in Lisbon.", "User plays the cello. (it is not in your message)")
    assert await page.memories() == []
