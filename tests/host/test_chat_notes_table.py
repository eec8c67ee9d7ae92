"""Notes of chats in a real database, as two workers see them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql

from adaptive.conversation_ports import ChatNotes
from adaptive.errors import TablesUnavailable
from adaptive.host.chat_notes_table import HostChatNotesTable
from adaptive.privacy.sealing import Sealer
from tests.host.databases import DATABASES, Worker, two_workers

NOW = 1_700_000_000
SECRET = "made-up secret of a host"
NOTES = ChatNotes("The user plans a holiday in Lisbon.", ("holiday", "Lisboa é bonita"))
Workers = tuple[Worker, Worker]


@pytest.fixture(params=DATABASES)
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Workers, None]:
    """Two workers on a database without the table, with some chats of the host's."""
    async with two_workers(request.param, tmp_path, "adaptive_memory_chat_notes", "chat") as both:
        yield both


@pytest.fixture
def tables(workers: Workers) -> list[HostChatNotesTable]:
    """The table as each of them has it."""
    return [HostChatNotesTable(Sealer(SECRET), worker.sessions) for worker in workers]


async def changed(worker: Worker, statement: str, **values: Any) -> None:
    """Change the database behind the table's back."""
    async with worker.sessions() as session:
        await session.execute(text(statement), values)
        await session.commit()


async def test_notes_come_back(tables: list[HostChatNotesTable]) -> None:
    """What one worker writes another one reads, of this user and chat alone; the last one wins."""
    here, there = tables
    assert await here.read("ada", "c") == ChatNotes()
    await here.write("ada", "c", NOTES, NOW)
    assert await there.read("ada", "c") == NOTES
    assert await there.read("bob", "c") == await there.read("ada", "d") == ChatNotes()
    await there.write("ada", "c", ChatNotes(summary="New."), NOW + 1)
    assert await here.read("ada", "c") == ChatNotes(summary="New.")


async def test_writers_at_once(tables: list[HostChatNotesTable]) -> None:
    """Two workers that write at once leave one row, of one of them."""
    here, there = tables
    others = [ChatNotes(summary=f"{number}.") for number in range(6)]
    tasks = [(here, there)[at % 2].write("ada", "c", one, NOW) for at, one in enumerate(others)]
    await asyncio.gather(*tasks)
    assert await there.read("ada", "c") in others


async def test_sealed(workers: Workers, tables: list[HostChatNotesTable]) -> None:
    """No word of the notes stands in the table; another user's row or secret opens nothing."""
    await tables[0].write("ada", "c", NOTES, NOW)
    ((whole,),) = await workers[0].rows("SELECT notes FROM adaptive_memory_chat_notes")
    assert whole.startswith("am1:")
    assert not [word for word in ("Lisbon", "holiday", "travel") if word in whole]
    await changed(workers[0], "UPDATE adaptive_memory_chat_notes SET user_id = 'bob'")
    assert await tables[0].read("bob", "c") == ChatNotes()


@pytest.mark.parametrize(
    "damaged", ["", "am1:nonsense", "{", "[1, 2]", "[5, [], {}]", json.dumps({"summary": "x"})]
)
async def test_damaged(workers: Workers, tables: list[HostChatNotesTable], damaged: str) -> None:
    """Notes that can't be opened are absent, and are written anew."""
    await tables[0].write("ada", "c", NOTES, NOW)
    await changed(workers[0], "UPDATE adaptive_memory_chat_notes SET notes = :it", it=damaged)
    assert await tables[0].read("ada", "c") == ChatNotes()
    await tables[0].write("ada", "c", NOTES, NOW)
    assert await tables[0].read("ada", "c") == NOTES


async def test_deleted_chats(workers: Workers, tables: list[HostChatNotesTable]) -> None:
    """Notes of chats that the host has no more go, the current chat's excepted."""
    worker, table = workers[0], tables[0]
    for chat in ("kept", "deleted", "new"):
        await table.write("ada", chat, NOTES, NOW)
    await table.write("bob", "deleted", NOTES, NOW)
    with pytest.raises(TablesUnavailable, match="deleted chats"):
        await table.drop_deleted("ada")
    await changed(worker, "CREATE TABLE chat (id VARCHAR PRIMARY KEY)")
    await changed(worker, "INSERT INTO chat VALUES ('kept')")
    assert await table.drop_deleted("ada", "new") == 1
    noted = [await table.read("ada", chat) for chat in ("kept", "deleted", "new")]
    assert noted == [NOTES, ChatNotes(), NOTES]
    assert await table.drop_deleted("ada", "kept") == 1
    worker.statements.clear()
    assert await table.drop_deleted("ada") == 0
    assert worker.statements == ["SELECT"]
    assert await table.read("bob", "deleted") == NOTES


async def test_without_the_host() -> None:
    """Outside of the host the table is unavailable, and says so."""
    table = HostChatNotesTable(Sealer(SECRET))
    with pytest.raises(TablesUnavailable, match="reading the notes of a chat"):
        await table.read("ada", "c")
    with pytest.raises(TablesUnavailable, match="writing the notes of a chat"):
        await table.write("ada", "c", NOTES, NOW)


async def test_statement_for_postgresql() -> None:
    """Writing is one statement that PostgreSQL takes, too."""
    statements: list[str] = []

    class Session:
        """A session of PostgreSQL that writes down what it is asked."""

        def get_bind(self) -> Any:
            """Tells its dialect."""
            return SimpleNamespace(dialect=postgresql.dialect())

        async def execute(self, statement: Any) -> None:
            """Write it down."""
            statements.append(str(statement.compile(dialect=postgresql.dialect())))

        async def commit(self) -> None:
            """Nothing to keep."""

    @asynccontextmanager
    async def sessions() -> AsyncGenerator[Any, None]:
        yield Session()

    await HostChatNotesTable(Sealer(SECRET), sessions).write("ada", "c", NOTES, NOW)
    assert "ON CONFLICT (user_id, chat_id) DO UPDATE SET" in statements[-1]
