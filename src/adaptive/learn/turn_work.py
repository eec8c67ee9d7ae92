"""Which waiting turns are worked on together, and the work: under a lease that may be lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import inf

from adaptive.errors import TablesUnavailable
from adaptive.table_ports import LEASE_PROOF_SECONDS, PendingTable, PendingTurn, TurnLease

LEASE_SECONDS = 30.0
_RENEWAL_SECONDS = 10.0
# A worker begins no write so shortly before its lease ends: clocks of workers may differ by two
# seconds, and a write takes some. One renewal may fail before it comes to that.
_MARGIN_SECONDS = 8.0
# Of a turn that fails, or ends the process, each time.
MOST_ATTEMPTS = 8
# What failed so often at most is learned together with what comes after it, in order; more often
# it may be what makes the model fail or the process end, so it is tried alone.
_ATTEMPTS_IN_COMPANY = 2
# Of a chat whose messages follow each other without end so many are learned from at a time.
_MOST_JOINED = 8


class TurnWork:
    """Turns of one chat, oldest first, in the hands of one worker; none for other work.

    ``journal`` is what was kept by who worked on them before; then the model need not be asked.
    ``calls`` is for the worker to count its model calls, ``calls_before`` are those of the last
    hour; ``others_wait`` tells whether more turns of the user do.
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
        self._table, self._clock, self._proven_at = table, clock, began

    @property
    def attempts(self) -> int:
        """How often these turns failed before, or ended the process."""
        return max(turn.attempts for turn in self.turns)

    @property
    def last_attempt(self) -> bool:
        """Whether one more failure is the last one."""
        return self.attempts + 1 >= MOST_ATTEMPTS

    async def held(self) -> bool:
        """Whether the turns are this worker's still; to be asked before each write.

        What the table has said within the last second still holds: nobody takes over before the
        lease ends, and who takes the turns away by force waits for so long.
        """
        if not self._proven_within(LEASE_PROOF_SECONDS):
            with suppress(TablesUnavailable):  # then the clock alone tells
                await self._renew(None)
        return self._proven_within(LEASE_SECONDS - _MARGIN_SECONDS)

    async def keep(self, journal: str) -> bool:
        """Keep what is to be done, in place of a former journal; ``False`` as of ``held``.

        Raises:
            TablesUnavailable: it can't be kept.
        """
        kept = await self._renew(journal)
        if kept:
            self.journal, self.calls = journal, 0
        return kept

    async def heartbeat(self, over: asyncio.Event) -> None:
        """Renew until the work is over.

        It is never cancelled: a query of the host's that is cut off may cost it the connection.
        """
        while not over.is_set():
            try:
                await asyncio.wait_for(over.wait(), _RENEWAL_SECONDS)
            except TimeoutError:
                with suppress(TablesUnavailable):
                    await self._renew(None)

    async def _renew(self, journal: str | None) -> bool:
        """Prolong the lease; where it stands is known from the time of asking on."""
        now = self._clock()
        calls = self.calls if journal is not None else 0
        held = await self._table.renew(self.lease, now + LEASE_SECONDS, journal, calls)
        self._proven_at = now if held else -inf
        return held

    def _proven_within(self, seconds: float) -> bool:
        return 0 <= self._clock() - self._proven_at < seconds


def next_batch(turns: Iterable[PendingTurn], now: float) -> tuple[PendingTurn, ...]:
    """Which of a user's waiting turns to work on next, oldest first; none where none is due.

    The oldest turn goes first, so that facts are learned in the order in which they were said: one
    that failed too, whether or not it is due again, once another one is. With it goes what else
    waits in its chat, or what shares its journal.
    """
    waiting = sorted(turns, key=lambda turn: (turn.queued_at, turn.message_id))
    ripe = [one for one in waiting if _is_ripe(one, waiting, now)]
    if not ripe:
        return ()
    first = next(one for one in waiting if one in ripe or 0 < one.attempts <= _ATTEMPTS_IN_COMPANY)
    if not first.batch and first.attempts > _ATTEMPTS_IN_COMPANY:
        return (first,)
    here = [one for one in waiting if (one.chat_id, one.batch) == (first.chat_id, first.batch)]
    joined = [one for one in here if one.batch or one.attempts <= _ATTEMPTS_IN_COMPANY]
    return tuple(joined[:_MOST_JOINED])


def _is_ripe(turn: PendingTurn, waiting: Sequence[PendingTurn], now: float) -> bool:
    """Whether a turn is due and waits for no newer one of its chat, whose task takes both."""
    if turn.due_at > now or turn.batch or turn.attempts:
        return turn.due_at <= now
    fresh = [one for one in waiting if not one.batch and not one.attempts]
    due_at = [one.due_at for one in fresh if one.chat_id == turn.chat_id]
    return max(due_at) <= now or len(due_at) >= _MOST_JOINED
