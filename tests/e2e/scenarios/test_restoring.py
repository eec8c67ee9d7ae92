"""Restoring by what is typed: what pruning archived comes back once the page has said yes."""

from __future__ import annotations

from typing import Any

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.scenarios.extraction import learns, new, operations

FACTS = {
    "I live in Porto.": "User lives in Porto.",
    "I have a cat called Miso.": "User has a cat called Miso.",
    "I work as a nurse.": "User works as a nurse.",
    "I play the cello.": "User plays the cello.",
}
WORDS = "Restore my archived memories"


def archived(host: RunningHost, page: Page) -> int:
    """How many memories of a user are archived."""
    query = "SELECT count(*) AS number FROM adaptive_memory_archive WHERE user_id = ?"
    return int(host.query(query, page.user_id)[0]["number"])


def questions(page: Page) -> list[dict[str, Any]]:
    """What the page was asked."""
    return [event.data for event in page.events if event.kind == "confirmation"]


async def test_pruned_memories_come_back(host: RunningHost, plugin: InstalledFilter) -> None:
    """Declined, full, with some room and with enough: what came back is told, and recalled."""
    await plugin.set_valves({"max_total_memories": 2})
    page = await host.user("ann")
    turn = await page.new_chat().send(WORDS)
    await page.wait_for_status(turn, "Nothing is archived")
    for words, fact in FACTS.items():
        learns(host.model, words, operations(new(fact)))
        await page.wait_for_status(await page.new_chat().send(words), f"Memory saved: {fact}")
    assert (len(await page.memories()), archived(host, page)) == (2, 2)

    turn = await page.new_chat().send(WORDS)
    line = "Nothing restored. Still archived: 2 (the limit is 2 memories)."
    await page.wait_for_status(turn, line)
    assert questions(page) == []

    await plugin.set_valves({"max_total_memories": 3})
    turn = await page.new_chat().send(WORDS)
    await page.wait_for_status(turn, "You are asked before anything is restored")
    await page.wait_for_status(turn, "Nothing restored: you did not confirm it")
    assert questions(page)[-1]["title"] == "Restore archived memories?"
    assert (await page.complete(WORDS)).status == 200
    await page.temporary_chat().send(WORDS)
    await host.rest()
    assert (len(await page.memories()), archived(host, page)) == (2, 2)

    page.answers["confirmation"] = True
    turn = await page.new_chat().send("Bitte hol meine archivierten Erinnerungen zurück!")
    line = "Restored: 1 memory. Still archived: 1 (the limit is 3 memories)."
    await page.wait_for_status(turn, line)
    assert (len(await page.memories()), archived(host, page)) == (3, 1)

    await plugin.set_valves({"save_mode": "off"})
    turn = await page.new_chat().send(WORDS)
    await page.wait_for_status(turn, "Restored: 1 memory.")
    contents = " ".join(memory.content for memory in await page.memories())
    assert all(fact in contents for fact in FACTS.values())
    assert archived(host, page) == 0
    await page.new_chat().send("Where do I live, and what is my cat called?")
    assert FACTS["I live in Porto."] in host.model.chat_requests()[-1].system_prompt
    waiting = (
        "SELECT message_id FROM adaptive_memory_pending WHERE user_id = ? AND state <> 'lease'"
    )
    known = {one["message_id"] for one in host.query(waiting, page.user_id)}
    assert len(known) == len(FACTS)
