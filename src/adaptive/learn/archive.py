"""Taking memories out of the store without losing them: bringing them back, and pruning.

A row is deleted only after its archived copy was read back, and only if it still is what was
archived. So whatever fails in between, every memory is in the store, in the archive, or in both.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from adaptive.core.errors import HostError, MemoryUnavailable, TablesUnavailable
from adaptive.core.model import Draft, Memory, Outcome, Provenance, has_ended
from adaptive.core.ports import MemoryStore
from adaptive.privacy.gate import AuditTrail
from adaptive.privacy.kept import ArchivedMemory, ArchiveTable, AuditEntry, UsageTable
from adaptive.search.tokens import comparable
from adaptive.settings.merged import Settings

log_archive = logging.getLogger("adaptive_memory.learn")

# Memories of this importance are pruned last, and never summarised.
CORE_IMPORTANCE = 9
# The host reads the whole store for each row it deletes, so a limit that was set later is reached
# over several turns.
_PRUNED_PER_TURN = 25


@dataclass(frozen=True, slots=True)
class UserStore:
    """One user's store, and the tables that stand behind it."""

    user_id: str
    store: MemoryStore
    archive: ArchiveTable
    usage: UsageTable
    trail: AuditTrail


async def put_into_archive(user: UserStore, archived: Sequence[ArchivedMemory]) -> None:
    """Archive memories and read them back."""
    await user.archive.put(user.user_id, archived)
    found = await user.archive.read(user.user_id, [one.memory.id for one in archived])
    if any(one not in found for one in archived):
        raise TablesUnavailable("the archive does not hold what was written into it")


async def remove_archived(user: UserStore, memories: Sequence[Memory]) -> list[Memory]:
    """Delete archived memories that were not changed since; return those that left the store."""
    rows = {row.id: row for row in await user.store.read()}
    removed: list[Memory] = []
    for memory in (one for one in memories if rows.get(one.id) == one):
        try:
            await user.store.delete(memory)
            removed.append(memory)
        except HostError as error:
            log_archive.warning("an archived memory stays in the store: %s", error)
            if isinstance(error, MemoryUnavailable):
                break
    return removed


async def restore_memory(user: UserStore, memory_id: str, now: int) -> Memory | None:
    """Write an archived memory back, with where and when it was said; ``None`` if there is none."""
    archived = await user.archive.read(user.user_id, [memory_id])
    if not archived:
        return None
    memory, words = archived[0].memory, comparable(archived[0].memory.content)
    for row in await user.store.read():
        if memory.id in (row.id, row.meta.get("restored_from")) or comparable(row.content) == words:
            break
    else:
        labels = (memory.confidence, memory.importance, memory.until)
        draft = Draft(memory.content, memory.tags, memory.bank, *labels)
        chat_id, message_id = (str(memory.meta.get(one) or "") for one in ("chat_id", "message_id"))
        source = Provenance(chat_id, message_id, said_at_of(memory))
        row = await user.store.add(draft, source, {**memory.meta, "restored_from": memory.id})
    with suppress(TablesUnavailable):  # the next try finds it in the store
        await user.archive.discard(user.user_id, [memory.id])
    entry = AuditEntry("restored", row.id, now, after=row.content, reason=f"it was {memory.id}")
    await user.trail.record(user.user_id, [entry], now)
    return row


def said_at_of(memory: Memory) -> int:
    """When a memory was said, in epoch seconds, else when it was made."""
    said = memory.meta.get("said_at")
    return said if isinstance(said, int) and said > 0 else memory.created_at


def is_core(memory: Memory) -> bool:
    """Whether a memory says who the user is, or is as important as core facts are."""
    return "identity" in memory.tags or memory.importance >= CORE_IMPORTANCE


async def prune_store(
    user: UserStore, settings: Settings, source: Provenance, fresh: Set[str], now: int
) -> list[Outcome]:
    """Archive and delete what is too much, first what has ended; what is ``fresh`` stays."""
    limit, strategy = settings.max_total_memories, settings.pruning_strategy
    today = str(datetime.fromtimestamp(now, UTC).date())
    recalls: dict[str, int] = {}

    def place(memory: Memory) -> tuple[bool, bool, int, int, int, str]:
        """Where a memory stands in the order in which they go."""
        weight = memory.importance if strategy == "least_important" else 0
        weight = recalls.get(memory.id, weight)
        stays, changed = not has_ended(memory, today), (memory.updated_at, memory.created_at)
        return stays, stays and is_core(memory), weight, *changed, memory.id

    reason = f"more than {limit} memories; the {strategy.replace('_', ' ')} go first"
    try:
        if not limit or (await user.store.stamp()).count <= limit:
            return []
        memories = await user.store.read()
        if strategy == "least_recalled":
            recalls = await user.usage.read(user.user_id)
        candidates = sorted((one for one in memories if one.id not in fresh), key=place)
        chosen = candidates[: min(max(len(memories) - limit, 0), _PRUNED_PER_TURN)]
        await put_into_archive(user, [ArchivedMemory(one, reason, now) for one in chosen])
        removed = await remove_archived(user, chosen)
    except HostError as error:
        log_archive.warning("nothing is pruned: %s", error)
        return []
    why = ("", reason, source.chat_id, source.message_id)
    entries = [AuditEntry("pruned", one.id, now, one.content, *why) for one in removed]
    await user.trail.record(user.user_id, entries, now)
    return [Outcome("archived", memory.content, reason) for memory in removed]
