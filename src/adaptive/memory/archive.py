"""The archive: memories that were taken out of the store, whole, and their way back.

A row is deleted only after its archived copy was read back, and only if it still is what was
archived. So whatever fails in between, every memory is in the store, in the archive, or in both.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence, Set
from contextlib import suppress
from datetime import UTC, datetime

from adaptive.core.model import (
    HostError,
    Memory,
    MemoryUnavailable,
    Proposal,
    Provenance,
    TablesUnavailable,
    has_ended,
    is_core,
    with_detail,
)
from adaptive.memory.audit import AuditEntry
from adaptive.memory.erasure import made_of
from adaptive.memory.gate import draft_of
from adaptive.memory.tables import ArchivedMemory
from adaptive.memory.user_store import UserStore
from adaptive.search.tokens import comparable
from adaptive.settings.merged import Settings

log_archive = logging.getLogger("adaptive_memory.memory")

_PRUNED_PER_TURN = 25  # the host reads the whole store for each row it deletes


async def put_into_archive(
    user: UserStore, archived: Sequence[ArchivedMemory]
) -> None:
    """Archive memories and read them back."""
    await user.archive.put(user.user_id, archived)
    stored = await user.archive.read(
        user.user_id, [one.memory.id for one in archived]
    )
    if any(one not in stored for one in archived):
        raise TablesUnavailable(
            "the archive does not hold what was written into it"
        )


async def remove_archived(
    user: UserStore, memories: Sequence[Memory]
) -> list[Memory]:
    """Delete archived memories that were not changed since; return those that left the store."""
    rows = {row.id: row for row in await user.store.read()}
    unchanged = [one for one in memories if rows.get(one.id) == one]
    # With each deletion the whole of the user's vectors is looked through.
    removed = (
        await _removed_together(user, unchanged) if len(unchanged) > 1 else []
    )
    for memory in [one for one in unchanged if one not in removed]:
        try:
            await user.store.delete(memory)
            removed.append(memory)
        except HostError as error:
            log_archive.warning(
                "an archived memory stays in the store: %s", with_detail(error)
            )
            if isinstance(error, MemoryUnavailable):
                break
    return removed


async def _removed_together(
    user: UserStore, memories: Sequence[Memory]
) -> list[Memory]:
    """Delete memories by one call; those that are gone then, whether it failed or not."""
    with suppress(HostError):
        await user.store.delete(*memories)
        return list(memories)
    standing = {row.id for row in await user.store.read()}
    return [memory for memory in memories if memory.id not in standing]


async def restore_memory(
    user: UserStore, memory_id: str, now: int, step: str = ""
) -> Memory | None:
    """Write an archived memory back, with where and when it was said; ``None`` if there is none.

    Raises:
        WriteRefused: by the rules of today it may not stand in the store.
    """
    archived = await user.archive.read(user.user_id, [memory_id])
    if not archived:
        return None
    memory = archived[0].memory
    row = _standing(memory, await user.store.read())
    if row is None:
        source = Provenance(
            chat_id=str(memory.meta.get("chat_id") or ""),
            message_id=str(memory.meta.get("message_id") or ""),
            said_at=said_at_of(memory),
        )
        meta = {**memory.meta, "restored_from": memory.id}
        row = await user.store.add(draft_of(memory), source, meta)
        entry = AuditEntry(
            kind="restored",
            memory_id=row.id,
            changed_at=now,
            after=row.content,
            archived=archived[0],
            step=step,
        )
        await user.trail.record(user.user_id, [entry], now)
    with suppress(TablesUnavailable):  # the next try finds it in the store
        await user.archive.discard(user.user_id, [memory.id])
    return row


def _standing(memory: Memory, rows: Sequence[Memory]) -> Memory | None:
    """The row that says what an archived memory does, or was it, or was restored from it."""
    words = comparable(memory.content)
    for row in rows:
        ids = (row.id, row.meta.get("restored_from"))
        if memory.id in ids or comparable(row.content) == words:
            return row
    return None


def said_at_of(memory: Memory) -> int:
    """When a memory was said, in epoch seconds, else when it was made."""
    said = memory.meta.get("said_at")
    return said if isinstance(said, int) and said > 0 else memory.created_at


def plan_restoration(
    archived: Sequence[ArchivedMemory], rows: Sequence[Memory], limit: int
) -> tuple[list[Memory], list[str]]:
    """What would come back into a store of these rows, and a sentence for each reason why not all.

    Nothing comes back that would say a fact twice: what the store says already, be it in other
    words since, and what a summary stands for. The last archived come first, of the same time the
    most important; a ``limit`` of 0 is none.
    """
    said = {comparable(row.content) for row in rows}
    by_words: dict[str, ArchivedMemory] = {}
    for one in sorted(
        archived, key=lambda one: (-one.archived_at, -one.memory.importance)
    ):
        by_words.setdefault(comparable(one.memory.content), one)
    absent = [one for words, one in by_words.items() if words not in said]
    said |= by_words.keys()
    # A summary that was archived itself comes back in the place of its originals.
    everything = (*rows, *(one.memory for one in absent))
    stood_for = {id for memory in everything for id in made_of(memory)}
    standing = {row.id for row in rows}
    removed = [one for one in absent if one.memory.id not in standing]
    single = [
        one.memory
        for one in removed
        if one.memory.id not in stood_for
        if not one.summary or comparable(one.summary) not in said
    ]
    chosen = single[: max(limit - len(rows), 0)] if limit else single
    reasons = {
        f"the limit is {memories_counted(limit)}": len(single) - len(chosen),
        "a summary says the same": len(removed) - len(single),
        "a later version is remembered": len(absent) - len(removed),
    }
    staying = [
        f"Still archived: {n} ({why})." for why, n in reasons.items() if n
    ]
    return chosen, staying


def memories_counted(number: int) -> str:
    """A number of memories in words."""
    return f"{number} {'memory' if number == 1 else 'memories'}"


async def prune_store(
    user: UserStore,
    settings: Settings,
    source: Provenance,
    fresh: Set[str],
    now: int,
) -> list[Proposal]:
    """Archive and delete what is too much, first what has ended; what is ``fresh`` stays."""
    limit = settings.max_total_memories
    strategy = settings.pruning_strategy
    reason = f"more than {limit} memories; the {strategy.replace('_', ' ')} go first"
    try:
        if not limit or (await user.store.stamp()).count <= limit:
            return []
        memories = await user.store.read()
        weights: dict[str, int] = {}
        if strategy == "least_recalled":
            weights = await user.usage.read(user.user_id)
        elif strategy == "least_important":
            weights = {one.id: one.importance for one in memories}
        too_many = min(max(len(memories) - limit, 0), _PRUNED_PER_TURN)
        candidates = [one for one in memories if one.id not in fresh]
        chosen = leaving_first(candidates, weights, now)[:too_many]
        archived = {one.id: ArchivedMemory(one, reason, now) for one in chosen}
        await put_into_archive(user, [*archived.values()])
        removed = await remove_archived(user, chosen)
    except HostError as error:
        log_archive.warning("nothing is pruned: %s", with_detail(error))
        return []
    changes = [
        AuditEntry(
            kind="pruned",
            memory_id=memory.id,
            changed_at=now,
            before=memory,
            reason=reason,
            chat_id=source.chat_id,
            message_id=source.message_id,
            archived=archived[memory.id],
        )
        for memory in removed
    ]
    await user.trail.record(user.user_id, changes, now)
    return [
        Proposal("END", one.id, before=one.content).decided("archived", reason)
        for one in removed
    ]


def leaving_first(
    memories: Sequence[Memory], weights: dict[str, int], now: int
) -> list[Memory]:
    """Memories in the order in which they leave a full store: what has ended, the rest, the core.

    Of each those with the least weight come first, of the same weight the longest unchanged.
    """
    today = str(datetime.fromtimestamp(now, UTC).date())

    def place(memory: Memory) -> tuple[bool, bool, int, int, int, str]:
        """Where a memory stands in the order."""
        holds = not has_ended(memory, today)
        weight = weights.get(memory.id, 0)
        is_kept_longest = holds and is_core(memory)
        return (
            holds,
            is_kept_longest,
            weight,
            memory.updated_at,
            memory.created_at,
            memory.id,
        )

    return sorted(memories, key=place)
