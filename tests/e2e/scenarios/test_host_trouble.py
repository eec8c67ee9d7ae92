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
        with contextlib.closing(
            sqlite3.connect(host.database, timeout=10)
        ) as connection:
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


async def test_table_of_another_release(host: RunningHost, page: Page) -> None:
    """A table of another shape is told once to the user, with its cause in the log and the doctor.

    When it is as it should be, turns are learned again.
    """
    learns(host.model, "tea", operations(new(TEA)))
    chat, admin = page.new_chat(), host.admin.new_chat()
    await chat.send("Hello")
    await host.rest()
    since = host.log_length()
    host.change(
        "ALTER TABLE adaptive_memory_entries RENAME COLUMN body TO words"
    )
    try:
        turn = await chat.send("I like green tea.")
        told = await page.wait_for_status(
            turn, "Adaptive Memory can't work here"
        )
        again = await chat.send("I really like green tea.")
        await host.rest()
        checked = await admin.send("/memory doctor")
    finally:
        host.change(
            "ALTER TABLE adaptive_memory_entries RENAME COLUMN words TO body"
        )
    assert turn.content == again.content == "Understood."
    assert "body" not in told["description"]
    assert page.statuses(again) == []
    log = host.log_text(since)
    assert "adaptive_memory_entries" in log
    assert "body" in log
    assert "refuses what memory needs" in checked.content
    assert "body" in checked.content
    await page.say("I do like green tea.", "Saved")


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
            "you lack the permission",
        ),
    ],
    ids=["switched off", "not permitted"],
)
async def test_memories_not_to_be_had(
    host: RunningHost,
    page: Page,
    path: str,
    change: dict[str, Any],
    reason: str,
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
