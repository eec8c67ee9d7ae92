"""The host's tables of chats, as releases keep them, and the pages that show an answer."""

from __future__ import annotations

import copy
import types
from typing import Any

import pytest

from adaptive.host.locked_chat import ChangedMessage, MessageChange


class OldChats:
    """Chats up to 0.10: one text each, which a writer replaces as a whole; ``rows`` beside it."""

    def __init__(self, *messages: dict[str, Any], broken: bool = False) -> None:
        kept = {one["id"]: copy.deepcopy(one) for one in messages}
        history = {"messages": kept, "currentId": "newest"}
        self.chat = types.SimpleNamespace(user_id="ada", chat={"title": "T", "history": history})
        self.rows: dict[str, Any] = {}
        self._broken = broken

    def stored(self, message_id: str = "a") -> dict[str, Any]:
        """A message as it stands."""
        return self.chat.chat["history"]["messages"][message_id]

    async def change_message(
        self, id: str, message_id: str, change: MessageChange
    ) -> ChangedMessage | None:
        """Change a message in the text of the chat, if both are known."""
        messages = self.chat.chat["history"]["messages"] if id == "c" else {}
        stored = copy.deepcopy(messages.get(message_id, {}))
        fields = change(stored)
        if not stored or fields is None or self._broken:
            return None
        messages[message_id] = {**stored, **fields}
        return ChangedMessage(messages[message_id], fields, self.chat.user_id)

    async def upsert_message(
        self, message_id: str, chat_id: str, user_id: str, data: dict[str, Any]
    ) -> None:
        """Replace a message's row."""
        assert (chat_id, user_id) == ("c", "ada")
        self.rows[message_id] = data


class NewChats(OldChats):
    """Chats since 0.11: a message is changed in place, and what is newest stays it."""

    def upsert_message_to_history(self) -> None:
        """Only there to tell the release."""

    async def get_message_by_id_and_message_id(self, id: str, message_id: str) -> Any:
        """A message, empty if it is not known."""
        messages = self.chat.chat["history"]["messages"]
        return copy.deepcopy(messages.get(message_id, {})) if id == "c" else None

    async def upsert_message_to_chat_by_id_and_message_id(
        self, id: str, message_id: str, message: dict[str, Any], *, touch: bool = True
    ) -> Any:
        """Change fields of a message; it is not to move the chat to the top of the list."""
        assert not touch
        if self._broken:
            return None
        self.stored(message_id).update(message)
        return self.chat


class Pages:
    """An emitter that keeps what it is to show, or fails."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.events: list[dict[str, Any]] = []
        self._failure = failure

    async def emit(self, event: dict[str, Any]) -> None:
        """Show an event."""
        if self._failure:
            raise self._failure
        self.events.append(event)


EACH_HOST = pytest.mark.parametrize("host", [OldChats, NewChats], ids=["text", "rows"])
