"""Memories as they stand in the database now, of which only what changed is read.

A row is known by its id and the second that its change is dated. Dates are compared with nothing
but themselves, since the clocks of those who write need not agree.
"""

from collections.abc import Collection, Sequence

from adaptive.core.model import Memory, MemoryStore
from adaptive.core.runtime import PER_STATEMENT
from adaptive.search.index import MemoryIndex

# Dates count seconds (host: models/memories.py): a row may change again within that of its change.
_DATE_SECONDS = 2


async def read_anew(
    store: MemoryStore,
    known: Sequence[Memory],
    doubtful: Collection[str] = (),
) -> tuple[Memory, ...]:
    """All memories; those that are known, and not ``doubtful``, are read where their date differs."""
    if not known:
        return await store.read()
    dates = await store.dates()
    standing = {memory.id: memory for memory in known if memory.id in dates}
    changed = {
        memory_id
        for memory_id, date in dates.items()
        if memory_id not in standing
        or memory_id in doubtful
        or standing[memory_id].updated_at != date
    }
    if len(changed) > PER_STATEMENT:
        return await store.read()
    if changed:
        read = {memory.id: memory for memory in await store.read(changed)}
        for memory_id in changed - read.keys():
            standing.pop(memory_id, None)  # it was deleted in between
        standing.update(read)
    return tuple(standing.values())


def doubtful_rows(
    memories: Sequence[Memory], read_at: float, former: MemoryIndex | None
) -> frozenset[str]:
    """Rows that may have changed once more since, with the same date: they are read again.

    Such are those of a date that is new to us, until they were read two seconds later; of a store
    that was not known, those whose date is not over yet.
    """
    if former is None:
        since = int(read_at) - _DATE_SECONDS
        return frozenset(
            memory.id for memory in memories if memory.updated_at >= since
        )
    dates = {memory.id: memory.updated_at for memory in former.memories}
    is_soon = read_at - former.read_at < _DATE_SECONDS
    return frozenset(
        memory.id
        for memory in memories
        if dates.get(memory.id) != memory.updated_at
        or (is_soon and memory.id in former.doubtful)
    )
