"""Questions to the user, asked in a dialog of the host's page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from adaptive.errors import HostError
from adaptive.host.faults import HostFaults
from adaptive.plain_markdown import clipped_line, plain_lines
from adaptive.ports import Consent

log_dialog = logging.getLogger("adaptive_memory.host")

EventCaller = Callable[[dict[str, Any]], Awaitable[Any]]

_LONGEST_DIALOG_TITLE = 100
_LONGEST_DIALOG_MESSAGE = 4000
_LONGEST_DIALOG_REPLY = 1000


@dataclass(frozen=True, slots=True)
class PageDialog:
    """A ``Dialog`` in the tab that sent the message; unanswered without a caller.

    An answer may never come: the tab is closed or shows another chat, or the dialog was left with
    Escape (host: the page up to 0.9). The host itself waits without end unless its admin set
    ``WEBSOCKET_EVENT_CALLER_TIMEOUT`` (host: env.py), so it is ``seconds`` that bound the time.
    """

    caller: EventCaller | None
    seconds: float = 120.0

    async def confirm(self, title: str, message: str) -> Consent:
        """Ask for yes or no (see ``Dialog``)."""
        answer = await self._call("confirmation", title, message)
        if not isinstance(answer, bool):
            return "unanswered"
        return "yes" if answer else "no"

    async def ask(self, title: str, message: str, hint: str, value: str = "") -> str | None:
        """Ask for a few words (see ``Dialog``)."""
        more = {"placeholder": hint, "value": value, "type": "text"}
        answer = await self._call("input", title, message, **more)
        # Up to 0.9 the page answers ``true`` where nothing was typed.
        if isinstance(answer, bool):
            return ""
        return answer.strip()[:_LONGEST_DIALOG_REPLY] if isinstance(answer, str) else None

    async def _call(self, kind: str, title: str, message: str, **extra: str) -> object:
        """What the page answers; ``None`` where it does not.

        From 0.9 on the host answers ``{"error": ...}`` for a tab that is gone (host:
        socket/main.py). The page renders the message as Markdown, the title as text.
        """
        if self.caller is None or self.seconds <= 0:
            return None
        text = plain_lines(message[:_LONGEST_DIALOG_MESSAGE])
        data = {"title": clipped_line(title, _LONGEST_DIALOG_TITLE), "message": text, **extra}
        try:
            async with asyncio.timeout(self.seconds):
                with HostFaults(f"asking by {kind}"):
                    answer = await self.caller({"type": kind, "data": data})
        except TimeoutError:
            log_dialog.info("a question was not answered within %g s", self.seconds)
            return None
        except HostError as error:
            log_dialog.info("a question could not be asked: %s", error)
            return None
        return answer
