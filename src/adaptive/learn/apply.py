"""Writing accepted operations into the store, each proven and none spoiling another."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from adaptive.core.errors import HostError, LeaseLost, MemoryUnavailable, StoreError, WriteRefused
from adaptive.core.measures import staged
from adaptive.core.model import Draft, Memory, Operation, Outcome, Provenance
from adaptive.core.ports import MemoryStore
from adaptive.learn.archive import UserStore, put_into_archive, remove_archived
from adaptive.learn.duplicates import FORMER_CONTENT
from adaptive.privacy.kept import ArchivedMemory, AuditEntry
from adaptive.privacy.secrets import without_secrets
from adaptive.search.tokens import holds_words_of

log_apply = logging.getLogger("adaptive_memory.learn")

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
    """Carry out the operations one after the other and tell what became of each.

    ``held`` is asked before each write; ``LeaseLost`` where another worker has the turn by now.
    """
    by_id = {memory.id: memory for memory in memories}
    outcomes: list[Outcome] = []
    try:
        for operation in operations:
            if not await held():
                raise LeaseLost("another worker has taken over")
            try:
                outcomes.append(await _applied(operation, by_id, user, source, now))
            except WriteRefused as refusal:  # trying again would not help, and nothing repeats it
                outcomes.append(Outcome("rejected", "", str(refusal)))
            except HostError as error:
                if isinstance(error, MemoryUnavailable) and not outcomes:
                    raise
                why = without_secrets(str(error))
                log_apply.warning("%s failed: %s", operation.kind, why)
                content = operation.draft.content or by_id[operation.id].content
                outcomes.append(Outcome("failed", content, why))
    finally:
        where = (source.chat_id, source.message_id)
        changes: list[AuditEntry] = []
        for one in outcomes:
            if one.status in ("saved", "updated", "deleted", "ended"):
                after = "" if one.status == "deleted" else one.content
                told = (one.before, after, one.reason, *where)
                changes.append(AuditEntry(one.status, one.memory_id, now, *told))
        await user.trail.record(user.user_id, changes, now)
    return outcomes


def finishing(
    operations: Sequence[Operation], memories: Sequence[Memory], source: Provenance
) -> list[Operation]:
    """Updates for rows that a process added for these operations and was killed before it said so.

    Of such a row neither meta nor audit tells the chat, so "erase this chat" would not find it.
    """
    since = source.said_at
    bare = [one for one in memories if not one.meta.get("message_id") and one.created_at >= since]
    ids = {one.content: one.id for one in bare}
    new = (one for one in operations if one.kind == "NEW" and one.draft.content in ids)
    return [replace(one, kind="UPDATE", id=ids[one.draft.content]) for one in new]


async def _applied(
    operation: Operation,
    by_id: dict[str, Memory],
    user: UserStore,
    source: Provenance,
    now: int,
) -> Outcome:
    """Write one operation; a memory that is to END without a new text or date is archived."""
    store, draft = user.store, operation.draft
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
    await put_into_archive(user, [ArchivedMemory(memory, NO_LONGER_TRUE, now)])
    if not await remove_archived(user, [memory]):
        raise StoreError("it was changed meanwhile, or Open WebUI keeps it; its log tells why")
    return Outcome("ended", "", NO_LONGER_TRUE, memory.id, before)


async def _update(memory: Memory, draft: Draft, store: MemoryStore, source: Provenance) -> None:
    """Where the store keeps no history, let the row tell what it said before, if that may be."""
    if not store.keeps_history and not holds_words_of(draft.content, memory.content):
        when = datetime.fromtimestamp(source.said_at, UTC)
        former = FORMER_CONTENT.sub("", memory.content).strip().rstrip(".。")
        bare = FORMER_CONTENT.sub("", draft.content).rstrip()
        content = f"{bare} (until {when:%Y-%m}: {former.translate(_PLAIN_BRACKETS)})"
        # What another tool has put there may be what the gate lets not pass.
        with suppress(WriteRefused):
            await store.update(memory, replace(draft, content=content), source)
            return
    await store.update(memory, draft, source)
