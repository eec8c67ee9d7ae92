"""Suggestions of what to write next, shown below an answer and stored with it as the host's own."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adaptive.errors import HostError
from adaptive.host.answer_store import ChangeStored, change_stored
from adaptive.host.configuration import host_settings
from adaptive.host.events import EventEmitter
from adaptive.host.faults import HostFaults
from adaptive.host.hook import Hook
from adaptive.host.noted_answer import is_whole_answer
from adaptive.messages import Message
from adaptive.shapes import listing, mapping

log_follow_ups = logging.getLogger("adaptive_memory.host")

# The host's event, and where it keeps them in a message (host: utils/middleware.py,
# background_tasks_handler, 0.9.6 to 0.12.4).
_FOLLOW_UPS_EVENT = "chat:message:follow_ups"
_FOLLOW_UPS_FIELD = "followUps"


async def follow_ups_are_wanted(hook: Hook) -> bool:
    """Whether ours may be shown: the host makes none itself, and the user has not refused them.

    Who has switched off "Follow-Up Auto-Generation" in the interface settings wants nobody's.

    Raises:
        HostError: the host does not tell.
    """
    interface = mapping(mapping(hook.user.get("settings")).get("ui"))
    if interface.get("autoFollowUps") is False:
        return False
    with HostFaults("reading who suggests what to ask next"):
        told = await host_settings(hook.request, "follow_ups")
    return told["follow_ups"] is False


@dataclass(frozen=True, slots=True)
class FollowUps:
    """Below the answer of a turn in a saved chat; ``emitter`` reaches the pages that show it."""

    chat_id: str
    message_id: str
    emitter: EventEmitter | None = None
    store: ChangeStored = change_stored

    async def show(self, lines: Sequence[str]) -> bool:
        """Store suggestions with the answer, so that a reload keeps them, and show them.

        ``False`` where the answer is gone or has some already: nothing is shown then.

        Raises:
            HostError: they can't be stored.
        """
        told = list(lines)

        def put(message: Message) -> dict[str, Any] | None:
            """Have a whole answer without suggestions take them."""
            taken = not is_whole_answer(message) or listing(message.get(_FOLLOW_UPS_FIELD))
            return None if taken else {_FOLLOW_UPS_FIELD: told}

        with HostFaults("storing what to ask next"):
            if not told or await self.store(self.chat_id, self.message_id, put) is None:
                return False
        if self.emitter is None:
            return True
        try:
            with HostFaults("showing what to ask next"):
                await self.emitter({"type": _FOLLOW_UPS_EVENT, "data": {"follow_ups": told}})
        except HostError as error:
            log_follow_ups.debug("%s", error)
        return True
