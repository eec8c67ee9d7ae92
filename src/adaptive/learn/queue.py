"""Turns wait in a table until they are learned: none is lost, none is worked on by two at once.

An outlet puts the turn into the table before it returns; a task of its own takes it from there,
under the lease on its user. What a worker that crashes has in hand is taken by whoever serves the
user when the lease has ended. So each turn is worked on at least once; that its effects happen once
is the duty of who applies them, with the journal: what the model answered, kept before any write.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from math import inf
from typing import Literal
from weakref import WeakValueDictionary

from adaptive.core.errors import AdaptiveMemoryError, LessonUnfinished, TablesUnavailable
from adaptive.core.measures import stage_lasted, tally, tell_outcome
from adaptive.privacy.pending import (
    LEASE_PROOF_SECONDS,
    PendingTable,
    PendingTurn,
    TurnLease,
    next_batch,
)

log_queue = logging.getLogger("adaptive_memory.learn")

LEASE_SECONDS = 30.0
_RENEWAL_SECONDS = 10.0
# A worker begins no write so shortly before its lease ends: clocks of workers may differ by two
# seconds, and a write takes some. One renewal may fail before it comes to that.
_MARGIN_SECONDS = 8.0
# Of a turn that fails, or ends the process, each time.
MOST_ATTEMPTS = 8
_FIRST_DELAY_SECONDS = 15.0
_DELAY_GROWTH = 4  # 15 s, 1 min, 4 min ... 17 h: an outage of most of a day is survived
# A task waits itself for a next attempt that is so near; later ones are left to the next task.
_NEAR_SECONDS = 20.0
# Timers and clocks may differ by as much.
_SURELY_DUE_SECONDS = 0.05
# Longer than the model may take (valve `llm_timeout_seconds`: 600 at most, retries included).
WORK_SECONDS = 1800.0
# The end of the answer waits so long for the table; writing goes on after that.
_PUT_SECONDS = 1.0
# Between tries of what the database refuses. A turn that never gets into the table is lost.
_PUT_PAUSES_SECONDS = (0.2, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0)
_POLL_SECONDS = 2.0  # while another worker has the user's lease
_CALLS_COUNTED_SECONDS = 3600.0
# Around a hook the host has work of its own that the user waits for.
_STILL_WAITING_SECONDS = 0.25
# A busy server always has a turn in hand, and a lesson is to come to an end.
_MOST_LOOKS = 20
_LOOK_AGAIN_SECONDS = 0.05

TurnVerdict = Literal["learned", "again", "given up", "lost"]


class TurnWork:
    """Turns of one chat, oldest first, in the hands of one worker; ``calls`` counts model calls."""

    def __init__(
        self,
        turns: tuple[PendingTurn, ...],
        lease: TurnLease,
        table: PendingTable,
        clock: Callable[[], float],
        began: float,
        calls_before: int = 0,
    ) -> None:
        self.turns, self.lease, self.journal = turns, lease, turns[-1].journal
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

        What the table has said holds for a second: who takes turns away by force waits for so long.
        """
        if not self._proven_within(LEASE_PROOF_SECONDS):
            with suppress(TablesUnavailable):  # then the clock alone tells
                await self._renew(None)
        return self._proven_within(LEASE_SECONDS - _MARGIN_SECONDS)

    async def keep(self, journal: str) -> bool:
        """Keep what is to be done, in place of a former journal; ``False`` as of ``held``."""
        kept = await self._renew(journal)
        if kept:
            self.journal, self.calls = journal, 0
        return kept

    async def heartbeat(self, over: asyncio.Event) -> None:
        """Renew until the work is over."""
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


Teach = Callable[[TurnWork], Awaitable[None]]
Wanted = Callable[[], Awaitable[bool]]


async def always() -> bool:
    """Whether to go on, where nothing ever speaks against it."""
    return True


