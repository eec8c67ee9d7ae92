"""The trail of changes: written behind them, and never to their harm."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from adaptive.errors import TablesUnavailable
from adaptive.privacy.secrets import without_secrets
from adaptive.table_ports import AuditEntry, AuditTable

log_audit = logging.getLogger("adaptive_memory.learn")


class AuditTrail:
    """An audit table that may fail: the first failure is logged, none is raised.

    A secret that another tool has put into a memory is left out of the trail.
    """

    def __init__(self, table: AuditTable) -> None:
        self._table = table
        self._told = False

    async def record(self, user_id: str, entries: Sequence[AuditEntry], now: int) -> None:
        """Add changes that were made, in their order; ``now`` is in epoch seconds."""
        if not entries:
            return
        told = [_entry_without_secrets(one) for one in entries]
        try:
            await self._table.append(user_id, told, now)
        except TablesUnavailable as error:
            if not self._told:
                self._told = True
                log_audit.warning("changes are not written down: %s", error)


def _entry_without_secrets(entry: AuditEntry) -> AuditEntry:
    """An entry whose contents, former ones above all, hold no secrets."""
    before, after = without_secrets(entry.before), without_secrets(entry.after)
    return replace(entry, before=before, after=after)
