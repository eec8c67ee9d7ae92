"""After the answer, when the admin wants it: notes of the chat, and what to ask next."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import ModelRequest, text_of
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.told_facts import our_rows

POSTPROCESS = "# Postprocess"
FOLLOW_UPS = "chat:message:follow_ups"
ON = {"enable_postprocessing": True}
SUMMARY = "The user wanted dinner for two. A soup was found."


def said(**fields: Any) -> dict[str, Any]:
    """A whole reply of the call after the answer."""
    nothing: dict[str, Any] = {
        "chat_summary": "",
        "chat_tags": [],
        "harmful_response": 0,
        "follow_up_suggestions": [],
        "new_learnings": [],
    }
    return {**nothing, **fields}


def asked(host: RunningHost) -> list[ModelRequest]:
    """The calls after answers so far."""
    return host.model.requests_titled(POSTPROCESS)


def shown(request: ModelRequest) -> str:
    """What such a call shows of the turn and of the chat so far."""
    return text_of(request.messages[-1]["content"])


@pytest.mark.every_release
async def test_chat_is_noted(host: RunningHost, page: Page) -> None:
    """Summary and tags are kept sealed, go into the next call, and hold no memory's contents.

    Up to six suggestions of what to ask next reach the page and survive a reload, where the host
    makes none.
    """
    await page.add_memory("User is allergic to peanuts.")
    await page.new_chat().send(
        "Good morning!"
    )  # the first message after a start takes longer
    await host.set_valves(ON)
    told = f"{SUMMARY} The user is allergic to peanuts."
    host.model.when_title(
        POSTPROCESS, said(chat_summary=told, chat_tags=["dinner", "peanuts"])
    )
    chat = page.new_chat()
    await chat.send("I am allergic to something, so what should I cook?")
    assert "peanuts" in host.model.last_prompt
    (first,) = await until(
        lambda: our_rows(host, page, "chat_notes"), 30, "notes of the chat"
    )
    assert first["chat_id"] == chat.id
    assert first["body"].startswith("am1-")
    assert "## Summary so far\nnone\n" in shown(asked(host)[0])
    lines = [f"What about dish {number}?" for number in range(8)]
    newer = said(
        chat_summary="They also wanted a cake.", follow_up_suggestions=lines
    )
    host.model.when_title(POSTPROCESS, newer)
    async with host.task_settings(ENABLE_FOLLOW_UP_GENERATION=False):
        turn = await chat.send("And a cake, please.")
        await until(
            lambda: (
                our_rows(host, page, "chat_notes")[0]["body"] != first["body"]
            ),
            30,
            "newer notes",
        )
        await host.rest()
    again = shown(asked(host)[1])
    assert f"## Summary so far\n{SUMMARY}\n" in again
    assert "## Tags so far\ndinner\n" in again
    assert "## Last answer\nUnderstood." in again

    def suggested() -> list[list[str]]:
        events = page.events[turn.since :]
        return [
            one.data["follow_ups"] for one in events if one.kind == FOLLOW_UPS
        ]

    await until(suggested, 30, "suggestions of what to ask next")
    assert suggested() == [lines[:6]]
    stored = await chat.stored_message(turn.message_id)
    assert stored["followUps"] == lines[:6]
    assert (stored["content"] or turn.content) == "Understood."
