"""A model call before the answer, and what it changes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import Body, text_of, title

PREPROCESS = "# Preprocess"
TRIP = "User sailed to the Azores in June 2019."
TEA = "User likes green tea."
QUESTION = "Which green tea does the user like?"
HARMLESS: dict[str, Any] = {
    "language_code": "en",
    "search_query": "",
    "harmful": 0,
    "prompt_injection_chance": 0,
}
ON: dict[str, Any] = {"enable_preprocessing": True}


def finds(host: RunningHost, words: str, **fields: Any) -> None:
    """Let the model say this of messages that end a conversation with these words."""

    def is_about(body: Body) -> bool:
        newest = text_of(body["messages"][-1]["content"]).rpartition("user: ")[
            2
        ]
        return title(body) == PREPROCESS and words in newest

    host.model.when(is_about, {**HARMLESS, **fields})


async def test_follow_up_is_made_complete(
    host: RunningHost, page: Page
) -> None:
    """A follow-up finds the memory that its complete form names; off, no model is asked."""
    await page.add_memory(TRIP)
    await page.add_memory(TEA)
    finds(
        host,
        "how long ago",
        search_query="When did the user sail to the Azores?",
    )
    follow_up = "Remind me how long ago it happened, please?"
    await page.new_chat().send(follow_up)
    assert TRIP not in host.model.last_prompt
    assert host.model.requests_titled(PREPROCESS) == []
    await host.set_valves(ON)
    finds(host, "Hello")
    chat = page.new_chat()
    await chat.send("Hello!")
    await chat.send(follow_up)
    assert TRIP in host.model.last_prompt
    assert TEA not in host.model.last_prompt
    first, second = host.model.requests_titled(PREPROCESS)
    assert '"title"' in first.system_prompt
    assert '"title"' not in second.system_prompt
    assert "user: Hello!" in second.user_text


@pytest.mark.every_release
async def test_title(host: RunningHost, page: Page) -> None:
    """A new chat gets the title that was found, where the host makes none; switched off, none."""
    finds(host, "sailing", title="Sailing to the Azores")
    words = "Tell me about sailing."

    async def new_chat() -> Conversation:
        chat = page.new_chat()
        await chat.send(words)
        await host.rest()
        return chat

    async def title_of(chat: Conversation) -> str:
        return str(
            (await page.request("GET", f"/api/v1/chats/{chat.id}"))["title"]
        )

    await host.set_valves(ON)
    assert await title_of(await new_chat()) == "Tell me about sailing"
    async with host.task_settings(ENABLE_TITLE_GENERATION=False):
        await host.set_valves({"enable_preprocessing": False})
        assert await title_of(await new_chat()) == words
        await host.set_valves(ON)
        named = await new_chat()
        assert await title_of(named) == "Sailing to the Azores"
        shown = [
            event.data for event in page.events if event.kind == "chat:title"
        ]
        assert shown[-1] == {"value": "Sailing to the Azores"}
        await named.send("And what about sailing back?")
        assert await title_of(named) == "Sailing to the Azores"