class LearningQueue:
    """The way of a turn from the outlet to its lesson, for one instance of the plug-in."""

    def __init__(self, table: PendingTable, clock: Callable[[], float] = time.time) -> None:
        self._table, self._clock = table, clock
        self._inserts: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait, unless its message waits already or was learned."""
        key = (turn.user_id, turn.message_id)
        insert = self._inserts.get(key)
        if insert is None or insert.done():
            insert = self._inserts[key] = asyncio.create_task(self._insert(turn))
        await asyncio.wait({insert}, timeout=_PUT_SECONDS)

    async def learn(self, turn: PendingTurn, teach: Teach, wanted: Wanted = always) -> None:
        """Wait until a turn that was put is due, then work on all of its user's that are.

        What ``teach`` raises makes a batch wait for another attempt, and passes if it is no error
        of ours. Turns of a user who does not want to be learned from now (``wanted``) wait on.

        Raises:
            TablesUnavailable: the turn could not be put.
        """
        key = (turn.user_id, turn.message_id)
        if insert := self._inserts.get(key):
            await asyncio.wait({insert})
            self._inserts.pop(key, None)
            if insert.cancelled():
                return
            insert.result()
        await asyncio.sleep(max(0.0, turn.due_at - self._clock()) + _SURELY_DUE_SECONDS)
        await self.resume(turn.user_id, teach, wanted)

    async def resume(self, user_id: str, teach: Teach, wanted: Wanted = always) -> None:
        """Work on what waits of a user, and once more on what failed where its next try is near."""
        try:
            async with self._locks.setdefault(user_id, asyncio.Lock()):
                while work := await self._taken(user_id, wanted):
                    wait = await self._taught(work, teach) - self._clock()
                    if wait <= _NEAR_SECONDS:
                        tally("anomalies", "retried")
                        await asyncio.sleep(wait + _SURELY_DUE_SECONDS)
                    elif not work.others_wait:
                        break
        except TablesUnavailable as error:
            log_queue.info("what waits is left to the user's next turn: %s", error)

    def forget(self, user_id: str) -> None:
        """Let go of the turns of a user that are not in the table yet."""
        for key in [key for key in self._inserts if key[0] == user_id]:
            self._inserts[key].cancel()

    async def _insert(self, turn: PendingTurn) -> None:
        """Put a turn into the table, again and again; ``learn`` raises what it fails with."""
        for pause in (*_PUT_PAUSES_SECONDS, None):
            try:
                await self._table.put(turn)
                return
            except TablesUnavailable as error:
                if pause is None:
                    log_queue.warning("a turn is not learned: %s", error)
                    raise
                await asyncio.sleep(pause)

    async def _taken(self, user_id: str, wanted: Wanted) -> TurnWork | None:
        """Turns under a lease; ``None`` where none is due, or wanted."""
        while await wanted():
            now = self._clock()
            waiting = await self._table.waiting(user_id, now - _CALLS_COUNTED_SECONDS)
            if not (chosen := next_batch(waiting.turns, now)):
                return None
            if waiting.leased_until < now:
                ids = tuple(turn.message_id for turn in chosen)
                lease = TurnLease(user_id, uuid.uuid4().hex, ids, chosen[0].batch)
                began = self._clock()
                if turns := await self._table.take(lease, began, began + LEASE_SECONDS):
                    work = TurnWork(turns, lease, self._table, self._clock, began, waiting.calls)
                    work.others_wait = len(waiting.turns) > len(turns)
                    return work
            await asyncio.sleep(_POLL_SECONDS)
        return None

    async def _taught(self, work: TurnWork, teach: Teach) -> float:
        """Teach while the lease is renewed, and tell the table how it ended; when to try again."""
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
            if verdict == "given up":
                log_queue.warning("turns are not learned: %s", reason)
            delay = _FIRST_DELAY_SECONDS * _DELAY_GROWTH**work.attempts
            due_at = self._clock() + (delay if verdict == "again" else 0.0)
            held = await self._ended(work, verdict, due_at)
            tell_outcome(verdict if held else "lost", fault)
        return due_at if held and verdict == "again" else inf

    async def _ended(self, work: TurnWork, verdict: TurnVerdict, due_at: float) -> bool:
        """Mark turns that are learned or given up, and give others back; whether that was done."""
        try:
            if verdict in ("learned", "given up"):
                return await self._table.finish(work.lease, work.calls, self._clock())
            failed = verdict == "again"
            return await self._table.give_back(work.lease, due_at, failed=failed, calls=work.calls)
        except TablesUnavailable as error:
            log_queue.warning("turns are taken again when their lease has ended: %s", error)
            return True


class Foreground:
    """How many turns of this process are in a hook of the plug-in, or have just left one.

    Work behind the answers gives way to them.
    """

    def __init__(self) -> None:
        self._waited_for, self._clear_at = 0, 0.0

    @contextmanager
    def turn(self) -> Generator[None]:
        """Around a hook that keeps a user waiting, and the moment after it."""
        self._waited_for += 1
        try:
            yield
        finally:
            self._waited_for -= 1
            self._clear_at = time.monotonic() + _STILL_WAITING_SECONDS

    async def give_way(self) -> None:
        """Wait until nobody is waiting, for a second at most."""
        for _ in range(_MOST_LOOKS):
            if not self._waited_for and time.monotonic() >= self._clear_at:
                return
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
