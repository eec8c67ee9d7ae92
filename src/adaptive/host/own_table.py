"""A table of ours in the host's own database, SQLite or PostgreSQL, created when first used."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from sqlalchemy import Table
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.schema import CreateTable

from adaptive.errors import TablesUnavailable
from adaptive.host.faults import HostFaults, describe_fault

Sessions = Callable[[], AbstractAsyncContextManager[Any]]


class OwnTable:
    """Opens the host's database with the table in it; ``sessions`` opens another one."""

    def __init__(self, table: Table, sessions: Sessions | None = None) -> None:
        self._table = table
        self._sessions = sessions or host_session
        self._created = False

    @asynccontextmanager
    async def session(self, doing: str) -> AsyncGenerator[Any, None]:
        """A session of the host's; the caller commits what it changes.

        Raises:
            TablesUnavailable: the database refuses; the text says what was being done.
        """
        try:
            async with database_session(doing, self._sessions) as session:
                if not self._created:
                    await self._create(session)
                    self._created = True
                yield session
        except TablesUnavailable:
            self._created = False  # the table may be gone
            raise

    async def _create(self, session: Any) -> None:
        """Create the table; of two workers that do so at once PostgreSQL fails one, which is fine.

        ``IF NOT EXISTS`` is no lock there: the other one's table comes up as a doubled name.
        """
        create = CreateTable(self._table, if_not_exists=True)
        try:
            await session.execute(create)
            await session.commit()
        except (IntegrityError, ProgrammingError):
            await session.rollback()
            await session.execute(create)
            await session.commit()


@asynccontextmanager
async def database_session(doing: str, sessions: Sessions) -> AsyncGenerator[Any, None]:
    """A session whose failures are ours.

    Raises:
        TablesUnavailable: the database refuses; the text says what was being done.
    """
    with HostFaults(doing, TablesUnavailable):
        try:
            async with sessions() as session:
                yield session
        except DBAPIError as error:  # its own text quotes the statement and what was written
            raise TablesUnavailable(f"{doing}: {describe_fault(error.orig or error)}") from error


def host_session() -> AbstractAsyncContextManager[Any]:
    """A session of the host's own."""
    from open_webui.internal.db import get_async_db_context

    return get_async_db_context()
