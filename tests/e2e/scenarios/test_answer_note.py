"""What was learned, told below the answer itself: shown, stored, and never said by the model."""

from __future__ import annotations

import pytest
import pytest_asyncio

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.turn import Turn
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.extraction import EXTRACT, learns, new, operations

DOG = "User's dog is called Biscuit."
MARK = "Adaptive Memory"

pytestmark = pytest.mark.every_release


@pytest_asyncio.fixture(loop_scope="session")
async def talkative(host: RunningHost, plugin: InstalledFilter) -> InstalledFilter:
    """The plug-in, which tells below the answer what it learned, and a model that finds a dog."""
    await host.set_valves({"confirmation": "message"})
    learns(host.model, "dog is called", operations(new(DOG, tags=["relationship"])))
    return plugin


def noted(page: Page, turn: Turn) -> list[str]:
    """Contents of the turn's answer that the page was sent after the answer, with the line."""
    return [
        message["content"]
        for event in page.events[turn.since :]
        if event.kind == "chat:outlet"
        for message in event.data["messages"]
        if message.get("id") == turn.message_id and MARK in (message.get("content") or "")
    ]


async def wait_for_note(page: Page, turn: Turn) -> str:
    """The answer as the page shows it when the line has come."""
    await until(lambda: noted(page, turn), 30, "the line below the answer")
    return noted(page, turn)[-1]


async def test_told_below_the_answer(host: RunningHost, talkative: InstalledFilter) -> None:
    """The line is shown and stored once, with the answer, wherever a release keeps that."""
    page = await host.user("ann")
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


async def test_never_said_by_the_model(host: RunningHost, talkative: InstalledFilter) -> None:
    """Neither the chat's model nor the one that learns reads the line as part of the answer."""
    page = await host.user("ann")
    chat = page.new_chat()
    first = await chat.send("My dog is called Biscuit.")
    await wait_for_note(page, first)
    second = await chat.send("I have lived in Porto for years.")
    request = host.model.chat_requests()[-1]
    answers = [m["content"] for m in request.messages if m["role"] == "assistant"]
    assert answers == ["Understood."]
    await until(lambda: len(host.model.requests_titled(EXTRACT)) == 2, 30, "the second learning")
    assert MARK not in str(host.model.requests_titled(EXTRACT)[-1].body)
    history = (await chat.stored())["history"]
    assert history["currentId"] == second.message_id
    assert MARK in history["messages"][first.message_id]["content"]


async def test_late_line_leaves_the_chat_where_it_is(
    host: RunningHost, talkative: InstalledFilter
) -> None:
    """A line that comes when the chat has gone on does not make the old answer the newest one."""
    page = await host.user("ann")
    chat = page.new_chat()
    first = await chat.send("My dog is called Biscuit.")
    second = await chat.send("What is two plus two?")
    await wait_for_note(page, first)
    await host.rest()
    history = (await chat.stored())["history"]
    assert history["currentId"] == second.message_id
    assert len(history["messages"]) == 4
    assert MARK not in str(history["messages"][second.message_id])
