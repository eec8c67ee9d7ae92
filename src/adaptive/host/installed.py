"""Whether an instance of the plug-in is still the one that the host uses, and how it gives way.

The host makes another instance when the function's code is saved anew, and drops it when the
function is deleted; nobody tells the instance, whose background work would go on for long.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from adaptive.core.errors import HostError
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.host.requests import host_state

log_installed = logging.getLogger("adaptive_memory.host")

# How often an instance looks whether it is still the host's, while work of it runs.
_LOOK_SECONDS = 1.0
# How long its work may go on afterwards; a write takes less than this.
_GRACE_SECONDS = 2.0


class Installation:
    """One instance of the plug-in among those that the host uses, and its running tasks.

    An instance that was never among them counts as installed: the host makes it to read its
    valves, or it is about to be used.
    """

    def __init__(self, instance: object, tasks: set[asyncio.Task[None]]) -> None:
        self._instance, self._tasks, self._id = instance, tasks, ""
        self._watch: asyncio.Task[None] | None = None

    def look_out(self) -> None:
        """See to it that running tasks give way in time; to be called when one is started."""
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._watch_tasks())

    async def serves(self) -> bool:
        """Whether work that failed is to be tried again by this instance, as far as is known.

        That is asked of the database as well: the function may have been changed, deleted or
        switched off through another process.
        """
        here = self._here()
        if not self._id:
            return True
        try:
            with HostFaults("looking for the function"):
                from open_webui.models.functions import Functions

                stored = await uninterrupted(Functions.get_function_by_id)(self._id)
        except HostError:
            return here
        if not here or stored is None or not stored.is_active:
            return False
        contents: dict[str, str] = host_state("FUNCTION_CONTENTS") or {}
        return contents.get(self._id, stored.content) == stored.content

    def _here(self) -> bool:
        """Whether this process's host uses the instance; remembers under which id it does.

        0.9.6 to 0.12.4 keep them in the application's state (host: utils/plugin.py,
        get_function_module_from_cache), one set in each process.
        """
        functions: dict[str, Any] | None = host_state("FUNCTIONS")
        found = [name for name, held in (functions or {}).items() if held is self._instance]
        self._id = found[0] if found else self._id
        return bool(found) or functions is None or not self._id

    async def _watch_tasks(self) -> None:
        """While tasks run, cut them off soon after the host has let go of the instance.

        What waits to be learned stays in the database, where another load takes it up.
        """
        while running := {*self._tasks}:
            if self._here():
                await asyncio.wait(running, timeout=_LOOK_SECONDS)
                continue
            await asyncio.sleep(_GRACE_SECONDS)
            if not self._here():
                break
        for task in [*self._tasks]:
            log_installed.info("work of a former load of the plug-in is cut off")
            task.cancel()
