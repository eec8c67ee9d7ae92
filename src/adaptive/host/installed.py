"""Whether an instance of the plug-in is still the one that the host uses, and how it gives way.

The host makes another instance when the function's code is saved anew, and drops it when the
function is deleted; nobody tells the instance, whose background work would go on for long.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal

from adaptive.errors import HostError
from adaptive.host.faults import HostFaults
from adaptive.host.uninterrupted import uninterrupted
from adaptive.shapes import mapping

Standing = Literal["installed", "switched off", "replaced", "deleted"]

log_installed = logging.getLogger("adaptive_memory.host")

# How often an instance looks whether it is still the host's, while work of it runs.
_LOOK_SECONDS = 1.0
# How long its work may go on afterwards. An instance that was replaced finishes what it has begun;
# whoever deletes a function wants it to stop, and a write takes less than this.
_GRACE_SECONDS = 60.0
_GRACE_OF_DELETED_SECONDS = 2.0


def host_functions() -> dict[str, Any] | None:
    """The instances that the host uses, by the function's id; ``None`` where no host runs.

    0.9.6 and 0.12.4 keep them in the application's state (host: utils/plugin.py,
    get_function_module_from_cache), one set in each process.
    """
    return _host_state("FUNCTIONS")


class Installation:
    """One instance of the plug-in among those that the host uses.

    An instance that was never among them counts as installed: the host makes it to read its
    valves, or it is about to be used.
    """

    def __init__(
        self,
        instance: object,
        tasks: set[asyncio.Task[None]],
        functions: Callable[[], dict[str, Any] | None] = host_functions,
    ) -> None:
        self._instance, self._tasks, self._functions = instance, tasks, functions
        self._id = ""
        self._looking: asyncio.TimerHandle | None = None
        self._retiring: asyncio.Task[None] | None = None

    def look_out(self) -> None:
        """See to it that running tasks give way in time; to be called when one is started."""
        if self._looking is None and self._retiring is None:
            self._here()
            self._look_again()

    async def serves(self) -> bool:
        """Whether work that failed is to be tried again by this instance, as far as is known.

        That is asked of the database as well: the function may have been changed, deleted or
        switched off through another process.
        """
        return await self.standing() == "installed"

    async def stored_valves(self) -> Mapping[str, Any] | None:
        """What the admin has set, as it is stored; ``None`` where the host does not use this one.

        The host hands an instance its valves with the first request that it serves.

        Raises:
            HostError: the host could not tell.
        """
        self._here()
        return await _stored_valves(self._id) if self._id else None

    async def standing(self) -> Standing:
        """What has become of the instance, by this process's functions and by the database."""
        here = self._here()
        if not self._id:
            return "installed"
        try:
            stored = await _stored_function(self._id)
        except HostError as error:
            log_installed.debug("the function was not looked up: %s", error)
            return "installed" if here else "replaced"
        if stored is None:
            return "deleted"
        loaded = (_host_state("FUNCTION_CONTENTS") or {}).get(self._id, stored.content)
        if not here or loaded != stored.content:
            return "replaced"
        return "installed" if stored.is_active else "switched off"

    def _here(self) -> bool:
        """Whether this process's host uses the instance; remembers under which id it does."""
        functions = self._functions()
        if functions is None:
            return True
        for name, held in functions.items():
            if held is self._instance:
                self._id = name
                return True
        return not self._id

    def _look_again(self) -> None:
        loop = asyncio.get_running_loop()
        self._looking = loop.call_later(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._looking = None
        if not self._tasks:
            return
        if self._here():
            self._look_again()
        else:
            self._retiring = asyncio.create_task(self._retire())

    async def _retire(self) -> None:
        """Let running work go on for a while, then cut it off: what waits stays in the database."""
        standing = await self.standing()
        deleted = standing == "deleted"
        await asyncio.sleep(_GRACE_OF_DELETED_SECONDS if deleted else _GRACE_SECONDS)
        self._retiring = None
        if self._here():  # the host uses it again
            return
        for task in [*self._tasks]:
            log_installed.info("work of a load of the plug-in that was %s is cut off", standing)
            task.cancel()


def _host_state(name: str) -> dict[str, Any] | None:
    """A mapping in the state of the host's application, ``None`` where there is none."""
    app = getattr(sys.modules.get("open_webui.main"), "app", None)
    return getattr(getattr(app, "state", None), name, None)


@uninterrupted
async def _stored_function(function_id: str) -> Any:
    """The function as it is stored, ``None`` where it was deleted.

    Raises:
        HostError: the host could not tell.
    """
    with HostFaults("looking for the function"):
        from open_webui.models.functions import Functions

        return await Functions.get_function_by_id(function_id)


@uninterrupted
async def _stored_valves(function_id: str) -> Mapping[str, Any]:
    """The function's valves as they are stored, none where nothing was set.

    Raises:
        HostError: the host could not tell.
    """
    with HostFaults("looking for the function's valves"):
        from open_webui.models.functions import Functions

        return mapping(await Functions.get_function_valves_by_id(function_id))
