"""New code of the plug-in, or none any more, while a turn of the old load waits or is worked on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Fail, Hang
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.extraction import EXTRACT, learns, new, operations

PORTO = "User lives in Porto."
# A turn that failed is tried again after 15 s by the load of the plug-in that serves.
RETRY_SECONDS = 15.0
# The old load has noticed by then.
NOTICED_SECONDS = 5.0


def turns(host: RunningHost, page: Page) -> list[dict[str, Any]]:
    """A user's turns in the table of what waits."""
    turns = "SELECT * FROM adaptive_memory_pending WHERE user_id = ? AND state <> 'lease'"
    return host.query(turns, page.user_id)


async def test_new_code_between_two_tries(host: RunningHost, plugin: InstalledFilter) -> None:
    """A turn that failed under the old code is learned once, by the new one; nothing is lost."""
    await plugin.set_valves({"max_retries": 0})
    page = await host.user("ann")
    learns(host.model, "Porto", [Fail(500), operations(new(PORTO))])
    turn = await page.new_chat().send("I live in Porto.")
    await page.wait_for_status(turn, "it will be tried again")
    await plugin.update(PLUGIN.read_text(encoding="utf-8") + "\n# edited\n")
    await host.rest(RETRY_SECONDS + 10)
    assert len(host.model.requests_titled(EXTRACT)) == 1
    [waiting] = turns(host, page)
    assert (waiting["state"], waiting["attempts"]) == ("waiting", 1)
    await page.new_chat().send("Good morning!")
    await page.wait_for_status(turn, f"Memory saved: {PORTO}")
    assert len(host.model.requests_titled(EXTRACT)) == 2
    assert [one.content.count("Porto") for one in await page.memories()] == [1]


@pytest.mark.every_release
async def test_deleted_function(host: RunningHost, plugin: InstalledFilter) -> None:
    """A function that is deleted asks no model any more: what runs is cut off, and none retries."""
    await plugin.set_valves({"max_retries": 0})
    failing, busy = await host.user("ann"), await host.user("bob")
    learns(host.model, "Porto", Fail(500))
    learns(host.model, "Lisbon", Hang())
    turn = await failing.new_chat().send("I live in Porto.")
    await failing.wait_for_status(turn, "it will be tried again")
    await busy.new_chat().send("I live in Lisbon.")
    await until(lambda: len(host.model.requests_titled(EXTRACT)) > 1, 30, "a call that hangs")
    since = host.log_length()
    await plugin.uninstall()

    def given_back() -> bool:
        return [one["lease_owner"] for one in turns(host, busy)] == [""]

    await until(given_back, NOTICED_SECONDS, "the turn in hand is given back")
    await host.rest()
    assert len(host.model.requests_titled(EXTRACT)) == 2
    assert "Task exception was never retrieved" not in host.log_text(since)
