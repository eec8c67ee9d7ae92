"""Whether an instance of the plug-in is still the one that the host uses, and how it gives way.

The host makes another instance when the function's code is saved anew, and drops it when the
function is deleted; nobody tells the instance, whose background work would go on for long.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from adaptive.host.requests import host_state

log_installed = logging.getLogger("adaptive_memory.host")

# How often an instance looks whether it is still the host's, while work of it runs, and how often
# in a row it must not be: a write that goes on meanwhile takes less than the time between.
_LOOK_SECONDS = 1.0
_LOOKS_IN_VAIN = 3


class Installation:
    """One instance of the plug-in among those that the host uses, and its running tasks.

    An instance that was never among them counts as installed: the host makes it to read its
    valves, or it is about to be used.
    """

    def __init__(self, instance: object, tasks: set[asyncio.Task[None]]) -> None:
        self._instance, self._tasks, self._known = instance, tasks, False
        self._watch: asyncio.Task[None] | None = None

    def look_out(self) -> None:
        """See to it that running tasks give way in time; to be called when one is started."""
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._watch_tasks())

    def _here(self) -> bool:
        """Whether this process's host uses the instance.

        0.9.6 to 0.12.4 keep them in the application's state (host: utils/plugin.py,
        get_function_module_from_cache), one set in each process.
        """
        functions: dict[str, Any] | None = host_state("FUNCTIONS")
        here = any(held is self._instance for held in (functions or {}).values())
        self._known |= here
        return here or functions is None or not self._known

    async def _watch_tasks(self) -> None:
        """While tasks run, cut them off soon after the host has let go of the instance.

        What waits to be learned stays in the database, where another load takes it up.
        """
        looks = 0
        while running := {*self._tasks}:
            looks = 0 if self._here() else looks + 1
            for task in running if looks > _LOOKS_IN_VAIN else ():
                log_installed.info("work of a former load of the plug-in is cut off")
                task.cancel()
            await asyncio.wait(running, timeout=_LOOK_SECONDS)
