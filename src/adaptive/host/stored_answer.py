"""Stored answers and titles, changed while nobody else writes their chat.

A chat is one text that whoever changes a message reads and writes back. Without a lock, which the
host has since 0.12, what is written behind an answer would undo the next message, which the user is
sending meanwhile (host: models/chats.py).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm.attributes import flag_modified

from adaptive.core.errors import HostError, with_detail
from adaptive.core.markdown import (
    answer_note,
    folded_away,
    rewritten_answer,
    without_answer_note,
)
from adaptive.core.messages import Message, message_text
from adaptive.core.shapes import listing, mapping
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.host.own_table import host_session
from adaptive.host.page import EventEmitter, emitter_to, is_temporary, show_event

log_stored_answer = logging.getLogger("adaptive_memory.host")

# Longer than a question to the user stays open.
_ANSWER_SECONDS = 150.0
_GOES_ON = "This takes longer than usual. It goes on, and its answer will stand here."
_BROKEN_OFF = (
    "This was broken off, since the plug-in was loaded anew: `/memory log` shows what was changed."
)
_NOTE_ITEM = "adaptive_memory_note"
# Where the host keeps what to ask next in a message (host: utils/middleware.py).
_FOLLOW_UPS_FIELD = "followUps"
# What the page calls a chat until there is a title.
_UNTITLED = ("", "New Chat")
# The host puts the first message in place of a title when its other tasks are done; up to 0.11
# it does so behind the outlet, and its own suggestions of what to ask next come first.
_TITLE_LOOKS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)


class TurnAnswered(asyncio.CancelledError):
    """Ends a turn as the page's Stop button does, for an answer that stands already.

    An inlet can't answer. A host whose turn is cancelled before the model is asked tells the page
    that it is over and runs no task behind it (host: main.py, process_chat).
    """


async def end_turn(page: HostAnswer, answering: asyncio.Task[None]) -> None:
    """Wait until a turn is answered in the model's place, and end it by ``TurnAnswered``.

    What takes long goes on behind: who presses Stop ends the waiting and not the work.
    """
    await asyncio.wait({answering}, timeout=_ANSWER_SECONDS)
    if not answering.done():
        await page.give(folded_away(_GOES_ON))
    elif answering.cancelled():
        await page.give(folded_away(_BROKEN_OFF))
    raise TurnAnswered


# From a stored message the fields to change, ``None`` where nothing is to be written.
MessageChange = Callable[[Message], dict[str, Any] | None]
# Chat, message and change; gives the fields that were stored, ``None`` where none were.
ChangeMessage = Callable[[str, str, MessageChange], Awaitable[dict[str, Any] | None]]


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
        found = await session.get(Chat, chat_id, populate_existing=True, with_for_update=True)
        history = mapping(mapping(getattr(found, "chat", None)).get("history"))
        messages: Any = mapping(history.get("messages"))
        stored = mapping(messages.get(message_id))
        fields = change(stored) if stored else None
        if fields is None:
            await session.commit()
            return None
        message = messages[message_id] = {**stored, **fields}
        flag_modified(found, "chat")
        owner = str(message.get("user_id") or getattr(found, "user_id", ""))
        await session.commit()
    await ChatMessages.upsert_message(
        message_id=message_id, chat_id=chat_id, user_id=owner, data=message
    )
    return fields


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """A ``StoredAnswer``; ``emitter`` reaches the pages that show it."""

    chat_id: str
    message_id: str
    emitter: EventEmitter | None = None
    store: ChangeMessage = change_message

    async def give(self, text: str, title: str = "") -> None:
        """Make a text the whole answer; an untitled chat gets a title, if there is one.

        The host's own function makes this message the chat's newest one, which it is.
        """
        answer = {"content": text, "done": True}
        is_stored = not is_temporary(self.chat_id)
        try:
            if is_stored:
                with HostFaults("storing an answer"):
                    from open_webui.models.chats import Chats

                    store = uninterrupted(Chats.upsert_message_to_chat_by_id_and_message_id)
                    await store(self.chat_id, self.message_id, answer)
        except HostError as error:
            log_stored_answer.warning("%s", with_detail(error))
        await show_event(self.emitter, "chat:completion", answer)
        if is_stored and title:
            await name_untitled_chat(self.chat_id, title, self.emitter)

    async def said(self) -> str | None:
        """What is stored of a whole answer, without our lines; ``None`` where nothing is."""
        found: list[str] = []
        await self._change(lambda message: found.append(_said_in(message)), "reading it")
        return found[0] if found else None

    async def add_note(self, line: str) -> bool:
        """Add a line of ours at its end, in place of a former one; whether it stands there."""
        return await self._change(lambda message: _noted_answer(message, line), "adding a line")

    async def rewrite(self, said: str, rewriting: Callable[[str], str]) -> bool:
        """Rewrite what it says, if that is still what it ``said``; whether that was done."""

        def rewritten(message: Message) -> dict[str, Any] | None:
            """The answer rewritten, unless it was edited meanwhile."""
            unchanged = _said_in(message) == said
            return (rewritten_answer(message, rewriting) or None) if unchanged else None

        return await self._change(rewritten, "rewriting it")

    async def add_follow_ups(self, lines: Sequence[str]) -> bool:
        """Store what to ask next with it, as the host's own; not where it has some already."""
        told = list(lines)

        def put(message: Message) -> dict[str, Any] | None:
            """Have an answer without suggestions take them."""
            return None if listing(message.get(_FOLLOW_UPS_FIELD)) else {_FOLLOW_UPS_FIELD: told}

        event = ("chat:message:follow_ups", {"follow_ups": told})
        return bool(told) and await self._change(put, "adding what to ask next", event)

    async def _change(
        self, change: MessageChange, doing: str, event: tuple[str, Any] | None = None
    ) -> bool:
        """Change a whole answer in the database and have the pages take it over; never raises.

        The event with which the host tells the page what outlets changed sets any field of a
        message and stores nothing (host: socket/main.py).
        """
        if not self.chat_id or not self.message_id:
            return False

        def changed_if_whole(message: Message) -> dict[str, Any] | None:
            whole = message.get("done") is not False and not message.get("error")
            return change(message) if whole and message.get("role") == "assistant" else None

        try:
            with HostFaults(f"changing a stored answer: {doing}"):
                fields = await self.store(self.chat_id, self.message_id, changed_if_whole)
        except HostError as error:
            log_stored_answer.warning("%s", with_detail(error))
            return False
        if fields is not None:
            changed = {"messages": [{"id": self.message_id, **fields}]}
            await show_event(self.emitter, *(event or ("chat:outlet", changed)))
        return fields is not None


