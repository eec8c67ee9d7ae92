"""Suggestions of what to write next, shown below an answer and stored with it as the host's own."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive.errors import HostError
from adaptive.host.configuration import host_settings
from adaptive.host.events import EventEmitter
from adaptive.host.faults import HostFaults
from adaptive.host.hook import Hook
from adaptive.host.requests import accepted_arguments
from adaptive.host.uninterrupted import uninterrupted
from adaptive.shapes import listing, mapping

log_follow_ups = logging.getLogger("adaptive_memory.host")

# The host's event, and where it keeps them in a message (host: utils/middleware.py,
# background_tasks_handler, 0.9.6 to 0.12.4).
_FOLLOW_UPS_EVENT = "chat:message:follow_ups"
_FOLLOW_UPS_FIELD = "followUps"

# Chat, message and suggestions; whether they are stored.
StoreFollowUps = Callable[[str, str, list[str]], Awaitable[bool]]


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
    store: StoreFollowUps | None = None

    async def show(self, lines: Sequence[str]) -> bool:
        """Store suggestions with the answer, so that a reload keeps them, and show them.

        ``False`` where the answer is gone or has some already: nothing is shown then.

        Raises:
            HostError: they can't be stored.
        """
        told = list(lines)
        with HostFaults("storing what to ask next"):
            if not told or not await (self.store or _stored_in_host)(
                self.chat_id, self.message_id, told
            ):
                return False
        if self.emitter is None:
            return True
        try:
            with HostFaults("showing what to ask next"):
                await self.emitter({"type": _FOLLOW_UPS_EVENT, "data": {"follow_ups": told}})
        except HostError as error:
            log_follow_ups.debug("%s", error)
        return True


@uninterrupted
async def _stored_in_host(chat_id: str, message_id: str, lines: list[str]) -> bool:
    """Store them in the host's own tables."""
    from open_webui.models.chat_messages import ChatMessages
    from open_webui.models.chats import Chats

    return await FollowUpStore(Chats, ChatMessages).put(chat_id, message_id, lines)


@dataclass(frozen=True, slots=True)
class FollowUpStore:
    """Stored answers; ``chats`` and ``rows`` are the host's tables of chats and of messages."""

    chats: Any
    rows: Any

    async def put(self, chat_id: str, message_id: str, lines: list[str]) -> bool:
        """Put suggestions to a whole answer that has none; whether they stand there now."""
        fields = {_FOLLOW_UPS_FIELD: lines}
        if not hasattr(self.chats, "upsert_message_to_history"):
            return await self._put_in_chat(chat_id, message_id, fields)
        if not _takes_follow_ups(
            await self.chats.get_message_by_id_and_message_id(chat_id, message_id)
        ):
            return False
        store = self.chats.upsert_message_to_chat_by_id_and_message_id
        quietly = accepted_arguments(store, {"touch": False})
        return await store(chat_id, message_id, fields, **quietly) is not None

    async def _put_in_chat(self, chat_id: str, message_id: str, fields: dict[str, Any]) -> bool:
        """Up to 0.10 the host's own function would make this message the chat's newest one.

        Who has gone on writing meanwhile would not see that any more (host: models/chats.py,
        upsert_message_to_chat_by_id_and_message_id).
        """
        chat = await self.chats.get_chat_by_id(chat_id)
        history = mapping(mapping(getattr(chat, "chat", None)).get("history"))
        messages = mapping(history.get("messages"))
        if not _takes_follow_ups(messages.get(message_id)):
            return False
        message = {**mapping(messages.get(message_id)), **fields}
        changed = {**history, "messages": {**messages, message_id: message}}
        if await self.chats.update_chat_by_id(chat_id, {**chat.chat, "history": changed}) is None:
            return False
        await self.rows.upsert_message(
            message_id=message_id, chat_id=chat_id, user_id=chat.user_id, data=message
        )
        return True


def _takes_follow_ups(message: object) -> bool:
    """Whether a stored message is an answer that is whole and has no suggestions yet."""
    stored = mapping(message)
    if stored.get("role") != "assistant" or stored.get("done") is False or stored.get("error"):
        return False
    return not listing(stored.get(_FOLLOW_UPS_FIELD))
