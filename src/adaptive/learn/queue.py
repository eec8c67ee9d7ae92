"""Turns wait in a table until they are learned: none is lost, none is worked on by two at once.

An outlet puts the turn into the table before it returns; a task of its own takes it from there,
under the lease on its user. A worker that crashes leaves its lease behind; when that has ended,
whoever serves the user next takes the turns. So each turn is worked on at least once; that its
effects happen once is the duty of who applies them, with the help of the journal: what the model
answered, kept before anything is written.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Set
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Literal
from weakref import WeakValueDictionary

from adaptive.errors import AdaptiveMemoryError, LessonUnfinished, TablesUnavailable
from adaptive.learn.turn_work import LEASE_SECONDS, MOST_ATTEMPTS, TurnWork, next_batch
from adaptive.measures import count_anomaly, stage_lasted, tell_outcome
from adaptive.table_ports import PendingTable, PendingTurn, TurnLease

log_queue = logging.getLogger("adaptive_memory.learn")

_FIRST_DELAY_SECONDS = 15.0
_DELAY_GROWTH = 4  # 15 s, 1 min, 4 min ... 17 h: an outage of most of a day is survived
# A task waits itself for a next attempt that is so near; later ones are left to the next task.
_NEAR_SECONDS = 20.0
_MOST_BATCHES = 20
# Longer than the model may take (valve `llm_timeout_seconds`: 600 at most, retries included).
WORK_SECONDS = 1800.0
# The end of the answer waits so long for the table; writing goes on after that.
_PUT_SECONDS = 1.0
# Between tries of what the database refuses. A turn that never gets into the table is lost.
_PUT_PAUSES_SECONDS = (0.2, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0)
# How often is looked whether another worker is done with a user.
_POLL_SECONDS = 2.0
_CALLS_COUNTED_SECONDS = 3600.0

TurnVerdict = Literal["learned", "again", "given up", "lost"]
Teach = Callable[[TurnWork], Awaitable[None]]
WorkAlone = Callable[[Callable[[], Awaitable[bool]]], Awaitable[None]]


async def always(*_: str) -> bool:
    """Whether to go on, where nothing ever speaks against it."""
    return True


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What became of turns; those to be learned again are due at ``due_at``, in epoch seconds."""

    turns: tuple[PendingTurn, ...]
    verdict: TurnVerdict
    reason: str = ""
    due_at: float = 0.0


