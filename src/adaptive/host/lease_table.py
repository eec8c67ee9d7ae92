"""Leases in a table of ours, for what comes back now and then: one owner per name, across workers.

The lease under which a user's turns are learned stands beside the turns (``pending_table``).
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    MetaData,
    String,
    Table,
    delete,
    or_,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from adaptive.host.own_table import OwnTable, Sessions

_LEASES = Table(
    "adaptive_memory_lease",
    MetaData(),
    Column("name", String(255), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("until", Double, nullable=False),
)


class HostLeaseTable:
    """``Leases`` by one INSERT that takes an ended lease over where the name is there already.

    The times are those of the workers' clocks: who holds a lease stops before its end by more than
    the clocks may differ.
    """

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(_LEASES, sessions)

    async def acquire(self, name: str, owner: str, now: float, seconds: float) -> bool:
        """Take or prolong a lease (see ``Leases``)."""
        async with self._table.session("taking a lease") as session:
            dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
            new = dialect.insert(_LEASES).values(name=name, owner=owner, until=now + seconds)
            taken = new.on_conflict_do_update(
                index_elements=[_LEASES.c.name],
                set_={"owner": new.excluded.owner, "until": new.excluded.until},
                where=or_(_LEASES.c.until < now, _LEASES.c.owner == owner),
            )
            mine = (await session.execute(taken.returning(_LEASES.c.name))).first()
            await session.commit()
        return mine is not None

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
