"""Turns wait in a table until they are learned: none is lost, none is worked on by two at once.

What a worker that crashes has in hand is taken by whoever serves the user next: each turn is worked
on at least once, and what stands in the store already is not written twice.
"""

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Literal

from adaptive.core import (
    AdaptiveMemoryError,
    Foreground,
    GaveWay,
    KeyedLocks,
    ModelBusy,
    TablesUnavailable,
    Turn,
    log,
    log_failure,
    stage_lasted,
    tally,
    tell_outcome,
    with_detail,
)
from adaptive.memory import (
    LEASE_PROOF_SECONDS,
    QueuedTurn,
    TurnLease,
    TurnTable,
    next_batch,
)

LEASE_SECONDS = 30.0
_RENEWAL_SECONDS = 10.0
# No write begins so shortly before the lease ends: it takes some, and clocks may differ by two.
_MARGIN_SECONDS = 8.0
MOST_ATTEMPTS = 8  # of a turn that fails, or ends the process, each time
_FIRST_DELAY_SECONDS = 15.0
_DELAY_GROWTH = 4  # up to 17 h: an outage of most of a day is survived
_NEAR_SECONDS = 20.0  # a later attempt is the next task's
_SURELY_DUE_SECONDS = 0.05  # timers and clocks may differ by as much
WORK_SECONDS = 1800.0  # the model may take 600, retries included
_PUT_SECONDS = 1.0  # the answer's end waits so long; writing goes on
# Between tries of what the database refuses. A turn that never gets into the table is lost.
_PUT_PAUSES_SECONDS = (0.2, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0)
_POLL_SECONDS = 2.0  # while another worker has the user's lease
_CALLS_COUNTED_SECONDS = 3600.0
_PATIENCE_SECONDS = 15.0  # a busy server always has a turn in hand

# On a machine that is always busy a lesson goes through after so long, or after it has been closed so
# often while its user has said nothing more: many users would close each other's for ever.
_LONGEST_YIELDING_SECONDS = 300.0
_MOST_YIELDS = 2
TurnVerdict = Literal["learned", "again", "gave way", "given up", "lost"]


@dataclass(eq=False)
class TurnWork:
    """Turns of one chat, oldest first, in the hands of one worker; ``calls`` counts model calls.

    ``proven_at`` is when the lease was last known to be this worker's. Until ``patient_until`` a
    lesson gives way to answers, and tells here of which ``machine``.
    """

    turns: tuple[QueuedTurn, ...]
    lease: TurnLease
    table: TurnTable
    clock: Callable[[], float]
    proven_at: float
    calls_before: int = 0
    others_wait: bool = False
    calls: int = 0
    pause: float = 0.0  # in seconds, which the provider of the model asks for
    patient_until: float = 0.0
    machine: str = ""

    @property
    def attempts(self) -> int:
        """How often these turns failed before, or ended the process."""
        return max(turn.attempts for turn in self.turns)

    @property
    def patience(self) -> float:
        """For how many seconds more a lesson gives way."""
        return max(0.0, self.patient_until - self.clock())

    @property
    def last_attempt(self) -> bool:
        """Whether one more failure is the last one."""
        return self.attempts + 1 >= MOST_ATTEMPTS

    @property
    def tells_failures(self) -> bool:
        """Whether the user is told what fails: the first time, and when nobody tries again."""
        return not self.attempts or self.last_attempt

    async def held(self) -> bool:
        """Whether the turns are this worker's still; to be asked before each write."""
        if not self._proven_within(LEASE_PROOF_SECONDS):
            with suppress(TablesUnavailable):  # then the clock alone tells
                await self._renew()
        return self._proven_within(LEASE_SECONDS - _MARGIN_SECONDS)

    async def heartbeat(self, over: asyncio.Event) -> None:
        """Renew until the work is over."""
        while not over.is_set():
            try:
                await asyncio.wait_for(over.wait(), _RENEWAL_SECONDS)
            except TimeoutError:
                with suppress(TablesUnavailable):
                    await self._renew()

    async def _renew(self) -> None:
        """Prolong the lease, which is known to stand from the time of asking on."""
        now = self.clock()
        held = await self.table.renew(self.lease, now + LEASE_SECONDS)
        self.proven_at = now if held else -inf

    def _proven_within(self, seconds: float) -> bool:
        return 0 <= self.clock() - self.proven_at < seconds


