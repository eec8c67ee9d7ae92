"""Turns that wait to be learned, as they are kept sealed until then, and leases on such work.

Any call of a table may raise ``TablesUnavailable``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

# What failed so often at most is learned together with what comes after it, in order; more often
# it may be what makes the model fail or the process end, so it is tried alone.
_ATTEMPTS_IN_COMPANY = 2
# Of a chat whose messages follow each other without end so many are learned from at a time.
_MOST_JOINED = 8


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """A turn that waits to be learned; times are epoch seconds.

    ``payload`` is the text of whoever queued it, ``journal`` that of whoever works on it once the
    model has answered; both are opaque. ``batch`` is the message id of the newest of the turns
    that share a journal, empty where there is none yet. ``attempts`` counts failures, and how often
    a process ended with the turn in its hands.
    """

    user_id: str
    message_id: str
    chat_id: str
    payload: str
    queued_at: float
    due_at: float
    journal: str = ""
    batch: str = ""
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class WaitingTurns:
    """A user's oldest waiting turns without payload and journal, those at work included.

    ``leased_until`` is when the lease on the user ends, in epoch seconds; ``calls`` are the model
    calls for the user's turns that were queued since the time that was asked for.
    """

    turns: tuple[PendingTurn, ...] = ()
    leased_until: float = 0.0
    calls: int = 0


@dataclass(frozen=True, slots=True)
class TurnLease:
    """The lease on a user, with the turns that are worked on under it, oldest first.

    ``owner`` is good for one time; ``batch`` is what the turns' journal was kept under so far.
    Without turns it keeps everybody from learning while something else is done.
    """

    user_id: str
    owner: str
    message_ids: tuple[str, ...] = ()
    batch: str = ""

    @property
    def leader(self) -> str:
        """The newest message, which keeps the journal and the count of calls for all."""
        return self.message_ids[-1] if self.message_ids else ""


# For so many seconds after the table has said that a lease is held whoever holds it may write
# without asking again; so whoever takes turns away waits so long until nothing more is written.
LEASE_PROOF_SECONDS = 1.0


class PendingTable(Protocol):
    """Turns to be learned, and for a month those that were.

    A user is under one lease at a time. What changes the lease and turns under it changes all of
    them, or none where one of them is another one's by now: then the answer is ``False``. A lease
    whose end has passed stands until somebody else takes it. ``calls`` are model calls to count.
    """

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait, unless it does or was learned; of two times it is due at the sooner."""

    async def waiting(self, user_id: str, since: float) -> WaitingTurns:
        """What waits of a user; model calls are those for turns queued since an epoch second."""
        ...

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[PendingTurn, ...] | None:
        """Take the lease on a user and return its turns whole, in the lease's order.

        ``None`` where another one has it, or a turn waits no more or has another journal. What a
        process has left in its hands counts one attempt more.
        """
        ...

    async def renew(
        self, lease: TurnLease, until: float, journal: str | None = None, calls: int = 0
    ) -> bool:
        """Prolong a lease, and keep a journal for its turns, if there is one."""
        ...

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Mark turns as learned, empty payload and journal, and end the lease."""
        ...

    async def give_back(self, lease: TurnLease, due_at: float, *, failed: bool, calls: int) -> bool:
        """End a lease, the work undone; count an attempt where it failed."""
        ...


class Leases(Protocol):
    """Names that one owner holds at a time, across workers."""

    async def acquire(self, name: str, owner: str, now: float, seconds: float) -> bool:
        """Take a name that is free or whose lease has ended, or prolong the owner's own lease."""
        ...

    async def release(self, name: str, owner: str) -> None:
        """Free a name if the owner holds it."""


def next_batch(turns: Iterable[PendingTurn], now: float) -> tuple[PendingTurn, ...]:
    """Which of a user's waiting turns to work on next, oldest first; none where none is due.

    The oldest that is due goes first; with it goes what else waits in its chat, or what shares its
    journal.
    """
    waiting = sorted(turns, key=lambda turn: (turn.queued_at, turn.message_id))
    first = next((turn for turn in waiting if turn.due_at <= now), None)
    if first is None:
        return ()
    if not first.batch and first.attempts > _ATTEMPTS_IN_COMPANY:
        return (first,)
    here = [one for one in waiting if (one.chat_id, one.batch) == (first.chat_id, first.batch)]
    joined = [one for one in here if one.batch or one.attempts <= _ATTEMPTS_IN_COMPANY]
    return tuple(joined[:_MOST_JOINED])
