"""A database that Adaptive Memory 3.1, or a fork of it that is called 4, has filled."""

from __future__ import annotations

import json
import re

import pytest

from tests.e2e.driver.extraction import learns, new, operations, update
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import CHAT_MODEL

# Through the host's own API, as they wrote them: with 3.1's marks, and with those of the forks for
# what has no category.
HOME = "User lives in Porto."
CAT = "User has a cat called Miso."
TEA = "User drinks green tea in the morning."
WRITTEN = (
    f"[Tags: identity, behavior] {HOME} [Memory Bank: Personal] [Confidence: 0.95]",
    f"{CAT} [Memory Bank: General] [Confidence: 0.00]",
    f"[Tags: none] {TEA} [Memory Bank: Work] [Confidence: 1.00]",
)
MARKS = ("[Tags", "[Memory Bank", "[Confidence")
LISBON = "User lives in Lisbon."
WRITTEN_AT, WRITTEN_ON = 1_747_300_000, "2025-05-15"
AGE = "SELECT created_at FROM memory WHERE id = ?"


@pytest.mark.every_release
async def test_memories_of_3_1(host: RunningHost, page: Page) -> None:
    """They are recalled and shown without marks, with tags, bank and day, and changed in place.

    The model that its valves name goes on learning; valves that are gone change nothing.
    """
    for text in WRITTEN:
        await page.add_memory(text)
    host.change(
        "UPDATE memory SET created_at = ?, updated_at = ? WHERE user_id = ?",
        WRITTEN_AT,
        WRITTEN_AT,
        page.user_id,
    )
    ids = {one.content: one.id for one in await page.memories()}
    await host.set_valves(
        {
            "llm_provider_type": "openai_compatible",
            "llm_api_endpoint_url": f"{host.model.url}/chat/completions",
            "llm_api_key": "none",
            "llm_model_name": CHAT_MODEL,
            "allowed_memory_banks": ["General", "Personal", "Work"],
            "default_memory_bank": "General",
            "blacklist_topics": None,
            "whitelist_keywords": None,
            "pruning_strategy": "fifo",
            "memory_identification_prompt": "You are an automated system.",
            "error_guard_threshold": 5,
        }
    )
    chat = page.new_chat()
    await chat.send("Where do I live, what do I drink, and what has my cat?")
    prompt = host.model.last_prompt
    assert all(fact in prompt for fact in (HOME, CAT, TEA))
    listed = (await page.new_chat().send("/memory")).content
    assert all(fact in listed for fact in (HOME, CAT, TEA, "Work"))
    page.answers["execute"] = True
    await page.new_chat().send("/memory export")
    (saved,) = page.questions("execute")
    [file] = re.findall(r'new Blob\(\[(".*?")\], \{type', saved["code"])
    exported = {
        one["content"]: one for one in json.loads(json.loads(file))["memories"]
    }
    assert {
        content: (one["tags"], one["bank"])
        for content, one in exported.items()
    } == {
        HOME: (["identity", "behavior"], "Personal"),
        CAT: ([], "General"),
        TEA: ([], "Work"),
    }
    assert {one["created_at"][:10] for one in exported.values()} == {
        WRITTEN_ON
    }
    for shown in (prompt, listed):
        assert not any(mark in shown for mark in MARKS)

    [home] = [one for text, one in ids.items() if HOME in text]
    learns(host.model, "Lisbon", operations(update(home, LISBON)))
    learns(host.model, "cat called", operations(new(CAT)))
    await page.say("I live in Lisbon now.", f"Updated: {LISBON}")
    await page.say("I have a cat called Miso.", "Already known")
    assert len(await page.memories()) == len(WRITTEN)
    assert host.query(AGE, home) == [{"created_at": WRITTEN_AT}]
