"""Turns to be learned in a dictionary: the table as a queue sees it, for tests in virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adaptive.memory.turn_table import (
    QueuedTurn,
    TurnLease,
    UserQueue,
)


class ListedTurns:
    """A ``TurnTable``; what is asked of the real one is asked of it, too."""

    def __init__(self) -> None:
        self.turns: dict[tuple[str, str], QueuedTurn] = {}
        self.done: set[tuple[str, str]] = set()
        self.owners: dict[tuple[str, str], str] = {}
        self.leases: dict[str, tuple[str, float]] = {}
        self.calls: list[
            tuple[str, float, int]
        ] = []  # user, when the turn was queued, how many

    async def put(self, queued: QueuedTurn) -> None:
        key = (queued.turn.user_id, queued.turn.source.message_id)
        if key not in self.done:
            self.turns.setdefault(key, queued)

    async def waiting(self, user_id: str, since: float) -> UserQueue:
        mine = [
            turn for (user, _), turn in self.turns.items() if user == user_id
        ]
        mine.sort(key=lambda turn: (turn.queued_at, turn.message_id))
        calls = sum(
            calls
            for user, at, calls in self.calls
            if user == user_id and at >= since
        )
        return UserQueue(tuple(mine), calls)

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[QueuedTurn, ...] | None:
        _, ends = self.leases.get(lease.user_id, ("", 0.0))
        keys = _keys(lease)
        turns = [
            turn for key in keys if (turn := self.turns.get(key)) is not None
        ]
        if ends >= now or len(turns) != len(keys):
            return None
        self.leases[lease.user_id] = (lease.owner, until)
        for key in keys:
            attempts = self.turns[key].attempts + (key in self.owners)
            self.turns[key] = replace(self.turns[key], attempts=attempts)
            self.owners[key] = lease.owner
        return tuple(self.turns[key] for key in keys)

    async def renew(self, lease: TurnLease, until: float) -> bool:
        if not self._change(lease, 0):
            return False
        self.leases[lease.user_id] = (lease.owner, until)
        return True

    async def end(
        self,
        lease: TurnLease,
        at: float,
        calls: int,
        *,
        learned: Sequence[QueuedTurn] = (),
        failed: bool = False,
    ) -> bool:
        ended = self._ended(lease, calls, due_at=at)
        for key in _keys(lease) if ended else ():
            attempts = self.turns[key].attempts + int(failed)
            self.turns[key] = replace(self.turns[key], attempts=attempts)
            if learned:
                del self.turns[key]
                self.done.add(key)
        return ended

    def _ended(self, lease: TurnLease, calls: int, **values: Any) -> bool:
        """Change the turns of a lease, and end it; nothing where it is another one's."""
        if not self._change(lease, calls, **values):
            return False
        del self.leases[lease.user_id]
        for key in _keys(lease):
            del self.owners[key]
        return True

    def _change(self, lease: TurnLease, calls: int, **values: Any) -> bool:
        """Change the turns of a lease; nothing where it or one of them is another one's."""
        keys = _keys(lease)
        owners = {
            self.leases.get(lease.user_id, ("", 0.0))[0],
            *map(self.owners.get, keys),
        }
        if owners != {lease.owner}:
            return False
        for key in keys:
            self.turns[key] = replace(self.turns[key], **values)
        if calls:
            self.calls.append(
                (lease.user_id, self.turns[keys[-1]].queued_at, calls)
            )
        return True


def _keys(lease: TurnLease) -> list[tuple[str, str]]:
    return [(lease.user_id, one) for one in lease.message_ids]
