"""Erasing what is held of a user: everything, or what came from one chat, one time or one source.

One loop over memories, tables and past conversation. Whatever fails, the rest is erased all the
same and the report tells. What is gone already is no error, so that an erasure can be repeated.
The day's sweep erases what nobody can ask for any more.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from sqlalchemy import (
    delete,
    exists,
    false,
    select,
    true,
    tuple_,
    union,
)

from adaptive.core import HostError, frozen, log, log_failure, portions
from adaptive.host.application import account, isolated_request
from adaptive.host.database import (
    ENTRIES,
    HOST_CHATS,
    HOST_MEMORIES,
    HOST_USERS,
    OUR_TABLES,
    VECTORS,
)
from adaptive.host.hook import HostHook
from adaptive.host.memories import (
    HostMemoryStore,
    note_deletion,
    stale_vectors,
)
from adaptive.host.memory_vectors import (
    delete_vectors,
    memory_collection,
    standing_vectors,
)
from adaptive.host.tables import HostTables
from adaptive.host.vector_database import HostHistoryVectors
from adaptive.memory import (
    DAY_SECONDS,
    LEASE_PROOF_SECONDS,
    ArchivedMemory,
    ChangeKey,
    ErasureReport,
    Origin,
    bereft_originals,
    origin_ids,
    turn_lease,
)
from adaptive.settings import Hook

_MEMORIES_AT_ONCE = 100
# Who works on what, and what the memory was told to do, is erased without being counted.
_UNCOUNTED = ("lease", "command", "numbers")
# They tell where memories came from, so what they hold of one that could not be erased stays.
_TELLING = ("archive", "audit")
# How often a worker looks whether the day's sweep is to be done, and the lease on it.
_LOOK_SECONDS = 3600.0
_LEASE = "daily_sweep:"

Forget = Callable[[str], object]


class HeldHistory(Protocol):
    """Erases what is indexed of a user's chats, or of one; may raise ``HostError``."""

    async def erase(self, user_id: str, chat_id: str = "") -> None:
        """Remove it, and note that it is removed."""


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
        changes = [
            ChangeKey.read(row.key)
            for row in rows
            if row.kind == "audit" and _came_from(row, origin)
        ]
        learned = {
            change.memory_id
            for change in changes
            if change.kind in ("saved", "updated")
        }
        held.ids = origin_ids(stored, held.archived, origin, learned)
        held.memories = tuple(
            memory for memory in stored if memory.id in held.ids
        )
        # Most rows have the id of a memory for their key.
        held.rows = [
            row
            for row in rows
            if ChangeKey.read(row.key).memory_id in held.ids
            or _came_from(row, origin)
        ]
        held.counts.update(
            row.kind for row in held.rows if row.kind not in _UNCOUNTED
        )
        held.counts["memory"] = len(held.memories)
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
        await held.tried(self._erase_turns(held.rows, origin), None)
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
        # What any chat was given may quote a chat that is erased.
        quoting = true() if origin and origin.chat_id else false()
        erasing = self.tables.database.change(
            "erasing what is noted of memories",
            delete(VECTORS).where(VECTORS.c.user_id == self.user_id, vectors),
            delete(ENTRIES).where(
                ENTRIES.c.user_id == self.user_id,
                ENTRIES.c.kind == "chat",
                quoting,
            ),
            *(
                delete(ENTRIES).where(
                    ENTRIES.c.user_id == self.user_id,
                    tuple_(ENTRIES.c.kind, ENTRIES.c.key).in_(some),
                )
                for some in portions(keys)
            ),
        )
        await held.tried(erasing, 0)
        chat_id = origin.chat_id if origin else ""
        if origin is None or chat_id:
            await held.tried(self.history.erase(self.user_id, chat_id), None)

    async def _erase_turns(
        self, rows: Sequence[Any], origin: Origin | None
    ) -> None:
        """Erase turns that wait, with the lease on them.

        Of the messages of an origin it is noted that they are done, since an answer made anew, or
        past chats, would be learned from otherwise.
        """
        if origin is None:
            ids = [row.key for row in rows if row.kind == "waiting"]
            await self.tables.entries.drop("waiting", self.user_id, ids)
        else:
            said = {row.message_id for row in rows} - {""}
            done = dict.fromkeys(said, 0)
            await self.tables.pending.finish(
                self.user_id, done, time.time(), for_good=True
            )
        # A worker that has them in its hands surely writes no more then.
        if await self.tables.leases.end([turn_lease(self.user_id)]):
            await asyncio.sleep(LEASE_PROOF_SECONDS)

    async def _rows(self) -> Sequence[Any]:
        """What our tables hold of the user, but for notes of what is erased, or is to be."""
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
            entry.kind != "erased_history",
        )
        return await self.tables.database.rows(
            "looking for what is held", entries
        )


