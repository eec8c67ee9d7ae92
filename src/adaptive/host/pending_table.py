"""Turns to be learned, in a table of ours: what an outlet has put there survives the process."""

from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    case,
    false,
    func,
    or_,
    select,
    update,
)

from adaptive.core.model import JsonObject
from adaptive.core.queued_turns import (
    QueuedTurn,
    QueuePlace,
    TurnLease,
    UserQueue,
    read_turn,
    turn_text,
)
from adaptive.host.database import PENDING, HostDatabase
from adaptive.memory.tables import DAY_SECONDS, Leases
from adaptive.privacy.sealing import MARKED, Sealer

# A message is regenerated minutes later, not months.
_DONE_SECONDS = 30 * DAY_SECONDS
# Of a user who has not come back for half a year, or never will: the turn holds their words.
_WAITING_SECONDS = 180 * DAY_SECONDS
_MOST_READ = 200

_ROW = PENDING.c
_WAITING = _ROW.state == "waiting"
# What the payload is sealed as.
_PAYLOAD = "pending.payload"


def learned_values(now: float) -> JsonObject:
    """What stands in the row of a turn that is done: none of its words."""
    return {
        "state": "done",
        "payload": "",
        "learned_at": now,
        "lease_owner": "",
    }


def turn_lease(user_id: str) -> str:
    """The name of the lease on a user's turns."""
    return f"turns:{user_id}"


def _turns_of(lease: TurnLease) -> ColumnElement[bool]:
    """Whether a turn is one of those that a lease is about."""
    mine = _ROW.user_id == lease.user_id
    return mine & _ROW.message_id.in_(lease.message_ids)


def is_outdated(now: float) -> ColumnElement[bool]:
    """Whether nobody asks for a turn again: it was learned long ago, or its user stays away."""
    is_done = _ROW.state == "done"
    learned_long_ago = _ROW.learned_at < now - _DONE_SECONDS
    queued_long_ago = _ROW.queued_at < now - _WAITING_SECONDS
    return or_(
        is_done & learned_long_ago,
        _WAITING & queued_long_ago,
    )


def is_sealed_elsewhere(
    column: Column[str], sealer: Sealer
) -> ColumnElement[bool]:
    """Whether what stands in a column bears the mark of another secret."""
    marked = column.startswith(MARKED, autoescape=True)
    return marked & ~column.startswith(sealer.mark, autoescape=True)


class HostPendingTable:
    """``PendingTable`` of turns that bear the name of who has them in hand, under a lease on a user.

    Whoever takes a turn puts another name on it, so who has lost the lease changes it no more.
    Turns are sealed; one that can't be opened or read stays as it is.
    """

    def __init__(
        self, sealer: Sealer, database: HostDatabase, leases: Leases
    ) -> None:
        self._sealer = sealer
        self._database = database
        self._leases = leases
        # Ids of turns that this secret does not open, or this build does not read: they wait for
        # the one that has queued them.
        self._unreadable = set[str]()
        self._foreign = _WAITING & is_sealed_elsewhere(_ROW.payload, sealer)

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
        """A user's 200 oldest waiting turns, and the count of model calls."""
        counting = select(func.coalesce(func.sum(_ROW.model_calls), 0)).where(
            _ROW.user_id == user_id, _ROW.queued_at >= since
        )
        openable = select(PENDING).where(
            _ROW.user_id == user_id,
            _WAITING,
            ~self._foreign,
            _ROW.message_id.not_in(self._unreadable),
        )
        oldest = openable.order_by(_ROW.queued_at, _ROW.message_id)
        doing = "reading what is to be learned"
        rows = await self._database.rows(doing, oldest.limit(_MOST_READ))
        [(calls,)] = await self._database.rows(doing, counting)
        places = [
            QueuePlace(
                message_id=row.message_id,
                chat_id=row.chat_id,
                queued_at=row.queued_at,
                due_at=row.due_at,
                attempts=row.attempts,
            )
            for row in rows
        ]
        return UserQueue(places=tuple(places), calls=calls)

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[QueuedTurn, ...] | None:
        """Take a lease and open its turns (see ``PendingTable``)."""
        name = turn_lease(lease.user_id)
        if not await self._leases.acquire(name, now, until - now, lease.owner):
            return None
        begin = (
            update(PENDING)
            .where(_turns_of(lease), _WAITING)
            .values(
                lease_owner=lease.owner,
                attempts=_ROW.attempts
                + case((_ROW.lease_owner != "", 1), else_=0),
            )
            .returning(*_ROW)
        )
        async with self._database.session("taking turns to learn") as session:
            begun = await session.execute(begin)
            rows = {row.message_id: row for row in begun}
            queued = [
                self._opened(rows[id])
                for id in lease.message_ids
                if id in rows
            ]
            opened = tuple(turn for turn in queued if turn is not None)
            if len(opened) == len(lease.message_ids):
                await session.commit()
                return opened
            # Others are taken in place of what is gone or can't be opened.
            await session.rollback()
        await self._leases.end([name], lease.owner)
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
        name = turn_lease(lease.user_id)
        return await self._leases.renew(name, lease.owner, until)

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
            "lease_owner": "",
            "due_at": at,
            "attempts": _ROW.attempts + int(failed),
        }
        # The newest message keeps the count for all.
        more = case(
            (_ROW.message_id.in_(lease.message_ids[-1:]), calls), else_=0
        )
        change = (
            update(PENDING)
            .where(_turns_of(lease), _ROW.lease_owner == lease.owner)
            .values(learned_values(at) if learned else values)
            .values(model_calls=_ROW.model_calls + more)
        )
        changed = await self._database.change("ending a lease", change)
        await self._leases.end([turn_lease(lease.user_id)], lease.owner)
        return changed == len(lease.message_ids)

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
