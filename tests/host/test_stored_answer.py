"""Stored answers: lines below them, corrections and what to ask next, whoever else writes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import JSON, String, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from adaptive.core.messages import answer_note
from adaptive.host import page
from adaptive.host.history_chats import MessageChange, change_message
from adaptive.host.page import HostAnswer
from tests.answer.hooks import Shelf
from tests.host.databases import DATABASES, Worker, two_workers
from tests.rates import over

LINE = "Saved: User lives in Porto."
NOTE = answer_note(LINE)
OUTPUT = [
    {"type": "message", "content": [{"type": "output_text", "text": "Hello."}]}
]
ANSWER = {
    "id": "a",
    "role": "assistant",
    "content": "Hello.",
    "output": OUTPUT,
    "done": True,
}
NEWEST = {"id": "newest", "role": "user", "content": "Go on."}


class Base(DeclarativeBase):
    """Where the model below is declared."""


class Chat(Base):
    """What the host's model of a chat has in common in all releases."""

    __tablename__ = "chat"

    id: Mapped[str] = mapped_column(String, primary_key=True)
    user_id: Mapped[str] = mapped_column(String)
    chat: Mapped[dict[str, Any]] = mapped_column(JSON)


@dataclass
class Host:
    """A host with one chat on a real database, and what its page was shown."""

    worker: Worker
    rows: dict[str, Any] = field(default_factory=dict[str, Any])
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def keep(self, *messages: dict[str, Any]) -> None:
        """Store a chat with these messages."""
        async with self.worker.sessions() as session:
            await session.merge(
                Chat(id="c", user_id="ada", chat=history(*messages))
            )
            await session.commit()

    async def messages(self) -> dict[str, Any]:
        """The messages of the chat as they stand."""
        async with self.worker.sessions() as session:
            found = (await session.execute(select(Chat.chat))).scalar_one()
        assert found["history"]["currentId"] == "newest"
        return found["history"]["messages"]

    async def upsert_message(
        self, message_id: str, chat_id: str, user_id: str, data: dict[str, Any]
    ) -> None:
        """Replace a message's row."""
        assert (chat_id, user_id) == ("c", "ada")
        self.rows[message_id] = data

    async def emit(self, event: dict[str, Any]) -> None:
        """Show an event."""
        self.events.append(event)

    def answer(self, chat_id: str = "c", message_id: str = "a") -> HostAnswer:
        """The answer in the chat."""
        return HostAnswer(chat_id, message_id, self.emit)


def history(*messages: dict[str, Any]) -> dict[str, Any]:
    """A chat that consists of these messages."""
    return {
        "history": {
            "messages": {one["id"]: one for one in messages},
            "currentId": "newest",
        }
    }


@pytest.fixture(params=DATABASES)
async def host(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Host]:
    """A host whose chat holds an answer and a newer message."""
    async with two_workers(request.param, tmp_path) as (worker, _):
        async with worker.engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        running = Host(worker)
        modules = {
            "internal.db": {"get_async_db_context": worker.sessions},
            "models.chats": {"Chat": Chat},
            "models.chat_messages": {"ChatMessages": running},
        }
        for name, held in modules.items():
            monkeypatch.setitem(
                sys.modules, f"open_webui.{name}", SimpleNamespace(**held)
            )
        await running.keep(ANSWER, NEWEST)
        yield running


async def test_line_below(host: Host) -> None:
    """A line is stored in both forms and in the row, shown, and stands there once."""
    assert await host.answer().add_note(LINE)
    assert await host.answer().add_note(LINE)
    messages = await host.messages()
    stored = messages["a"]
    assert stored["content"] == f"Hello.\n\n{NOTE}"
    assert [item["content"][0]["text"] for item in stored["output"]] == [
        "Hello.",
        NOTE,
    ]
    assert messages["newest"] == NEWEST
    assert host.rows == {"a": stored}
    shown = {
        "id": "a",
        "content": stored["content"],
        "output": stored["output"],
    }
    assert (
        host.events
        == [{"type": "chat:outlet", "data": {"messages": [shown]}}] * 2
    )
    assert await host.answer().said() == "Hello."


