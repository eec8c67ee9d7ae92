"""What needs a server of another kind, or one that is stopped: packages, embeddings, restarts."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.e2e.driver.events import stored_text
from tests.e2e.driver.extraction import (
    EXTRACT,
    checks,
    learns,
    learns_nothing_else,
    new,
    operations,
    update,
)
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page, RefusedError
from tests.e2e.driver.replies import Body, Fail, Hang
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.test_growing_prompts import whole
from tests.e2e.scenarios.told_facts import (
    CAT,
    PORTO,
    SWEEP_IS_DUE,
    our_rows,
    sweep_again,
)

TEA = "User likes green tea."
DOG = "User's dog is called Biscuit."
FACTS = (
    TEA,
    DOG,
    "User owns a sailing boat called Albatross.",
)
QUESTION = "Which green tea does the user like?"
# Long enough for the server to be killed before a turn is due, short enough for it to be due when
# the server is there again.
DEBOUNCE_SECONDS = 8
# What waits so long is there when the server ends, and due when it has started twice.
LONG_DEBOUNCE_SECONDS = 15
SEALED_KINDS = ("archive", "audit", "waiting")
BIKE = "User rides a red bike."
CYCLES = "User cycles to the office in Porto."
LISBON = "User lives in Lisbon."
# An import of so many takes longer than a command's turn, and is over by then on a busy machine.
_MANY = 2500
_IMPORT_SECONDS = 120
# By then a deletion has been looked at for the last time.
LATE_SECONDS = 5

ASKS_FOR_A_PACKAGE = '''"""
title: Asks for a package
requirements: adaptive-memory-no-such-package
"""


class Filter:
    pass
'''

pytestmark = pytest.mark.timeout(600)


async def is_active(plugin: InstalledFilter) -> bool:
    """Whether the host runs the function, as the admin sees it in the panel."""
    function = await plugin.admin.request(
        "GET", f"/api/v1/functions/id/{plugin.id}"
    )
    return function["is_active"]


@pytest.mark.every_release
async def test_without_package_index(second_host: RunningHost) -> None:
    """With no package index in reach the filter stays on, learns a fact and recalls it.

    The packages that no host ships are absent here; most other scenarios have them. The model's
    first reply is broken, so it is asked again.
    """
    host = second_host
    learns_nothing_else(host.model)
    plugin = await host.kept_filter(PLUGIN)
    page = await host.user("ann")
    whole_reply = operations(new(DOG))
    broken_reply = json.dumps(whole_reply).replace(", ", " ", 1)
    learns(host.model, "dog is called", [broken_reply, whole_reply])
    await page.say("My dog is called Biscuit.", f"Saved: {DOG}")
    assert len(host.model.requests_titled(EXTRACT)) == 2
    await page.new_chat().send("What is my dog called?")
    assert f"- “{DOG}”\n" in host.model.last_prompt
    assert await is_active(plugin)

    # No accident: this server does run pip for a header that asks, and pip finds nothing.
    with pytest.raises(RefusedError):
        await host.install_filter(
            ASKS_FOR_A_PACKAGE, function_id="asks_for_a_package"
        )
    assert (
        "No matching distribution found for adaptive-memory-no-such-package"
        in host.log_text()
    )


@pytest.mark.every_release
async def test_killed_server(second_host: RunningHost) -> None:
    """After kill -9 known memories are found, not embedded anew, and a waiting turn is learned.

    It is learned once, when its user is back; a chat's prompt goes on as it was. The filter is still
    on, though the server that starts reaches no package index.
    """
    host = second_host
    learns_nothing_else(host.model)
    learns(host.model, "Porto", operations(new(PORTO)))
    plugin = await host.kept_filter(PLUGIN)
    page = await host.user("ann")
    for fact in FACTS:
        await page.add_memory(fact)
    await page.complete(QUESTION)
    assert TEA in host.model.last_prompt
    stored = "SELECT 1 FROM adaptive_memory_vector WHERE user_id = ?"
    await until(
        lambda: len(host.query(stored, page.user_id)) == 3, 30, "three vectors"
    )
    chat = page.new_chat(system="Be kind.")
    await chat.send(QUESTION)
    former = whole(host.model.chat_requests()[-1].messages)
    assert TEA in former
    await host.rest()
    await host.set_valves({"extraction_debounce_seconds": DEBOUNCE_SECONDS})
    turn = await page.new_chat().send("I live in Porto.")
    await asyncio.to_thread(host.server.kill)
    queued = "SELECT kind FROM adaptive_memory_entries WHERE key = ?"
    assert host.query(queued, turn.user_message_id) == [{"kind": "waiting"}]
    assert host.model.requests_titled(EXTRACT) == []

    host.model.embedding_requests.clear()
    host.server.spawn()
    await host.server.wait_until_healthy()
    assert await is_active(plugin)
    await page.request("GET", "/api/models")
    await page.complete(QUESTION)
    assert TEA in host.model.last_prompt
    embedded = str(
        [one.body["input"] for one in host.model.embedding_requests]
    )
    assert QUESTION in embedded
    assert not any(fact in embedded for fact in FACTS)

    await host.set_valves({})
    await page.reload()
    await chat.send("Good morning!")
    prompt = whole(host.model.chat_requests()[-1].messages)
    assert prompt.startswith(former)
    await until(
        lambda: host.query(queued, turn.user_message_id) == [{"kind": "done"}],
        30,
        "it",
    )
    await host.rest()
    assert sum(PORTO in one.content for one in await page.memories()) == 1
    assert len(await page.memories()) == len(FACTS) + 1
    asked = host.model.requests_titled(EXTRACT)
    assert sum("I live in Porto." in one.user_text for one in asked) == 1
    assert await is_active(plugin)


@pytest.mark.every_release
async def test_failing_embedding_of_the_host(second_host: RunningHost) -> None:
    """With the host's embedding failing, chats are answered and a fact is still saved, once."""
    host = second_host
    learns_nothing_else(host.model)
    learns(host.model, "tea", operations(new(TEA)))
    await host.kept_filter(PLUGIN)
    page = await host.user("ann")

    host.model.trouble_embeddings(Fail(500))
    turn = await page.new_chat().send("I like green tea.")
    assert turn.content == "Understood."
    await page.wait_for_status(turn, "Saved")
    assert len(await page.memories()) == 1
    turn = await page.new_chat().send("Which green tea shall I drink?")
    assert turn.content == "Understood."
    await page.wait_for_status(
        turn, "1 memory recalled (1 not embedded yet: found by keywords)"
    )
    assert TEA in host.model.last_prompt

    host.model.trouble_embeddings(None)
    await page.say("Which green tea does the user like?", "1 memory recalled")
    assert TEA in host.model.last_prompt


