"""One user's rows in all tables of ours that exist, of whichever release."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import ColumnElement, MetaData, Table, delete, func, select, update

from adaptive.host.own_table import Sessions, database_session, host_session
from adaptive.host.uninterrupted import uninterrupted

_PREFIX = "adaptive_memory_"


class UserRows:
    """Rows of one user by what the database tells of its tables: none is created.

    Every call is a transaction of its own and may raise ``TablesUnavailable``; what is gone already
    is no error, so any order can be repeated.
    """

    def __init__(self, user_id: str, sessions: Sessions | None = None) -> None:
        self._user_id, self._sessions = user_id, sessions or host_session

    @uninterrupted
    async def tables(self) -> dict[str, Table]:
        """Our tables that hold something of users, by their names without our prefix."""
        async with database_session("looking for tables", self._sessions) as session:
            return await session.run_sync(_our_tables)

    async def values(self, column: ColumnElement[Any], condition: ColumnElement[bool]) -> set[Any]:
        """What stands in a column of those of the user's rows that fit."""
        table: Any = column.table
        return set(await self._done(table, "looking into", select(column).where(condition)))

    async def count(self, table: Table, condition: ColumnElement[bool]) -> int:
        """How many of the user's rows fit."""
        query = select(func.count()).select_from(table).where(condition)
        (count,) = await self._done(table, "looking into", query)
        return count

    async def erase(self, table: Table, condition: ColumnElement[bool]) -> int:
        """Delete those of the user's rows that fit; how many there were."""
        return await self._done(table, "erasing from", delete(table).where(condition))

    async def empty_turns(self, table: Table, condition: ColumnElement[bool]) -> int:
        """Mark turns that fit as done and drop their words, so that nobody learns from them.

        The rows stay for their month, since an answer made anew to such a message would be learned
        from otherwise.
        """
        done = {"state": "done", "payload": "", "journal": "", "learned_at": time.time()}
        free = {"lease_owner": "", "lease_until": 0.0}
        query = update(table).where(condition).values({**done, **free})
        return await self._done(table, "emptying turns in", query)

    @uninterrupted
    async def _done(self, table: Table, doing: str, query: Any) -> Any:
        """What a statement finds in its first column, or how many rows it changes."""
        doing = f"{doing} {table.name.removeprefix(_PREFIX)}"
        async with database_session(doing, self._sessions) as session:
            result = await session.execute(query.where(table.c.user_id == self._user_id))
            found = result.scalars().all() if result.returns_rows else result.rowcount
            await session.commit()
            return found


def _our_tables(session: Any) -> dict[str, Table]:
    """Our tables in the database of a synchronous session."""
    known = MetaData()
    known.reflect(session.connection(), only=lambda name, _: name.startswith(_PREFIX))
    tables = (table for table in known.sorted_tables if "user_id" in table.c)
    return {table.name.removeprefix(_PREFIX): table for table in tables}
