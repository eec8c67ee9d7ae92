"""Statuses of answers, stored so that no message of the chat is undone by it.

Up to 0.11 the host stores a status by reading the chat, adding it, and writing the chat back (host:
models/chats.py, add_message_status_to_chat_by_id_and_message_id); ``locked_chat`` tells what comes
of that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adaptive.host.events import EventEmitter
from adaptive.host.locked_chat import MessageChange, change_message_on_host
from adaptive.messages import Message
from adaptive.shapes import listing, mapping


def locking_emitter(
    emitter: EventEmitter, user_id: str, chat_id: str, message_id: str
) -> EventEmitter:
    """An emitter like the one given, which stores the statuses of a saved answer under a lock."""

    async def emit(event: dict[str, Any]) -> None:
        """Show an event, and store it with the answer where the host does that."""
        quiet = None
        if event.get("type") == "status" and message_id:
            quiet = await _quiet_emitter(user_id, chat_id, message_id)
        if quiet is None:
            await emitter(event)
            return
        await quiet(event)
        status = mapping(event.get("data"))
        await change_message_on_host(chat_id, message_id, added_status(status))

    return emit


async def _quiet_emitter(user_id: str, chat_id: str, message_id: str) -> EventEmitter | None:
    """An emitter to the page that stores nothing; ``None`` where the host's own may store."""
    try:
        from open_webui.models.chats import Chats
        from open_webui.socket.main import get_event_emitter
    except ImportError:
        return None
    if hasattr(Chats, "_chat_transaction"):
        return None
    told = {"user_id": user_id, "chat_id": chat_id, "message_id": message_id}
    return await get_event_emitter(told, update_db=False)


def added_status(status: Mapping[str, Any]) -> MessageChange:
    """The change that adds a status to a message, if there is one."""

    def add(message: Message) -> dict[str, Any] | None:
        """The message's statuses with one more."""
        if not message:
            return None
        return {"statusHistory": [*listing(message.get("statusHistory")), dict(status)]}

    return add