async def start_with_key(host: RunningHost, key: str, *pages: Page) -> None:
    """Start the server anew with this secret key; it knows no session of before."""
    await asyncio.to_thread(host.server.stop)
    host.server.variables = {**host.server.variables, "WEBUI_SECRET_KEY": key}
    host.server.spawn()
    await host.server.wait_until_healthy()
    for page in (host.admin, *pages):
        await page.sign_in_again()


@pytest.mark.slow
async def test_another_secret_key(second_host: RunningHost) -> None:
    """What the former key sealed is counted and stays while another one serves, and is back after.

    Meanwhile the day's sweep comes by, and other facts are learned and logged.
    """
    host, former_key = (
        second_host,
        second_host.server.variables["WEBUI_SECRET_KEY"],
    )
    learns_nothing_else(host.model)
    await host.kept_filter(PLUGIN)
    page = await host.user("ann")
    home, way = new(PORTO, tags=["identity"]), new(CYCLES, tags=["behavior"])
    learns(host.model, "Porto", operations(home, way))
    await page.say("I live in Porto and cycle to the office.", "Saved")
    ids = {one.content: one.id for one in await page.memories()}
    ended = {
        "id": ids[CYCLES],
        "because": "the office in Porto is not where they live now",
    }
    checks(host.model, {**ended, "until": None, "now": ""})
    learns(host.model, "Lisbon", operations(update(ids[PORTO], LISBON)))
    await page.say("I live in Lisbon now.", f"no longer true: {CYCLES}")
    await host.set_valves(
        {"extraction_debounce_seconds": LONG_DEBOUNCE_SECONDS}
    )
    learns(host.model, "cat", operations(new(CAT)))
    learns(host.model, "bike", operations(new(BIKE)))
    turn = await page.new_chat().send("I have a cat called Miso.")
    queued = "SELECT kind FROM adaptive_memory_entries WHERE key = ?"

    await start_with_key(host, "quite-another-secret-key", page)
    sealed = {kind: our_rows(host, page, kind) for kind in SEALED_KINDS}
    assert [len(sealed[kind]) for kind in ("archive", "audit")] == [1, 4]
    host.change(SWEEP_IS_DUE)
    await host.set_valves({})
    await page.say("I ride a red bike.", f"Saved: {BIKE}")
    await host.rest()
    chat = page.new_chat()
    page.answers["confirmation"] = True
    told = (await chat.send("/memory restore")).content
    assert (
        "Nothing was changed. 1 archived memory: Open WebUI's secret key"
        in told
    )
    log = (await chat.send("/memory log")).content
    assert BIKE in log
    assert f"{len(sealed['audit'])}: Open WebUI's secret key" in log
    checked = (await host.admin.new_chat().send("/memory doctor")).content
    assert all(
        f"{kind}: " in checked for kind in ("archive", "audit", "waiting")
    )
    assert "secret key has changed" in checked
    await host.rest()
    assert host.query(queued, turn.user_message_id) == [{"kind": "waiting"}]
    for kind, rows in sealed.items():
        assert [
            row for row in our_rows(host, page, kind) if row in rows
        ] == rows

    await start_with_key(host, former_key, page)
    await page.new_chat().send("Good morning!")
    await until(
        lambda: host.query(queued, turn.user_message_id) == [{"kind": "done"}],
        30,
        "it",
    )
    chat = page.new_chat()
    assert "Restored: 1 memory" in (await chat.send("/memory restore")).content
    contents = {one.content for one in await page.memories()}
    assert contents >= {LISBON, CYCLES, CAT, BIKE}
    log = (await chat.send("/memory log")).content
    assert PORTO in log


