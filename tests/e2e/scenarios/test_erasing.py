"""Erasing by what is typed: asked in the page, gone everywhere, and what stays is sealed."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.extraction import learns, new, operations, update
from tests.e2e.scenarios.told_facts import CAT, PORTO, answered, held, lived, told

LISBON = "User lives in Lisbon."
JOB = "User works as a nurse."
# No sealed text has a blank, so none of these stands in one by chance.
WORDS = (" porto", " lisbon", " miso", " cat ", " a nurse")
# Chroma's own tables (package chromadb), which the hosts keep beside their database.
VECTORS = (
    "SELECT count(*) FROM embeddings JOIN segments ON embeddings.segment_id = segments.id"
    " JOIN collections ON segments.collection = collections.id WHERE collections.name = ?"
)


def host_vectors(host: RunningHost, page: Page) -> int:
    """How many vectors of a user's memories the host's own database of vectors has."""
    path = host.server.data / "vector_db" / "chroma.sqlite3"
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return int(connection.execute(VECTORS, (f"user-memory-{page.user_id}",)).fetchone()[0])


def questions(page: Page) -> list[dict[str, Any]]:
    """What the page was asked."""
    return [event.data for event in page.events if event.kind == "input"]


@pytest.mark.every_release
async def test_everything_is_erased(host: RunningHost, plugin: InstalledFilter) -> None:
    """After the word was typed nothing of the user is left anywhere; another user's all is."""
    page, other = await lived(host, "ann"), await lived(host, "bob")
    kept, vectors = held(host, other), host_vectors(host, other)
    assert (host_vectors(host, page), vectors) == (2, 2)
    turn = await answered(page, "Forget everything about me", "erase")
    await page.wait_for_status(turn, "Erased: 2 memories and everything noted about them.")
    (asked,) = questions(page)
    assert asked["title"] == "Erase everything that is remembered about you?"
    assert "2 memories" in asked["message"]
    assert await page.memories() == []
    assert host_vectors(host, page) == 0
    await host.rest()
    assert held(host, page) == {}
    assert len(await other.memories()) == 2
    assert (held(host, other), host_vectors(host, other)) == (kept, vectors)
    await page.new_chat().send("Where do I live?")
    assert "Porto" not in host.model.chat_requests()[-1].system_prompt
    await told(host, page, "I live in Porto.", PORTO)


async def test_erased_though_it_is_switched_off(host: RunningHost, plugin: InstalledFilter) -> None:
    """Who has switched memory off can still have everything erased; nothing else is done then."""
    page = await lived(host, "ann")
    await plugin.set_user_valves(page, {"enabled": False})
    before = held(host, page)
    silent = await page.new_chat().send("I work as a nurse. Where do I live?")
    assert "<adaptive_memory>" not in host.model.chat_requests()[-1].system_prompt
    await host.rest()
    assert page.statuses(silent) == []
    assert held(host, page) == before
    turn = await answered(page, "Forget everything about me", "erase")
    await page.wait_for_status(turn, "Erased: 2 memories")
    assert await page.memories() == []
    await host.rest()
    assert held(host, page) == {}


async def test_declined(host: RunningHost, plugin: InstalledFilter) -> None:
    """Without the word nothing goes, and the request itself is neither learned nor kept."""
    page = await lived(host, "ann")
    before = held(host, page)
    turn = await answered(page, "Please forget everything about me.", "no")
    await page.wait_for_status(turn, "You are asked before anything is erased")
    line = 'Nothing erased: "erase" was expected, but something else was typed'
    await page.wait_for_status(turn, line)
    assert len(await page.memories()) == 2
    assert host_vectors(host, page) == 2
    after = held(host, page)
    assert {**after, "chat": 0} == {**before, "chat": 0}
    waiting = "SELECT message_id FROM adaptive_memory_pending WHERE user_id = ?"
    assert turn.user_message_id not in {
        one["message_id"] for one in host.query(waiting, page.user_id)
    }


