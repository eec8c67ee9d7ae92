"""New code of the plug-in, or none any more, while a turn of the old load waits or is worked on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Fail, Hang
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.extraction import EXTRACT, learns

PORTO = "User lives in Porto."
# The old load has noticed by then.
NOTICED_SECONDS = 5.0
# A call that fails is tried again twice, before the turn is put off.
TRIES = 3


def turns(host: RunningHost, page: Page) -> list[dict[str, Any]]:
    """A user's turns in the table of what waits."""
    turns = "SELECT * FROM adaptive_memory_pending WHERE user_id = ? AND state <> 'lease'"
    return host.query(turns, page.user_id)


@pytest.mark.every_release
async def test_deleted_function(host: RunningHost, plugin: InstalledFilter) -> None:
    """A function that is deleted asks no model any more: what runs is cut off, and none retries."""
    failing, busy = await host.user("ann"), await host.user("bob")
    learns(host.model, "Porto", Fail(500))
    learns(host.model, "Lisbon", Hang())
    await failing.say("I live in Porto.", "it will be tried again")
    await busy.new_chat().send("I live in Lisbon.")
    await until(lambda: len(host.model.requests_titled(EXTRACT)) > TRIES, 30, "a call that hangs")
    since = host.log_length()
    await plugin.uninstall()

    def given_back() -> bool:
        return [one["lease_owner"] for one in turns(host, busy)] == [""]

    await until(given_back, NOTICED_SECONDS, "the turn in hand is given back")
    await host.rest()
    assert len(host.model.requests_titled(EXTRACT)) == TRIES + 1
    assert "Task exception was never retrieved" not in host.log_text(since)
