"""Writing proposed changes: what became of each is told, and none spoils another."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from adaptive.core.errors import (
    HostError,
    LeaseLost,
    MemoryUnavailable,
    StoreError,
    WriteRefused,
    with_detail,
)
from adaptive.core.measures import staged
from adaptive.core.model import Draft, Memory, Operation, Outcome, Provenance
from adaptive.memory.archive import put_into_archive, remove_archived
from adaptive.memory.audit import AuditEntry
from adaptive.memory.gate import GuardedStore
from adaptive.memory.tables import ArchivedMemory
from adaptive.memory.user_store import UserStore
from adaptive.search.tokens import holds_words_of

log_writing = logging.getLogger("adaptive_memory.memory")

# Whether whoever writes may go on.
Held = Callable[[], Awaitable[bool]]
NO_LONGER_TRUE = "no longer true"
# What is added to a row where the host keeps no history.
FORMER_CONTENT = re.compile(r"(?<!\s)\s*+\(until \d{4}-\d\d: [^()]*\)\s*$")
_PLAIN_BRACKETS = str.maketrans("()", "[]")


@dataclass(frozen=True, slots=True)
class _Written:
    """What a write has made of a memory: the row before and after, and what was archived of it."""

    kind: Literal["saved", "updated", "deleted", "ended"]
    content: str
    before: Memory | None = None
    row: Memory | None = None
    reason: str = ""
    archived: ArchivedMemory | None = None


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
    outcomes: list[Outcome] = []
    changes: list[AuditEntry] = []
    try:
        for operation in operations:
            if not await held():
                raise LeaseLost("another worker has taken over")
            memory = by_id.get(operation.id)
            if memory is None and operation.kind != "NEW":
                gone = "the memory is gone meanwhile"
                outcomes.append(Outcome("rejected", operation.draft.content, gone))
                continue
            try:
                written = await _applied(operation, memory, user, source, now)
            except WriteRefused as refusal:  # trying again would not help, and nothing repeats it
                outcomes.append(Outcome("rejected", "", str(refusal)))
                continue
            except HostError as error:
                if isinstance(error, MemoryUnavailable) and not outcomes:
                    raise
                log_writing.warning("%s failed: %s", operation.kind, with_detail(error))
                content = operation.draft.content or (memory.content if memory else "")
                outcomes.append(Outcome("failed", content, str(error)))
                continue
            by_id.pop(operation.id, None)
            if written.row is not None:
                by_id[written.row.id] = written.row
            outcomes.append(_outcome(written))
            changes.append(_change(written, operation, source, now))
    finally:
        await user.trail.record(user.user_id, changes, now)
    return outcomes


async def _applied(
    operation: Operation, memory: Memory | None, user: UserStore, source: Provenance, now: int
) -> _Written:
    """Write one operation; what ENDs without a new text or date is archived."""
    draft = operation.draft
    if memory is None:
        row = await user.store.add(draft, source)
        return _Written("saved", row.content, row=row)
    if operation.kind == "DELETE":
        await user.store.delete(memory)
        return _Written("deleted", memory.content, before=memory)
    if operation.kind == "UPDATE":
        row = await _updated(memory, draft, user.store, source)
        return _Written("updated", draft.content, before=memory, row=row)
    if draft.content != memory.content or draft.until != memory.until:
        row = await user.store.update(memory, draft, source)
        return _Written("ended", draft.content, before=memory, row=row, reason=NO_LONGER_TRUE)
    archived = ArchivedMemory(memory, NO_LONGER_TRUE, now)
    await put_into_archive(user, [archived])
    if not await remove_archived(user, [memory]):
        raise StoreError("it was changed meanwhile, or Open WebUI keeps it; its log tells why")
    return _Written("ended", "", before=memory, reason=NO_LONGER_TRUE, archived=archived)


def _outcome(written: _Written) -> Outcome:
    """What is told of a write."""
    memory = written.row or written.before
    return Outcome(
        status=written.kind,
        content=written.content,
        reason=written.reason,
        memory_id=memory.id if memory else "",
        before=written.before.content if written.before else "",
    )


def _change(written: _Written, operation: Operation, source: Provenance, now: int) -> AuditEntry:
    """What is logged of a write."""
    memory = written.row or written.before
    return AuditEntry(
        kind=written.kind,
        memory_id=memory.id if memory else "",
        changed_at=now,
        before=written.before,
        after=written.row.content if written.row else "",
        reason=written.reason or operation.proof.kind.lower(),
        chat_id=source.chat_id,
        message_id=source.message_id,
        archived=written.archived,
    )


async def _updated(memory: Memory, draft: Draft, store: GuardedStore, source: Provenance) -> Memory:
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
