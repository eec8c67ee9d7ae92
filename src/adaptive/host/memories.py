"""The host's memory table as a ``MemoryStore``, as the host's own memory API has it.

Around a write the switch and the permission are asked for, the user's vector collection is kept in
step and the host's events are fired as its router does (host: routers/memories.py).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import HTTPException, Request
from sqlalchemy import func, select

from adaptive.core.cache import UserCache
from adaptive.core.errors import EmbeddingError, MemoryUnavailable, StoreError, with_detail
from adaptive.core.model import Draft, Memory, Provenance, StoreStamp
from adaptive.core.ports import Embedder, NewMemory
from adaptive.host.bulk_writes import RowEvent, former_row, index_rows, new_row, write_rows
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.host.memory_rows import memory_of_row
from adaptive.host.memory_vectors import (
    drop_collection,
    memory_collection,
    note_stale_vectors,
    sure_of_deletion,
)
from adaptive.host.own_table import host_rows

log_memories = logging.getLogger("adaptive_memory.host")

_STILL_THERE = "Open WebUI reported success, but the memory is still there"
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
    async def read(self) -> tuple[Memory, ...]:
        """All memories of the user."""
        return tuple(map(memory_of_row, await self._rows()))

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
    async def put_back(self, memory: Memory) -> Memory:
        """Write a row as it stood, in place of what stands there."""
        stands = await self._rows(_table().columns.id == memory.id)
        event: RowEvent = "MEMORY_UPDATED" if stands else "MEMORY_CREATED"
        row = former_row(self.user.id, memory)
        return (await self._write("putting a memory back", [row], event))[0]

    @uninterrupted
    async def delete(self, memory: Memory) -> None:
        """Remove a row and look that it is gone, and so is its vector."""
        from open_webui.routers import memories as router

        deleting = router.delete_memory_by_id(memory.id, self.request, self.user, None)
        failure = await _attempt("deleting a memory", deleting)
        if await self._rows(_table().columns.id == memory.id):
            raise failure or StoreError(_STILL_THERE)
        await sure_of_deletion(self.user.id, memory)

    @uninterrupted
    async def delete_all(self) -> None:
        """Remove all rows, and all vectors, those without a row included.

        The host deletes the collection with the rows, and hides a failure, so it is looked.
        """
        from open_webui.routers import memories as router

        if await self.read():
            with HostFaults("erasing the memories", StoreError):
                await router.delete_memory_by_user_id(self.request, self.user, None)
            if await self.read():
                raise StoreError(_STILL_THERE)
        try:
            await drop_collection(memory_collection(self.user.id))
        except StoreError as error:
            await note_stale_vectors(self.user.id, with_detail(error))
            raise

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
        """Write rows by one transaction, and find each again; their vectors may fail."""
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
        indexing = index_rows(self.request, self.user, written, event, self.embedder)
        _warn_of_vectors(await _attempt("indexing memories", indexing))
        return list(map(memory_of_row, written))


def _table() -> Any:
    from open_webui.models.memories import Memory as Row

    return Row.__table__


async def _attempt(doing: str, write: Awaitable[Any]) -> StoreError | EmbeddingError | None:
    """What went wrong with a write; the row itself tells whether it was written."""
    try:
        with HostFaults(doing, StoreError):
            await write
    except (StoreError, EmbeddingError) as error:
        return error
    return None


def _warn_of_vectors(failure: Exception | None) -> None:
    if failure:
        log_memories.warning(
            "the row was written, the host's own vectors were not: %s", with_detail(failure)
        )


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
