"""Real databases for tests of our tables, each through two engines, as two workers have them.

SQLite is a file, opened as the host opens its own. PostgreSQL is tested too where the environment
names one: ``ADAPTIVE_MEMORY_TEST_POSTGRES=postgresql://postgres:@/postgres?host=<folder>``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.pool import NullPool

from adaptive.host.database import HostDatabase, Sessions

POSTGRES = os.environ.get("ADAPTIVE_MEMORY_TEST_POSTGRES", "")
DATABASES = ["sqlite", *(["postgresql"] if POSTGRES else [])]
OUR_TABLES = tuple(f"adaptive_memory_{one}" for one in ("entries", "vector"))


class Worker:
    """One process of the host, as far as the database can tell: an engine of its own.

    With a ``schema`` every table that a statement of ours names stands there.
    """

    def __init__(self, address: str, schema: str = "") -> None:
        self.address = address
        placed = {"schema_translate_map": {None: schema}} if schema else {}
        self.engine: AsyncEngine = create_async_engine(
            address, poolclass=NullPool, execution_options=placed
        )
        self.sessions: Sessions = async_sessionmaker(
            self.engine, expire_on_commit=False
        )
        if self.engine.dialect.name == "sqlite":

            @event.listens_for(self.engine.sync_engine, "connect")
            def _as_the_host_does(connection: Any, _record: Any) -> None:
                cursor = connection.cursor()
                cursor.execute("PRAGMA journal_mode=WAL")
                cursor.execute("PRAGMA synchronous=NORMAL")
                cursor.execute("PRAGMA busy_timeout=5000")
                cursor.close()

    @property
    def database(self) -> HostDatabase:
        """The database as our code has it, not used yet."""
        return HostDatabase(self.sessions)

    async def change(self, statement: str, **values: Any) -> None:
        """Change the database behind our back."""
        async with self.sessions() as session:
            await session.execute(text(statement), values)
            await session.commit()

    async def rows(self, query: str) -> list[Any]:
        """What stands in the database."""
        async with self.sessions() as session:
            return list((await session.execute(text(query))).all())


@asynccontextmanager
async def two_workers(
    database: str, folder: Path
) -> AsyncGenerator[tuple[Worker, Worker], None]:
    """Two workers on a database that has none of our tables yet, nor the host's of chats."""
    address = f"sqlite+aiosqlite:///{folder / 'webui.db'}"
    if database == "postgresql":
        address = POSTGRES.replace("postgresql:", "postgresql+psycopg:", 1)
    workers = (Worker(address), Worker(address))
    dropping = [
        f"DROP TABLE IF EXISTS {table}"
        for table in (*OUR_TABLES, "chat", "memory")
    ]
    try:
        for statement in dropping:
            await workers[0].change(statement)
        yield workers
    finally:
        for statement in dropping:
            await workers[0].change(statement)
        await asyncio.gather(*(worker.engine.dispose() for worker in workers))
