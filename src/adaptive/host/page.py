"""The page of a chat: answers as they are stored and shown, and lines below them."""

import asyncio
from collections.abc import (
    Awaitable,
    Callable,
    Sequence,
)
from functools import partial
from typing import Self

from adaptive.core import (
    JsonMapping,
    JsonObject,
    Message,
    answer_note,
    frozen,
    listing,
    mapping,
    message_text,
    rewritten_answer,
    text_field,
    without_answer_note,
)
from adaptive.host.audience import is_temporary
from adaptive.host.faults import faults_logged, uninterrupted
from adaptive.host.history_chats import (
    UNTITLED,
    ChangeMessage,
    MessageChange,
    alone_in_chat,
    change_message,
)

EventEmitter = Callable[[JsonObject], Awaitable[object]]
_NOTE_ITEM = "adaptive_memory_note"
# Where the host keeps in a message what to ask next, and its statuses (host: utils/middleware.py,
# socket/main.py).
_FOLLOW_UPS = "followUps"
_STATUSES = "statusHistory"
# Before each try to store a late answer: what made it late may keep the database busy.
_LATE_PAUSES_SECONDS = (0.0, 1.0, 5.0, 20.0, 60.0)
# The host puts the first message in place of a title when its other tasks are done; up to 0.11
# it does so behind the outlet, and its own suggestions of what to ask next come first.
_TITLE_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)


async def emitter_to(
    user_id: str, chat_id: str, message_id: str, *, stores: bool = True
) -> EventEmitter | None:
    """An emitter to the pages of an answer, which another process may have given.

    Unless told otherwise, it stores with the answer what it shows (host: socket/main.py,
    get_event_emitter). ``None`` where the host has none.
    """
    told = {"user_id": user_id, "chat_id": chat_id, "message_id": message_id}
    with faults_logged("reaching the page of an answer"):
        from open_webui.socket.main import get_event_emitter

        return await get_event_emitter(told, update_db=stores)
    return None


async def show_event(
    emitter: EventEmitter | None, kind: str, data: object
) -> None:
    """Show an event in the page if there is one; never raises."""
    if emitter is not None:
        with faults_logged(f"showing a {kind}"):
            await emitter({"type": kind, "data": data})


class TurnAnswered(asyncio.CancelledError):
    """Ends a turn as the page's Stop button does, for an answer that stands already.

    An inlet can't answer. A host whose turn is cancelled before the model is asked tells the page
    that it is over and runs no task behind it (host: main.py, process_chat).
    """


@frozen
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
        metadata: JsonMapping,
        emitter: EventEmitter | None,
        user: JsonMapping | None = None,
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

        def late(message: Message) -> JsonObject | None:
            """What was announced, or was to be while the database was away, is replaced."""
            is_answer = message.get("role") == "assistant"
            if not is_answer or _said_in(message) not in ("", announced):
                return None
            answer = rewritten_answer(message, lambda _: text)
            return {"content": text, **answer, "done": True}

        for seconds in _LATE_PAUSES_SECONDS:
            await asyncio.sleep(seconds)
            if await self._change(late):
                return

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

        def rewritten(message: Message) -> JsonObject | None:
            """The answer rewritten, unless it was edited meanwhile."""
            if _said_in(message) != said:
                return None
            return rewritten_answer(message, rewriting) or None

        return await self._change(_if_whole(rewritten))

    async def add_follow_ups(self, lines: Sequence[str]) -> None:
        """Store what to ask next with it, as the host's own; not where it has some already."""

        def with_follow_ups(message: Message) -> JsonObject | None:
            """Have an answer without suggestions take them."""
            has_some = bool(listing(message.get(_FOLLOW_UPS)))
            return None if has_some else {_FOLLOW_UPS: [*lines]}

        if await self._store(_if_whole(with_follow_ups)):
            shown = {"follow_ups": [*lines]}
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
                if standing is None or standing.strip() not in UNTITLED:
                    break
            replaced = (*UNTITLED, first_message.strip())
            if standing is None or standing.strip() not in replaced:
                return
            if await uninterrupted(Chats.update_chat_title_by_id)(
                self.chat_id, title
            ):
                await show_event(self.emitter, "chat:title", title)

    async def emit(self, event: JsonObject) -> None:
        """Show an event with it; a status is stored by us, as up to 0.11 the host has no lock."""
        unstored = None
        if event.get("type") == "status":
            unstored = await emitter_to(
                self.user_id, self.chat_id, self.message_id, stores=False
            )
        emitter = unstored or self.emitter

        def with_status(message: Message) -> JsonObject:
            """The message's statuses with one more."""
            statuses = listing(message.get(_STATUSES))
            return {_STATUSES: [*statuses, event["data"]]}

        async with alone_in_chat(self.chat_id):
            if emitter is not None:
                await emitter(event)
            if unstored is not None:
                await self.store(self.chat_id, self.message_id, with_status)

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

    async def _store(self, change: MessageChange) -> JsonObject | None:
        """Change the answer in the database; the fields changed. It never raises."""
        with faults_logged("changing a stored answer"):
            async with alone_in_chat(self.chat_id):
                return await self.store(self.chat_id, self.message_id, change)
        return None


def _if_whole(change: MessageChange) -> MessageChange:
    """The change of an answer that is being written no more, and has not failed."""

    def changed(message: Message) -> JsonObject | None:
        """The fields to change."""
        is_whole = message.get("done") is not False and not message.get(
            "error"
        )
        is_answer = message.get("role") == "assistant"
        return change(message) if is_whole and is_answer else None

    return changed


def _noted_answer(message: Message, line: str) -> JsonObject | None:
    """The fields of a stored answer that change when a line is added to it, if it can be.

    In ``output`` the line is an item of its own, whose part is ``text`` and not ``output_text``:
    the page shows both, and the host sends it to no model (host: utils/misc.py).
    """
    said = _said_in(message)
    if not said or said.count("```") % 2:
        return None
    note = answer_note(line)
    fields: JsonObject = {"content": f"{said}\n\n{note}"}
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


@frozen
class PageNotifier:
    """Shows lines with the answer; silent without an emitter, as for plain API calls.

    Every status rewrites the stored chat (host: models/chats.py), so a turn shows one or two.
    """

    emitter: EventEmitter | None

    async def status(self, text: str) -> None:
        """Show one finished line with the answer."""
        data = {"description": text, "done": True, "hidden": False}
        await show_event(self.emitter, "status", data)

    async def source(
        self, name: str, documents: list[str], metadata: list[JsonObject]
    ) -> None:
        """Show a source under the answer, as the page shows documents."""
        data = {
            "source": {"name": name},
            "document": documents,
            "metadata": metadata,
        }
        await show_event(self.emitter, "source", data)

    async def embed(self, document: str) -> None:
        """Show a document with the answer, in a frame without rights (host: since 0.6)."""
        data = {"embeds": [document], "replace": True}
        await show_event(self.emitter, "embeds", data)
