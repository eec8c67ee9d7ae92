"""Learning behind the turns: nothing lost, nothing twice, bounded in calls, and written down."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Hang, Say
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.extraction import (
    EXTRACT,
    Body,
    delete,
    learns,
    new,
    newest_words,
    operations,
    update,
)

PORTO = "User lives in Porto."
LISBON = "User lives in Lisbon."
CAT = "User has a cat called Miso."
JOB = "User works as a nurse."
OWNED = [f"User owns a {thing}." for thing in ("boat", "piano", "camera", "bicycle", "drum")]


def rows(host: RunningHost, table: str, page: Page) -> list[dict[str, Any]]:
    """A user's rows in a table of ours, but for the lease on the user."""
    found = host.query(f"SELECT * FROM adaptive_memory_{table} WHERE user_id = ?", page.user_id)
    return [row for row in found if row.get("state") != "lease"]


def host_vector(host: RunningHost, memory_id: str) -> tuple[str, NDArray[np.float32]]:
    """The vector that the host has given its vector database for a memory, and in which collection.

    (package chromadb: the log that the hosts' embedded database reads from)
    """
    path = host.server.data / "vector_db" / "chroma.sqlite3"
    query = (
        "SELECT topic, vector FROM embeddings_queue WHERE id = ? AND vector IS NOT NULL"
        " ORDER BY seq_id DESC"
    )
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        collection, raw = connection.execute(query, (memory_id,)).fetchone()
    return collection, np.frombuffer(raw, "<f4")


async def wait_for_learned(host: RunningHost, page: Page, count: int) -> None:
    """Wait until so many turns of a user are learned and none waits."""

    def learned() -> bool:
        return [one["state"] for one in rows(host, "pending", page)] == ["done"] * count

    await until(learned, 30, f"{count} learned turns")


