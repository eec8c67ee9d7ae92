"""One user's memory as an object: whoever changes it asks it to, and it holds the user's lock.

What belongs together and is long goes portion by portion: others have their turn in between, and
the lock is free. What breaks off in the middle can be asked for again: what is done by then is
known already, or taken back.
"""

import asyncio
import time
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Sequence,
)
from contextlib import suppress
from dataclasses import field
from typing import Protocol

from adaptive.core import (
    CHANGED_MEANWHILE,
    AdaptiveMemoryError,
    KeyedLocks,
    Memory,
    NewMemory,
    Place,
    Proposal,
    Provenance,
    Sources,
    WriteRefused,
    frozen,
    log_failure,
    phrase,
    portions,
)
from adaptive.memory.archive import (
    FOLDER_IS_GONE,
    archive_memories,
    exchange,
    plan_restoration,
    prune_store,
    replace_by_summary,
    restore_memory,
    restored_scope,
)
from adaptive.memory.audit import AuditEntry, AuditTable, Step, UserStore
from adaptive.memory.erasure import ErasureReport, Origin
from adaptive.memory.gate import Gate
from adaptive.memory.tables import ArchiveTable, NumberTable
from adaptive.memory.writing import (
    Held,
    PlannedUndo,
    apply_proposals,
    mark_memory,
    plan_undo,
    take_back,
)
from adaptive.privacy import UNDER_FORMER_KEY
from adaptive.search import comparable, read_anew, tokens
from adaptive.settings import Hook, Settings

_PORTION = 50


class Eraser(Protocol):
    """All that is held of one user: everything, or what came from an origin; it raises nothing."""

    async def find(self, origin: Origin | None) -> ErasureReport:
        """What there is."""
        ...

    async def erase(self, origin: Origin | None) -> ErasureReport:
        """Remove it."""
        ...


