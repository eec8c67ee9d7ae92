"""Where each release of the host keeps an answer, and how fields of it are changed there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from adaptive.host.locked_chat import ChangeLocked, MessageChange, change_message_on_host
from adaptive.host.requests import accepted_arguments
from adaptive.host.uninterrupted import uninterrupted
from adaptive.shapes import mapping

# Chat, message and change; gives the fields that were stored, ``None`` where none were.
ChangeStored = Callable[[str, str, MessageChange], Awaitable[dict[str, Any] | None]]


@uninterrupted
async def change_stored(
    chat_id: str, message_id: str, change: MessageChange
) -> dict[str, Any] | None:
    """Change an answer in the host's own tables; its new fields, ``None`` where none were stored.

    Raises whatever the host raises.
    """
    from open_webui.models.chat_messages import ChatMessages
    from open_webui.models.chats import Chats

    return await AnswerStore(Chats, ChatMessages).change(chat_id, message_id, change)


@dataclass(frozen=True, slots=True)
class AnswerStore:
    """Stored answers; ``chats`` and ``rows`` are the host's tables of chats and of messages.

    ``change_locked`` changes one in a chat that is one text.

    Each change is read, made and written; two at a time could undo each other, so whoever makes one
    holds the semaphore of all that write with an answer (``Learning.writing``).
    """

    chats: Any
    rows: Any
    change_locked: ChangeLocked = change_message_on_host

    async def change(
        self, chat_id: str, message_id: str, change: MessageChange
    ) -> dict[str, Any] | None:
        """Change fields of an answer; these fields, ``None`` where nothing was stored.

        ``change`` is given an empty message where there is no such answer.
        """
        if not chat_id or not message_id:
            return None
        if not hasattr(self.chats, "upsert_message_to_history"):
            return await self._change_in_chat(chat_id, message_id, change)
        stored = await self.chats.get_message_by_id_and_message_id(chat_id, message_id)
        if (fields := change(mapping(stored))) is None:
            return None
        store = self.chats.upsert_message_to_chat_by_id_and_message_id
        quietly = accepted_arguments(store, {"touch": False})
        written = await store(chat_id, message_id, dict(fields), **quietly)
        return None if written is None else fields

    async def _change_in_chat(
        self, chat_id: str, message_id: str, change: MessageChange
    ) -> dict[str, Any] | None:
        """Up to 0.10 the host's own function would make this message the chat's newest one.

        Who has gone on writing meanwhile would not see that any more (host: models/chats.py,
        upsert_message_to_chat_by_id_and_message_id).
        """
        changed = await self.change_locked(chat_id, message_id, change)
        if changed is None:
            return None
        await self.rows.upsert_message(
            message_id=message_id, chat_id=chat_id, user_id=changed.user_id, data=changed.message
        )
        return changed.fields
