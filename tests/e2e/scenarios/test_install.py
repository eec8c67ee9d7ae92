"""A server that cannot reach a package index: the filter asks for none, and goes on."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from demo.environment import HostEnvironment
from tests.e2e.driver.extraction import (
    EXTRACT,
    learns,
    learns_nothing_else,
    new,
    operations,
)
from tests.e2e.driver.host import HASTY, InstalledFilter, RunningHost
from tests.e2e.driver.page import Page, RefusedError
from tests.e2e.scenarios.conftest import PLUGIN

DOG = "User's dog is called Biscuit."

# No server listens on this port, and no settings of the machine name another index.
UNREACHABLE_INDEX = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_RETRIES": "0",
    "PIP_CONFIG_FILE": os.devnull,
}

ASKS_FOR_A_PACKAGE = '''"""
title: Asks for a package
requirements: adaptive-memory-no-such-package
"""


class Filter:
    pass
'''


def without_index(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a server that runs pip for its functions, and whose pip reaches no index."""
    kept = {
        name: value
        for name, value in variables.items()
        if name != "OFFLINE_MODE" and not name.startswith("PIP_")
    }
    return {**kept, **UNREACHABLE_INDEX}


async def is_active(plugin: InstalledFilter) -> bool:
    """Whether the host runs the function, as the admin sees it in the panel."""
    function = await plugin.admin.request(
        "GET", f"/api/v1/functions/id/{plugin.id}"
    )
    return function["is_active"]


async def restart(host: RunningHost, *pages: Page) -> None:
    """Start the server again, with no package index in reach and not told that it is offline."""
    for page in pages:
        await page.disconnect()
    await asyncio.to_thread(host.server.stop)
    host.server.variables = without_index(host.server.variables)
    host.server.spawn()
    await host.server.wait_until_healthy()
    for page in pages:
        await page.reload()


@pytest.mark.every_release
async def test_restart_without_package_index(
    installed_host: HostEnvironment, tmp_path: Path
) -> None:
    """Restarted with no package index in reach, the filter stays on, learns a fact and recalls.

    The packages that no host ships are absent here; all other scenarios have them. The model's
    first reply is broken, so it is asked again.
    """
    async with RunningHost.running_on(
        installed_host, tmp_path, {"PYTHONPATH": ""}
    ) as host:
        learns_nothing_else(host.model)
        plugin = await host.install_filter(PLUGIN, valves=HASTY)
        page = await host.user("ann")
        await restart(host, host.admin, page)
        assert await is_active(plugin)
        whole = operations(new(DOG))
        learns(
            host.model,
            "dog is called",
            [json.dumps(whole).replace(", ", " ", 1), whole],
        )
        await page.say("My dog is called Biscuit.", f"Saved: {DOG}")
        assert len(host.model.requests_titled(EXTRACT)) == 2
        await page.new_chat().send("What is my dog called?")
        assert f"- “{DOG}”\n" in host.model.last_prompt
        assert await is_active(plugin)

        # No accident: this server does run pip for a header that asks, and pip finds nothing.
        with pytest.raises(RefusedError):
            await host.install_filter(
                ASKS_FOR_A_PACKAGE, function_id="asks_for_a_package"
            )
        log = host.log_text()
        assert (
            "No matching distribution found for adaptive-memory-no-such-package"
            in log
        )
