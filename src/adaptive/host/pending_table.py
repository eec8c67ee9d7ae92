"""Turns to be learned, in a table of ours: what an outlet has put there survives the process."""

from __future__ import annotations

import logging
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
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from adaptive.errors import TablesUnavailable
from adaptive.host.own_table import OwnTable, Sessions
from adaptive.table_ports import PendingTurn, TurnLease

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
    Column("chat_id", String(255), nullable=False),
    Column("state", String(8), nullable=False),
    Column("payload", Text, nullable=False),
    Column("journal", Text, nullable=False),
    Column("batch", String(255), nullable=False),
    Column("queued_at", Double, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("lease_owner", String(64), nullable=False),
    Column("lease_until", Double, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("takes", Integer, nullable=False),
    Column("learned_at", Double, nullable=False),
    Column("called_at", Double, nullable=False),
    Column("model_calls", Integer, nullable=False),
)
_WAITING = _PENDING.c.state == "waiting"
_FREE: dict[str, Any] = {"lease_owner": "", "lease_until": 0.0}
_NEVER: dict[str, Any] = {"learned_at": 0.0, "called_at": 0.0, "model_calls": 0}
_TOLD = (
    _PENDING.c.user_id,
    _PENDING.c.message_id,
    _PENDING.c.chat_id,
    _PENDING.c.queued_at,
    _PENDING.c.due_at,
    _PENDING.c.batch,
    _PENDING.c.attempts,
    _PENDING.c.takes,
    _PENDING.c.lease_owner,
    _PENDING.c.lease_until,
)


class HostPendingTable:
    """``PendingTable`` by conditional UPDATEs, whose row counts tell who was first."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(_PENDING, sessions)
        self._tidy_again_at = 0.0

    async def put(self, turn: PendingTurn) -> bool:
        """Let a turn wait, by one INSERT: the answer's end waits for it (see ``PendingTable``)."""
        row = insert(_PENDING).values(
            user_id=turn.user_id,
            message_id=turn.message_id,
            chat_id=turn.chat_id,
            state="waiting",
            payload=turn.payload,
            journal=turn.journal,
            batch=turn.batch,
            queued_at=turn.queued_at,
            due_at=turn.due_at,
            attempts=turn.attempts,
            takes=turn.takes,
            **_FREE,
            **_NEVER,
        )
        sooner = (
            update(_PENDING)
            .where(
                _PENDING.c.user_id == turn.user_id,
                _PENDING.c.message_id == turn.message_id,
                _WAITING,
                _PENDING.c.due_at > turn.due_at,
            )
            .values(due_at=turn.due_at)
        )
        async with self._table.session("queueing a turn") as session:
            try:
                await session.execute(row)
            except IntegrityError:
                await session.rollback()
                await session.execute(sooner)
                await session.commit()
                return False
            await session.commit()
        return True

    async def waiting(self, user_id: str) -> tuple[PendingTurn, ...]:
        """A user's 200 oldest waiting turns, without payload and journal."""
        query = (
            select(*_TOLD)
            .where(_PENDING.c.user_id == user_id, _WAITING)
            .order_by(_PENDING.c.queued_at, _PENDING.c.message_id)
            .limit(_MOST_READ)
        )
        async with self._table.session("reading what is to be learned") as session:
            rows = (await session.execute(query)).mappings().all()
        return tuple(PendingTurn(payload="", **row) for row in rows)

    async def take(self, lease: TurnLease, now: float, until: float) -> tuple[PendingTurn, ...]:
        """Put turns under a lease and read them (see ``PendingTable``)."""
        other = _PENDING.alias()
        served = exists().where(
            other.c.user_id == lease.user_id,
            other.c.state == "waiting",
            other.c.lease_owner != lease.owner,
            other.c.lease_until >= now,
        )
        chosen = (
            _PENDING.c.user_id == lease.user_id,
            _PENDING.c.message_id.in_(lease.message_ids),
        )
        # `served` covers the chosen rows, but PostgreSQL looks anew only at the row that it waited
        # for, not at what a subquery has read.
        free = or_(_PENDING.c.lease_owner == lease.owner, _PENDING.c.lease_until < now)
        begin = (
            update(_PENDING)
            .where(*chosen, _WAITING, free, ~served)
            .values(
                lease_owner=lease.owner,
                lease_until=until,
                takes=_PENDING.c.takes + 1,
            )
        )
        query = select(*_TOLD, _PENDING.c.payload, _PENDING.c.journal).where(*chosen)
        async with self._table.session("taking turns to learn") as session:
            if (await session.execute(begin)).rowcount != len(lease.message_ids):
                await session.rollback()
                return ()
            rows = (await session.execute(query)).mappings().all()
            await session.commit()
        turns = {row["message_id"]: PendingTurn(**row) for row in rows}
        return tuple(turns[message_id] for message_id in lease.message_ids)

    async def renew(self, lease: TurnLease, until: float) -> bool:
        """Prolong a lease."""
        return await self._change("prolonging a lease", lease, {"lease_until": until})

    async def keep(self, lease: TurnLease, journal: str, calls: int, now: float) -> bool:
        """Keep the journal in the newest turn's row."""
        leads = _PENDING.c.message_id == lease.leader
        return await self._change(
            "keeping what the model answered",
            lease,
            {
                "batch": lease.leader,
                "journal": case((leads, journal), else_=""),
                **_counted(lease, calls, now),
            },
        )

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Mark turns as learned; once a day drop the rows of those that nobody asks for again."""
        learned = {
            "state": "done",
            "payload": "",
            "journal": "",
            "learned_at": now,
            **_FREE,
            **_counted(lease, calls, now),
        }
        finished = await self._change("finishing a turn", lease, learned)
        if now >= self._tidy_again_at:
            self._tidy_again_at = now + _TIDY_SECONDS
            try:
                await self._tidy(now)
            except TablesUnavailable as error:
                log_pending.info("it will be tried again tomorrow: %s", error)
        return finished

    async def give_back(
        self, lease: TurnLease, due_at: float, *, failed: bool, calls: int, now: float
    ) -> bool:
        """End a lease, the work undone."""
        values = {
            "due_at": due_at,
            "attempts": _PENDING.c.attempts + int(failed),
            **_FREE,
            **_counted(lease, calls, now),
        }
        return await self._change("giving turns back", lease, values)

    async def calls_since(self, user_id: str, since: float) -> int:
        """Model calls for learning that were counted for a user since then."""
        total = func.coalesce(func.sum(_PENDING.c.model_calls), 0)
        query = select(total).where(_PENDING.c.user_id == user_id, _PENDING.c.called_at >= since)
        async with self._table.session("counting model calls") as session:
            return int((await session.execute(query)).scalar_one())

    async def _change(self, doing: str, lease: TurnLease, values: dict[str, Any]) -> bool:
        """Change all turns under a lease, or none where one of them is under it no more."""
        change = (
            update(_PENDING)
            .where(
                _PENDING.c.user_id == lease.user_id,
                _PENDING.c.message_id.in_(lease.message_ids),
                _PENDING.c.lease_owner == lease.owner,
                _WAITING,
            )
            .values(values)
        )
        async with self._table.session(doing) as session:
            if (await session.execute(change)).rowcount != len(lease.message_ids):
                await session.rollback()
                return False
            await session.commit()
        return True

    async def _tidy(self, now: float) -> None:
        done = (_PENDING.c.state == "done") & (_PENDING.c.learned_at < now - _DONE_LIFETIME_SECONDS)
        forsaken = _WAITING & (_PENDING.c.queued_at < now - _WAITING_LIFETIME_SECONDS)
        async with self._table.session("dropping turns learned long ago") as session:
            await session.execute(delete(_PENDING).where(done))
            dropped = (await session.execute(delete(_PENDING).where(forsaken))).rowcount
            await session.commit()
        if dropped:
            log_pending.warning(
                "%d turns of users who stayed away for half a year were never learned", dropped
            )


def _counted(lease: TurnLease, calls: int, now: float) -> dict[str, Any]:
    """Columns that count model calls, in the row of the newest turn."""
    if not calls:
        return {}
    leads = _PENDING.c.message_id == lease.leader
    return {
        "model_calls": _PENDING.c.model_calls + case((leads, calls), else_=0),
        "called_at": case((leads, now), else_=_PENDING.c.called_at),
    }
