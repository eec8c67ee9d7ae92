"""Changing an answer that is stored and shown already: a line is added, or its text corrected."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from adaptive.errors import HostError
from adaptive.host.answer_store import ChangeStored, change_stored
from adaptive.host.events import EventEmitter
from adaptive.host.faults import HostFaults
from adaptive.host.hook import Hook
from adaptive.host.locked_chat import MessageChange
from adaptive.host.noted_answer import is_whole_answer, noted_answer, said_in_answer
from adaptive.messages import Message

log_answer_note = logging.getLogger("adaptive_memory.host")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The answer of a turn in a saved chat; ``emitter`` reaches the pages that show it.

    Each change is read, made and written; two at a time could undo each other, so whoever makes one
    holds the semaphore of all that write with an answer (``Learning.writing``).
    """

    chat_id: str
    message_id: str
    emitter: EventEmitter | None = None
    store: ChangeStored = change_stored

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

    async def change(self, change: MessageChange, doing: str) -> bool:
        """Change the answer in the database and on the page; never raises.

        ``False`` where nothing was written: there is no such message, the change declines, or the
        host failed, which is logged with what was being done.
        """
        try:
            with HostFaults(f"a stored answer: {doing}"):
                fields = await self.store(self.chat_id, self.message_id, change)
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


def stored_answer(hook: Hook) -> StoredAnswer:
    """The answer of a hook's turn."""
    return StoredAnswer(hook.chat_id, str(hook.metadata.get("message_id") or ""), hook.emitter)
