"""A lock for each user."""

from __future__ import annotations

import asyncio
import gc

from adaptive.core.runtime import KeyedLocks


async def test_locks_are_per_user() -> None:
    """A user's writers take turns, nobody waits for another user, and no lock outlives its use."""
    locks = KeyedLocks()
    done: list[str] = []

    async def write(user_id: str, name: str) -> None:
        async with locks.of(user_id):
            done.append(name)

    async with locks.of("ada"):
        waiting = asyncio.create_task(write("ada", "second of ada"))
        await write("bob", "first of bob")
        assert done == ["first of bob"]
    await waiting
    assert done == ["first of bob", "second of ada"]
    del waiting
    gc.collect()
    assert not len(locks._locks)
