"""Writing into the store: each operation proven, none spoiling another, and nothing lost.

A row is deleted only after its archived copy was read back, and only if it still is what was
archived. So whatever fails in between, every memory is in the store, in the archive, or in both.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from adaptive.core.errors import (
    HostError,
    LeaseLost,
    MemoryUnavailable,
    StoreError,
    TablesUnavailable,
    WriteRefused,
    with_detail,
)
from adaptive.core.measures import staged
from adaptive.core.model import Draft, Memory, Operation, Outcome, Provenance, has_ended, is_core
from adaptive.core.ports import MemoryStore
from adaptive.learn.duplicates import FORMER_CONTENT
from adaptive.privacy.changes import UserStore
from adaptive.privacy.kept import ArchivedMemory, AuditEntry
from adaptive.search.tokens import comparable, holds_words_of
from adaptive.settings.merged import Settings

log_apply = logging.getLogger("adaptive_memory.learn")

_PRUNED_PER_TURN = 25  # the host reads the whole store for each row it deletes
Held = Callable[[], Awaitable[bool]]
NO_LONGER_TRUE = "no longer true"
_PLAIN_BRACKETS = str.maketrans("()", "[]")


@staged("apply")
async def apply_operations(
    operations: Sequence[Operation],
    memories: Sequence[Memory],
    user: UserStore,
    source: Provenance,
    held: Held,
    now: int,
) -> list[Outcome]:
    """Carry out operations and tell what became of each; ``LeaseLost`` once they are not held."""
    by_id = {memory.id: memory for memory in memories}
    outcomes, changes = list[Outcome](), list[AuditEntry]()
    try:
        for operation in operations:
            if not await held():
                raise LeaseLost("another worker has taken over")
            try:
                outcome, row = await _applied(operation, by_id, user, source, now)
                outcomes.append(outcome)
                kind = outcome.status
                if kind not in ("saved", "updated", "deleted", "ended"):
                    continue
                before, after = by_id.pop(operation.id, None), row.content if row else ""
                if row is not None:
                    by_id[row.id] = row
                ended = before if kind == "ended" and row is None else None
                archived = ArchivedMemory(ended, NO_LONGER_TRUE, now) if ended else None
                reason = outcome.reason or operation.proof.kind.lower()
                told = (before, after, reason, source.chat_id, source.message_id, archived)
                changes.append(AuditEntry(kind, outcome.memory_id, now, *told))
            except WriteRefused as refusal:  # trying again would not help, and nothing repeats it
                outcomes.append(Outcome("rejected", "", str(refusal)))
            except HostError as error:
                if isinstance(error, MemoryUnavailable) and not outcomes:
                    raise
                log_apply.warning("%s failed: %s", operation.kind, with_detail(error))
                content = operation.draft.content or by_id[operation.id].content
                outcomes.append(Outcome("failed", content, str(error)))
    finally:
        await user.trail.record(user.user_id, changes, now)
    return outcomes


async def _applied(
    operation: Operation, by_id: dict[str, Memory], user: UserStore, source: Provenance, now: int
) -> tuple[Outcome, Memory | None]:
    """Write one operation, and tell of the row; what ENDs without new text or date is archived."""
    store, draft = user.store, operation.draft
    if operation.kind == "NEW":
        written = await store.add(draft, source)
        return Outcome("saved", written.content, memory_id=written.id), written
    memory = by_id.get(operation.id)
    if memory is None:
        return Outcome("rejected", draft.content, "the memory is gone meanwhile"), None
    before = memory.content
    if operation.kind == "DELETE":
        await store.delete(memory)
        return Outcome("deleted", before, memory_id=memory.id, before=before), None
    if operation.kind == "UPDATE":
        row = await _updated(memory, draft, store, source)
        return Outcome("updated", draft.content, memory_id=memory.id, before=before), row
    if draft.content != before or draft.until != memory.until:
        row = await store.update(memory, draft, source)
        return Outcome("ended", draft.content, NO_LONGER_TRUE, memory.id, before), row
    await put_into_archive(user, [ArchivedMemory(memory, NO_LONGER_TRUE, now)])
    if not await remove_archived(user, [memory]):
        raise StoreError("it was changed meanwhile, or Open WebUI keeps it; its log tells why")
    return Outcome("ended", "", NO_LONGER_TRUE, memory.id, before), None


async def _updated(memory: Memory, draft: Draft, store: MemoryStore, source: Provenance) -> Memory:
    """Where the store keeps no history, let the row tell what it said before, if that may be."""
    if not store.keeps_history and not holds_words_of(draft.content, memory.content):
        when = datetime.fromtimestamp(source.said_at, UTC)
        former = FORMER_CONTENT.sub("", memory.content).strip().rstrip(".。")
        bare = FORMER_CONTENT.sub("", draft.content).rstrip()
        content = f"{bare} (until {when:%Y-%m}: {former.translate(_PLAIN_BRACKETS)})"
        # What another tool has put there may be what the gate lets not pass.
        with suppress(WriteRefused):
            return await store.update(memory, replace(draft, content=content), source)
    return await store.update(memory, draft, source)


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
            log_apply.warning("an archived memory stays in the store: %s", with_detail(error))
            if isinstance(error, MemoryUnavailable):
                break
    return removed


async def restore_memory(
    user: UserStore, memory_id: str, now: int, step: str = ""
) -> Memory | None:
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
        passed = str(memory.meta.get("passed") or "")
        draft = Draft(memory.content, memory.tags, memory.bank, *labels, passed)
        chat_id, message_id = (str(memory.meta.get(one) or "") for one in ("chat_id", "message_id"))
        source = Provenance(chat_id, message_id, said_at_of(memory))
        row = await user.store.add(draft, source, {**memory.meta, "restored_from": memory.id})
        told = AuditEntry("restored", row.id, now, None, row.content, step=step)
        entry = replace(told, archived=archived[0])
        await user.trail.record(user.user_id, [entry], now)
    with suppress(TablesUnavailable):  # the next try finds it in the store
        await user.archive.discard(user.user_id, [memory.id])
    return row


def said_at_of(memory: Memory) -> int:
    """When a memory was said, in epoch seconds, else when it was made."""
    said = memory.meta.get("said_at")
    return said if isinstance(said, int) and said > 0 else memory.created_at


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
    told = AuditEntry("pruned", "", now, None, "", reason, source.chat_id, source.message_id)
    try:
        if not limit or (await user.store.stamp()).count <= limit:
            return []
        memories = await user.store.read()
        if strategy == "least_recalled":
            recalls = await user.usage.read(user.user_id)
        candidates = sorted((one for one in memories if one.id not in fresh), key=place)
        chosen = candidates[: min(max(len(memories) - limit, 0), _PRUNED_PER_TURN)]
        archived = {one.id: ArchivedMemory(one, reason, now) for one in chosen}
        await put_into_archive(user, [*archived.values()])
        removed = await remove_archived(user, chosen)
    except HostError as error:
        log_apply.warning("nothing is pruned: %s", with_detail(error))
        return []
    entries = (replace(told, memory_id=x.id, before=x, archived=archived[x.id]) for x in removed)
    await user.trail.record(user.user_id, [*entries], now)
    return [Outcome("archived", memory.content, reason) for memory in removed]
