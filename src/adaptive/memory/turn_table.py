"""Turns to be learned, as entries: what an outlet has put there survives the process."""

import itertools
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date

from adaptive.core import Turn, frozen, local_time
from adaptive.memory.tables import (
    DAY_SECONDS,
    Entry,
    EntryKind,
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
# What failed more often may be what makes the model fail or the process end: it is tried alone.
_ATTEMPTS_IN_COMPANY = 2
_MOST_JOINED = 8  # messages of a chat, learned from at a time
_LONGEST_JOINED = 8000  # characters of these, of which a model is shown 12,000
_LONGEST_JOINING_SECONDS = 600.0


@frozen
class QueuedTurn:
    """A turn in the queue; times are epoch seconds.

    ``attempts`` counts failures, and how often a process ended with the turn in its hands; ``calls``
    those of models for it, or for turns that were learned with it.
    """

    turn: Turn
    queued_at: float
    due_at: float
    attempts: int = 0
    calls: int = 0

    @property
    def message_id(self) -> str:
        """The id of the user's message."""
        return self.turn.source.message_id

    @property
    def day(self) -> date:
        """The day on which it was said, where the user lives."""
        turn = self.turn
        return local_time(turn.source.said_at, *turn.time_zones).date()

    @property
    def is_past(self) -> bool:
        """Whether it is of a past chat, which is learned from behind all others."""
        return self.turn.source.is_past


@frozen
class UserQueue:
    """A user's waiting turns, those at work included.

    ``calls`` are model calls since the time that was asked for.
    """

    turns: tuple[QueuedTurn, ...] = ()
    calls: int = 0

    def of(self, *, past: bool) -> list[QueuedTurn]:
        """The turns of past chats, or all others."""
        return [turn for turn in self.turns if turn.is_past == past]


@frozen
class TurnLease:
    """The lease on a user, with the turns that are worked on under it, oldest first.

    ``owner`` is good for one time. Without turns it keeps everybody from learning.
    """

    user_id: str
    owner: str
    message_ids: tuple[str, ...] = ()


# Whoever is told that a lease is held may write for so many seconds without asking again; so
# whoever takes turns away waits so long until nothing more is written.
LEASE_PROOF_SECONDS = 1.0


def turn_lease(user_id: str) -> str:
    """The name of the lease on a user's turns."""
    return f"turns:{user_id}"


@dataclass(frozen=True)
class TurnTable(EntryTable):
    """Turns to be learned, and the ids of those that were.

    A user is under one lease at a time, which stands beyond its end until somebody else takes it;
    whoever has lost it changes no turn. One that this secret does not open, or this build does not
    read, waits for what has queued it. Any call may raise ``TablesUnavailable``.
    """

    leases: Leases

    async def put(self, *turns: QueuedTurn) -> None:
        """Let turns of one user wait, but those that do or were learned."""
        if not turns:
            return
        user_id = turns[0].turn.user_id
        ids = [queued.message_id for queued in turns]
        done = await self.entries.read("done", user_id, ids)
        learned = {entry.key for entry in done}
        new = [one for one in turns if one.message_id not in learned]
        await self._write(user_id, new, replacing=False)

    async def waiting(self, user_id: str, since: float) -> UserQueue:
        """What waits of a user, and the model calls since an epoch second."""
        kinds: dict[EntryKind, int] = {"waiting": 0, "done": int(since)}
        entries = await self.entries.read_since(user_id, kinds)
        turns = _turns_of(entries["waiting"])
        calls = [*read_as(int, entries["done"])]
        calls += [turn.calls for turn in turns if turn.queued_at >= since]
        return UserQueue(turns, sum(calls))

    async def withdraw(self, user_id: str) -> None:
        """Let go of the turns of past chats that wait; their messages may be queued again.

        A worker that has them in its hands writes no more after ``LEASE_PROOF_SECONDS``.
        """
        turns = await self._turns(user_id)
        ids = [turn.message_id for turn in turns if turn.is_past]
        if ids:
            await self.entries.drop("waiting", user_id, ids)
            await self.leases.end([turn_lease(user_id)])

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[QueuedTurn, ...] | None:
        """Take the lease and return its turns; ``None`` if it or one of them can't be had.

        What a process has left in its hands counts one attempt more.
        """
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
        learned: Sequence[QueuedTurn] = (),
        failed: bool = False,
    ) -> bool:
        """End a lease; ``False`` where it is another one's by now.

        It counts the model calls, and whether the work has failed. Its turns are emptied where they
        are ``learned``, as they were taken, ``at`` that time; else they are due then.
        """
        if not await self.renew(lease, time.time() + _ENDING_SECONDS):
            return False
        # Of those that are to be tried again none that was erased meanwhile comes back.
        turns = [
            *(learned or await self._turns(lease.user_id, lease.message_ids))
        ]
        # The newest message keeps the count for all.
        for newest in turns[-1:]:
            turns[-1] = replace(newest, calls=newest.calls + calls)
        if learned:
            counts = {turn.message_id: turn.calls for turn in turns}
            is_past = any(turn.is_past for turn in turns)
            await self.finish(lease.user_id, counts, at, for_good=is_past)
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
        self,
        user_id: str,
        calls: Mapping[str, int],
        now: float,
        *,
        for_good: bool = False,
    ) -> None:
        """Leave of turns, by the ids of their messages, nothing but the model calls for each.

        That is kept for a month, or ``for_good``: past chats are not learned from again.
        """
        done = [
            Entry(
                key=message_id,
                body=count,
                # Nobody reads it to count the calls of an hour.
                created_at=0 if for_good else int(now),
                expires_at=None if for_good else int(now) + _DONE_SECONDS,
            )
            for message_id, count in calls.items()
        ]
        await self.entries.put("done", user_id, done, ends="waiting")

    async def _turns(
        self, user_id: str, message_ids: Collection[str] | None = None
    ) -> tuple[QueuedTurn, ...]:
        """A user's waiting turns, or those of these messages, the oldest first."""
        return _turns_of(
            await self.entries.read("waiting", user_id, message_ids)
        )

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


