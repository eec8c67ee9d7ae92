"""Turns to be learned in a dictionary: the table as a queue sees it, for tests in virtual time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adaptive.core.table_ports import PendingTurn, TurnLease, WaitingTurns


class ListedTurns:
    """A ``PendingTable``; what is asked of the real one is asked of it, too."""

    def __init__(self) -> None:
        self.turns: dict[tuple[str, str], PendingTurn] = {}
        self.done: set[tuple[str, str]] = set()
        self.owners: dict[tuple[str, str], str] = {}
        self.leases: dict[str, tuple[str, float]] = {}
        self.calls: list[tuple[str, float, int]] = []  # user, when the turn was queued, how many

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait."""
        key = (turn.user_id, turn.message_id)
        if key not in self.done:
            known = self.turns.setdefault(key, turn)
            self.turns[key] = replace(known, due_at=min(known.due_at, turn.due_at))

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
        _, ends = self.leases.get(lease.user_id, ("", 0.0))
        keys = [(lease.user_id, one) for one in lease.message_ids]
        turns = [turn for key in keys if (turn := self.turns.get(key)) is not None]
        if ends >= now or len(turns) != len(keys):
            return None
        if any(turn.batch != lease.batch for turn in turns):
            return None
        self.leases[lease.user_id] = (lease.owner, until)
        for key in keys:
            attempts = self.turns[key].attempts + (key in self.owners)
            self.turns[key] = replace(self.turns[key], attempts=attempts)
            self.owners[key] = lease.owner
        return tuple(self.turns[key] for key in keys)

    async def renew(
        self, lease: TurnLease, until: float, journal: str | None = None, calls: int = 0
    ) -> bool:
        """Prolong a lease; a journal is kept with the newest turn."""
        kept = {} if journal is None else {"batch": lease.leader, "journal": journal}
        if not self._change(lease, calls, **kept):
            return False
        self.leases[lease.user_id] = (lease.owner, until)
        return True

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Forget the turns but for their ids, and end the lease."""
        if not self._change(lease, calls):
            return False
        for message_id in lease.message_ids:
            del self.turns[lease.user_id, message_id]
            self.done.add((lease.user_id, message_id))
        del self.leases[lease.user_id]
        return True

    async def give_back(self, lease: TurnLease, due_at: float, *, failed: bool, calls: int) -> bool:
        """End a lease, the work undone."""
        if not self._change(lease, calls, due_at=due_at):
            return False
        for message_id in lease.message_ids:
            key = (lease.user_id, message_id)
            attempts = self.turns[key].attempts + int(failed)
            self.turns[key] = replace(self.turns[key], attempts=attempts)
            del self.owners[key]
        del self.leases[lease.user_id]
        return True

    def _held(self, lease: TurnLease) -> list[tuple[str, str]] | None:
        """The keys of a lease's turns, ``None`` where it or one of them is another one's."""
        keys = [(lease.user_id, one) for one in lease.message_ids]
        mine = self.leases.get(lease.user_id, ("", 0.0))[0] == lease.owner
        turns_too = all(key in self.turns and self.owners.get(key) == lease.owner for key in keys)
        return keys if mine and turns_too else None

    def _change(self, lease: TurnLease, calls: int, **values: Any) -> bool:
        held = self._held(lease)
        for key in held or ():
            self.turns[key] = replace(self.turns[key], **values)
        if held and calls:
            self.calls.append((lease.user_id, self.turns[held[-1]].queued_at, calls))
        return held is not None
