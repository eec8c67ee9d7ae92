"""Suggestions below a stored answer, on hosts that keep chats as one text and with rows."""

from __future__ import annotations

import copy
import types
from typing import Any

import pytest
from fastapi import FastAPI, Request

from adaptive.errors import HostError
from adaptive.host.follow_ups import FollowUps, FollowUpStore, follow_ups_are_wanted
from adaptive.host.hook import Hook
from tests.fakes import hook_settings

LINES = ["And then?", "What does it cost?"]
ANSWER = {"id": "a", "role": "assistant", "content": "Hello.", "done": True}


class OldChats:
    """Chats up to 0.10: one text each, which a writer replaces as a whole."""

    def __init__(self, *messages: dict[str, Any], broken: bool = False) -> None:
        kept = {one["id"]: copy.deepcopy(one) for one in messages}
        history = {"messages": kept, "currentId": "newest"}
        self.chat = types.SimpleNamespace(user_id="ada", chat={"title": "T", "history": history})
        self.rows: dict[str, Any] = {}
        self._broken = broken

    def stored(self, message_id: str = "a") -> dict[str, Any]:
        """A message as it stands."""
        return self.chat.chat["history"]["messages"][message_id]

    async def get_chat_by_id(self, id: str) -> Any:
        """The chat, if it is known."""
        return copy.deepcopy(self.chat) if id == "c" else None

    async def update_chat_by_id(self, id: str, chat: dict[str, Any]) -> Any:
        """Replace the text of the chat."""
        if self._broken:
            return None
        self.chat.chat = chat
        return self.chat

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

    def __init__(self, failure: Exception | None = None) -> None:
        self.events: list[dict[str, Any]] = []
        self._failure = failure

    async def emit(self, event: dict[str, Any]) -> None:
        """Show an event."""
        if self._failure:
            raise self._failure
        self.events.append(event)


EACH_HOST = pytest.mark.parametrize("host", [OldChats, NewChats], ids=["text", "rows"])


def below(chats: OldChats, pages: Pages | None = None, message_id: str = "a") -> FollowUps:
    """Suggestions below an answer in a chat of such a host."""
    store = FollowUpStore(chats, chats).put
    return FollowUps("c", message_id, pages.emit if pages else None, store)


@EACH_HOST
async def test_stored_and_shown(host: type[OldChats]) -> None:
    """They are stored where the host keeps its own, then shown; all else stays as it was."""
    chats, pages = host(ANSWER, {"id": "newest", "role": "user", "content": "Go on."}), Pages()
    assert await below(chats, pages).show(LINES)
    assert chats.stored() == {**ANSWER, "followUps": LINES}
    assert chats.stored("newest")["content"] == "Go on."
    assert chats.chat.chat["history"]["currentId"] == "newest"
    assert pages.events == [{"type": "chat:message:follow_ups", "data": {"follow_ups": LINES}}]
    if host is OldChats:
        assert chats.rows == {"a": chats.stored()}


@EACH_HOST
@pytest.mark.parametrize(
    "message",
    [
        {**ANSWER, "id": "b"},
        {**ANSWER, "done": False},
        {**ANSWER, "error": {"content": "x"}},
        {**ANSWER, "role": "user"},
        {**ANSWER, "followUps": ["The host's own?"]},
    ],
    ids=["gone", "written", "failed", "question", "has some"],
)
async def test_not_there(host: type[OldChats], message: dict[str, Any]) -> None:
    """An answer that is gone, no whole one, or has the host's own gets none, and none is shown."""
    chats, pages = host(message), Pages()
    assert not await below(chats, pages).show(LINES)
    assert not await FollowUps("x", "a", pages.emit, FollowUpStore(chats, chats).put).show(LINES)
    assert chats.stored(message["id"]) == message
    assert pages.events == []


@EACH_HOST
async def test_host_writes_nothing(host: type[OldChats]) -> None:
    """What could not be stored is not shown; nothing to suggest is not stored either."""
    pages = Pages()
    assert not await below(host(ANSWER, broken=True), pages).show(LINES)
    assert not await below(host(ANSWER), pages).show([])
    assert pages.events == []


async def test_page_is_gone() -> None:
    """Without a page, or with one that fails, they are stored all the same."""
    for pages in (None, Pages(OSError("gone"))):
        chats = NewChats(ANSWER)
        assert await below(chats, pages).show(LINES)
        assert chats.stored()["followUps"] == LINES


async def test_host_is_not_there() -> None:
    """Where the host's modules are not to be had, that is an error of the host."""
    with pytest.raises(HostError, match="storing what to ask next"):
        await FollowUps("c", "a").show(LINES)


def hook(own: object, user: dict[str, Any]) -> Hook:
    """A hook on a host whose switch stands so."""
    app = FastAPI()
    app.state.config = types.SimpleNamespace(ENABLE_FOLLOW_UP_GENERATION=own)
    request = Request({"type": "http", "headers": [], "app": app})
    return Hook(hook_settings(), {"id": "ada", **user}, {}, request, None, None)


@pytest.mark.parametrize(
    ("own", "user", "wanted"),
    [
        (False, {}, True),
        (True, {}, False),
        (None, {}, False),
        (False, {"settings": {"ui": {"autoFollowUps": True}}}, True),
        (False, {"settings": {"ui": {"autoFollowUps": False}}}, False),
        (False, {"settings": None}, True),
    ],
)
async def test_wanted(own: object, user: dict[str, Any], wanted: bool) -> None:
    """Ours are shown where the host makes none, unless the user wants nobody's."""
    assert await follow_ups_are_wanted(hook(own, user)) is wanted
