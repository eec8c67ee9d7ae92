"""How often each memory was recalled, in a table of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from adaptive.host.own_table import OwnTable, Sessions
from adaptive.table_ports import Recalls

_USAGE = Table(
    "adaptive_memory_usage",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("memory_id", String(64), primary_key=True),
    Column("recalled", Integer, nullable=False),
    Column("last_recalled", BigInteger, nullable=False),
)
# SQLite takes 32,766 parameters in one statement, older ones 999.
_RECALLS_PER_STATEMENT = 150


class HostUsageTable:
    """Counts by user and memory; workers that count at once add up."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(_USAGE, sessions)

    async def record(self, user_id: str, memory_ids: Sequence[str], now: int) -> None:
        """Count one recall of each of the named memories, in one statement."""
        counted = {memory_id: Recalls(1, now) for memory_id in memory_ids}
        if not counted:
            return
        async with self._table.session("counting recalls") as session:
            await _count_recalls(session, user_id, counted)
            await session.commit()

    async def read(self, user_id: str) -> dict[str, Recalls]:
        """The recalls of a user's memories, by memory id; those never recalled are absent."""
        query = select(_USAGE.c.memory_id, _USAGE.c.recalled, _USAGE.c.last_recalled).where(
            _USAGE.c.user_id == user_id
        )
        async with self._table.session("reading recalls") as session:
            rows = (await session.execute(query)).all()
        return {memory_id: Recalls(count, last) for memory_id, count, last in rows}

    async def merge(self, user_id: str, memory_ids: Sequence[str], into: str) -> None:
        """Give the recalls of memories to the one that stands for them now."""
        former = [memory_id for memory_id in memory_ids if memory_id != into]
        given = _USAGE.c.memory_id.in_(former) & (_USAGE.c.user_id == user_id)
        query = select(_USAGE.c.recalled, _USAGE.c.last_recalled).where(given)
        async with self._table.session("handing recalls over") as session:
            rows = (await session.execute(query)).all()
            if not rows:
                return
            total = Recalls(sum(row.recalled for row in rows), max(row[1] for row in rows))
            await session.execute(delete(_USAGE).where(given))
            await _count_recalls(session, user_id, {into: total})
            await session.commit()

    async def keep_only(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """Drop the recalls of memories that are gone."""
        gone = sorted((await self.read(user_id)).keys() - set(memory_ids))
        if not gone:
            return
        async with self._table.session("dropping recalls") as session:
            for start in range(0, len(gone), _RECALLS_PER_STATEMENT):
                some = gone[start : start + _RECALLS_PER_STATEMENT]
                mine = (_USAGE.c.user_id == user_id) & _USAGE.c.memory_id.in_(some)
                await session.execute(delete(_USAGE).where(mine))
            await session.commit()


async def _count_recalls(session: Any, user_id: str, counted: Mapping[str, Recalls]) -> None:
    """Add counts to those that stand, in the dialect of the session's database.

    The rows are sorted, so that two workers which count the same memories lock them in one order.
    """
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    rows = [
        {
            "user_id": user_id,
            "memory_id": memory_id,
            "recalled": recalls.count,
            "last_recalled": recalls.last,
        }
        for memory_id, recalls in sorted(counted.items())
    ]
    for start in range(0, len(rows), _RECALLS_PER_STATEMENT):
        added = dialect.insert(_USAGE).values(rows[start : start + _RECALLS_PER_STATEMENT])
        await session.execute(
            added.on_conflict_do_update(
                index_elements=[_USAGE.c.user_id, _USAGE.c.memory_id],
                set_={
                    "recalled": _USAGE.c.recalled + added.excluded.recalled,
                    "last_recalled": added.excluded.last_recalled,
                },
            )
        )
