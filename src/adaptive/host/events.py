"""Events of the host's page as a ``Notifier``."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from adaptive.errors import HostError
from adaptive.host.faults import HostFaults

log_events = logging.getLogger("adaptive_memory.host")

EventEmitter = Callable[[dict[str, Any]], Awaitable[Any]]


async def emitter_to(user_id: str, chat_id: str, message_id: str) -> EventEmitter | None:
    """An emitter to the pages of an answer that another process gave; ``None`` if there is none.

    What it shows is stored with the answer, too (host: socket/main.py, get_event_emitter).
    """
    told = {"user_id": user_id, "chat_id": chat_id, "message_id": message_id}
    try:
        with HostFaults("reaching the page of an answer"):
            from open_webui.socket.main import get_event_emitter

            return await get_event_emitter(told)
    except HostError as error:
        log_events.debug("%s", error)
        return None


@dataclass(frozen=True, slots=True)
class PageNotifier:
    """Shows lines with the answer; silent without an emitter, as for plain API calls.

    Every status rewrites the stored chat (host: models/chats.py), so a turn shows one or two.
    """

    emitter: EventEmitter | None
    enabled: bool = True

    async def status(self, text: str) -> None:
        """Show one finished line with the answer."""
        await self._emit("status", {"description": text, "done": True, "hidden": False})

    async def source(self, name: str, documents: list[str], metadata: list[dict[str, Any]]) -> None:
        """Show a source under the answer, as the page shows documents."""
        data = {"source": {"name": name}, "document": documents, "metadata": metadata}
        await self._emit("source", data)

    async def _emit(self, kind: str, data: dict[str, Any]) -> None:
        if self.emitter is None or not self.enabled:
            return
        try:
            with HostFaults(f"showing a {kind}"):
                await self.emitter({"type": kind, "data": data})
        except HostError as error:
            log_events.debug("%s", error)
