"""Turns that wait to be learned, as they are kept sealed until then, and leases on such work.

Any call of a table may raise ``TablesUnavailable``.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Protocol

from pydantic import TypeAdapter

from adaptive.core.messages import storable_text
from adaptive.core.model import Turn, frozen, log

# What failed more often may be what makes the model fail or the process end: it is tried alone.
_ATTEMPTS_IN_COMPANY = 2
_MOST_JOINED = 8  # messages of a chat, learned from at a time


@frozen
class QueuedTurn:
    """A turn in the queue; times are epoch seconds.

    ``attempts`` counts failures, and how often a process ended with the turn in its hands.
    """

    turn: Turn
    queued_at: float
    due_at: float
    attempts: int = 0


@frozen
class QueuePlace:
    """Where a turn stands in the queue, as it can be told without opening the turn."""

    message_id: str
    chat_id: str
    queued_at: float
    due_at: float
    attempts: int = 0


@frozen
class UserQueue:
    """The places of a user's oldest waiting turns, those at work included.

    ``calls`` are model calls for turns that were queued since the time that was asked for.
    """

    places: tuple[QueuePlace, ...] = ()
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


# Made while the module is loaded: later the host may know it by no name (since 0.12).
_TURN: TypeAdapter[Turn] = TypeAdapter(Turn)


def turn_text(turn: Turn) -> str:
    """A turn as text, which ``read_turn`` reads."""
    # Names of time zones are the browser's, and may hold anything, as words may.
    return storable_text(json.dumps(asdict(turn), ensure_ascii=False))


def read_turn(text: str) -> Turn | None:
    """The turn that a text holds, ``None`` where it is none."""
    try:
        return _TURN.validate_json(text)
    except ValueError as error:
        log.warning(
            "a turn that waits can't be read: %s", type(error).__name__
        )
        return None


def next_batch(places: Iterable[QueuePlace], now: float) -> tuple[str, ...]:
    """The messages to learn next: the oldest that is due, and what else waits in its chat."""
    waiting = sorted(
        places, key=lambda place: (place.queued_at, place.message_id)
    )
    first = next((place for place in waiting if place.due_at <= now), None)
    if first is None:
        return ()
    if first.attempts > _ATTEMPTS_IN_COMPANY:
        return (first.message_id,)
    joined = [
        place.message_id
        for place in waiting
        if place.chat_id == first.chat_id
        and place.attempts <= _ATTEMPTS_IN_COMPANY
    ]
    return tuple(joined[:_MOST_JOINED])
