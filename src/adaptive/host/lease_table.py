"""Leases in a table of ours, for hosts without Redis: one owner per name, across workers."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    MetaData,
    String,
    Table,
    delete,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from adaptive.host.own_table import OwnTable, Sessions

_LEASES = Table(
    "adaptive_memory_lease",
    MetaData(),
    Column("name", String(255), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("until", Double, nullable=False),
)


class HostLeaseTable:
    """``Leases`` by one conditional UPDATE, else by an INSERT that the primary key lets one do.

    Both are atomic on SQLite, which has one writer, and on PostgreSQL at READ COMMITTED, where an
    UPDATE that waited for another one looks at the row anew. The times are those of the workers'
    clocks: who holds a lease stops before its end by more than the clocks may differ.
    """

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(_LEASES, sessions)

    async def acquire(self, name: str, owner: str, now: float, seconds: float) -> bool:
        """Take or prolong a lease (see ``Leases``)."""
        until = now + seconds
        mine_to_take = or_(_LEASES.c.until < now, _LEASES.c.owner == owner)
        change = (
            update(_LEASES)
            .where(_LEASES.c.name == name, mine_to_take)
            .values(owner=owner, until=until)
        )
        standing = select(_LEASES.c.name).where(_LEASES.c.name == name)
        async with self._table.session("taking a lease") as session:
            taken = (await session.execute(change)).rowcount
            if not taken:
                # The INSERT alone would tell, but PostgreSQL logs each one that the key refuses,
                # and a lease that somebody holds is asked for again and again.
                if (await session.execute(standing)).first():
                    return False
                try:
                    await session.execute(
                        insert(_LEASES).values(name=name, owner=owner, until=until)
                    )
                except IntegrityError:  # another one found none at the same moment
                    await session.rollback()
                    return False
            await session.commit()
        return True

    async def release(self, name: str, owner: str) -> None:
        """Remove the owner's row."""
        held = (_LEASES.c.name == name) & (_LEASES.c.owner == owner)
        async with self._table.session("releasing a lease") as session:
            await session.execute(delete(_LEASES).where(held))
            await session.commit()

    async def drop(self, name: str) -> None:
        """Free a name, whoever holds it."""
        standing = select(_LEASES.c.name).where(_LEASES.c.name == name)
        async with self._table.session("dropping a lease") as session:
            # Looked for first: SQLite's one writer is taken by a DELETE that finds nothing, too.
            if (await session.execute(standing)).first():
                await session.execute(delete(_LEASES).where(_LEASES.c.name == name))
                await session.commit()
