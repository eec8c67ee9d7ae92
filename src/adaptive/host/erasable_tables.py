"""All tables of ours that exist, of whichever release, as one that erases sees them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

import sqlalchemy
from sqlalchemy import ColumnClause, TableClause, column, delete, select, table, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.elements import ColumnElement

from adaptive.errors import TablesUnavailable
from adaptive.host.faults import HostFaults, describe_fault
from adaptive.host.own_table import Sessions
from adaptive.host.uninterrupted import uninterrupted

TABLE_PREFIX = "adaptive_memory_"
# Names of leases end in the user's id: `upkeep:<id>`, `topics:<id>`.
LEASE_TABLE = "adaptive_memory_lease"
PENDING_TABLE = "adaptive_memory_pending"
SUGGESTION_TABLE = "adaptive_memory_suggestion"
# SQLite takes 32,766 parameters in one statement, older ones 999.
_ERASED_PER_STATEMENT = 150

# Made of a table's columns, which are its attributes.
Condition = Callable[[Any], ColumnElement[bool]]


class ErasableTables:
    """Tables by what the database tells of them: none is created, no other user's row touched.

    Every call opens a session of its own and may raise ``TablesUnavailable``. Each deletion is one
    transaction, and what is gone already is no error, so that any order can be repeated.
    """

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._sessions = sessions or _erasing_session
        self._columns: dict[str, frozenset[str]] = {}

    @uninterrupted
    async def existing(self) -> Mapping[str, frozenset[str]]:
        """Our tables with the names of their columns."""
        async with self._session("looking for tables") as session:
            self._columns = await session.run_sync(_our_tables)
        return self._columns

    @uninterrupted
    async def erase(self, name: str, user_id: str, condition: Condition | None = None) -> int:
        """Delete a user's rows, or those that fit; how many there were."""
        rows = self._rows(name)
        async with self._session(f"erasing from {name}") as session:
            query = delete(rows).where(*_mine(rows, user_id, condition))
            erased: int = (await session.execute(query)).rowcount
            await session.commit()
        return erased

    async def erase_named(
        self, name: str, user_id: str, memory_ids: Iterable[str], also: Condition | None = None
    ) -> int:
        """Delete a user's rows of some memories, or those of them that fit."""
        ids, erased = sorted(memory_ids), 0
        for start in range(0, len(ids), _ERASED_PER_STATEMENT):
            some = ids[start : start + _ERASED_PER_STATEMENT]
            erased += await self.erase(name, user_id, partial(_of_memories, some, also))
        return erased

    @uninterrupted
    async def erase_leases(self, user_id: str) -> int:
        """Delete leases on a user, whatever they are for."""
        rows = self._rows(LEASE_TABLE)
        async with self._session("erasing leases") as session:
            # The pattern is only a first sieve: SQLite takes small letters for capitals.
            named = select(rows.c.name).where(rows.c.name.endswith(f":{user_id}", autoescape=True))
            names = (await session.execute(named)).scalars().all()
            mine = [name for name in names if name.partition(":")[2] == user_id]
            if not mine:
                return 0
            query = delete(rows).where(rows.c.name.in_(mine))
            erased: int = (await session.execute(query)).rowcount
            await session.commit()
        return erased

    @uninterrupted
    async def empty_turns(self, user_id: str, condition: Condition, now: float) -> int:
        """Mark waiting turns as done and drop their words, so that nobody learns from them.

        A worker that has them sees so before its next write. The rows stay for their month, since
        an answer made anew to such a message would be learned from otherwise.
        """
        rows = self._rows(PENDING_TABLE)
        done = {"state": "done", "payload": "", "journal": "", "learned_at": now}
        free = {"lease_owner": "", "lease_until": 0.0}
        waiting = (rows.c.state == "waiting", *_mine(rows, user_id, condition))
        async with self._session("emptying turns") as session:
            query = update(rows).where(*waiting).values({**done, **free})
            emptied: int = (await session.execute(query)).rowcount
            await session.commit()
        return emptied

    @uninterrupted
    async def values(
        self, name: str, user_id: str, of: str, condition: Condition | None = None
    ) -> frozenset[Any]:
        """What stands in a column of a user's rows, or of those that fit."""
        rows = self._rows(name)
        query = select(rows.c[of]).where(*_mine(rows, user_id, condition)).distinct()
        async with self._session(f"looking into {name}") as session:
            return frozenset((await session.execute(query)).scalars().all())

    def _rows(self, name: str) -> TableClause:
        columns: list[ColumnClause[Any]] = [column(one) for one in sorted(self._columns[name])]
        return table(name, *columns)

    @asynccontextmanager
    async def _session(self, doing: str) -> AsyncGenerator[Any, None]:
        """A session of the host's database.

        Raises:
            TablesUnavailable: the database refuses; the text says what was being done.
        """
        with HostFaults(doing, TablesUnavailable):
            try:
                async with self._sessions() as session:
                    yield session
            except DBAPIError as error:  # its own text quotes the statement and its values
                raise TablesUnavailable(
                    f"{doing}: {describe_fault(error.orig or error)}"
                ) from error


def _mine(
    rows: TableClause, user_id: str, condition: Condition | None
) -> tuple[ColumnElement[bool], ...]:
    mine = rows.c.user_id == user_id
    return (mine,) if condition is None else (mine, condition(rows.c))


def _of_memories(ids: Sequence[str], also: Condition | None, columns: Any) -> ColumnElement[bool]:
    named: ColumnElement[bool] = columns.memory_id.in_(ids)
    return named if also is None else named & also(columns)


def _our_tables(session: Any) -> dict[str, frozenset[str]]:
    """Our tables in the database of a synchronous session, by name."""
    inspector = sqlalchemy.inspect(session.connection())
    names = sorted(name for name in inspector.get_table_names() if name.startswith(TABLE_PREFIX))
    return {
        name: frozenset(column["name"] for column in inspector.get_columns(name)) for name in names
    }


def _erasing_session() -> AbstractAsyncContextManager[Any]:
    from open_webui.internal.db import get_async_db_context

    return get_async_db_context()
