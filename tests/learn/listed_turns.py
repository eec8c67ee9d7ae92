"""Turns to be learned in a dictionary: the table as a queue sees it, for tests in virtual time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adaptive.table_ports import PendingTurn, TurnLease, WaitingTurns


class ListedTurns:
    """A ``PendingTable``; what is asked of the real one is asked of it, too."""

    def __init__(self) -> None:
        self.turns: dict[tuple[str, str], PendingTurn] = {}
        self.done: set[tuple[str, str]] = set()
        self.owners: dict[tuple[str, str], str] = {}
        self.leases: dict[str, tuple[str, float]] = {}
        self.calls: list[tuple[str, float, int]] = []

    async def put(self, turn: PendingTurn) -> bool:
        """Let a turn wait."""
        key = (turn.user_id, turn.message_id)
        if key in self.turns:
            due_at = min(self.turns[key].due_at, turn.due_at)
            self.turns[key] = replace(self.turns[key], due_at=due_at)
        if key in self.turns or key in self.done:
            return False
        self.turns[key] = turn
        return True

    async def waiting(self, user_id: str, since: float) -> WaitingTurns:
        """What waits of a user."""
        mine = [turn for (user, _), turn in self.turns.items() if user == user_id]
        mine.sort(key=lambda turn: (turn.queued_at, turn.message_id))
        calls = sum(calls for user, at, calls in self.calls if user == user_id and at >= since)
        turns = tuple(replace(turn, payload="", journal="") for turn in mine)
        return WaitingTurns(turns, self.leases.get(user_id, ("", 0.0))[1], calls)

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[PendingTurn, ...] | None:
        """Take a lease and its turns."""
        owner, ends = self.leases.get(lease.user_id, ("", 0.0))
        keys = [(lease.user_id, one) for one in lease.message_ids]
        turns = [turn for key in keys if (turn := self.turns.get(key)) is not None]
        if (ends >= now and owner != lease.owner) or len(turns) != len(keys):
            return None
        if any(turn.batch != lease.batch for turn in turns):
            return None
        self.leases[lease.user_id] = (lease.owner, until)
        for key in keys:
            self.turns[key] = replace(self.turns[key], takes=self.turns[key].takes + 1)
            self.owners[key] = lease.owner
        return tuple(self.turns[key] for key in keys)

    async def renew(self, lease: TurnLease, until: float) -> bool:
        """Prolong a lease."""
        if self._held(lease) is None:
            return False
        self.leases[lease.user_id] = (lease.owner, until)
        return True

    async def keep(self, lease: TurnLease, journal: str, calls: int, now: float) -> bool:
        """Keep the journal with the newest turn."""
        return self._change(lease, calls, now, batch=lease.leader, journal=journal)

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Forget the turns but for their ids, and end the lease."""
        if not self._change(lease, calls, now):
            return False
        for message_id in lease.message_ids:
            del self.turns[lease.user_id, message_id]
            self.done.add((lease.user_id, message_id))
        del self.leases[lease.user_id]
        return True

    async def give_back(
        self, lease: TurnLease, due_at: float, *, failed: bool, calls: int, now: float
    ) -> bool:
        """End a lease, the work undone."""
        held = self._held(lease)
        for key in held or ():
            attempts = self.turns[key].attempts + int(failed)
            self.turns[key] = replace(self.turns[key], due_at=due_at, attempts=attempts)
            del self.owners[key]
        if held is None:
            return False
        self._count(lease, calls, now)
        del self.leases[lease.user_id]
        return True

    def _held(self, lease: TurnLease) -> list[tuple[str, str]] | None:
        """The keys of a lease's turns, ``None`` where it or one of them is another one's."""
        keys = [(lease.user_id, one) for one in lease.message_ids]
        mine = self.leases.get(lease.user_id, ("", 0.0))[0] == lease.owner
        turns_too = all(key in self.turns and self.owners.get(key) == lease.owner for key in keys)
        return keys if mine and turns_too else None

    def _change(self, lease: TurnLease, calls: int, now: float, **values: Any) -> bool:
        held = self._held(lease)
        for key in held or ():
            self.turns[key] = replace(self.turns[key], **values)
        if held is not None:
            self._count(lease, calls, now)
        return held is not None

    def _count(self, lease: TurnLease, calls: int, now: float) -> None:
        if calls:
            self.calls.append((lease.user_id, now, calls))