@pytest.mark.every_release
async def test_this_chat_is_erased(host: RunningHost, plugin: InstalledFilter) -> None:
    """What was learned in this chat goes, here and in our tables; what another chat told stays."""
    page = await host.user("ann")
    await told(host, page, "I live in Porto.", PORTO)
    chat = await told(host, page, "I have a cat called Miso.", CAT)
    await told(host, page, "I work as a nurse.", JOB, chat)
    turn = await answered(page, "Forget what I told you in this chat.", "erase", chat)
    await page.wait_for_status(turn, "Erased: 2 memories")
    (left,) = await page.memories()
    assert PORTO in left.content  # 0.9 keeps tags and bank in it
    assert host_vectors(host, page) == 1
    audit = host.query("SELECT * FROM adaptive_memory_audit WHERE user_id = ?", page.user_id)
    assert chat.id not in {one["chat_id"] for one in audit}
    assert len(audit) == 1


async def test_today_is_erased(host: RunningHost, plugin: InstalledFilter) -> None:
    """What was learned today goes, in German too, by the German word."""
    page = await host.user("ann")
    await told(host, page, "I live in Porto.", PORTO)
    turn = await answered(page, "Vergiss, was ich dir heute gesagt habe", "löschen")
    await page.wait_for_status(turn, "Erased: 1 memory")
    assert await page.memories() == []


async def test_api_erases_nothing(host: RunningHost, plugin: InstalledFilter) -> None:
    """A program that sends the words is not asked, so nothing is erased."""
    page = await lived(host, "ann")
    assert (await page.complete("Forget everything about me")).status == 200
    await host.rest()
    assert len(await page.memories()) == 2
    assert questions(page) == []


async def test_temporary_chat(host: RunningHost, plugin: InstalledFilter) -> None:
    """Everything can be erased from a temporary chat, too."""
    page = await lived(host, "ann")
    turn = await answered(page, "Forget everything", "erase", page.temporary_chat())
    await page.wait_for_status(turn, "Erased: 2 memories")
    assert await page.memories() == []


async def test_texts_are_sealed(host: RunningHost, plugin: InstalledFilter) -> None:
    """No column of our tables holds a word of the user: waiting, learned, changed or archived."""
    await plugin.set_valves({"max_total_memories": 1, "extraction_debounce_seconds": 2})
    page = await host.user("ann")
    await told(host, page, "I live in Porto.", PORTO)
    (memory,) = await page.memories()
    learns(host.model, "moved", operations(update(memory.id, LISBON)))
    chat = page.new_chat()
    await page.wait_for_status(await chat.send("I have moved to Lisbon."), "Memory updated")
    learns(host.model, "cat", operations(new(CAT)))
    turn = await page.new_chat().send("I have a cat called Miso.")
    assert sealed_texts(host, page, "pending", "payload")
    await page.wait_for_status(turn, "moved to the archive")
    await chat.send("Where do I live?")
    await until(lambda: "chat" in held(host, page), 30, "the state of a chat")
    for kind, columns in (
        ("audit", ["before"]),
        ("archive", ["content"]),
        ("chat", ["state"]),
    ):
        assert sealed_texts(host, page, kind, *columns)
    for kind in held(host, page):
        for row in host.query(
            f"SELECT * FROM adaptive_memory_{kind} WHERE user_id = ?", page.user_id
        ):
            text = "\n".join(map(str, row.values())).casefold()
            assert [word for word in WORDS if word in text] == [], kind


def sealed_texts(host: RunningHost, page: Page, kind: str, *columns: str) -> bool:
    """Whether a table has texts of a user, and all of them are sealed."""
    rows = host.query(f"SELECT * FROM adaptive_memory_{kind} WHERE user_id = ?", page.user_id)
    texts = [str(row[column]) for row in rows for column in columns if row[column]]
    return bool(texts) and all(text.startswith("am1:") for text in texts)
