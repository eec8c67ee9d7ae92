"""Keeping a store at the size an admin allows: which memories go first, and how they go."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence, Set

from adaptive.errors import HostError, TablesUnavailable
from adaptive.learn.archive import Storeroom, put_into_archive, remove_archived
from adaptive.model import Memory, Outcome, Provenance
from adaptive.settings import Settings
from adaptive.table_ports import ArchivedMemory, AuditEntry, Recalls

log_prune = logging.getLogger("adaptive_memory.learn")

# The host reads the whole store for each row it deletes, so a limit that was set later is reached
# over several turns.
_PRUNED_PER_TURN = 25
_WORDS_OF_STRATEGY = {
    "oldest": "the oldest go first",
    "least_recalled": "the least recalled go first",
    "least_important": "the least important go first",
}


def is_core(memory: Memory, settings: Settings) -> bool:
    """Whether a memory says who the user is, or is as important as the admin wants of core facts.

    Who the user is stays core where ``core_importance`` is 11, which is about injection.
    """
    return "identity" in memory.tags or memory.importance >= settings.core_importance


def surplus(
    memories: Sequence[Memory],
    settings: Settings,
    recalls: Mapping[str, Recalls],
    fresh: Set[str],
) -> list[Memory]:
    """The memories over ``max_total_memories``, the first to go first.

    Core facts go last; of equals goes what has not changed for longest. The ids in ``fresh`` were
    written this very turn and never go.
    """
    limit = settings.max_total_memories
    if not limit or len(memories) <= limit:
        return []

    def place(memory: Memory) -> tuple[bool, int, int, int, str]:
        weight = {
            "oldest": 0,
            "least_recalled": recalls[memory.id].count if memory.id in recalls else 0,
            "least_important": memory.importance,
        }[settings.pruning_strategy]
        core = is_core(memory, settings)
        return core, weight, memory.updated_at, memory.created_at, memory.id

    candidates = [memory for memory in memories if memory.id not in fresh]
    return sorted(candidates, key=place)[: len(memories) - limit]


async def prune_store(
    room: Storeroom, settings: Settings, source: Provenance, fresh: Set[str], now: int
) -> list[Outcome]:
    """Archive and delete what is too much after a turn, at most 25 memories; tell what went.

    Raises nothing of ours: what could not be archived or deleted stays, and the next turn tries
    again. ``now`` is in epoch seconds.
    """
    if not settings.max_total_memories:
        return []
    try:
        return await _prune_surplus(room, settings, source, fresh, now)
    except HostError as error:
        log_prune.warning("nothing is pruned: %s", error)
        return []


async def _prune_surplus(
    room: Storeroom, settings: Settings, source: Provenance, fresh: Set[str], now: int
) -> list[Outcome]:
    if (await room.store.stamp()).count <= settings.max_total_memories:
        return []
    memories = await room.store.read()
    recalls = await _recalls_that_count(room, settings)
    chosen = surplus(memories, settings, recalls, fresh)[:_PRUNED_PER_TURN]
    if not chosen:
        return []
    order = _WORDS_OF_STRATEGY[settings.pruning_strategy]
    reason = f"more than {settings.max_total_memories} memories; {order}"
    await put_into_archive(room, [ArchivedMemory(one, reason, now) for one in chosen])
    removal = await remove_archived(room, chosen)
    for _, why in removal.kept:
        log_prune.warning("a memory was not pruned: %s", why)
    gone = {memory.id for memory in removal.removed}
    await _forget_recalls(room, [memory.id for memory in memories if memory.id not in gone])
    entries = [
        AuditEntry(
            "pruned",
            memory.id,
            now,
            before=memory.content,
            reason=reason,
            chat_id=source.chat_id,
            message_id=source.message_id,
        )
        for memory in removal.removed
    ]
    await room.trail.record(room.user_id, entries, now)
    return [Outcome("archived", memory.content, reason) for memory in removal.removed]


async def _recalls_that_count(room: Storeroom, settings: Settings) -> Mapping[str, Recalls]:
    """The recalls of the user's memories where they count; without them the oldest go first."""
    if settings.pruning_strategy != "least_recalled":
        return {}
    try:
        return await room.usage.read(room.user_id)
    except TablesUnavailable as error:
        log_prune.warning("pruning by age, for want of recalls: %s", error)
        return {}


async def _forget_recalls(room: Storeroom, standing: Sequence[str]) -> None:
    """Drop the recalls of what is gone, here or by the user's own hand."""
    try:
        await room.usage.keep_only(room.user_id, standing)
    except TablesUnavailable as error:
        log_prune.debug("recalls of pruned memories are not dropped: %s", error)
