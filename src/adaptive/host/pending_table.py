"""Turns to be learned, in a table of ours: what an outlet has put there survives the process."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Double,
    Executable,
    Integer,
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

from adaptive.core.errors import TablesUnavailable, with_detail
from adaptive.core.queued_turns import (
    QueuedTurn,
    QueuePlace,
    TurnLease,
    UserQueue,
    read_turn,
    turn_text,
)
from adaptive.host.own_table import TABLES, OwnTable, Sessions
from adaptive.privacy.sealing import MARKED, Sealer

log_pending = logging.getLogger("adaptive_memory.host")

_TIDY_SECONDS = 24 * 3600.0
# A message is regenerated minutes later, not months.
_DONE_LIFETIME_SECONDS = 30 * _TIDY_SECONDS
# Of a user who has not come back for half a year, or never will: the turn holds their words.
_WAITING_LIFETIME_SECONDS = 180 * _TIDY_SECONDS
_MOST_READ = 200
_MOST_COUNTED = 10_000

PENDING = Table(
    "adaptive_memory_pending",
    TABLES,
    Column("user_id", String(64), primary_key=True),
    Column("message_id", String(255), primary_key=True),
    Column("chat_id", String(255), nullable=False, default=""),
    Column("state", String(8), nullable=False),
    Column("payload", Text, nullable=False, default=""),
    Column("queued_at", Double, nullable=False, default=0.0),
    Column("due_at", Double, nullable=False, default=0.0),
    Column("lease_owner", String(64), nullable=False, default=""),
    Column("lease_until", Double, nullable=False, default=0.0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("learned_at", Double, nullable=False, default=0.0),
    Column("model_calls", Integer, nullable=False, default=0),
)
_ROW = PENDING.c
# The lease on a user: a row of the user's own beside the turns, so that one statement changes both,
# and that all who want it write to one row, which both databases let them do one by one.
_LEASE_ID = "(lease)"
_LEASE = {"message_id": _LEASE_ID, "state": "lease"}
_IS_LEASE = _ROW.message_id == _LEASE_ID
_WAITING = _ROW.state == "waiting"
# What the payload is sealed as.
_PAYLOAD = "pending.payload"
_FREE: dict[str, Any] = {"lease_owner": "", "lease_until": 0.0}
_PLACE = (
    _ROW.message_id,
    _ROW.chat_id,
    _ROW.queued_at,
    _ROW.due_at,
    _ROW.attempts,
)


def learned_values(now: float) -> dict[str, Any]:
    """What stands in the row of a turn that is done: none of its words."""
    return {"state": "done", "payload": "", "learned_at": now, **_FREE}


class HostPendingTable:
    """``PendingTable`` by conditional UPDATEs, whose row counts tell who was first.

    Each call changes turns by one statement, which is atomic on SQLite, with its one writer, and on
    PostgreSQL at READ COMMITTED, where an UPDATE that waited for another one looks anew at the row
    of the lease. Turns are sealed; one that can't be opened or read stays as it is.
    """

    def __init__(
        self, sealer: Sealer, sessions: Sessions | None = None
    ) -> None:
        self._sealer = sealer
        self._table = OwnTable(PENDING, sessions)
        self._tidy_again_at = 0.0
        # Turns that were found not to be opened by this secret, or read by this build: they wait
        # for the one that has queued them.
        self._unopened = defaultdict[str, set[str]](set)
        self._own = _ROW.payload.startswith(sealer.mark, autoescape=True)

    async def put(self, queued: QueuedTurn) -> None:
        """Let a turn wait, by one INSERT: the answer's end waits for it (see ``PendingTable``).

        The row of the lease is made with it.
        """
        turn = queued.turn
        row = {
            "user_id": turn.user_id,
            "message_id": turn.source.message_id,
            "chat_id": turn.source.chat_id,
            "state": "waiting",
            "payload": self._sealer.seal(
                turn.user_id, _PAYLOAD, turn_text(turn)
            ),
            "queued_at": queued.queued_at,
            "due_at": queued.due_at,
            "attempts": queued.attempts,
            "learned_at": 0.0,
        }
        # The row of the lease says nothing of the turn.
        lease = row | _LEASE
        lease |= {"chat_id": "", "payload": "", "learned_at": queued.queued_at}
        async with self._table.session("queueing a turn") as session:
            insert = self._table.insert(session).values([lease, row])
            due_at = insert.excluded.due_at
            sooner = insert.on_conflict_do_update(
                index_elements=["user_id", "message_id"],
                set_={"due_at": due_at},
                where=_WAITING & (_ROW.due_at > due_at),
            )
            await session.execute(sooner)
            await session.commit()

    async def waiting(self, user_id: str, since: float) -> UserQueue:
        """A user's 200 oldest waiting turns, the lease on the user and the count of model calls."""
        counted = PENDING.alias()
        calls = select(
            func.coalesce(func.sum(counted.c.model_calls), 0)
        ).where(counted.c.user_id == user_id, counted.c.queued_at >= since)
        openable = _WAITING & self._openable(user_id)
        query = (
            select(
                *_PLACE,
                _ROW.lease_until,
                calls.scalar_subquery().label("calls"),
            )
            .where(_ROW.user_id == user_id, or_(openable, _IS_LEASE))
            .order_by(_IS_LEASE.desc(), _ROW.queued_at, _ROW.message_id)
            .limit(_MOST_READ + 1)
        )
        rows = await self._table.rows("reading what is to be learned", query)
        places = [
            QueuePlace(
                message_id=row.message_id,
                chat_id=row.chat_id,
                queued_at=row.queued_at,
                due_at=row.due_at,
                attempts=row.attempts,
            )
            for row in rows
            if row.message_id != _LEASE_ID
        ]
        lease_ends = [
            row.lease_until for row in rows if row.message_id == _LEASE_ID
        ]
        return UserQueue(
            places=tuple(places),
            leased_until=max(lease_ends, default=0.0),
            calls=rows[0].calls if rows else 0,
        )

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[QueuedTurn, ...] | None:
        """Take a lease, whose row is made where there is none, and open its turns."""
        turns = _ROW.message_id.in_(lease.message_ids) & _WAITING
        free_lease = _IS_LEASE & (_ROW.lease_until < now)
        begin = (
            update(PENDING)
            .where(_ROW.user_id == lease.user_id, or_(free_lease, turns))
            .values(
                lease_owner=lease.owner,
                lease_until=until,
                attempts=_ROW.attempts
                + case((_ROW.lease_owner != "", 1), else_=0),
            )
            .returning(*_PLACE, _ROW.payload)
        )
        async with self._table.session("taking turns to learn") as session:
            taken = await self._begun(session, begin)
            if (
                _LEASE_ID not in taken
            ):  # another one's, or dropped with what was learned long ago
                await session.rollback()
                row = _LEASE | {"user_id": lease.user_id, "learned_at": now}
                insert = self._table.insert(session).values(row)
                await session.execute(insert.on_conflict_do_nothing())
                taken = await self._begun(session, begin)
            if taken.keys() != {_LEASE_ID, *lease.message_ids}:
                await session.rollback()
                return None
            queued = [
                self._opened(lease.user_id, taken[one])
                for one in lease.message_ids
            ]
            opened = tuple(one for one in queued if one is not None)
            if len(opened) < len(queued):  # others are taken in their place
                await session.rollback()
                return None
            await session.commit()
        return opened

    async def unopened(self) -> int:
        """How many turns of all users wait that another secret has sealed."""
        foreign = (_WAITING, ~self._own, _ROW.payload != "")
        query = (
            select(_ROW.user_id, _ROW.payload)
            .where(*foreign)
            .limit(_MOST_COUNTED)
        )
        rows = await self._table.rows("counting what can't be opened", query)
        opening = ((row.user_id, _PAYLOAD, row.payload) for row in rows)
        return await asyncio.to_thread(
            lambda: sum(
                self._sealer.open(*sealed) is None for sealed in opening
            )
        )

    def _openable(self, user_id: str) -> ColumnElement[bool]:
        """Whether a turn is not known to be sealed with another secret."""
        foreign = ~self._own & _ROW.payload.startswith(MARKED, autoescape=True)
        return ~foreign & _ROW.message_id.not_in(
            self._unopened.get(user_id, ())
        )

    async def _begun(self, session: Any, begin: Executable) -> dict[str, Any]:
        return {row.message_id: row for row in await session.execute(begin)}

    async def renew(self, lease: TurnLease, until: float) -> bool:
        """Prolong a lease."""
        return await self._change(
            "prolonging a lease", lease, {"lease_until": until}, 0
        )

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Mark turns as learned; once a day drop the rows of those that nobody asks for again."""
        state = case((_WAITING, "done"), else_=_ROW.state)
        learned = learned_values(now) | {"state": state}
        finished = await self._change(
            "finishing a turn", lease, learned, calls
        )
        if now >= self._tidy_again_at:
            self._tidy_again_at = now + _TIDY_SECONDS
            await self._tidy(now)
        return finished

    async def give_back(
        self, lease: TurnLease, due_at: float, *, failed: bool, calls: int
    ) -> bool:
        """End a lease, the work undone."""
        back = {
            "due_at": due_at,
            "attempts": _ROW.attempts + int(failed),
            **_FREE,
        }
        return await self._change("giving turns back", lease, back, calls)

    async def _change(
        self, doing: str, lease: TurnLease, values: dict[str, Any], calls: int
    ) -> bool:
        """Change a lease and all its turns, or none where one of them is under it no more."""
        # The newest message keeps the count for all.
        more = case(
            (_ROW.message_id.in_(lease.message_ids[-1:]), calls), else_=0
        )
        under_it = (
            _ROW.user_id == lease.user_id,
            _ROW.message_id.in_((_LEASE_ID, *lease.message_ids)),
            _ROW.lease_owner == lease.owner,
        )
        change = update(PENDING).where(*under_it)
        change = change.values(
            {**values, "model_calls": _ROW.model_calls + more}
        )
        async with self._table.session(doing) as session:
            if (await session.execute(change)).rowcount != 1 + len(
                lease.message_ids
            ):
                await session.rollback()
                return False
            await session.commit()
        return True

    async def _tidy(self, now: float) -> None:
        free = _ROW.lease_until < now
        learned = ~_WAITING & (_ROW.learned_at < now - _DONE_LIFETIME_SECONDS)
        forsaken = _WAITING & (
            _ROW.queued_at < now - _WAITING_LIFETIME_SECONDS
        )
        doing = "dropping turns learned long ago"
        try:
            await self._table.change(
                doing, delete(PENDING).where(free, learned)
            )
            lost = await self._table.change(
                doing, delete(PENDING).where(free, forsaken)
            )
            if lost:
                log_pending.warning(
                    "%d turns of users who stayed away for half a year were never learned",
                    lost,
                )
        except TablesUnavailable as error:
            log_pending.warning(
                "it will be tried again tomorrow: %s", with_detail(error)
            )

    def _opened(self, user_id: str, row: Any) -> QueuedTurn | None:
        """A turn with its words, ``None`` where they can't be opened or read."""
        text = self._sealer.open(user_id, _PAYLOAD, row.payload)
        turn = None if text is None else read_turn(text)
        if turn is None:
            self._unopened[user_id].add(row.message_id)
            return None
        return QueuedTurn(
            turn=turn,
            queued_at=row.queued_at,
            due_at=row.due_at,
            attempts=row.attempts,
        )
