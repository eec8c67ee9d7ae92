"""The life of an instance of the plug-in: made ready, in use by the host, and giving way.

The host makes another instance when the function's code is saved anew, and drops it when the
function is deleted; nobody tells the instance, whose background work would go on for long.
"""

from __future__ import annotations

import asyncio
import gc
import logging

from fastapi import Request
from sqlalchemy import select

from adaptive.core.messages import mapping
from adaptive.core.model import Sources
from adaptive.host.faults import faults_logged
from adaptive.host.memories import HostMemoryStore
from adaptive.host.native_features import has_memory_on
from adaptive.host.own_table import host_rows
from adaptive.host.providers import HostEmbedder
from adaptive.host.requests import host_state, process_state
from adaptive.host.tables import HostVectorTable
from adaptive.search.indexes import MemoryIndexes

log_installed = logging.getLogger("adaptive_memory.host")

# How often an instance looks whether it is still the host's, while work of it runs, and how often
# in a row it must not be: a write that goes on meanwhile takes less than the time between.
_LOOK_SECONDS = 1.0
_LOOKS_IN_VAIN = 3
_READ_AHEAD = 10  # users whose memories are read when the plug-in is loaded


class Installation:
    """One instance of the plug-in among those that the host uses, and its running tasks.

    One that was never among them counts as installed: it is about to be used, or for its valves.
    """

    def __init__(
        self, instance: object, tasks: set[asyncio.Task[None]]
    ) -> None:
        self._instance = instance
        self._tasks = tasks
        self._was_in_use = False
        self._watch: asyncio.Task[None] | None = None

    def look_out(self) -> None:
        """See to it that running tasks give way in time; to be called when one is started."""
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._watch_tasks())

    def _is_in_use(self) -> bool:
        """Whether this process's host uses the instance, or never did yet.

        0.9.6 to 0.12.4 keep them in the application's state (host: utils/plugin.py,
        get_function_module_from_cache), one set in each process.
        """
        functions: dict[str, object] | None = host_state("FUNCTIONS")
        if functions is None:
            return True
        is_in_use = any(
            instance is self._instance for instance in functions.values()
        )
        self._was_in_use |= is_in_use
        return is_in_use or not self._was_in_use

    async def _watch_tasks(self) -> None:
        """While tasks run, cut them off soon after the host has let go of the instance.

        What waits to be learned stays in the database, where another load takes it up.
        """
        looks_in_vain = 0
        while self._tasks:
            running = {*self._tasks}
            looks_in_vain = 0 if self._is_in_use() else looks_in_vain + 1
            if looks_in_vain > _LOOKS_IN_VAIN:
                log_installed.info(
                    "work of a former load of the plug-in is cut off"
                )
                for task in running:
                    task.cancel()
            await asyncio.wait(running, timeout=_LOOK_SECONDS)


async def warm_up(
    request: Request, indexes: MemoryIndexes, table: HostVectorTable
) -> None:
    """Have ready what the first messages after a restart would wait for.

    Python's collection of so many new objects stops the process for half a second, and the model's
    first vector takes 0.3 s. A service makes none: it costs money and is warm already.
    """
    state = process_state(request)
    if "warm" not in state:
        state["warm"] = gc.collect()
        # What the host and its libraries have made stays for good: a million objects, and each
        # full collection over them stops every user for half a second.
        gc.freeze()
    embedder = HostEmbedder(request, None)
    if await embedder.in_process():
        await indexes.warm_up(embedder, table)
    from open_webui.models.users import User

    query = select(User.id, User.role, User.settings)
    query = query.order_by(User.last_active_at.desc().nulls_last()).limit(
        _READ_AHEAD
    )
    for user in await host_rows("reading who was here last", query):
        valves = mapping(user.settings, "functions", "valves")
        is_declined = any(
            mapping(chosen).get("enabled") is False
            for chosen in valves.values()
        )
        with faults_logged("reading ahead"):
            if not is_declined and await has_memory_on(
                request, {"settings": user.settings}
            ):
                store = HostMemoryStore(request, user)
                await indexes.prepare(Sources(user.id, store, embedder, table))
