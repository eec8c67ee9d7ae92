"""Turns that wait to be learned, and leases on such work.

Any call of a table may raise ``TablesUnavailable``.
"""

from collections.abc import Iterable
from typing import Protocol

from adaptive.core.model import Turn, frozen

# What failed more often may be what makes the model fail or the process end: it is tried alone.
_ATTEMPTS_IN_COMPANY = 2
_MOST_JOINED = 8  # messages of a chat, learned from at a time


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


@frozen
class UserQueue:
    """A user's waiting turns, those at work included.

    ``calls`` are model calls since the time that was asked for.
    """

    turns: tuple[QueuedTurn, ...] = ()
    calls: int = 0


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


class PendingTable(Protocol):
    """Turns to be learned, and for a month those that were.

    A user is under one lease at a time, which stands beyond its end until somebody else takes it.
    What changes turns under it changes none that is another one's by now, and is ``False`` then.
    """

    async def put(self, queued: QueuedTurn) -> None:
        """Let a turn wait, unless it does or was learned."""

    async def waiting(self, user_id: str, since: float) -> UserQueue:
        """What waits of a user, and the model calls since an epoch second."""
        ...

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[QueuedTurn, ...] | None:
        """Take the lease and return its turns; ``None`` if it or one of them can't be had.

        What a process has left in its hands counts one attempt more.
        """
        ...

    async def renew(self, lease: TurnLease, until: float) -> bool:
        """Prolong a lease."""
        ...

    async def end(
        self,
        lease: TurnLease,
        at: float,
        calls: int,
        *,
        learned: bool = False,
        failed: bool = False,
    ) -> bool:
        """End a lease, and count its model calls and whether it has failed.

        Turns that are learned ``at`` that time are emptied, all others are due then.
        """
        ...


def next_batch(turns: Iterable[QueuedTurn], now: float) -> tuple[str, ...]:
    """The messages to learn next: the oldest that is due, and what else waits in its chat."""
    waiting = sorted(turns, key=lambda turn: (turn.queued_at, turn.message_id))
    first = next((turn for turn in waiting if turn.due_at <= now), None)
    if first is None:
        return ()
    if first.attempts > _ATTEMPTS_IN_COMPANY:
        return (first.message_id,)
    joined = [
        queued.message_id
        for queued in waiting
        if queued.turn.source.chat_id == first.turn.source.chat_id
        and queued.attempts <= _ATTEMPTS_IN_COMPANY
    ]
    return tuple(joined[:_MOST_JOINED])
