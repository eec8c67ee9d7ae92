"""A user's chats, read from tables as the host makes them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from adaptive.conversation_ports import ChatHead, HistoryStamp
from adaptive.errors import HostError
from adaptive.host.history_chats import HostPastChats
from tests.host.databases import Worker, two_workers

CHATS = (
    "CREATE TABLE chat (id VARCHAR PRIMARY KEY, user_id VARCHAR, title TEXT, chat JSON, "
    "created_at BIGINT, updated_at BIGINT, meta JSON)"
)
MESSAGES = (
    "CREATE TABLE chat_message (id TEXT PRIMARY KEY, chat_id TEXT, user_id TEXT, role TEXT, "
    "parent_id TEXT, content JSON, output JSON, done BOOLEAN, error JSON, created_at BIGINT)"
)


@pytest.fixture
async def worker(tmp_path: Path) -> AsyncGenerator[Worker, None]:
    """A database with chats of two users, and one that the host keeps for itself."""
    async with two_workers("sqlite", tmp_path) as (first, _):
        async with first.sessions() as session:
            await session.execute(text(CHATS))
            await session.execute(text(MESSAGES))
            await session.commit()
        await add_chat(first, "c", "ada", 50)
        await add_chat(first, "inner", "ada", 90, {"internal": True})
        await add_chat(first, "b", "bob", 70)
        await add_message(first, "c", "m1", "ada", "Which team?", 10)
        await add_message(
            first, "c", "m2", "ada", "The Wolves!", 11, parent_id="m1", role="assistant"
        )
        await add_message(first, "inner", "m3", "ada", "A note", 12)
        await add_message(first, "b", "m4", "bob", "Mine", 13)
        yield first


async def add_chat(
    worker: Worker, id: str, user_id: str, updated_at: int, meta: Any = None
) -> None:
    """A row of the host's table of chats."""
    row = {"id": id, "user_id": user_id, "at": updated_at, "meta": json.dumps(meta or {})}
    async with worker.sessions() as session:
        await session.execute(
            text("INSERT INTO chat VALUES (:id, :user_id, :id, '{}', 5, :at, :meta)"), row
        )
        await session.commit()


async def add_message(
    worker: Worker, chat_id: str, id: str, user_id: str, content: Any, at: int, **fields: Any
) -> None:
    """A row of the host's table of messages."""
    row = {
        "id": f"{chat_id}-{id}",
        "chat_id": chat_id,
        "user_id": user_id,
        "content": json.dumps(content),
        "at": at,
        "role": fields.get("role", "user"),
        "parent_id": fields.get("parent_id"),
        "output": json.dumps(fields.get("output")),
    }
    columns = ":id, :chat_id, :user_id, :role, :parent_id, :content, :output, 1, 'null', :at"
    async with worker.sessions() as session:
        await session.execute(text(f"INSERT INTO chat_message VALUES ({columns})"), row)
        await session.commit()


async def test_stamp(worker: Worker) -> None:
    """Number and newest of a user's messages; of nobody's nothing."""
    past = HostPastChats(worker.sessions)
    assert await past.stamp("ada") == HistoryStamp(3, 12)
    assert await past.stamp("nobody") == HistoryStamp(0, 0)


async def test_chats(worker: Worker) -> None:
    """Own chats, the newest first, without those that the host keeps for itself."""
    past = HostPastChats(worker.sessions)
    await add_chat(worker, "new", "ada", 99)
    assert [one.id for one in await past.chats("ada", 0, 10)] == ["new", "c"]
    assert [one.id for one in await past.chats("ada", 0, 1)] == ["new"]
    assert [one.id for one in await past.chats("ada", 1, 1)] == ["c"]
    assert await past.chats("ada", 3, 1) == ()
    head = ChatHead("c", "c", 50)
    assert (await past.chats("ada", 0, 10))[1] == head
    assert await past.heads("ada", ["c", "b", "gone"]) == {"c": head}


async def test_messages_of_a_chat(worker: Worker) -> None:
    """Messages come with their own ids, parents and times, of own chats only."""
    past = HostPastChats(worker.sessions)
    found = await past.messages("ada", "c")
    assert [(one["id"], one["parentId"], one["role"], one["timestamp"]) for one in found] == [
        ("m1", None, "user", 10),
        ("m2", "m1", "assistant", 11),
    ]
    assert found[0]["content"] == "Which team?"
    assert await past.messages("ada", "b") == ()
    assert await past.messages("ada", "inner") == ()
    assert await past.messages("ada", "gone") == ()


async def test_newest_messages(worker: Worker) -> None:
    """All own messages, the newest first, those of the host's own chats left out."""
    past = HostPastChats(worker.sessions)
    found = await past.newest_messages("ada", 10)
    assert [(one["chat_id"], one["id"]) for one in found] == [("c", "m2"), ("c", "m1")]


async def test_current(worker: Worker) -> None:
    """Messages are read as they stand, and nobody else's."""
    past = HostPastChats(worker.sessions)
    found = await past.current("ada", [("c", "m1"), ("b", "m4"), ("c", "gone")])
    assert list(found) == [("c", "m1")]
    many = [("c", f"x{number}") for number in range(1200)]
    assert list(await past.current("ada", [*many, ("c", "m2")])) == [("c", "m2")]
    assert await past.current("ada", []) == {}


async def test_parts_and_output(worker: Worker) -> None:
    """Contents that are lists, and outputs, come as they were stored."""
    await add_message(worker, "c", "m5", "ada", [{"type": "text", "text": "A"}], 14)
    await add_message(worker, "c", "m6", "ada", "", 15, output=[{"type": "message"}])
    past = HostPastChats(worker.sessions)
    found = await past.current("ada", [("c", "m5"), ("c", "m6")])
    assert found["c", "m5"]["content"] == [{"type": "text", "text": "A"}]
    assert found["c", "m6"]["output"] == [{"type": "message"}]


async def test_faults(worker: Worker) -> None:
    """A database that refuses is a host error that does not quote the statement."""
    async with worker.sessions() as session:
        await session.execute(text("DROP TABLE chat_message"))
        await session.commit()
    with pytest.raises(HostError) as caught:
        await HostPastChats(worker.sessions).stamp("ada")
    assert "SELECT" not in str(caught.value)


async def test_outline(worker: Worker) -> None:
    """The tree of an own chat comes without words; of another's nothing."""
    past = HostPastChats(worker.sessions)
    found = await past.outline("ada", "c")
    assert [(one["id"], one["parentId"], one["role"]) for one in found] == [
        ("m1", None, "user"),
        ("m2", "m1", "assistant"),
    ]
    assert await past.outline("ada", "b") == ()


async def test_words_of_others(worker: Worker) -> None:
    """What somebody else wrote in a shared chat keeps its place, and not its words."""
    await add_message(worker, "c", "m5", "bob", "Bob's words", 14, parent_id="m2")
    await add_message(worker, "c", "m6", "ada", "Mine again", 15, parent_id="m5")
    found = {one["id"]: one for one in await HostPastChats(worker.sessions).messages("ada", "c")}
    assert (found["m5"]["content"], found["m5"]["parentId"]) == ("", "m2")
    assert found["m6"]["content"] == "Mine again"
    key = ("c", "m5")
    assert (await HostPastChats(worker.sessions).current("ada", [key]))[key]["content"] == ""
