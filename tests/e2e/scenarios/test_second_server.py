"""What needs a server of another kind, or one that is stopped: embeddings and restarts."""

from __future__ import annotations

import asyncio

import pytest

from tests.e2e.driver.extraction import EXTRACT, learns, learns_nothing_else, new, operations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.replies import Fail
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.told_facts import PORTO

TEA = "User likes green tea."
FACTS = (TEA, "User's dog is called Biscuit.", "User owns a sailing boat called Albatross.")
QUESTION = "Which green tea does the user like?"
# Long enough for the server to be killed before a turn is due, short enough for it to be due when
# the server is there again.
DEBOUNCE_SECONDS = 8


pytestmark = pytest.mark.timeout(600)


@pytest.mark.every_release
async def test_killed_server(second_host: RunningHost) -> None:
    """After kill -9 known memories are found, not embedded anew, and a waiting turn is learned.

    It is learned once, when its user is back.
    """
    host = second_host
    learns_nothing_else(host.model)
    learns(host.model, "Porto", operations(new(PORTO)))
    await host.kept_filter(PLUGIN)
    page = await host.user("ann")
    for fact in FACTS:
        await page.add_memory(fact)
    await page.complete(QUESTION)
    assert TEA in host.model.last_prompt
    stored = "SELECT 1 FROM adaptive_memory_vector WHERE user_id = ?"
    await until(lambda: len(host.query(stored, page.user_id)) == 3, 30, "three vectors")
    await host.set_valves({"extraction_debounce_seconds": DEBOUNCE_SECONDS})
    turn = await page.new_chat().send("I live in Porto.")
    await asyncio.to_thread(host.server.kill)
    waiting = "SELECT state FROM adaptive_memory_pending WHERE message_id = ?"
    assert host.query(waiting, turn.user_message_id) == [{"state": "waiting"}]
    assert host.model.requests_titled(EXTRACT) == []

    host.model.embedding_requests.clear()
    host.server.spawn()
    await host.server.wait_until_healthy()
    await page.request("GET", "/api/models")
    await page.complete(QUESTION)
    assert TEA in host.model.last_prompt
    embedded = str([one.body["input"] for one in host.model.embedding_requests])
    assert QUESTION in embedded
    assert not any(fact in embedded for fact in FACTS)

    await host.set_valves({})
    await page.reload()
    await page.new_chat().send("Good morning!")
    await until(lambda: host.query(waiting, turn.user_message_id)[0]["state"] == "done", 30, "it")
    await host.rest()
    assert sum(PORTO in one.content for one in await page.memories()) == 1
    assert len(await page.memories()) == len(FACTS) + 1
    asked = host.model.requests_titled(EXTRACT)
    assert sum("I live in Porto." in one.user_text for one in asked) == 1


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
    await page.wait_for_status(turn, "1 memory recalled (1 not embedded yet: found by keywords)")
    assert TEA in host.model.last_prompt

    host.model.trouble_embeddings(None)
    await page.say("Which green tea does the user like?", "1 memory recalled")
    assert TEA in host.model.last_prompt
