"""Users who have told something, and what our tables hold of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.driver.extraction import learns, new, operations
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page

PORTO = "User lives in Porto."
CAT = "User has a cat called Miso."
SWEEP_IS_DUE = "DELETE FROM adaptive_memory_entries WHERE key = 'daily_sweep:'"
OWN_TABLES = ("vector",)
KINDS = (
    "archive",
    "audit",
    "chat",
    "chat_notes",
    "done",
    "suggestion",
    "waiting",
    *OWN_TABLES,
)


def our_rows(host: RunningHost, page: Page, kind: str) -> list[dict[str, Any]]:
    """A user's rows of a kind; of a change its kind and memory."""
    table = f"adaptive_memory_{kind if kind in OWN_TABLES else 'entries'}"
    if not host.query("SELECT 1 FROM sqlite_master WHERE name = ?", table):
        return []
    found = host.query(
        f"SELECT * FROM {table} WHERE user_id = ?", page.user_id
    )
    if kind in OWN_TABLES:
        return found
    mine = sorted(
        (row for row in found if row["kind"] == kind),
        key=lambda row: row["key"],
    )
    if kind == "audit":
        for row in mine:
            _, row["change"], row["memory_id"] = row["key"].split(":", 2)
    return mine


def held(host: RunningHost, page: Page) -> dict[str, int]:
    """How many rows of a user there are of each kind; kinds without any are left out."""
    counts = {kind: len(our_rows(host, page, kind)) for kind in KINDS}
    return {kind: number for kind, number in counts.items() if number}


async def told(host: RunningHost, page: Page, words: str, fact: str) -> None:
    """Let a user say something that is learned."""
    learns(host.model, words, operations(new(fact)))
    await page.say(words, f"Saved: {fact}")


async def lived(host: RunningHost, name: str) -> Page:
    """A user with two facts of two chats, whose vectors and states of chats have been written."""
    page = await host.user(name)
    await told(host, page, "I live in Porto.", PORTO)
    await told(host, page, "I have a cat called Miso.", CAT)
    await page.new_chat().send("What is my cat called, and where do I live?")
    await host.rest()
    assert {"audit", "chat", "done", "vector"} <= held(host, page).keys()
    return page


async def sweep_again(
    host: RunningHost, plugin: InstalledFilter, source: Path
) -> None:
    """Let the day's sweep be due, which a worker that has just begun does with the next turn."""
    host.change(SWEEP_IS_DUE)
    await plugin.update(
        f"{source.read_text(encoding='utf-8')}\n# a worker that has just begun\n"
    )
