"""Messages of every shape reach the model unharmed, with the memories that fit them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

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
from tests.e2e.driver.replies import Say, call_tool
from tests.e2e.driver.scripted_model import PIXEL

TEA = "User likes green tea."
RECIPE = "\n".join(
    [
        "I am coeliac, so what can take the place of the flour here?",
        *(f"ingredient-{number}: {number}0 g" for number in range(1, 31)),
        "",
        "Write to baker@example.org if it fails.",
    ]
)
LATE = "How late is it? My train leaves at nine."


@pytest.mark.every_release
async def test_image_and_list_content(host: RunningHost, page: Page) -> None:
    """A message with an image reaches the model with it, and its text is searched and learned."""
    await page.add_memory(TEA)
    learns(host.model, "cup", operations(new("User drinks from a blue cup.")))
    image = {"type": "image", "url": f"data:image/png;base64,{PIXEL}"}
    chat = page.new_chat()
    turn = await chat.send("Which green tea is in my blue cup?", files=[image])
    assert turn.content == "Understood."
    request = host.model.chat_requests()[-1]
    assert TEA in request.prompt
    assert "image_url" in str(request.messages[-1]["content"])
    await page.wait_for_status(turn, "Saved: User drinks from a blue cup.")


@pytest.mark.every_release
async def test_tool_results_are_not_learned(
    host: RunningHost, page: Page
) -> None:
    """What a tool says in a turn is not among the words that facts are taken from."""
    host.model.when_chatting(
        [call_tool("get_current_timestamp"), Say("It is late.")]
    )
    turn = await page.new_chat().send(
        LATE, params={"function_calling": "native"}
    )
    await page.wait_for_status(turn, "Nothing new to remember")
    [request] = host.model.requests_titled(EXTRACT)
    assert newest_words(request.body) == LATE.replace("? ", "?\n")


async def test_recipe(host: RunningHost, plugin: InstalledFilter) -> None:
    """A fact above thirty ingredients is learned, and another user is answered meanwhile."""
    ann, bob = await host.user("ann"), await host.user("bob")
    coeliac = new(
        "User is coeliac.",
        evidence=["I am coeliac"],
        about="user",
        kind="FACT",
    )
    learns(host.model, "coeliac", operations(coeliac))
    turn = await ann.new_chat().send(RECIPE)
    for question in ("What is the capital of Portugal?", "And of Spain?"):
        answer = await bob.new_chat().send(question)
        assert answer.content == "Understood."
    await ann.wait_for_status(turn, "Saved: User is coeliac.", 30)


def learns_each(host: RunningHost, facts: Mapping[str, str]) -> None:
    """Let the model find each fact by its word; messages in a row may be shown together."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        words = newest_words(body)
        return operations(
            *(new(fact) for word, fact in facts.items() if word in words)
        )

    learns(host.model, "I ", answer)


async def test_half_a_character(host: RunningHost, page: Page) -> None:
    """A fact beside half a surrogate pair is learned, and so is what is said after it."""
    cello = "User plays the cello."
    learns_each(host, {"tea": TEA, "cello": cello})
    await host.set_valves({"learn_from_api_calls": True})
    answer = await page.complete("I like green tea \ud83d")
    assert answer.status == 200
    await page.complete("I play the cello.")
    await host.rest()
    assert {one.content for one in await page.memories()} == {TEA, cello}


async def test_api_calls_of_one_second(host: RunningHost, page: Page) -> None:
    """Calls of the API at the same time are turns of their own, of which each is learned."""
    facts = {
        word: f"User owns a {word}."
        for word in ("kayak", "cello", "Brompton", "loom")
    }
    learns_each(host, facts)
    await host.set_valves({"learn_from_api_calls": True})
    await asyncio.gather(
        *(page.complete(f"I own a {word}.") for word in facts)
    )
    await host.rest()
    assert {one.content for one in await page.memories()} == {*facts.values()}
