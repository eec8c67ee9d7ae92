"""The trail of changes: written behind them, and never to their harm."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from adaptive.errors import TablesUnavailable
from adaptive.table_ports import AuditEntry, AuditTable

log_audit = logging.getLogger("adaptive_memory.learn")


class AuditTrail:
    """An audit table that may fail: the first failure is logged, none is raised."""

    def __init__(self, table: AuditTable) -> None:
        self._table = table
        self._told = False

    async def record(self, user_id: str, entries: Sequence[AuditEntry], now: int) -> None:
        """Add changes that were made, in their order; ``now`` is in epoch seconds."""
        if not entries:
            return
        try:
            await self._table.append(user_id, entries, now)
        except TablesUnavailable as error:
            if not self._told:
                self._told = True
                log_audit.warning("changes are not written down: %s", error)
