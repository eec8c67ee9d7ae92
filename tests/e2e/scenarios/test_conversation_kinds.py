"""Temporary chats, API calls, repeated and parallel answers: who is remembered, and how often."""

from __future__ import annotations

import pytest

from tests.e2e.driver.extraction import (
    EXTRACT,
    learns,
    new,
    newest_words,
    operations,
)
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Say
from tests.e2e.driver.scripted_model import CHAT_MODEL, SECOND_MODEL

TEA = "User likes green tea."
WORDS = "I like green tea."
QUESTION = "Which green tea does the user like?"

pytestmark = pytest.mark.every_release


async def test_temporary_chat(host: RunningHost, page: Page) -> None:
    """A temporary chat stores nothing and gets nothing, not even from the host's own memory."""
    learns(host.model, "tea", operations(new("User hates green tea.")))
    await page.add_memory(TEA)
    turn = await page.temporary_chat().send(
        QUESTION, features={"memory": True}
    )
    assert turn.content == "Understood."
    await host.rest()
    assert [memory.content for memory in await page.memories()] == [TEA]
    assert host.model.requests_titled(EXTRACT) == []
    assert TEA not in str([request.body for request in host.model.requests])

    await host.set_valves({"inject_in_temporary_chats": True})
    turn = await page.temporary_chat().send(QUESTION)
    assert TEA in host.model.last_prompt
    await host.rest()
    assert host.model.requests_titled(EXTRACT) == []


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_api_call(host: RunningHost, page: Page, stream: bool) -> None:
    """A plain API call gets the memories, and its words, maybe a program's, are not learned."""
    learns(host.model, "tea", operations(new("User hates green tea.")))
    await page.add_memory(TEA)
    answer = await page.complete(QUESTION, stream=stream)
    assert answer.status == 200
    assert answer.content == "Understood."
    assert TEA in host.model.last_prompt
    await host.rest()
    assert host.model.requests_titled(EXTRACT) == []
    assert len(await page.memories()) == 1


async def test_regenerate_continue_and_edit(
    host: RunningHost, page: Page
) -> None:
    """A fact is extracted once, however often its message is answered; an edit is new words."""
    learns(host.model, "tea", operations(new(TEA)))
    chat = page.new_chat()
    turn = await chat.send(WORDS)
    await page.wait_for_status(turn, "Saved")
    assert (await chat.regenerate()).content == "Understood."
    assert (await chat.continue_()).done
    assert (await chat.regenerate("More concise")).done
    await host.rest()
    assert len(await page.memories()) == 1
    assert len(host.model.requests_titled(EXTRACT)) == 1
    learns(host.model, "coffee", operations(new("User likes black coffee.")))
    turn = await chat.edit_last("I like black coffee.")
    await page.wait_for_status(turn, "Saved: User likes black coffee.")
    edited = host.model.requests_titled(EXTRACT)[-1]
    assert newest_words(edited.body) == "I like black coffee."
    # The former message is on another branch.
    assert "Said before" not in edited.user_text


async def test_two_models_at_once(host: RunningHost, page: Page) -> None:
    """Two models that answer one message both get the memories, and the fact is saved once."""
    await page.add_memory("User's dog is called Biscuit.")
    learns(host.model, "tea", operations(new(TEA)))
    turns = await page.new_chat().send_to_models(
        "I like green tea, my dog Biscuit does too", [CHAT_MODEL, SECOND_MODEL]
    )
    assert [turn.content for turn in turns] == ["Understood.", "Understood."]
    assert all("Biscuit" in one.prompt for one in host.model.chat_requests())
    assert {one.model for one in host.model.chat_requests()} == {
        CHAT_MODEL,
        SECOND_MODEL,
    }
    await host.rest()
    assert len(await page.memories()) == 2
    assert len(host.model.requests_titled(EXTRACT)) == 1


async def test_stop(host: RunningHost, page: Page) -> None:
    """Stop during the answer ends it at once; nothing breaks and the next turn is learned."""
    await page.add_memory(TEA)
    host.model.when_chatting(Say("word " * 100, seconds_per_word=0.1))
    chat = page.new_chat()
    running = await chat.start(QUESTION)
    await running.wait_for_text()
    stopped = await running.stop()
    assert stopped.stopped
    host.model.when_chatting("Fine.")
    learns(host.model, "coffee", operations(new("User likes black coffee.")))
    turn = await chat.send("I like black coffee too.")
    assert turn.content == "Fine."
    await page.wait_for_status(turn, "Saved")


async def test_next_message_at_once(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """A message that is sent while the last lesson is told reaches the model below the whole chat.

    Up to 0.11 the host's own way to store a status undoes a message that is stored meanwhile.
    """
    chat = (await host.user("ann")).new_chat()
    said: list[str] = []
    for number in range(12):
        said.append(
            f"I like the number {number}. {'It is a fine number. ' * 20}"
        )
        await chat.send(said[-1])
        messages = host.model.chat_requests()[-1].messages
        assert [
            one["content"] for one in messages if one["role"] == "user"
        ] == said
