"""Waiting until a host has learned all that it was told, and what then stands in its database."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.e2e.driver.ledger import Findings, Ledger
from tests.e2e.driver.made_up_lives import HARMLESS
from tests.e2e.driver.page import Page
from tests.e2e.driver.services import Query

MEMORIES = "SELECT user_id, content FROM memory"
WAITING = "SELECT count(*) AS turns FROM adaptive_memory_pending WHERE state = 'waiting'"
# Nobody tells an assistant a fact every other second for an hour.
UNCAPPED = {"max_extractions_per_hour": 1000}
# A lease of a worker that was killed ends after half a minute, and who waits for it asks every two
# seconds; a turn that failed waits a quarter of a minute, and one that failed twice six times that.
PATIENCE_SECONDS = 60.0
MOST_RETURNS = 3
_LOOK_SECONDS = 0.5
# A doubled fact comes with the work that goes on after everything is there.
_QUIET_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of it all; ``returns`` counts how often the users had to come back for it."""

    findings: Findings
    memories: int
    waiting: int
    returns: int
    seconds: float


async def settled(ledger: Ledger, pages: Sequence[Page], query: Query, returns: int = 0) -> Settled:
    """Wait until nothing is lost and no turn waits; then until nothing more has changed.

    Where that takes longer than ``PATIENCE_SECONDS`` the users come back with a harmless message,
    since a user's waiting turns are taken up when the user is served; gives up when they have come
    ``MOST_RETURNS`` times. ``returns`` is how often they come at once.
    """
    started = time.monotonic()
    for back in range(returns):
        await come_back(pages, back)
    while not await _all_there(ledger, query) and returns < MOST_RETURNS:
        await come_back(pages, returns)
        returns += 1
    await asyncio.sleep(_QUIET_SECONDS)
    memories = await asyncio.to_thread(query, MEMORIES)
    return Settled(
        ledger.compare(memories),
        len(memories),
        await asyncio.to_thread(waiting_turns, query),
        returns,
        round(time.monotonic() - started, 1),
    )


async def come_back(pages: Sequence[Page], time_of_day: int) -> None:
    """Each user opens a new chat and says something that holds no fact."""
    words = random.Random(time_of_day).choice(HARMLESS)
    for page in pages:
        turn = await page.new_chat().send(words)
        assert turn.error is None, turn


def waiting_turns(query: Query) -> int:
    """How many turns wait to be learned; 0 also where there is no table for them."""
    try:
        return int(query(WAITING)[0]["turns"])
    except (sqlite3.OperationalError, RuntimeError):
        return 0


async def _all_there(ledger: Ledger, query: Query) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        findings = ledger.compare(await asyncio.to_thread(query, MEMORIES))
        waiting = await asyncio.to_thread(waiting_turns, query)
        if not (findings.lost or findings.outdated or waiting):
            return True
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_LOOK_SECONDS)
