"""
title: Watcher
author: Adaptive Memory
version: 1.0.0
license: MIT
description: Tells a test what a filter still does in the server, and ends it if asked to.
"""

# The host reads the head of the file line by line, so it cannot be a docstring like others.
# ruff: noqa: D205, D212

import asyncio
from typing import Any


class Action:
    """Looks at the tasks of the server's event loop."""

    async def action(self, body: dict[str, Any]) -> dict[str, Any]:
        """Names of the filter's coroutines that run right now; with ``cancel`` they are ended."""
        names = {
            task: work(task, body["module"]) for task in asyncio.all_tasks()
        }
        found = {task: name for task, name in names.items() if name}
        if body.get("cancel"):
            for task in found:
                task.cancel()
            await asyncio.wait(found, timeout=5) if found else None
        return {"running": sorted(found.values())}


def work(task: asyncio.Task[Any], module: str) -> str:
    """The first coroutine of a module that a task awaits, however deep; or nothing."""
    awaited: Any = task.get_coro()
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(
            awaited, "ag_frame", None
        )
        # Since 0.12 the host adds a random number to the module's name.
        if frame and str(frame.f_globals.get("__name__")).startswith(module):
            return str(awaited.__qualname__)
        awaited = getattr(awaited, "cr_await", None) or getattr(
            awaited, "ag_await", None
        )
    return ""
