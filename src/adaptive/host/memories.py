"""The host's memory table as a ``MemoryStore``, as the host's own memory API has it.

Around a write the switch and the permission are asked for, and the user's vector collection is kept
in step, as its router does (host: routers/memories.py).
"""

import asyncio
import time
from collections.abc import Collection, Sequence
from typing import Any

from fastapi import Request
from sqlalchemy import (
    ColumnElement,
    Executable,
    delete,
    func,
    select,
)

from adaptive.core import (
    CHANGED_MEANWHILE,
    JsonMapping,
    Memory,
    MemoryUnavailable,
    NewMemory,
    StoreError,
    StoreStamp,
    UserCache,
    frozen,
)
from adaptive.host.application import recent_setting
from adaptive.host.database import (
    HOST_DATABASE,
    OUR_DATABASE,
    HostDatabase,
)
from adaptive.host.faults import HostFaults, faults_logged, uninterrupted
from adaptive.host.memory_rows import (
    former_row,
    memories_of_rows,
    new_row,
)
from adaptive.host.memory_vectors import (
    VECTOR_UPKEEP,
    delete_vectors,
    index_rows,
)
from adaptive.host.tables import HostLeases
from adaptive.memory import DAY_SECONDS

# Over two sweeps: a change by hand whose vector is still being made brings it back behind one.
_NOTE_SECONDS = 2.0 * DAY_SECONDS
_NOT_DONE = "Open WebUI reported success, but not all is as it was written"
_OFF = "they are switched off"
_FORBIDDEN = "the permission is lacking"
# By user, why the host refuses memories, empty where it does not; asking costs a query.
_REFUSALS = UserCache[str](5000, seconds=20.0)


@frozen
class HostMemoryStore:
    """The memories of one user; ``request`` must be isolated from the running turn.

    Rows are read and written by statements of our own: the host's functions check a model for each
    row, which takes ten times as long, take a failure for an absence, and write no provenance
    (host: models/memories.py, routers/memories.py).
    """

    request: Request
    user: Any

    @property
    def keeps_history(self) -> bool:
        """Whether the release has a column for meta, as all since 0.10."""
        return "meta" in _columns()

    async def read(
        self, ids: Collection[str] | None = None
    ) -> tuple[Memory, ...]:
        """The user's memories of these ids, or all."""
        rows = await (
            self._rows() if ids is None else self._rows(_columns().id.in_(ids))
        )
        # In a thread: thousands of rows take longer than others may wait.
        return await asyncio.to_thread(memories_of_rows, rows)

    async def stamp(self) -> StoreStamp:
        """Count and dates of the user's rows, in one query."""
        columns = _columns()
        date = columns.updated_at
        figures = select(
            func.count(columns.id), func.max(date), func.sum(date)
        )
        [(count, newest, total)] = await self._select(figures)
        return StoreStamp(
            count=count,
            newest=newest or 0,
            total=int(total or 0),
        )

    async def dates(self) -> dict[str, int]:
        """The epoch second of the last change of each row (see ``MemoryStore``)."""
        columns = _columns()
        rows = await self._select(select(columns.id, columns.updated_at))
        return {row.id: row.updated_at or 0 for row in rows}

    @uninterrupted
    async def write(
        self,
        *new: NewMemory,
        back: Sequence[Memory] = (),
        gone: Sequence[Memory] = (),
    ) -> list[Memory]:
        """Write, put back and remove rows by one transaction, and look that it is so.

        Their vectors may come, and go, later.
        """
        await _require_memories(self.request, self.user)
        table = _table()
        formers = [memory.former.id for memory in new if memory.former]
        if formers and len(await self.read(formers)) < len(formers):
            raise StoreError(CHANGED_MEANWHILE)
        rows = [new_row(self.user.id, memory, table.c) for memory in new]
        rows += [former_row(self.user.id, memory) for memory in back]
        gone_ids = [memory.id for memory in gone]
        deleting: list[Executable] = []
        if gone:
            # Before: the process may end while their vectors stand.
            await note_deletion(self.user.id)
            deleting.append(self._deletion(table.c.id.in_(gone_ids)))
        await HOST_DATABASE.upsert(
            "writing memories",
            table,
            [
                {name: row[name] for name in row if name in table.c}
                for row in rows
            ],
            *deleting,
            where=table.c.user_id == self.user.id,
        )
        ids = [row["id"] for row in rows]
        touched = [*ids, *gone_ids]
        these = await self._rows(_columns().id.in_(touched))
        found = {row.id: row for row in these}
        is_written = all(
            _is_written(row, found.get(row["id"])) for row in rows
        )
        if not is_written or not found.keys().isdisjoint(gone_ids):
            raise StoreError(detail=_NOT_DONE)
        await VECTOR_UPKEEP.written(self.user.id, touched, self._bring_in_step)
        written = [found[row_id] for row_id in ids]
        return [*memories_of_rows(written)]

    @uninterrupted
    async def delete_all(self) -> None:
        """Remove all rows, and all vectors, those without a row included.

        Raises:
            StoreError: some still stand, or nobody can tell.
        """
        await _require_memories(self.request, self.user)
        await note_deletion(self.user.id)
        await HOST_DATABASE.change("erasing the memories", self._deletion())
        if (await self.stamp()).count:
            raise StoreError(detail=_NOT_DONE)
        await delete_vectors(self.user.id)

    async def _rows(self, *conditions: ColumnElement[bool]) -> Sequence[Any]:
        """The user's rows, as plain columns."""
        return await self._select(select(*_columns()).where(*conditions))

    @uninterrupted
    async def _select(self, query: Any) -> Sequence[Any]:
        """What a query over the user's rows finds."""
        await _require_memories(self.request, self.user)
        mine = query.where(_columns().user_id == self.user.id)
        return await HOST_DATABASE.rows("reading the memories", mine)

    def _deletion(self, *conditions: ColumnElement[bool]) -> Executable:
        """The statement that deletes the user's rows that meet the conditions."""
        mine = _columns().user_id == self.user.id
        return delete(_table()).where(mine, *conditions)

    async def _bring_in_step(self, row_ids: Collection[str]) -> None:
        """Have the user's collection say what rows say, and nothing of rows that are gone."""
        these = _columns().id.in_(row_ids)
        with HostFaults("bringing Open WebUI's vectors in step"):
            standing = await self._rows(these)
            try:
                if standing:
                    await index_rows(self.request, self.user, standing)
                    # A memory may have been erased while its vector was made.
                    standing = await self._rows(these)
            finally:
                # Whatever keeps vectors from being made keeps none that has to go.
                gone = {*row_ids} - {row.id for row in standing}
                if gone:
                    await delete_vectors(self.user.id, gone)


