"""What Open WebUI hands to a hook beside the body, and whom the hook serves."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from adaptive.host.hook import HostHook
from adaptive.host.native_features import has_memory_on
from adaptive.host.page import EventCaller, EventEmitter
from adaptive.host.requests import UNSUPPORTED, host_is_supported
from adaptive.host.tables import HostVectorTable
from adaptive.settings.merged import Settings
from adaptive.settings.valves import Valves

log_arguments = logging.getLogger("adaptive_memory")


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
    """Makes the hooks of an instance of the plug-in, and logs once what stands in their way.

    ``is_supported`` tells whether the host's release is; it is unknown before the first hook.
    """

    def __init__(
        self, valves: Callable[[], Valves], vectors: HostVectorTable
    ) -> None:
        self.is_supported: bool | None = None
        self._valves = valves
        self._vectors = vectors
        self._misread: tuple[str, ...] = ()

    async def of(self, arguments: HookArguments) -> HostHook | None:
        """The hook of a user; ``None`` where there is nobody to serve."""
        user = arguments.user or {}
        settings = Settings.merge(self._valves(), user.get("valves"))
        self._log_misread(settings)
        if arguments.request is None or not user.get("id"):
            return None
        if self.is_supported is None:
            self.is_supported = host_is_supported()
            if not self.is_supported:
                log_arguments.error(UNSUPPORTED)
        if self.is_supported and not await has_memory_on(
            arguments.request, user
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

    def _log_misread(self, settings: Settings) -> None:
        """Log the valves that are not understood whenever they change."""
        if settings.misread == self._misread:
            return
        self._misread = settings.misread
        misread = "; ".join(self._misread) or "none"
        log_arguments.warning("valves that are not understood: %s", misread)
