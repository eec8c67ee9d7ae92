"""Turns in the hands of one worker, under leases that it renews and that it may lose."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from adaptive.errors import TablesUnavailable
from adaptive.table_ports import PendingTable, PendingTurn, TurnLease

LEASE_SECONDS = 30.0
RENEWAL_SECONDS = 10.0
# A worker begins no write so shortly before its lease ends: clocks of workers may differ by two
# seconds, and a write takes some. One renewal may fail before it comes to that.
MARGIN_SECONDS = 8.0
# Longer than the model may take (valve `llm_timeout_seconds`: 600 at most, retries included).
WORK_SECONDS = 1800.0
MOST_ATTEMPTS = 5

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
    """Turns of one chat, oldest first, in the hands of one worker.

    ``journal`` is what was kept by who worked on them before; then the model need not be asked.
    ``calls`` is for the worker to count its model calls. ``renew_user`` prolongs the lease on the
    user; ``until`` is when the first of the leases ends.
    """

    def __init__(
        self,
        turns: tuple[PendingTurn, ...],
        lease: TurnLease,
        until: float,
        table: PendingTable,
        renew_user: Callable[[float], Awaitable[bool]],
        clock: Callable[[], float],
    ) -> None:
        self.turns = turns
        self.lease = lease
        self.table = table
        self.journal = turns[-1].journal
        self.calls = 0
        self._until = until
        self._lost = False
        self._renew_user, self._clock = renew_user, clock
        self._renewing = asyncio.Lock()

    @property
    def attempts(self) -> int:
        """How often these turns failed before."""
        return max(turn.attempts for turn in self.turns)

    @property
    def last_attempt(self) -> bool:
        """Whether one more failure is the last one."""
        return self.attempts + 1 >= MOST_ATTEMPTS

    @property
    def lost(self) -> bool:
        """Whether the turns may be another worker's by now, as far as is known here."""
        return self._lost or self._clock() > self._until - MARGIN_SECONDS

    async def held(self) -> bool:
        """Whether the turns are this worker's still; to be asked before each write."""
        async with self._renewing:
            self._lost = self.lost  # for good, even if the clock is set back
            with suppress(TablesUnavailable):  # until it answers again the clock alone tells
                if not self._lost:
                    self._lost = not await self.table.renew(self.lease, self._until)
        return not self.lost

    async def keep(self, journal: str) -> bool:
        """Keep what is to be done, in place of a former journal; ``False`` as of ``held``.

        Raises:
            TablesUnavailable: it can't be kept.
        """
        kept = await self.table.keep(self.lease, journal, self.calls, self._clock())
        self.calls = 0
        if kept:
            self.journal = journal
        self._lost = self._lost or not kept
        return kept

    async def heartbeat(self, over: asyncio.Event) -> None:
        """Renew until the work is over, the leases are lost, or the longest time has passed.

        It rests by the event loop's own clock and is never cancelled, since a query of the host's
        that is cut off may cost it the connection.
        """
        for _ in range(int(WORK_SECONDS / RENEWAL_SECONDS)):
            with suppress(TimeoutError):
                async with asyncio.timeout(RENEWAL_SECONDS):
                    await over.wait()
                    return
            if not await self._renewed():
                return

    async def _renewed(self) -> bool:
        """Prolong both leases; ``False`` when they are lost."""
        async with self._renewing:
            now = self._clock()
            with suppress(TablesUnavailable):
                if (
                    not self.lost
                    and await self._renew_user(now)
                    and await self.table.renew(self.lease, now + LEASE_SECONDS)
                ):
                    self._until = now + LEASE_SECONDS
                else:
                    self._lost = True
        return not self.lost
