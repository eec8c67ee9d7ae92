"""Folders with a memory of their own: what is learned in one is known there alone."""

from __future__ import annotations

import json

import pytest

from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.extraction import learns, new, operations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import SECOND_MODEL
from tests.e2e.scenarios.test_commands import answered
from tests.e2e.scenarios.told_facts import PORTO, told

BOAT = "User has a boat called Freya."
HORSE = "User has a horse called Odin."
# What the model is given for each stands in the prompt of the last.
ASKED = ("Where do I live?", "What is my boat called?", "And my horse?")
FACTS = (PORTO, BOAT, HORSE)


async def folder(page: Page, name: str) -> str:
    """The id of a new folder."""
    made = await page.request("POST", "/api/v1/folders/", {"name": name})
    return made["id"]


async def chat_in(page: Page, folder_id: str) -> Conversation:
    """A chat in a folder, begun with a command, which no model sees."""
    chat = page.new_chat()
    await chat.send("/memory", folder_id=folder_id)
    return chat


async def taught(
    host: RunningHost, page: Page, chat: Conversation, words: str, fact: str
) -> None:
    """Let a user say something in a chat that is learned."""
    learns(host.model, words, operations(new(fact)))
    turn = await chat.send(words)
    await page.wait_for_status(turn, f"Saved: {fact}")
    await host.rest()


async def known(host: RunningHost, chat: Conversation) -> list[str]:
    """Which of the facts the model is given for questions about each of them."""
    for words in ASKED:
        await chat.send(words)
    prompt = json.dumps(host.model.chat_requests()[-1].messages)
    await host.rest()
    return [fact for fact in FACTS if fact in prompt]


@pytest.mark.every_release
async def test_two_folders(host: RunningHost, page: Page) -> None:
    """What is learned in a folder reaches neither another one nor the chats outside, nor the list.

    No request to any model holds a memory of another folder. Where a folder wants nothing else,
    what is known everywhere does not come either; what is moved comes where it was moved to.
    """
    await told(host, page, "I live in Porto.", PORTO)
    sea, stable = await folder(page, "Sea"), await folder(page, "Stable")
    at_sea = await chat_in(page, sea)
    assert "in this folder alone" in await answered(at_sea, "/memory here")
    await taught(host, page, at_sea, "I have a boat called Freya.", BOAT)
    begun = len(host.model.requests)
    at_stable = await chat_in(page, stable)
    only = await answered(at_stable, "/memory here only")
    assert "and nothing else comes" in only
    await taught(host, page, at_stable, "I have a horse called Odin.", HORSE)
    assert await known(host, await chat_in(page, stable)) == [HORSE]
    other = json.dumps([one.body for one in host.model.requests[begun:]])
    assert "Freya" not in other
    assert await known(host, await chat_in(page, sea)) == [PORTO, BOAT]
    assert await known(host, page.new_chat()) == [PORTO]
    listed = await answered(at_stable, "/memory")
    assert "what is learned here is known in this folder alone" in listed
    assert "2 known elsewhere alone" in listed
    assert [fact for fact in FACTS if fact in listed] == [HORSE]
    log = await answered(at_sea, "/memory log")
    assert [fact for fact in FACTS if fact in log] == [PORTO, BOAT]
    outside = page.new_chat()
    assert "This chat is in no folder" in await answered(
        outside, "/memory here"
    )
    assert BOAT not in await answered(outside, "/memory find Freya")
    moved = await answered(at_sea, "/memory move Freya everywhere")
    assert moved.startswith(f"Updated: {BOAT}")
    assert await known(host, page.new_chat()) == [PORTO, BOAT]
    await answered(at_sea, "/undo")
    assert await known(host, page.new_chat()) == [PORTO]


@pytest.mark.every_release
async def test_deleted_folder(host: RunningHost, page: Page) -> None:
    """What belonged to a folder that is deleted is archived, told of, and comes back everywhere."""
    sea = await folder(page, "Sea")
    at_sea = await chat_in(page, sea)
    await answered(at_sea, "/memory here")
    await taught(host, page, at_sea, "I have a boat called Freya.", BOAT)
    await page.request("DELETE", f"/api/v1/folders/{sea}")
    turn = await page.new_chat().send("Hello there.")
    await page.wait_for_status(turn, "1 memory of a deleted folder")
    await host.rest()
    assert await page.memories() == []
    page.answers["confirmation"] = True
    chat = page.new_chat()
    assert "Restored: 1 memory" in await answered(chat, "/memory restore")
    assert await known(host, page.new_chat()) == [BOAT]


async def test_moved_chat_and_model(host: RunningHost, page: Page) -> None:
    """A chat that moves has the memories of where it is; a model may have its own as well."""
    sea = await folder(page, "Sea")
    at_sea = await chat_in(page, sea)
    await answered(at_sea, "/memory here")
    await taught(host, page, at_sea, "I have a boat called Freya.", BOAT)
    path = f"/api/v1/chats/{at_sea.id}/folder"
    await page.request("POST", path, {"folder_id": None})
    assert await known(host, at_sea) == []
    await page.request("POST", path, {"folder_id": sea})
    assert await known(host, at_sea) == [BOAT]
    rider = page.new_chat()
    assert "with this model alone" in await answered(
        rider, "/memory here model"
    )
    await taught(host, page, rider, "I have a horse called Odin.", HORSE)
    assert await known(host, page.new_chat()) == [HORSE]
    assert await known(host, page.new_chat(model=SECOND_MODEL)) == []


@pytest.mark.every_release
async def test_past_conversation_stays_in_its_folder(
    host: RunningHost, page: Page
) -> None:
    """What was said in a folder with a memory of its own is quoted in no chat outside."""
    await host.set_valves(
        {"history_recall_default": "all", "save_mode": "off"}
    )
    sea = await folder(page, "Sea")
    at_sea = await chat_in(page, sea)
    await answered(at_sea, "/memory here")
    await at_sea.send("The name of my boat is Freya, it lies at Lagos.")
    await host.rest()
    for folder_id, quoted in ((sea, True), (None, False)):
        chat = page.new_chat()
        await chat.send("What is the name of my boat?", folder_id=folder_id)
        prompt = json.dumps(host.model.chat_requests()[-1].messages)
        assert ("Freya" in prompt) == quoted
        await host.rest()
