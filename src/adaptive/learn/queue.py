"""Turns wait in a table until they are learned: none is lost, none is worked on by two at once.

A task takes each turn from the table under the lease on its user; what a worker that crashes has in
hand is taken by whoever serves the user next. So each turn is worked on at least once; what stands
in the store already is not written twice.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Literal
from weakref import WeakValueDictionary

from pydantic import TypeAdapter, ValidationError

from adaptive.core.characters import storable_text
from adaptive.core.errors import AdaptiveMemoryError, TablesUnavailable, with_detail
from adaptive.core.measures import stage_lasted, tally, tell_outcome
from adaptive.core.messages import (
    Message,
    earlier_utterances,
    said_at,
    typed_message,
)
from adaptive.core.model import Provenance, Turn
from adaptive.privacy.pending import (
    LEASE_PROOF_SECONDS,
    PendingTable,
    PendingTurn,
    TurnLease,
    next_batch,
)
from adaptive.privacy.secrets import excerpt_without_secrets, wide_excerpt
from adaptive.settings.hook import Hook

log_queue = logging.getLogger("adaptive_memory.learn")

LEASE_SECONDS = 30.0
_RENEWAL_SECONDS = 10.0
# No write begins so shortly before the lease ends: it takes some, and clocks may differ by two.
_MARGIN_SECONDS = 8.0
# Of a turn that fails, or ends the process, each time.
MOST_ATTEMPTS = 8
_FIRST_DELAY_SECONDS = 15.0
_DELAY_GROWTH = 4  # 15 s, 1 min, 4 min ... 17 h: an outage of most of a day is survived
_NEAR_SECONDS = 20.0  # a task waits for an attempt so near; later ones are the next task's
_SURELY_DUE_SECONDS = 0.05  # timers and clocks may differ by as much
WORK_SECONDS = 1800.0  # the model may take 600, retries included
_PUT_SECONDS = 1.0  # the end of the answer waits so long for the table; writing goes on
# Between tries of what the database refuses. A turn that never gets into the table is lost.
_PUT_PAUSES_SECONDS = (0.2, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0)
_POLL_SECONDS = 2.0  # while another worker has the user's lease
_CALLS_COUNTED_SECONDS = 3600.0
_STILL_WAITING_SECONDS = 0.25  # after a hook, for the host's own work
_PATIENCE_SECONDS = 15.0  # a busy server always has a turn in hand
_LOOK_AGAIN_SECONDS = 0.05

# For reference when facts are extracted.
_EARLIER_MESSAGES = 4
# In characters; more than the model is shown of them (``learn.extraction``).
_LONGEST_WORDS = 16_000
_LONGEST_EARLIER = 2000
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
        self.turns, self.lease = turns, lease
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

    async def _renew(self) -> bool:
        """Prolong the lease; where it stands is known from the time of asking on."""
        now = self._clock()
        held = await self._table.renew(self.lease, now + LEASE_SECONDS)
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

    def __init__(
        self,
        table: PendingTable,
        clock: Callable[[], float] = time.time,
        foreground: Foreground | None = None,
    ) -> None:
        self._table, self._clock, self._foreground = table, clock, foreground or Foreground()
        self._inserts: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def waiting(self, user_id: str) -> int:
        """How many turns of a user wait; may raise ``TablesUnavailable``."""
        return len((await self._table.waiting(user_id, self._clock())).turns)

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait, unless its message waits already or was learned."""
        key = (turn.user_id, turn.message_id)
        if (insert := self._inserts.get(key)) is None or insert.done():
            insert = self._inserts[key] = asyncio.create_task(self._insert(turn))
        await asyncio.wait({insert}, timeout=_PUT_SECONDS)

    async def learn(self, turn: PendingTurn, teach: Teach, wanted: Wanted = always) -> None:
        """Wait until a turn that was put is due, then work on all of its user's that are.

        What ``teach`` raises makes a batch wait for another attempt. Turns of a user who does not
        want to be learned from now wait on. Raises ``TablesUnavailable`` if the turn was not put.
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
        """Work on what waits of a user, and once more on what failed where its next try is near.

        A failure of the table leaves it to the next turn; a lasting one is raised.
        """
        try:
            async with self._locks.setdefault(user_id, asyncio.Lock()):
                # What a busy server lets wait is learned together, by fewer model calls.
                await self._foreground.give_way(_PATIENCE_SECONDS)
                while work := await self._taken(user_id, wanted):
                    wait = await self._taught(work, teach) - self._clock()
                    if wait <= _NEAR_SECONDS:
                        tally("anomalies", "retried")
                        await asyncio.sleep(wait + _SURELY_DUE_SECONDS)
                    elif not work.others_wait:
                        break
        except TablesUnavailable as error:
            log_queue.warning("what waits is left to the next turn: %s", with_detail(error))
            if error.lasting:
                raise

    def forget(self, user_id: str) -> None:
        """Let go of the turns of a user that are not in the table yet."""
        for key in [key for key in self._inserts if key[0] == user_id]:
            self._inserts[key].cancel()

    async def _insert(self, turn: PendingTurn) -> None:
        """Put a turn into the table, again and again; ``learn`` raises what it fails with."""
        for tries, pause in enumerate((*_PUT_PAUSES_SECONDS, None)):
            try:
                await self._table.put(turn)
                return
            except TablesUnavailable as error:
                # A table that was dropped is made anew by the second try.
                if pause is None or (error.lasting and tries):
                    log_queue.warning("a turn is not learned: %s", with_detail(error))
                    raise
                log_queue.warning("a turn is not kept yet: %s", with_detail(error))
                await asyncio.sleep(pause)

    async def _taken(self, user_id: str, wanted: Wanted) -> TurnWork | None:
        """Turns under a lease; ``None`` where none is due, or wanted."""
        while True:
            now = self._clock()
            waiting = await self._table.waiting(user_id, now - _CALLS_COUNTED_SECONDS)
            chosen = next_batch(waiting.turns, now)
            if not chosen or not await wanted():
                return None
            if waiting.leased_until < now:
                ids = tuple(turn.message_id for turn in chosen)
                lease = TurnLease(user_id, uuid.uuid4().hex, ids)
                began = self._clock()
                if turns := await self._table.take(lease, began, began + LEASE_SECONDS):
                    work = TurnWork(turns, lease, self._table, self._clock, began, waiting.calls)
                    work.others_wait = len(waiting.turns) > len(turns)
                    return work
            await asyncio.sleep(_POLL_SECONDS)

    async def _taught(self, work: TurnWork, teach: Teach) -> float:
        """Teach while the lease is renewed, and tell the table how it ended; when to try again."""
        stage_lasted("queue", self._clock() - work.turns[-1].due_at)
        heartbeat = asyncio.create_task(work.heartbeat(over := asyncio.Event()))
        verdict: TurnVerdict = "given up" if work.last_attempt else "again"
        reason, fault = "an unexpected error", "unexpected"
        try:
            if work.attempts >= MOST_ATTEMPTS:
                raise AdaptiveMemoryError(  # noqa: TRY301
                    f"it was begun {MOST_ATTEMPTS} times in vain"
                )
            async with asyncio.timeout(WORK_SECONDS):
                await teach(work)
            verdict, reason, fault = "learned", "", ""
        except (AdaptiveMemoryError, TimeoutError) as error:
            reason, fault = with_detail(error), type(error).__name__
        except asyncio.CancelledError:
            verdict, fault = "lost", "cancelled"
            raise
        finally:
            over.set()
            await heartbeat
            if verdict == "given up":
                log_queue.warning("turns are not learned: %s", reason)
            lease, calls, failed = work.lease, work.calls, verdict == "again"
            delay = _FIRST_DELAY_SECONDS * _DELAY_GROWTH**work.attempts if failed else 0.0
            held, due_at = True, self._clock() + delay
            try:
                if verdict in ("learned", "given up"):
                    held = await self._table.finish(lease, calls, self._clock())
                else:
                    held = await self._table.give_back(lease, due_at, failed=failed, calls=calls)
            except TablesUnavailable as error:
                log_queue.warning(
                    "turns are taken again when their lease has ended: %s", with_detail(error)
                )
            tell_outcome(verdict if held else "lost", fault)
        return due_at if held and failed else inf


class Foreground:
    """How many turns of this process are in a hook or have just left one: other work gives way."""

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

    async def give_way(self, seconds: float = 1.0) -> None:
        """Wait until nobody is waiting, for so many seconds at most; then one goes at a time."""
        for _ in range(round(seconds / _LOOK_AGAIN_SECONDS)):
            if not self._waited_for and (now := time.monotonic()) >= self._clear_at:
                self._clear_at = now + _LOOK_AGAIN_SECONDS
                return
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    """A turn, the time zones that its user may be in, the likeliest first, and its language.

    ``chat_model`` is the id of the model that it was typed to, which the browser may have asked
    itself; it is empty in what earlier builds have queued.
    """

    turn: Turn
    time_zones: tuple[str, ...] = ()
    answer_id: str = ""
    language: str = ""
    chat_model: str = ""
    is_direct: bool = False

    def pending(self, now: float, debounce_seconds: float) -> PendingTurn:
        """As the queue takes it: due once newer ones of its chat have had time to join it."""
        source = self.turn.source
        return PendingTurn(
            user_id=self.turn.user_id,
            message_id=source.message_id,
            chat_id=source.chat_id,
            # Names of time zones are the browser's, and may hold anything, too.
            payload=storable_text(json.dumps(asdict(self), ensure_ascii=False)),
            queued_at=now,
            due_at=now + debounce_seconds,
        )

    @staticmethod
    def read(pending: PendingTurn) -> WaitingTurn | None:
        """The turn that a payload holds; ``None`` where it can't be opened, or read, any more."""
        try:
            return _WAITING_TURN.validate_json(pending.payload)
        except ValidationError as error:
            log_queue.warning("a turn that waited can't be read: %d errors", error.error_count())
            return None

    def joined(self, before: Sequence[WaitingTurn]) -> Turn:
        """This turn and those of its chat before it, oldest first, as one: the words of all."""
        turns = [one.turn for one in (*before, self)]
        words = "\n\n".join(turn.words for turn in turns)
        if len(words) > _LONGEST_WORDS:
            words = excerpt_without_secrets(words, _LONGEST_WORDS)
        earlier = (
            replace(one, text=excerpt_without_secrets(one.text, _LONGEST_EARLIER))
            for one in turns[0].earlier
        )
        return replace(self.turn, words=words, earlier=tuple(earlier))


