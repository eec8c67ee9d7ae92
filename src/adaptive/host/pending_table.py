"""Turns to be learned, in a table of ours: what an outlet has put there survives the process."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    case,
    false,
    func,
    or_,
    select,
    update,
)

from adaptive.core.queued_turns import (
    QueuedTurn,
    QueuePlace,
    TurnLease,
    UserQueue,
    read_turn,
    turn_text,
)
from adaptive.host.database import HostDatabase
from adaptive.host.schema import PENDING
from adaptive.memory.tables import DAY_SECONDS
from adaptive.privacy.sealing import MARKED, Sealer

# A message is regenerated minutes later, not months.
_DONE_SECONDS = 30 * DAY_SECONDS
# Of a user who has not come back for half a year, or never will: the turn holds their words.
_WAITING_SECONDS = 180 * DAY_SECONDS
_MOST_READ = 200

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


def learned_values(now: float) -> dict[str, Any]:
    """What stands in the row of a turn that is done: none of its words."""
    return {"state": "done", "payload": "", "learned_at": now, **_FREE}


def is_outdated(now: float) -> ColumnElement[bool]:
    """Whether nobody asks for a turn again: it was learned long ago, or its user stays away."""
    is_done = _ROW.state == "done"
    learned_long_ago = _ROW.learned_at < now - _DONE_SECONDS
    queued_long_ago = _ROW.queued_at < now - _WAITING_SECONDS
    return or_(
        is_done & learned_long_ago,
        _WAITING & queued_long_ago & (_ROW.lease_until < now),
    )


class HostPendingTable:
    """``PendingTable`` by conditional UPDATEs, whose row counts tell who was first.

    Each call changes turns by one statement, which is atomic on SQLite, with its one writer, and on
    PostgreSQL at READ COMMITTED, where an UPDATE that waited for another one looks anew at the row
    of the lease. Turns are sealed; one that can't be opened or read stays as it is.
    """

    def __init__(self, sealer: Sealer, database: HostDatabase) -> None:
        self._sealer = sealer
        self._database = database
        # Ids of turns that this secret does not open, or this build does not read: they wait for
        # the one that has queued them.
        self._unreadable = set[str]()
        own = _ROW.payload.startswith(sealer.mark, autoescape=True)
        marked = _ROW.payload.startswith(MARKED, autoescape=True)
        self._foreign = _WAITING & marked & ~own

    async def put(self, queued: QueuedTurn) -> None:
        """Let a turn wait, by one INSERT: the answer's end waits for it (see ``PendingTable``)."""
        turn = queued.turn
        sealed = self._sealer.seal(turn.user_id, _PAYLOAD, turn_text(turn))
        row = {
            "user_id": turn.user_id,
            "message_id": turn.source.message_id,
            "chat_id": turn.source.chat_id,
            "state": "waiting",
            "payload": sealed,
            "queued_at": queued.queued_at,
            "due_at": queued.due_at,
            "attempts": queued.attempts,
        }
        await self._database.upsert(
            "queueing a turn", PENDING, [row], where=false()
        )

    async def waiting(self, user_id: str, since: float) -> UserQueue:
        """A user's 200 oldest waiting turns, the lease on the user and the count of model calls."""
        counted = PENDING.alias().c
        calls = (
            select(func.coalesce(func.sum(counted.model_calls), 0))
            .where(counted.user_id == user_id, counted.queued_at >= since)
            .scalar_subquery()
        )
        openable = (
            _WAITING
            & ~self._foreign
            & _ROW.message_id.not_in(self._unreadable)
        )
        query = (
            select(PENDING, calls.label("calls"))
            .where(_ROW.user_id == user_id, or_(openable, _IS_LEASE))
            .order_by(_IS_LEASE.desc(), _ROW.queued_at, _ROW.message_id)
            .limit(_MOST_READ + 1)
        )
        rows = await self._database.rows(
            "reading what is to be learned", query
        )
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
        return UserQueue(
            places=tuple(places),
            # The lease on a user's turns ends when that on the user does.
            leased_until=max((row.lease_until for row in rows), default=0.0),
            calls=rows[0].calls if rows else 0,
        )

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[QueuedTurn, ...] | None:
        """Take a lease and open its turns (see ``PendingTable``); the row of the lease is made."""
        row = {**_LEASE, "user_id": lease.user_id}
        await self._database.upsert(
            "making a lease", PENDING, [row], where=false()
        )
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
            .returning(*_ROW)
        )
        async with self._database.session("taking turns to learn") as session:
            begun = await session.execute(begin)
            rows = {row.message_id: row for row in begun}
            if rows.keys() == {_LEASE_ID, *lease.message_ids}:
                queued = [self._opened(rows[id]) for id in lease.message_ids]
                opened = tuple(turn for turn in queued if turn is not None)
                if len(opened) == len(queued):
                    await session.commit()
                    return opened
            # Another one has it, or others are taken in place of what can't be opened.
            await session.rollback()
        return None

    async def unopened(self) -> int:
        """How many turns of all users wait that another secret has sealed."""
        query = select(func.count()).where(self._foreign)
        rows = await self._database.rows(
            "counting what can't be opened", query
        )
        return rows[0][0]

    async def renew(self, lease: TurnLease, until: float) -> bool:
        """Prolong a lease."""
        return await self._change(
            "prolonging a lease", lease, {"lease_until": until}, 0
        )

    async def end(
        self,
        lease: TurnLease,
        at: float,
        calls: int,
        *,
        learned: bool = False,
        failed: bool = False,
    ) -> bool:
        """End a lease, its turns learned or to be tried again (see ``PendingTable``)."""
        values = {
            "due_at": at,
            "attempts": _ROW.attempts + int(failed),
            **_FREE,
        }
        if learned:
            state = case((_WAITING, "done"), else_=_ROW.state)
            values = {**learned_values(at), "state": state}
        return await self._change("ending a lease", lease, values, calls)

    async def _change(
        self, doing: str, lease: TurnLease, values: dict[str, Any], calls: int
    ) -> bool:
        """Change a lease and all its turns, or none where one of them is under it no more."""
        # The newest message keeps the count for all.
        more = case(
            (_ROW.message_id.in_(lease.message_ids[-1:]), calls), else_=0
        )
        change = update(PENDING).where(
            _ROW.user_id == lease.user_id,
            _ROW.message_id.in_((_LEASE_ID, *lease.message_ids)),
            _ROW.lease_owner == lease.owner,
        )
        change = change.values(
            {**values, "model_calls": _ROW.model_calls + more}
        )
        async with self._database.session(doing) as session:
            changed = (await session.execute(change)).rowcount
            is_whole = changed == 1 + len(lease.message_ids)
            await (session.commit() if is_whole else session.rollback())
        return is_whole

    def _opened(self, row: Any) -> QueuedTurn | None:
        """A turn with its words, ``None`` where they can't be opened or read."""
        text = self._sealer.open(row.user_id, _PAYLOAD, row.payload)
        turn = None if text is None else read_turn(text)
        if turn is None:
            self._unreadable.add(row.message_id)
            return None
        return QueuedTurn(
            turn=turn,
            queued_at=row.queued_at,
            due_at=row.due_at,
            attempts=row.attempts,
        )
