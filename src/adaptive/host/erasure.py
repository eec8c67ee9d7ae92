"""Forgetting everything that is held of a user.

Whatever fails, the rest is erased all the same and the report tells. What is gone already is no
error, so an erasure that was interrupted is repeated.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from adaptive.errors import AdaptiveMemoryError
from adaptive.host.erasable_memories import ErasableMemories
from adaptive.host.erasable_tables import LEASE_TABLE, PENDING_TABLE, TABLE_PREFIX, ErasableTables
from adaptive.model import Memory
from adaptive.table_ports import LEASE_PROOF_SECONDS, ArchiveTable

# What a worker had begun may be written behind the first look, hardly behind the second.
_MOST_LOOKS = 3
_NOUNS = {
    "memory": "memories",
    "archive": "archived memories",
    "audit": "entries of the audit",
    "chat": "states of chats",
    "chat_notes": "notes of chats",
    "history": "chats in the index of past conversation",
    "lease": "leases",
    "pending": "entries of the learning queue",
    "suggestion": "suggestions",
    "usage": "counts of recalls",
    "vector": "vectors",
}
# Columns that count what is worth telling; of the other tables it is told that there is something.
_TOLD_APART_BY = {"archive": "memory_id", "pending": "message_id", "suggestion": "digest"}

Forget = Callable[[str], object]
Erased = TypeVar("Erased")


@dataclass(frozen=True, slots=True)
class Holdings:
    """Everything that is held of one user, and where.

    ``archive`` opens what stands there; each of ``caches`` forgets a user within this process.
    """

    user_id: str
    memories: ErasableMemories
    tables: ErasableTables
    archive: ArchiveTable
    caches: tuple[Forget, ...] = ()

    def forget_in_process(self) -> None:
        """Let every cache of this process forget the user; other workers' look at the tables."""
        for forget in self.caches:
            forget(self.user_id)


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """What was removed, counted by kind, and what was not, with the reason by kind.

    ``memory`` is a row of the host's with its vectors, other kinds are our tables without their
    prefix. ``bereft`` are ids of archived memories that stay although the summary that stood for
    them is gone: they can be restored.
    """

    removed: Mapping[str, int]
    failed: Mapping[str, str]
    notes: tuple[str, ...] = ()
    bereft: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing failed."""
        return not self.failed

    @property
    def line(self) -> str:
        """The report as one sentence or two, without a word of what was erased."""
        counts = [
            f"{_NOUNS.get(kind, kind)} ({count})"
            for kind, count in sorted(self.removed.items(), key=_memories_first)
            if count
        ]
        told = f"Erased: {', '.join(counts)}." if counts else "There was nothing to erase."
        failed = "; ".join(f"{_NOUNS.get(kind, kind)} ({why})" for kind, why in self.failed.items())
        return f"{told} Not erased: {failed}." if failed else told


@dataclass(frozen=True, slots=True)
class ErasureForecast:
    """What an erasure would find now: rows of the host's, and how much of ours by kind.

    ``failed`` tells what could not be looked at.
    """

    memories: tuple[Memory, ...]
    counts: Mapping[str, int]
    failed: Mapping[str, str]

    @property
    def empty(self) -> bool:
        """Whether there surely is nothing."""
        return not (self.memories or self.failed or any(self.counts.values()))


@dataclass(slots=True)
class ErasureTally:
    """What an erasure has done so far."""

    removed: dict[str, int] = field(default_factory=dict[str, int])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])

    def count(self, kind: str, number: int) -> None:
        """Add what was removed."""
        self.removed[kind] = self.removed.get(kind, 0) + number

    async def tried(self, kind: str, work: Awaitable[Erased], otherwise: Erased) -> Erased:
        """What the work answers; where it fails, that is noted."""
        try:
            return await work
        except AdaptiveMemoryError as error:
            self.failed[kind] = str(error)
            return otherwise

    async def removing(self, kind: str, work: Awaitable[int]) -> None:
        """Count what the work removes."""
        self.count(kind, await self.tried(kind, work, 0))

    def report(self, bereft: tuple[str, ...] = ()) -> ErasureReport:
        """What there is to tell."""
        return ErasureReport(dict(self.removed), dict(self.failed), tuple(self.notes), bereft)


def joined_reports(reports: Sequence[ErasureReport]) -> ErasureReport:
    """Reports of erasures that followed each other, as one; a note that recurs is told once."""
    tally = ErasureTally()
    for report in reports:
        tally.failed.update(report.failed)
        for kind, number in report.removed.items():
            tally.count(kind, number)
    tally.notes = list(dict.fromkeys(note for report in reports for note in report.notes))
    return tally.report(tuple(one for report in reports for one in report.bereft))


async def forecast_everything(holdings: Holdings) -> ErasureForecast:
    """What ``erase_everything`` would find; raises nothing of ours."""
    tables, user_id, tally = holdings.tables, holdings.user_id, ErasureTally()
    rows = await tally.tried("memory", holdings.memories.read(), ())
    existing = await tally.tried("tables", tables.existing(), {})
    for name, columns in existing.items():
        if "user_id" in columns:
            kind = name.removeprefix(TABLE_PREFIX)
            told_apart = _TOLD_APART_BY.get(kind, "user_id")
            held = tables.values(name, user_id, told_apart if told_apart in columns else "user_id")
            tally.count(kind, len(await tally.tried(kind, held, frozenset[str]())))
    return ErasureForecast(rows, tally.removed, tally.failed)


async def erase_everything(holdings: Holdings) -> ErasureReport:
    """Remove all that is held of a user: rows, vectors, our tables, leases and caches.

    Turns that wait to be learned go first, so that a worker that has some stops before its next
    write. It is looked again until nothing is found: somebody may have been writing meanwhile.
    Raises nothing of ours.
    """
    tally = ErasureTally()
    holdings.forget_in_process()  # what is being prepared behind the turns is not kept then
    for look in range(_MOST_LOOKS):
        before, failed = sum(tally.removed.values()), bool(tally.failed)
        tally.failed.clear()
        await _erase_once(holdings, tally, first=not look or failed)
        if sum(tally.removed.values()) == before:
            break
    else:
        tally.notes.append("something was written meanwhile; please erase once more")
    return tally.report()


async def _erase_once(holdings: Holdings, tally: ErasureTally, *, first: bool) -> None:
    tables, user_id = holdings.tables, holdings.user_id
    existing = await tally.tried("tables", tables.existing(), {})
    names = [name for name, columns in existing.items() if "user_id" in columns]
    names.sort(key=lambda name: (name != PENDING_TABLE, name))
    if PENDING_TABLE in names:
        async with lessons_stopped(tables, user_id, tally):
            await tally.removing("pending", tables.erase(names.pop(0), user_id))
    await _erase_memories(holdings.memories, tally, vectors=first)
    for name in names:
        kind = name.removeprefix(TABLE_PREFIX)
        await tally.removing(kind, tables.erase(name, user_id))
    if LEASE_TABLE in existing:
        await tally.removing("lease", tables.erase_leases(user_id))
    holdings.forget_in_process()


@asynccontextmanager
async def lessons_stopped(
    tables: ErasableTables, user_id: str, tally: ErasureTally
) -> AsyncGenerator[None, None]:
    """Around taking turns from the queue: who was learning from them writes nothing after it."""
    leased = tables.values(PENDING_TABLE, user_id, "lease_until")
    until = max(await tally.tried("pending", leased, frozenset[float]()), default=0.0)
    yield
    if until >= time.time():
        await asyncio.sleep(LEASE_PROOF_SECONDS)


async def _erase_memories(
    memories: ErasableMemories, tally: ErasureTally, *, vectors: bool
) -> None:
    """Erase all rows; without any, vectors that were left behind if that is asked for."""
    unread: tuple[Memory, ...] | None = None
    rows = await tally.tried("memory", memories.read(), unread)
    if rows or (vectors and rows is not None):
        await tally.tried("memory", memories.delete_all(), None)
        left = await tally.tried("memory", memories.read(), rows)
        tally.count("memory", len({row.id for row in rows} - {row.id for row in left or ()}))


def _memories_first(counted: tuple[str, int]) -> tuple[bool, str]:
    return counted[0] != "memory", counted[0]
