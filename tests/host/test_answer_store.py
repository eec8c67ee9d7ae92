"""Changing fields of a stored answer, on hosts that keep chats as one text and with rows."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from adaptive.host.answer_store import AnswerStore, change_stored
from adaptive.messages import Message
from tests.host.chat_tables import EACH_HOST, OldChats

ANSWER = {"id": "a", "role": "assistant", "content": "Hello.", "done": True}
FIELDS = {"content": "Good day.", "mark": 1}


def changed(_: Message) -> dict[str, Any]:
    """Change whatever is there."""
    return dict(FIELDS)


@EACH_HOST
async def test_changed(host: type[OldChats]) -> None:
    """Named fields change, where the host keeps them twice in both; the chat stays as it was."""
    chats = host(ANSWER, {"id": "newest", "role": "user", "content": "Go on."})
    before = copy.deepcopy(chats.chat.chat)
    assert await AnswerStore(chats, chats, chats.change_message).change("c", "a", changed) == FIELDS
    before["history"]["messages"]["a"].update(FIELDS)
    assert chats.chat.chat == before
    assert chats.rows == ({"a": {**ANSWER, **FIELDS}} if host is OldChats else {})


@EACH_HOST
async def test_read_as_it_stands(host: type[OldChats]) -> None:
    """A change is given the message, and an empty one where there is none; it may decline."""
    chats = host(ANSWER)
    seen: list[Message] = []
    for chat_id, message_id in (("c", "a"), ("c", "unknown"), ("x", "a")):
        assert (
            await AnswerStore(chats, chats, chats.change_message).change(
                chat_id, message_id, seen.append
            )
            is None
        )
    assert seen == [ANSWER, {}, {}]
    assert chats.chat.chat == host(ANSWER).chat.chat


@EACH_HOST
@pytest.mark.parametrize(("chat_id", "message_id"), [("", "a"), ("c", "")])
async def test_nothing_is_stored(host: type[OldChats], chat_id: str, message_id: str) -> None:
    """Without a chat or a message the host is not asked at all."""
    assert await AnswerStore(host(ANSWER), None).change(chat_id, message_id, changed) is None


@EACH_HOST
async def test_failed_write(host: type[OldChats]) -> None:
    """A write that the host swallowed counts as none."""
    chats = host(ANSWER, broken=True)
    assert await AnswerStore(chats, chats, chats.change_message).change("c", "a", changed) is None
    assert chats.rows == {}


async def test_host_is_not_there() -> None:
    """Where the host's modules are not to be had, its error is the caller's to name."""
    with pytest.raises(ImportError):
        await change_stored("c", "a", changed)
