"""Stored answers and titles, changed while nobody else writes their chat.

A chat is one text that whoever changes a message reads and writes back. Without a lock, which the
host has since 0.12, what is written behind an answer would undo the next message, which the user is
sending meanwhile (host: models/chats.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from sqlalchemy import text
from sqlalchemy.orm.attributes import flag_modified

from adaptive.core.messages import (
    Message,
    answer_note,
    listing,
    mapping,
    message_text,
    rewritten_answer,
    text_field,
    without_answer_note,
)
from adaptive.core.runtime import KeyedLocks
from adaptive.host.faults import faults_logged, uninterrupted
from adaptive.host.own_table import host_session
from adaptive.host.page import (
    EventEmitter,
    emitter_to,
    is_temporary,
    show_event,
)

# SQLite has one writer at a time: whoever waits longer gives up.
_LONGEST_WRITING_SECONDS = 15.0
_CHATS = KeyedLocks()
_NOTE_ITEM = "adaptive_memory_note"
# Where the host keeps in a message what to ask next, and its statuses (host: utils/middleware.py,
# socket/main.py).
_FOLLOW_UPS = "followUps"
_STATUSES = "statusHistory"
# What the page calls a chat until there is a title.
_UNTITLED = ("", "New Chat")
# Before each try to store a late answer: the work that has made it late may keep the database busy.
_LATE_PAUSES_SECONDS = (0.0, 1.0, 5.0, 20.0, 60.0)
# The host puts the first message in place of a title when its other tasks are done; up to 0.11
# it does so behind the outlet, and its own suggestions of what to ask next come first.
_TITLE_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)


class TurnAnswered(asyncio.CancelledError):
    """Ends a turn as the page's Stop button does, for an answer that stands already.

    An inlet can't answer. A host whose turn is cancelled before the model is asked tells the page
    that it is over and runs no task behind it (host: main.py, process_chat).
    """


@asynccontextmanager
async def alone_in_chat(chat_id: str) -> AsyncGenerator[None, None]:
    """Hold off what else this process would write into a chat; ``TimeoutError`` after a while.

    Before 0.12 the host reads a chat and writes it back in two transactions.
    """
    async with asyncio.timeout(_LONGEST_WRITING_SECONDS), _CHATS.of(chat_id):
        yield


# From a stored message the fields to change, ``None`` where nothing is to be written.
MessageChange = Callable[[Message], dict[str, Any] | None]
# Chat, message and change; gives the fields that were stored, ``None`` where none were.
ChangeMessage = Callable[
    [str, str, MessageChange], Awaitable[dict[str, Any] | None]
]


@uninterrupted
async def change_message(
    chat_id: str, message_id: str, change: MessageChange
) -> dict[str, Any] | None:
    """Change fields of a message in the text of its chat, and in its row; the fields changed.

    The host's own function would, up to 0.10, make this message the chat's newest one.
    """
    from open_webui.models.chat_messages import ChatMessages
    from open_webui.models.chats import Chat

    async with host_session() as session:
        if session.get_bind().dialect.name == "sqlite":
            # Nothing else keeps a reader in SQLite from writing what is out of date.
            await session.execute(text("BEGIN IMMEDIATE"))
        row: Any = await session.get(
            Chat, chat_id, populate_existing=True, with_for_update=True
        )
        messages: Any = mapping(
            getattr(row, "chat", None), "history", "messages"
        )
        stored = mapping(messages, message_id)
        fields = change(stored) if stored else None
        if fields is None:
            await session.commit()
            return None
        message = {**stored, **fields}
        messages[message_id] = message
        flag_modified(row, "chat")
        owner = text_field(message, "user_id") or row.user_id
        await session.commit()
    await ChatMessages.upsert_message(
        message_id=message_id, chat_id=chat_id, user_id=owner, data=message
    )
    return fields


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """A ``StoredAnswer`` to a user; ``emitter`` reaches the pages that show it."""

    chat_id: str
    message_id: str
    emitter: EventEmitter | None = None
    store: ChangeMessage = change_message
    user_id: str = ""

    @classmethod
    def of(
        cls,
        metadata: Mapping[str, Any],
        emitter: EventEmitter | None,
        user: Mapping[str, Any] | None = None,
    ) -> Self:
        """The answer of the turn that metadata belong to."""
        return cls(
            chat_id=text_field(metadata, "chat_id"),
            message_id=text_field(metadata, "message_id"),
            emitter=emitter,
            user_id=text_field(user or {}, "id"),
        )

    async def give(self, text: str, title: str = "") -> None:
        """Make a text the whole answer; an untitled chat gets a title, if there is one.

        The host's own function makes this message the chat's newest one, which it is.
        """
        answer = {"content": text, "done": True}
        is_stored = not is_temporary(self.chat_id)
        if is_stored:
            with faults_logged("storing an answer"):
                from open_webui.models.chats import Chats

                store = uninterrupted(
                    Chats.upsert_message_to_chat_by_id_and_message_id
                )
                await store(self.chat_id, self.message_id, answer)
        await show_event(self.emitter, "chat:completion", answer)
        if is_stored and title:
            await self.name_chat(title)

    async def give_late(self, text: str, announced: str) -> None:
        """Make a text the answer in place of what ``announced`` it, wherever the chat is by now."""
        if is_temporary(self.chat_id):
            await self.give(text)
            return
        late = partial(_late_answer, text=text, announced=announced)
        for seconds in _LATE_PAUSES_SECONDS:
            await asyncio.sleep(seconds)
            if await self._change(late):
                return
            if await self.said() not in (None, "", announced):
                return  # its user has edited it

    async def said(self) -> str | None:
        """What is stored of a whole answer, without our lines; ``None`` where nothing is."""
        texts: list[str] = []

        def read(message: Message) -> None:
            """Read what the answer says, and change nothing."""
            texts.append(_said_in(message))

        await self._store(_if_whole(read))
        return texts[0] if texts else None

    async def add_note(self, line: str) -> bool:
        """Add a line of ours at its end, in place of a former one; whether it stands there."""
        return await self._change(_if_whole(partial(_noted_answer, line=line)))

    async def rewrite(
        self, said: str, rewriting: Callable[[str], str]
    ) -> bool:
        """Rewrite what it says, if that is still what it ``said``; whether that was done."""

        def rewritten(message: Message) -> dict[str, Any] | None:
            """The answer rewritten, unless it was edited meanwhile."""
            if _said_in(message) != said:
                return None
            return rewritten_answer(message, rewriting) or None

        return await self._change(_if_whole(rewritten))

    async def add_follow_ups(self, lines: Sequence[str]) -> None:
        """Store what to ask next with it, as the host's own; not where it has some already."""
        follow_ups = [*lines]

        def with_follow_ups(message: Message) -> dict[str, Any] | None:
            """Have an answer without suggestions take them."""
            return (
                None
                if listing(message.get(_FOLLOW_UPS))
                else {_FOLLOW_UPS: follow_ups}
            )

        if await self._store(_if_whole(with_follow_ups)):
            shown = {"follow_ups": follow_ups}
            await show_event(self.emitter, "chat:message:follow_ups", shown)

    async def name_chat(self, title: str, first_message: str = "") -> None:
        """Give its chat a title where nobody has chosen one; never raises.

        The host puts the ``first_message`` in place of a title, if it is to make none; that is
        waited for. A turn that we end has no title at all, since the page asks for one then only.
        """
        standing = ""
        with faults_logged("giving a chat its title"):
            from open_webui.models.chats import Chats

            for seconds in _TITLE_PAUSES if first_message else (0.0,):
                await asyncio.sleep(seconds)
                standing = await uninterrupted(Chats.get_chat_title_by_id)(
                    self.chat_id
                )
                if standing is None:
                    return
                if standing.strip() not in _UNTITLED:
                    break
            if standing.strip() not in (*_UNTITLED, first_message.strip()):
                return
            if await uninterrupted(Chats.update_chat_title_by_id)(
                self.chat_id, title
            ):
                await show_event(self.emitter, "chat:title", title)

    async def emit(self, event: dict[str, Any]) -> None:
        """Show an event with it; a status is stored under a lock where the host has none."""
        unstored = None
        if event.get("type") == "status" and _stores_without_lock():
            unstored = await emitter_to(
                self.user_id, self.chat_id, self.message_id, stores=False
            )
        emitter = unstored or self.emitter
        async with alone_in_chat(self.chat_id):
            if emitter is not None:
                await emitter(event)
            if unstored is not None:
                status = mapping(event, "data")
                add = partial(_with_status, status=status)
                await self.store(self.chat_id, self.message_id, add)

    async def _change(self, change: MessageChange) -> bool:
        """Change the answer and have the pages take it over; whether that was done.

        The event with which the host tells the page what outlets changed sets any field of a
        message and stores nothing (host: socket/main.py).
        """
        fields = await self._store(change)
        if fields is None:
            return False
        changed = {"messages": [{"id": self.message_id, **fields}]}
        await show_event(self.emitter, "chat:outlet", changed)
        return True

    async def _store(self, change: MessageChange) -> dict[str, Any] | None:
        """Change the answer in the database; the fields changed. It never raises."""
        if not self.chat_id or not self.message_id:
            return None
        with faults_logged("changing a stored answer"):
            async with alone_in_chat(self.chat_id):
                return await self.store(self.chat_id, self.message_id, change)
        return None


