"""One user's memory as an object: whoever changes it asks it to, and it holds the user's lock.

What belongs together and is long goes portion by portion: others have their turn in between, and
the lock is free. What breaks off in the middle can be asked for again: what is done by then is
known already, or taken back.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from adaptive.core.model import (
    AdaptiveMemoryError,
    HostError,
    Memory,
    NewMemory,
    Proposal,
    Provenance,
    Sources,
    StoreError,
    WriteRefused,
    with_detail,
)
from adaptive.core.runtime import KeyedLocks
from adaptive.memory.archive import (
    memories_counted,
    plan_restoration,
    prune_store,
    restore_memory,
)
from adaptive.memory.audit import AuditEntry, AuditTrail
from adaptive.memory.erasure import ErasureReport, Origin
from adaptive.memory.gate import GuardedStore, gate_policy
from adaptive.memory.steps import Step
from adaptive.memory.summaries import finish_summaries, replace_by_summary
from adaptive.memory.tables import ArchiveTable, UsageTable
from adaptive.memory.undo import check_undo, take_back
from adaptive.memory.user_store import UserStore
from adaptive.memory.writing import Held, apply_proposals
from adaptive.privacy.sealing import UNDER_FORMER_KEY
from adaptive.search.tokens import comparable, tokens
from adaptive.settings.hook import Hook
from adaptive.settings.merged import Settings

log_memory = logging.getLogger("adaptive_memory.memory")

_PORTION = 50
_TOLD_EACH = 1000

# Shows a user how far something is.
ShowProgress = Callable[[str], Awaitable[None]]


class Eraser(Protocol):
    """All that is held of one user: everything, or what came from an origin; it raises nothing."""

    async def find(self, origin: Origin | None) -> ErasureReport:
        """What there is."""
        ...

    async def erase(self, origin: Origin | None) -> ErasureReport:
        """Remove it."""
        ...


@dataclass(frozen=True, slots=True)
class Writer:
    """The right to write what was compared with a store, which stands as it was meanwhile."""

    memory: UserMemory

    async def apply(
        self,
        proposals: Sequence[Proposal],
        memories: Sequence[Memory],
        source: Provenance,
        held: Held,
    ) -> list[Proposal]:
        """Carry out open proposals on the memories that stand, and archive what is too many then.

        Raises:
            LeaseLost: somebody else does it by now; what was written before stays and is logged.
        """
        memory = self.memory
        now = int(time.time())
        applied = await apply_proposals(
            proposals, memories, memory, source, held, now
        )
        fresh = {outcome.memory_id for outcome in applied}
        return [
            *applied,
            *await prune_store(memory, memory.settings, source, fresh, now),
        ]


@dataclass(frozen=True, slots=True)
class UserMemory(UserStore):
    """One user's memory under the settings of a hook; its verbs hold the user's ``lock``.

    ``give_way`` waits until nobody waits for an answer.
    """

    settings: Settings
    lock: asyncio.Lock
    give_way: Callable[[], Awaitable[None]]

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[Writer, None]:
        """The right to write, for as long as it takes to compare with the store and to write."""
        async with self.lock:
            yield Writer(self)

    async def bring_in(
        self, carried: Sequence[NewMemory], chat_id: str, show: ShowProgress
    ) -> str:
        """Save what a user brings along, as one step beside what is known; what to tell of it."""
        looked_at = int(time.time())
        known = {comparable(row.content) for row in await self.store.read()}
        new = [
            one for one in carried if comparable(one[0].content) not in known
        ]
        step = f"imported-{time.time_ns()}"
        saved = 0
        refusals: list[str] = []
        for begin in range(0, len(new), _PORTION):
            portion = new[begin : begin + _PORTION]
            since = looked_at
            looked_at = int(time.time())
            try:
                outcomes = await self._brought_in(
                    portion, known, since, chat_id, step
                )
            except HostError as error:
                told = f"{saved} of {len(new)} were imported, then it failed: {error}"
                raise StoreError(told, detail=error.detail) from error
            refusals += [
                str(one) for one in outcomes if isinstance(one, WriteRefused)
            ]
            saved += sum(isinstance(one, Memory) for one in outcomes)
            await self._between_portions(
                show, "Imported", begin, saved, len(new)
            )
        told = [f"Imported: {saved} of {len(carried)}"]
        if known_already := len(carried) - saved - len(refusals):
            told.append(f"{known_already} known already")
        if refusals:
            reasons = "; ".join(dict.fromkeys(refusals))
            told.append(f"{len(refusals)} refused ({reasons})")
        return " · ".join(told)

    async def _brought_in(
        self,
        portion: Sequence[NewMemory],
        known: set[str],
        since: int,
        chat_id: str,
        step: str,
    ) -> Sequence[Memory | WriteRefused]:
        """Write a portion of what a user brings along; each row, or why there is none.

        Neither what is ``known`` nor what others have written ``since`` is written again.
        """
        async with self.lock:
            changed, _ = await self.store.changes(since)
            known.update(comparable(row.content) for row in changed)
            outcomes = await self.store.add_all(portion, known)
            now = int(time.time())
            changes = [
                AuditEntry(
                    kind="imported",
                    memory_id=row.id,
                    changed_at=now,
                    after=row.content,
                    chat_id=chat_id,
                    step=step,
                )
                for row in outcomes
                if isinstance(row, Memory)
            ]
            await self.trail.record(self.user_id, changes, now)
        return outcomes

    async def undo(self, step: Step, show: ShowProgress) -> list[AuditEntry]:
        """Take a step back, the newest of its changes first; the changes that this made.

        Raises:
            WriteRefused: a memory was changed since, or what was there may stand no more; nothing
                is written.
            HostError: a write has failed; what was taken back before it stays so.
        """
        total = len(step.standing)
        portions = [
            step.standing[at : at + _PORTION]
            for at in range(0, total, _PORTION)
        ]
        if len(portions) > 1:
            for portion in portions:
                await check_undo(self, step, portion)
        together = f"undo-{time.time_ns()}" if total > 1 else ""
        made: list[AuditEntry] = []
        for number, portion in enumerate(portions):
            try:
                async with self.lock:
                    made += await take_back(self, step, portion, together)
            except (HostError, WriteRefused) as error:
                if not made:
                    raise
                told = f"{len(made)} of {total} were taken back, then it failed: {error}"
                raise StoreError(told, detail=error.detail) from error
            if len(portions) > 1:
                await self._between_portions(
                    show, "Taken back", number * _PORTION, len(made), total
                )
        return made

    async def restorable(self, words: str) -> tuple[list[Memory], list[str]]:
        """What may come back of the archived memories that hold all words.

        With it a sentence for each reason why not all may.
        """
        meant = set(tokens(words))
        archived = [
            one
            for one in await self.archive.read(self.user_id)
            if meant <= set(tokens(one.memory.content))
        ]
        rows = await self.store.read() if archived else ()
        chosen, staying = plan_restoration(
            archived, rows, self.settings.max_total_memories
        )
        if sealed := await self.archive.unopened(self.user_id):
            staying.append(
                f"{memories_counted(sealed)} in the archive {UNDER_FORMER_KEY}"
            )
        return chosen, staying

    async def restore(
        self, memory_ids: Sequence[str]
    ) -> tuple[int, list[str]]:
        """Bring archived memories back, as one step: how many, and why others stay archived."""
        step = f"restored-{time.time_ns()}"
        restored = 0
        reasons: dict[str, None] = {}
        for memory_id in memory_ids:
            try:
                async with self.lock:
                    row = await restore_memory(
                        self, memory_id, int(time.time()), step
                    )
            except AdaptiveMemoryError as error:
                log_memory.warning(
                    "a memory stays archived: %s", with_detail(error)
                )
                reasons[str(error)] = None
            else:
                restored += row is not None
        return restored, list(reasons)

    async def erase(
        self, eraser: Eraser, origin: Origin | None
    ) -> ErasureReport:
        """Erase what came from an origin, or everything, while nobody writes."""
        async with self.lock:
            return await eraser.erase(origin)

    async def summarise(self, cluster: Sequence[Memory], text: str) -> None:
        """Put a summary in the place of memories; ``WriteRefused`` where they stay as they are."""
        async with self.lock:
            await replace_by_summary(self, cluster, text, int(time.time()))

    async def finish_summaries(self) -> frozenset[str]:
        """Delete originals that stand beside their summary; the ids of summaries."""
        async with self.lock:
            return await finish_summaries(self, int(time.time()))

    async def _between_portions(
        self, show: ShowProgress, doing: str, begin: int, done: int, total: int
    ) -> None:
        """Tell now and then how far it is, and let others have their turn."""
        if not begin % _TOLD_EACH:
            await show(f"{doing} {done:,} of {total:,}")
        await self.give_way()


class Memories:
    """Every user's memory: one for an instance of the plug-in, which has the lock of each user."""

    def __init__(
        self,
        archive: ArchiveTable,
        usage: UsageTable,
        trail: AuditTrail,
        give_way: Callable[[], Awaitable[None]],
    ) -> None:
        self._archive = archive
        self._usage = usage
        self._trail = trail
        self._give_way = give_way
        self._locks = KeyedLocks()

    async def of(self, hook: Hook) -> UserMemory:
        """The memory of a hook's user, under the hook's settings."""
        return self.over(await hook.sources(), hook.settings)

    def over(self, sources: Sources, settings: Settings) -> UserMemory:
        """The memory of whose sources these are."""
        return UserMemory(
            user_id=sources.user_id,
            store=GuardedStore(sources.store, gate_policy(settings)),
            archive=self._archive,
            usage=self._usage,
            trail=self._trail,
            settings=settings,
            lock=self._locks.of(sources.user_id),
            give_way=self._give_way,
        )
