"""Turns that wait to be learned, as they are kept sealed until then, and leases on such work.

Any call of a table may raise ``TablesUnavailable``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

# What failed more often may be what makes the model fail or the process end: it is tried alone.
_ATTEMPTS_IN_COMPANY = 2
_MOST_JOINED = 8  # messages of a chat, learned from at a time


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """A turn that waits to be learned; times are epoch seconds.

    ``payload`` is the text of whoever queued it. ``attempts`` counts failures, and how often a
    process ended with the turn in its hands.
    """

    user_id: str
    message_id: str
    chat_id: str
    payload: str
    queued_at: float
    due_at: float
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class WaitingTurns:
    """A user's oldest waiting turns, those at work included, without payload.

    ``calls`` are model calls for turns that were queued since the time that was asked for.
    """

    turns: tuple[PendingTurn, ...] = ()
    leased_until: float = 0.0
    calls: int = 0


@dataclass(frozen=True, slots=True)
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


class PendingTable(Protocol):
    """Turns to be learned, and for a month those that were.

    A user is under one lease at a time, which stands beyond its end until somebody else takes it.
    What changes turns under it changes all, or none where one is another one's by now: ``False``.
    """

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait, unless it does or was learned; of two times it is due at the sooner."""

    async def waiting(self, user_id: str, since: float) -> WaitingTurns:
        """What waits of a user, and the model calls since an epoch second."""
        ...

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[PendingTurn, ...] | None:
        """Take the lease and return its turns whole; ``None`` if it or one of them can't be had.

        What a process has left in its hands counts one attempt more.
        """
        ...

    async def renew(self, lease: TurnLease, until: float) -> bool:
        """Prolong a lease."""
        ...

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Mark turns as learned, empty their payloads, and end the lease."""
        ...

    async def give_back(self, lease: TurnLease, due_at: float, *, failed: bool, calls: int) -> bool:
        """End a lease, the work undone; count an attempt where it failed."""
        ...


class Leases(Protocol):
    """Names that one owner holds at a time, across workers."""

    async def acquire(self, name: str, owner: str, now: float, seconds: float) -> bool:
        """Take a name that is free or whose lease has ended, or prolong the owner's own lease."""
        ...


def next_batch(turns: Iterable[PendingTurn], now: float) -> tuple[PendingTurn, ...]:
    """The oldest turn that is due, and what else waits in its chat."""
    waiting = sorted(turns, key=lambda turn: (turn.queued_at, turn.message_id))
    if (first := next((turn for turn in waiting if turn.due_at <= now), None)) is None:
        return ()
    if first.attempts > _ATTEMPTS_IN_COMPANY:
        return (first,)
    here = (one for one in waiting if one.chat_id == first.chat_id)
    joined = [one for one in here if one.attempts <= _ATTEMPTS_IN_COMPANY]
    return tuple(joined[:_MOST_JOINED])
