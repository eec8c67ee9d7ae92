"""The host's database, SQLite or PostgreSQL: its own tables, and ours, which are made when needed.

Statements name tables in the host's schema.
"""

from collections.abc import (
    AsyncGenerator,
    Callable,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Executable,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.orm import Session
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

from adaptive.core import JsonMapping, TablesUnavailable, portions
from adaptive.host.faults import HostFaults, uninterrupted


def host_schema() -> str | None:
    """The schema of PostgreSQL in which the admin has put the host's tables, if any is named.

    The host's own models name it in each statement, without a search path (host: internal/db.py).
    """
    try:
        from open_webui.env import DATABASE_SCHEMA
    except ImportError:
        return None
    return DATABASE_SCHEMA or None


TABLES = MetaData(schema=host_schema())
_KEY = String(64)
_ID = String(255)


ENTRIES = Table(
    "adaptive_memory_entries",
    TABLES,
    Column("user_id", _KEY, primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("key", _ID, primary_key=True),
    Column("chat_id", _ID, nullable=False),
    Column("message_id", _ID, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # Sealed JSON; of a lease its owner.
    Column("body", Text, nullable=False),
    Column("expires_at", BigInteger, index=True),
)
VECTORS = Table(
    "adaptive_memory_vector",
    TABLES,
    Column("user_id", _KEY, primary_key=True),
    Column("memory_id", _KEY, primary_key=True),
    Column("embedder", String(32), primary_key=True),
    Column("content_hash", String(32), nullable=False),
    Column("vector", LargeBinary, nullable=False),
)
OUR_TABLES = (ENTRIES, VECTORS)


def _host_table(name: str, texts: str, *others: Column[Any]) -> Table:
    """A table of the host's, with those of its columns that statements of ours name."""
    columns = [Column(text, String) for text in texts.split()]
    return Table(name, TABLES, *columns, *others)


# See models/memories.py, models/users.py, models/folders.py, models/chats.py,
# models/shared_chats.py and models/access_grants.py of the host.
HOST_MEMORIES = _host_table(
    "memory", "id user_id", Column("updated_at", BigInteger)
)
HOST_USERS = _host_table("user", "id email")
HOST_FOLDERS = _host_table("folder", "id parent_id user_id")
HOST_CHATS = _host_table(
    "chat",
    "id user_id title folder_id",
    Column("updated_at", BigInteger),
    Column("meta", JSON),
)
HOST_SHARED_CHATS = _host_table("shared_chat", "chat_id", Column("chat", JSON))
HOST_GRANTS = _host_table("access_grant", "resource_type resource_id")
HOST_AUTOMATION_RUNS = _host_table("automation_run", "chat_id")
# Of 0.9 and later, ``meta`` of 0.11 and later (host: models/chat_messages.py).
HOST_MESSAGES = _host_table(
    "chat_message",
    "id chat_id user_id role parent_id model_id",
    Column("created_at", BigInteger),
    Column("content", JSON),
    Column("output", JSON),
    Column("error", JSON),
    Column("done", Boolean),
    Column("meta", JSON),
)


Sessions = Callable[[], AbstractAsyncContextManager[Any]]


class HostDatabase:
    """The host's database; ``tables`` are created before it is used, ``sessions`` opens another.

    Every call may raise ``TablesUnavailable``, whose detail begins with what was being ``doing``.
    """

    def __init__(
        self,
        sessions: Sessions | None = None,
        tables: Sequence[Table] = OUR_TABLES,
    ) -> None:
        self._sessions = sessions
        self._tables = tables
        self._is_ready = False

    @asynccontextmanager
    async def session(self, doing: str) -> AsyncGenerator[Any, None]:
        """A session of the host's; the caller commits what it changes."""
        with HostFaults(doing, TablesUnavailable):
            try:
                async with (self._sessions or host_session)() as session:
                    if not self._is_ready:
                        await self._create(session)
                        self._is_ready = True
                    yield session
            except DBAPIError:
                self._is_ready = False  # a table may be gone
                raise

    @uninterrupted
    async def rows(self, doing: str, query: Executable) -> Sequence[Any]:
        """What a query finds."""
        async with self.session(doing) as session:
            return (await session.execute(query)).all()

    @uninterrupted
    async def change(self, doing: str, *statements: Executable) -> int:
        """Execute statements in one transaction; how many rows they changed."""
        changed = 0
        if statements:
            async with self.session(doing) as session:
                for statement in statements:
                    changed += (await session.execute(statement)).rowcount
                await session.commit()
        return changed

    @uninterrupted
    async def upsert(
        self,
        doing: str,
        table: Table,
        rows: Sequence[JsonMapping],
        *afterwards: Executable,
        where: ColumnElement[bool] | None = None,
    ) -> int:
        """Insert rows, or replace those of the same keys, in one transaction with what follows.

        Of those that stand only what fits ``where`` is replaced; how many rows were written.
        """
        written = 0
        keys = [column.name for column in table.primary_key]
        async with self.session(doing) as session:
            is_postgresql = session.get_bind().dialect.name == "postgresql"
            dialect = postgresql if is_postgresql else sqlite
            for some in portions(
                sorted(rows, key=lambda row: [row[name] for name in keys])
            ):
                new = dialect.insert(table).values(some)
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

    async def _create(self, session: Any) -> None:
        """Create what is missing; a database that may only be read is only asked.

        Of two workers that create at once PostgreSQL fails one, which is fine. ``IF NOT EXISTS`` is
        no lock there: the other one's table comes up as a doubled name.
        """
        for create in await session.run_sync(self._missing):
            try:
                await session.execute(create)
                await session.commit()
            except (IntegrityError, ProgrammingError):
                await session.rollback()
                await session.execute(create)
                await session.commit()

    def _missing(self, session: Session) -> list[ExecutableDDLElement]:
        """What creates the tables and indexes that are missing, in this order."""
        connection = session.connection()
        dialect = connection.dialect
        missing: list[ExecutableDDLElement] = []
        for table in self._tables:
            schema = connection.schema_for_object(table)
            if not dialect.has_table(connection, table.name, schema):
                missing.append(CreateTable(table, if_not_exists=True))
            for index in table.indexes:
                name = str(index.name)
                if not dialect.has_index(connection, table.name, name, schema):
                    missing.append(CreateIndex(index, if_not_exists=True))
        return missing


def host_session() -> AbstractAsyncContextManager[Any]:
    """A session of the host's own."""
    from open_webui.internal.db import get_async_db_context

    return get_async_db_context()


OUR_DATABASE = HostDatabase()
# For the host's own tables alone, which are there where ours can't be made.
HOST_DATABASE = HostDatabase(tables=())
