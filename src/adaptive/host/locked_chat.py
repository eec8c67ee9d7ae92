"""A message of a stored chat, changed while nobody else writes the chat.

Up to 0.11 a chat is one text that whoever changes a message reads and writes back. What is written
behind an answer may come when the user is sending the next message: that one would be undone in
the stored chat, its next change would store it anew without role and parent, and the chat model
would be asked with nothing (host: models/chats.py). From 0.12 on the host locks the chat itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import text
from sqlalchemy.orm.attributes import flag_modified

from adaptive.host.uninterrupted import uninterrupted
from adaptive.messages import Message
from adaptive.shapes import mapping

# From a stored message the fields to change, ``None`` where nothing is to be written.
MessageChange = Callable[[Message], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class ChangedMessage:
    """A message as it stands now, the fields that changed, and whose chat it is in."""

    message: dict[str, Any]
    fields: dict[str, Any]
    user_id: str


# Chat, message and change; ``None`` where nothing was stored.
ChangeLocked = Callable[[str, str, MessageChange], Awaitable[ChangedMessage | None]]


@uninterrupted
async def change_message_on_host(
    chat_id: str, message_id: str, change: MessageChange
) -> ChangedMessage | None:
    """Change a message in the host's own table of chats.

    Raises whatever the host raises.
    """
    from open_webui.internal.db import get_async_db_context
    from open_webui.models.chats import Chat

    return await change_message(get_async_db_context(), Chat, chat_id, message_id, change)


async def change_message(
    connecting: AbstractAsyncContextManager[Any],
    chats: Any,
    chat_id: str,
    message_id: str,
    change: MessageChange,
) -> ChangedMessage | None:
    """Change fields of a message; ``chats`` is the host's model of a chat.

    ``change`` is given an empty message where there is no such message; nothing is stored then.
    """
    async with connecting as session:
        if session.get_bind().dialect.name == "sqlite":
            # Nothing else keeps a reader in SQLite from writing what is out of date.
            await session.execute(text("BEGIN IMMEDIATE"))
        found = await session.get(chats, chat_id, populate_existing=True, with_for_update=True)
        history = mapping(mapping(getattr(found, "chat", None)).get("history"))
        messages = mapping(history.get("messages"))
        stored: Mapping[str, Any] = mapping(messages.get(message_id))
        fields = change(stored)
        if not stored or fields is None:
            await session.commit()
            return None
        message = {**stored, **fields}
        cast(dict[str, Any], messages)[message_id] = message
        flag_modified(found, "chat")
        owner = str(getattr(found, "user_id", ""))
        await session.commit()
    return ChangedMessage(message, fields, owner)