# Made while the module is loaded: later the host may know it by no name (since 0.12).
_WAITING_TURN: TypeAdapter[WaitingTurn] = TypeAdapter(WaitingTurn)


def typed_turn(hook: Hook, messages: Sequence[Message]) -> WaitingTurn | None:
    """The turn to learn, ``None`` where nothing in it is the user's own new words."""
    found = typed_message(messages, hook.question_id)
    if found is None or hook.state.get("unlearned") or not hook.is_learned_from:
        return None
    newest, words = found
    hook.state["branch"] = [str(one.get("id")) for one in messages if one.get("id")]
    now = time.time()
    source = Provenance(
        chat_id=hook.chat_id,
        # A program that calls the API names neither, and may call many times in a second.
        message_id=hook.question_id or hook.answer_id or uuid.uuid4().hex,
        said_at=min(said_at(newest, now), int(now)),
    )
    earlier = earlier_utterances(messages, newest, _EARLIER_MESSAGES)
    turn = Turn(
        user_id=hook.user_id,
        kind=hook.told_kind,
        words=wide_excerpt(words, _LONGEST_WORDS),
        earlier=tuple(
            replace(one, text=wide_excerpt(one.text, _LONGEST_EARLIER)) for one in earlier
        ),
        source=source,
    )
    return WaitingTurn(
        turn=turn,
        time_zones=hook.time_zones,
        answer_id=hook.answer_id,
        language=hook.state.get("language", ""),
        chat_model=hook.chat_model_id,
        is_direct=hook.is_direct,
    )


def by_model(turns: Sequence[WaitingTurn]) -> list[list[WaitingTurn]]:
    """Turns of a chat in their order, those one after the other of one chat model together."""
    grouped = itertools.groupby(turns, lambda one: (one.chat_model, one.is_direct))
    return [list(together) for _, together in grouped]
