"""Erasing what is held of a user: everything, or what came from one chat, one time or one source.

One loop over memories, tables and past conversation. Whatever fails, the rest is erased all the
same and the report tells. What is gone already is no error, so that an erasure can be repeated.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from sqlalchemy import ColumnElement, Table, and_, false, or_, true

from adaptive.errors import AdaptiveMemoryError, MemoryUnavailable
from adaptive.host.erasable_memories import ErasableMemories
from adaptive.host.user_rows import UserRows
from adaptive.model import Memory
from adaptive.privacy.origin import Origin, bereft_originals, origin_ids
from adaptive.table_ports import LEASE_PROOF_SECONDS, ArchivedMemory, ArchiveTable

# Columns that tell when the words of a row were said, the best first.
_SAID_AT = ("queued_at", "said_at", "changed_at")
# They tell where memories came from, so what they hold of one that could not be erased stays.
_TELLING = ("archive", "audit")
# What is counted before a user; everything else is what is noted about it.
_NOUNS = {
    "memory": ("memory", "memories"),
    "archive": ("archived memory", "archived memories"),
    "suggestion": ("suggestion", "suggestions"),
    "history": ("chat's index", "chats' index"),
}
_NO_PROVENANCE = (
    "This Open WebUI keeps no provenance with its memories (0.10 and newer do): only what the audit"
    " and the archive name was found."
)

Forget = Callable[[str], object]
Answer = TypeVar("Answer")


class HeldHistory(Protocol):
    """What is indexed of users' conversations, or of one chat; may raise ``HostError``."""

    async def held(self, user_id: str, chat_id: str = "") -> int:
        """How many chats are indexed."""
        ...

    async def erase(self, user_id: str, chat_id: str = "") -> int:
        """Remove them; how many chats there were."""
        ...


@dataclass(frozen=True, slots=True)
class Holdings:
    """Everything that is held of one user, and where.

    ``archive`` opens what stands there; each of ``caches`` forgets a user within this process,
    while other workers' look at the tables.
    """

    user_id: str
    memories: ErasableMemories
    rows: UserRows
    archive: ArchiveTable
    caches: tuple[Forget, ...] = ()
    history: HeldHistory | None = None


