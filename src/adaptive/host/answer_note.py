"""Changing an answer that is stored and shown already: a line is added, or its text corrected."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from adaptive.errors import HostError
from adaptive.host.events import EventEmitter
from adaptive.host.faults import HostFaults
from adaptive.host.noted_answer import is_whole_answer, noted_answer, said_in_answer
from adaptive.host.requests import accepted_arguments
from adaptive.host.uninterrupted import uninterrupted
from adaptive.messages import Message
from adaptive.shapes import mapping

log_answer_note = logging.getLogger("adaptive_memory.host")

# From a stored message the fields to change, ``None`` where nothing is to be written.
AnswerChange = Callable[[Message], dict[str, Any] | None]
# Chat, message and change; gives the fields that were stored, ``None`` where none were.
ChangeStored = Callable[[str, str, AnswerChange], Awaitable[dict[str, Any] | None]]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The answer of a turn in a saved chat; ``emitter`` reaches the pages that show it.

    Each change is read, made and written; two at a time could undo each other, so whoever makes one
    holds the semaphore of all that write with an answer (``Learning.writing``).
    """

    chat_id: str
    message_id: str
    emitter: EventEmitter | None = None
    store: ChangeStored | None = None

    async def add_note(self, line: str) -> bool:
        """Add a line at the end of the answer, in the database and on the page; never raises.

        ``False`` where it does not stand there: nothing is stored (temporary chats, API calls),
        the answer is being written, or the host failed. Adding it again changes nothing.
        """
        return await self.change(lambda message: noted_answer(message, line), "adding a line to it")

    async def said(self) -> str | None:
        """What is stored of a whole answer, without our lines; ``None`` where nothing is."""
        found: list[str] = []

        def look(message: Message) -> None:
            """Note what is said; nothing is changed."""
            if is_whole_answer(message):
                found.append(said_in_answer(message))

        await self.change(look, "reading it")
        return found[0] if found else None

    async def change(self, change: AnswerChange, doing: str) -> bool:
        """Change the answer in the database and on the page; never raises.

        ``False`` where nothing was written: there is no such message, the change declines, or the
        host failed, which is logged with what was being done.
        """
        try:
            with HostFaults(f"a stored answer: {doing}"):
                store = self.store or _change_stored
                fields = await store(self.chat_id, self.message_id, change)
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
            with HostFaults("showing a changed answer"):
                await self.emitter({"type": "chat:outlet", "data": {"messages": messages}})
        except HostError as error:
            log_answer_note.debug("%s", error)


@uninterrupted
async def _change_stored(
    chat_id: str, message_id: str, change: AnswerChange
) -> dict[str, Any] | None:
    """Change the stored answer; its new fields, ``None`` where nothing was stored."""
    from open_webui.models.chat_messages import ChatMessages
    from open_webui.models.chats import Chats

    return await AnswerStore(Chats, ChatMessages).change(chat_id, message_id, change)


@dataclass(frozen=True, slots=True)
class AnswerStore:
    """Stored answers; ``chats`` and ``rows`` are the host's tables of chats and of messages."""

    chats: Any
    rows: Any

    async def change(
        self, chat_id: str, message_id: str, change: AnswerChange
    ) -> dict[str, Any] | None:
        """Change fields of an answer; these fields, ``None`` where nothing was stored."""
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
        self, chat_id: str, message_id: str, change: AnswerChange
    ) -> dict[str, Any] | None:
        """Up to 0.10 the host's own function would make this message the chat's newest one.

        Who has gone on writing meanwhile would not see that any more (host: models/chats.py,
        upsert_message_to_chat_by_id_and_message_id).
        """
        chat = await self.chats.get_chat_by_id(chat_id)
        history = mapping(mapping(getattr(chat, "chat", None)).get("history"))
        messages = mapping(history.get("messages"))
        stored = mapping(messages.get(message_id))
        if (fields := change(stored)) is None:
            return None
        message = {**stored, **fields}
        changed = {**history, "messages": {**messages, message_id: message}}
        if await self.chats.update_chat_by_id(chat_id, {**chat.chat, "history": changed}) is None:
            return None
        await self.rows.upsert_message(
            message_id=message_id, chat_id=chat_id, user_id=chat.user_id, data=message
        )
        return fields
