"""Which of a user's waiting turns are worked on next, and together."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from adaptive.table_ports import PendingTurn

# What failed, or was begun, so often at most is learned together with what comes after it, in
# order; more often it may be what makes the model fail or the process end, so it is tried alone.
_ATTEMPTS_IN_COMPANY = 2
_TAKES_IN_COMPANY = 5
_MOST_JOINED = 8
# A chat whose messages follow each other without end is learned from so long after the first.
_LONGEST_JOINING_SECONDS = 30.0


def next_batch(turns: Iterable[PendingTurn], now: float) -> tuple[PendingTurn, ...]:
    """Which of a user's waiting turns to work on next, oldest first; none where none is due.

    The oldest turn goes first, so that facts are learned in the order in which they were said: one
    that failed too, whether or not it is due again, once another one is. With it goes what else
    waits in its chat, or what shares its journal.
    """
    free = sorted((turn for turn in turns if turn.lease_until < now), key=_place_in_line)
    ripe = {turn.message_id for turn in free if _is_ripe(turn, free, now)}
    if not ripe:
        return ()
    first = next(
        turn for turn in free if turn.message_id in ripe or (turn.attempts and _bears_company(turn))
    )
    if first.batch:
        shared = (first.chat_id, first.batch)
        return tuple(turn for turn in free if (turn.chat_id, turn.batch) == shared)
    if not _bears_company(first):
        return (first,)
    here = (turn for turn in free[free.index(first) :] if turn.chat_id == first.chat_id)
    unanswered = itertools.takewhile(lambda turn: not turn.batch, here)
    return tuple(itertools.islice(filter(_bears_company, unanswered), _MOST_JOINED))


def _place_in_line(turn: PendingTurn) -> tuple[float, str]:
    return turn.queued_at, turn.message_id


def _bears_company(turn: PendingTurn) -> bool:
    return turn.attempts <= _ATTEMPTS_IN_COMPANY and turn.takes <= _TAKES_IN_COMPANY


def _is_ripe(turn: PendingTurn, free: Sequence[PendingTurn], now: float) -> bool:
    """Whether a turn is due and waits for no newer one of its chat, whose task takes both."""
    if turn.due_at > now or turn.batch or turn.attempts:
        return turn.due_at <= now
    fresh = [
        other.due_at
        for other in free
        if other.chat_id == turn.chat_id and not other.batch and not other.attempts
    ]
    return max(fresh) <= now or now >= min(fresh) + _LONGEST_JOINING_SECONDS
