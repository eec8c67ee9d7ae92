"""Many changes of one user that belong together: imported, or taken back, portion by portion.

Between portions others have their turn, and the user's own lock is free. What breaks off in the
middle can be asked for again: what is done by then is known already, or taken back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from adaptive.core.errors import HostError, StoreError, WriteRefused
from adaptive.core.foreground import Foreground
from adaptive.core.model import Memory
from adaptive.core.ports import NewMemory
from adaptive.privacy.changes import Step, UserStore, check_unchanged, take_back
from adaptive.privacy.kept import AuditEntry
from adaptive.search.tokens import comparable

_PORTION = 50
_TOLD_EACH = 1000


@dataclass(frozen=True, slots=True)
class BulkChanges:
    """Changes a user's store under the user's ``lock``, and shows by ``reply`` how far it is."""

    user: UserStore
    lock: asyncio.Lock
    foreground: Foreground
    reply: Callable[[str], Awaitable[None]]
    chat_id: str

    async def bring_in(self, carried: Sequence[NewMemory]) -> str:
        """Save what a user brings along, as one step beside what is known; what to tell of it."""
        now = int(time.time())
        known = {comparable(one.content) for one in await self.user.store.read()}
        new = [one for one in carried if comparable(one[0].content) not in known]
        step = f"imported-{time.time_ns()}"
        entry = AuditEntry("imported", "", now, chat_id=self.chat_id, step=step)
        saved = 0
        refused: dict[str, None] = {}
        for begin in range(0, len(new), _PORTION):
            async with self.lock:
                try:
                    rows = await self.user.store.add_all(new[begin : begin + _PORTION])
                except HostError as error:
                    told = f"{saved} of {len(new)} were imported, then it failed: {error}"
                    raise StoreError(told, detail=error.detail) from error
                written = [one for one in rows if isinstance(one, Memory)]
                refused |= {str(one): None for one in rows if isinstance(one, WriteRefused)}
                changes = [replace(entry, memory_id=one.id, after=one.content) for one in written]
                await self.user.trail.record(self.user.user_id, changes, now)
            saved += len(written)
            await self._between_portions("Imported", begin, saved, len(new))
        told = [f"Imported: {saved} of {len(carried)}"]
        if len(new) < len(carried):
            told.append(f"{len(carried) - len(new)} known already")
        if refused:
            told.append(f"{len(new) - saved} refused ({'; '.join(refused)})")
        return " · ".join(told)

    async def take_back(self, step: Step) -> list[AuditEntry]:
        """Take a step back, the newest of its changes first; the changes that this made.

        Raises:
            WriteRefused: a memory was changed since, and nothing is written; or it may stand no
                more.
            HostError: a write has failed; what was taken back before it stays so.
        """
        total = len(step.standing)
        portions = [step.standing[at : at + _PORTION] for at in range(0, total, _PORTION)]
        for portion in portions if len(portions) > 1 else ():
            await check_unchanged(self.user, step, portion)
        together = f"undo-{time.time_ns()}" if total > 1 else ""
        made: list[AuditEntry] = []
        for number, portion in enumerate(portions):
            async with self.lock:
                try:
                    made += await take_back(self.user, step, portion, together)
                except (HostError, WriteRefused) as error:
                    if not made:
                        raise
                    told = f"{len(made)} of {total} were taken back, then it failed: {error}"
                    raise StoreError(told, detail=error.detail) from error
            if len(portions) > 1:
                await self._between_portions("Taken back", number * _PORTION, len(made), total)
        return made

    async def _between_portions(self, doing: str, begin: int, done: int, total: int) -> None:
        """Tell now and then how far it is, and let others have their turn."""
        if not begin % _TOLD_EACH:
            await self.reply(f"{doing} {done:,} of {total:,}")
        await self.foreground.give_way()
