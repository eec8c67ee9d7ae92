"""The user's switch in the host's settings: how it is read, and that it is told once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request

from adaptive.host.hook import Hook
from adaptive.host.lease_table import HostLeaseTable
from adaptive.host.switched_off import (
    SWITCHED_OFF,
    SwitchNotices,
    memory_switched_off,
    wants_memory,
)
from tests.fakes import hook_settings
from tests.host.databases import DATABASES, Worker, two_workers

OFF: dict[str, Any] = {"ui": {"memory": False}}
ON: dict[str, Any] = {"ui": {"memory": True}}
SAVED = {"chat_id": "c", "session_id": "s", "message_id": "m"}


@dataclass
class Household:
    """Two workers of a host that see the same user, and what the user's page shows."""

    workers: tuple[Worker, Worker]
    lines: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        tables = [HostLeaseTable(one.sessions) for one in self.workers]
        self.notices = [SwitchNotices(table) for table in tables]
        self.writing = asyncio.Semaphore(1)

    async def emit(self, event: dict[str, Any]) -> None:
        """Show a line."""
        self.lines.append(event["data"]["description"])

    async def say(
        self,
        settings: object,
        *,
        worker: int = 0,
        metadata: dict[str, Any] = SAVED,
        user_id: str = "ada",
        page: bool = True,
        **valves: Any,
    ) -> None:
        """A turn of a user with these settings, through one of the workers."""
        request = Request({"type": "http", "headers": [], "app": FastAPI()})
        user, emit = {"id": user_id, "settings": settings}, self.emit if page else None
        hook = Hook(hook_settings(**valves), user, metadata, request, emit, None)
        await self.notices[worker].see(hook, self.writing)


@pytest.fixture(params=DATABASES)
async def household(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncGenerator[Household, None]:
    """Two workers on a database without the table."""
    async with two_workers(request.param, tmp_path, "adaptive_memory_lease") as both:
        yield Household(both)


@pytest.mark.parametrize(
    "settings",
    [
        None,
        {},
        {"ui": None},
        {"ui": {}},
        {"ui": []},
        {"ui": {"memory": None}},
        {"ui": {"memory": True}},
        {"ui": {"memory": 0}},
        {"ui": {"memory": ""}},
        {"ui": {"memory": "false"}},
        {"ui": {"memory": {}}},
        {"memory": False},
        [OFF],
        "off",
    ],
    ids=str,
)
def test_not_off(settings: object) -> None:
    """A switch that is on, was never touched, or stands in no shape known, is not off."""
    assert not memory_switched_off({"id": "ada", "settings": settings})


def test_off() -> None:
    """Only a stored ``false`` is off; an account without settings is not."""
    assert memory_switched_off({"id": "ada", "settings": OFF})
    assert not memory_switched_off({"id": "ada"})
    assert not memory_switched_off({})


async def test_host_does_not_tell() -> None:
    """Where the host can't be asked, it is as it was for the turn."""
    assert await wants_memory("ada")


async def test_told_once(household: Household) -> None:
    """Of several chats and two workers one is told; another user is told, too."""
    await asyncio.gather(*(household.say(OFF, worker=one) for one in (0, 1, 0, 1)))
    await household.say(OFF, metadata={**SAVED, "chat_id": "another"})
    assert household.lines == [SWITCHED_OFF]
    await household.say(OFF, worker=1, user_id="bob")
    assert household.lines == [SWITCHED_OFF] * 2


async def test_told_again(household: Household) -> None:
    """Once it was on again, through whichever worker, the next switching-off is told."""
    await household.say(OFF)
    await household.say(ON, worker=1)
    assert await household.workers[0].rows("SELECT * FROM adaptive_memory_lease") == []
    await household.say(OFF)
    await household.say(OFF, worker=1)
    assert household.lines == [SWITCHED_OFF] * 2


async def test_never_touched(household: Household) -> None:
    """Of who has never touched it, the database is not asked."""
    household.workers[0].statements.clear()
    await household.say({"ui": {}})
    assert household.lines == []
    assert household.workers[0].statements == []


async def test_on_costs_no_write(household: Household) -> None:
    """Who has it on and was not told anything costs one look, and no write."""
    await household.say(ON)
    household.workers[0].statements.clear()
    await household.say(ON)
    assert household.workers[0].statements == ["SELECT"]


async def test_nobody_looks(household: Household) -> None:
    """Where no page shows the line, or none is wanted, it is told another time."""
    await household.say(OFF, page=False)
    await household.say(OFF, metadata={"chat_id": "", "session_id": None})
    await household.say(OFF, metadata={**SAVED, "chat_id": "channel:general"})
    await household.say(OFF, show_status=False)
    assert household.lines == []
    await household.say(OFF, metadata={**SAVED, "chat_id": "local:s"})
    assert household.lines == [SWITCHED_OFF]


async def test_database_fails(household: Household) -> None:
    """Where the database refuses, nothing is told and nothing fails."""
    async with household.workers[1].sessions() as session:
        await household.say(ON)
        connection = await session.connection()
        await connection.exec_driver_sql("DROP TABLE adaptive_memory_lease")
        await session.commit()
    await household.say(OFF)
    assert household.lines == []
