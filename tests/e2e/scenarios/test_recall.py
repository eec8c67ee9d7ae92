"""What the inlet finds, keeps in place, leaves out, and shows; on a real host."""

from __future__ import annotations

import re

import pytest

from tests.e2e.driver.extraction import learns, new, operations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Hang

TEA = "User likes green tea."
DOG = "User's dog is called Biscuit."
BOAT = "User owns a sailing boat called Albatross."
QUESTION = "Which green tea does the user like?"
OFF_TOPIC = "Write a regular expression that matches an IPv4 address."


async def test_entries_stay_in_place(host: RunningHost, page: Page) -> None:
    """Within a chat what was injected stays, new entries are appended, on any message."""
    for memory in (TEA, DOG, BOAT):
        await page.add_memory(memory)
    chat = page.new_chat()
    await chat.send(QUESTION)
    first = host.model.last_prompt
    assert TEA in first
    assert DOG not in first
    await host.rest()
    await chat.send("What is my dog called?")
    second = host.model.last_prompt
    assert second.startswith(first.removesuffix("\n</adaptive_memory>"))
    assert second.index(TEA) < second.index(DOG)
    await host.rest()
    await chat.send(OFF_TOPIC)
    assert host.model.last_prompt == second
    # Another chat begins anew.
    await page.new_chat().send(OFF_TOPIC)
    assert "adaptive_memory" not in host.model.last_prompt


async def test_several_thoughts(host: RunningHost, page: Page) -> None:
    """What is asked behind a paragraph of other things is found, and nothing for the paragraph."""
    for memory in (TEA, DOG, BOAT, "User's builds run in GHA."):
        await page.add_memory(memory)
    chat = page.new_chat()
    await chat.send(
        "The printer gave up on page two, the lift is being repaired until Thursday, and the "
        "caretaker has painted the railing in a colour that nobody chose. The meeting ran over "
        "by an hour, since the agenda had been printed on that very printer. What is my dog "
        "called? The gha job is red as well."
    )
    prompt = host.model.last_prompt
    assert DOG in prompt
    assert "User's builds run in GHA." in prompt
    assert TEA not in prompt
    assert BOAT not in prompt


@pytest.mark.every_release
async def test_memories_from_before(host: RunningHost, page: Page) -> None:
    """The first question about many memories of the host's own finds even the oldest by meaning."""
    await host.set_valves({"inlet_timeout_seconds": 60})
    await page.add_memory("User practises the cello every evening.")
    for number in range(75):
        await page.add_memory(f"User has read book number {number}.")
    await page.new_chat().send("Which musical instrument is mine?")
    assert "cello" in host.model.last_prompt


@pytest.mark.every_release
async def test_core_facts_come_along(host: RunningHost, page: Page) -> None:
    """Name and what matters most come with every message, the rest with those that call for it."""
    name = new("User's name is Ann.", tags=["identity"], importance=5)
    job = new("User works as a paramedic.", tags=["identity"], importance=5)
    allergy = new(
        "User must never eat peanuts.", tags=["behavior"], importance=10
    )
    learns(
        host.model,
        "peanuts",
        operations(name, job, allergy, new(TEA, importance=4)),
    )
    said = "I am Ann, I work as a paramedic, I must never eat peanuts, I like green tea."
    await page.say(said, "Saved")
    await page.new_chat().send(OFF_TOPIC)
    prompt = host.model.last_prompt
    assert "About the user:" in prompt
    assert "User's name is Ann." in prompt
    # 0.9 has no column for a memory's importance.
    assert ("never eat peanuts" in prompt) != host.version.startswith("0.9.")
    assert TEA not in prompt
    assert "paramedic" not in prompt
    shift = "How should I prepare for my next shift at work?"
    await page.new_chat().send(shift)
    assert "paramedic" in host.model.last_prompt
    await host.set_valves({"show_sources": True})
    chat = page.new_chat()
    turn = await chat.send(QUESTION)
    assert host.model.last_prompt.index("Ann") < host.model.last_prompt.index(
        TEA
    )
    # The page shows the memories that the answer was given, with scores.
    await page.wait_for_status(turn, "recalled")
    sources = (await chat.stored_message(turn.message_id))["sources"]
    (scored,) = [one for one in sources if one["document"][0].startswith(TEA)]
    assert re.search(r"\n\d{4}-\d\d-\d\d$", scored["document"][0])
    assert 0.5 <= scored["metadata"][0]["score"] <= 1


async def test_judging_model(host: RunningHost, page: Page) -> None:
    """A judging model decides which of the near memories go in; off or failing, nearness does."""
    green = await page.add_memory(TEA)
    black = await page.add_memory("User dislikes black tea.")
    await page.new_chat().send("Which tea would I rather drink now?")
    assert "black tea" in host.model.last_prompt
    assert host.model.requests_titled("# Score relevance") == []
    await host.set_valves({"use_llm_for_relevance": True})

    def scores(_: object) -> dict[str, object]:
        high, low = (
            {"id": green.id, "score": 0.9},
            {"id": black.id, "score": 0.1},
        )
        return {"scores": [low, high]}

    question = "Which tea would I rather drink?"
    host.model.when_title("# Score relevance", scores)
    await page.new_chat().send(question)
    assert TEA in host.model.last_prompt
    assert "black tea" not in host.model.last_prompt
    assert len(host.model.requests_titled("# Score relevance")) == 1
    # The same question of the same user is not judged twice.
    await page.new_chat().send(question)
    assert len(host.model.requests_titled("# Score relevance")) == 1
    host.model.when_title("# Score relevance", Hang())
    turn = await page.new_chat().send(f"{question} Or cocoa?")
    assert turn.content == "Understood."
    assert "black tea" in host.model.last_prompt
