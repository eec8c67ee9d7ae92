"""The plug-in as an admin installs it, on the shared host of a release."""

from __future__ import annotations

from pathlib import Path

import pytest_asyncio

from tests.e2e.driver.extraction import learns_nothing_else
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page

PLUGIN = Path(__file__).parents[3] / "adaptive_memory.py"


@pytest_asyncio.fixture(loop_scope="session")
async def plugin(host: RunningHost) -> InstalledFilter:
    """The built file, on for everybody, as new; the model finds no facts until told.

    It is installed with the first test and again after a test that has changed its code.
    """
    learns_nothing_else(host.model)
    return await host.kept_filter(PLUGIN)


@pytest_asyncio.fixture(loop_scope="session")
async def page(host: RunningHost, plugin: InstalledFilter) -> Page:
    """A new user of the host with the plug-in."""
    return await host.user("ann")
