"""A chat that outgrows its window, on a real host."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

import pytest

from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page

SYSTEM = "You are a pirate."
# About 110 tokens each; the model answers in one word.
LONG = " ".join(f"plank{number}" for number in range(60))
TURNS = 6
WINDOW = {"max_context_tokens": 1000, "max_injected_tokens": 200, "max_core_tokens": 50}


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


async def test_oldest_turns_give_way(host: RunningHost, plugin: InstalledFilter) -> None:
    """With a window the newest turns are sent whole below the system prompt, without it all are."""
    page = await host.user("ann")
    await page.add_memory("User's parrot is called Biscuit.")
    chat = await talked(page)
    assert questions(host) == [told(number) for number in range(TURNS)]
    await plugin.set_valves(WINDOW)
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
    await plugin.set_valves({})
    await chat.send("And now?")
    assert questions(host) == [*everything, "And now?"]
    # What was not sent is still there for the user.
    stored = await chat.stored()
    assert told(0) in str(stored)


@pytest.mark.every_release
async def test_host_that_compacts(host: RunningHost, plugin: InstalledFilter) -> None:
    """Where the host's own compaction is on (since 0.10), the chat is left to it."""
    if host.version.startswith("0.9."):
        await plugin.set_valves(WINDOW)
        await talked(await host.user("ann"))
        assert len(questions(host)) < TURNS
        return
    async with host.admin_settings("/api/v1/chats/config", {"ENABLE_CONTEXT_COMPACTION": True}):
        await plugin.set_valves(WINDOW)
        await talked(await host.user("ann"))
        assert len(questions(host)) == TURNS


async def test_recall_that_fails(host: RunningHost, plugin: InstalledFilter) -> None:
    """Where memories can't be read the chat fits its window all the same, and is answered."""
    page = await host.user("ann")
    chat = await talked(page)
    await plugin.set_valves(WINDOW)
    for statement in (
        "ALTER TABLE memory RENAME TO memory_elsewhere",
        "ALTER TABLE memory_elsewhere RENAME TO memory",
    ):
        with contextlib.closing(sqlite3.connect(host.database, timeout=10)) as connection:
            connection.execute(statement)
        turn = await chat.send("What now?")
        assert turn.content == "Understood."
        assert 0 < len(questions(host)) < TURNS
        assert sent(host)[0]["content"].startswith(SYSTEM)
    told = [str(status) for status in await chat.status_history(turn, 0)]
    assert not [one for one in told if "without memories" in one]
