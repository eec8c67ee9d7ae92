"""Adding a line to an answer that is stored and shown already."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from adaptive.errors import HostError
from adaptive.host.events import EventEmitter
from adaptive.host.faults import HostFaults
from adaptive.host.noted_answer import noted_answer
from adaptive.host.requests import accepted_arguments
from adaptive.host.uninterrupted import uninterrupted
from adaptive.shapes import mapping

log_answer_note = logging.getLogger("adaptive_memory.host")

# Chat, message and line; gives the fields that were stored, ``None`` where none were.
StoreNote = Callable[[str, str, str], Awaitable[dict[str, Any] | None]]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The answer of a turn in a saved chat; ``emitter`` reaches the pages that show it."""

    chat_id: str
    message_id: str
    emitter: EventEmitter | None = None
    store: StoreNote | None = None

    async def add_note(self, line: str) -> bool:
        """Add a line at the end of the answer, in the database and on the page; never raises.

        ``False`` where it does not stand there: nothing is stored (temporary chats, API calls),
        the answer is being written, or the host failed. Adding it again changes nothing.
        """
        try:
            with HostFaults("adding a line to an answer"):
                store = self.store or _store_note
                fields = await store(self.chat_id, self.message_id, line)
        except HostError as error:
            log_answer_note.warning("%s", error)
            return False
        if fields is None:
            return False
        await self._show(fields)
        return True

    async def _show(self, fields: dict[str, Any]) -> None:
        """Have the page take the fields over.

        The event with which the host tells the page what outlets changed sets any field of a
        message and stores nothing (host: the page of 0.9.6 to 0.12.4; socket/main.py).
        """
        if self.emitter is None:
            return
        messages = [{"id": self.message_id, **fields}]
        try:
            with HostFaults("showing a line below an answer"):
                await self.emitter({"type": "chat:outlet", "data": {"messages": messages}})
        except HostError as error:
            log_answer_note.debug("%s", error)


@uninterrupted
async def _store_note(chat_id: str, message_id: str, line: str) -> dict[str, Any] | None:
    """Change the stored answer; its new fields, ``None`` where nothing was stored."""
    from open_webui.models.chat_messages import ChatMessages
    from open_webui.models.chats import Chats

    return await NoteStore(Chats, ChatMessages).add(chat_id, message_id, line)


@dataclass(frozen=True, slots=True)
class NoteStore:
    """Stored answers; ``chats`` and ``rows`` are the host's tables of chats and of messages."""

    chats: Any
    rows: Any

    async def add(self, chat_id: str, message_id: str, line: str) -> dict[str, Any] | None:
        """Add a line to an answer; its new fields, ``None`` where nothing was stored."""
        if not chat_id or not message_id:
            return None
        if not hasattr(self.chats, "upsert_message_to_history"):
            return await self._add_in_chat(chat_id, message_id, line)
        stored = await self.chats.get_message_by_id_and_message_id(chat_id, message_id)
        if (fields := noted_answer(mapping(stored), line)) is None:
            return None
        store = self.chats.upsert_message_to_chat_by_id_and_message_id
        quietly = accepted_arguments(store, {"touch": False})
        written = await store(chat_id, message_id, dict(fields), **quietly)
        return None if written is None else fields

    async def _add_in_chat(self, chat_id: str, message_id: str, line: str) -> dict[str, Any] | None:
        """Up to 0.10 the host's own function would make this message the chat's newest one.

        Who has gone on writing meanwhile would not see that any more (host: models/chats.py,
        upsert_message_to_chat_by_id_and_message_id).
        """
        chat = await self.chats.get_chat_by_id(chat_id)
        history = mapping(mapping(getattr(chat, "chat", None)).get("history"))
        messages = mapping(history.get("messages"))
        stored = mapping(messages.get(message_id))
        if (fields := noted_answer(stored, line)) is None:
            return None
        message = {**stored, **fields}
        changed = {**history, "messages": {**messages, message_id: message}}
        if await self.chats.update_chat_by_id(chat_id, {**chat.chat, "history": changed}) is None:
            return None
        await self.rows.upsert_message(
            message_id=message_id, chat_id=chat_id, user_id=chat.user_id, data=message
        )
        return fields
