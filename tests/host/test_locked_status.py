"""Storing a status while the next message of the chat is being stored."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import JSON, String, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from adaptive.host.locked_chat import change_message
from adaptive.host.locked_status import added_status, locking_emitter
from tests.host.databases import DATABASES, two_workers


class Base(DeclarativeBase):
    """Where the model below is declared."""


class Chat(Base):
    """What the host's model of a chat has in common in all releases."""

    __tablename__ = "chat"

    id: Mapped[str] = mapped_column(String, primary_key=True)
    chat: Mapped[dict[str, Any]] = mapped_column(JSON)


STATUS = {"description": "Memory saved: a", "done": True}


def history(*ids: str) -> dict[str, Any]:
    """A chat that consists of these messages."""
    return {"history": {"messages": {one: {"id": one, "content": one} for one in ids}}}


@pytest.mark.parametrize("database", DATABASES)
async def test_message_sent_meanwhile(database: str, tmp_path: Path) -> None:
    """A status waits for who is storing a message, and both stand in the chat then."""
    async with two_workers(database, tmp_path, "chat") as (host, ours):
        async with host.engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        async with host.sessions() as session:
            session.add(Chat(id="c", chat=history("answer")))
            await session.commit()
        async with host.sessions() as session:
            if database == "sqlite":
                await session.execute(text("BEGIN IMMEDIATE"))
            chat = await session.get(Chat, "c", with_for_update=True)
            assert chat is not None
            chat.chat = history("answer", "next")
            await session.flush()
            storing = asyncio.create_task(
                change_message(ours.sessions(), Chat, "c", "answer", added_status(STATUS))
            )
            await asyncio.sleep(0.2)
            assert not storing.done()
            await session.commit()
        await storing
        async with host.sessions() as session:
            found = (await session.execute(select(Chat.chat))).scalar_one()
        messages = found["history"]["messages"]
        assert list(messages) == ["answer", "next"]
        assert messages["answer"] == {
            "id": "answer",
            "content": "answer",
            "statusHistory": [STATUS],
        }


@pytest.mark.parametrize(("chat_id", "message_id"), [("c", "gone"), ("gone", "answer")])
async def test_nothing_to_store_it_with(chat_id: str, message_id: str, tmp_path: Path) -> None:
    """A chat or message that was deleted meanwhile stays deleted."""
    async with two_workers("sqlite", tmp_path, "chat") as (host, ours):
        async with host.engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        async with host.sessions() as session:
            session.add(Chat(id="c", chat=history("answer")))
            await session.commit()
        change = added_status(STATUS)
        assert await change_message(ours.sessions(), Chat, chat_id, message_id, change) is None
        async with host.sessions() as session:
            assert (await session.execute(select(Chat.chat))).scalars().all() == [history("answer")]


async def test_where_no_host_runs() -> None:
    """Without a host that stores anything the emitter does as it does."""
    shown: list[dict[str, Any]] = []

    async def emit(event: dict[str, Any]) -> None:
        shown.append(event)

    events = [{"type": "status", "data": STATUS}, {"type": "source", "data": {}}]
    for event in events:
        await locking_emitter(emit, "u", "c", "m")(event)
    assert shown == events
