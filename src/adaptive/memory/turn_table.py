"""Turns to be learned, as entries: what an outlet has put there survives the process."""

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from adaptive.core.queued_turns import (
    QueuedTurn,
    TurnLease,
    UserQueue,
)
from adaptive.memory.tables import (
    DAY_SECONDS,
    Entry,
    EntryTable,
    Leases,
    read_as,
)

# A message is regenerated minutes later, not months.
_DONE_SECONDS = 30 * DAY_SECONDS
# Of a user who has not come back for half a year, or never will: the turn holds their words.
_WAITING_SECONDS = 180 * DAY_SECONDS
# More than it takes to write how the work has ended.
_ENDING_SECONDS = 30.0


def turn_lease(user_id: str) -> str:
    """The name of the lease on a user's turns."""
    return f"turns:{user_id}"


@dataclass(frozen=True)
class TurnTable(EntryTable):
    """``PendingTable`` of entries, which a worker changes while it holds the lease on their user.

    One that this secret does not open, or this build does not read, waits for what has queued it.
    """

    leases: Leases

    async def put(self, queued: QueuedTurn) -> None:
        """Let a turn wait (see ``PendingTable``)."""
        user_id = queued.turn.user_id
        if not await self.entries.read("done", user_id, [queued.message_id]):
            await self._write(user_id, [queued], replacing=False)

    async def waiting(self, user_id: str, since: float) -> UserQueue:
        """What waits of a user (see ``PendingTable``)."""
        turns = await self._turns(user_id)
        done = await self.entries.read("done", user_id, since=int(since))
        calls = [entry.body for entry in done]
        calls += [turn.calls for turn in turns if turn.queued_at >= since]
        return UserQueue(turns, sum(calls))

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[QueuedTurn, ...] | None:
        """Take a lease and open its turns (see ``PendingTable``)."""
        name = turn_lease(lease.user_id)
        if not await self.leases.acquire(name, now, until - now, lease.owner):
            return None
        turns = await self._turns(lease.user_id, lease.message_ids)
        if len(turns) < len(lease.message_ids):
            # Others are taken in place of what is gone.
            await self.leases.end([name], lease.owner)
            return None
        # That stays where the process ends with them in its hands.
        begun = [replace(turn, attempts=turn.attempts + 1) for turn in turns]
        await self._write(lease.user_id, begun)
        return turns

    async def renew(self, lease: TurnLease, until: float) -> bool:
        """Prolong a lease."""
        name = turn_lease(lease.user_id)
        return await self.leases.renew(name, lease.owner, until)

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
        if not await self.renew(lease, time.time() + _ENDING_SECONDS):
            return False
        turns = [*await self._turns(lease.user_id, lease.message_ids)]
        # The newest message keeps the count for all.
        for newest in turns[-1:]:
            turns[-1] = replace(newest, calls=newest.calls + calls)
        if learned:
            counts = {turn.message_id: turn.calls for turn in turns}
            await self.finish(lease.user_id, counts, at)
        else:
            again = [
                replace(
                    turn, due_at=at, attempts=turn.attempts - int(not failed)
                )
                for turn in turns
            ]
            await self._write(lease.user_id, again)
        await self.leases.end([turn_lease(lease.user_id)], lease.owner)
        return len(turns) == len(lease.message_ids)

    async def finish(
        self, user_id: str, calls: Mapping[str, int], now: float
    ) -> None:
        """Leave of turns, by the ids of their messages, nothing but the model calls for each."""
        done = [
            Entry(
                key=message_id,
                body=count,
                created_at=int(now),
                expires_at=int(now) + _DONE_SECONDS,
            )
            for message_id, count in calls.items()
        ]
        await self.entries.put("done", user_id, done)
        await self.entries.drop("waiting", user_id, [*calls])

    async def _turns(
        self, user_id: str, message_ids: Collection[str] | None = None
    ) -> tuple[QueuedTurn, ...]:
        """A user's waiting turns, or those of these messages, the oldest first."""
        entries = await self.entries.read("waiting", user_id, message_ids)
        return read_as(QueuedTurn, reversed(entries))

    async def _write(
        self,
        user_id: str,
        turns: Iterable[QueuedTurn],
        *,
        replacing: bool = True,
    ) -> None:
        """Write turns down as they stand."""
        entries = [
            Entry(
                key=queued.message_id,
                body=asdict(queued),
                created_at=int(queued.queued_at),
                chat_id=queued.turn.source.chat_id,
                message_id=queued.message_id,
                expires_at=int(queued.queued_at) + _WAITING_SECONDS,
            )
            for queued in turns
        ]
        await self.entries.put(
            "waiting", user_id, entries, replacing=replacing
        )
