"""Taking memories out of the store without losing them, and bringing them back.

A row is deleted only after its archived copy was read back, and only if it still is what was
archived. So whatever fails in between, every memory is in the store, in the archive, or in both.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.errors import HostError, MemoryUnavailable, TablesUnavailable
from adaptive.learn.audit import AuditTrail
from adaptive.model import Draft, Memory, Provenance
from adaptive.ports import MemoryStore
from adaptive.search.tokens import comparable
from adaptive.table_ports import ArchivedMemory, ArchiveTable, AuditEntry, UsageTable

log_archive = logging.getLogger("adaptive_memory.learn")


@dataclass(frozen=True, slots=True)
class UserStore:
    """One user's store, and the tables that stand behind it."""

    user_id: str
    store: MemoryStore
    archive: ArchiveTable
    usage: UsageTable
    trail: AuditTrail


async def put_into_archive(room: UserStore, archived: Sequence[ArchivedMemory]) -> None:
    """Archive memories and read them back.

    Raises:
        TablesUnavailable: not every one of them stands in the archive as it was put there.
    """
    await room.archive.put(room.user_id, archived)
    found = await room.archive.find(room.user_id, [one.memory.id for one in archived])
    if any(found.get(one.memory.id) != one for one in archived):
        raise TablesUnavailable("the archive does not hold what was written into it")


async def remove_archived(room: UserStore, memories: Sequence[Memory]) -> list[Memory]:
    """Delete rows whose archived copies were read back, unless they were changed since.

    Those that left the store are returned; why another stayed is logged.

    Raises:
        HostError: the store could not be read; nothing was deleted.
    """
    rows = {row.id: row for row in await room.store.read()}
    removed: list[Memory] = []
    for memory in memories:
        if rows.get(memory.id) != memory:
            log_archive.info("an archived memory was changed meanwhile, or is gone")
            continue
        try:
            await room.store.delete(memory)
        except MemoryUnavailable as refusal:
            log_archive.warning("archived memories stay in the store: %s", refusal)
            break
        except HostError as error:
            log_archive.warning("an archived memory stays in the store: %s", error)
            continue
        removed.append(memory)
    return removed


async def restore_memory(room: UserStore, memory_id: str, now: int) -> Memory | None:
    """Write an archived memory back, with where and when it was said; ``None`` if there is none.

    What the store holds already, because a former try broke off, is not written again. The row has
    a new id; meta names the former one in ``restored_from``.

    Raises:
        TablesUnavailable: the archive can't be read.
        HostError: the row does not stand in the store; the archive keeps it.
    """
    archived = await room.archive.restore(room.user_id, memory_id)
    if archived is None:
        return None
    memory, words = archived.memory, comparable(archived.memory.content)
    for row in await room.store.read():
        if memory.id in (row.id, row.meta.get("restored_from")) or comparable(row.content) == words:
            break
    else:
        labels = (memory.confidence, memory.importance, memory.until)
        draft = Draft(memory.content, memory.tags, memory.bank, *labels)
        chat_id, message_id = (str(memory.meta.get(one) or "") for one in ("chat_id", "message_id"))
        source = Provenance(chat_id, message_id, said_at_of(memory))
        extra = {**memory.meta, "restored_from": memory.id, "first_created_at": memory.created_at}
        row = await room.store.add(draft, source, extra)
    try:
        await room.archive.discard(room.user_id, [memory.id])
    except TablesUnavailable as error:
        log_archive.warning("a restored memory is still in the archive: %s", error)
    entry = AuditEntry("restored", row.id, now, after=row.content, reason=f"it was {memory.id}")
    await room.trail.record(room.user_id, [entry], now)
    return row


def said_at_of(memory: Memory) -> int:
    """When a memory was said, in epoch seconds, else when it was made."""
    said = memory.meta.get("said_at")
    return said if isinstance(said, int) and said > 0 else memory.created_at
