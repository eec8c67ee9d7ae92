"""Taking memories out of the store without losing them: bringing them back, and pruning.

A row is deleted only after its archived copy was read back, and only if it still is what was
archived. So whatever fails in between, every memory is in the store, in the archive, or in both.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from adaptive.errors import HostError, MemoryUnavailable, TablesUnavailable
from adaptive.model import Draft, Memory, Outcome, Provenance, has_ended
from adaptive.ports import MemoryStore
from adaptive.privacy.secrets import without_secrets
from adaptive.search.tokens import comparable
from adaptive.settings import Settings
from adaptive.table_ports import (
    ArchivedMemory,
    ArchiveTable,
    AuditEntry,
    AuditTable,
    Recalls,
    UsageTable,
)

log_archive = logging.getLogger("adaptive_memory.learn")

# The host reads the whole store for each row it deletes, so a limit that was set later is reached
# over several turns.
_PRUNED_PER_TURN = 25


class AuditTrail:
    """An audit table that may fail: a failure is logged, none is raised.

    A secret that another tool has put into a memory is left out of the trail.
    """

    def __init__(self, table: AuditTable) -> None:
        self._table = table

    async def record(self, user_id: str, entries: Sequence[AuditEntry], now: int) -> None:
        """Add changes that were made, in their order; ``now`` is in epoch seconds."""
        told = [
            replace(one, before=without_secrets(one.before), after=without_secrets(one.after))
            for one in entries
        ]
        try:
            await self._table.append(user_id, told, now)
        except TablesUnavailable as error:
            log_archive.warning("changes are not written down: %s", error)


@dataclass(frozen=True, slots=True)
class UserStore:
    """One user's store, and the tables that stand behind it."""

    user_id: str
    store: MemoryStore
    archive: ArchiveTable
    usage: UsageTable
    trail: AuditTrail


async def put_into_archive(user: UserStore, archived: Sequence[ArchivedMemory]) -> None:
    """Archive memories and read them back.

    Raises:
        TablesUnavailable: not every one of them stands in the archive as it was put there.
    """
    await user.archive.put(user.user_id, archived)
    found = await user.archive.find(user.user_id, [one.memory.id for one in archived])
    if any(found.get(one.memory.id) != one for one in archived):
        raise TablesUnavailable("the archive does not hold what was written into it")


async def remove_archived(user: UserStore, memories: Sequence[Memory]) -> list[Memory]:
    """Delete archived memories that were not changed since; return those that left the store.

    Raises:
        HostError: the store could not be read; nothing was deleted.
    """
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
    """Write an archived memory back, with where and when it was said; ``None`` if there is none.

    What the store holds already, because a former try broke off, is not written again. The row has
    a new id; meta names the former one in ``restored_from``.

    Raises:
        TablesUnavailable: the archive can't be read.
        HostError: the row does not stand in the store; the archive keeps it.
    """
    archived = await user.archive.restore(user.user_id, memory_id)
    if archived is None:
        return None
    memory, words = archived.memory, comparable(archived.memory.content)
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

    def place(memory: Memory) -> tuple[bool, bool, int, int, int, str]:
        weight = {
            "oldest": 0,
            "least_recalled": recalls[memory.id].count if memory.id in recalls else 0,
            "least_important": memory.importance,
        }[settings.pruning_strategy]
        stays = not has_ended(memory, today)
        core = stays and is_core(memory, settings)
        return stays, core, weight, memory.updated_at, memory.created_at, memory.id

    limit = settings.max_total_memories or len(memories)
    candidates = [memory for memory in memories if memory.id not in fresh]
    return sorted(candidates, key=place)[: max(len(memories) - limit, 0)]


async def prune_store(
    user: UserStore, settings: Settings, source: Provenance, fresh: Set[str], now: int
) -> list[Outcome]:
    """Archive and delete what is too much after a turn, at most 25 memories; tell what went.

    Raises nothing of ours: what could not be archived or deleted stays, and the next turn tries
    again. ``now`` is in epoch seconds.
    """
    limit, strategy = settings.max_total_memories, settings.pruning_strategy
    today = str(datetime.fromtimestamp(now, UTC).date())
    order = f"the {strategy.replace('_', ' ')} go first"

    def reason(memory: Memory) -> str:
        """Why a memory goes, for the archive and the user."""
        ended = f"this one ended on {memory.until}" if has_ended(memory, today) else ""
        return f"more than {limit} memories; {ended or order}"

    try:
        if not limit or (await user.store.stamp()).count <= limit:
            return []
        memories, recalls = await user.store.read(), dict[str, Recalls]()
        if strategy == "least_recalled":
            recalls = await user.usage.read(user.user_id)
        chosen = surplus(memories, settings, recalls, fresh, today)[:_PRUNED_PER_TURN]
        await put_into_archive(user, [ArchivedMemory(one, reason(one), now) for one in chosen])
        removed = await remove_archived(user, chosen)
    except HostError as error:
        log_archive.warning("nothing is pruned: %s", error)
        return []
    if recalls:
        standing = {one.id for one in memories} - {one.id for one in removed}
        with suppress(TablesUnavailable):  # the next pruning drops them
            await user.usage.keep_only(user.user_id, sorted(standing))
    where = (source.chat_id, source.message_id)
    entries = [
        AuditEntry("pruned", one.id, now, one.content, "", reason(one), *where) for one in removed
    ]
    await user.trail.record(user.user_id, entries, now)
    return [Outcome("archived", memory.content, reason(memory)) for memory in removed]
