"""What was learned, told below the answer itself: shown, stored, and never said by the model."""

from __future__ import annotations

import pytest

from tests.e2e.driver.extraction import EXTRACT, learns, new, operations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.turn import Turn
from tests.e2e.driver.waiting import until

DOG = "User's dog is called Biscuit."
MARK = "Adaptive Memory"


def noted(page: Page, turn: Turn) -> list[str]:
    """Contents of the turn's answer that the page was sent after the answer, with the line."""
    said = [one.get("content") or "" for one in page.messages_after(turn)]
    return [one for one in said if MARK in one]


async def wait_for_note(page: Page, turn: Turn) -> str:
    """The answer as the page shows it when the line has come."""
    return (
        await until(lambda: noted(page, turn), 30, "the line below the answer")
    )[-1]


@pytest.mark.every_release
async def test_told_below_the_answer(host: RunningHost, page: Page) -> None:
    """The line is shown and stored once, with the answer; no model reads it as part of that."""
    await host.set_valves({"confirmation": "message"})
    learns(
        host.model,
        "dog is called",
        operations(new(DOG, tags=["relationship"])),
    )
    chat = page.new_chat()
    turn = await chat.send("My dog is called Biscuit.")
    shown = await wait_for_note(page, turn)
    assert shown.startswith("Understood.\n\n> ")
    assert DOG in shown
    stored = await chat.stored_message(turn.message_id)
    assert stored["content"] == shown
    assert str(stored.get("output") or [MARK]).count(MARK) == 1
    assert "Understood." in str(stored.get("output") or "Understood.")
    assert len(noted(page, turn)) == 1
    await chat.send("I have lived in Porto for years.")
    request = host.model.chat_requests()[-1]
    answers = [
        m["content"] for m in request.messages if m["role"] == "assistant"
    ]
    assert answers == ["Understood."]
    await until(
        lambda: len(host.model.requests_titled(EXTRACT)) == 2,
        30,
        "the second learning",
    )
    assert MARK not in str(host.model.requests_titled(EXTRACT)[-1].body)
    assert MARK in (await chat.stored_message(turn.message_id))["content"]