class LearningQueue:
    """The way of a turn from the outlet to its lesson, for one instance of the plug-in.

    ``serves`` tells whether the host uses this instance; one that it does not leaves turns that
    failed to its successor. ``wanted`` tells whether a user wants learning now; else turns wait.
    """

    def __init__(
        self,
        table: PendingTable,
        *,
        clock: Callable[[], float] = time.time,
        serves: Callable[[], Awaitable[bool]] = always,
        wanted: Callable[[str], Awaitable[bool]] = always,
    ) -> None:
        self._table, self._clock, self._serves, self._wanted = table, clock, serves, wanted
        self._inserts: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait, unless its message waits already or was learned.

        Returns when the turn stands in the table, or after a second: then writing goes on, as it
        does where the caller is cancelled. Either way ``learn`` is to follow.
        """
        key = (turn.user_id, turn.message_id)
        insert = self._inserts.get(key)
        if insert is None or insert.done():
            insert = self._inserts[key] = asyncio.create_task(self._insert(turn))
        await asyncio.wait({insert}, timeout=_PUT_SECONDS)

    async def learn(self, turn: PendingTurn, teach: Teach) -> list[TurnResult]:
        """Wait until a turn that was put is due, then work on all of its user's that are.

        ``teach`` is called for each batch; what it raises makes the turns wait for another
        attempt, and passes if it is no error of ours. Empty where there is nothing to do.

        Raises:
            TablesUnavailable: the turn could not be put into the table, and is lost.
        """
        key = (turn.user_id, turn.message_id)
        if insert := self._inserts.get(key):
            await asyncio.wait({insert})
            self._inserts.pop(key, None)
            insert.result()
        await asyncio.sleep(max(0.0, turn.due_at - self._clock()))
        return await self.resume(turn.user_id, teach, turn.due_at)

    async def resume(self, user_id: str, teach: Teach, not_before: float = 0.0) -> list[TurnResult]:
        """Work on what waits of a user, and once more on what failed where its next try is near.

        ``not_before`` is a time that has surely come. What is put meanwhile has a task of its own.
        """
        results: list[TurnResult] = []
        tried: list[TurnResult] = []  # since this task has last waited for a next attempt
        for _ in range(_MOST_BATCHES):
            work = None
            try:
                async with self._locks.setdefault(user_id, asyncio.Lock()):
                    known = {turn.message_id for one in tried for turn in one.turns}
                    if work := await self._taken(user_id, known, not_before):
                        tried.append(await self._taught(work, teach))
            except TablesUnavailable as error:
                log_queue.info("whether turns wait is not known: %s", error)
                if not_before:  # some surely do
                    later = self._clock() + _FIRST_DELAY_SECONDS
                    tried.append(TurnResult((), "again", str(error), later))
            if work is not None and work.others_wait:
                continue
            not_before = min((one.due_at for one in tried if one.verdict == "again"), default=inf)
            if not_before > self._clock() + _NEAR_SECONDS:
                break
            await asyncio.sleep(max(0.0, not_before - self._clock()))
            if not await self._serves():
                log_queue.info("turns that failed wait for whoever serves their user next")
                break
            count_anomaly("retried")
            results, tried = results + tried, []
        return results + tried

    async def alone(self, user_id: str, work: WorkAlone) -> bool:
        """Do other work on a user's store while nobody learns; ``False`` where it is not wanted.

        ``work`` is given what tells whether it still is alone, to be asked before each write.

        Raises:
            TablesUnavailable: nobody knows whether others learn.
        """
        async with self._locks.setdefault(user_id, asyncio.Lock()):
            taken = await self._taken(user_id, None)
            if taken is None:
                return False
            try:
                await work(taken.held)
            finally:
                await self._release(taken.lease)
            return True

    def forget(self, user_id: str) -> None:
        """Let go of the turns of a user that are not in the table yet."""
        for key in [key for key in self._inserts if key[0] == user_id]:
            del self._inserts[key]

    async def _insert(self, turn: PendingTurn) -> None:
        """Put a turn into the table, again and again; ``learn`` raises what it fails with."""
        key, pauses = (turn.user_id, turn.message_id), iter(_PUT_PAUSES_SECONDS)
        while key in self._inserts:  # else its user has had everything erased
            try:
                await self._table.put(turn)
            except TablesUnavailable as error:
                if (pause := next(pauses, None)) is None:
                    log_queue.warning("a turn is not learned: %s", error)
                    raise
                await asyncio.sleep(pause)
            else:
                self._inserts.pop(key, None)

    async def _taken(
        self, user_id: str, tried: Set[str] | None, not_before: float = 0.0
    ) -> TurnWork | None:
        """Turns that were not tried, under the lease on their user; the lease alone for ``None``.

        ``None`` where no turn is due, or the user wants none learned.
        """
        chosen: tuple[PendingTurn, ...] = ()
        while await self._wanted(user_id):
            now = self._clock()
            waiting = await self._table.waiting(user_id, now - _CALLS_COUNTED_SECONDS)
            if tried is not None:
                untried = [turn for turn in waiting.turns if turn.message_id not in tried]
                chosen = next_batch(untried, max(now, not_before))
                if not chosen:
                    return None
            if waiting.leased_until < now:
                ids = tuple(turn.message_id for turn in chosen)
                batch = chosen[0].batch if chosen else ""
                lease, now = TurnLease(user_id, uuid.uuid4().hex, ids, batch), self._clock()
                turns = await self._table.take(lease, now, now + LEASE_SECONDS)
                if turns is not None:
                    work = TurnWork(turns, lease, self._table, self._clock, now, waiting.calls)
                    work.others_wait = len(waiting.turns) > len(turns)
                    return work
            await asyncio.sleep(_POLL_SECONDS)
        return None

    async def _taught(self, work: TurnWork, teach: Teach) -> TurnResult:
        """Teach while the lease is renewed, and tell the table how it ended."""
        stage_lasted("queue", self._clock() - work.turns[-1].due_at)
        heartbeat = asyncio.create_task(work.heartbeat(over := asyncio.Event()))
        verdict: TurnVerdict = "given up" if work.last_attempt else "again"
        reason, fault = "an unexpected error", "unexpected"
        try:
            if work.attempts >= MOST_ATTEMPTS:
                raise LessonUnfinished(f"it was begun {MOST_ATTEMPTS} times in vain")
            async with asyncio.timeout(WORK_SECONDS):
                await teach(work)
            verdict, reason, fault = "learned", "", ""
        except (AdaptiveMemoryError, TimeoutError) as error:
            reason, fault = str(error) or "learning took too long", type(error).__name__
        except asyncio.CancelledError:
            verdict, fault = "lost", "cancelled"
            raise
        finally:
            over.set()
            await heartbeat
            result = await self._ended(work, verdict, reason)
            tell_outcome(result.verdict, fault)
        return result

    async def _ended(self, work: TurnWork, verdict: TurnVerdict, reason: str) -> TurnResult:
        """Mark turns that are learned or given up; give back what failed, or is free unharmed."""
        lease, calls, now = work.lease, work.calls, self._clock()
        failed = verdict == "again"
        delay = _FIRST_DELAY_SECONDS * _DELAY_GROWTH**work.attempts if failed else 0.0
        result = TurnResult(work.turns, verdict, reason, now + delay)
        if verdict == "given up":
            log_queue.warning("turns are not learned: %s", reason)
        try:
            if verdict in ("learned", "given up"):
                held = await self._table.finish(lease, calls, now)
            else:
                held = await self._table.give_back(lease, now + delay, failed=failed, calls=calls)
        except TablesUnavailable as error:
            log_queue.warning("turns are taken again when their lease has ended: %s", error)
            return result
        if not held:  # another worker has them, or they were taken out of the table
            await self._release(lease)
            return TurnResult(work.turns, "lost", "another worker has taken over")
        return result

    async def _release(self, lease: TurnLease) -> None:
        """End the lease on a user, if it stands, whatever became of turns."""
        bare = TurnLease(lease.user_id, lease.owner)
        with suppress(TablesUnavailable):  # it ends by itself
            await self._table.give_back(bare, self._clock(), failed=False, calls=0)
