"""New code, new valves, edits in Settings: what changes between and during turns."""

from __future__ import annotations

import json

import pytest

from tests.e2e.driver.extraction import (
    EXTRACT,
    is_extraction_of,
    learns,
    new,
    operations,
)
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Fail, Hang, Say
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.told_facts import our_rows

TEA = "User likes green tea."
QUESTION = "Which green tea does the user like?"
# The old load has noticed by then that it serves no more.
NOTICED_SECONDS = 5.0


@pytest.mark.every_release
async def test_edits_in_settings_are_seen(
    host: RunningHost, page: Page
) -> None:
    """A memory added, edited or deleted in Settings is so in the very next turn."""
    chat = page.new_chat()

    async def prompt() -> str:
        await chat.send(QUESTION)
        return host.model.last_prompt

    assert "green tea" not in await prompt()
    memory = await page.add_memory(TEA)
    assert TEA in await prompt()
    await page.update_memory(
        memory.id, "User likes green tea from Japan only."
    )
    changed = await prompt()
    assert "from Japan only" in changed
    assert TEA not in changed
    await page.delete_memory(memory.id)
    assert "green tea" not in await prompt()
    await page.add_memory(TEA)
    assert TEA in await prompt()
    await page.clear_memories()
    assert "green tea" not in await prompt()


@pytest.mark.every_release
async def test_new_code_while_a_turn_is_learned(
    host: RunningHost, plugin: InstalledFilter, page: Page
) -> None:
    """Saving new code lets the running extraction finish, and the next turn runs the new code."""
    answer = Say(json.dumps(operations(new(TEA))))
    host.model.when(is_extraction_of("tea"), Hang(1, then=answer))
    chat = page.new_chat()
    turn = await chat.send("I like green tea.")
    await host.model.wait_for_request(lambda request: request.title == EXTRACT)
    source = PLUGIN.read_text(encoding="utf-8")
    saying = "_filled(LANGUAGE.get(),name,values)"
    assert saying in source
    other = f'{saying}.replace("Saved", "Written down")'
    await plugin.update(source.replace(saying, other))
    learns(host.model, "coffee", operations(new("User likes black coffee.")))
    later = await chat.send("I like black coffee.")
    # The old code, which has this user's turns in its hands, may take it along.
    await page.wait_for_status(later, "User likes black coffee.")
    await page.wait_for_status(turn, f"Saved: {TEA}")
    learns(host.model, "cocoa", operations(new("User drinks cocoa at night.")))
    last = await chat.send("I drink cocoa at night.")
    await page.wait_for_status(
        last, "Written down: User drinks cocoa at night."
    )
    assert len(await page.memories()) == 3


@pytest.mark.every_release
@pytest.mark.parametrize("mode", ["replace", "keep"])
async def test_native_memory(host: RunningHost, page: Page, mode: str) -> None:
    """`replace` leaves our block alone in the prompt; with `keep` the host's stands beside it."""
    await host.set_valves({"native_memory": mode})
    await page.add_memory(TEA)
    await page.new_chat().send(QUESTION, features={"memory": True})
    prompt = host.model.last_prompt
    native = "<memory_context>" in prompt or "User Context:" in prompt
    assert native == (mode == "keep")
    assert "<adaptive_memory>" in prompt
    assert prompt.count(TEA) == (2 if mode == "keep" else 1)
    tools = str(host.model.chat_requests()[-1].body.get("tools", ""))
    if mode == "replace":
        assert "add_memory" not in tools
    # With the user's memory switch off in the page our block comes as usual.
    await page.new_chat().send(QUESTION, features={"memory": False})
    assert f"- “{TEA}”" in host.model.last_prompt


@pytest.mark.every_release
async def test_deleted_function(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """A function that is deleted asks no model any more: what runs is cut off, and none retries."""
    failing, busy = await host.user("ann"), await host.user("bob")
    learns(host.model, "Porto", Fail(500))
    learns(host.model, "Lisbon", Hang())
    await failing.say("I live in Porto.", "it will be tried again")
    tries = len(host.model.requests_titled(EXTRACT))
    await busy.new_chat().send("I live in Lisbon.")
    await until(
        lambda: len(host.model.requests_titled(EXTRACT)) > tries,
        30,
        "a call that hangs",
    )
    since = host.log_length()
    await plugin.uninstall()

    def given_back() -> bool:
        leases = our_rows(host, busy, "lease")
        return not [one for one in leases if one["key"].startswith("turns:")]

    await until(given_back, NOTICED_SECONDS, "the turn in hand is given back")
    await host.rest()
    assert len(host.model.requests_titled(EXTRACT)) == tries + 1
    assert "Task exception was never retrieved" not in host.log_text(since)
