"""Restoring by what is typed: what pruning archived comes back once the page has said yes."""

from __future__ import annotations

from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.scenarios.extraction import learns, new, operations
from tests.e2e.scenarios.told_facts import our_rows

FACTS = {
    "I live in Porto.": "User lives in Porto.",
    "I have a cat called Miso.": "User has a cat called Miso.",
    "I work as a nurse.": "User works as a nurse.",
    "I play the cello.": "User plays the cello.",
}
WORDS = "Restore my archived memories"


def archived(host: RunningHost, page: Page) -> int:
    """How many memories of a user are archived."""
    return len(our_rows(host, page, "archive"))


async def test_pruned_memories_come_back(host: RunningHost, page: Page) -> None:
    """Declined, full, with some room and with enough: what came back is told, and recalled."""
    await host.set_valves({"max_total_memories": 2})
    await page.say(WORDS, "Nothing is archived")
    for words, fact in FACTS.items():
        learns(host.model, words, operations(new(fact)))
        await page.say(words, f"Saved: {fact}")
    assert (len(await page.memories()), archived(host, page)) == (2, 2)

    turn = await page.new_chat().send(WORDS)
    line = "Nothing restored. Still archived: 2 (the limit is 2 memories)."
    await page.wait_for_status(turn, line)
    assert page.questions("confirmation") == []

    await host.set_valves({"max_total_memories": 3})
    turn = await page.say(WORDS, "You are asked before anything is restored")
    await page.wait_for_status(turn, "Nothing restored: you did not confirm it")
    assert page.questions("confirmation")[-1]["title"] == "Restore archived memories?"
    assert (await page.complete(WORDS)).status == 200
    await page.temporary_chat().send(WORDS)
    await host.rest()
    assert (len(await page.memories()), archived(host, page)) == (2, 2)

    page.answers["confirmation"] = True
    turn = await page.new_chat().send("Bitte hol meine archivierten Erinnerungen zurück!")
    line = "Restored: 1 memory. Still archived: 1 (the limit is 3 memories)."
    await page.wait_for_status(turn, line)
    assert (len(await page.memories()), archived(host, page)) == (3, 1)

    await host.set_valves({"save_mode": "off"})
    await page.say(WORDS, "Restored: 1 memory.")
    contents = " ".join(memory.content for memory in await page.memories())
    assert all(fact in contents for fact in FACTS.values())
    assert archived(host, page) == 0
    await page.new_chat().send("Where do I live, and what is my cat called?")
    assert FACTS["I live in Porto."] in host.model.last_prompt
    assert len(our_rows(host, page, "pending")) == len(FACTS)
