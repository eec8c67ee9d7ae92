"""A lock for each user, so that nobody waits for somebody else."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class UserLocks:
    """Locks by user id within this process; a lock is gone once nobody holds or awaits it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, user_id: str) -> asyncio.Lock:
        """The lock of a user, the same for all who ask while anybody has it."""
        return self._locks.setdefault(user_id, asyncio.Lock())
