"""Suggestions below a stored answer, on hosts that keep chats as one text and with rows."""

from __future__ import annotations

import types
from typing import Any

import pytest
from fastapi import FastAPI, Request

from adaptive.errors import HostError
from adaptive.host.answer_store import AnswerStore
from adaptive.host.follow_ups import FollowUps, follow_ups_are_wanted
from adaptive.host.hook import Hook
from tests.fakes import hook_settings
from tests.host.chat_tables import EACH_HOST, NewChats, OldChats, Pages

LINES = ["And then?", "What does it cost?"]
ANSWER = {"id": "a", "role": "assistant", "content": "Hello.", "done": True}


def below(chats: OldChats, pages: Pages | None = None, message_id: str = "a") -> FollowUps:
    """Suggestions below an answer in a chat of such a host."""
    store = AnswerStore(chats, chats, chats.change_message).change
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
    assert not await FollowUps(
        "x", "a", pages.emit, AnswerStore(chats, chats, chats.change_message).change
    ).show(LINES)
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
