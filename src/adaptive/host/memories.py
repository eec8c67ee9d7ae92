"""The host's memory table as a ``MemoryStore``, as the host's own memory API has it.

Around a write the switch and the permission are asked for, the user's vector collection is kept in
step and the host's events are fired as its router does (host: routers/memories.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import HTTPException, Request
from sqlalchemy import func, select

from adaptive.core.cache import UserCache
from adaptive.core.errors import MemoryUnavailable, StoreError
from adaptive.core.model import Draft, Memory, Provenance, StoreStamp
from adaptive.core.ports import Embedder, NewMemory
from adaptive.host.bulk_writes import (
    VECTORS_AT_ONCE,
    RowEvent,
    delete_rows,
    former_row,
    index_rows,
    new_row,
    publish_rows,
    write_rows,
)
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.host.memory_rows import memory_of_row
from adaptive.host.memory_vectors import (
    drop_collection,
    memory_collection,
    note_deletion,
    sure_of_deletion,
)
from adaptive.host.own_table import host_rows, portions
from adaptive.host.vector_database import HOST_VECTORS
from adaptive.host.vector_upkeep import VECTOR_UPKEEP

_STILL_THERE = "Open WebUI reported success, but the memory is still there"
# So many rows become memories in a few milliseconds.
_READ_AT_ONCE = 500
# What the host answers when the switch is off, and when the permission is missing.
_REFUSALS = {
    404: "memories are switched off in this Open WebUI; an administrator can switch them on",
    403: "you lack the permission to use memories; an administrator can grant it",
}
# By user, the status of the host's refusal, 0 for none; asking costs two queries.
_PERMISSIONS = UserCache[int](5000, seconds=20.0)


@dataclass(frozen=True, slots=True)
class HostMemoryStore:
    """The memories of one user; ``request`` must be isolated from the running turn.

    ``embedder`` may have vectors of what is written.
    """

    request: Request
    user: Any
    embedder: Embedder | None = None

    @property
    def keeps_history(self) -> bool:
        """Whether the release has a column for meta, as all since 0.10."""
        return "meta" in _table().columns

    @uninterrupted
    async def read(self, ids: Collection[str] | None = None) -> tuple[Memory, ...]:
        """The user's memories of these ids, or all."""
        if ids is None:
            rows = await self._rows()
        else:
            these = _table().columns.id
            rows = [row for some in portions(ids) for row in await self._rows(these.in_(some))]
        if len(rows) <= _READ_AT_ONCE:
            return tuple(map(memory_of_row, rows))
        # In a thread: thousands of rows take longer than others may wait.
        return await asyncio.to_thread(lambda: tuple(map(memory_of_row, rows)))

    @uninterrupted
    async def stamp(self) -> StoreStamp:
        """Count and newest change of the user's rows, in one query over an indexed column."""
        columns = _table().columns
        figures = select(func.count(columns.id), func.max(columns.updated_at))
        [(count, newest)] = await self._found(figures)
        return StoreStamp(int(count or 0), int(newest or 0))

    @uninterrupted
    async def changes(self, since: int) -> tuple[tuple[Memory, ...], frozenset[str]]:
        """Rows changed at or after an epoch second, and the ids of all rows."""
        columns = _table().columns
        ids = await self._found(select(columns.id))
        rows = await self._rows(columns.updated_at >= since)
        return tuple(map(memory_of_row, rows)), frozenset(one.id for one in ids)

    @uninterrupted
    async def add(
        self, draft: Draft, source: Provenance, extra: Mapping[str, Any] | None = None
    ) -> Memory:
        """Write a new row and find it again."""
        return (await self.add_all([(draft, source, extra)]))[0]

    @uninterrupted
    async def update(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Replace the content of a row, keeping the former one in its meta."""
        row = new_row(self.user.id, (draft, source, None), memory)
        return (await self._write("updating a memory", [row], "MEMORY_UPDATED"))[0]

    @uninterrupted
    async def add_all(self, memories: Sequence[NewMemory]) -> list[Memory]:
        """Write many new rows, all or none."""
        rows = [new_row(self.user.id, one) for one in memories]
        return await self._write("adding memories", rows, "MEMORY_CREATED")

    @uninterrupted
    async def put_back(self, *memories: Memory) -> list[Memory]:
        """Write rows as they stood, in place of what stands there, all or none of either kind."""
        standing = {one.id for one in await self.read([memory.id for memory in memories])}
        written: dict[str, Memory] = {}
        events: tuple[tuple[RowEvent, bool], ...] = (
            ("MEMORY_UPDATED", True),
            ("MEMORY_CREATED", False),
        )
        for event, stands in events:
            these = [one for one in memories if (one.id in standing) == stands]
            if these:
                rows = [former_row(self.user.id, one) for one in these]
                back = await self._write("putting memories back", rows, event)
                written.update({one.id: one for one in back})
        return [written[one.id] for one in memories]

    @uninterrupted
    async def delete(self, *memories: Memory) -> None:
        """Remove rows, all or none, and look that they are gone; their vectors may go later."""
        await _require_memories(self.request, self.user)
        ids = [memory.id for memory in memories]
        deleting = delete_rows(_table(), self.user.id, ids)
        failure = await _attempt("deleting memories", deleting)
        if await self._rows(_table().columns.id.in_(ids)):
            raise failure or StoreError(_STILL_THERE)
        await VECTOR_UPKEEP.written(self.user.id, ids, self._bring_in_step)
        await sure_of_deletion(self.user.id, memories)
        await publish_rows(self.request, self.user, memories, "MEMORY_DELETED")

    @uninterrupted
    async def delete_all(self) -> None:
        """Remove all rows, and all vectors, those without a row included.

        Raises:
            StoreError: some still stand, or nobody can tell.
        """
        if (await self.stamp()).count:
            failure = await _attempt("erasing the memories", delete_rows(_table(), self.user.id))
            if (await self.stamp()).count:
                raise failure or StoreError(_STILL_THERE)
            await publish_rows(self.request, self.user, [self.user], "MEMORY_DELETED")
        VECTOR_UPKEEP.forget(self.user.id)
        await note_deletion(self.user.id)
        await drop_collection(memory_collection(self.user.id))

    async def _rows(self, *conditions: Any) -> Sequence[Any]:
        """The user's rows, as plain columns.

        The host's own way makes an object and a checked model of each row, which takes ten times as
        long, and it takes a failure for an absence (host: models/memories.py).
        """
        return await self._found(select(*_table().columns).where(*conditions))

    async def _found(self, query: Any) -> Sequence[Any]:
        """What a query over the user's rows finds."""
        await _require_memories(self.request, self.user)
        mine = query.where(_table().columns.user_id == self.user.id)
        return await host_rows("reading the memories", mine)

    async def _write(
        self, doing: str, rows: Sequence[dict[str, Any]], event: RowEvent
    ) -> list[Memory]:
        """Write rows by one transaction, and find each again; their vectors may come later."""
        await _require_memories(self.request, self.user)
        failure = await _attempt(doing, write_rows(_table(), rows, event))
        these = _table().columns.id.in_([row["id"] for row in rows])
        found = {row.id: row for row in await self._rows(these)}
        written = [found.get(row["id"]) for row in rows]
        if any(
            one is None or one.content != row["content"] or one.updated_at < row["updated_at"]
            for one, row in zip(written, rows, strict=True)
        ):
            raise failure or StoreError("Open WebUI reported success, but not all is there")
        await VECTOR_UPKEEP.written(self.user.id, [*found], self._bring_in_step)
        await publish_rows(self.request, self.user, written, event)
        return list(map(memory_of_row, written))

    async def _bring_in_step(self, row_ids: Collection[str]) -> None:
        """Have the user's collection say what rows say, and nothing of rows that are gone."""
        these = _table().columns.id.in_(row_ids)
        with HostFaults("bringing Open WebUI's vectors in step"):
            if standing := await self._rows(these):
                await index_rows(self.request, self.user, standing, self.embedder)
                # A memory may have been erased while its vector was made.
                standing = await self._rows(these)
            gone = sorted({*row_ids} - {row.id for row in standing})
            for begin in range(0, len(gone), VECTORS_AT_ONCE):
                some = gone[begin : begin + VECTORS_AT_ONCE]
                await HOST_VECTORS.call("delete", memory_collection(self.user.id), ids=some)


def _table() -> Any:
    from open_webui.models.memories import Memory as Row

    return Row.__table__


async def _attempt(doing: str, write: Awaitable[Any]) -> StoreError | None:
    """What went wrong with a write; the row itself tells whether it was written."""
    try:
        with HostFaults(doing, StoreError):
            await write
    except StoreError as error:
        return error
    return None


async def _require_memories(request: Request, user: Any) -> None:
    """Pass if the user may have memories, else raise ``MemoryUnavailable``, whose text says why."""
    if (status := _PERMISSIONS.get((user.id,))) is None:
        with HostFaults("asking for the memory permission"):
            status = await _refusal_status(request, user)
        _PERMISSIONS.put((user.id,), status)
    if status:
        raise MemoryUnavailable(_REFUSALS[status])


async def _refusal_status(request: Request, user: Any) -> int:
    """The HTTP status of the host's refusal, 0 where it does not refuse."""
    try:
        from open_webui.routers.memories import check_memories_permission
    except ImportError:  # up to 0.9 the check stands in each router function, for admins too
        from open_webui.utils.access_control import has_permission

        config = request.app.state.config
        if not config.ENABLE_MEMORIES:
            return 404
        allowed = await has_permission(user.id, "features.memories", config.USER_PERMISSIONS)
        return 0 if allowed else 403
    try:
        await check_memories_permission(user)
    except HTTPException as error:
        if error.status_code not in _REFUSALS:
            raise
        return error.status_code
    return 0