async def test_quick_messages_are_learned_together(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """Two messages within the waiting time cost one model call; the newer answer shows the line."""
    await plugin.set_valves({"extraction_debounce_seconds": 8})
    page = await host.user("ann")

    def found(body: Body) -> dict[str, Any]:
        words = newest_words(body)
        return operations(*(new(fact) for fact in (PORTO, CAT) if fact.split()[-1] in words))

    learns(host.model, "I", found)
    chat = page.new_chat()
    first = await chat.send("I live in Porto.")
    second = await chat.send("I have a cat called Miso.")
    await page.wait_for_status(second, f"Memory saved: {PORTO} {CAT}")
    assert page.statuses(first) == []
    assert len(host.model.requests_titled(EXTRACT)) == 1
    await wait_for_learned(host, page, 2)


@pytest.mark.every_release
async def test_the_hosts_vectors_are_its_own(host: RunningHost, plugin: InstalledFilter) -> None:
    """What was learned has the vector in the host's search that the host gives it itself."""
    page = await host.user("ann")
    learns(host.model, "Porto", operations(new(PORTO)))
    turn = await page.new_chat().send("I live in Porto.")
    await page.wait_for_status(turn, f"Memory saved: {PORTO}")
    (memory,) = await page.request("GET", "/api/v1/memories/")
    former, ours = host_vector(host, memory["id"])
    await page.request("POST", "/api/v1/memories/reset")
    made_anew, its_own = host_vector(host, memory["id"])
    assert made_anew != former
    assert float(np.linalg.norm(its_own)) > 0.5
    np.testing.assert_allclose(ours, its_own, atol=1e-5)


async def test_turn_waits_in_the_database(host: RunningHost, plugin: InstalledFilter) -> None:
    """When the answer is complete the turn stands in the host's database; learned, it is empty."""
    await plugin.set_valves({"extraction_debounce_seconds": 4})
    page = await host.user("ann")
    learns(host.model, "Porto", operations(new(PORTO)))
    turn = await page.new_chat().send("I live in Porto.")
    (row,) = rows(host, "pending", page)
    assert (row["state"], row["message_id"]) == ("waiting", turn.user_message_id)
    assert host.model.requests_titled(EXTRACT) == []
    await page.wait_for_status(turn, f"Memory saved: {PORTO}")
    await wait_for_learned(host, page, 1)
    (row,) = rows(host, "pending", page)
    assert (row["payload"], row["journal"], row["model_calls"]) == ("", "", 1)


@pytest.mark.every_release
async def test_reloaded_plug_in_learns_what_waits(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """New code saved while a turn waits: it is learned once, by the old load or by the new one."""
    await plugin.set_valves({"extraction_debounce_seconds": 2})
    page = await host.user("ann")
    learns(host.model, "Porto", operations(new(PORTO)))
    await page.new_chat().send("I live in Porto.")
    await plugin.update(PLUGIN.read_text(encoding="utf-8") + "\n# edited\n")
    await page.new_chat().send("Good morning!")
    await wait_for_learned(host, page, len(rows(host, "pending", page)))
    assert [one.content.count("Porto") for one in await page.memories()] == [1]


async def test_limit_of_model_calls(host: RunningHost, plugin: InstalledFilter) -> None:
    """A user whose calls of this hour are used up is told so, and another one is not concerned."""
    await plugin.set_valves({"max_extractions_per_hour": 1})
    page, other = await host.user("ann"), await host.user("bob")
    learns(host.model, "Porto", operations(new(PORTO)))
    await page.wait_for_status(await page.new_chat().send("I live in Porto."), PORTO)
    turn = await page.new_chat().send("I have a cat called Miso.")
    await page.wait_for_status(turn, "the limit of 1 model calls for learning in an hour")
    assert len(host.model.requests_titled(EXTRACT)) == 1
    turn = await other.new_chat().send("I live in Porto.")
    await other.wait_for_status(turn, f"Memory saved: {PORTO}")


@pytest.mark.every_release
async def test_changes_are_written_down(host: RunningHost, plugin: InstalledFilter) -> None:
    """The audit table tells what was saved and changed, when, in which chat, by which message."""
    page = await host.user("ann")
    learns(host.model, "Porto", operations(new(PORTO, tags=["identity"])))
    chat = page.new_chat()
    told = await chat.send("I live in Porto.")
    await page.wait_for_status(told, "Memory saved")
    [memory] = await page.memories()
    learns(host.model, "moved", operations(update(memory.id, LISBON)))
    changed = await chat.send("I have moved to Lisbon.")
    await page.wait_for_status(changed, "Memory updated")
    await wait_for_learned(host, page, 2)
    entries = rows(host, "audit", page)
    assert [(one["kind"], one["memory_id"], one["chat_id"]) for one in entries] == [
        ("saved", memory.id, chat.id),
        ("updated", memory.id, chat.id),
    ]
    assert [one["message_id"] for one in entries] == [told.user_message_id, changed.user_message_id]


@pytest.mark.every_release
async def test_the_past_can_be_asked_for(host: RunningHost, plugin: InstalledFilter) -> None:
    """A changed fact tells in the prompt what it was before, on releases without history too."""
    page = await host.user("ann")
    learns(host.model, "Porto", operations(new(PORTO, tags=["identity"])))
    await page.wait_for_status(await page.new_chat().send("I live in Porto."), "Memory saved")
    [memory] = await page.memories()
    learns(host.model, "moved", operations(update(memory.id, LISBON)))
    turn = await page.new_chat().send("I have moved to Lisbon.")
    await page.wait_for_status(turn, f"Memory updated: {LISBON}")
    assert len(await page.memories()) == 1
    await page.new_chat().send("Where did I live before?")
    prompt = host.model.chat_requests()[-1].system_prompt
    assert all(
        one in prompt for one in ("User lives in Lisbon.", "(until 20", "User lives in Porto")
    )


@pytest.mark.every_release
async def test_too_many_memories_are_archived(host: RunningHost, plugin: InstalledFilter) -> None:
    """Over the limit the least important goes to the archive table, and the line says so."""
    await plugin.set_valves({"max_total_memories": 2})
    page = await host.user("ann")
    facts = [new(PORTO, importance=8), new(CAT, importance=2), new(JOB, importance=7)]
    learns(host.model, "Porto", operations(*facts[:2]))
    learns(host.model, "nurse", operations(facts[2]))
    turn = await page.new_chat().send("I live in Porto and have a cat called Miso.")
    await page.wait_for_status(turn, "Memory saved")
    turn = await page.new_chat().send("I work as a nurse.")
    await page.wait_for_status(turn, "Over the limit, so moved to the archive: ")
    kept = await page.memories()
    assert len(kept) == 2
    (archived,) = rows(host, "archive", page)
    assert archived["memory_id"] not in {one.id for one in kept}
    if kept[0].meta is not None:  # elsewhere no importance is known of a row
        assert CAT not in {one.content for one in kept}


async def told(host: RunningHost, page: Page, *facts: str) -> None:
    """Let a user have these memories, written by hand."""
    for fact in facts:
        await page.add_memory(fact)


async def test_many_deletions_are_asked_for(host: RunningHost, plugin: InstalledFilter) -> None:
    """More deletions than are meant in one turn wait for the user, who names those to go."""
    page = await host.user("ann")
    await told(host, page, *OWNED)
    ids = [one.id for one in await page.memories()]
    learns(host.model, "everything", operations(*(delete(one) for one in ids)))
    page.answers["input"] = lambda _: "1 3"
    turn = await page.new_chat().send("Forget everything that I own.")
    await page.wait_for_status(turn, "You are asked before deleting: ")
    await page.wait_for_status(turn, "Memory deleted: ")
    kept = [one.content for one in await page.memories()]
    assert len(kept) == 3
    asked = next(event.data["message"] for event in page.events if event.kind == "input")
    assert all(fact.rstrip(".") in asked for fact in OWNED)


@pytest.mark.every_release
async def test_nobody_answers(host: RunningHost, plugin: InstalledFilter) -> None:
    """A page that is gone deletes nothing, and keeps nobody waiting."""
    page = await host.user("ann")
    await told(host, page, *OWNED)
    ids = [one.id for one in await page.memories()]
    found = operations(*(delete(one, evidence="Forget everything that I own") for one in ids))
    learns(host.model, "everything", Hang(1.5, then=Say(json.dumps(found))))
    await page.new_chat().send("Forget everything that I own.")
    await page.disconnect()
    await page.connect()
    learns(host.model, "nurse", operations(new(JOB)))
    turn = await page.new_chat().send("I work as a nurse.")
    await page.wait_for_status(turn, f"Memory saved: {JOB}")
    assert len(await page.memories()) == len(OWNED) + 1


@pytest.mark.every_release
async def test_next_message_at_once(host: RunningHost, plugin: InstalledFilter) -> None:
    """A message that is sent while the last lesson is told reaches the model below the whole chat.

    Up to 0.11 the host's own way to store a status undoes a message that is stored meanwhile.
    """
    chat = (await host.user("ann")).new_chat()
    said: list[str] = []
    for number in range(12):
        said.append(f"I like the number {number}. {'It is a fine number. ' * 20}")
        await chat.send(said[-1])
        messages = host.model.chat_requests()[-1].messages
        assert [one["content"] for one in messages if one["role"] == "user"] == said
