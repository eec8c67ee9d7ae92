"""A line below a stored answer, on hosts that keep chats as one text and on those with rows."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from adaptive.answer_notes import answer_note
from adaptive.host.answer_note import StoredAnswer
from adaptive.host.answer_store import AnswerStore
from adaptive.host.noted_answer import noted_answer
from tests.host.chat_tables import EACH_HOST, OldChats, Pages

LINE = "Memory saved: User lives in Porto."
NOTE = answer_note(LINE)
OUTPUT = [{"type": "message", "content": [{"type": "output_text", "text": "Hello."}]}]
ANSWER = {"id": "a", "role": "assistant", "content": "Hello.", "output": OUTPUT, "done": True}


def answer(chats: OldChats, pages: Pages | None = None, message_id: str = "a") -> StoredAnswer:
    """An answer in a chat of such a host."""
    store = AnswerStore(chats, chats, chats.change_message).change
    return StoredAnswer("c", message_id, pages.emit if pages else None, store)


@EACH_HOST
async def test_added(host: type[OldChats]) -> None:
    """The line is stored in both fields and shown, and the chat's newest message stays it."""
    chats, pages = host(ANSWER, {"id": "newest", "role": "user", "content": "Go on."}), Pages()
    assert await answer(chats, pages).add_note(LINE)
    history = chats.chat.chat["history"]
    stored = history["messages"]["a"]
    assert stored["content"] == f"Hello.\n\n{NOTE}"
    assert [item["content"][0]["text"] for item in stored["output"]] == ["Hello.", NOTE]
    assert stored["done"] is True
    shown = {"id": "a", "content": stored["content"], "output": stored["output"]}
    assert pages.events == [{"type": "chat:outlet", "data": {"messages": [shown]}}]


@EACH_HOST
async def test_once(host: type[OldChats]) -> None:
    """Added twice, the line stands there once."""
    chats = host(ANSWER)
    assert await answer(chats).add_note(LINE)
    before = copy.deepcopy(chats.chat.chat)
    assert await answer(chats).add_note(LINE)
    assert chats.chat.chat == before


@EACH_HOST
@pytest.mark.parametrize("message_id", ["a", "unknown", ""])
async def test_not_there(host: type[OldChats], message_id: str) -> None:
    """An answer that is still written, or is not stored, gets no line, and nobody is told."""
    chats, pages = host({**ANSWER, "done": False}), Pages()
    assert not await answer(chats, pages, message_id).add_note(LINE)
    assert "Adaptive Memory" not in str(chats.chat.chat)
    assert pages.events == []


@EACH_HOST
@pytest.mark.parametrize("chat_id", ["", "local:s", "temporary:c"])
async def test_no_chat(host: type[OldChats], chat_id: str) -> None:
    """Where no chat is stored, as for API calls and temporary chats, nothing happens."""
    pages = Pages()
    store = AnswerStore(host(ANSWER), None).change
    assert not await StoredAnswer(chat_id, "a", pages.emit, store).add_note(LINE)
    assert pages.events == []


@EACH_HOST
async def test_failed_write(host: type[OldChats]) -> None:
    """A write that the host swallowed counts as none."""
    chats, pages = host(ANSWER, broken=True), Pages()
    assert not await answer(chats, pages).add_note(LINE)
    assert pages.events == []


async def test_failing_host() -> None:
    """Whatever the host raises is no error of the turn."""

    async def failing(*_: Any) -> dict[str, Any] | None:
        raise KeyError("history")

    assert not await StoredAnswer("c", "a", Pages().emit, failing).add_note(LINE)


@pytest.mark.parametrize("failure", [Exception("gone"), KeyError("x"), TimeoutError()])
async def test_failing_page(failure: Exception) -> None:
    """A page that can't be reached will see the line when it is loaded again."""
    assert await answer(OldChats(ANSWER), Pages(failure)).add_note(LINE)


async def test_cancellation_passes() -> None:
    """A cancellation is not swallowed with the failures."""
    with pytest.raises(asyncio.CancelledError):
        await answer(OldChats(ANSWER), Pages(asyncio.CancelledError())).add_note(LINE)


def test_fields_are_what_is_stored() -> None:
    """The fakes hold an answer that takes a line."""
    assert noted_answer(ANSWER, LINE)
