"""Turns to be learned, in a table of ours: what an outlet has put there survives the process."""

from __future__ import annotations

import logging
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import (
    Column,
    Double,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    case,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from adaptive.errors import TablesUnavailable
from adaptive.host.own_table import OwnTable, Sessions
from adaptive.table_ports import PendingTurn, TurnLease, WaitingTurns

log_pending = logging.getLogger("adaptive_memory.host")

_TIDY_SECONDS = 24 * 3600.0
# A message is regenerated minutes later, not months.
_DONE_LIFETIME_SECONDS = 30 * _TIDY_SECONDS
# Of a user who has not come back for half a year, or never will: the turn holds their words.
_WAITING_LIFETIME_SECONDS = 180 * _TIDY_SECONDS
_MOST_READ = 200

_PENDING = Table(
    "adaptive_memory_pending",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("message_id", String(255), primary_key=True),
    Column("chat_id", String(255), nullable=False, default=""),
    Column("state", String(8), nullable=False),
    Column("payload", Text, nullable=False, default=""),
    Column("journal", Text, nullable=False, default=""),
    Column("batch", String(255), nullable=False, default=""),
    Column("queued_at", Double, nullable=False, default=0.0),
    Column("due_at", Double, nullable=False, default=0.0),
    Column("lease_owner", String(64), nullable=False, default=""),
    Column("lease_until", Double, nullable=False, default=0.0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("learned_at", Double, nullable=False, default=0.0),
    Column("model_calls", Integer, nullable=False, default=0),
)
_ROW = _PENDING.c
# The lease on a user: a row of the user's own beside the turns, so that one statement changes both,
# and that all who want it write to one row, which both databases let them do one by one.
_LEASE_ID = "(lease)"
_IS_LEASE = _ROW.message_id == _LEASE_ID
_WAITING = _ROW.state == "waiting"
_KEY = ("user_id", "message_id")
_FREE: dict[str, Any] = {"lease_owner": "", "lease_until": 0.0}
_TOLD = tuple(
    _ROW[one.name] for one in fields(PendingTurn) if one.name not in ("payload", "journal")
)


class HostPendingTable:
    """``PendingTable`` by conditional UPDATEs, whose row counts tell who was first.

    Each call is one statement. They are atomic on SQLite, which has one writer, and on PostgreSQL
    at READ COMMITTED, where an UPDATE that waited for another one looks at the row anew: the row of
    the lease. The times are those of the workers' clocks: who holds a lease stops before its end by
    more than the clocks may differ.
    """

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(_PENDING, sessions)
        self._tidy_again_at = 0.0

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait, by one INSERT: the answer's end waits for it (see ``PendingTable``)."""
        async with self._table.session("queueing a turn") as session:
            insert = _insert(session).values(asdict(turn) | {"state": "waiting"})
            due_at = insert.excluded.due_at
            await session.execute(
                insert.on_conflict_do_update(
                    index_elements=_KEY,
                    set_={"due_at": due_at},
                    where=_WAITING & (_ROW.due_at > due_at),
                )
            )
            await session.commit()

    async def waiting(self, user_id: str, since: float) -> WaitingTurns:
        """A user's 200 oldest waiting turns, the lease on the user and the count of model calls."""
        counted = _PENDING.alias()
        calls = select(func.coalesce(func.sum(counted.c.model_calls), 0)).where(
            counted.c.user_id == user_id, counted.c.queued_at >= since
        )
        query = (
            select(*_TOLD, _ROW.lease_until, calls.scalar_subquery().label("calls"))
            .where(_ROW.user_id == user_id, or_(_WAITING, _IS_LEASE))
            .order_by(_IS_LEASE.desc(), _ROW.queued_at, _ROW.message_id)
            .limit(_MOST_READ + 1)
        )
        async with self._table.session("reading what is to be learned") as session:
            rows = [dict(row) for row in (await session.execute(query)).mappings()]
        told = [(row.pop("lease_until"), row.pop("calls")) for row in rows]
        leased = rows[:1] and rows[0]["message_id"] == _LEASE_ID
        turns = tuple(PendingTurn(payload="", **row) for row in rows[1 if leased else 0 :])
        return WaitingTurns(turns, told[0][0] if leased else 0.0, told[0][1] if told else 0)

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[PendingTurn, ...] | None:
        """Take a lease and its turns (see ``PendingTable``); a user's first one takes an INSERT."""
        turns = _ROW.message_id.in_(lease.message_ids) & _WAITING & (_ROW.batch == lease.batch)
        begin = (
            update(_PENDING)
            .where(_ROW.user_id == lease.user_id, or_(_IS_LEASE & (_ROW.lease_until < now), turns))
            .values(
                lease_owner=lease.owner,
                lease_until=until,
                attempts=_ROW.attempts + case((_ROW.lease_owner != "", 1), else_=0),
            )
            .returning(*_TOLD, _ROW.payload, _ROW.journal)
        )
        async with self._table.session("taking turns to learn") as session:
            taken = await _rows_by_message(session, begin)
            if _LEASE_ID not in taken:
                await session.rollback()
                row = {"message_id": _LEASE_ID, "state": "lease", "learned_at": now}
                insert = _insert(session).values(row | {"user_id": lease.user_id})
                await session.execute(insert.on_conflict_do_nothing())
                taken = await _rows_by_message(session, begin)
            if taken.keys() != {_LEASE_ID, *lease.message_ids}:
                await session.rollback()
                return None
            await session.commit()
        return tuple(PendingTurn(**taken[message_id]) for message_id in lease.message_ids)

    async def renew(
        self, lease: TurnLease, until: float, journal: str | None = None, calls: int = 0
    ) -> bool:
        """Prolong a lease; a journal is kept in the newest turn's row."""
        values: dict[str, Any] = {"lease_until": until}
        if journal is not None:
            values["batch"] = case((_IS_LEASE, ""), else_=lease.leader)
            values["journal"] = case((_ROW.message_id == lease.leader, journal), else_="")
        return await self._change("prolonging a lease", lease, values, calls)

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Mark turns as learned; once a day drop the rows of those that nobody asks for again."""
        state = case((_WAITING, "done"), else_=_ROW.state)
        learned = {"state": state, "payload": "", "journal": "", "learned_at": now, **_FREE}
        finished = await self._change("finishing a turn", lease, learned, calls)
        if now >= self._tidy_again_at:
            self._tidy_again_at = now + _TIDY_SECONDS
            await self._tidy(now)
        return finished

    async def give_back(self, lease: TurnLease, due_at: float, *, failed: bool, calls: int) -> bool:
        """End a lease, the work undone."""
        back = {"due_at": due_at, "attempts": _ROW.attempts + int(failed), **_FREE}
        return await self._change("giving turns back", lease, back, calls)

    async def _change(
        self, doing: str, lease: TurnLease, values: dict[str, Any], calls: int
    ) -> bool:
        """Change a lease and all its turns, or none where one of them is under it no more.

        Model calls are counted in the row of the newest turn.
        """
        if calls:
            more = case((_ROW.message_id == lease.leader, calls), else_=0)
            values = {**values, "model_calls": _ROW.model_calls + more}
        under_it = (
            _ROW.user_id == lease.user_id,
            _ROW.message_id.in_((_LEASE_ID, *lease.message_ids)),
            _ROW.lease_owner == lease.owner,
        )
        async with self._table.session(doing) as session:
            changed = await session.execute(update(_PENDING).where(*under_it).values(values))
            if changed.rowcount != 1 + len(lease.message_ids):
                await session.rollback()
                return False
            await session.commit()
        return True

    async def _tidy(self, now: float) -> None:
        learned = ~_WAITING & (_ROW.learned_at < now - _DONE_LIFETIME_SECONDS)
        forsaken = _WAITING & (_ROW.queued_at < now - _WAITING_LIFETIME_SECONDS)
        old = (_ROW.lease_until < now) & (learned | forsaken)
        try:
            async with self._table.session("dropping turns learned long ago") as session:
                dropped = await session.scalars(delete(_PENDING).where(old).returning(_ROW.state))
                never_learned = dropped.all().count("waiting")
                await session.commit()
        except TablesUnavailable as error:
            log_pending.info("it will be tried again tomorrow: %s", error)
            return
        if never_learned:
            told = "%d turns of users who stayed away for half a year were never learned"
            log_pending.warning(told, never_learned)


async def _rows_by_message(session: Any, query: Any) -> dict[str, dict[str, Any]]:
    rows = (await session.execute(query)).mappings()
    return {row["message_id"]: dict(row) for row in rows}


def _insert(session: Any) -> Any:
    """An INSERT that may say what to do about a row that stands.

    No plain one: PostgreSQL logs each one that the key refuses.
    """
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    return dialect.insert(_PENDING)
