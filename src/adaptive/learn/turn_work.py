"""Which waiting turns are worked on together, and the work: under a lease that may be lost."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from adaptive.errors import TablesUnavailable
from adaptive.table_ports import LEASE_PROOF_SECONDS, PendingTable, PendingTurn, TurnLease

LEASE_SECONDS = 30.0
_RENEWAL_SECONDS = 10.0
# A worker begins no write so shortly before its lease ends: clocks of workers may differ by two
# seconds, and a write takes some. One renewal may fail before it comes to that.
_MARGIN_SECONDS = 8.0
# Longer than the model may take (valve `llm_timeout_seconds`: 600 at most, retries included).
WORK_SECONDS = 1800.0
_MOST_ATTEMPTS = 5
# Work that was begun so often and neither succeeded nor failed has ended the process each time.
MOST_TAKES = 20
# What failed, or was begun, so often at most is learned together with what comes after it, in
# order; more often it may be what makes the model fail or the process end, so it is tried alone.
_ATTEMPTS_IN_COMPANY, _TAKES_IN_COMPANY = 2, 5
_MOST_JOINED = 8
# A chat whose messages follow each other without end is learned from so long after the first.
_LONGEST_JOINING_SECONDS = 30.0

TurnVerdict = Literal["learned", "again", "given up", "lost"]


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What became of some turns that were worked on.

    ``again``: it failed for ``reason`` and will be tried again at or after ``due_at``, in epoch
    seconds; ``given up``: it failed for the last time; ``lost``: another worker took over.
    """

    turns: tuple[PendingTurn, ...]
    verdict: TurnVerdict
    reason: str = ""
    due_at: float = 0.0


class TurnWork:
    """Turns of one chat, oldest first, in the hands of one worker; none for other work.

    ``journal`` is what was kept by who worked on them before; then the model need not be asked.
    ``calls`` is for the worker to count its model calls, ``calls_before`` are those of the user's
    turns in the hour before. ``began`` is when the lease was asked for. ``others_wait`` tells
    whether more of the user's turns wait.
    """

    def __init__(
        self,
        turns: tuple[PendingTurn, ...],
        lease: TurnLease,
        table: PendingTable,
        clock: Callable[[], float],
        began: float,
        calls_before: int = 0,
    ) -> None:
        self.turns, self.lease = turns, lease
        self.journal = turns[-1].journal if turns else ""
        self.calls, self.calls_before, self.others_wait = 0, calls_before, False
        self._table, self._clock = table, clock
        self._until, self._proven_at = began + LEASE_SECONDS, float("-inf")
        self._lost, self._renewing = False, asyncio.Lock()

    @property
    def attempts(self) -> int:
        """How often these turns failed before."""
        return max(turn.attempts for turn in self.turns)

    @property
    def last_attempt(self) -> bool:
        """Whether one more failure is the last one."""
        return self.attempts + 1 >= _MOST_ATTEMPTS

    @property
    def lost(self) -> bool:
        """Whether the turns may be another worker's by now, as far as is known here."""
        return self._lost or self._clock() > self._until - _MARGIN_SECONDS

    async def held(self) -> bool:
        """Whether the turns are this worker's still; to be asked before each write.

        What the table has said within the last second still holds: nobody takes over before the
        lease ends, and who takes the turns away by force waits for so long.
        """
        async with self._renewing:
            if self.lost or not 0 <= self._clock() - self._proven_at < LEASE_PROOF_SECONDS:
                await self._renew()
        return not self.lost

    async def keep(self, journal: str) -> bool:
        """Keep what is to be done, in place of a former journal; ``False`` as of ``held``.

        Raises:
            TablesUnavailable: it can't be kept.
        """
        now = self._clock()
        kept = await self._table.keep(self.lease, journal, self.calls, now)
        self.calls = 0
        if kept:
            self.journal, self._proven_at = journal, now
        self._lost = self._lost or not kept
        return kept

    async def heartbeat(self, over: asyncio.Event) -> None:
        """Renew until the work is over or the lease is lost.

        It is never cancelled: a query of the host's that is cut off may cost it the connection.
        """
        while not over.is_set() and not self.lost:
            with suppress(TimeoutError):
                async with asyncio.timeout(_RENEWAL_SECONDS):
                    await over.wait()
                    return
            async with self._renewing:
                await self._renew()

    async def _renew(self) -> None:
        """Prolong the lease; where the table does not answer the clock alone tells."""
        now = self._clock()
        self._lost = self.lost  # for good, even if the clock is set back
        with suppress(TablesUnavailable):
            if not self._lost and await self._table.renew(self.lease, now + LEASE_SECONDS):
                self._until, self._proven_at = now + LEASE_SECONDS, now
            else:
                self._lost = True


def next_batch(turns: Iterable[PendingTurn], now: float) -> tuple[PendingTurn, ...]:
    """Which of a user's waiting turns to work on next, oldest first; none where none is due.

    The oldest turn goes first, so that facts are learned in the order in which they were said: one
    that failed too, whether or not it is due again, once another one is. With it goes what else
    waits in its chat, or what shares its journal.
    """
    waiting = sorted(turns, key=lambda turn: (turn.queued_at, turn.message_id))
    ripe = {turn.message_id for turn in waiting if _is_ripe(turn, waiting, now)}
    if not ripe:
        return ()
    first, *_ = (
        turn
        for turn in waiting
        if turn.message_id in ripe or (turn.attempts and _bears_company(turn))
    )
    here = [turn for turn in waiting if turn.chat_id == first.chat_id]
    if first.batch:
        return tuple(turn for turn in here if turn.batch == first.batch)
    if not _bears_company(first):
        return (first,)
    unanswered = itertools.takewhile(lambda turn: not turn.batch, here[here.index(first) :])
    return tuple(itertools.islice(filter(_bears_company, unanswered), _MOST_JOINED))


def _bears_company(turn: PendingTurn) -> bool:
    return turn.attempts <= _ATTEMPTS_IN_COMPANY and turn.takes <= _TAKES_IN_COMPANY


def _is_ripe(turn: PendingTurn, waiting: Sequence[PendingTurn], now: float) -> bool:
    """Whether a turn is due and waits for no newer one of its chat, whose task takes both."""
    if turn.due_at > now or turn.batch or turn.attempts:
        return turn.due_at <= now
    fresh = [
        other.due_at
        for other in waiting
        if other.chat_id == turn.chat_id and not other.batch and not other.attempts
    ]
    return max(fresh) <= now or now >= min(fresh) + _LONGEST_JOINING_SECONDS
