"""Answers as they are stored and shown: freed of a model's slips."""

from __future__ import annotations

import pytest

from tests.e2e.driver.events import output_text
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.turn import Turn
from tests.e2e.driver.waiting import until

FACT = '{"answer": 42}'
ROWS = f"Three equal rows, as you wished:\n\n{FACT}\n{FACT}\n{FACT}"
STRAY = "It is **tea**.<|im_end|>\n<|im_start|>assistant\nAnd milk.</s>"
CLEAN = "It is **tea**.\nAnd milk."
WELL = "Mind the spaces:  \n\n```text\n<|im_end|>\n```\n\n* `</s>` ends it\n\n| a | b |\n|--|--|\n"


async def forms(turn: Turn, page: Page) -> dict[str, str]:
    """The answer as the database has it, in each field of each place, and as the page shows it."""
    chat = await page.request("GET", f"/api/v1/chats/{turn.chat_id}")
    stored = chat["chat"]["history"]["messages"][turn.message_id]
    # 0.10 keeps the answer in its items alone.
    found: dict[str, str] = (
        {"content": stored["content"]} if stored["content"] else {}
    )
    told = {"output": output_text(stored.get("output") or [])}
    for message in page.messages_after(turn):
        told["shown content"] = message["content"]
        told["shown output"] = output_text(message.get("output") or [])
    return found | {name: text for name, text in told.items() if text}


@pytest.mark.every_release
async def test_stored_answer_is_clean(host: RunningHost, page: Page) -> None:
    """A model's slips are gone from what is stored, shown, and given to the model next time."""
    host.model.when_chatting([STRAY, "Understood."])
    chat = page.new_chat()
    turn = await chat.send("What is it?")
    await until(
        lambda: page.messages_after(turn),
        30,
        "what the outlet has left of the answer",
    )
    found = await forms(turn, page)
    assert {
        name: text.strip() for name, text in found.items()
    } == dict.fromkeys(found, CLEAN)
    assert found.keys() & {"content", "output"}
    assert found.keys() & {"shown content", "shown output"}
    row = "SELECT content, output FROM chat_message WHERE id LIKE ?"
    assert "<|im_" not in str(host.query(row, f"%{turn.message_id}"))
    await chat.send("Thank you.")
    (answer,) = (
        m
        for m in host.model.chat_requests()[-1].messages
        if m["role"] == "assistant"
    )
    assert answer["content"].strip() == CLEAN


@pytest.mark.every_release
@pytest.mark.parametrize(
    "on", [True, False], ids=["clean answer", "switched off"]
)
async def test_untouched(
    host: RunningHost, plugin: InstalledFilter, page: Page, on: bool
) -> None:
    """A clean answer is stored as without the plug-in, and so is every one when it is off.

    Equal rows that were asked for are clean.
    """
    said = WELL + ROWS if on else f"{WELL}{STRAY} {FACT * 20}"
    host.model.when_chatting(said)
    await host.set_valves({"clean_answers": on})
    with_plugin = await forms(await page.new_chat().send("What is it?"), page)
    await plugin.switch(on=False)
    without = await forms(await page.new_chat().send("What is it?"), page)
    kept = ("content", "output")
    assert {k: with_plugin.get(k) for k in kept} == {
        k: without.get(k) for k in kept
    }
    assert (
        without.get("content") or without["output"]
    ).strip() == said.strip()
