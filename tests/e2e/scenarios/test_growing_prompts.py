"""What was sent stays as it was sent: the prompt of a chat only grows at its end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.extraction import learns, operations, update
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import text_of

DOG, TEA, BOAT, CITY = (
    "User's dog is called Biscuit.",
    "User drinks green tea from Uji.",
    "User owns a sailing boat called Albatross.",
    "User lives in Lisbon.",
)
QUESTIONS = {
    "What is my dog called?": DOG,
    "Which green tea do I drink?": TEA,
    "What is the name of my sailing boat?": BOAT,
}


def whole(messages: Sequence[dict[str, Any]]) -> str:
    """The messages of a request as a local model reads them."""
    return "".join(
        f"<|{message['role']}|>{text_of(message['content'])}"
        for message in messages
    )


async def asks(host: RunningHost, chat: Conversation, words: str) -> str:
    """The prompt in which something is asked."""
    await chat.send(words)
    return whole(host.model.chat_requests()[-1].messages)


@pytest.mark.every_release
async def test_turn_by_turn(host: RunningHost, page: Page) -> None:
    """Each prompt begins with the former one, in each branch; what must go goes from everywhere."""
    for fact in (*QUESTIONS.values(), CITY):
        await page.add_memory(fact)
    chat = page.new_chat(system="Be kind.")
    former = ""
    prompts: list[str] = []
    for question, fact in QUESTIONS.items():
        prompt = await asks(host, chat, question)
        assert prompt.startswith(former)
        assert prompt.count(fact) == 1
        former = prompt
        prompts.append(prompt)
        await host.rest()
    assert DOG in host.model.chat_requests()[-1].system_prompt
    await chat.regenerate()
    assert whole(host.model.chat_requests()[-1].messages) == former
    # A branch keeps what stands before its edit.
    await chat.edit_last("Where do I live?")
    branch = whole(host.model.chat_requests()[-1].messages)
    assert branch.startswith(prompts[1])
    assert CITY in branch
    assert BOAT not in branch
    await host.rest()
    for memory in await page.memories():
        if memory.content == TEA:
            await page.delete_memory(memory.id)
        if memory.content == DOG:
            await page.update_memory(memory.id, "User's dog is called Toast.")
    prompt = await asks(host, chat, "And what else?")
    assert "Uji" not in prompt
    assert "Biscuit" not in prompt
    assert "Toast" in prompt


async def test_corrections(host: RunningHost, page: Page) -> None:
    """What a lesson corrects stands with the newest message; what was sent before stays."""
    home = await page.add_memory(CITY)
    moved = operations(update(home.id, "User lives in Porto."))
    learns(host.model, "moved to Porto", moved)
    chat = page.new_chat(system="Be kind.")
    former = await asks(host, chat, "In which city do I live?")
    assert CITY in former
    turn = await chat.send("We moved to Porto, I live in Porto now.")
    await page.wait_for_status(turn, "Updated")
    await host.rest()
    told = await asks(host, chat, "What shall I cook?")
    assert told.startswith(former)
    assert told.count("User lives in Porto.") == 1
    assert told.index("User lives in Porto.") > told.index("What shall I cook")
    assert (await asks(host, chat, "And then?")).startswith(told)


@pytest.mark.every_release
async def test_with_placeholders(host: RunningHost, page: Page) -> None:
    """Where the model gets placeholders they are the same in each turn, and so is all around them."""
    await host.set_valves({"pii_redaction": "all"})
    await page.add_memory(
        "User's dog Biscuit is registered at vet@example.org."
    )
    await page.add_memory("User orders green tea at uji@example.org.")
    chat = page.new_chat(system="Be kind.")
    former = ""
    for words in (
        "Where is my dog registered? I am ann@example.org.",
        "Where do I order green tea? Not at shop@example.org.",
        "Write to both for me@example.org.",
    ):
        prompt = await asks(host, chat, words)
        assert prompt.startswith(former)
        assert "example.org" not in prompt
        former = prompt
        await host.rest()
    assert len({*re.findall(r"\[EMAIL_[1-5]\]", former)}) == 5


async def test_with_messages(host: RunningHost, page: Page) -> None:
    """Where the admin has it so, nothing stands in the system prompt; what grows is the same."""
    await host.set_valves({"memory_placement": "message"})
    for fact in QUESTIONS.values():
        await page.add_memory(fact)
    chat = page.new_chat(system="Be kind.")
    former = ""
    for question, fact in QUESTIONS.items():
        prompt = await asks(host, chat, question)
        assert prompt.startswith(former)
        assert prompt.count(fact) == 1
        assert host.model.chat_requests()[-1].system_prompt == "Be kind."
        former = prompt
        await host.rest()
