"""What needs a server of another kind, or one that is stopped: embeddings, restarts, metrics."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page, RefusedError
from tests.e2e.driver.replies import Fail
from tests.e2e.driver.scripted_model import ModelRequest
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.extraction import EXTRACT, learns, learns_nothing_else, new, operations
from tests.e2e.scenarios.told_facts import CAT, PORTO, answered, held, lived, told

TEA = "User likes green tea."
FACTS = (TEA, "User's dog is called Biscuit.", "User owns a sailing boat called Albatross.")
QUESTION = "Which green tea does the user like?"
# Long enough for the server to be killed before a turn is due, short enough for it to be due when
# the server is there again.
DEBOUNCE_SECONDS = 8

METRICS = "METRICS "

COLLECTOR = f"""
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader


def line(data):
    return {METRICS!r} + data.to_json(indent=None) + chr(10)


reader = PeriodicExportingMetricReader(ConsoleMetricExporter(formatter=line), 500)
metrics.set_meter_provider(MeterProvider([reader]))


class Filter:
    pass
"""

pytestmark = pytest.mark.timeout(600)


def embedded_texts(requests: list[ModelRequest]) -> list[str]:
    """All texts that these requests had embedded."""
    texts: list[str] = []
    for request in requests:
        asked = request.body["input"]
        texts += [asked] if isinstance(asked, str) else asked
    return texts


@pytest.mark.every_release
async def test_killed_server(second_host: RunningHost) -> None:
    """After kill -9 known memories are at hand, not embedded anew, and a waiting turn is learned.

    It is learned once, when its user is back.
    """
    host = second_host
    learns_nothing_else(host.model)
    learns(host.model, "Porto", operations(new(PORTO)))
    plugin = await host.kept_filter(PLUGIN)
    page = await host.user("ann")
    for fact in FACTS:
        await page.add_memory(fact)
    await page.complete(QUESTION)
    assert TEA in host.model.chat_requests()[-1].system_prompt
    stored = "SELECT 1 FROM adaptive_memory_vector WHERE user_id = ?"
    await until(lambda: len(host.query(stored, page.user_id)) == 3, 30, "three vectors")
    await plugin.set_valves({"extraction_debounce_seconds": DEBOUNCE_SECONDS})
    turn = await page.new_chat().send("I live in Porto.")
    await asyncio.to_thread(host.server.kill)
    waiting = "SELECT state FROM adaptive_memory_pending WHERE message_id = ?"
    assert host.query(waiting, turn.user_message_id) == [{"state": "waiting"}]
    assert host.model.requests_titled(EXTRACT) == []

    host.model.embedding_requests.clear()
    written = host.log_length()
    host.server.spawn()
    await host.server.wait_until_healthy()
    await page.request("GET", "/api/models")
    at_hand = "memories are at hand of users who were here lately: "
    await until(lambda: at_hand in host.log_text(written), 30, "memories at hand")
    await page.complete(QUESTION)
    assert TEA in host.model.chat_requests()[-1].system_prompt
    embedded = embedded_texts(host.model.embedding_requests)
    assert QUESTION in embedded
    assert not set(FACTS) & set(embedded)

    await plugin.set_valves({})
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
    await page.wait_for_status(turn, "Memory saved")
    assert len(await page.memories()) == 1
    turn = await page.new_chat().send("Which green tea shall I drink?")
    assert turn.content == "Understood."
    await page.wait_for_status(turn, "1 memory recalled (1 not embedded yet: found by keywords)")
    assert TEA in host.model.chat_requests()[-1].system_prompt

    host.model.trouble_embeddings(None)
    turn = await page.new_chat().send("Which green tea does the user like?")
    await page.wait_for_status(turn, "1 memory recalled")
    assert TEA in host.model.chat_requests()[-1].system_prompt


@pytest.mark.every_release
async def test_embeddings_of_a_server(second_host: RunningHost) -> None:
    """A test can have a server with other settings, and embeddings that fail."""
    host = second_host
    await host.switch_kept_filter_off()
    page = await host.user()
    await page.add_memory("I have a cat.")
    inputs = [request.body["input"] for request in host.model.embedding_requests]
    assert "I have a cat." in str(inputs)
    host.model.trouble_embeddings(Fail(500))
    with pytest.raises(RefusedError):
        await page.add_memory("I have a dog.")
    host.model.trouble_embeddings(None)
    await page.add_memory("I have a bird.")


async def test_changed_secret(second_host: RunningHost) -> None:
    """With another secret after a restart every turn goes on, learned and recalled as before."""
    host = second_host
    learns_nothing_else(host.model)
    plugin = await host.kept_filter(PLUGIN)
    page = await lived(host, "ann")
    chat = page.new_chat()
    await chat.send("Where do I live?")
    await host.rest()
    await plugin.set_valves({"extraction_debounce_seconds": 30})
    await page.new_chat().send("I work as a nurse.")
    email = page.email
    await page.disconnect()
    await host.admin.disconnect()
    await asyncio.to_thread(host.server.stop)
    secret = "another-secret-on-loopback-only-never-in-production"
    host.server.variables = {**host.server.variables, "WEBUI_SECRET_KEY": secret}
    host.server.spawn()
    await host.server.wait_until_healthy()
    again = await Page.sign_in(host.url, email)
    try:
        chat.page = again
        for known in (chat, again.new_chat()):
            assert (await known.send("Where do I live?")).error is None
            assert "Porto" in host.model.chat_requests()[-1].system_prompt
        admin = await Page.sign_in(host.url, host.admin.email)
        host.admin.token = admin.token
        await admin.close()
        await plugin.set_valves({})
        await told(host, again, "I have a boat called Freya.", "User has a boat called Freya.")
        turn = await answered(again, "Forget everything about me", "erase")
        await again.wait_for_status(turn, "Erased: 3 memories")
        await until(lambda: held(host, again) == {}, 30, "empty tables")
    finally:
        await again.close()


async def test_metrics(second_host: RunningHost) -> None:
    """Where the host's process collects metrics, ours are among them; lines can be switched off."""
    host = second_host
    await host.install_filter(COLLECTOR, function_id="collector")
    learns_nothing_else(host.model)
    plugin = await host.kept_filter(PLUGIN)
    # A load of the plug-in looks for the provider of meters when it begins.
    await plugin.update(PLUGIN.read_text(encoding="utf-8") + "\n# edited\n")
    await plugin.set_valves({"log_measures": False})
    since = host.log_length()
    page = await host.user("ann")
    await page.add_memory(CAT)
    await told(host, page, "I live in Porto. What shall my cat Miso eat?", PORTO)

    def points() -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for one in re.findall(f"{METRICS}(.*)\n", host.log_text(since)):
            for resource in json.loads(one)["resource_metrics"]:
                for scope in resource["scope_metrics"]:
                    for metric in scope["metrics"]:
                        found[metric["name"]] = metric["data"]["data_points"]
        return found

    def turns() -> dict[str, int]:
        ended = points().get("adaptive_memory.turn.duration", [])
        return {one["attributes"]["part"]: one["count"] for one in ended}

    # Last of all the learning's end is measured.
    await until(lambda: turns() == {"inlet": 1, "learning": 1}, 30, "metrics of both parts")
    found = points()
    [saved] = found["adaptive_memory.operations"]
    assert (saved["attributes"], saved["value"]) == ({"status": "saved"}, 1)
    stages = {one["attributes"]["stage"] for one in found["adaptive_memory.stage.duration"]}
    assert stages >= {"freshness", "embedding", "ranking", "block", "queue", "extraction", "apply"}
    [call] = found["adaptive_memory.model.calls"]
    assert call["attributes"] == {"part": "learning", "purpose": "extraction", "result": "answered"}
    assert re.search(r'"part":"\w+","user":', host.log_text(since)) is None
