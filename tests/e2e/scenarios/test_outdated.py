"""What a change has silently made untrue: ended, told, not recalled, brought back on request."""

from __future__ import annotations

import re

import pytest

from tests.e2e.driver.extraction import (
    CHECK,
    checks,
    learns,
    new,
    operations,
    update,
)
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.scenarios.told_facts import our_rows

HOME = "User lives in Sheffield."
MOVED = "User lives in Horsforth."
CYCLES = "User cycles to the office in Sheffield."
SISTER = "User's sister Jess is a carpenter."
ASKED = "How do I get to the office?"


async def recalled(host: RunningHost, page: Page) -> str:
    """What the chat's model is told of the user when asked for the way to work."""
    await page.new_chat().send(ASKED)
    return host.model.last_prompt


@pytest.mark.every_release
async def test_ended_with_the_move(host: RunningHost, page: Page) -> None:
    """The way to the former office is gone with the home, told, and comes back when asked for."""
    told = {HOME: "identity", CYCLES: "behavior", SISTER: "relationship"}
    facts = [new(content, tags=[tag]) for content, tag in told.items()]
    learns(host.model, "cycle", operations(*facts))
    words = "I live in Sheffield and cycle to the office. My sister Jess is a carpenter."
    await page.say(words, "Saved")
    rows = await page.memories()
    ids = {
        content: one.id
        for content in told
        for one in rows
        if content in one.content
    }
    assert CYCLES in await recalled(host, page)
    because = "the office in Sheffield is not where they live now"
    checks(
        host.model,
        {"id": ids[CYCLES], "because": because, "until": None, "now": ""},
    )
    learns(host.model, "Horsforth", operations(update(ids[HOME], MOVED)))
    line = f"Updated: {MOVED} · Also no longer true: {CYCLES}"
    await page.say("I live in Horsforth now.", line)
    (asked,) = host.model.requests_titled(CHECK)
    assert f"- Before: {HOME}\n  Now: {MOVED}" in asked.user_text
    assert re.search(rf"^#\d {CYCLES}", asked.user_text, re.MULTILINE)
    assert not re.search(rf"^#\d {HOME}", asked.user_text, re.MULTILINE)
    kept = " ".join(one.content for one in await page.memories())
    assert CYCLES not in kept
    assert SISTER in kept
    assert CYCLES not in await recalled(host, page)
    changes = [
        (one["change"], one["memory_id"])
        for one in our_rows(host, page, "audit")
    ]
    assert [one for one in changes if one[0] == "ended"] == [
        ("ended", ids[CYCLES])
    ]

    await page.say(
        "Restore my archived memories",
        "Nothing was changed: you did not confirm it",
    )
    assert (
        page.questions("confirmation")[-1]["title"]
        == "This would come back from the archive: 1 memory."
    )
    page.answers["confirmation"] = True
    await page.say(
        "Bitte hol meine archivierten Erinnerungen zurück!",
        "Restored: 1 memory.",
    )
    assert any(CYCLES in one.content for one in await page.memories())
