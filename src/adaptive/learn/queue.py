"""Turns wait in a table until they are learned: none is lost, none is worked on by two at once.

An outlet puts the turn into the table before it returns; a task of its own takes it from there.
Work is done under two leases: one per user, so that one worker at a time learns from a user, and
one on the turns' rows, which proves at each step that they are still this worker's. A worker that
crashes leaves both behind; when they have ended, whoever serves the user next takes the turns.
So each turn is worked on at least once; that its effects happen once is the duty of who applies
them, with the help of the journal: what the model answered, kept before anything is written.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Set
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

from adaptive.errors import AdaptiveMemoryError, TablesUnavailable
from adaptive.foreground import GiveWay, no_way_to_give
from adaptive.learn.process_turns import ProcessTurns, turn_key
from adaptive.learn.turn_batch import next_batch
from adaptive.learn.turn_work import (
    LEASE_SECONDS,
    MOST_ATTEMPTS,
    WORK_SECONDS,
    TurnResult,
    TurnVerdict,
    TurnWork,
)
from adaptive.measures import count_anomaly, stage_lasted, tell_outcome
from adaptive.table_ports import Leases, PendingTable, PendingTurn, TurnLease

log_queue = logging.getLogger("adaptive_memory.learn")

# Work that was begun so often and neither succeeded nor failed has ended the process each time.
MOST_TAKES = 20
_FIRST_DELAY_SECONDS = 15.0
_DELAY_GROWTH = 6  # 15 s, 90 s, 9 min, 54 min: an outage of an hour is survived
# A task waits itself for a next attempt that is so near; later ones are left to the next task.
_NEAR_SECONDS = 20.0
_MOST_BATCHES = 20
# The end of the answer waits so long for the table; writing goes on after that.
_PUT_SECONDS = 1.0
# Between tries of what the database refuses; it has waited five seconds itself then (host:
# env.py, DATABASE_SQLITE_PRAGMA_BUSY_TIMEOUT).
_TABLE_PAUSES_SECONDS = (0.2, 1.0, 3.0)
_TABLE_REST_SECONDS = 60.0
# How often a lease is asked for that somebody holds, until that one must have renewed it.
_POLL_SECONDS = 2.0
_MOST_POLLS = int(LEASE_SECONDS / _POLL_SECONDS) + 3

Teach = Callable[[TurnWork], Awaitable[None]]
WorkAlone = Callable[[Callable[[], Awaitable[bool]]], Awaitable[None]]
Answered = TypeVar("Answered")


async def always() -> bool:
    """Whether to go on, where nothing ever speaks against it."""
    return True


async def by_everybody(user_id: str) -> bool:
    """Whether a user wants learning, where nobody is asked."""
    return bool(user_id)


class LearningQueue:
    """The way of a turn from the outlet to its lesson, for one instance of the plug-in.

    Where the tables can't be had, turns wait in this process and everything else is the same.
    ``serves`` tells whether this instance is the one that the host uses: one that it has replaced
    leaves turns that failed to its successor, and one that is deleted leaves them in the table.
    ``wanted`` tells whether a user wants learning now: until then the user's turns wait.
    ``give_way`` lets turns that somebody waits for go first.
    """

    def __init__(
        self,
        table: PendingTable,
        leases: Leases,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        owner: str = "",
        serves: Callable[[], Awaitable[bool]] = always,
        wanted: Callable[[str], Awaitable[bool]] = by_everybody,
        give_way: GiveWay = no_way_to_give,
    ) -> None:
        self._wanted = wanted
        self._table, self._leases = table, leases
        self._clock, self._sleep, self._serves = clock, sleep, serves
        self._give_way = give_way
        self._owner = owner or uuid.uuid4().hex
        self._numbers = itertools.count(1)
        self._local = ProcessTurns()
        self._inserts: dict[tuple[str, str], asyncio.Task[bool]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._table_again_at = 0.0
        self._told = False

    async def put(self, turn: PendingTurn) -> bool:
        """Let a turn wait; ``False`` where another answer to its message is known to have put it.

        Returns when the turn stands in the table, or after a second: then writing goes on, as it
        does where the caller is cancelled. Whatever it returns, ``learn`` is to follow.
        """
        if not self._local.add(turn):
            return False
        if self._clock() < self._table_again_at:
            return True
        insert = asyncio.create_task(self._insert(turn))
        self._inserts[turn_key(turn)] = insert
        pause = asyncio.ensure_future(self._sleep(_PUT_SECONDS))
        try:
            await asyncio.wait({insert, pause}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()
        return insert.result() if insert.done() else True

    async def learn(self, turn: PendingTurn, teach: Teach) -> tuple[TurnResult, ...]:
        """Wait until a turn that was put is due, then work on all of its user's that are.

        ``teach`` is called for each batch. An error of ours that it raises makes the turns wait
        for another attempt; anything else it raises does too, and passes. Empty where there is
        nothing to do: a newer turn of the chat will take this one along, or another worker does.
        """
        if (insert := self._inserts.get(turn_key(turn))) is not None:
            await asyncio.wait({insert})
        await self._sleep(max(0.0, turn.due_at - self._clock()))
        await self._give_way()
        return await self._serve(turn.user_id, teach, turn.due_at)

    async def resume(self, user_id: str, teach: Teach) -> tuple[TurnResult, ...]:
        """Work on what others have left of a user, as ``learn`` does."""
        return await self._serve(user_id, teach, 0.0)

    async def calls_within(self, user_id: str, since: float) -> int:
        """Model calls that were counted for a user's turns since an epoch second."""
        calls = await self._local.calls_since(user_id, since)
        try:
            return calls + await self._table.calls_since(user_id, since)
        except TablesUnavailable as error:
            self._tell(error)
            return calls

    async def alone(self, user_id: str, work: WorkAlone) -> bool:
        """Do other work on a user's store while nobody learns; ``False`` where it was not done.

        Another worker learns then, or the user does not want it any more. ``work`` is given
        what prolongs the lease, and tells whether it still is this worker's.
        """
        owner = f"{self._owner}-{next(self._numbers)}"
        async with self._locks.setdefault(user_id, asyncio.Lock()):
            if not await self._wanted(user_id):
                return False
            try:
                if not (await self._user_lease(user_id, owner))[0]:
                    return False
                await work(lambda: self._acquired(user_id, owner, self._clock()))
            finally:
                await self._release(user_id, owner)
        return True

    def forget(self, user_id: str) -> None:
        """Let go of the turns of a user that wait in this process."""
        self._local.forget(user_id)

    async def _insert(self, turn: PendingTurn) -> bool:
        try:
            new = await self._insisting(partial(self._table.put, turn))
            self._local.drop(turn)
            return new
        except TablesUnavailable as error:
            self._table_failed(error)
            return True
        finally:
            del self._inserts[turn_key(turn)]

    async def _serve(self, user_id: str, teach: Teach, not_before: float) -> tuple[TurnResult, ...]:
        """Work on a user's turns, and once more on what failed where its next try is near."""
        results: list[TurnResult] = []
        lock = self._locks.setdefault(user_id, asyncio.Lock())
        for _ in range(MOST_ATTEMPTS):
            async with lock:
                latest = await self._drain(user_id, teach, not_before)
            results += latest
            due = [result.due_at for result in latest if result.verdict == "again"]
            if not due or min(due) > self._clock() + _NEAR_SECONDS:
                break
            not_before = min(due)
            await self._sleep(max(0.0, not_before - self._clock()))
            if not await self._serves():
                log_queue.info("turns that failed wait for whoever serves their user next")
                break
            count_anomaly("retried")
        return tuple(results)

    async def _drain(self, user_id: str, teach: Teach, not_before: float) -> list[TurnResult]:
        """Work on one batch after the other; ``not_before`` is a time that has surely come.

        After each batch the leases are freed before the table is read again: a turn that another
        worker could not take while they were held is seen here.
        """
        results: list[TurnResult] = []
        for _ in range(_MOST_BATCHES):
            tried = {turn.message_id for result in results for turn in result.turns}
            table, batch = await self._next(user_id, tried, not_before)
            if not batch or not await self._wanted(user_id):
                break
            owner = f"{self._owner}-{next(self._numbers)}"
            try:
                until, waited = await self._user_lease(user_id, owner)
                if not until:  # whoever holds it looks here when the work is done
                    break
                if waited:  # what another worker held meanwhile may come first
                    table, batch = await self._next(user_id, tried, not_before)
                if batch:
                    results += await self._under_lease(table, batch, owner, until, teach)
            finally:
                await self._release(user_id, owner)
        return results

    async def _next(
        self, user_id: str, tried: Set[str], not_before: float
    ) -> tuple[PendingTable, tuple[PendingTurn, ...]]:
        """What to work on next, and the table that it is in."""
        table, waiting = await self._waiting(user_id)
        untried = [turn for turn in waiting if turn.message_id not in tried]
        return table, next_batch(untried, max(self._clock(), not_before))

    async def _under_lease(
        self,
        table: PendingTable,
        batch: tuple[PendingTurn, ...],
        owner: str,
        until: float,
        teach: Teach,
    ) -> list[TurnResult]:
        """Take turns and work on them; nothing where another worker has some of them."""
        user_id, message_ids = batch[0].user_id, tuple(turn.message_id for turn in batch)
        lease = TurnLease(user_id, owner, message_ids)
        try:
            turns = await self._insisting(partial(self._take, table, lease))
        except TablesUnavailable as error:
            due_at = self._clock() + _FIRST_DELAY_SECONDS
            return [TurnResult(batch, "again", str(error), due_at)]
        if not turns:  # somebody was quicker, or has the lease where this worker can't see it
            await self._sleep(_POLL_SECONDS)
            return []
        renew_user = partial(self._acquired, user_id, owner)
        work = TurnWork(turns, lease, until, table, renew_user, self._clock)
        return [await self._work(work, teach)]

    async def _waiting(self, user_id: str) -> tuple[PendingTable, tuple[PendingTurn, ...]]:
        """A user's waiting turns and the table they are in: this process's while there is none."""
        read = partial(self._in_table, user_id)
        resting = self._clock() < self._table_again_at
        try:
            waiting = await (read() if resting else self._insisting(read))
        except TablesUnavailable as error:
            self._table_failed(error)
            return self._local, await self._settled_here(user_id)
        self._table_again_at = 0.0
        return self._table, waiting

    async def _in_table(self, user_id: str) -> tuple[PendingTurn, ...]:
        """What waits in the table, with what had to wait here so far."""
        for turn in await self._settled_here(user_id):
            await self._table.put(turn)
            self._local.drop(turn)
        return await self._table.waiting(user_id)

    async def _settled_here(self, user_id: str) -> tuple[PendingTurn, ...]:
        """Turns that wait in this process and are not on their way into the table."""
        waiting = await self._local.waiting(user_id)
        return tuple(turn for turn in waiting if turn_key(turn) not in self._inserts)

    async def _user_lease(self, user_id: str, owner: str) -> tuple[float, bool]:
        """When the lease on the user ends, and whether it was waited for.

        It ends at 0 where another worker holds and renews it.
        """
        for number in range(_MOST_POLLS):
            now = self._clock()
            if await self._acquired(user_id, owner, now):
                return now + LEASE_SECONDS, number > 0
            await self._sleep(_POLL_SECONDS)
        return 0.0, True

    async def _acquired(self, user_id: str, owner: str, now: float) -> bool:
        """Take or prolong the lease on the user; without a table the process's lock must do."""
        try:
            return await self._leases.acquire(f"learn:{user_id}", owner, now, LEASE_SECONDS)
        except TablesUnavailable as error:
            self._tell(error)
            return True

    async def _release(self, user_id: str, owner: str) -> None:
        try:
            await self._leases.release(f"learn:{user_id}", owner)
        except TablesUnavailable as error:  # it ends by itself
            log_queue.debug("the lease on a user was not released: %s", error)

    async def _take(self, table: PendingTable, lease: TurnLease) -> tuple[PendingTurn, ...]:
        now = self._clock()
        return await table.take(lease, now, now + LEASE_SECONDS)

    async def _work(self, work: TurnWork, teach: Teach) -> TurnResult:
        """Teach while the leases are renewed, and tell the table how it ended."""
        if max(turn.takes for turn in work.turns) > MOST_TAKES:
            reason = f"learning from it was begun {MOST_TAKES} times and never came to an end"
            return await self._finished(work, "given up", reason)
        stage_lasted("queue", self._clock() - work.turns[-1].due_at)
        over = asyncio.Event()
        heartbeat = asyncio.create_task(work.heartbeat(over))
        learned, failed, reason, fault = False, True, "an unexpected error", "unexpected"
        try:
            async with asyncio.timeout(WORK_SECONDS):
                await teach(work)
            learned, fault = True, ""
        except AdaptiveMemoryError as error:
            reason, fault = str(error), type(error).__name__
        except TimeoutError as error:
            reason, fault = "learning took too long", type(error).__name__
        except asyncio.CancelledError:
            failed, fault = False, "cancelled"
            raise
        finally:
            over.set()
            await heartbeat
            result = await self._settled(work, learned=learned, failed=failed, reason=reason)
            tell_outcome(result.verdict, fault)
        return result

    async def _settled(
        self, work: TurnWork, *, learned: bool, failed: bool, reason: str
    ) -> TurnResult:
        """Mark the turns as learned, or give them back; what was lost meanwhile is given back."""
        if learned and not work.lost:
            return await self._finished(work, "learned")
        failed = failed and not work.lost
        if failed and work.last_attempt:
            return await self._finished(work, "given up", reason)
        due_at = now = self._clock()
        if failed:
            due_at += _FIRST_DELAY_SECONDS * _DELAY_GROWTH**work.attempts
        give_back = partial(
            work.table.give_back, work.lease, due_at, failed=failed, calls=work.calls, now=now
        )
        try:
            given = await self._insisting(give_back)
        except TablesUnavailable as error:
            given = failed
            log_queue.warning("turns are free again when their lease has ended: %s", error)
        if given:
            late = "it took longer than its lease"
            return TurnResult(work.turns, "again", reason if failed else late, due_at)
        return TurnResult(work.turns, "lost", "another worker has taken over")

    async def _finished(self, work: TurnWork, verdict: TurnVerdict, reason: str = "") -> TurnResult:
        finish = partial(work.table.finish, work.lease, work.calls, self._clock())
        try:
            if not await self._insisting(finish):
                return TurnResult(work.turns, "lost", "another worker has taken over")
        except TablesUnavailable as error:
            log_queue.warning("turns will be taken again, though they are done: %s", error)
        return TurnResult(work.turns, verdict, reason)

    async def _insisting(self, call: Callable[[], Awaitable[Answered]]) -> Answered:
        """What the table answers, asked up to four times.

        Raises:
            TablesUnavailable: it refused each time.
        """
        for pause in _TABLE_PAUSES_SECONDS:
            try:
                return await call()
            except TablesUnavailable:
                await self._sleep(pause)
        return await call()

    def _table_failed(self, error: TablesUnavailable) -> None:
        self._table_again_at = self._clock() + _TABLE_REST_SECONDS
        self._tell(error)

    def _tell(self, error: TablesUnavailable) -> None:
        if not self._told:
            self._told = True
            log_queue.warning("turns wait in this process until the database answers: %s", error)
