"""The day's sweep over what nobody can ask for any more, by one worker for all."""

from __future__ import annotations

import logging
import uuid
from typing import Any

from sqlalchemy import Column, String, Table, delete, exists, select

from adaptive.core.errors import HostError, with_detail
from adaptive.host.entries import ENTRIES, HostLeases
from adaptive.host.history_vectors import HostHistoryVectors
from adaptive.host.memory_vectors import (
    HOST_MEMORIES,
    drop_collection,
    memory_collection,
    sweep_stale_vectors,
)
from adaptive.host.own_table import TABLES, OwnTable, Sessions, host_rows
from adaptive.host.pending_table import PENDING
from adaptive.host.tables import VECTORS

log_sweep = logging.getLogger("adaptive_memory.host")

_DAY_SECONDS = 24 * 3600.0
_LOOK_SECONDS = 3600.0
_LEASE = "daily_sweep:"
# The host's own (host: models/users.py).
_HOST_USERS = Table("user", TABLES, Column("id", String))
_OUR_TABLES = (ENTRIES, PENDING, VECTORS)


class HostSweep:
    """Erases what is left of deleted accounts, and stale vectors; any worker does it, once a day.

    Open WebUI tells no filter of a deleted account, and leaves its memories (0.9.6 to 0.12.4).
    """

    def __init__(
        self,
        leases: HostLeases,
        history: HostHistoryVectors,
        sessions: Sessions | None = None,
    ) -> None:
        self._leases = leases
        self._history = history
        self._sessions = sessions
        self._look_again_at = 0.0

    def is_due(self, now: float) -> bool:
        """Whether this worker is to look if the day's sweep is to be done."""
        return now >= self._look_again_at

    async def run(self, now: float) -> None:
        """Do the day's sweep unless another worker does or has done it; raises ``HostError``."""
        self._look_again_at = now + _LOOK_SECONDS
        worker = uuid.uuid4().hex
        if not await self._leases.acquire(_LEASE, worker, now, _DAY_SECONDS):
            return
        for user_id in await self._deleted_accounts():
            try:
                await self._erase(user_id)
            except HostError as error:
                log_sweep.warning(
                    "a deleted account is swept another day: %s",
                    with_detail(error),
                )
        await sweep_stale_vectors(self._sessions)

    async def _deleted_accounts(self) -> list[str]:
        """Users of whom something is kept and whom the host has no more.

        Nobody is one where the host's table of users can't be read or is empty: then it is not that
        all have gone. What belongs to nobody ("") is everybody's.
        """
        someone = select(_HOST_USERS.c.id).limit(1)
        if not await host_rows("looking for users", someone, self._sessions):
            return []
        gone = set[str]()
        for table in _OUR_TABLES:
            kept = select(table.c.user_id).where(
                table.c.user_id != "", _has_no_account(table)
            )
            own = OwnTable(table, self._sessions)
            rows = await own.rows("looking for deleted users", kept.distinct())
            gone.update(row.user_id for row in rows)
        return sorted(gone)

    async def _erase(self, user_id: str) -> None:
        """Erase a deleted account's vectors and rows; ours last, as they say what is to be done."""
        await drop_collection(memory_collection(user_id))
        await self._history.delete_all(user_id)
        for table in (HOST_MEMORIES, *_OUR_TABLES):
            erased = delete(table).where(
                table.c.user_id == user_id, _has_no_account(table)
            )
            await OwnTable(ENTRIES, self._sessions).change(
                "erasing of a deleted user", erased
            )
        log_sweep.info("what was left of a deleted account was erased")


def _has_no_account(table: Table) -> Any:
    """Whether the host has no user whose row of a table it is."""
    return ~exists().where(_HOST_USERS.c.id == table.c.user_id)