async def test_vector_that_comes_back(second_host: RunningHost) -> None:
    """The vector of an edit that was still being embedded when its memory went is swept."""
    host = second_host
    learns_nothing_else(host.model)
    plugin = await host.kept_filter(PLUGIN)
    page = await host.user("ann")
    memory = await page.add_memory(TEA)
    await page.add_memory(BIKE)
    edited = "User likes green tea from Uji."

    def held_up(body: Body) -> Hang:
        return Hang(LATE_SECONDS if edited in str(body["input"]) else 0)

    host.model.trouble_embeddings(held_up)
    editing = asyncio.create_task(page.update_memory(memory.id, edited))
    remembered = "SELECT content FROM memory WHERE id = ?"
    await until(
        lambda: host.query(remembered, memory.id)[0]["content"] == edited,
        30,
        "the edit",
    )
    answer = await page.new_chat().send("/forget Uji")
    assert "Deleted" in answer.content
    await asyncio.gather(editing, return_exceptions=True)
    await host.rest()
    assert host.query(remembered, memory.id) == []
    assert host.vectors(f"user-memory-{page.user_id}") == 2
    await sweep_again(host, plugin, PLUGIN)
    await page.new_chat().send("Good morning!")
    await host.rest()
    assert host.vectors(f"user-memory-{page.user_id}") == 1


@pytest.mark.every_release
async def test_what_takes_long_goes_on_behind(
    second_host: RunningHost,
) -> None:
    """The turn of a long import ends, and its result stands there later.

    Meanwhile the user is told what is known by then, and goes on with the same chat.
    """
    host = second_host
    learns_nothing_else(host.model)
    await host.kept_filter(PLUGIN)
    page = await host.user("ann")
    page.answers["confirmation"] = True
    chat = page.new_chat()
    lines = "\n".join(f"- I own boat number {at}." for at in range(_MANY))
    turn = await chat.send(f"/memory import\n{lines}")
    assert "goes on behind" in turn.content
    answer = await page.new_chat().send("/memory")
    assert "memories" in answer.content
    reply = await chat.send("Hello.")
    await host.rest(_IMPORT_SECONDS)
    stored = await chat.stored_message(turn.message_id)
    assert f"Saved: {_MANY} / {_MANY}" in stored["content"]
    assert (
        stored_text(await chat.stored_message(reply.message_id))
        == reply.content
    )
    assert len(await page.memories()) == _MANY
