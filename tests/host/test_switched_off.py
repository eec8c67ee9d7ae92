"""The user's switch in the host's settings: how it is read, and that it is told once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from fastapi import FastAPI, Request

from adaptive.host.hook import HostHook
from adaptive.host.own_table import HostLeaseTable
from adaptive.host.switched_off import (
    SWITCHED_OFF,
    memory_switched_off,
    see_switch,
    wants_memory,
)
from tests.fakes import hook_settings
from tests.host.databases import Worker

OFF: dict[str, Any] = {"ui": {"memory": False}}
ON: dict[str, Any] = {"ui": {"memory": True}}
SAVED = {"chat_id": "c", "session_id": "s", "message_id": "m"}
Say = Callable[..., Awaitable[list[str]]]


@pytest.fixture
def say(workers: tuple[Worker, Worker]) -> Say:
    """A turn of a user with these settings, through one of the workers: all lines shown so far."""
    tables = [HostLeaseTable(one.sessions) for one in workers]
    lines: list[str] = []

    async def emit(event: dict[str, Any]) -> None:
        lines.append(event["data"]["description"])

    async def turn(settings: object, worker: int = 0, **more: Any) -> list[str]:
        request = Request({"type": "http", "headers": [], "app": FastAPI()})
        user = {"id": more.pop("user_id", "ada"), "settings": settings}
        page = emit if more.pop("page", True) else None
        told = SAVED | {name: more.pop(name) for name in SAVED if name in more}
        hook = HostHook(hook_settings(**more), user, told, request, page, None)
        await see_switch(hook, user, asyncio.Semaphore(1), tables[worker])
        return lines

    return turn


@pytest.mark.parametrize(
    "settings",
    [None, {}, {"ui": []}, ON, {"ui": {"memory": 0}}, {"ui": {"memory": "false"}}, [OFF], "off"],
    ids=str,
)
async def test_switch(settings: object) -> None:
    """Only a stored ``false`` is off; where the host can't be asked, it is as it was."""
    assert not memory_switched_off({"id": "ada", "settings": settings})
    assert memory_switched_off({"id": "ada", "settings": OFF})
    assert await wants_memory("ada")


async def test_told_once(say: Say) -> None:
    """Of several chats and two workers one is told, and again once it was on; so are others."""
    await asyncio.gather(*(say(OFF, worker=one) for one in (0, 1, 0, 1)))
    assert await say(OFF, chat_id="another") == [SWITCHED_OFF]
    assert await say(OFF, worker=1, user_id="bob") == [SWITCHED_OFF] * 2
    await say(ON, worker=1)
    await say(OFF)
    assert await say(OFF, worker=1) == [SWITCHED_OFF] * 3


async def test_nobody_looks(say: Say) -> None:
    """Where no page shows the line, or none is wanted, it is told another time."""
    await say(OFF, page=False)
    await say(OFF, chat_id="", session_id=None)
    await say(OFF, chat_id="channel:general")
    assert await say(OFF, show_status=False) == []
    assert await say(OFF, chat_id="local:s") == [SWITCHED_OFF]
