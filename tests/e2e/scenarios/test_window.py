"""A chat that outgrows its window, on a real host."""

from __future__ import annotations

from typing import Any

from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page

SYSTEM = "You are a pirate."
# About 110 tokens each; the model answers in one word.
LONG = " ".join(f"plank{number}" for number in range(60))
TURNS = 6
WINDOW = {"max_context_tokens": 1000, "max_injected_tokens": 200}


def told(number: int) -> str:
    """What the user says in a turn."""
    return f"Turn {number} of the tale: {LONG}"


async def talked(page: Page) -> Conversation:
    """A chat of some turns."""
    chat = page.new_chat(system=SYSTEM)
    for number in range(TURNS):
        await chat.send(told(number))
    return chat


def sent(host: RunningHost) -> list[dict[str, Any]]:
    """The messages of the newest chat request."""
    return host.model.chat_requests()[-1].messages


def questions(host: RunningHost) -> list[str]:
    """The user's messages in it."""
    return [one["content"] for one in sent(host) if one["role"] == "user"]


async def test_oldest_turns_give_way(host: RunningHost, page: Page) -> None:
    """With a window the newest turns are sent whole below the system prompt, without it all are."""
    await page.add_memory("User's parrot is called Biscuit.")
    chat = await talked(page)
    assert questions(host) == [told(number) for number in range(TURNS)]
    await host.set_valves(WINDOW)
    await chat.send("What is my parrot called?")
    messages = sent(host)
    assert messages[0]["role"] == "system"
    assert messages[0]["content"].startswith(SYSTEM)
    assert "Biscuit" in messages[0]["content"]
    kept = questions(host)
    assert 1 < len(kept) < TURNS
    everything = [*(told(number) for number in range(TURNS)), "What is my parrot called?"]
    assert kept == everything[-len(kept) :]
    assert messages[1]["role"] == "user"
    assert [one["role"] for one in messages[1:]] == ["user", "assistant"] * len(kept[1:]) + ["user"]
    await host.set_valves({})
    await chat.send("And now?")
    assert questions(host) == [*everything, "And now?"]
    # What was not sent is still there for the user.
    stored = await chat.stored()
    assert told(0) in str(stored)
