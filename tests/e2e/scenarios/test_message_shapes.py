"""Messages of every shape reach the model unharmed, with the memories that fit them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import CallTool, Say
from tests.e2e.scenarios.extraction import EXTRACT, learns, new, newest_words, operations

TEA = "User likes green tea."
QUESTION = "Which green tea does the user like?"
LATE = "How late is it? My train leaves at nine."
PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SYSTEM = (
    "  You are a pirate.\n\n<rules>\n- Say arr, \u00e9t\u00e9 {{braces}} $dollar %s.\n</rules>\n"
)


async def test_system_prompt_is_kept(host: RunningHost, page: Page) -> None:
    """An existing system prompt stays byte for byte outside the markers."""
    bare = page.new_chat(system=SYSTEM)
    await bare.send(QUESTION)
    without = host.model.chat_requests()[-1].messages[0]["content"]
    await page.add_memory(TEA)
    await page.new_chat(system=SYSTEM).send(QUESTION)
    with_block = host.model.chat_requests()[-1].messages[0]["content"]
    head, marker, block = with_block.partition("\n\n<adaptive_memory>\n")
    assert marker
    assert head == without
    assert block.endswith(f"- “{TEA}”\n</adaptive_memory>")


@pytest.mark.every_release
async def test_image_and_list_content(host: RunningHost, page: Page) -> None:
    """A message with an image reaches the model with it, and its text is searched and learned."""
    await page.add_memory(TEA)
    learns(host.model, "cup", operations(new("User drinks from a blue cup.")))
    image = {"type": "image", "url": PIXEL}
    chat = page.new_chat()
    turn = await chat.send("Which green tea is in my blue cup?", files=[image])
    assert turn.content == "Understood."
    request = host.model.chat_requests()[-1]
    assert TEA in request.system_prompt
    assert "image_url" in str(request.messages[-1]["content"])
    await page.wait_for_status(turn, "Saved: User drinks from a blue cup.")

    parts: list[dict[str, Any]] = [
        {"type": "text", "text": QUESTION},
        {"type": "image_url", "image_url": {"url": PIXEL}},
    ]
    answer = await page.complete([{"role": "user", "content": parts}])
    assert answer.content == "Understood."
    assert TEA in host.model.last_prompt


@pytest.mark.every_release
async def test_tool_results_are_not_learned(host: RunningHost, page: Page) -> None:
    """What a tool says in a turn is not among the words that facts are taken from."""
    host.model.when_chatting([CallTool("get_current_timestamp"), Say("It is late.")])
    turn = await page.new_chat().send(LATE, params={"function_calling": "native"})
    await page.wait_for_status(turn, "Nothing new to remember")
    [request] = host.model.requests_titled(EXTRACT)
    assert newest_words(request.body) == LATE
