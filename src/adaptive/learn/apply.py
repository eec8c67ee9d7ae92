"""Writing accepted operations into the store, each proven and none spoiling another."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from adaptive.errors import HostError, LeaseLost, MemoryUnavailable, StoreError, WriteRefused
from adaptive.learn.archive import UserStore, put_into_archive, remove_archived
from adaptive.learn.reconcile import with_former
from adaptive.measures import staged
from adaptive.model import Draft, Memory, Operation, Outcome, Provenance
from adaptive.ports import MemoryStore
from adaptive.privacy.secrets import without_secrets
from adaptive.search.text_similarity import holds_words_of
from adaptive.table_ports import ArchivedMemory, AuditEntry

log_apply = logging.getLogger("adaptive_memory.learn")

Held = Callable[[], Awaitable[bool]]
NO_LONGER_TRUE = "no longer true"


@staged("apply")
async def apply_operations(
    operations: Sequence[Operation],
    memories: Sequence[Memory],
    room: UserStore,
    source: Provenance,
    held: Held,
    now: int,
) -> list[Outcome]:
    """Carry out the operations one after the other and tell what became of each.

    ``now`` is in epoch seconds.

    Raises:
        MemoryUnavailable: the host allows no writes and none was made.
        LeaseLost: another worker has the turn by now (``held`` is asked before each write).
    """
    by_id = {memory.id: memory for memory in memories}
    outcomes: list[Outcome] = []
    for operation in operations:
        if not await held():
            raise LeaseLost("another worker has taken over")
        try:
            outcomes.append(await _applied(operation, by_id, room, source, now))
        except WriteRefused as refusal:  # trying again would not help, and nothing repeats it
            outcomes.append(Outcome("rejected", "", str(refusal)))
        except HostError as error:
            if isinstance(error, MemoryUnavailable) and not outcomes:
                raise
            why = without_secrets(str(error))
            log_apply.warning("%s failed: %s", operation.kind, why)
            content = operation.draft.content or by_id[operation.id].content
            outcomes.append(Outcome("failed", content, why))
    return outcomes


def audit_entries(
    outcomes: Sequence[Outcome], source: Provenance, now: int
) -> tuple[AuditEntry, ...]:
    """The changes among outcomes, for the trail; ``now`` is in epoch seconds."""
    return tuple(
        AuditEntry(
            kind=one.status,
            memory_id=one.memory_id,
            changed_at=now,
            before=one.before,
            after="" if one.status == "deleted" else one.content,
            reason=one.reason,
            chat_id=source.chat_id,
            message_id=source.message_id,
        )
        for one in outcomes
        if one.status in ("saved", "updated", "deleted", "ended")
    )


async def finish_broken_off(
    operations: Sequence[Operation],
    memories: Sequence[Memory],
    store: MemoryStore,
    source: Provenance,
) -> None:
    """Finish rows that were added for these operations when the process ended.

    Such a row holds the very content, was made after the words were said, and has no provenance:
    what the host's search needs may be missing, too.
    """
    drafts = {one.draft.content: one.draft for one in operations if one.kind == "NEW"}
    for memory in memories:
        draft = drafts.get(memory.content)
        if draft is None or memory.meta.get("message_id") or memory.created_at < source.said_at:
            continue
        try:
            await store.complete(memory, draft, source)
        except (HostError, WriteRefused) as error:
            log_apply.warning("a row has no provenance: %s", without_secrets(str(error)))


async def _applied(
    operation: Operation,
    by_id: dict[str, Memory],
    room: UserStore,
    source: Provenance,
    now: int,
) -> Outcome:
    """Write one operation; a memory that is to END without a new text or date is archived."""
    store, draft = room.store, operation.draft
    if operation.kind == "NEW":
        written = await store.add(draft, source)
        return Outcome("saved", written.content, memory_id=written.id)
    memory = by_id.get(operation.id)
    if memory is None:
        return Outcome("rejected", draft.content, "the memory is gone meanwhile")
    before = memory.content
    if operation.kind == "DELETE":
        await store.delete(memory)
        return Outcome("deleted", before, memory_id=memory.id, before=before)
    if operation.kind == "UPDATE":
        await _update(memory, draft, store, source)
        return Outcome("updated", draft.content, memory_id=memory.id, before=before)
    if draft.content != before or draft.until != memory.until:
        await store.update(memory, draft, source)
        return Outcome("ended", draft.content, NO_LONGER_TRUE, memory.id, before)
    await put_into_archive(room, [ArchivedMemory(memory, NO_LONGER_TRUE, now)])
    if not await remove_archived(room, [memory]):
        raise StoreError("it was changed meanwhile, or Open WebUI keeps it; its log tells why")
    return Outcome("ended", "", NO_LONGER_TRUE, memory.id, before)


async def _update(memory: Memory, draft: Draft, store: MemoryStore, source: Provenance) -> None:
    """Where the store keeps no history, let the row tell what it said before, if that may be."""
    if not store.keeps_history and not holds_words_of(draft.content, memory.content):
        when = datetime.fromtimestamp(source.said_at, UTC)
        content = with_former(draft.content, memory.content, when)
        # What another tool has put there may be what the gate lets not pass.
        with suppress(WriteRefused):
            await store.update(memory, replace(draft, content=content), source)
            return
    await store.update(memory, draft, source)