def _if_whole(change: MessageChange) -> MessageChange:
    """The change of an answer that is being written no more, and has not failed."""

    def changed(message: Message) -> dict[str, Any] | None:
        """The fields to change."""
        is_whole = message.get("done") is not False and not message.get(
            "error"
        )
        is_answer = message.get("role") == "assistant"
        return change(message) if is_whole and is_answer else None

    return changed


def _late_answer(
    message: Message, text: str, announced: str
) -> dict[str, Any] | None:
    """The fields of an answer that was announced, or was to be while the database was away."""
    if message.get("role") != "assistant" or _said_in(message) not in (
        "",
        announced,
    ):
        return None
    return {
        "content": text,
        **rewritten_answer(message, lambda _: text),
        "done": True,
    }


def _with_status(
    message: Message, status: Mapping[str, Any]
) -> dict[str, Any]:
    """The statuses of a stored message with one more."""
    return {_STATUSES: [*listing(message.get(_STATUSES)), status]}


def _noted_answer(message: Message, line: str) -> dict[str, Any] | None:
    """The fields of a stored answer that change when a line is added to it, if it can be.

    In ``output`` the line is an item of its own, whose part is ``text`` and not ``output_text``:
    the page shows both, and the host sends it to no model (host: utils/misc.py).
    """
    said = _said_in(message)
    if not said or said.count("```") % 2:
        return None
    note = answer_note(line)
    fields: dict[str, Any] = {"content": f"{said}\n\n{note}"}
    output = listing(message.get("output"))
    items = [item for item in output if mapping(item).get("id") != _NOTE_ITEM]
    if items:
        note_item = {
            "type": "message",
            "id": _NOTE_ITEM,
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "text", "text": note}],
        }
        fields["output"] = [*items, note_item]
    return fields


def _said_in(message: Message) -> str:
    """The text of a stored answer without a line that was added to it."""
    return without_answer_note(message_text(message)).rstrip()


def _stores_without_lock() -> bool:
    """Whether the host reads and rewrites a chat's text without a lock, as it does up to 0.11."""
    try:
        from open_webui.models.chats import Chats
    except ImportError:
        return False
    return not hasattr(Chats, "_chat_transaction")
