"""A lock for each user, or each chat, so that nobody waits for somebody else."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class KeyedLocks:
    """Locks by key within this process; a lock is gone once nobody holds or awaits it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = (
            WeakValueDictionary()
        )

    def of(self, key: str) -> asyncio.Lock:
        """The lock of a key, the same for all who ask while anybody has it."""
        return self._locks.setdefault(key, asyncio.Lock())
