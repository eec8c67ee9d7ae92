"""One user's store with the tables behind it, as the steps of a change use them.

Nothing here holds the user's lock: whoever changes something goes through ``UserMemory``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.memory.audit import AuditEntry, AuditTrail, ChangeKey
from adaptive.memory.gate import GuardedStore
from adaptive.memory.steps import Step, steps_of
from adaptive.memory.tables import ArchiveTable, UsageTable


@dataclass(frozen=True, slots=True)
class UserStore:
    """One user's store behind the gate, with archive, counts of recalls and log."""

    user_id: str
    store: GuardedStore
    archive: ArchiveTable
    usage: UsageTable
    trail: AuditTrail

    async def steps(self) -> list[Step]:
        """What was changed, the newest step first; may raise ``TablesUnavailable``."""
        # In a thread: a full log takes longer than others may wait.
        return await asyncio.to_thread(
            steps_of, await self.trail.keys(self.user_id)
        )

    async def changes(
        self, keys: Sequence[ChangeKey]
    ) -> tuple[AuditEntry, ...]:
        """Changes of the log, the newest first; may raise ``TablesUnavailable``."""
        return await self.trail.read(self.user_id, [key.text for key in keys])