def _turns_of(entries: Iterable[Entry]) -> tuple[QueuedTurn, ...]:
    """The turns that entries hold, the oldest first; these know the second alone of theirs."""
    turns = read_as(QueuedTurn, entries)
    return tuple(sorted(turns, key=_place_in_queue))


def _place_in_queue(queued: QueuedTurn) -> tuple[float, str]:
    return queued.queued_at, queued.message_id


def next_batch(turns: Iterable[QueuedTurn], now: float) -> tuple[str, ...]:
    """The messages to learn next: the oldest that is due, and others of its chat and day.

    While a chat goes on it is left alone, for ten minutes at most.
    """
    waiting = sorted(turns, key=_place_in_queue)
    going_on = {
        queued.turn.source.chat_id
        for queued in waiting
        if queued.due_at > now and not queued.attempts
    }

    def is_next(queued: QueuedTurn) -> bool:
        """Whether a turn is due, and its chat quiet or its time long past."""
        if queued.due_at > now:
            return False
        is_quiet = queued.turn.source.chat_id not in going_on
        return is_quiet or now - queued.due_at > _LONGEST_JOINING_SECONDS

    first = next(filter(is_next, waiting), None)
    if first is None:
        return ()
    if first.attempts > _ATTEMPTS_IN_COMPANY:
        return (first.message_id,)
    joined = [
        queued
        for queued in waiting
        if queued.turn.source.chat_id == first.turn.source.chat_id
        # "Tomorrow" is one day.
        and queued.day == first.day
        and queued.attempts <= _ATTEMPTS_IN_COMPANY
    ]
    lengths = itertools.accumulate(len(one.turn.words) for one in joined)
    fitting = sum(length <= _LONGEST_JOINED for length in lengths)
    most = min(max(fitting, 1), _MOST_JOINED)
    return tuple(queued.message_id for queued in joined[:most])
