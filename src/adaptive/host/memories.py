"""The host's memory table as a ``MemoryStore``, as the host's own memory API has it.

Around a write the switch and the permission are asked for, the user's vector collection is kept in
step and the host's events are fired, as its router does (host: routers/memories.py).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from fastapi import HTTPException, Request
from sqlalchemy import (
    ColumnElement,
    Executable,
    delete,
    func,
    insert,
    select,
    update,
)

from adaptive.core.model import (
    Memory,
    MemoryUnavailable,
    NewMemory,
    StoreError,
    StoreStamp,
    frozen,
)
from adaptive.core.runtime import UserCache
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
from adaptive.host.schema import ENTRIES

# The kind of the note on a user whose collection may hold vectors of deleted memories.
STALE_VECTORS = "stale_vectors"
_NOT_DONE = "Open WebUI reported success, but not all is as it was written"
# What the host answers when the switch is off, and when the permission is missing.
_REFUSALS = {
    404: "memories are switched off in this Open WebUI; an administrator can switch them on",
    403: "you lack the permission to use memories; an administrator can grant it",
}
# By user, the status of the host's refusal, 0 for none; asking costs two queries.
_PERMISSIONS = UserCache[int](5000, seconds=20.0)

RowEvent = Literal["MEMORY_CREATED", "MEMORY_UPDATED", "MEMORY_DELETED"]


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
        """Count and newest change of the user's rows, in one query over an indexed column."""
        columns = _columns()
        figures = select(func.count(columns.id), func.max(columns.updated_at))
        [(count, newest)] = await self._select(figures)
        return StoreStamp(count=count, newest=newest or 0)

    async def changes(
        self, since: int
    ) -> tuple[tuple[Memory, ...], frozenset[str]]:
        """Rows changed at or after an epoch second, and the ids of all rows."""
        columns = _columns()
        ids = await self._select(select(columns.id))
        changed = await self._rows(columns.updated_at >= since)
        return memories_of_rows(changed), frozenset(row.id for row in ids)

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
        rows = [new_row(self.user.id, memory, _columns()) for memory in new]
        replaced = {memory.former.id for memory in new if memory.former}
        if back:
            rows += [former_row(self.user.id, memory) for memory in back]
            standing = await self.read([memory.id for memory in back])
            replaced.update(memory.id for memory in standing)
        gone_ids = [memory.id for memory in gone]
        deleting: list[Executable] = []
        if gone:
            # Before: the process may end while their vectors stand.
            await note_deletion(self.user.id)
            deleting.append(self._deletion(_columns().id.in_(gone_ids)))
        await HOST_DATABASE.change(
            "writing memories", *_writes(rows, replaced), *deleting
        )
        ids = [row["id"] for row in rows]
        touched = [*ids, *gone_ids]
        these = await self._rows(_columns().id.in_(touched))
        found = {row.id: row for row in these}
        is_written = all(
            _is_written(row, found.get(row["id"])) for row in rows
        )
        if not is_written or not found.keys().isdisjoint(gone_ids):
            raise StoreError(_NOT_DONE)
        await VECTOR_UPKEEP.written(self.user.id, touched, self._bring_in_step)
        written = [found[row_id] for row_id in ids]
        updated = [row for row in written if row.id in replaced]
        created = [row for row in written if row.id not in replaced]
        await self._publish("MEMORY_CREATED", created)
        await self._publish("MEMORY_UPDATED", updated)
        await self._publish("MEMORY_DELETED", gone)
        return [*memories_of_rows(written)]

    @uninterrupted
    async def delete_all(self) -> None:
        """Remove all rows, and all vectors, those without a row included.

        Raises:
            StoreError: some still stand, or nobody can tell.
        """
        await _require_memories(self.request, self.user)
        await note_deletion(self.user.id)
        deleted = await HOST_DATABASE.change(
            "erasing the memories", self._deletion()
        )
        if (await self.stamp()).count:
            raise StoreError(_NOT_DONE)
        if deleted:
            # The router names the user where all go.
            await self._publish("MEMORY_DELETED", [self.user])
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
            if standing:
                await index_rows(self.request, self.user, standing)
                # A memory may have been erased while its vector was made.
                standing = await self._rows(these)
            gone = {*row_ids} - {row.id for row in standing}
            if gone:
                await delete_vectors(self.user.id, gone)

    async def _publish(self, event: RowEvent, rows: Sequence[Any]) -> None:
        """Tell the host's listeners of rows, as its router does; of deleted ones the id alone."""
        try:
            from open_webui.events import (
                EVENTS,
                get_event_webhooks,
                publish_event,
            )
            from open_webui.models.functions import Functions
        except ImportError:  # 0.9
            return
        # What is written stands, whatever a listener does.
        with faults_logged("telling listeners of changed memories"):
            # For each event the host looks for listeners anew, on a connection of its own.
            functions = await Functions.get_functions_by_type(
                "event", active_only=True
            )
            if not functions and not await get_event_webhooks():
                return
            for row in rows:
                told: dict[str, Any] = {}
                if event != "MEMORY_DELETED":
                    told["data"] = {
                        "content_preview": row.content[:300],
                        "type": row.type,
                        "path": row.path,
                    }
                await publish_event(
                    self.request,
                    getattr(EVENTS, event),
                    actor=self.user,
                    subject_id=row.id,
                    **told,
                )