Teach = Callable[[TurnWork], Awaitable[None]]
Wanted = Callable[[], Awaitable[bool]]


def past_lessons(user_id: str) -> str:
    """What calls of models for a user's past chats run on, as far as they give way to new turns."""
    return f"past chats of {user_id}"


async def always() -> bool:
    """Whether to go on, where nothing ever speaks against it."""
    return True


class LearningQueue:
    """The way of a turn from the outlet to its lesson, for one instance of the plug-in."""

    def __init__(
        self,
        table: TurnTable,
        foreground: Foreground,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._table = table
        self._foreground = foreground
        self._clock = clock
        self._inserts: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._locks = KeyedLocks()

    async def waiting(self, user_id: str, *, past: bool = False) -> int:
        """How many turns of a user wait, or of past chats; may raise ``TablesUnavailable``."""
        waiting = await self._table.waiting(user_id, self._clock())
        return len(waiting.of(past=past))

    async def put(self, turn: Turn, debounce_seconds: float) -> QueuedTurn:
        """Let a turn wait, unless its message does or was learned.

        It is due once newer turns of its chat have had time to join it.
        """
        now = self._clock()
        queued = QueuedTurn(turn, queued_at=now, due_at=now + debounce_seconds)
        key = (turn.user_id, turn.source.message_id)
        insert = self._inserts.get(key)
        if insert is None or insert.done():
            insert = self._inserts[key] = asyncio.create_task(
                self._insert(queued)
            )
        await asyncio.wait({insert}, timeout=_PUT_SECONDS)
        return queued

    async def learn(
        self, queued: QueuedTurn, teach: Teach, wanted: Wanted = always
    ) -> None:
        """Wait until a turn that was put is due, then work on all of its user's that are.

        What ``teach`` raises makes a batch wait for another attempt. Turns of a user who does not
        want to be learned from now wait on. Raises ``TablesUnavailable`` if the turn was not put.
        """
        user_id = queued.turn.user_id
        # What is being learned from a past chat is closed.
        self._foreground.begin_answer(past_lessons(user_id))
        key = (user_id, queued.message_id)
        insert = self._inserts.get(key)
        if insert is not None:
            await asyncio.wait({insert})
            self._inserts.pop(key, None)
            if insert.cancelled():
                return
            insert.result()
        await asyncio.sleep(
            max(0.0, queued.due_at - self._clock()) + _SURELY_DUE_SECONDS
        )
        await self.resume(user_id, teach, wanted)

    async def resume(
        self, user_id: str, teach: Teach, wanted: Wanted = always
    ) -> None:
        """Work on what waits of a user, and once more on what failed where its next try is near.

        A failure of the table leaves it to the next turn; a lasting one is raised.
        """
        try:
            async with self._locks.of(user_id):
                # What a busy server lets wait is learned together, by fewer model calls.
                await self._foreground.give_way(_PATIENCE_SECONDS)
                patient_until = self._clock() + _LONGEST_YIELDING_SECONDS
                yields = Counter[str]()
                while work := await self._taken(user_id, wanted):
                    newest = work.turns[-1].message_id
                    if yields[newest] < _MOST_YIELDS:
                        work.patient_until = patient_until
                    wait = await self._taught(work, teach) - self._clock()
                    if work.machine:
                        yields[newest] += 1
                        # What is said meanwhile in the chat is learned with it.
                        await self._foreground.give_way(
                            work.patience, work.machine
                        )
                    elif wait <= _NEAR_SECONDS:
                        tally("anomalies", "retried")
                        await asyncio.sleep(wait + _SURELY_DUE_SECONDS)
                    elif not work.others_wait:
                        break
        except TablesUnavailable as error:
            log_failure("what waits is left to the next turn", error)
            if error.lasting:
                raise

    async def resume_past(
        self, user_id: str, teach: Teach, wanted: Wanted
    ) -> bool:
        """Work on turns of a past chat once nobody waits; whether there were any to work on.

        They are closed for new turns, and for answers of their machine, as often as there are any.
        """
        await self._foreground.give_way(_LONGEST_YIELDING_SECONDS)
        async with self._locks.of(user_id):
            work = await self._taken(user_id, wanted, past=True)
            if work is None:
                return False
            work.patient_until = self._clock() + _LONGEST_YIELDING_SECONDS
            await self._taught(work, teach)
        if work.machine:
            await self._foreground.give_way(work.patience, work.machine)
        return True

    def forget(self, user_id: str) -> None:
        """Let go of the turns of a user that are not in the table yet."""
        for key in [key for key in self._inserts if key[0] == user_id]:
            self._inserts[key].cancel()

    async def _insert(self, queued: QueuedTurn) -> None:
        """Put a turn into the table, again and again; ``learn`` raises what it fails with."""
        for tries, pause in enumerate((*_PUT_PAUSES_SECONDS, None)):
            try:
                await self._table.put(queued)
                return
            except TablesUnavailable as error:
                # A table that was dropped is made anew by the second try.
                if pause is None or (error.lasting and tries):
                    log_failure("a turn is not learned", error)
                    raise
                log_failure("a turn is not kept yet", error)
                await asyncio.sleep(pause)

    async def _taken(
        self, user_id: str, wanted: Wanted, *, past: bool = False
    ) -> TurnWork | None:
        """Turns under a lease; ``None`` where none is due, or wanted.

        Those of past chats are due when no others are.
        """
        while True:
            now = self._clock()
            waiting = await self._table.waiting(
                user_id, now - _CALLS_COUNTED_SECONDS
            )
            candidates = waiting.of(past=past)
            message_ids = next_batch(candidates, now)
            if past and next_batch(waiting.of(past=False), now):
                return None
            if not message_ids or not await wanted():
                return None
            lease = TurnLease(user_id, uuid.uuid4().hex, message_ids)
            began = self._clock()
            turns = await self._table.take(lease, began, began + LEASE_SECONDS)
            if turns:
                return TurnWork(
                    turns=turns,
                    lease=lease,
                    table=self._table,
                    clock=self._clock,
                    proven_at=began,
                    calls_before=waiting.calls,
                    others_wait=len(candidates) > len(turns),
                )
            await asyncio.sleep(_POLL_SECONDS)

    async def _taught(self, work: TurnWork, teach: Teach) -> float:
        """Teach while the lease is renewed, and tell the table how it ended; when to try again."""
        stage_lasted("queue", self._clock() - work.turns[-1].due_at)
        over = asyncio.Event()
        heartbeat = asyncio.create_task(work.heartbeat(over))
        verdict: TurnVerdict = "given up" if work.last_attempt else "again"
        reason = "an unexpected error"
        fault = "unexpected"
        try:
            if work.attempts >= MOST_ATTEMPTS:
                raise AdaptiveMemoryError(  # noqa: TRY301
                    f"it was begun {MOST_ATTEMPTS} times in vain"
                )
            async with asyncio.timeout(WORK_SECONDS):
                await teach(work)
            verdict = "learned"
            fault = ""
        except GaveWay as error:
            verdict = "gave way"
            fault = ""
            work.machine = str(error)
        except (AdaptiveMemoryError, TimeoutError) as error:
            reason = with_detail(error)
            fault = type(error).__name__
            if isinstance(error, ModelBusy):
                work.pause = error.retry_after or 0.0
        except asyncio.CancelledError:
            verdict = "lost"
            fault = "cancelled"
            raise
        finally:
            over.set()
            await heartbeat
            if verdict == "given up":
                log.warning("turns are not learned: %s", reason)
            try_again_at = await self._ended(work, verdict, fault)
        return try_again_at

    async def _ended(
        self, work: TurnWork, verdict: TurnVerdict, fault: str
    ) -> float:
        """Tell the table and the measures how work has ended; when it is to be tried again."""
        now = self._clock()
        failed = verdict == "again"
        delay = _FIRST_DELAY_SECONDS * _DELAY_GROWTH**work.attempts
        ended_at = now
        if failed:
            ended_at = now + max(delay, work.pause)
        elif verdict in ("gave way", "lost"):
            # Since when they wait tells how long a chat that goes on keeps them waiting.
            ended_at = min(turn.due_at for turn in work.turns)
        held = True
        try:
            held = await self._table.end(
                work.lease,
                ended_at,
                # The hour's limit is on what is learned of turns as they come.
                0 if work.turns[-1].is_past else work.calls,
                learned=work.turns
                if verdict in ("learned", "given up")
                else (),
                failed=failed,
            )
        except TablesUnavailable as error:
            log_failure(
                "turns are taken again when their lease has ended", error
            )
        tell_outcome(verdict if held else "lost", fault)
        return ended_at if held and failed else inf
