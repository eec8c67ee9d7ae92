"""The plug-in as an admin installs it, on the shared host of a release."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.e2e.driver.host import HASTY, InstalledFilter, RunningHost
from tests.e2e.scenarios.extraction import learns_nothing_else

PLUGIN = Path(__file__).parents[3] / "adaptive_memory.py"


# How long after an answer its learning may still begin, on a busy machine.
SETTLING_SECONDS = 1.0


@pytest_asyncio.fixture(loop_scope="session")
async def plugin(host: RunningHost) -> AsyncIterator[InstalledFilter]:
    """The built file, installed and on for everybody; the model finds no facts until told.

    Learning goes on behind the turns, so a test is over only when the learning of its last answer
    has begun: the model would count it for the next test else.
    """
    learns_nothing_else(host.model)
    yield await host.install_filter(PLUGIN, valves=HASTY)
    answered = [one.answered_at for one in host.model.chat_requests() if one.answered_at]
    if answered:
        await asyncio.sleep(max(0.0, SETTLING_SECONDS - (time.perf_counter() - max(answered))))
