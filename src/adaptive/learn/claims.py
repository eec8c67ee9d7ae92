"""One user message is learned once: regenerated, continued and multi-model answers share it."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict

from adaptive.errors import TablesUnavailable
from adaptive.ports import Tables

log_claims = logging.getLogger("adaptive_memory.learn")
_REMEMBERED = 10_000
_REMEMBERED_LOCKS = 2_000


class TurnClaims:
    """Claims in the host's database; in this process alone where no table can be had."""

    def __init__(self) -> None:
        self._local: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._locks: OrderedDict[str, asyncio.Lock] = OrderedDict()
        self._told = False

    async def claim(self, tables: Tables, user_id: str, message_id: str, now: int) -> bool:
        """Claim a message; ``False`` when another answer to it has claimed it before."""
        key = (user_id, message_id)
        if key in self._local:
            return False
        self._local[key] = None
        while len(self._local) > _REMEMBERED:
            self._local.popitem(last=False)
        try:
            claimed = await tables.claim_turn(user_id, message_id, now)
        except TablesUnavailable as error:
            if not self._told:
                self._told = True
                log_claims.warning("turns are told apart within this process only: %s", error)
            return True
        if not claimed:  # by another worker, which may give it back
            self._local.pop(key, None)
        return claimed

    async def release(self, tables: Tables, user_id: str, message_id: str) -> None:
        """Give a claim back after a failure, so that a repeated turn can be learned."""
        self._local.pop((user_id, message_id), None)
        try:
            await tables.release_turn(user_id, message_id)
        except TablesUnavailable as error:
            log_claims.debug("claim not released: %s", error)

    def lock(self, user_id: str) -> asyncio.Lock:
        """One extraction per user at a time, so that none misses what another writes."""
        lock = self._locks.setdefault(user_id, asyncio.Lock())
        self._locks.move_to_end(user_id)
        for oldest in list(self._locks):
            if len(self._locks) <= _REMEMBERED_LOCKS:
                break
            if oldest != user_id and not self._locks[oldest].locked():
                del self._locks[oldest]
        return lock
