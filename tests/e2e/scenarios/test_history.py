"""Past conversation: indexed behind answers, recalled in other chats, and gone when asked to be."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from adaptive.host.vector_database import history_collection
from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import CHAT_MODEL, said_by_user
from tests.e2e.driver.waiting import until

STATEMENTS = Path(__file__).parents[1] / "statements_action.py"
BUNDLE = Path(__file__).parents[3] / "adaptive_memory.py"
SECTION = "### Relevant past conversation"
ALL: dict[str, Any] = {"history_recall_default": "all", "save_mode": "off"}
# Chroma's own tables (package chromadb), which the hosts keep beside their database.
UNITS_OF_CHAT = "SELECT count(*) AS found FROM embedding_metadata WHERE key = 'chat_id' AND string_value = ?"
MESSAGES_OF_CHAT = (
    "SELECT count(DISTINCT message.string_value) AS found FROM embedding_metadata AS message"
    " JOIN embedding_metadata AS chat ON chat.id = message.id"
    " WHERE message.key = 'message_id' AND chat.key = 'chat_id' AND chat.string_value = ?"
)
ASKED = "What is the name of my boat?"
SUMMARISE = "# Summarise history"
SYSTEM = "You are a pirate."
# A message of about 150 tokens.
LONG = " ".join(f"plank{number}" for number in range(60))


def units_of(host: RunningHost, page: Page) -> int:
    """How many units of a user the host's own database of vectors has."""
    return host.vectors(history_collection(page.user_id))


async def indexed(host: RunningHost, page: Page, units: int) -> None:
    """Wait until so many units of a user are in the index."""
    await until(
        lambda: units_of(host, page) == units, 30, f"{units} indexed units"
    )


async def told(
    host: RunningHost, page: Page, words: str, answer: str, units: int = 2
) -> Conversation:
    """A chat in which this was said and answered, once it is indexed."""
    host.model.when_chatting(answer)
    chat = page.new_chat()
    await chat.send(words)
    await indexed(host, page, units)
    host.model.when_chatting("I see.")
    return chat


async def recalled(host: RunningHost, page: Page, words: str = ASKED) -> str:
    """What stands in the system prompt of a new chat that asks for something."""
    await page.new_chat().send(words)
    return host.model.last_prompt


