"""Turns that wait in this process, where or while the host's database can't be had."""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from dataclasses import replace
from typing import Any

from adaptive.table_ports import PendingTurn, TurnLease

log_process_turns = logging.getLogger("adaptive_memory.learn")

_MOST_WAITING = 1_000
_MOST_REMEMBERED = 10_000
_UNLEASED: dict[str, Any] = {"lease_owner": "", "lease_until": 0.0}


class ProcessTurns:
    """A ``PendingTable`` of bounded size."""

    def __init__(self) -> None:
        self._turns: OrderedDict[tuple[str, str], PendingTurn] = OrderedDict()
        self._done: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._calls: deque[tuple[str, float, int]] = deque(maxlen=_MOST_REMEMBERED)

    def add(self, turn: PendingTurn) -> bool:
        """Let a turn wait; ``False`` where its message waits already or was learned."""
        key = turn_key(turn)
        if key in self._turns:
            due_at = min(self._turns[key].due_at, turn.due_at)
            self._turns[key] = replace(self._turns[key], due_at=due_at)
            return False
        if key in self._done:
            return False
        self._turns[key] = turn
        if len(self._turns) > _MOST_WAITING:
            self._turns.popitem(last=False)
            log_process_turns.error("too many turns wait in this process: the oldest is lost")
        return True

    def drop(self, turn: PendingTurn) -> None:
        """Forget a turn, which stands elsewhere now."""
        self._turns.pop(turn_key(turn), None)

    def forget(self, user_id: str) -> None:
        """Let go of all turns of a user: whoever works on one finds that it is lost."""
        for held in (self._turns, self._done):
            for key in [key for key in held if key[0] == user_id]:
                del held[key]

    async def put(self, turn: PendingTurn) -> bool:
        """Let a turn wait (see ``add``)."""
        return self.add(turn)

    async def waiting(self, user_id: str) -> tuple[PendingTurn, ...]:
        """A user's waiting turns, whole."""
        return tuple(turn for turn in self._turns.values() if turn.user_id == user_id)

    async def take(self, lease: TurnLease, now: float, until: float) -> tuple[PendingTurn, ...]:
        """Put turns under a lease and return them (see ``PendingTable``)."""
        mine = await self.waiting(lease.user_id)
        served = any(turn.lease_until >= now and turn.lease_owner != lease.owner for turn in mine)
        turns = [turn for turn in mine if turn.message_id in lease.message_ids]
        if served or len(turns) != len(lease.message_ids):
            return ()
        for turn in turns:
            self._turns[turn_key(turn)] = replace(
                turn, lease_owner=lease.owner, lease_until=until, takes=turn.takes + 1
            )
        return tuple(self._turns[lease.user_id, message_id] for message_id in lease.message_ids)

    async def renew(self, lease: TurnLease, until: float) -> bool:
        """Prolong a lease."""
        return self._change(lease, lease_until=until)

    async def keep(self, lease: TurnLease, journal: str, calls: int, now: float) -> bool:
        """Keep the journal with the newest turn."""
        self._count(lease, calls, now)
        leader = (lease.user_id, lease.leader)
        if kept := self._change(lease, batch=lease.leader, journal=""):
            self._turns[leader] = replace(self._turns[leader], journal=journal)
        return kept

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Forget the turns but for their ids."""
        self._count(lease, calls, now)
        if finished := self._change(lease):
            for message_id in lease.message_ids:
                del self._turns[lease.user_id, message_id]
                self._done[lease.user_id, message_id] = None
            while len(self._done) > _MOST_REMEMBERED:
                self._done.popitem(last=False)
        return finished

    async def give_back(
        self, lease: TurnLease, due_at: float, *, failed: bool, calls: int, now: float
    ) -> bool:
        """End a lease, the work undone."""
        self._count(lease, calls, now)
        given = self._change(lease, due_at=due_at, **_UNLEASED)
        for message_id in lease.message_ids if given and failed else ():
            turn = self._turns[lease.user_id, message_id]
            self._turns[lease.user_id, message_id] = replace(turn, attempts=turn.attempts + 1)
        return given

    async def calls_since(self, user_id: str, since: float) -> int:
        """Model calls for learning that were counted for a user since then."""
        return sum(calls for user, at, calls in self._calls if user == user_id and at >= since)

    def _change(self, lease: TurnLease, **values: Any) -> bool:
        """Change all turns under a lease, or none where one of them is under it no more."""
        keys = [(lease.user_id, message_id) for message_id in lease.message_ids]
        turns = [self._turns.get(key) for key in keys]
        held = [turn for turn in turns if turn is not None and turn.lease_owner == lease.owner]
        if len(held) != len(turns):
            return False
        for turn in held:
            self._turns[turn_key(turn)] = replace(turn, **values)
        return True

    def _count(self, lease: TurnLease, calls: int, now: float) -> None:
        if calls:
            self._calls.append((lease.user_id, now, calls))


def turn_key(turn: PendingTurn) -> tuple[str, str]:
    """What tells turns apart: a user, and the message that the turn answers."""
    return turn.user_id, turn.message_id