@dataclass(slots=True)
class ErasureReport:
    """What was found, or removed, counted by kind, and the reasons of what failed.

    ``memory`` is a row of the host's with its vectors, ``history`` a chat in the index, other kinds
    are our tables. ``memories`` are the rows that were found. ``bereft`` are ids of archived
    memories that stay although the summary that stood for them is gone: they can be restored.
    """

    counts: Counter[str] = field(default_factory=Counter[str])
    failed: list[str] = field(default_factory=list[str])
    note: str = ""
    memories: tuple[Memory, ...] = ()
    bereft: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there surely is nothing."""
        return not self.failed and not self.counts.total()

    @property
    def phrase(self) -> str:
        """What it is, for people: "4 memories and everything noted about them"."""
        counts = {kind: self.counts[kind] for kind in _NOUNS}
        named = [f"{n} {_NOUNS[kind][n > 1]}" for kind, n in counts.items() if n]
        if not named:
            return "what was noted" if self.counts.total() else ""
        them = "them" if sum(counts.values()) > 1 else "it"
        return f"{', '.join(named)} and everything noted about {them}"

    @property
    def line(self) -> str:
        """The report of an erasure in sentences, without a word of what was erased."""
        told = [f"Erased: {self.phrase}."] if self.phrase else []
        if self.failed:
            reasons = "; ".join(dict.fromkeys(self.failed))
            told.append(f"Not everything could be erased: {reasons}.")
        return " ".join(filter(None, [*(told or ["There was nothing to erase."]), self.note]))

    async def tried(self, work: Awaitable[Answer], otherwise: Answer) -> Answer:
        """What the work answers; where it fails, that is noted."""
        try:
            return await work
        except AdaptiveMemoryError as error:
            self.failed.append(str(error))
            return otherwise


async def find_held(holdings: Holdings, origin: Origin | None = None) -> ErasureReport:
    """What ``erase_held`` would remove; raises nothing of ours."""
    report = ErasureReport()
    await _sweep(holdings, origin, report, erasing=False)
    return report


async def erase_held(holdings: Holdings, origin: Origin | None = None) -> ErasureReport:
    """Remove all that is held of a user, or what came from an origin and what was made of it.

    A memory goes when its meta or the audit names the origin, be it for a former content; so does
    a summary of which one original goes. For everything it is looked twice, as a write may have
    begun meanwhile. Raises nothing of ours.
    """
    report = ErasureReport()
    for _ in range(2 if origin is None else 1):
        report.failed.clear()
        for forget in holdings.caches:  # what is being prepared behind the turns is not kept then
            forget(holdings.user_id)
        await _sweep(holdings, origin, report, erasing=True)
    for forget in holdings.caches:
        forget(holdings.user_id)
    return report


async def _sweep(
    held: Holdings, origin: Origin | None, report: ErasureReport, *, erasing: bool
) -> None:
    """Count or erase what there is of an origin, or of everything."""
    tables = await report.tried(held.rows.tables(), {})
    going = {name: _said_there(table, origin) for name, table in tables.items()}
    if erasing and "pending" in going:
        await _stop_turns(held, tables["pending"], going.pop("pending"), origin, report)
    found = await report.tried(held.memories.read(), ())
    ids, archived = frozenset(row.id for row in found), tuple[ArchivedMemory, ...]()
    if origin is not None:
        if not held.memories.keeps_history and origin.period is None:
            report.note = _NO_PROVENANCE
        known = set[str]()
        if (audit := tables.get("audit")) is not None:
            learned = and_(going["audit"], audit.c.kind.in_(("saved", "updated")))
            known = await report.tried(held.rows.values(audit.c.memory_id, learned), known)
        if "archive" in tables:
            archived = await report.tried(held.archive.read(held.user_id), archived)
        ids = origin_ids(found, archived, origin, known)
    report.memories = gone = tuple(row for row in found if row.id in ids)
    if erasing:
        gone = await _erase_memories(held.memories, report, everything=origin is None)
        report.bereft = bereft_originals(archived, gone, ids)
    report.counts["memory"] += len(gone)
    change = held.rows.erase if erasing else held.rows.count
    surely = [row.id for row in gone]
    kept = _TELLING if origin is not None and report.failed else ()
    for name, itself in going.items():
        of_memories = _of_memories(tables[name], surely if name in kept else ids)
        condition = of_memories if name in kept else or_(itself, of_memories)
        report.counts[name] += await report.tried(change(tables[name], condition), 0)
    if held.history is not None and (origin is None or origin.chat_id):
        work = held.history.erase if erasing else held.history.held
        chat_id = origin.chat_id if origin else ""
        report.counts["history"] += await report.tried(work(held.user_id, chat_id), 0)


async def _stop_turns(
    held: Holdings,
    turns: Table,
    condition: ColumnElement[bool],
    origin: Origin | None,
    report: ErasureReport,
) -> None:
    """Take waiting turns away, and wait until a worker that has them surely writes no more."""
    leased = await report.tried(held.rows.values(turns.c.lease_until, true()), set[float]())
    change = held.rows.erase if origin is None else held.rows.empty_turns
    report.counts["pending"] += await report.tried(change(turns, condition), 0)
    if max(leased, default=0.0) >= time.time():
        await asyncio.sleep(LEASE_PROOF_SECONDS)


async def _erase_memories(
    memories: ErasableMemories, report: ErasureReport, *, everything: bool
) -> Sequence[Memory]:
    """Erase the rows that were found, or all with whatever vectors there are; those that went."""
    if everything:
        await report.tried(memories.delete_all(), None)
        left = {row.id for row in await report.tried(memories.read(), report.memories)}
        return [row for row in report.memories if row.id not in left]
    gone: list[Memory] = []
    for row in report.memories:
        try:
            await memories.delete(row)
            gone.append(row)
        except AdaptiveMemoryError as error:
            report.failed.append(str(error))
            if isinstance(error, MemoryUnavailable):
                break
    return gone


def _said_there(table: Table, origin: Origin | None) -> ColumnElement[bool]:
    """Which rows of a table are of an origin; of a source no table tells."""
    columns = table.c
    at = next((columns[one] for one in _SAID_AT if one in columns), None)
    # Of turns those that wait: what has been learned holds no words any more.
    with_words = columns.state == "waiting" if "lease_until" in columns else true()
    if origin is None:
        return true()
    if origin.chat_id and "chat_id" in columns:
        return and_(columns.chat_id == origin.chat_id, with_words)
    if origin.period is None:
        return false()
    since, until = origin.period
    if at is not None:  # what upkeep does has no message
        return and_(at >= since, at < until, columns.message_id != "", with_words)
    if "chat_id" in columns and "created_at" in columns:
        return and_(columns.created_at < until, columns.updated_at >= since)
    return false()


def _of_memories(table: Table, ids: Sequence[str] | frozenset[str]) -> ColumnElement[bool]:
    return table.c.memory_id.in_(ids) if "memory_id" in table.c else false()
