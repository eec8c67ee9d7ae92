"""A line below a stored answer, on hosts that keep chats as one text and on those with rows."""

from __future__ import annotations

import asyncio
import copy
import types
from typing import Any

import pytest

from adaptive.answer_notes import answer_note
from adaptive.host.answer_note import AnswerStore, StoredAnswer
from adaptive.host.noted_answer import noted_answer

LINE = "Memory saved: User lives in Porto."
NOTE = answer_note(LINE)
OUTPUT = [{"type": "message", "content": [{"type": "output_text", "text": "Hello."}]}]
ANSWER = {"id": "a", "role": "assistant", "content": "Hello.", "output": OUTPUT, "done": True}


class OldChats:
    """Chats up to 0.10: one text each, which a writer replaces as a whole."""

    def __init__(self, *messages: dict[str, Any], broken: bool = False) -> None:
        kept = {one["id"]: copy.deepcopy(one) for one in messages}
        history = {"messages": kept, "currentId": "newest"}
        self.chat = types.SimpleNamespace(user_id="ada", chat={"title": "T", "history": history})
        self.rows: dict[tuple[str, str], Any] = {}
        self._broken = broken

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
        self.rows[chat_id, message_id] = data


class NewChats(OldChats):
    """Chats since 0.11: a message is changed in place, and what is newest stays it."""

    @staticmethod
    def upsert_message_to_history(history: dict[str, Any], id: str, fields: dict[str, Any]) -> None:
        """Only there to tell the release."""
        history["messages"][id].update(fields)

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
        self.upsert_message_to_history(self.chat.chat["history"], message_id, message)
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


def answer(chats: OldChats, pages: Pages | None = None, message_id: str = "a") -> StoredAnswer:
    """An answer in a chat of such a host."""
    store = AnswerStore(chats, chats).change
    return StoredAnswer("c", message_id, pages.emit if pages else None, store)


EACH_HOST = pytest.mark.parametrize("host", [OldChats, NewChats], ids=["text", "rows"])


@EACH_HOST
async def test_added(host: type[OldChats]) -> None:
    """The line is stored in both fields and shown, and the chat's newest message stays it."""
    chats, pages = host(ANSWER, {"id": "newest", "role": "user", "content": "Go on."}), Pages()
    assert await answer(chats, pages).add_note(LINE)
    history = chats.chat.chat["history"]
    stored = history["messages"]["a"]
    assert stored["content"] == f"Hello.\n\n{NOTE}"
    assert [item["content"][0]["text"] for item in stored["output"]] == ["Hello.", NOTE]
    assert (stored["done"], history["currentId"]) == (True, "newest")
    assert history["messages"]["newest"]["content"] == "Go on."
    assert chats.chat.chat["title"] == "T"
    shown = {"id": "a", "content": stored["content"], "output": stored["output"]}
    assert pages.events == [{"type": "chat:outlet", "data": {"messages": [shown]}}]


async def test_rows_of_old_chats() -> None:
    """Where messages stand twice, both get the line."""
    chats = OldChats(ANSWER)
    await answer(chats).add_note(LINE)
    assert chats.rows["c", "a"] == chats.chat.chat["history"]["messages"]["a"]


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
