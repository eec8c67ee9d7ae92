"""Embedding, database and tables failing, and memories switched off: the chat goes on."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Iterator

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.extraction import learns, new, operations

TEA = "User likes green tea."
LOCK_SECONDS = 2.0


@pytest.mark.every_release
async def test_locked_database(host: RunningHost, page: Page) -> None:
    """With the database locked for two seconds the turn ends well and the fact is saved."""
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
    await page.wait_for_status(turn, "Saved")
    assert len(await page.memories()) == 1


@contextlib.contextmanager
def views_in_place_of(host: RunningHost, *tables: str) -> Iterator[None]:
    """Let tables of ours be had by nobody: of each name there is a view, which nobody can write."""
    found = host.query("SELECT name FROM sqlite_master WHERE type = 'table'")
    known = [one for one in tables if one in {row["name"] for row in found}]
    for table in known:
        host.change(f"ALTER TABLE {table} RENAME TO {table}_elsewhere")
    for table in tables:
        host.change(f"CREATE VIEW {table} AS SELECT 1 AS user_id")
    try:
        yield
    finally:
        for table in tables:
            host.change(f"DROP VIEW {table}")
        for table in known:
            host.change(f"ALTER TABLE {table}_elsewhere RENAME TO {table}")


async def test_tables_that_cannot_be_had_for_a_while(
    host: RunningHost, plugin: InstalledFilter, page: Page
) -> None:
    """While our tables can't be had a turn waits for them; then it is learned, once."""
    learns(host.model, "tea", operations(new(TEA)))
    await plugin.uninstall()
    names = (f"adaptive_memory_{name}" for name in ("pending", "lease", "entries"))
    chat = page.new_chat()
    with views_in_place_of(host, *names):
        fresh = await host.kept_filter(PLUGIN)
        turn = await chat.send("I like green tea.")
        assert turn.content == "Understood."
        assert await page.memories() == []
    await page.wait_for_status(turn, "Saved", timeout=60)
    await chat.regenerate()
    await host.rest()
    await fresh.uninstall()  # it would remember for a while that there are no tables
    assert len(await page.memories()) == 1
    assert len(host.model.requests_titled("# Extract memories")) == 1


@pytest.mark.every_release
async def test_memories_switched_off(host: RunningHost, page: Page) -> None:
    """With the host's switch off nothing is written, and each chat is told once."""
    learns(host.model, "tea", operations(new(TEA)))
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