@frozen
class UserMemory(UserStore):
    """One user's memory under the settings of a hook; its verbs hold the user's ``lock``.

    ``give_way`` waits until nobody waits for an answer. Nothing is told of memories that may not be
    shown at the ``place``.
    """

    number_table: NumberTable
    settings: Settings
    place: Place
    lock: asyncio.Lock
    give_way: Callable[[], Awaitable[None]]

    async def apply(
        self,
        proposals: Sequence[Proposal],
        memories: Sequence[Memory],
        source: Provenance,
        held: Held,
    ) -> list[Proposal]:
        """Carry out open proposals on the memories that stand, and archive what is too many then.

        The caller holds the lock, since they were compared with the store.

        Raises:
            LeaseLost: somebody else does it by now; what was written before stays and is logged.
        """
        applied = await apply_proposals(
            proposals, memories, self, source, held
        )
        fresh = {outcome.memory_id for outcome in applied}
        pruned = await prune_store(self, self.settings, source, fresh)
        return applied + [
            one for one in pruned if self.place.admits(one.draft.scope)
        ]

    async def mark(self, memory: Memory, *marks: str) -> None:
        """Give a memory as it stands by now these marks (see ``mark_memory``)."""
        async with self.lock:
            standing = [*await self.store.read([memory.id]), memory][0]
            await self.record(await mark_memory(self, standing, marks))

    async def numbers(self, listed: Iterable[Memory] = ()) -> dict[str, int]:
        """The number of each memory that was ever listed, by its id; those ``listed`` get one.

        A number is given once: what comes back after it was gone has its own again.
        """
        ids = dict.fromkeys(memory.id for memory in listed)
        return await self.number_table.numbers(self.user_id, ids)

    async def bring_in(
        self, carried: Sequence[NewMemory], chat_id: str
    ) -> str:
        """Save what a user brings along, as one step beside what is known; what to tell of it."""
        standing: tuple[Memory, ...] = ()
        known: set[tuple[str, str]] = set()
        step = f"imported-{time.time_ns()}"
        saved = 0
        refusals: list[str] = []
        for portion in portions(carried, _PORTION):
            async with self.lock:
                # Others may have written the same since the last portion.
                former = {row.id: row.updated_at for row in standing}
                standing = await read_anew(self.store, standing)
                known.update(
                    (row.scope, comparable(row.content))
                    for row in standing
                    if former.get(row.id) != row.updated_at
                )
                new: list[NewMemory] = []
                for memory in portion:
                    try:
                        passed = await self.gate.passed(memory)
                    except WriteRefused as refusal:
                        refusals.append(str(refusal))
                        continue
                    draft = passed.draft
                    said = (draft.scope, comparable(draft.content))
                    if said not in known:
                        known.add(said)
                        new.append(passed)
                rows = await exchange(self, *new)
                changes = [
                    AuditEntry(
                        kind="imported",
                        memory_id=row.id,
                        after=row.content,
                        step=step,
                    )
                    for row in rows
                ]
                await self.record(
                    *changes, source=Provenance(chat_id, "", int(time.time()))
                )
            saved += len(rows)
            await self.give_way()
        lines = [f"{phrase('saved')}: {saved} / {len(carried)}"]
        known_already = len(carried) - saved - len(refusals)
        if known_already:
            lines.append(f"{phrase('unchanged')}: {known_already}")
        if refusals:
            reasons = "; ".join(dict.fromkeys(refusals))
            counted = f"{phrase('rejected')}: {len(refusals)}"
            lines.append(f"{counted} ({reasons})")
        return " · ".join(lines)

    async def undo(self, step: Step) -> list[AuditEntry]:
        """Take a step back, the newest of its changes first; the changes that this made.

        A memory that was changed since is left as it is.

        Raises:
            WriteRefused: all was changed since, or what was there may stand no more; nothing is
                written.
            HostError: a write has failed; what was taken back before it stays so.
        """
        await self.check_undo(step)
        name = f"undo-{time.time_ns()}" if len(step.standing) > 1 else ""
        made: list[AuditEntry] = []
        standing = len(step.standing) + 1
        # Of a memory that the step has changed twice, the older change can be taken back then.
        while 0 < len(step.standing) < standing:
            standing = len(step.standing)
            for portion in portions(step.standing, _PORTION):
                async with self.lock:
                    made += await take_back(self, step, portion, name)
                await self.give_way()
            former = step.changes[0]
            step = next(
                (
                    each
                    for each in await self.steps()
                    if former in each.changes
                ),
                step,
            )
        return made

    async def check_undo(self, step: Step) -> None:
        """Raise a ``WriteRefused`` where a step can't be taken back as things stand."""
        planned = list[PlannedUndo]()
        for portion in portions(step.standing, _PORTION):
            planned += await plan_undo(self, step, portion)
        if not planned:
            raise WriteRefused(CHANGED_MEANWHILE)

    async def undoable(self, steps: Sequence[Step]) -> Step | None:
        """The first of some steps that can be taken back as things stand."""
        for step in steps:
            with suppress(WriteRefused):
                await self.check_undo(step)
                return step
        return None

    async def restorable(self, words: str) -> tuple[list[Memory], str]:
        """What may come back of the archived memories that hold all words; what to tell of others."""
        meant = set(tokens(words))
        archived = [
            copy
            for copy in await self.archive.read(self.user_id)
            if meant.issubset(tokens(copy.memory.content))
            and self.place.admits(restored_scope(copy))
        ]
        chosen, told = plan_restoration(
            archived, await self.store.read(), self.settings.max_total_memories
        )
        sealed = await self.archive.unopened(self.user_id)
        if sealed:
            counted = phrase("archived_memories", n=sealed)
            told += f" {counted}: {UNDER_FORMER_KEY}."
        return chosen, told.strip()

    async def restore(self, memory_ids: Sequence[str]) -> list[str]:
        """Bring archived memories back, as one step; what to tell of it."""
        step = f"restored-{time.time_ns()}"
        restored = 0
        reasons: list[str] = []
        for memory_id in memory_ids:
            try:
                async with self.lock:
                    restored += await restore_memory(self, memory_id, step)
            except AdaptiveMemoryError as error:
                log_failure("a memory stays archived", error)
                reasons.append(str(error))
        lines: list[str] = []
        if restored:
            lines.append(phrase("restored", n=restored))
        if reasons:
            reason = ", ".join(dict.fromkeys(reasons))
            lines.append(
                phrase("still_archived", n=len(reasons), reason=reason)
            )
        return lines

    async def archive_scopes(self, scopes: Collection[str]) -> int:
        """Archive all memories of scopes whose folders are gone, as one step; how many they are."""
        step = f"folder-{time.time_ns()}"
        source = Provenance("", "", int(time.time()), step)
        async with self.lock:
            leaving = [
                memory
                for memory in await self.store.read()
                if memory.scope in scopes
            ]
            for portion in portions(leaving, _PORTION):
                await archive_memories(self, portion, FOLDER_IS_GONE, source)
        return len(leaving)

    async def erase(
        self, eraser: Eraser, origin: Origin | None
    ) -> ErasureReport:
        """Erase what came from an origin, or everything, while nobody writes."""
        async with self.lock:
            return await eraser.erase(origin)

    async def summarise(self, cluster: Sequence[Memory], text: str) -> None:
        """Put a summary in the place of memories (see ``replace_by_summary``)."""
        async with self.lock:
            await replace_by_summary(self, cluster, text)

    async def summaries(self) -> frozenset[str]:
        """The ids of the memories that are summaries of others."""
        archived = await self.archive.read(self.user_id)
        return frozenset(copy.summary_id for copy in archived)


@frozen
class Memories:
    """Every user's memory: one for an instance of the plug-in, which has the lock of each user."""

    archive: ArchiveTable
    trail: AuditTable
    number_table: NumberTable
    give_way: Callable[[], Awaitable[None]]
    locks: KeyedLocks = field(default_factory=KeyedLocks)

    async def of(self, hook: Hook) -> UserMemory:
        """The memory of a hook's user, under the hook's settings."""
        return self.over(await hook.sources(), hook.settings)

    def over(self, sources: Sources, settings: Settings) -> UserMemory:
        """The memory of whose sources these are."""
        return UserMemory(
            user_id=sources.user_id,
            store=sources.store,
            gate=Gate(settings),
            archive=self.archive,
            trail=self.trail,
            number_table=self.number_table,
            settings=settings,
            place=sources.place or Place(),
            lock=self.locks.of(sources.user_id),
            give_way=self.give_way,
        )
