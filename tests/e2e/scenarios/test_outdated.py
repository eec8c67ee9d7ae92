"""What a change has silently made untrue: ended, told, not recalled, brought back on request."""

from __future__ import annotations

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.scenarios.extraction import CHECK, checks, learns, new, operations, update

HOME = "User lives in Sheffield."
MOVED = "User lives in Horsforth."
CYCLES = "User cycles to the office in Sheffield."
SISTER = "User's sister Jess is a carpenter."
ASKED = "How do I get to the office?"


async def settled(host: RunningHost, page: Page) -> dict[str, str]:
    """Let a user have told where they live and how they get to work; the ids by what is said."""
    told = {HOME: "identity", CYCLES: "behavior", SISTER: "relationship"}
    facts = [new(content, tags=[tag]) for content, tag in told.items()]
    learns(host.model, "cycle", operations(*facts))
    words = "I live in Sheffield and cycle to the office. My sister Jess is a carpenter."
    turn = await page.new_chat().send(words)
    await page.wait_for_status(turn, "Memory saved")
    rows = await page.memories()
    return {content: one.id for content in told for one in rows if content in one.content}


async def move(host: RunningHost, page: Page, ids: dict[str, str], status: str) -> str:
    """Say that the user has moved, and wait for the line of it."""
    learns(host.model, "Horsforth", operations(update(ids[HOME], MOVED)))
    turn = await page.new_chat().send("I live in Horsforth now.")
    return (await page.wait_for_status(turn, status))["description"]


async def recalled(host: RunningHost, page: Page) -> str:
    """What the chat's model is told of the user when asked for the way to work."""
    await page.new_chat().send(ASKED)
    return host.model.chat_requests()[-1].system_prompt


@pytest.mark.every_release
async def test_ended_with_the_move(host: RunningHost, plugin: InstalledFilter) -> None:
    """The way to the former office is gone with the home, told, and comes back when asked for."""
    page = await host.user("ann")
    ids = await settled(host, page)
    assert CYCLES in await recalled(host, page)
    because = "the office in Sheffield is not where they live now"
    checks(host.model, {"id": ids[CYCLES], "because": because, "until": None, "now": ""})
    line = await move(host, page, ids, "Also no longer true: ")
    assert line.endswith(f"Memory updated: {MOVED} · Also no longer true: {CYCLES}")
    (asked,) = host.model.requests_titled(CHECK)
    assert f"- Before: {HOME}\n  Now: {MOVED}" in asked.user_text
    assert f"- id={ids[CYCLES]} | {CYCLES}" in asked.user_text
    assert f"id={ids[HOME]} " not in asked.user_text
    kept = " ".join(one.content for one in await page.memories())
    assert CYCLES not in kept
    assert SISTER in kept
    assert CYCLES not in await recalled(host, page)
    audit = "SELECT kind, memory_id FROM adaptive_memory_audit WHERE user_id = ? AND kind = 'ended'"
    assert host.query(audit, page.user_id) == [{"kind": "ended", "memory_id": ids[CYCLES]}]

    page.answers["confirmation"] = True
    turn = await page.new_chat().send("Restore my archived memories.")
    await page.wait_for_status(turn, "Restored: 1 memory.")
    assert any(CYCLES in one.content for one in await page.memories())


async def test_rewritten_as_past(host: RunningHost, plugin: InstalledFilter) -> None:
    """What the model can say as past stays as that."""
    page = await host.user("ann")
    ids = await settled(host, page)
    past = "User cycled to the office in Sheffield until November 2026."
    because = "they left Sheffield"
    checks(host.model, {"id": ids[CYCLES], "because": because, "until": None, "now": past})
    await move(host, page, ids, f"Also no longer true: {CYCLES}")
    assert any(past in one.content for one in await page.memories())


async def test_switched_off(host: RunningHost, plugin: InstalledFilter) -> None:
    """With the valve off nobody is asked and nothing ends."""
    await plugin.set_valves({"check_outdated_memories": False})
    page = await host.user("ann")
    ids = await settled(host, page)
    line = await move(host, page, ids, "Memory updated: ")
    assert line.endswith(f"Memory updated: {MOVED}")
    assert host.model.requests_titled(CHECK) == []
    assert len(await page.memories()) == 3
