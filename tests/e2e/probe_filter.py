"""
title: Probe
author: Adaptive Memory
version: 1.0.0
license: MIT
description: Shows a test which hooks a host has called and with what.
"""

# The host reads the head of the file line by line, so it cannot be a docstring like others.
# ruff: noqa: D205, D212

import asyncio
from typing import Any

from pydantic import BaseModel

MARKER = "[probe of"
AFTER_OUTLET = "after the outlet"


class Filter:
    """Marks the system prompt in the inlet and speaks up some time after the outlet."""

    class Valves(BaseModel):
        priority: int = 0
        note: str = "no note"
        ask: bool = False

    class UserValves(BaseModel):
        nickname: str = "nobody"

    def __init__(self) -> None:
        self.valves = self.Valves()
        self.tasks: set[asyncio.Task[None]] = set()

    async def inlet(
        self,
        body: dict[str, Any],
        __user__: Any = None,
        __event_emitter__: Any = None,
        __event_call__: Any = None,
    ) -> dict[str, Any]:
        valves = self.valves
        consent = None
        if valves.ask and __event_call__:
            question = {"title": "Probe", "message": "May I?"}
            consent = await __event_call__({"type": "confirmation", "data": question})
        nickname = __user__["valves"].nickname
        marker = f"{MARKER} {__user__['id']}, {nickname}, {valves.note}, consent {consent}]"
        messages = body["messages"]
        if messages and messages[0]["role"] == "system":
            messages[0]["content"] += f"\n{marker}"
        else:
            messages.insert(0, {"role": "system", "content": marker})
        await emit(__event_emitter__, "status", {"description": "inlet ran", "done": True})
        source = {"source": {"name": "Probe"}, "document": [marker], "metadata": [{}]}
        await emit(__event_emitter__, "source", source)
        return body

    async def outlet(self, body: dict[str, Any], __event_emitter__: Any = None) -> dict[str, Any]:
        task = asyncio.create_task(self.speak_later(__event_emitter__))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return body

    async def speak_later(self, emitter: Any) -> None:
        await asyncio.sleep(0.5)
        await emit(emitter, "status", {"description": AFTER_OUTLET, "done": True})


async def emit(emitter: Any, kind: str, data: dict[str, Any]) -> None:
    if emitter:
        await emitter({"type": kind, "data": data})
