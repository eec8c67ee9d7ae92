"""Users who have told something, what our tables hold of them, and how they answer a question."""

from __future__ import annotations

from typing import Any

from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.turn import Turn
from tests.e2e.scenarios.extraction import learns, new, operations

PORTO = "User lives in Porto."
CAT = "User has a cat called Miso."
TABLES = ("archive", "audit", "chat", "pending", "usage", "vector")


def held(host: RunningHost, page: Page) -> dict[str, int]:
    """How many rows of a user each table of ours has; those without any are left out."""
    known = {
        row["name"].removeprefix("adaptive_memory_")
        for row in host.query("SELECT name FROM sqlite_master WHERE name LIKE 'adaptive_memory_%'")
    }
    counts: dict[str, int] = {}
    for kind in known & set(TABLES):
        query = f"SELECT count(*) AS number FROM adaptive_memory_{kind} WHERE user_id = ?"
        if number := host.query(query, page.user_id)[0]["number"]:
            counts[kind] = number
    return counts


async def told(host: RunningHost, page: Page, words: str, fact: str, chat: Any = None) -> Any:
    """Let a user say something that is learned; the chat it was said in."""
    learns(host.model, words, operations(new(fact)))
    chat = chat or page.new_chat()
    await page.wait_for_status(await chat.send(words), f"Memory saved: {fact}")
    return chat


async def lived(host: RunningHost, name: str) -> Page:
    """A user with two facts of two chats, whose vectors and states of chats have been written."""
    page = await host.user(name)
    await told(host, page, "I live in Porto.", PORTO)
    await told(host, page, "I have a cat called Miso.", CAT)
    await page.new_chat().send("What is my cat called, and where do I live?")
    await host.rest()
    assert {"audit", "chat", "pending", "vector"} <= held(host, page).keys()
    return page


async def answered(page: Page, words: str, answer: object, chat: Any = None) -> Turn:
    """Say something to which a question comes, and answer it; the turn."""
    page.answers["input"] = answer
    return await (chat or page.new_chat()).send(words)