@over("said", ["Hello.", "One.\n\n- two\n- three", "```py\nx\n```"])
async def test_output_alone(said: str) -> None:
    """Of an answer that stands in its output alone the line is told from what was said."""
    part = {"type": "output_text", "text": said}
    shelf = Shelf(output=[{"type": "message", "content": [part]}])
    answer = HostAnswer("c", "a", None, shelf.change)
    assert await answer.add_note(LINE)
    shelf.message["content"] = ""
    assert await answer.said() == said
    assert await answer.add_note(LINE)
    assert len(shelf.message["output"]) == 2
    assert shelf.message["content"] == f"{said}\n\n{NOTE}"


async def test_message_sent_meanwhile(host: Host) -> None:
    """A change waits for who is storing a message, and both stand in the chat then."""
    sent = {"id": "next", "role": "user", "content": "And?"}
    async with host.worker.sessions() as session:
        if host.worker.engine.dialect.name == "sqlite":
            await session.execute(text("BEGIN IMMEDIATE"))
        chat = await session.get(Chat, "c", with_for_update=True)
        assert chat is not None
        chat.chat = history(ANSWER, NEWEST, sent)
        await session.flush()
        adding = asyncio.create_task(host.answer().add_note(LINE))
        await asyncio.sleep(0.2)
        assert not adding.done()
        await session.commit()
    assert await adding
    messages = await host.messages()
    assert messages["next"] == sent
    assert NOTE in messages["a"]["content"]


@pytest.mark.parametrize(
    ("chat_id", "message_id"), [("c", "x"), ("x", "a"), ("", "a"), ("c", "")]
)
async def test_nothing_is_stored(
    chat_id: str, message_id: str, host: Host
) -> None:
    """Where no such answer is stored, nothing is written or shown."""
    answer = host.answer(chat_id, message_id)
    assert not await answer.add_note(LINE)
    await answer.add_follow_ups(["And then?"])
    assert await answer.said() is None
    assert (await host.messages(), host.events) == (
        {"a": ANSWER, "newest": NEWEST},
        [],
    )


async def test_failing_page(host: Host) -> None:
    """A page that can't be reached, or a host whose modules are gone, is no error of the turn."""

    async def emit(event: dict[str, Any]) -> None:
        raise KeyError("gone")

    assert await HostAnswer("c", "a", emit).add_note(LINE)
    assert NOTE in (await host.messages())["a"]["content"]
    del sys.modules["open_webui.models.chats"]
    assert not await host.answer().add_note(LINE)


@over(
    "fields",
    [
        {"role": "user"},
        {"done": False},
        {"error": {"content": "no model"}},
        {"content": " \n"},
        {"content": NOTE},
        {"content": "So:\n```python\nprint(1)"},
    ],
)
async def test_no_note(fields: dict[str, Any]) -> None:
    """What is no finished answer takes no line, nor one cut within code."""
    shelf = Shelf(**{"content": "Hello.", **fields})
    assert not await HostAnswer("c", "a", None, shelf.change).add_note(LINE)
    closed = Shelf("```py\nx\n```")
    assert await HostAnswer("c", "a", None, closed.change).add_note(LINE)
    assert closed.message["content"] == f"```py\nx\n```\n\n{NOTE}"


async def test_late_answer(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A late answer takes its announcement's place, in a chat that has gone on; nothing else's."""
    monkeypatch.setattr(page, "_LATE_PAUSES_SECONDS", (0.0,))
    await host.keep({**ANSWER, "content": "It comes.", "output": []}, NEWEST)
    await host.answer().give_late("Done.", "It comes.")
    await host.answer().give_late("Done twice.", "It comes.")
    messages = await host.messages()
    assert messages["a"]["content"] == "Done."
    assert messages["newest"] == NEWEST
    shown = {"id": "a", "content": "Done.", "done": True}
    assert host.events == [
        {"type": "chat:outlet", "data": {"messages": [shown]}}
    ]


async def test_late_answer_after_a_busy_time(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A late answer stands although its announcement, and a try of its own, could not be stored."""
    monkeypatch.setattr(page, "_LATE_PAUSES_SECONDS", (0.0, 0.0))
    await host.keep(
        {"id": "a", "role": "assistant", "content": "", "done": False}, NEWEST
    )
    tries = 0

    async def change(
        chat_id: str, message_id: str, change: MessageChange
    ) -> dict[str, Any] | None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise OSError("database is locked")
        return await change_message(chat_id, message_id, change)

    await HostAnswer("c", "a", host.emit, change).give_late(
        "Done.", "It comes."
    )
    stored = (await host.messages())["a"]
    assert (stored["content"], stored["done"]) == ("Done.", True)
    assert len(host.events) == 1