@pytest.mark.every_release
async def test_said_in_one_chat_asked_in_another(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """What was said and answered comes back with day and role; to its own user alone."""
    await host.set_valves(ALL)
    page, other = await host.user("ann"), await host.user("bob")
    await told(host, page, "My boat is called Freya.", "What a splendid boat!")
    prompt = await recalled(host, page)
    _, _, section = prompt.partition(SECTION)
    today = datetime.now(ZoneInfo(page.time_zone)).date().isoformat()
    assert section.startswith("\n- Similar chat: ")
    assert (
        f"\n{today}\n- User: My boat is called Freya.\n- Assistant: What a"
        in section
    )
    assert (
        prompt.count("<adaptive_memory>")
        == prompt.count("</adaptive_memory>")
        == 1
    )
    assert prompt.rstrip().endswith("</adaptive_memory>")
    assert "Freya" not in await recalled(host, other)
    assert SECTION not in host.model.last_prompt


async def test_this_chat_beyond_its_window(
    host: RunningHost, page: Page
) -> None:
    """With a window the newest turns are sent whole; with `chat` comes back what it has cut off.

    Nothing that is seen comes back, and nothing of other chats. The chat itself stays whole, and
    is sent so where the host compacts chats itself.
    """
    window = {"max_context_tokens": 1200, "max_injected_tokens": 100}
    reach = {"history_recall_default": "chat"}
    await host.set_valves({**ALL, **window, **reach})
    await told(host, page, "The name of my boat was Odin once.", "Noted.")
    chat = page.new_chat(system=SYSTEM)
    said = ["The name of my boat is Freya.", "So what is my boat called?"]
    for words in said:
        await chat.send(words)
    request = host.model.chat_requests()[-1]
    assert "Freya" in str(request.messages)
    assert SECTION not in request.prompt
    said += [f"Turn {number} of the tale: {LONG}" for number in range(6)]
    said.append("The name of my boat is painted in red letters.")
    for words in said[2:]:
        await chat.send(words)
    await until(
        lambda: host.count_vectors(MESSAGES_OF_CHAT, chat.id) == 18,
        30,
        "9 indexed turns",
    )
    said.append(ASKED)
    await chat.send(ASKED)
    request = host.model.chat_requests()[-1]
    assert request.messages[0]["content"].startswith(SYSTEM)
    seen = said_by_user(request.body)
    assert 1 < len(seen) < len(said)
    assert seen == said[-len(seen) :]
    roles = [one["role"] for one in request.messages[1:]]
    assert roles == ["user", "assistant"] * len(seen[1:]) + ["user"]
    section = request.prompt.partition(SECTION)[2]
    assert "- User: The name of my boat is Freya." in section
    assert [one for one in seen if one in section] == []
    assert "Odin" not in request.prompt
    async with host.admin_settings(
        "/api/v1/chats/config", {"ENABLE_CONTEXT_COMPACTION": True}
    ):
        said.append("And now?")
        await chat.send(said[-1])
        newest = host.model.chat_requests()[-1]
        assert said_by_user(newest.body) == said


async def statements(host: RunningHost, *, goes_on: bool) -> list[Any]:
    """The plug-in's statements since this was asked last, each with its moment."""
    question = {
        "model": CHAT_MODEL,
        "chat_id": "",
        "id": "",
        "session_id": "",
        "goes_on": goes_on,
    }
    path = "/api/chat/actions/statements"
    return (await host.admin.request("POST", path, question))["made"]


async def test_statements_of_a_first_turn(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """A user's first message makes few statements where nothing of the user is in the process.

    These are: where the chat is with what it was given, the permission, memories, their vectors,
    and past messages. Where the host keeps its settings in the database, they are one more.
    """
    await host.set_valves(ALL)
    page = await host.user("ann")
    await page.add_memory("User has a boat.")
    await told(host, page, "My boat is called Freya.", "What a splendid boat!")
    await host.install_filter(
        STATEMENTS, function_id="statements", make_global=False
    )
    await plugin.update(f"{BUNDLE.read_text(encoding='utf-8')}\n# Again.")
    await host.admin.request("GET", "/api/models")
    await host.rest()
    await statements(host, goes_on=True)
    assert "Freya" in await recalled(host, page)
    made = await statements(host, goes_on=False)
    asked_at = host.model.chat_requests()[-1].at
    before = [statement for at, statement in made if at < asked_at]
    assert 4 <= len(before) <= 5, before


async def test_similar_chats_and_summaries(
    host: RunningHost, page: Page
) -> None:
    """A chat like a new one is named; what is too long for the prompt is summed up."""
    await host.set_valves({**ALL, "enable_history_summary": True})
    summary = {"summary": "The user named a vessel Freya."}
    host.model.when_title(SUMMARISE, summary)
    chat = await told(host, page, "My boat is called Freya.", "Splendid!")
    await page.request(
        "POST", f"/api/v1/chats/{chat.id}", {"chat": {"title": "My boat"}}
    )
    prompt = await recalled(host, page)
    assert "- Similar chat: My boat" in prompt.partition(SECTION)[2]
    assert host.model.requests_titled(SUMMARISE) == []
    host.model.when_chatting(f"Your boat Freya has {LONG}")
    for number in range(10):
        await chat.send(f"My boat Freya, {number}: {LONG} and {LONG}")
    await until(
        lambda: host.count_vectors(MESSAGES_OF_CHAT, chat.id) == 22,
        30,
        "11 indexed turns",
    )
    prompt = await recalled(host, page, "Which part has my boat Freya?")
    assert "- Summary: The user named a vessel Freya." in prompt
    assert len(host.model.requests_titled(SUMMARISE)) == 1


@pytest.mark.every_release
async def test_edits_and_deletions_are_followed(
    host: RunningHost, page: Page
) -> None:
    """An edited message is recalled as it stands now, a deleted chat not at all."""
    await host.set_valves(ALL)
    chat = await told(host, page, "My boat is called Freya.", "Splendid!")
    host.model.when_chatting("A good choice.")
    await chat.edit_last("My boat is called Odin.")
    await host.rest()
    prompt = await recalled(host, page)
    assert "Odin" in prompt
    # The chat keeps the title that it has from its first message.
    assert "- User: My boat is called Freya." not in prompt
    await page.request("DELETE", f"/api/v1/chats/{chat.id}")
    prompt = await recalled(host, page)
    assert "Odin" not in prompt
    await until(
        lambda: host.count_vectors(UNITS_OF_CHAT, chat.id) == 0,
        30,
        "the swept index",
    )
