"""The life of an instance of the plug-in: made ready, called by the host, and giving way.

The host makes another instance when the function's code is saved anew, and drops it when the
function is deleted; nobody tells the instance, whose background work would go on for long.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fastapi import Request

from adaptive.core.model import log
from adaptive.core.runtime import USER_ID
from adaptive.host.application import (
    UNSUPPORTED,
    has_memory_on,
    host_is_supported,
    host_state,
    process_state,
)
from adaptive.host.embedding import HostEmbedder
from adaptive.host.hook import HostHook
from adaptive.host.page import EventCaller, EventEmitter
from adaptive.host.tables import HostVectorTable
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.merged import Settings
from adaptive.settings.valves import Valves

# How often an instance looks whether it is still the host's, while work of it runs, and how often
# in a row it must not be: a write that goes on meanwhile takes less than the time between.
_LOOK_SECONDS = 1.0
_LOOKS_IN_VAIN = 3


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
        functions: dict[str, object] = host_state("FUNCTIONS") or {}
        is_in_use = self._instance in functions.values()
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
                log.info("work of a former load of the plug-in is cut off")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class HookArguments:
    """The arguments of an inlet or an outlet."""

    user: dict[str, Any] | None
    metadata: dict[str, Any]
    request: Request | None
    emitter: EventEmitter | None
    chat_model: Any
    caller: EventCaller | None


def with_arguments(
    work: Callable[
        [Any, dict[str, Any], HookArguments], Awaitable[dict[str, Any]]
    ],
) -> Callable[..., Coroutine[Any, Any, dict[str, Any]]]:
    """A hook with the parameters by which the host chooses what it hands over."""

    async def hook(
        self: Any,
        body: dict[str, Any],
        __user__: dict[str, Any] | None = None,
        __metadata__: dict[str, Any] | None = None,
        __request__: Request | None = None,
        __event_emitter__: EventEmitter | None = None,
        __model__: Any = None,
        __event_call__: EventCaller | None = None,
    ) -> dict[str, Any]:
        """What the work makes of the body."""
        arguments = HookArguments(
            user=__user__,
            metadata={} if __metadata__ is None else __metadata__,
            request=__request__,
            emitter=__event_emitter__,
            chat_model=__model__,
            caller=__event_call__,
        )
        return await work(self, body, arguments)

    return hook


class HostHooks:
    """Makes the hooks of an instance of the plug-in, and logs once what stands in their way."""

    def __init__(
        self, valves: Callable[[], Valves], vectors: HostVectorTable
    ) -> None:
        self._valves = valves
        self._vectors = vectors

    @cached_property
    def is_supported(self) -> bool:
        """Whether the host's release is supported; the log says so where it is not."""
        is_supported = host_is_supported()
        if not is_supported:
            log.error(UNSUPPORTED)
        return is_supported

    async def of(self, arguments: HookArguments) -> HostHook | None:
        """The hook of a user; ``None`` where there is nobody to serve."""
        user = arguments.user or {}
        USER_ID.set(str(user.get("id", "")))
        settings = Settings.merge(self._valves(), user.get("valves"))
        if arguments.request is None or not user.get("id"):
            return None
        if self.is_supported and not await has_memory_on(
            arguments.request, user.get("settings")
        ):
            settings = settings.model_copy(update={"enabled": False})
        return HostHook.of(
            settings=settings,
            user=user,
            metadata=arguments.metadata,
            request=arguments.request,
            emitter=arguments.emitter,
            chat_model=arguments.chat_model,
            caller=arguments.caller,
            vectors=self._vectors,
        )