def _came_from(row: Any, origin: Origin | None) -> bool:
    """Whether a row was made of what was said there, or anywhere."""
    if origin is None:
        return True
    if row.kind == "done":  # it holds no words
        return False
    if row.kind in ("chat", "chat_notes") and origin.period:
        # Later ones repeat what was said on that day.
        return row.created_at >= origin.period[0]
    # What upkeep does has no message.
    times = [row.created_at] if row.message_id else []
    return origin.holds(row.chat_id, times)


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


class HostSweep:
    """The day's sweep over what nobody can ask for any more, by one worker for all.

    Open WebUI tells no filter of a deleted account, and leaves its memories (0.9.6 to 0.12.4); of a
    deleted chat it tells Event functions and webhooks only (host: events.py, since 0.10).
    """

    def __init__(
        self, tables: HostTables, history: HostHistoryVectors
    ) -> None:
        self._leases = tables.leases
        self._database = tables.database
        self._history = history
        self._look_again_at = 0.0

    def is_due(self, now: float) -> bool:
        """Whether this worker is to look if the day's sweep is to be done."""
        return now >= self._look_again_at

    async def run(self, now: float) -> None:
        """Do the day's sweep unless another worker does or has done it; raises ``HostError``."""
        self._look_again_at = now + _LOOK_SECONDS
        if not await self._leases.acquire(_LEASE, now, DAY_SECONDS):
            return
        for user_id in await self._deleted_accounts():
            try:
                await self.erase(user_id)
            except HostError as error:
                log_failure("a deleted account is swept another day", error)
        is_noted = ENTRIES.c.key.startswith(stale_vectors(""), autoescape=True)
        for note in await self._database.rows(
            "looking for stale vectors",
            select(ENTRIES.c.user_id).where(is_noted),
        ):
            try:
                await self._erase_stale_vectors(note.user_id)
            except HostError as error:
                log_failure(
                    "vectors of deleted memories are swept another day", error
                )
                await note_deletion(note.user_id, self._database)
        chat = exists().where(HOST_CHATS.c.id == ENTRIES.c.chat_id)
        is_note = ENTRIES.c.kind.in_(["chat_notes", "chat"])
        await self._database.change(
            "sweeping",
            delete(ENTRIES).where(ENTRIES.c.expires_at < now),
            delete(ENTRIES).where(is_note, ~chat),
        )

    async def _erase_stale_vectors(self, user_id: str) -> None:
        """Delete a user's vectors without a memory, whose row is written before its vector."""
        vectors = await standing_vectors(memory_collection(user_id))
        rows = select(HOST_MEMORIES.c.id).where(
            HOST_MEMORIES.c.user_id == user_id
        )
        memories = await self._database.rows("reading a user's memories", rows)
        stale = vectors - {memory.id for memory in memories}
        for portion in portions(stale):
            await delete_vectors(user_id, portion)

    async def _deleted_accounts(self) -> list[str]:
        """Users of whom something is kept and whom the host has no more.

        Nobody is one where the host's table of users can't be read or is empty: then it is not that
        all have gone. What belongs to nobody ("") is everybody's.
        """
        kept_of = (select(table.c.user_id) for table in OUR_TABLES)
        holder = union(*kept_of).subquery().c.user_id
        accounts = select(HOST_USERS.c.id)
        deleted = select(holder).where(
            accounts.exists(),
            holder.not_in(accounts),
            holder != "",
        )
        rows = await self._database.rows("looking for deleted users", deleted)
        return [row.user_id for row in rows]

    async def erase(self, user_id: str) -> None:
        """Erase an account's vectors and rows; ours last, as they say what is to be done.

        The command ``erase-user`` calls it. Raises ``HostError``.
        """
        await delete_vectors(user_id)
        await self._history.delete_all(user_id)
        await self._database.change(
            "sweeping",
            *(
                delete(table).where(table.c.user_id == user_id)
                for table in (HOST_MEMORIES, *OUR_TABLES)
            ),
        )
        log.info("what was kept of an account was erased")
