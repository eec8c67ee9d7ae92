"""Embedding, database and tables failing, and memories switched off: the chat goes on."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading

import pytest

from tests.e2e.conftest import StartHost
from tests.e2e.driver.host import HASTY, InstalledFilter, RunningHost
from tests.e2e.driver.replies import Fail
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.extraction import learns, learns_nothing_else, new, operations

TEA = "User likes green tea."
LOCK_SECONDS = 2.0


async def test_failing_embedding_of_the_host(start_host: StartHost) -> None:
    """With the host's embedding failing, chats are answered and a fact is still saved, once."""
    host = await start_host(
        RAG_EMBEDDING_ENGINE="openai",
        RAG_OPENAI_API_BASE_URL="{model_url}",
        RAG_OPENAI_API_KEY="none",
        RAG_EMBEDDING_MODEL="words",
    )
    learns_nothing_else(host.model)
    learns(host.model, "tea", operations(new(TEA)))
    await host.install_filter(PLUGIN, valves=HASTY)
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


async def test_failing_embedding_endpoint(host: RunningHost, plugin: InstalledFilter) -> None:
    """With an embedding endpoint failing, keywords recall and the status says so."""
    await plugin.set_valves(
        {
            "embedding_provider_type": "openai_compatible",
            "embedding_api_url": host.model.url,
            "embedding_model_name": "words",
            "max_retries": 0,
        }
    )
    page = await host.user("ann")
    await page.add_memory(TEA)
    host.model.trouble_embeddings(Fail(500))
    turn = await page.new_chat().send("Which green tea does the user like?")
    assert turn.content == "Understood."
    await page.wait_for_status(turn, "1 memory recalled (1 not embedded yet: found by keywords)")
    assert TEA in host.model.chat_requests()[-1].system_prompt


async def test_slow_embedding_is_not_waited_for(host: RunningHost, plugin: InstalledFilter) -> None:
    """A message waits no longer for its vectors than the valve says; keywords serve meanwhile."""
    from tests.e2e.driver.replies import Hang

    await plugin.set_valves(
        {
            "embedding_provider_type": "openai_compatible",
            "embedding_api_url": host.model.url,
            "embedding_model_name": "words",
            "inlet_timeout_seconds": 2.0,  # what is left of it has to do on a busy machine
        }
    )
    page = await host.user("ann")
    await page.add_memory(TEA)
    host.model.trouble_embeddings(Hang(60))
    turn = await page.new_chat().send("Which green tea does the user like?")
    assert turn.content == "Understood."
    await page.wait_for_status(turn, "1 memory recalled (1 not embedded yet: found by keywords)")


@pytest.mark.every_release
async def test_locked_database(host: RunningHost, plugin: InstalledFilter) -> None:
    """With the database locked for two seconds the turn ends well and the fact is saved."""
    page = await host.user("ann")
    learns(host.model, "tea", operations(new(TEA)))
    chat = page.new_chat()
    await chat.send("Hello")
    running = await chat.start("I like green tea.")
    locked = threading.Event()

    def lock() -> None:
        with contextlib.closing(sqlite3.connect(host.database, timeout=10)) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN EXCLUSIVE")
            locked.set()
            threading.Event().wait(LOCK_SECONDS)
            connection.execute("ROLLBACK")

    await asyncio.to_thread(lock)
    turn = await running.finish()
    assert turn.content == "Understood."
    await page.wait_for_status(turn, "Memory saved", timeout=20)
    assert len(await page.memories()) == 1


async def test_tables_that_cannot_be_created(start_host: StartHost) -> None:
    """Where our tables can't be had, a fact is saved all the same, once, also when regenerated."""
    host = await start_host()
    with contextlib.closing(sqlite3.connect(host.database, timeout=10)) as connection:
        for table in ("pending", "lease", "audit"):
            connection.execute(f"CREATE VIEW adaptive_memory_{table} AS SELECT 1 AS user_id")
        connection.commit()
    learns(host.model, "tea", operations(new(TEA)))
    await host.install_filter(PLUGIN, valves=HASTY)
    page = await host.user("ann")
    chat = page.new_chat()
    turn = await chat.send("I like green tea.")
    await page.wait_for_status(turn, "Memory saved", timeout=30)
    await chat.regenerate()
    await asyncio.sleep(1)
    assert len(await page.memories()) == 1
    assert len(host.model.requests_titled("# Extract memories")) == 1
    assert "turns wait in this process until the database answers" in host.log_text()


async def test_memories_switched_off(start_host: StartHost) -> None:
    """With the host's switch off nothing is written, and each chat is told once."""
    host = await start_host(ENABLE_MEMORIES="false")
    learns(host.model, "tea", operations(new(TEA)))
    await host.install_filter(PLUGIN, valves=HASTY)
    page = await host.user("ann")
    chat = page.new_chat()
    turn = await chat.send("I like green tea.")
    assert turn.content == "Understood."
    await page.wait_for_status(turn, "memories are switched off in this Open WebUI")
    again = await chat.send("I really like green tea.")
    await asyncio.sleep(1)
    assert page.statuses(again) == []
    assert host.query("SELECT * FROM memory") == []


async def test_missing_permission(start_host: StartHost) -> None:
    """A user without the permission gets no write and one clear reason."""
    host = await start_host(USER_PERMISSIONS_FEATURES_MEMORIES="false")
    learns(host.model, "tea", operations(new(TEA)))
    await host.install_filter(PLUGIN, valves=HASTY)
    page = await host.user("ann")
    turn = await page.new_chat().send("I like green tea.")
    assert turn.content == "Understood."
    await page.wait_for_status(turn, "you lack the permission to use memories")
    assert host.query("SELECT * FROM memory") == []
    assert host.model.requests_titled("# Extract memories") == []
