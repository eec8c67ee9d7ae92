"""The database failing, and memories switched off: the chat goes on."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from typing import Any

import pytest

from tests.e2e.driver.extraction import EXTRACT, learns, new, operations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page

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


@pytest.mark.every_release
@pytest.mark.parametrize(
    ("path", "change", "reason"),
    [
        (
            "/api/v1/auths/admin/config",
            {"ENABLE_MEMORIES": False},
            "memories are switched off in this Open WebUI",
        ),
        (
            "/api/v1/users/default/permissions",
            {"features": {"memories": False}},
            "you lack the permission to use memories",
        ),
    ],
    ids=["switched off", "not permitted"],
)
async def test_memories_not_to_be_had(
    host: RunningHost, page: Page, path: str, change: dict[str, Any], reason: str
) -> None:
    """Without the host's switch or permission nothing is written; each chat is told why, once."""
    learns(host.model, "tea", operations(new(TEA)))
    chat = page.new_chat()
    async with host.admin_settings(path, change):
        turn = await chat.send("I like green tea.")
        assert turn.content == "Understood."
        await page.wait_for_status(turn, reason)
        again = await chat.send("I really like green tea.")
        await host.rest()
    assert page.statuses(again) == []
    assert await page.memories() == []
    assert host.model.requests_titled(EXTRACT) == []
