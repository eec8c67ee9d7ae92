"""Chats of one's own that others may read while they go on: nothing known is shown in them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.extraction import learns, new, operations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page, RefusedError

TEA = "User likes green tea."
QUESTION = "Which green tea does the user like?"
Grants = list[dict[str, Any]]


async def share(
    page: Page, chat: Conversation, readers: Grants, mode: str | None
) -> str:
    """Share a chat by a link, to be read as it was or answered in; the id of the link."""
    shared = await page.request(
        "POST", f"/api/v1/chats/{chat.id}/share", {"share_mode": mode}
    )
    access = {"access_grants": readers, "share_mode": mode}
    await page.request(
        "POST", f"/api/v1/chats/shared/{chat.id}/access/update", access
    )
    return str(shared["share_id"])


async def put_into_folder(
    admin: Page, page: Page, chat: Conversation, readers: Grants
) -> None:
    """Put a chat into a folder that lies in one which others may read, as an admin has set up."""
    above = await page.request("POST", "/api/v1/folders/", {"name": "Tea"})
    access = {"access_grants": readers}
    await admin.request(
        "POST", f"/api/v1/folders/{above['id']}/access/update", access
    )
    form = {"name": "Green", "parent_id": above["id"]}
    folder = await page.request("POST", "/api/v1/folders/", form)
    into = {"folder_id": folder["id"]}
    await page.request("POST", f"/api/v1/chats/{chat.id}/folder", into)


@pytest.mark.every_release
async def test_named_readers(host: RunningHost, page: Page) -> None:
    """Where the people with whom a chat is shared can open it as it goes on, it counts as shared.

    Since 0.12 that is so with replies alone.
    """
    await page.add_memory(TEA)
    reader = await host.user("bob")
    grants = [
        {
            "principal_type": "user",
            "principal_id": reader.user_id,
            "permission": "read",
        }
    ]
    chat = page.new_chat()
    await chat.send("Hello there!")
    await share(page, chat, grants, None)
    await chat.send(QUESTION)
    try:
        seen = await reader.request("GET", f"/api/v1/chats/{chat.id}")
    except RefusedError:
        seen = ""
    goes_on = QUESTION in str(seen)
    assert (TEA in str(host.model.chat_requests()[-1].body)) is not goes_on


@pytest.mark.parametrize("way", ["with replies", "folder", "to read"])
async def test_others_may_read(
    host: RunningHost, page: Page, way: str
) -> None:
    """Nothing is recalled where later messages can be read by others, and lines tell counts.

    A link to read shows the chat as it was, so there all is as ever.
    """
    await page.add_memory(TEA)
    learns(host.model, "violin", operations(new("User plays the violin.")))
    reader = await host.user("bob")
    grants = [
        {
            "principal_type": "user",
            "principal_id": reader.user_id,
            "permission": "read",
        }
    ]
    chat = page.new_chat()
    await chat.send("Hello there!")
    link = ""
    if way == "folder":
        await put_into_folder(host.admin, page, chat, grants)
    else:
        link = await share(
            page, chat, grants, "continue" if way == "with replies" else None
        )
    turn = await chat.send(f"I play the violin. {QUESTION}")
    if way == "to read":
        await page.wait_for_status(turn, "Saved: User plays the violin.")
        assert TEA in host.model.chat_requests()[-1].prompt
        seen = await reader.request("GET", f"/api/v1/chats/share/{link}")
        assert "Hello there!" in str(seen)
        assert "violin" not in str(seen)
        return
    seen = await reader.request(
        "GET",
        f"/api/v1/chats/share/{link}" if link else f"/api/v1/chats/{chat.id}",
    )
    assert "I play the violin." in str(seen)
    await page.wait_for_status(turn, "Saved: 1 fact")
    await host.rest()
    assert TEA not in str([one.body for one in host.model.chat_requests()])
    told = str(
        [
            event.data
            for event in page.events[turn.since :]
            if event.kind != "chat:outlet"
        ]
    )
    assert "plays the violin" not in told
    assert len(await page.memories()) == 2
