"""The host's database, SQLite or PostgreSQL, with tables of ours, created when first used."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Executable, MetaData, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.schema import CreateIndex, CreateTable

from adaptive.core.model import StoreError, TablesUnavailable
from adaptive.host.faults import HostFaults, uninterrupted

Value = TypeVar("Value")
Sessions = Callable[[], AbstractAsyncContextManager[Any]]
# SQLite takes 32,766 parameters in one statement, PostgreSQL 65,535.
_PER_STATEMENT = 500
_UNUSABLE = "Open WebUI's database can't be used right now"


def host_schema() -> str | None:
    """The schema of PostgreSQL in which the admin has put the host's tables, if any is named.

    The host's own models name it in each statement, without a search path (host: internal/db.py).
    """
    try:
        from open_webui.env import DATABASE_SCHEMA
    except ImportError:
        return None
    return DATABASE_SCHEMA or None


# All tables that statements of ours name: our own and the host's, in one schema.
TABLES = MetaData(schema=host_schema())


class OwnTable:
    """A table of ours in the host's database; ``sessions`` opens another one.

    Every call may raise ``TablesUnavailable``, whose detail begins with what was being ``doing``.
    """

    def __init__(self, table: Table, sessions: Sessions | None = None) -> None:
        self._table = table
        self._sessions = sessions or host_session
        self._created = False

    @asynccontextmanager
    async def session(self, doing: str) -> AsyncGenerator[Any, None]:
        """A session of the host's; the caller commits what it changes."""
        with HostFaults(
            f"{doing} ({self._table.name})", TablesUnavailable, _UNUSABLE
        ):
            try:
                async with self._sessions() as session:
                    if not self._created:
                        await self._create(session)
                        self._created = True
                    yield session
            except DBAPIError:
                self._created = False  # the table may be gone
                raise

    @uninterrupted
    async def rows(self, doing: str, query: Executable) -> Sequence[Any]:
        """What a query finds."""
        async with self.session(doing) as session:
            return (await session.execute(query)).all()

    @uninterrupted
    async def change(self, doing: str, *statements: Executable) -> int:
        """Execute statements in one transaction; how many rows they changed."""
        if not statements:
            return 0
        async with self.session(doing) as session:
            return await _committed(session, statements)

    @uninterrupted
    async def upsert(
        self,
        doing: str,
        rows: Sequence[Mapping[str, Any]],
        *afterwards: Executable,
        where: ColumnElement[bool] | None = None,
    ) -> int:
        """Insert rows, or replace those of the same keys, in one transaction with what follows.

        Of those that stand only what fits ``where`` is replaced; how many rows were written.
        """
        written = 0
        keys = [column.name for column in self._table.primary_key]
        async with self.session(doing) as session:
            for some in portions(
                sorted(rows, key=lambda row: [row[name] for name in keys])
            ):
                new = self.insert(session).values(some)
                replaced = {
                    name: new.excluded[name]
                    for name in some[0]
                    if name not in keys
                }
                upsert = new.on_conflict_do_update(
                    index_elements=keys, set_=replaced, where=where
                )
                # psycopg forgets after an INSERT how many rows it wrote.
                counted = upsert.execution_options(preserve_rowcount=True)
                written += (await session.execute(counted)).rowcount
            for statement in afterwards:
                await session.execute(statement)
            await session.commit()
        return written

    def insert(self, session: Any) -> Any:
        """An INSERT that may say what to do about a row that stands, in the database's dialect."""
        dialect = (
            postgresql
            if session.get_bind().dialect.name == "postgresql"
            else sqlite
        )
        return dialect.insert(self._table)

    async def _create(self, session: Any) -> None:
        """Create the table; of two workers that do so at once PostgreSQL fails one, which is fine.

        ``IF NOT EXISTS`` is no lock there: the other one's table comes up as a doubled name.
        """
        parts = [
            CreateIndex(index, if_not_exists=True)
            for index in self._table.indexes
        ]
        for create in (CreateTable(self._table, if_not_exists=True), *parts):
            try:
                await session.execute(create)
                await session.commit()
            except (IntegrityError, ProgrammingError):
                await session.rollback()
                await session.execute(create)
                await session.commit()


def portions(
    values: Collection[Value], most: int = _PER_STATEMENT
) -> Iterator[list[Value]]:
    """As many values at a time as one statement takes."""
    listed = list(values)
    return (listed[at : at + most] for at in range(0, len(listed), most))


@uninterrupted
async def host_rows(
    doing: str, query: Executable, sessions: Sessions | None = None
) -> Sequence[Any]:
    """What a query finds in the host's own tables."""
    with HostFaults(doing, sentence=_UNUSABLE):
        async with (sessions or host_session)() as session:
            found: Sequence[Any] = (await session.execute(query)).all()
    return found


@uninterrupted
async def host_change(doing: str, *statements: Executable) -> int:
    """Execute statements on the host's own tables in one transaction; how many rows they changed.

    Raises:
        StoreError: nothing was changed.
    """
    with HostFaults(doing, StoreError):
        async with host_session() as session:
            return await _committed(session, statements)


async def _committed(session: Any, statements: Sequence[Executable]) -> int:
    """Execute statements and commit what they change; how many rows that is."""
    changed = 0
    for statement in statements:
        changed += (await session.execute(statement)).rowcount
    await session.commit()
    return changed


def host_session() -> AbstractAsyncContextManager[Any]:
    """A session of the host's own."""
    from open_webui.internal.db import get_async_db_context

    return get_async_db_context()
