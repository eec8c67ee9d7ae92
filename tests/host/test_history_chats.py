"""A user's chats, read from tables as the host makes them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from adaptive.core.errors import HostError
from adaptive.core.table_ports import ChatHead
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


async def test_own_chats(worker: Worker) -> None:
    """Own chats come, the newest first, without those that the host keeps for itself."""
    past = HostPastChats(worker.sessions)
    await add_chat(worker, "new", "ada", 99)
    head = ChatHead("c", "c", 50)
    assert list(await past.heads("ada")) == ["new", "c"]
    assert await past.heads("ada", ["c", "b", "inner", "gone"]) == {"c": head}


async def test_messages_of_a_chat(worker: Worker) -> None:
    """Messages come with their own ids, parents and times, of own chats only."""
    past = HostPastChats(worker.sessions)
    found = await past.messages("ada", "c")
    assert [(one["id"], one["parentId"], one["role"], one["timestamp"]) for one in found] == [
        ("m1", None, "user", 10),
        ("m2", "m1", "assistant", 11),
    ]
    assert found[0]["content"] == "Which team?"
    outline = await past.messages("ada", "c", words=False)
    assert [(one["id"], one["parentId"], one["role"], one["content"]) for one in outline] == [
        ("m1", None, "user", None),
        ("m2", "m1", "assistant", None),
    ]
    for chat_id in ("b", "inner", "gone"):
        assert await past.messages("ada", chat_id) == ()


async def test_current(worker: Worker) -> None:
    """Messages are read as they stand, lists and outputs too, however many, and nobody else's."""
    await add_message(worker, "c", "m5", "ada", [{"type": "text", "text": "A"}], 14)
    await add_message(worker, "c", "m6", "ada", "", 15, output=[{"type": "message"}])
    past = HostPastChats(worker.sessions)
    many = [("c", f"x{number}") for number in range(1200)]
    keys = [("c", "m1"), ("b", "m4"), *many, ("c", "m5"), ("c", "m6")]
    found = await past.current("ada", keys)
    assert list(found) == [("c", "m1"), ("c", "m5"), ("c", "m6")]
    assert found["c", "m5"]["content"] == [{"type": "text", "text": "A"}]
    assert found["c", "m6"]["output"] == [{"type": "message"}]


async def test_faults(worker: Worker) -> None:
    """A database that refuses is a host error that does not quote the statement."""
    async with worker.sessions() as session:
        await session.execute(text("DROP TABLE chat_message"))
        await session.commit()
    with pytest.raises(HostError) as caught:
        await HostPastChats(worker.sessions).messages("ada", "c")
    assert "SELECT" not in str(caught.value)


async def test_words_of_others(worker: Worker) -> None:
    """What somebody else wrote in a shared chat keeps its place, and not its words."""
    await add_message(worker, "c", "m5", "bob", "Bob's words", 14, parent_id="m2")
    past = HostPastChats(worker.sessions)
    found = {one["id"]: one for one in await past.messages("ada", "c")}
    assert (found["m5"]["content"], found["m5"]["parentId"]) == ("", "m2")
    key = ("c", "m5")
    assert (await past.current("ada", [key]))[key]["content"] == ""
