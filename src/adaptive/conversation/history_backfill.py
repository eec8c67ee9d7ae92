"""Backfills that users ask for: each once, one at a time in this process, told now and then."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from adaptive.conversation.history_indexing import (
    BackfillProgress,
    BackfillRules,
    HistoryLedger,
    IndexingSources,
    backfill,
)
from adaptive.errors import AdaptiveMemoryError, LeaseLost, TablesUnavailable
from adaptive.table_ports import Leases

log_history_backfill = logging.getLogger("adaptive_memory.conversation")

_TOLD_AGAIN_SECONDS = 15.0
_BACKFILL_AGAIN_SECONDS = 60.0
_BACKFILLS_REMEMBERED = 5000
_NOT_AGAIN = float("inf")
# Longer than one chat takes; after a crash nobody goes on before it ends.
_BACKFILL_LEASE_SECONDS = 300.0
_PROLONGED_AFTER_SECONDS = 60.0

TellLine = Callable[[str], Awaitable[None]]


class Backfills:
    """Knows whose chats of before are indexed, as far as this process has seen to it.

    A user's is done under a lease: another worker, or a former load of the plug-in, may be at it.
    ``wanted`` tells whether a user still wants it; it stops behind the chat at hand else.
    ``clock`` counts seconds, and never backwards; ``wall_clock`` tells epoch seconds.
    """

    def __init__(
        self,
        leases: Leases,
        clock: Callable[[], float] = time.monotonic,
        rules: BackfillRules | None = None,
        wall_clock: Callable[[], float] = time.time,
        wanted: Callable[[str], Awaitable[bool]] | None = None,
    ) -> None:
        self._leases, self._wall_clock = leases, wall_clock
        self._wanted = wanted
        self._clock, self._rules = clock, rules or BackfillRules()
        self._one_at_a_time = asyncio.Semaphore(1)
        self._due_at: OrderedDict[str, float] = OrderedDict()

    def due(self, user_id: str) -> bool:
        """Whether anything may be left to do for a user."""
        return self._due_at.get(user_id, 0.0) <= self._clock()

    async def run(
        self, sources: IndexingSources, ledger: HistoryLedger, now: float, tell: TellLine
    ) -> bool:
        """Index a user's existing chats; whether all of them are. It is due again where not.

        What there is to tell goes to ``tell``: nothing where everything was indexed before, or
        somebody else is at it.
        """
        user_id = sources.user_id
        self._again_at(user_id, _NOT_AGAIN)
        again = self._clock() + _BACKFILL_AGAIN_SECONDS
        try:
            async with self._one_at_a_time:
                lease = _BackfillLease(self._leases, f"backfill:{user_id}", self._wall_clock)
                wanted = partial(self._wanted, user_id) if self._wanted else None
                progress = _ToldProgress(tell, self._clock, lease, wanted)
                finished = await lease.hold() and await self._indexed(
                    sources, ledger, now, progress
                )
            again = _NOT_AGAIN if finished else again
            return finished
        except LeaseLost as error:
            log_history_backfill.info("past chats are not indexed here: %s", error)
            return False
        except AdaptiveMemoryError as error:
            log_history_backfill.warning("past chats are not indexed yet: %s", error)
            await tell(f"Past chats are not all indexed yet: {error}")
            return False
        finally:
            self._again_at(user_id, again)

    async def _indexed(
        self, sources: IndexingSources, ledger: HistoryLedger, now: float, progress: _ToldProgress
    ) -> bool:
        try:
            done = await backfill(sources, ledger, now, self._rules, progress)
        finally:
            await progress.lease.let_go()
        return done.finished

    def stop(self, user_id: str) -> None:
        """Begin no other one for a user in this process."""
        self._again_at(user_id, _NOT_AGAIN)

    def _again_at(self, user_id: str, at: float) -> None:
        self._due_at[user_id] = at
        self._due_at.move_to_end(user_id)
        while len(self._due_at) > _BACKFILLS_REMEMBERED:
            self._due_at.popitem(last=False)


@dataclass(slots=True)
class _BackfillLease:
    """The right to index one user's chats of before; without a table everybody has it."""

    leases: Leases
    name: str
    wall_clock: Callable[[], float]
    owner: str = field(default_factory=lambda: uuid.uuid4().hex)
    held_at: float = float("-inf")

    async def hold(self) -> bool:
        """Take it, or prolong it in time; whether nobody else has it."""
        now = self.wall_clock()
        if 0 <= now - self.held_at < _PROLONGED_AFTER_SECONDS:
            return True
        try:
            held = await self.leases.acquire(self.name, self.owner, now, _BACKFILL_LEASE_SECONDS)
        except TablesUnavailable as error:
            log_history_backfill.debug("past chats may be indexed twice: %s", error)
            held = True
        self.held_at = now
        return held

    async def let_go(self) -> None:
        """Let others have it."""
        try:
            await self.leases.release(self.name, self.owner)
        except TablesUnavailable as error:  # it ends by itself
            log_history_backfill.debug("a lease was not released: %s", error)


@dataclass(slots=True)
class _ToldProgress:
    """Tells how far a backfill is, if there is anything to do at all, and keeps its lease."""

    tell: TellLine
    clock: Callable[[], float]
    lease: _BackfillLease
    wanted: Callable[[], Awaitable[bool]] | None = None
    told_at: float = float("-inf")

    async def __call__(self, done: BackfillProgress) -> None:
        """See ``Progress``.

        Raises:
            LeaseLost: somebody else is at it by now, or the user does not want it any more.
        """
        if self.wanted is not None and not await self.wanted():
            raise LeaseLost("the user does not want it any more")
        if not done.finished and not await self.lease.hold():
            raise LeaseLost("another worker has taken over")
        if not done.embedded:
            return
        if done.finished:
            await self.tell(f"Past chats indexed: {done.chats}")
        elif self.clock() - self.told_at >= _TOLD_AGAIN_SECONDS:
            self.told_at = self.clock()
            await self.tell(f"Indexing past chats: {done.chats} so far")
