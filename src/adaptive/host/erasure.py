"""Erasing what is held of a user: everything, or what came from one chat, one time or one source.

One loop over memories, tables and past conversation. Whatever fails, the rest is erased all the
same and the report tells. What is gone already is no error, so that an erasure can be repeated.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from sqlalchemy import delete, select, update

from adaptive.core.errors import HostError
from adaptive.core.model import Memory
from adaptive.host.entries import ENTRIES
from adaptive.host.hook import HostHook
from adaptive.host.memories import HostMemoryStore
from adaptive.host.memory_vectors import STALE_VECTORS
from adaptive.host.own_table import OwnTable, Sessions, portions
from adaptive.host.pending_table import PENDING, learned_values
from adaptive.host.requests import account, isolated_request
from adaptive.host.tables import VECTORS
from adaptive.memory.erasure import ErasureReport, Origin, bereft_originals, origin_ids
from adaptive.memory.tables import ArchivedMemory, ArchiveTable
from adaptive.privacy.pending import LEASE_PROOF_SECONDS
from adaptive.settings.hook import Hook

# Our tables, each by the column that names its rows; turns first, so that nobody learns meanwhile.
_KEYS: dict[str, Any] = {
    "pending": PENDING.c.message_id,
    "entries": ENTRIES.c.key,
    "vector": VECTORS.c.memory_id,
}
USER_TABLES = tuple(_KEYS)
_DELETED_AT_ONCE = 100
_TEXTS = {"body", "payload", "vector"}
# Who works on what, and what the memory was told to do, is erased without being counted.
_UNCOUNTED = ("lease", "command")
# They tell where memories came from, so what they hold of one that could not be erased stays.
_TELLING = ("archive", "audit")
_NO_PROVENANCE = (
    "This Open WebUI keeps no provenance with its memories (0.10 and newer do): only what the audit"
    " and the archive name was found."
)

Forget = Callable[[str], object]


class HeldHistory(Protocol):
    """Counts, or erases, what is indexed of a user's chats, or of one; may raise ``HostError``."""

    async def held(self, user_id: str, chat_id: str = "") -> int:
        """How many chats are indexed."""
        ...

    async def erase(self, user_id: str, chat_id: str = "") -> int:
        """Remove them; how many there were."""
        ...


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A row without its texts; ``memory_id`` and ``change`` are those that it is about, if any."""

    kind: str
    key: str
    memory_id: str = ""
    change: str = ""
    chat_id: str = ""
    message_id: str = ""
    said_at: float = 0.0
    leased_until: float = 0.0

    @classmethod
    def of(cls, table: str, row: Mapping[str, Any]) -> HeldRow:
        """A row of one of ``USER_TABLES``."""
        key = row[_KEYS[table].name]
        if table == "entries":
            # Of the audit the key tells kind and memory (see ``AuditTable``), else the memory only.
            _, change, memory_id = ["", "", *key.rsplit(":", 2)][-3:]
            where = (row["chat_id"], row["message_id"], row["created_at"])
            return cls(row["kind"], key, memory_id, change, *where)
        if table == "pending":
            # A turn that has been learned holds no words any more.
            waits = row["state"] == "waiting"
            said = (row["chat_id"], key, row["queued_at"]) if waits else ("", "", 0.0)
            return cls(table, key, "", "", *said, leased_until=row["lease_until"])
        return cls(table, key, memory_id=key)

    def came_from(self, origin: Origin | None) -> bool:
        """Whether it is of an origin; of a source no row tells."""
        if origin is None:
            return True
        if origin.period is None:
            return bool(origin.chat_id) and self.chat_id == origin.chat_id
        since, until = origin.period
        if self.kind == "chat_notes":  # later ones repeat what was said on that day
            return self.said_at >= since
        # What upkeep does has no message.
        return bool(self.message_id) and since <= self.said_at < until


@dataclass(frozen=True, slots=True)
class HostEraser:
    """An ``Eraser`` of all that is held of one user; raises nothing of ours.

    Each of ``caches`` forgets a user within this process, while other workers' look at the tables;
    what waits in this process only (``forget_waiting``) is forgotten with everything else.
    """

    memories: HostMemoryStore
    user_id: str
    archive: ArchiveTable
    history: HeldHistory | None = None
    caches: tuple[Forget, ...] = ()
    forget_waiting: Forget = str
    sessions: Sessions | None = None

    async def find(self, origin: Origin | None) -> ErasureReport:
        """What ``erase`` would remove."""
        report = ErasureReport()
        await self._sweep(origin, report, erasing=False)
        return report

    async def erase(self, origin: Origin | None) -> ErasureReport:
        """Remove all that is held of the user, or what came from an origin and was made of it.

        A memory goes when its meta or the audit names the origin, be it for a former content; so
        does a summary of one that goes. For everything it is looked twice: a write may have begun.
        """
        report = ErasureReport()
        forgetting = self.caches if origin else (*self.caches, self.forget_waiting)
        for _ in range(1 if origin else 2):
            report.failed.clear()
            for forget in forgetting:  # what is being prepared behind the turns is not kept then
                forget(self.user_id)
            await self._sweep(origin, report, erasing=True)
        for forget in forgetting:
            forget(self.user_id)
        return report

    async def _sweep(self, origin: Origin | None, report: ErasureReport, *, erasing: bool) -> None:
        """Count or erase what there is of an origin, or of everything."""
        turns = await report.tried(self.rows("pending"), ())
        waiting = [row for row in turns if row.came_from(origin)]
        number = len(waiting)
        if erasing:
            number = await report.tried(self.drop("pending", waiting, emptied=bool(origin)), 0)
            # A worker that has turns in its hands surely writes no more then.
            if any(row.leased_until >= time.time() for row in turns):
                await asyncio.sleep(LEASE_PROOF_SECONDS)
        report.counts["pending"] += number
        rows = [row for one in USER_TABLES[1:] for row in await report.tried(self.rows(one), ())]
        found = await report.tried(self.memories.read(), ())
        ids, archived = frozenset(row.id for row in found), tuple[ArchivedMemory, ...]()
        if origin is not None:
            if not self.memories.keeps_history and origin.period is None:
                report.note = _NO_PROVENANCE
            learned = (row for row in rows if row.change in ("saved", "updated"))
            known = {row.memory_id for row in learned if row.came_from(origin)}
            archived = await report.tried(self.archive.read(self.user_id), archived)
            ids = origin_ids(found, archived, origin, known)
        report.memories = gone = tuple(row for row in found if row.id in ids)
        if erasing:
            gone = await self._erase_memories(report, everything=origin is None)
            report.bereft = bereft_originals(archived, gone, ids)
        report.counts["memory"] += len(gone)
        kept = _kept_kinds(origin, report)
        surely = {row.id for row in gone}
        going: defaultdict[str, list[HeldRow]] = defaultdict(list)
        for row in rows:
            named = row.memory_id in ids or row.came_from(origin)
            if row.memory_id in surely or (named and row.kind not in kept):
                going[row.kind].append(row)
        for kind, some in going.items():
            number = await report.tried(self.drop(kind, some), 0) if erasing else len(some)
            report.counts[kind] += 0 if kind in _UNCOUNTED else number
        if self.history is not None and (origin is None or origin.chat_id):
            work = self.history.erase if erasing else self.history.held
            chats = work(self.user_id, origin.chat_id if origin else "")
            report.counts["history"] += await report.tried(chats, 0)

    async def _erase_memories(self, report: ErasureReport, *, everything: bool) -> Sequence[Memory]:
        """Erase the rows that were found, or all with whatever vectors there are; what went."""
        if everything:
            await report.tried(self.memories.delete_all(), None)
        else:
            for begin in range(0, len(report.memories), _DELETED_AT_ONCE):
                await self._delete(report, report.memories[begin : begin + _DELETED_AT_ONCE])
        left = {row.id for row in await report.tried(self.memories.read(), report.memories)}
        return [row for row in report.memories if row.id not in left]

    async def _delete(self, report: ErasureReport, memories: Sequence[Memory]) -> None:
        """Delete rows together; where that fails, each by itself, so that none spoils another."""
        try:
            await self.memories.delete(*memories)
        except HostError:
            for memory in memories:
                await report.tried(self.memories.delete(memory), None)

    async def rows(self, name: str) -> tuple[HeldRow, ...]:
        """All of the user's rows in one of ``USER_TABLES``; may raise ``TablesUnavailable``."""
        table = _KEYS[name].table
        columns = (column for column in table.c if column.name not in _TEXTS)
        query = select(*columns).where(table.c.user_id == self.user_id)
        found = await OwnTable(table, self.sessions).rows(f"looking into {name}", query)
        return tuple(HeldRow.of(name, row._mapping) for row in found)

    async def drop(self, kind: str, rows: Iterable[HeldRow], *, emptied: bool = False) -> int:
        """Delete rows of a kind; how many there were; may raise ``TablesUnavailable``.

        Turns may be ``emptied`` instead, and nobody learns from them: their rows stay for their
        month, since an answer made anew to such a message would be learned from otherwise.
        """
        key = _KEYS.get(kind, ENTRIES.c.key)
        mine = key.table.c.user_id == self.user_id
        if key.table is ENTRIES:
            mine &= ENTRIES.c.kind == kind
        erased: Any = delete(key.table)
        if emptied:
            erased = update(PENDING).values(learned_values(time.time()))
        changes = (erased.where(mine, key.in_(some)) for some in portions({r.key for r in rows}))
        return await OwnTable(key.table, self.sessions).change(f"erasing from {kind}", *changes)


def _kept_kinds(origin: Origin | None, report: ErasureReport) -> tuple[str, ...]:
    """What stays: the note for the day's sweep, and what helps to find what could not be erased."""
    return (STALE_VECTORS, *_TELLING) if origin and report.failed else (STALE_VECTORS,)


async def host_eraser(
    held: tuple[ArchiveTable, HeldHistory, tuple[Forget, ...], Forget], hook: Hook
) -> HostEraser:
    """What erases of a hook's user; ``HostError`` where the host does not know the user."""
    host = cast(HostHook, hook)  # this room has made it
    memories = HostMemoryStore(isolated_request(host.request), await account(host.user))
    return HostEraser(memories, hook.user_id, *held)
