"""The day's sweep over what nobody can ask for any more, by one worker for all."""

from sqlalchemy import Executable, delete, exists, select, union

from adaptive.core.model import (
    HostError,
    log,
    log_failure,
)
from adaptive.core.runtime import portions
from adaptive.host.database import (
    ENTRIES,
    HOST_CHATS,
    HOST_MEMORIES,
    HOST_USERS,
    OUR_TABLES,
)
from adaptive.host.memories import STALE_VECTORS, note_deletion, stale_vectors
from adaptive.host.memory_vectors import (
    delete_vectors,
    memory_collection,
    standing_vectors,
)
from adaptive.host.tables import HostTables
from adaptive.host.vector_database import HostHistoryVectors
from adaptive.memory.tables import DAY_SECONDS

_LOOK_SECONDS = 3600.0
_LEASE = "daily_sweep:"


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
                await self._erase(user_id)
            except HostError as error:
                log_failure("a deleted account is swept another day", error)
        # As former builds noted it, without an end.
        is_former = ENTRIES.c.kind == STALE_VECTORS
        is_noted = ENTRIES.c.key.startswith(stale_vectors(""), autoescape=True)
        users = select(ENTRIES.c.user_id).where(is_former | is_noted)
        for note in await self._database.rows(
            "looking for stale vectors", users
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
        await self._change(
            delete(ENTRIES).where(is_former | (ENTRIES.c.expires_at < now)),
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

    async def _erase(self, user_id: str) -> None:
        """Erase a deleted account's vectors and rows; ours last, as they say what is to be done."""
        await delete_vectors(user_id)
        await self._history.delete_all(user_id)
        await self._change(
            *(
                delete(table).where(table.c.user_id == user_id)
                for table in (HOST_MEMORIES, *OUR_TABLES)
            )
        )
        log.info("what was left of a deleted account was erased")

    async def _change(self, *statements: Executable) -> None:
        await self._database.change("sweeping", *statements)
