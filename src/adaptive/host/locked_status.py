"""Statuses of answers, stored so that no message of the chat is undone by it.

Up to 0.11 the host stores a status by reading the chat, adding it, and writing the chat back (host:
models/chats.py, add_message_status_to_chat_by_id_and_message_id). What was learned is told behind
the answer, when the user may be sending the next message: that one is undone in the stored chat,
its next change stores it anew without role and parent, and the chat model is asked with nothing.
From 0.12 on the host locks the chat meanwhile, as is done here for the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

from sqlalchemy import text
from sqlalchemy.orm.attributes import flag_modified

from adaptive.host.events import EventEmitter
from adaptive.host.uninterrupted import uninterrupted
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
        await _store_on_host(chat_id, message_id, mapping(event.get("data")))

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


@uninterrupted
async def _store_on_host(chat_id: str, message_id: str, status: Mapping[str, Any]) -> None:
    from open_webui.internal.db import get_async_db_context
    from open_webui.models.chats import Chat

    await store_status(get_async_db_context(), Chat, chat_id, message_id, status)


async def store_status(
    connecting: AbstractAsyncContextManager[Any],
    chats: Any,
    chat_id: str,
    message_id: str,
    status: Mapping[str, Any],
) -> None:
    """Add a status to a stored message while nobody else writes; ``chats`` is the host's model.

    Nothing is stored where there is no such message.
    """
    async with connecting as session:
        if session.get_bind().dialect.name == "sqlite":
            # Nothing else keeps a reader in SQLite from writing what is out of date.
            await session.execute(text("BEGIN IMMEDIATE"))
        found = await session.get(chats, chat_id, populate_existing=True, with_for_update=True)
        history = mapping(mapping(getattr(found, "chat", None)).get("history"))
        messages = mapping(history.get("messages"))
        if message := mapping(messages.get(message_id)):
            told = [*listing(message.get("statusHistory")), dict(status)]
            cast(dict[str, Any], messages)[message_id] = {**message, "statusHistory": told}
            flag_modified(found, "chat")
        await session.commit()
