"""Keeping a store at the size an admin allows: which memories go first, and how they go."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from datetime import UTC, datetime

from adaptive.errors import HostError, TablesUnavailable
from adaptive.learn.archive import UserStore, put_into_archive, remove_archived
from adaptive.model import Memory, Outcome, Provenance, has_ended
from adaptive.settings import Settings
from adaptive.table_ports import ArchivedMemory, AuditEntry, Recalls

log_prune = logging.getLogger("adaptive_memory.learn")

# The host reads the whole store for each row it deletes, so a limit that was set later is reached
# over several turns.
_PRUNED_PER_TURN = 25


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
    today: str = "",
) -> list[Memory]:
    """The memories over ``max_total_memories``, the first to go first.

    What has ended by ``today`` ("YYYY-MM-DD") goes first, and core facts go last; of equals goes
    what has not changed for longest. The ids in ``fresh`` were written this very turn and stay.
    """
    limit = settings.max_total_memories
    if not limit or len(memories) <= limit:
        return []

    def place(memory: Memory) -> tuple[bool, bool, int, int, int, str]:
        weight = {
            "oldest": 0,
            "least_recalled": recalls[memory.id].count if memory.id in recalls else 0,
            "least_important": memory.importance,
        }[settings.pruning_strategy]
        stays = not has_ended(memory, today)
        core = stays and is_core(memory, settings)
        return stays, core, weight, memory.updated_at, memory.created_at, memory.id

    candidates = [memory for memory in memories if memory.id not in fresh]
    return sorted(candidates, key=place)[: len(memories) - limit]


async def prune_store(
    room: UserStore, settings: Settings, source: Provenance, fresh: Set[str], now: int
) -> list[Outcome]:
    """Archive and delete what is too much after a turn, at most 25 memories; tell what went.

    Raises nothing of ours: what could not be archived or deleted stays, and the next turn tries
    again. ``now`` is in epoch seconds.
    """
    limit, counted = settings.max_total_memories, settings.pruning_strategy == "least_recalled"
    today = str(datetime.fromtimestamp(now, UTC).date())
    try:
        if not limit or (await room.store.stamp()).count <= limit:
            return []
        memories = await room.store.read()
        recalls = await room.usage.read(room.user_id) if counted else dict[str, Recalls]()
        chosen = surplus(memories, settings, recalls, fresh, today)[:_PRUNED_PER_TURN]
        reasons = {one.id: _reason(one, settings, today) for one in chosen}
        await put_into_archive(room, [ArchivedMemory(one, reasons[one.id], now) for one in chosen])
        removed = await remove_archived(room, chosen)
    except HostError as error:
        log_prune.warning("nothing is pruned: %s", error)
        return []
    if counted:
        gone = {memory.id for memory in removed}
        with suppress(TablesUnavailable):  # the next pruning drops them
            standing = [memory.id for memory in memories if memory.id not in gone]
            await room.usage.keep_only(room.user_id, standing)
    where = {"chat_id": source.chat_id, "message_id": source.message_id}
    entries = [
        AuditEntry("pruned", one.id, now, before=one.content, reason=reasons[one.id], **where)
        for one in removed
    ]
    await room.trail.record(room.user_id, entries, now)
    return [Outcome("archived", memory.content, reasons[memory.id]) for memory in removed]


def _reason(memory: Memory, settings: Settings, today: str) -> str:
    """Why it goes, for the user and the trail."""
    order = f"the {settings.pruning_strategy.replace('_', ' ')} go first"
    if has_ended(memory, today):
        order = f"this one ended on {memory.until}"
    return f"more than {settings.max_total_memories} memories; {order}"
