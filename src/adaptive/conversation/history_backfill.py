"""Backfills that users ask for: each once in this process, one at a time, told now and then."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from adaptive.conversation.history_indexing import (
    BackfillProgress,
    BackfillRules,
    HistoryLedger,
    IndexingSources,
    backfill,
)
from adaptive.errors import AdaptiveMemoryError

log_history_backfill = logging.getLogger("adaptive_memory.conversation")

_TOLD_AGAIN_SECONDS = 15.0
_BACKFILL_AGAIN_SECONDS = 60.0
_BACKFILLS_REMEMBERED = 5000
_NOT_AGAIN = float("inf")

TellLine = Callable[[str], Awaitable[None]]


class Backfills:
    """Knows whose chats of before are indexed, as far as this process has seen to it.

    ``clock`` counts seconds, and never backwards.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        rules: BackfillRules | None = None,
    ) -> None:
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

        What there is to tell goes to ``tell``: nothing where everything was indexed before.
        """
        user_id = sources.user_id
        self._again_at(user_id, _NOT_AGAIN)
        again = self._clock() + _BACKFILL_AGAIN_SECONDS
        try:
            async with self._one_at_a_time:
                progress = _ToldProgress(tell, self._clock)
                done = await backfill(sources, ledger, now, self._rules, progress)
            again = _NOT_AGAIN if done.finished else again
            return done.finished
        except AdaptiveMemoryError as error:
            log_history_backfill.warning("past chats are not indexed yet: %s", error)
            await tell(f"Past chats are not all indexed yet: {error}")
            return False
        finally:
            self._again_at(user_id, again)

    def stop(self, user_id: str) -> None:
        """Begin no other one for a user in this process."""
        self._again_at(user_id, _NOT_AGAIN)

    def _again_at(self, user_id: str, at: float) -> None:
        self._due_at[user_id] = at
        self._due_at.move_to_end(user_id)
        while len(self._due_at) > _BACKFILLS_REMEMBERED:
            self._due_at.popitem(last=False)


@dataclass(slots=True)
class _ToldProgress:
    """Tells how far a backfill is, if there is anything to do at all."""

    tell: TellLine
    clock: Callable[[], float]
    told_at: float = float("-inf")

    async def __call__(self, done: BackfillProgress) -> None:
        """See ``Progress``."""
        if not done.embedded:
            return
        if done.finished:
            await self.tell(f"Past chats indexed: {done.chats}")
        elif self.clock() - self.told_at >= _TOLD_AGAIN_SECONDS:
            self.told_at = self.clock()
            await self.tell(f"Indexing past chats: {done.chats} so far")
