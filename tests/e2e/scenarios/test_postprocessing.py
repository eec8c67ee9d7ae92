"""After the answer, when the admin wants it: notes of the chat, what to ask next, facts, a flag."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Hang
from tests.e2e.driver.scripted_model import ModelRequest, text_of
from tests.e2e.driver.turn import Turn
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.extraction import learns, new, operations

POSTPROCESS = "# Postprocess"
ON = {"enable_postprocessing": True}
PORTO = "User lives in Porto."
VIOLIN = "User plays the violin."
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


def rows(host: RunningHost, table: str, page: Page) -> list[dict[str, Any]]:
    """A user's rows in a table of ours, none where there is no such table yet."""
    name = f"adaptive_memory_{table}"
    if not host.query("SELECT 1 FROM sqlite_master WHERE name = ?", name):
        return []
    return host.query(f"SELECT * FROM {name} WHERE user_id = ?", page.user_id)


def asked(host: RunningHost) -> list[ModelRequest]:
    """The calls after answers so far."""
    return host.model.requests_titled(POSTPROCESS)


def shown(request: ModelRequest) -> str:
    """What such a call shows of the turn and of the chat so far."""
    return text_of(request.messages[-1]["content"])


def follow_ups(page: Page, turn: Turn) -> list[list[str]]:
    """What the page was told to suggest below an answer."""
    return [
        event.data["follow_ups"]
        for event in page.events[turn.since :]
        if event.kind == "chat:message:follow_ups" and event.message_id == turn.message_id
    ]


@pytest.mark.every_release
async def test_chat_is_noted(host: RunningHost, plugin: InstalledFilter) -> None:
    """Summary and tags are kept sealed, go into the next call, and hold no memory's contents."""
    page = await host.user("ann")
    await page.add_memory("User is allergic to peanuts.")
    await page.new_chat().send("Good morning!")  # the first message after a start takes longer
    await plugin.set_valves(ON)
    told = f"{SUMMARY} The user is allergic to peanuts."
    host.model.when_title(POSTPROCESS, said(chat_summary=told, chat_tags=["dinner", "peanuts"]))
    chat = page.new_chat()
    await chat.send("I am allergic to something, so what should I cook?")
    assert "peanuts" in host.model.chat_requests()[-1].system_prompt
    (first,) = await until(lambda: rows(host, "chat_notes", page), 30, "notes of the chat")
    assert first["chat_id"] == chat.id
    assert first["notes"].startswith("am1:")
    assert "## Summary so far\nnone\n" in shown(asked(host)[0])
    host.model.when_title(POSTPROCESS, said(chat_summary="They also wanted a cake."))
    await chat.send("And a cake, please.")
    await until(
        lambda: rows(host, "chat_notes", page)[0]["notes"] != first["notes"], 30, "newer notes"
    )
    again = shown(asked(host)[1])
    assert f"## Summary so far\n{SUMMARY}\n" in again
    assert "## Tags so far\ndinner\n" in again
    assert "## Last answer\nUnderstood." in again


@pytest.mark.every_release
async def test_what_to_ask_next(host: RunningHost, plugin: InstalledFilter) -> None:
    """Up to six suggestions reach the page and survive a reload, unless the admin wants none."""
    await plugin.set_valves(ON)
    page = await host.user("ann")
    lines = [f"What about dish {number}?" for number in range(8)]
    host.model.when_title(POSTPROCESS, said(follow_up_suggestions=lines))
    chat = page.new_chat()
    turn = await chat.send("What should I cook?")
    await until(lambda: follow_ups(page, turn), 30, "suggestions of what to ask next")
    assert follow_ups(page, turn) == [lines[:6]]
    stored = await chat.stored_message(turn.message_id)
    assert stored["followUps"] == lines[:6]
    assert (stored["content"] or turn.content) == "Understood."
    await plugin.set_valves({**ON, "suggest_follow_ups": False})
    turn = await chat.send("And what else?")
    await until(lambda: len(asked(host)) == 2, 30, "the second call")
    await host.rest()
    assert follow_ups(page, turn) == []
    assert not (await chat.stored_message(turn.message_id)).get("followUps")
    assert (await chat.stored_message(turn.message_id))["parentId"] == turn.user_message_id


async def test_findings_are_learned_once(host: RunningHost, plugin: InstalledFilter) -> None:
    """What the user said is learned with its message; known facts and the answer's own are not."""
    await plugin.set_valves(ON)
    page = await host.user("ann")
    learns(host.model, "Porto", operations(new(PORTO, tags=["identity"])))
    host.model.when_chatting("You surely love the opera, then.")
    findings = ["The user lives in Porto.", VIOLIN, "User loves the opera."]
    host.model.when_title(POSTPROCESS, said(new_learnings=findings))
    turn = await page.new_chat().send("I live in Porto and I play the violin.")
    await page.wait_for_status(turn, f"Memory saved: {PORTO}")
    await page.wait_for_status(turn, f"Memory saved: {VIOLIN}")
    await host.rest()
    kept = [one.content for one in await page.memories()]
    assert len(kept) == 2
    assert [sum(word in one for one in kept) for word in ("Porto", "violin")] == [1, 1]
    entries = [(one["kind"], one["message_id"]) for one in rows(host, "audit", page)]
    assert entries == [("saved", turn.user_message_id)] * 2


async def test_harmful_answer_is_flagged(host: RunningHost, plugin: InstalledFilter) -> None:
    """A status, a line in the log and one in the audit tell of it; the answer stays as it is."""
    await plugin.set_valves(ON)
    page = await host.user("ann")
    host.model.when_chatting("Mix the two under the sink.")
    host.model.when_title(POSTPROCESS, said(harmful_response=9))
    chat, since = page.new_chat(), host.log_length()
    turn = await chat.send("How do I clean my kitchen?")
    await page.wait_for_status(turn, "The answer may be harmful (9 of 10)")
    await until(lambda: rows(host, "audit", page), 30, "an entry of the audit")
    (entry,) = rows(host, "audit", page)
    assert (entry["kind"], entry["message_id"]) == ("flagged", turn.message_id)
    log = host.log_text(since)
    assert f"message {turn.message_id}" in log
    assert "under the sink" not in log
    assert turn.content == "Mix the two under the sink."


async def test_model_in_trouble(host: RunningHost, plugin: InstalledFilter) -> None:
    """Without a usable reply in time there is nothing but what learning does."""
    await plugin.set_valves({**ON, "postprocess_timeout_seconds": 1})
    page = await host.user("ann")
    learns(host.model, "Porto", operations(new(PORTO)))
    host.model.when_title(POSTPROCESS, Hang())
    turn = await page.new_chat().send("I live in Porto.")
    assert (turn.done, turn.content) == (True, "Understood.")
    await page.wait_for_status(turn, f"Memory saved: {PORTO}")
    await host.rest()
    assert asked(host)
    assert rows(host, "chat_notes", page) == []
    assert follow_ups(page, turn) == []
    assert len(await page.memories()) == 1


async def test_nobody_is_asked(host: RunningHost, plugin: InstalledFilter) -> None:
    """Switched off, and in a temporary chat, there is no call."""
    page = await host.user("ann")
    host.model.when_title(POSTPROCESS, said(chat_summary=SUMMARY))
    await page.new_chat().send("What should I cook?")
    await plugin.set_valves(ON)
    await page.temporary_chat().send("What should I cook?")
    await host.rest()
    assert asked(host) == []
    assert rows(host, "chat_notes", page) == []