def answer_of(metadata: Mapping[str, Any], emitter: EventEmitter | None) -> HostAnswer:
    """The answer of the turn that metadata belong to."""
    chat_id, message_id = (str(metadata.get(name) or "") for name in ("chat_id", "message_id"))
    return HostAnswer(chat_id, message_id, emitter)


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
    stored = listing(message.get("output"))
    if items := [one for one in stored if mapping(one).get("id") != _NOTE_ITEM]:
        part = {"type": "text", "text": note}
        item = {"type": "message", "id": _NOTE_ITEM, "status": "completed", "role": "assistant"}
        fields["output"] = [*items, {**item, "content": [part]}]
    return fields


def _said_in(message: Message) -> str:
    """The text of a stored answer without a line that was added to it."""
    return without_answer_note(message_text(message)).rstrip()


async def emit_status(
    emitter: EventEmitter, event: dict[str, Any], user_id: str, chat_id: str, message_id: str
) -> None:
    """Show a status of a saved answer, and store it under a lock where the host has none."""
    quiet: EventEmitter | None = None
    with suppress(ImportError):
        from open_webui.models.chats import Chats

        if not hasattr(Chats, "_chat_transaction"):
            quiet = await emitter_to(user_id, chat_id, message_id, stores=False)
    await (quiet or emitter)(event)
    if quiet is not None:
        name, status = "statusHistory", mapping(event.get("data"))
        await change_message(
            chat_id, message_id, lambda one: {name: [*listing(one.get(name)), status]}
        )


async def name_untitled_chat(chat_id: str, title: str, emitter: EventEmitter | None) -> None:
    """Give a chat that has no title yet this one; never raises.

    The page asks for a title with a chat's first message only, and a turn that we end has none.
    """
    given = None
    try:
        with HostFaults("giving a chat its title"):
            from open_webui.models.chats import Chats

            standing = await uninterrupted(Chats.get_chat_title_by_id)(chat_id)
            if standing is not None and standing.strip() in _UNTITLED:
                given = await uninterrupted(Chats.update_chat_title_by_id)(chat_id, title)
    except HostError as error:
        log_stored_answer.warning("%s", with_detail(error))
    if given is not None:
        await show_event(emitter, "chat:title", title)


async def give_title(
    chat_id: str, title: str, first_words: str, emitter: EventEmitter | None
) -> bool:
    """Store and show a title in place of a chat's first message; whether it stands there.

    Waits for the host, which puts the first message there. A title that somebody chose stays.
    """
    with HostFaults("giving a chat its title"):
        from open_webui.models.chats import Chats

        standing: str | None = ""
        for seconds in _TITLE_LOOKS:
            await asyncio.sleep(seconds)
            standing = await uninterrupted(Chats.get_chat_title_by_id)(chat_id)
            if standing is None or standing.strip() not in _UNTITLED:
                break
        if standing is None or standing.strip() not in (*_UNTITLED, first_words.strip()):
            return False
        given = await uninterrupted(Chats.update_chat_title_by_id)(chat_id, title)
    if given is not None:
        await show_event(emitter, "chat:title", title)
    return given is not None
