"""With ``pii_redaction`` = ``all`` the chat's model gets placeholders, and its user the values."""

from __future__ import annotations

import json
from typing import Any

import pytest
import pytest_asyncio

from tests.e2e.driver.events import Shown, stored_text
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Say, call_tool
from tests.e2e.driver.turn import Turn

MAIL = "ana.example@example.org"
PHONE = "+49 30 901820123"
MEMORY = f"User's work e-mail address is {MAIL}."
NATIVE = {"function_calling": "native"}
SAID = f"My phone number is {PHONE}. Which is my work e-mail address?"


@pytest_asyncio.fixture(loop_scope="session")
async def redacting(
    host: RunningHost, plugin: InstalledFilter
) -> InstalledFilter:
    """The plug-in, whose admin wants no personal data to reach chat models."""
    await host.set_valves({"pii_redaction": "all"})
    return plugin


def placeholder(body: dict[str, Any], name: str) -> str:
    """The first placeholder of a kind in a request."""
    text = str(body["messages"])
    start = text.index(f"[{name}_")
    return text[start : text.index("]", start) + 1]


def quotes(*names: str) -> Any:
    """An answer that quotes placeholders of the request, each over several chunks."""

    def answer(body: dict[str, Any]) -> Say:
        found = [placeholder(body, name) for name in names]
        # Models write blanks within brackets, too; each blank ends one of the driver's chunks.
        pieces = [f"[ {one[1:-1]} ]" for one in found]
        return Say(f"You are {' or '.join(pieces)}, I think.")

    return answer


def streamed_texts(page: Page, turn: Turn) -> str:
    """Everything that the page was sent within a turn."""
    return json.dumps(
        [event.data for event in page.events[turn.since :]], ensure_ascii=False
    )


async def shown_in_the_end(host: RunningHost, page: Page, turn: Turn) -> str:
    """What the page shows of an answer once nothing more comes."""
    await host.rest()
    return Shown().take_all(page.events[turn.since :], turn.message_id).content


@pytest.mark.every_release
async def test_model_gets_placeholders_and_the_user_values(
    host: RunningHost, redacting: InstalledFilter
) -> None:
    """Neither message nor memory goes out; page and stored answer have the values, as typed."""
    page = await host.user("ann")
    await page.add_memory(MEMORY)
    host.model.when_chatting(quotes("EMAIL", "PHONE"))
    chat = page.new_chat()
    turn = await chat.send(SAID)
    request = host.model.chat_requests()[-1]
    sent = json.dumps(request.body, ensure_ascii=False)
    assert MAIL not in sent
    assert PHONE not in sent
    assert "[EMAIL_1]" in request.prompt
    assert "[PHONE_1]" in request.user_text
    expected = f"You are {MAIL} or {PHONE}, I think."
    if page.release.restores_while_streaming:
        assert turn.content == expected
        shown = streamed_texts(page, turn)
        assert MAIL in shown
        assert "EMAIL_1" not in shown
    stored = await chat.stored_message(turn.message_id)
    assert stored_text(stored) == expected
    assert "EMAIL_1" not in str({**stored, "originalContent": ""})
    assert (await chat.stored_message(turn.user_message_id))["content"] == SAID


@pytest.mark.every_release
async def test_other_ways_to_answer(
    host: RunningHost, redacting: InstalledFilter
) -> None:
    """Whole answers, temporary chats and API calls are restored, too.

    A program that takes the answer in one piece gets placeholders.
    """
    page = await host.user("ann")
    host.model.when_chatting("You are [EMAIL_1].")
    chat = page.new_chat()
    turn = await chat.send(f"My address is {MAIL}.", stream=False)
    stored = await chat.stored_message(turn.message_id)
    assert stored_text(stored) == f"You are {MAIL}."
    assert "EMAIL_1" not in str(stored.get("output"))
    assert await shown_in_the_end(host, page, turn) == f"You are {MAIL}."
    host.model.when_chatting("You are [ EMAIL_1 ].")
    turn = await page.temporary_chat().send(f"My address is {MAIL}.")
    assert await shown_in_the_end(host, page, turn) == f"You are {MAIL}."
    assert (
        await page.complete(f"I am {MAIL}.", stream=True)
    ).content == f"You are {MAIL}."
    assert (
        await page.complete(f"I am {MAIL}.")
    ).content == "You are [ EMAIL_1 ]."
    assert not any(MAIL in str(one.body) for one in host.model.chat_requests())


@pytest.mark.every_release
async def test_tools_get_values(
    host: RunningHost, redacting: InstalledFilter
) -> None:
    """A tool is called with the value; what goes back to the model about it has none.

    Before 0.11.2 the host does not ask filters again, so there the tool gets the placeholder.
    """
    await host.set_valves({"pii_redaction": "all", "native_memory": "keep"})
    page = await host.user("ann")
    chat = page.new_chat()
    call = call_tool("add_memory", content="Mail of the user: [EMAIL_1]")
    host.model.when_chatting([call, Say("Noted: [EMAIL_1].")])
    turn = await chat.send(
        f"Remember my address {MAIL}.",
        features={"memory": True},
        params=NATIVE,
    )
    before, after = host.model.chat_requests()[-2:]
    assert "tool" in [message["role"] for message in after.messages]
    assert MAIL not in str(before.body)
    assert MAIL not in str(after.body["messages"])
    assert stored_text(await chat.stored_message(turn.message_id)).endswith(
        f"Noted: {MAIL}."
    )
    held = MAIL if page.release.number >= (0, 11, 2) else "[EMAIL_1]"
    assert [one.content for one in await page.memories()] == [
        f"Mail of the user: {held}"
    ]
