"""The page that shows an answer: lines below it, and questions to its user."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from adaptive.core.messages import clipped_line, plain_lines
from adaptive.core.model import HostError, with_detail
from adaptive.host.faults import HostFaults

log_page = logging.getLogger("adaptive_memory.host")

EventEmitter = Callable[[dict[str, Any]], Awaitable[Any]]
EventCaller = Callable[[dict[str, Any]], Awaitable[Any]]

# `local` and `local:` up to 0.10, `temporary:` since 0.11 (host: utils/chat_id.py).
_TEMPORARY_PREFIXES = ("local:", "temporary:")
_LONGEST_TITLE = 100
_LONGEST_MESSAGE = 4000
_LONGEST_ANSWER = 1000


def is_temporary(chat_id: str) -> bool:
    """Whether a chat is one that the host does not store."""
    return chat_id == "local" or chat_id.startswith(_TEMPORARY_PREFIXES)


async def emitter_to(
    user_id: str, chat_id: str, message_id: str, *, stores: bool = True
) -> EventEmitter | None:
    """An emitter to the pages of an answer, which another process may have given.

    Unless told otherwise, it stores with the answer what it shows (host: socket/main.py,
    get_event_emitter). ``None`` where the host has none.
    """
    told = {"user_id": user_id, "chat_id": chat_id, "message_id": message_id}
    with suppress(HostError), HostFaults("reaching the page of an answer"):
        from open_webui.socket.main import get_event_emitter

        return await get_event_emitter(told, update_db=stores)
    return None


async def show_event(
    emitter: EventEmitter | None, kind: str, data: Any
) -> None:
    """Show an event in the page if there is one; never raises."""
    if emitter is None:
        return
    try:
        with HostFaults(f"showing a {kind}"):
            await emitter({"type": kind, "data": data})
    except HostError as error:
        log_page.debug("%s", with_detail(error))


@dataclass(frozen=True, slots=True)
class PageNotifier:
    """Shows lines with the answer; silent without an emitter, as for plain API calls.

    Every status rewrites the stored chat (host: models/chats.py), so a turn shows one or two.
    """

    emitter: EventEmitter | None

    async def status(self, text: str) -> None:
        """Show one finished line with the answer."""
        data = {"description": text, "done": True, "hidden": False}
        await show_event(self.emitter, "status", data)

    async def source(
        self, name: str, documents: list[str], metadata: list[dict[str, Any]]
    ) -> None:
        """Show a source under the answer, as the page shows documents."""
        data = {
            "source": {"name": name},
            "document": documents,
            "metadata": metadata,
        }
        await show_event(self.emitter, "source", data)


@dataclass(frozen=True, slots=True)
class PageDialog:
    """A ``Dialog`` in the tab that sent the message; unanswered without a caller.

    An answer may never come: the tab is closed or shows another chat, or the dialog was left with
    Escape (host: the page up to 0.9). The host itself waits without end unless its admin set
    ``WEBSOCKET_EVENT_CALLER_TIMEOUT`` (host: env.py), so it is ``seconds`` that bound the time.
    """

    caller: EventCaller | None
    seconds: float = 120.0

    async def confirm(self, title: str, message: str) -> bool | None:
        """Ask for yes or no (see ``Dialog``)."""
        answer = await self._call("confirmation", title, message)
        return answer if isinstance(answer, bool) else None

    async def ask(
        self, title: str, message: str, hint: str, value: str = ""
    ) -> str | None:
        """Ask for a few words (see ``Dialog``)."""
        answer = await self._call(
            "input", title, message, placeholder=hint, value=value, type="text"
        )
        # Up to 0.9 the page answers ``true`` where nothing was typed.
        if isinstance(answer, bool):
            return ""
        return (
            answer.strip()[:_LONGEST_ANSWER]
            if isinstance(answer, str)
            else None
        )

    async def download(self, name: str, text: str) -> bool:
        """Have the page save a text as a file (see ``Dialog``)."""
        code = (
            "const link = document.createElement('a');"
            f"const file = new Blob([{json.dumps(text)}], {{type: 'application/json'}});"
            f"link.href = URL.createObjectURL(file); link.download = {json.dumps(name)};"
            "link.click(); return true;"
        )
        return await self._event("execute", {"code": code}) is True

    async def _call(
        self, kind: str, title: str, message: str, **extra: str
    ) -> object:
        """What the page answers, ``None`` where it does not; it renders messages as Markdown."""
        text = plain_lines(message[:_LONGEST_MESSAGE])
        return await self._event(
            kind,
            {
                "title": clipped_line(title, _LONGEST_TITLE),
                "message": text,
                **extra,
            },
        )

    async def _event(self, kind: str, data: dict[str, str]) -> object:
        """What the page answers to an event in bounded time, ``None`` where it does not."""
        if self.caller is None:
            return None
        try:
            async with asyncio.timeout(self.seconds):
                with HostFaults(f"asking by {kind}"):
                    return await self.caller({"type": kind, "data": data})
        except (TimeoutError, HostError) as error:
            log_page.info(
                "a question was not answered: %s", with_detail(error)
            )
            return None