async def note_deletion(
    user_id: str, database: HostDatabase = OUR_DATABASE
) -> None:
    """Have the day's sweep look for vectors of a user's deleted memories."""
    note = {
        "user_id": user_id,
        "kind": STALE_VECTORS,
        "key": "memories",
        "chat_id": "",
        "message_id": "",
        "created_at": int(time.time()),
        "expires_at": None,
        "body": "noted",
    }
    with faults_logged("noting a deletion"):
        await database.upsert("noting a deletion", ENTRIES, [note])


def _table() -> Any:
    from open_webui.models.memories import Memory as Row

    return Row.__table__


def _columns() -> Any:
    """The columns of the host's table, which differ by release."""
    return _table().columns


def _writes(
    rows: Sequence[Mapping[str, Any]], replaced: Collection[str]
) -> list[Executable]:
    """Statements that add rows or change those ``replaced``, as far as there are columns for them.

    A row that somebody has deleted meanwhile does not come back by a change.
    """
    table = _table()
    new: list[dict[str, Any]] = []
    writes: list[Executable] = []
    for row in rows:
        fields = {
            name: value for name, value in row.items() if name in table.c
        }
        if row["id"] in replaced:
            own = (table.c.id == row["id"]) & (
                table.c.user_id == row["user_id"]
            )
            writes.append(update(table).where(own).values(fields))
        else:
            new.append(fields)
    return [*writes, insert(table).values(new)] if new else writes


def _is_written(wanted: Mapping[str, Any], row: Any) -> bool:
    """Whether a row says what it was to say; ``None`` says nothing."""
    if row is None:
        return False
    return (
        row.content == wanted["content"]
        and row.updated_at >= wanted["updated_at"]
    )


async def _require_memories(request: Request, user: Any) -> None:
    """Pass if the user may have memories, else raise ``MemoryUnavailable``, whose text says why."""
    status = _PERMISSIONS.get((user.id,))
    if status is None:
        with HostFaults("asking for the memory permission"):
            status = await _refusal_status(request, user)
        _PERMISSIONS.put((user.id,), status)
    if status:
        raise MemoryUnavailable(_REFUSALS[status])


async def _refusal_status(request: Request, user: Any) -> int:
    """The HTTP status of the host's refusal, 0 where it does not refuse."""
    try:
        from open_webui.routers.memories import check_memories_permission
    except (
        ImportError
    ):  # up to 0.9 the check stands in each router function, for admins too
        from open_webui.utils.access_control import has_permission

        config = request.app.state.config
        if not config.ENABLE_MEMORIES:
            return 404
        allowed = await has_permission(
            user.id, "features.memories", config.USER_PERMISSIONS
        )
        return 0 if allowed else 403
    try:
        await check_memories_permission(user)
    except HTTPException as error:
        if error.status_code not in _REFUSALS:
            raise
        return error.status_code
    return 0
