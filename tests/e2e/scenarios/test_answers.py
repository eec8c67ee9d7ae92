"""Answers as they are stored and shown: freed of a model's slips, their broken links corrected."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.turn import Turn
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.extraction import learns, new, operations

FACT = '{"answer": 42}'
STRAY = "It is **tea**.<|im_end|>\n<|im_start|>assistant\nAnd milk.</s>"
CLEAN = "It is **tea**.\nAnd milk."
WELL = "Mind the spaces:  \n\n```text\n<|im_end|>\n```\n\n* `</s>` ends it\n\n| a | b |\n|--|--|\n"
DOG = "User's dog is called Biscuit."
# All of 127/8 is this machine: this address plays the internet, and 127.0.0.1 our own network.
OUTSIDE, INSIDE = "127.77.0.1", "127.0.0.1"
# The plug-in as it is, but for one address that counts as public.
INTERNET = f"""

class Filter(Filter):
    def __init__(self):
        super().__init__()
        rules = LinkRules(is_public=lambda one: one == {OUTSIDE!r} or is_public_address(one))
        self._correction = AnswerCorrection(self._learning.writing, rules)
"""


async def forms(turn: Turn, page: Page) -> dict[str, str]:
    """The answer as the database has it, in each field of each place, and as the page shows it."""
    chat = await page.request("GET", f"/api/v1/chats/{turn.chat_id}")
    stored = chat["chat"]["history"]["messages"][turn.message_id]
    # 0.10 keeps the answer in its items alone.
    found: dict[str, str] = {"content": stored["content"]} if stored["content"] else {}
    if said := texts(stored):
        found["output"] = said
    for event in page.events[turn.since :]:
        if event.kind == "chat:outlet":
            for message in event.data["messages"]:
                if message.get("id") == turn.message_id:
                    found |= {"shown content": message["content"]} if message["content"] else {}
                    found |= {"shown output": texts(message)} if texts(message) else {}
    return found


def texts(message: dict[str, Any]) -> str:
    """What is said in the items of output."""
    items = [item for item in message.get("output") or [] if item["type"] == "message"]
    return "".join(part["text"] for item in items for part in item["content"])


def rows(host: RunningHost, turn: Turn) -> str:
    """The answer's row in the host's table of messages."""
    found = host.query(
        "SELECT content, output FROM chat_message WHERE id LIKE ?", f"%{turn.message_id}"
    )
    return str(found)


@pytest.mark.every_release
async def test_stored_answer_is_clean(host: RunningHost, plugin: InstalledFilter) -> None:
    """A model's slips are gone from what is stored, shown, and given to the model next time."""
    host.model.when_chatting([STRAY, "Understood."])
    page = await host.user("ann")
    chat = page.new_chat()
    turn = await chat.send("What is it?")
    await until(lambda: "chat:outlet" in {e.kind for e in page.events[turn.since :]}, 30, "outlet")
    found = await forms(turn, page)
    assert {name: text.strip() for name, text in found.items()} == dict.fromkeys(found, CLEAN)
    assert found.keys() & {"content", "output"}
    assert found.keys() & {"shown content", "shown output"}
    assert "<|im_" not in rows(host, turn)
    await chat.send("Thank you.")
    (answer,) = (m for m in host.model.chat_requests()[-1].messages if m["role"] == "assistant")
    assert answer["content"].strip() == CLEAN


@pytest.mark.every_release
@pytest.mark.parametrize("on", [True, False], ids=["clean answer", "switched off"])
async def test_untouched(host: RunningHost, plugin: InstalledFilter, on: bool) -> None:
    """A clean answer is stored as without the plug-in, and so is every one when it is off."""
    said = WELL if on else f"{WELL}{STRAY} {FACT * 5}"
    host.model.when_chatting(said)
    page = await host.user("ann")
    await plugin.set_valves({"clean_answers": on})
    with_plugin = await forms(await page.new_chat().send("What is it?"), page)
    await plugin.switch(on=False)
    without = await forms(await page.new_chat().send("What is it?"), page)
    kept = ("content", "output")
    assert {k: with_plugin.get(k) for k in kept} == {k: without.get(k) for k in kept}
    assert (without.get("content") or without["output"]).strip() == said.strip()


@asynccontextmanager
async def site(address: str, asked: list[str]) -> AsyncIterator[str]:
    """A server of which no page is there, but the front page; what is asked is noted."""

    async def page(request: web.Request) -> web.StreamResponse:
        """Nothing is here."""
        asked.append(f"{request.method} {request.path}")
        return web.Response(status=200 if request.path == "/" else 404)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", page)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, address, 0).start()
    try:
        yield f"http://{address}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_broken_links(host: RunningHost, plugin: InstalledFilter) -> None:
    """One correction of what is not there, beside the line below; inside nobody is ever asked."""
    await plugin.update(PLUGIN.read_text(encoding="utf-8") + INTERNET)
    await plugin.set_valves({"validate_links": True, "confirmation": "message"})
    learns(host.model, "dog is called", operations(new(DOG, tags=["relationship"])))
    outside: list[str] = []
    inside: list[str] = []
    async with site(OUTSIDE, outside) as there, site(INSIDE, inside) as ours:
        inner = ours.replace(INSIDE, "localhost")
        rest = f"[home]({there}/) [a]({ours}/gone) [b]({inner}/gone) [c]({ours}/gone?x=1)"
        host.model.when_chatting(f"See [the tea]({there}/gone). {rest}")
        page = await host.user("ann")
        chat = page.new_chat()
        turn = await chat.send("My dog is called Biscuit. Links, please.")
        later = await chat.send("Thank you.")
        corrected = "See [the tea](https://duckduckgo.com/?q=the+tea)."

        def shown() -> list[str]:
            """What the page was told of the answer."""
            return [
                message["content"]
                for event in page.events[turn.since :]
                if event.kind == "chat:outlet"
                for message in event.data["messages"]
                if message.get("id") == turn.message_id and corrected in (message["content"] or "")
            ]

        await until(lambda: any(DOG in one for one in shown()), 30, "the line and the correction")
        await host.rest()
        stored = await chat.stored_message(turn.message_id)
        assert stored["content"].startswith(f"{corrected} {rest}\n\n> ")
        assert DOG in stored["content"]
        if stored.get("output"):
            assert texts(stored).startswith(f"{corrected} {rest}")
            assert DOG in texts(stored)
        assert (await chat.stored())["history"]["currentId"] == later.message_id
        assert (set(outside), inside) == ({"HEAD /", "HEAD /gone", "GET /gone"}, [])
