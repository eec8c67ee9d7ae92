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
from sqlalchemy.ext.asyncio import AsyncEngine, async_sessionmaker, create_async_engine
from sqlalchemy.pool import NullPool

from adaptive.host.own_table import Sessions

POSTGRES = os.environ.get("ADAPTIVE_MEMORY_TEST_POSTGRES", "")
DATABASES = ["sqlite", *(["postgresql"] if POSTGRES else [])]
OUR_TABLES = tuple(f"adaptive_memory_{one}" for one in ("entries", "lease", "pending", "vector"))


class Worker:
    """One process of the host, as far as the database can tell: an engine of its own."""

    def __init__(self, address: str, busy_seconds: float) -> None:
        self.engine: AsyncEngine = create_async_engine(address, poolclass=NullPool)
        self.sessions: Sessions = async_sessionmaker(self.engine, expire_on_commit=False)
        self.statements: list[str] = []
        event.listen(self.engine.sync_engine, "before_cursor_execute", self._note)
        if self.engine.dialect.name == "sqlite":
            milliseconds = int(busy_seconds * 1000)

            @event.listens_for(self.engine.sync_engine, "connect")
            def _as_the_host_does(connection: Any, _record: Any) -> None:
                cursor = connection.cursor()
                cursor.execute("PRAGMA journal_mode=WAL")
                cursor.execute("PRAGMA synchronous=NORMAL")
                cursor.execute(f"PRAGMA busy_timeout={milliseconds}")
                cursor.close()

    def _note(self, _connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        self.statements.append(statement.split(None, 1)[0])

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
    database: str, folder: Path, *tables: str, busy_seconds: float = 5.0
) -> AsyncGenerator[tuple[Worker, Worker], None]:
    """Two workers on one database that has none of the named tables yet."""
    address = f"sqlite+aiosqlite:///{folder / 'webui.db'}"
    if database == "postgresql":
        address = POSTGRES.replace("postgresql:", "postgresql+psycopg:", 1)
    workers = (Worker(address, busy_seconds), Worker(address, busy_seconds))
    dropping = [f"DROP TABLE IF EXISTS {table}" for table in tables]
    try:
        for statement in dropping:
            await workers[0].change(statement)
        yield workers
    finally:
        for statement in dropping:
            await workers[0].change(statement)
        await asyncio.gather(*(worker.engine.dispose() for worker in workers))
