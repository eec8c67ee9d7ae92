"""Open WebUI's own vectors of memories that could not be written with their rows: later, behind.

Rows are what counts: recall has vectors of its own. The host's collection serves the host's own
search and tools, so it may lag behind for as long as the vector database or the embedding service
is away. What is behind is known to this process alone; after a restart an admin's reindexing of
memories makes it good (host: routers/memories.py, ``/reindex``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

from adaptive.core.errors import EmbeddingError, HostError, with_detail

log_vector_upkeep = logging.getLogger("adaptive_memory.host")

# Between tries, over most of a day.
_PAUSES_SECONDS = (15.0, 30.0, 60.0, 120.0, 300.0, *[600.0] * 6, *[3600.0] * 20)
# Their texts are embedded on one core (see ``host.providers``), so that another one is left.
_ROWS_AT_ONCE = 12
# Between portions, for whoever has waited meanwhile.
_BREATH_SECONDS = 0.05
# Longer than usual; whoever asked for the write waits for no more.
_PATIENCE_SECONDS = 0.2

# Has a user's collection say what rows of these ids say, and nothing of those that are gone.
BringInStep = Callable[[Collection[str]], Awaitable[None]]


class VectorUpkeep:
    """Users' rows whose vectors are behind, and the tasks that bring these in step."""

    def __init__(self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._sleep = sleep
        self._behind: dict[str, set[str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def written(self, user_id: str, row_ids: Collection[str], step: BringInStep) -> None:
        """Bring rows in step; what takes longer than a moment, or fails, goes on behind.

        Many rows are waited for until they are written, or have failed once.
        """
        behind = self._behind.get(user_id)
        if behind is not None:
            behind.update(row_ids)
            return
        self._behind[user_id] = set(row_ids)
        tried = asyncio.Event()
        task = asyncio.create_task(self._catch_up(user_id, step, tried))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with suppress(TimeoutError):
            few = len(row_ids) <= _ROWS_AT_ONCE
            await asyncio.wait_for(tried.wait(), _PATIENCE_SECONDS if few else None)

    def forget(self, user_id: str) -> None:
        """Let go of what is behind of a user whose whole collection is gone."""
        if user_id in self._behind:
            self._behind[user_id].clear()

    async def _catch_up(self, user_id: str, step: BringInStep, tried: asyncio.Event) -> None:
        """Try again and again; in the end the rows are left to an admin's reindexing."""
        behind = self._behind[user_id]
        try:
            for pause in _PAUSES_SECONDS:
                if await self._caught_up(behind, step):
                    return
                tried.set()
                await self._sleep(pause)
            log_vector_upkeep.warning(
                "Open WebUI's own vectors of %d memories are missing: reindex memories", len(behind)
            )
        finally:
            del self._behind[user_id]
            tried.set()

    async def _caught_up(self, behind: set[str], step: BringInStep) -> bool:
        """Bring rows in step portion by portion; whether none is left."""
        while behind:
            portion = sorted(behind)[:_ROWS_AT_ONCE]
            # Before they are read: a row that is changed meanwhile comes again.
            behind.difference_update(portion)
            try:
                await step(portion)
            except (HostError, EmbeddingError) as error:
                behind.update(portion)
                log_vector_upkeep.warning(
                    "Open WebUI's own vectors come later: %s", with_detail(error)
                )
                return False
            if behind:
                await self._sleep(_BREATH_SECONDS)
        return True


# One for the whole process, since each hook makes a store of its own.
VECTOR_UPKEEP = VectorUpkeep()
