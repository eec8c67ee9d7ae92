"""Erasing what is held of a user: everything, or what came from one chat, one time or one source.

One loop over memories, tables and past conversation. Whatever fails, the rest is erased all the
same and the report tells. What is gone already is no error, so that an erasure can be repeated.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from sqlalchemy import (
    delete,
    select,
    true,
    tuple_,
)

from adaptive.core.model import frozen
from adaptive.core.queued_turns import LEASE_PROOF_SECONDS
from adaptive.core.runtime import portions
from adaptive.host.application import account, isolated_request
from adaptive.host.database import ENTRIES, VECTORS
from adaptive.host.hook import HostHook
from adaptive.host.memories import HostMemoryStore, stale_vectors
from adaptive.host.tables import HostTables
from adaptive.memory.audit import ChangeKey
from adaptive.memory.erasure import (
    ErasureReport,
    Origin,
    bereft_originals,
    origin_ids,
)
from adaptive.memory.tables import ArchivedMemory
from adaptive.memory.turn_table import turn_lease
from adaptive.settings.hook import Hook

_MEMORIES_AT_ONCE = 100
# Who works on what, and what the memory was told to do, is erased without being counted.
_UNCOUNTED = ("lease", "command")
# They tell where memories came from, so what they hold of one that could not be erased stays.
_TELLING = ("archive", "audit")

Forget = Callable[[str], object]


class HeldHistory(Protocol):
    """Counts, or erases, what is indexed of a user's chats, or of one; may raise ``HostError``."""

    async def held(self, user_id: str, chat_id: str = "") -> int:
        """How many chats are indexed."""
        ...

    async def erase(self, user_id: str, chat_id: str = "") -> None:
        """Remove them."""


@dataclass(slots=True)
class HeldOfUser(ErasureReport):
    """What is held of a user: rows of our tables without their texts, and the archive.

    ``ids`` are those of memories, whether stored, archived or gone.
    """

    ids: frozenset[str] = frozenset()
    rows: Sequence[Any] = ()
    archived: Sequence[ArchivedMemory] = ()


