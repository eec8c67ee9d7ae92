"""All tables of ours that exist, of whichever release, as one that erases sees them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from sqlalchemy import column, delete, func, inspect, select, table, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.elements import ColumnElement

from adaptive.errors import TablesUnavailable
from adaptive.host.faults import HostFaults, describe_fault
from adaptive.host.own_table import Sessions
from adaptive.host.uninterrupted import uninterrupted

TABLE_PREFIX = "adaptive_memory_"
# Names of leases end in the user's id: `learn:<id>`, `upkeep:<id>`.
_LEASE_TABLE = "adaptive_memory_lease"
_PENDING_TABLE = "adaptive_memory_pending"
# SQLite takes 32,766 parameters in one statement, older ones 999.
_ERASED_PER_STATEMENT = 150

Columns = Mapping[str, Any]
Condition = Callable[[Columns], ColumnElement[bool]]


class ErasableTables:
    """Tables by what the database tells of them; none is created, and no row but a user's is touched.

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
        columns = self._of(name)
        chosen = [columns["user_id"] == user_id, *([condition(columns)] if condition else [])]
        async with self._session(f"erasing from {name}") as session:
            query = delete(table(name, *columns.values())).where(*chosen)
            erased: int = (await session.execute(query)).rowcount
            await session.commit()
        return erased

    async def erase_named(
        self, name: str, user_id: str, values: Iterable[str], of: str = "memory_id"
    ) -> int:
        """Delete a user's rows that have one of the values in a column."""
        listed, erased = sorted(values), 0
        for start in range(0, len(listed), _ERASED_PER_STATEMENT):
            some = listed[start : start + _ERASED_PER_STATEMENT]
            erased += await self.erase(name, user_id, lambda c, some=some: c[of].in_(some))
        return erased

    @uninterrupted
    async def erase_leases(self, user_id: str) -> int:
        """Delete leases on a user, whatever they are for."""
        columns = self._of(_LEASE_TABLE)
        name = columns["name"]
        async with self._session("erasing leases") as session:
            # The pattern is only a first sieve: SQLite takes small letters for capitals.
            ends = name.endswith(f":{user_id}", autoescape=True)
            query = select(name).select_from(table(_LEASE_TABLE, *columns.values())).where(ends)
            found = (await session.execute(query)).scalars().all()
            mine = [one for one in found if one.partition(":")[2] == user_id]
            if not mine:
                return 0
            leases = table(_LEASE_TABLE, *columns.values())
            erased: int = (
                await session.execute(delete(leases).where(leases.c.name.in_(mine)))
            ).rowcount
            await session.commit()
        return erased

    @uninterrupted
    async def empty_turns(self, user_id: str, condition: Condition, now: float) -> int:
        """Mark waiting turns as done and drop their words, so that nobody learns from them.

        A worker that has them sees so before its next write. The rows stay for their month, since
        an answer made anew to such a message would be learned from otherwise.
        """
        columns = self._of(_PENDING_TABLE)
        done = {
            "state": "done",
            "payload": "",
            "journal": "",
            "learned_at": now,
            "lease_owner": "",
            "lease_until": 0.0,
        }
        chosen = (
            columns["user_id"] == user_id,
            columns["state"] == "waiting",
            condition(columns),
        )
        async with self._session("emptying turns") as session:
            turns = table(_PENDING_TABLE, *columns.values())
            emptied: int = (
                await session.execute(update(turns).where(*chosen).values(done))
            ).rowcount
            await session.commit()
        return emptied

    @uninterrupted
    async def values(
        self, name: str, user_id: str, of: str, condition: Condition | None = None
    ) -> frozenset[str]:
        """What stands in a column of a user's rows, or of those that fit."""
        columns = self._of(name)
        chosen = [columns["user_id"] == user_id, *([condition(columns)] if condition else [])]
        query = select(columns[of]).select_from(table(name, *columns.values())).where(*chosen)
        async with self._session(f"looking into {name}") as session:
            return frozenset((await session.execute(query.distinct())).scalars().all())

    @uninterrupted
    async def count(self, name: str, user_id: str) -> int:
        """How many rows a user has."""
        columns = self._of(name)
        rows = table(name, *columns.values())
        query = select(func.count()).select_from(rows).where(columns["user_id"] == user_id)
        async with self._session(f"counting in {name}") as session:
            return int((await session.execute(query)).scalar_one())

    def _of(self, name: str) -> dict[str, Any]:
        return {one: column(one) for one in sorted(self._columns[name])}

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


def _our_tables(session: Any) -> dict[str, frozenset[str]]:
    """Our tables in the database of a synchronous session; leases before all that has no user."""
    inspector = inspect(session.connection())
    names = sorted(name for name in inspector.get_table_names() if name.startswith(TABLE_PREFIX))
    return {
        name: frozenset(column["name"] for column in inspector.get_columns(name)) for name in names
    }


def _erasing_session() -> AbstractAsyncContextManager[Any]:
    from open_webui.internal.db import get_async_db_context

    return get_async_db_context()