async def note_deletion(
    user_id: str, database: HostDatabase = OUR_DATABASE
) -> None:
    """Have the day's sweep look for vectors of a user's deleted memories."""
    with faults_logged("noting a deletion"):
        await HostLeases(database).acquire(
            stale_vectors(user_id), time.time(), _NOTE_SECONDS
        )


def stale_vectors(user_id: str) -> str:
    """The lease that notes whose collection may hold vectors of deleted memories."""
    return f"stale_vectors:{user_id}"


def _table() -> Any:
    from open_webui.models.memories import Memory as Row

    return Row.__table__


def _columns() -> Any:
    """The columns of the host's table, which differ by release."""
    return _table().columns


def _is_written(wanted: JsonMapping, row: Any) -> bool:
    """Whether a row says what it was to say; ``None`` says nothing."""
    if row is None:
        return False
    return (
        row.content == wanted["content"]
        and row.updated_at >= wanted["updated_at"]
    )


async def _require_memories(request: Request, user: Any) -> None:
    """Pass if the user may have memories, else raise ``MemoryUnavailable``, whose detail says why."""
    refusal = _REFUSALS.get((user.id,))
    if refusal is None:
        with HostFaults("asking for the memory permission"):
            refusal = await _refusal(request, user)
        _REFUSALS.put((user.id,), refusal)
    if refusal:
        raise MemoryUnavailable(detail=refusal)


async def _refusal(request: Request, user: Any) -> str:
    """Why the host refuses memories, empty where it does not.

    So its routers have it, which up to 0.9 refuse admins, too (host: routers/memories.py).
    """
    from open_webui.utils.access_control import has_permission

    if not await recent_setting(request, "memories"):
        return _OFF
    if user.role == "admin" and "meta" in _columns():
        return ""
    permissions = await recent_setting(request, "permissions")
    allowed = await has_permission(user.id, "features.memories", permissions)
    return "" if allowed else _FORBIDDEN