@frozen
class HostEraser:
    """An ``Eraser`` of all that is held of one user; raises nothing of ours.

    Each of ``caches`` forgets a user within this process, while other workers' look at the tables;
    what ``waits`` in this process only is forgotten with everything else.
    """

    memories: HostMemoryStore
    user_id: str
    tables: HostTables
    history: HeldHistory
    caches: Sequence[Forget] = ()
    waits: Sequence[Forget] = ()

    async def find(self, origin: Origin | None) -> HeldOfUser:
        """What ``erase`` would remove."""
        held = HeldOfUser()
        rows = await held.tried(self._rows(), ())
        archive = self.tables.archive.read(self.user_id)
        held.archived = await held.tried(archive, ())
        stored = await held.tried(self.memories.read(), ())
        held.ids = origin_ids(
            stored, held.archived, origin, _learned_ids(rows, origin)
        )
        held.memories = tuple(
            memory for memory in stored if memory.id in held.ids
        )
        held.rows = [
            row
            for row in rows
            if _memory_id(row) in held.ids or _came_from(row, origin)
        ]
        held.counts.update(
            row.kind for row in held.rows if row.kind not in _UNCOUNTED
        )
        held.counts["memory"] = len(held.memories)
        chat_id = origin.chat_id if origin else ""
        if origin is None or chat_id:
            chats = self.history.held(self.user_id, chat_id)
            held.counts["history"] = await held.tried(chats, 0)
        return held

    async def erase(self, origin: Origin | None) -> ErasureReport:
        """Remove all that is held of the user, or what came from an origin and was made of it.

        A memory goes when its meta or the audit names the origin, be it for a former content; so
        does a summary of one that goes. For everything it is looked twice: a write may have begun.
        """
        before = await self.find(origin)
        left = before
        failed: list[str] = []
        for _ in range(1 if origin else 2):
            # What is being prepared behind the turns is not kept then.
            self._forget(origin)
            await self._remove(left, origin)
            failed = left.failed
            left = await self.find(origin)
        self._forget(origin)
        gone = {memory.id for memory in before.memories}
        gone.difference_update(memory.id for memory in left.memories)
        return ErasureReport(
            counts=before.counts - left.counts,
            failed=[*failed, *left.failed],
            bereft=bereft_originals(before.archived, gone, before.ids),
        )

    def _forget(self, origin: Origin | None) -> None:
        for forget in self.caches if origin else (*self.caches, *self.waits):
            forget(self.user_id)

    async def _remove(self, held: HeldOfUser, origin: Origin | None) -> None:
        """Remove what is held of an origin, or everything; it notes what fails."""
        # Turns first, so that nobody learns from them meanwhile.
        await held.tried(self._erase_turns(held.rows), None)
        if origin is None:
            await held.tried(self.memories.delete_all(), None)
        else:
            for memories in portions(held.memories, _MEMORIES_AT_ONCE):
                await held.tried(self.memories.write(gone=memories), [])
        # What helps to find again what could not be erased stays.
        stays = _TELLING if origin and held.failed else ()
        keys = [
            (row.kind, row.key) for row in held.rows if row.kind not in stays
        ]
        vectors = (
            true() if origin is None else VECTORS.c.memory_id.in_(held.ids)
        )
        erasing = self.tables.database.change(
            "erasing what is noted of memories",
            delete(VECTORS).where(VECTORS.c.user_id == self.user_id, vectors),
            *(
                delete(ENTRIES).where(
                    ENTRIES.c.user_id == self.user_id,
                    tuple_(ENTRIES.c.kind, ENTRIES.c.key).in_(some),
                )
                for some in portions(keys)
            ),
        )
        await held.tried(erasing, 0)
        if held.counts["history"]:
            chat_id = origin.chat_id if origin else ""
            await held.tried(self.history.erase(self.user_id, chat_id), None)

    async def _erase_turns(self, rows: Sequence[Any]) -> None:
        """Erase turns that wait, with the lease on them.

        What is left of them says that they are done, since an answer made anew to such a message
        would be learned from otherwise.
        """
        ids = [row.key for row in rows if row.kind == "waiting"]
        pending = self.tables.pending
        await pending.finish(self.user_id, dict.fromkeys(ids, 0), time.time())
        # A worker that has them in its hands surely writes no more then.
        if await self.tables.leases.end([turn_lease(self.user_id)]):
            await asyncio.sleep(LEASE_PROOF_SECONDS)

    async def _rows(self) -> Sequence[Any]:
        """What our table holds of the user, but for the note for the day's sweep."""
        entry = ENTRIES.c
        entries = select(
            entry.kind,
            entry.key,
            entry.chat_id,
            entry.message_id,
            entry.created_at,
        ).where(
            entry.user_id == self.user_id,
            entry.key != stale_vectors(self.user_id),
        )
        return await self.tables.database.rows(
            "looking for what is held", entries
        )


def _memory_id(entry: Any) -> str:
    """The id of the memory that an entry is about, if any: most have it for their key."""
    return (
        ChangeKey.read(entry.key).memory_id
        if entry.kind == "audit"
        else entry.key
    )


def _came_from(entry: Any, origin: Origin | None) -> bool:
    """Whether a row was made of what was said there, or anywhere; of a source none tells."""
    if origin is None:
        return True
    if entry.kind == "done":  # it holds no words any more
        return False
    if origin.period is None:
        return bool(origin.chat_id) and entry.chat_id == origin.chat_id
    since, until = origin.period
    # Later ones repeat what was said on that day.
    if entry.kind == "chat_notes":
        return entry.created_at >= since
    # What upkeep does has no message.
    return bool(entry.message_id) and since <= entry.created_at < until


def _learned_ids(entries: Sequence[Any], origin: Origin | None) -> set[str]:
    """Ids of the memories that were learned from an origin, as the keys of the audit tell."""
    changes = [
        ChangeKey.read(entry.key)
        for entry in entries
        if entry.kind == "audit" and _came_from(entry, origin)
    ]
    return {
        change.memory_id
        for change in changes
        if change.kind in ("saved", "updated")
    }


async def host_eraser(
    tables: HostTables,
    history: HeldHistory,
    caches: Sequence[Forget],
    waits: Sequence[Forget],
    hook: Hook,
) -> HostEraser:
    """What erases of a hook's user; ``HostError`` where the host does not know the user."""
    host = cast(HostHook, hook)  # this room has made it
    return HostEraser(
        memories=HostMemoryStore(
            isolated_request(host.request), await account(host.arguments.user)
        ),
        user_id=hook.user_id,
        tables=tables,
        history=history,
        caches=caches,
        waits=waits,
    )
