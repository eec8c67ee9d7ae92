"""Embedding, database and tables failing, and memories switched off: the chat goes on."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Iterator

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.replies import Fail, Hang
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.extraction import learns, new, operations, update

TEA = "User likes green tea."
LOCK_SECONDS = 2.0


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
    host.model.trouble_embeddings(Hang())
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
    await page.wait_for_status(turn, "Memory saved")
    assert len(await page.memories()) == 1


@contextlib.contextmanager
def views_in_place_of(host: RunningHost, *tables: str) -> Iterator[None]:
    """Let tables of ours be had by nobody: of each name there is a view, which nobody can write."""

    def execute(*statements: str) -> None:
        with contextlib.closing(sqlite3.connect(host.database, timeout=30)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    found = host.query("SELECT name FROM sqlite_master WHERE type = 'table'")
    known = [one for one in tables if one in {row["name"] for row in found}]
    for table in known:
        execute(f"ALTER TABLE {table} RENAME TO {table}_elsewhere")
    for table in tables:
        execute(f"CREATE VIEW {table} AS SELECT 1 AS user_id")
    try:
        yield
    finally:
        for table in tables:
            execute(f"DROP VIEW {table}")
        for table in known:
            execute(f"ALTER TABLE {table}_elsewhere RENAME TO {table}")


async def test_tables_that_cannot_be_had_for_a_while(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """While our tables can't be had a turn waits for them; then it is learned, once."""
    page = await host.user("ann")
    learns(host.model, "tea", operations(new(TEA)))
    await plugin.uninstall()
    names = (f"adaptive_memory_{name}" for name in ("pending", "lease", "audit"))
    chat = page.new_chat()
    with views_in_place_of(host, *names):
        fresh = await host.kept_filter(PLUGIN)
        turn = await chat.send("I like green tea.")
        assert turn.content == "Understood."
        assert await page.memories() == []
    await page.wait_for_status(turn, "Memory saved", timeout=60)
    await chat.regenerate()
    await host.rest()
    await fresh.uninstall()  # it would remember for a while that there are no tables
    assert len(await page.memories()) == 1
    assert len(host.model.requests_titled("# Extract memories")) == 1


@contextlib.contextmanager
def trigger_on_memories(host: RunningHost, event: str, statement: str) -> Iterator[None]:
    """Let the database undo a write behind the host's back: the host goes on to report success."""

    def execute(*statements: str) -> None:
        with contextlib.closing(sqlite3.connect(host.database, timeout=30)) as connection:
            for one in statements:
                connection.execute(one)
            connection.commit()

    execute(f"CREATE TRIGGER undone AFTER {event} ON memory BEGIN {statement}; END")
    try:
        yield
    finally:
        execute("DROP TRIGGER undone")


async def test_write_that_is_only_reported(host: RunningHost, plugin: InstalledFilter) -> None:
    """A write that the host reports but does not keep is told as not saved, new or changed."""
    ann, bob = await host.user("ann"), await host.user("bob")
    learns(host.model, "green", operations(new(TEA)))
    with trigger_on_memories(host, "INSERT", "DELETE FROM memory WHERE id = new.id"):
        turn = await ann.new_chat().send("I like green tea.")
        await ann.wait_for_status(turn, f"Could not be saved: {TEA}")
        assert await ann.memories() == []

    known = await bob.add_memory(TEA)
    learns(host.model, "black", operations(update(known.id, "User likes black tea.")))
    stays = "UPDATE memory SET content = old.content WHERE id = new.id"
    with trigger_on_memories(host, "UPDATE OF content", stays):
        turn = await bob.new_chat().send("I have switched to black tea.")
        await bob.wait_for_status(turn, "Could not be saved: User likes black tea.")
        assert [memory.content for memory in await bob.memories()] == [TEA]


@pytest.mark.every_release
async def test_memories_switched_off(host: RunningHost, plugin: InstalledFilter) -> None:
    """With the host's switch off nothing is written, and each chat is told once."""
    learns(host.model, "tea", operations(new(TEA)))
    page = await host.user("ann")
    chat = page.new_chat()
    async with host.admin_settings("/api/v1/auths/admin/config", {"ENABLE_MEMORIES": False}):
        turn = await chat.send("I like green tea.")
        assert turn.content == "Understood."
        await page.wait_for_status(turn, "memories are switched off in this Open WebUI")
        again = await chat.send("I really like green tea.")
        await host.rest()
    assert page.statuses(again) == []
    assert await page.memories() == []


@pytest.mark.every_release
async def test_missing_permission(host: RunningHost, plugin: InstalledFilter) -> None:
    """A user without the permission gets no write and one clear reason."""
    learns(host.model, "tea", operations(new(TEA)))
    without = {"features": {"memories": False}}
    async with host.admin_settings("/api/v1/users/default/permissions", without):
        page = await host.user("ann")
        turn = await page.new_chat().send("I like green tea.")
        assert turn.content == "Understood."
        await page.wait_for_status(turn, "you lack the permission to use memories")
    assert await page.memories() == []
    assert host.model.requests_titled("# Extract memories") == []
