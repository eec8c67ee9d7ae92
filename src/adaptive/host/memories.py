"""The host's memory table as a ``MemoryStore``, through the host's own memory API.

The router functions check the switch and the permission, embed, keep the user's vector collection
in step and fire the host's events (host: routers/memories.py). What they can't write, provenance,
goes into the row's ``meta`` right after, where the release has that column (0.10 and newer).
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from sqlalchemy import func, select

from adaptive.clock import iso_day
from adaptive.errors import HostError, StoreError
from adaptive.host.faults import HostFaults
from adaptive.host.notation import NotedText, read_notation, write_notation
from adaptive.host.permission import require_memories
from adaptive.host.requests import accepted_arguments
from adaptive.host.uninterrupted import uninterrupted
from adaptive.model import Draft, Memory, Provenance, StoreStamp
from adaptive.shapes import listing, mapping

log_memories = logging.getLogger("adaptive_memory.host")

_SOURCE = "adaptive_memory"
_FORMER_CONTENTS_KEPT = 20


@dataclass(frozen=True, slots=True)
class HostMemoryStore:
    """The memories of one user; ``request`` must be isolated from the running turn."""

    request: Request
    user: Any

    @property
    def keeps_history(self) -> bool:
        """Whether the release has a column for meta, as all since 0.10."""
        from open_webui.models.memories import Memory as Row

        return "meta" in Row.__table__.columns

    @uninterrupted
    async def read(self) -> tuple[Memory, ...]:
        """All memories of the user (see ``MemoryStore``).

        As plain columns: the host's own way makes an object and a checked model of each row, which
        takes ten times as long, and it takes a failure for an empty store.
        """
        from open_webui.internal.db import get_async_db_context
        from open_webui.models.memories import Memory as Row

        await require_memories(self.request, self.user)
        query = select(*Row.__table__.columns).where(Row.user_id == self.user.id)
        with HostFaults("reading the memories"):
            async with get_async_db_context() as session:
                rows = (await session.execute(query)).all()
            return tuple(memory_of_row(row) for row in rows)

    @uninterrupted
    async def stamp(self) -> StoreStamp:
        """Count and newest change of the user's rows, in one query over an indexed column."""
        from open_webui.internal.db import get_async_db_context
        from open_webui.models.memories import Memory as Row

        await require_memories(self.request, self.user)
        query = select(func.count(Row.id), func.max(Row.updated_at)).where(
            Row.user_id == self.user.id
        )
        with HostFaults("asking how the memories stand"):
            async with get_async_db_context() as session:
                count, newest = (await session.execute(query)).one()
        return StoreStamp(int(count or 0), int(newest or 0))

    @uninterrupted
    async def changes(self, since: int) -> tuple[tuple[Memory, ...], frozenset[str]]:
        """Rows changed at or after an epoch second, and the ids of all rows."""
        from open_webui.internal.db import get_async_db_context
        from open_webui.models.memories import Memory as Row

        await require_memories(self.request, self.user)
        mine = Row.user_id == self.user.id
        changed = select(*Row.__table__.columns).where(mine, Row.updated_at >= since)
        with HostFaults("reading changed memories"):
            async with get_async_db_context() as session:
                ids = (await session.execute(select(Row.id).where(mine))).scalars().all()
                rows = (await session.execute(changed)).all()
            return tuple(memory_of_row(row) for row in rows), frozenset(ids)

    @uninterrupted
    async def add(
        self, draft: Draft, source: Provenance, extra: Mapping[str, Any] | None = None
    ) -> Memory:
        """Write a new row and find it again: its meta is written into the row that is read back."""
        from open_webui.routers import memories as router

        fields = _fields(router.AddMemoryForm, draft)
        form = router.AddMemoryForm(**fields)
        started = int(time.time())
        written, failure = await _attempt(
            "adding a memory",
            router.add_memory(request=self.request, form_data=form, user=self.user),
        )
        if failure:
            written = await self._stranded(fields["content"], started)
        meta, row = _meta(draft, source, extra or {}), None
        if written is not None:
            row = await self._write_meta(written.id, meta) or await self._row(written.id)
        if row is None or row.content != fields["content"]:
            raise failure or StoreError("Open WebUI reported success, but the memory is not there")
        _warn_of_vectors(failure)
        return memory_of_row(row)

    @uninterrupted
    async def update(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Replace the content of a row, keeping the former one in its meta."""
        kept = _with_history(memory)
        # Before the content: whatever ends the process in between, the former one is kept.
        await self._write_meta(memory.id, kept)
        return await self._rewritten(memory, draft, _meta(draft, source, kept))

    @uninterrupted
    async def complete(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Write a row's own content once more: the host embeds it, and its meta is written."""
        return await self._rewritten(memory, draft, _meta(draft, source, memory.meta))

    async def _rewritten(self, memory: Memory, draft: Draft, meta: dict[str, Any]) -> Memory:
        from open_webui.routers import memories as router

        fields = _fields(router.MemoryUpdateModel, draft)
        _, failure = await _attempt(
            "updating a memory",
            router.update_memory_by_id(
                memory_id=memory.id,
                request=self.request,
                form_data=router.MemoryUpdateModel(**fields),
                user=self.user,
            ),
        )
        row = await self._row(memory.id)
        if row is None or row.content != fields["content"]:
            raise failure or StoreError("Open WebUI reported success, but the old content stands")
        _warn_of_vectors(failure)
        return memory_of_row(await self._write_meta(row.id, meta) or row)

    @uninterrupted
    async def delete(self, memory: Memory) -> None:
        """Remove a row and look that it is gone."""
        from open_webui.routers import memories as router

        arguments = {
            "memory_id": memory.id,
            "request": self.request,
            "user": self.user,
            "db": None,
        }
        _, failure = await _attempt(
            "deleting a memory",
            router.delete_memory_by_id(**accepted_arguments(router.delete_memory_by_id, arguments)),
        )
        # Read as a list: the host's reading of one row takes a failure for an absence.
        if any(row.id == memory.id for row in await self._rows()):
            raise failure or StoreError(
                "Open WebUI reported success, but the memory is still there"
            )
        _warn_of_vectors(failure)

    async def _rows(self) -> list[Any]:
        from open_webui.models.memories import Memories

        await require_memories(self.request, self.user)
        with HostFaults("reading the memories"):
            rows = await Memories.get_memories_by_user_id(self.user.id)
        if rows is None:  # the model layer swallows its errors (host: models/memories.py)
            raise HostError("Open WebUI could not read the memories; its log tells why")
        return list(rows)

    async def _row(self, memory_id: str) -> Any | None:
        from open_webui.models.memories import Memories

        with HostFaults("reading a memory back", StoreError):
            row = await Memories.get_memory_by_id(memory_id)
        return row if row is not None and row.user_id == self.user.id else None

    async def _stranded(self, content: str, since: int) -> Any | None:
        """The row that a failed add has left behind, if it has.

        The host commits a row before it embeds it, so an error does not mean that nothing was
        saved (host: routers/memories.py, add_memory).
        """
        rows = [row for row in await self._rows() if (row.created_at or 0) >= since]
        return next((row for row in rows if row.content == content), None)

    async def _write_meta(self, memory_id: str, meta: dict[str, Any]) -> Any | None:
        """The row with another meta; ``None`` where the release has none, or on a failure."""
        from open_webui.models.memories import Memories

        arguments = {"id": memory_id, "user_id": self.user.id, "content": None, "meta": meta}
        accepted = accepted_arguments(Memories.update_memory_by_id_and_user_id, arguments)
        if "meta" not in accepted:
            return None
        try:
            with HostFaults("writing provenance"):
                return await Memories.update_memory_by_id_and_user_id(**accepted)
        except HostError as error:
            log_memories.warning("a memory was saved without its provenance: %s", error)
            return None


def memory_of_row(row: Any) -> Memory:
    """A row of any release as a memory, its content without notation."""
    noted = read_notation(row.content or "")
    meta: Mapping[str, Any] = getattr(row, "meta", None) or {}
    path = str(getattr(row, "path", None) or "")
    tags = meta.get("tags") if isinstance(meta.get("tags"), list) else noted.tags
    if not tags and getattr(row, "type", None) == "user":
        tags = ("identity",)  # who somebody is, by whatever tool it was written
    return Memory(
        id=row.id,
        content=noted.content,
        created_at=row.created_at or 0,
        updated_at=row.updated_at or 0,
        tags=tuple(str(tag) for tag in tags or ()),
        bank=str(meta.get("bank") or noted.bank or path.partition("/")[0]),
        confidence=_number(meta.get("confidence"), 1.0),
        importance=round(_number(meta.get("importance"), 5)),
        meta=meta,
        until=iso_day(meta.get("until")) or noted.until,
    )


def _number(value: object, default: float) -> float:
    """A number out of a row's meta, which anybody may have written."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return default
    return number if math.isfinite(number) else default


async def _attempt(doing: str, write: Awaitable[Any]) -> tuple[Any, StoreError | None]:
    """What a write returned, or what went wrong; the row itself tells whether it was written."""
    try:
        with HostFaults(doing, StoreError):
            return await write, None
    except StoreError as error:
        return None, error


def _warn_of_vectors(failure: StoreError | None) -> None:
    if failure:
        log_memories.warning("the row was written, the host's own vectors were not: %s", failure)


def _fields(form: Any, draft: Draft) -> dict[str, Any]:
    """The fields of a router's form: columns where the release has them, notation else."""
    if "path" not in form.model_fields:
        noted = NotedText(draft.content, draft.tags, draft.bank, draft.until)
        return {"content": write_notation(noted)}
    core = "identity" in draft.tags
    return {
        "content": draft.content,
        "type": "user" if core else "context",
        "path": memory_path(draft.bank, draft.tags),
    }


def memory_path(bank: str, tags: tuple[str, ...]) -> str:
    """Bank and category as a path the host accepts (host: utils/memory.py, clean_memory_path)."""
    parts = [
        "".join(c for c in part if c.isprintable() and c != "/").strip()
        for part in (bank, *tags[:1])
    ]
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def _meta(draft: Draft, source: Provenance, former: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **former,
        "created_by": _SOURCE,
        "source": _SOURCE,
        "tags": list(draft.tags),
        "bank": draft.bank,
        "confidence": draft.confidence,
        "importance": draft.importance,
        "until": iso_day(draft.until),
        "passed": draft.passed,
        "chat_id": source.chat_id,
        "message_id": source.message_id,
        "said_at": source.said_at,
    }


def _with_history(memory: Memory) -> dict[str, Any]:
    """The row's meta with its present content at the end of its history, once; not an empty one."""
    former = listing(memory.meta.get("history"))
    if not memory.content:
        return dict(memory.meta)
    if former and mapping(former[-1]).get("content") == memory.content:
        return dict(memory.meta)
    entry = {
        "content": memory.content,
        "said_at": memory.meta.get("said_at") or memory.created_at,
        "until": int(time.time()),
    }
    return {**memory.meta, "history": [*former, entry][-_FORMER_CONTENTS_KEPT:]}
