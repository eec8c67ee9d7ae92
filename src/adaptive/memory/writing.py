"""Writing proposals: each comes out with what became of it, and none spoils another."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from adaptive.core.model import (
    Draft,
    HostError,
    LeaseLost,
    Memory,
    MemoryUnavailable,
    Proposal,
    ProposalKind,
    Provenance,
    StoreError,
    WriteRefused,
    with_detail,
)
from adaptive.core.runtime import staged
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
_DONE: Mapping[
    ProposalKind, Literal["saved", "updated", "deleted", "ended"]
] = {
    "NEW": "saved",
    "UPDATE": "updated",
    "DELETE": "deleted",
    "END": "ended",
}
_PLAIN_BRACKETS = str.maketrans("()", "[]")


@staged("apply")
async def apply_proposals(
    proposals: Sequence[Proposal],
    memories: Sequence[Memory],
    user: UserStore,
    source: Provenance,
    held: Held,
    now: int,
) -> list[Proposal]:
    """Carry out open proposals, each memory's once; ``LeaseLost`` once they are not held."""
    by_id = {memory.id: memory for memory in memories}
    outcomes: list[Proposal] = []
    changes: list[AuditEntry] = []
    try:
        for proposal in proposals:
            if not proposal.is_open:
                outcomes.append(proposal)
                continue
            if not await held():
                raise LeaseLost("another worker has taken over")
            memory = by_id.pop(proposal.memory_id, None)
            if memory is None and proposal.kind != "NEW":
                outcomes.append(
                    proposal.decided(
                        "rejected", "the memory is gone meanwhile"
                    )
                )
                continue
            if memory is not None:
                proposal = replace(proposal, before=memory.content)
            try:
                change = await _written(proposal, memory, user, source, now)
            except WriteRefused as refusal:  # trying again would not help, and nothing repeats it
                untold = replace(proposal, draft=Draft(""), before="")
                outcomes.append(untold.decided("rejected", str(refusal)))
            except HostError as error:
                if isinstance(error, MemoryUnavailable) and not changes:
                    raise
                log_writing.warning(
                    "%s failed: %s", proposal.kind, with_detail(error)
                )
                outcomes.append(proposal.decided("failed", str(error)))
            else:
                outcomes.append(_outcome(proposal, change))
                changes.append(change)
    finally:
        await user.trail.record(user.user_id, changes, now)
    return outcomes


async def _written(
    proposal: Proposal,
    memory: Memory | None,
    user: UserStore,
    source: Provenance,
    now: int,
) -> AuditEntry:
    """Write one proposal and give the change; what ENDs without a new text or date is archived."""
    draft = proposal.draft
    archived: ArchivedMemory | None = None
    row: Memory | None = None
    if memory is None:
        row = await user.store.add(draft, source)
    elif proposal.kind == "DELETE":
        await user.store.delete(memory)
    elif proposal.kind == "UPDATE":
        row = await _updated(memory, draft, user.store, source)
    elif draft.content != memory.content or draft.until != memory.until:
        row = await user.store.update(memory, draft, source)
    else:
        archived = ArchivedMemory(memory, NO_LONGER_TRUE, now)
        await put_into_archive(user, [archived])
        if not await remove_archived(user, [memory]):
            raise StoreError(
                "it was changed meanwhile, or Open WebUI keeps it; its log tells why"
            )
    return AuditEntry(
        kind=_DONE[proposal.kind],
        memory_id=row.id if row else proposal.memory_id,
        changed_at=now,
        before=memory,
        after=row.content if row else "",
        reason=proposal.reason or proposal.fact_kind.lower(),
        chat_id=source.chat_id,
        message_id=source.message_id,
        archived=archived,
    )


def _outcome(proposal: Proposal, change: AuditEntry) -> Proposal:
    """A proposal as it was written: a new row may say less than its draft, an old one is gone."""
    content = proposal.draft.content if change.after else ""
    if proposal.kind == "NEW":
        content = change.after
    return replace(
        proposal,
        status=_DONE[proposal.kind],
        memory_id=change.memory_id,
        draft=replace(proposal.draft, content=content),
    )


async def _updated(
    memory: Memory, draft: Draft, store: GuardedStore, source: Provenance
) -> Memory:
    """Where the store keeps no history, let the row tell what it said before, if that may be."""
    if not store.keeps_history and not holds_words_of(
        draft.content, memory.content
    ):
        when = datetime.fromtimestamp(source.said_at, UTC)
        former = FORMER_CONTENT.sub("", memory.content).strip().rstrip(".。")
        bare = FORMER_CONTENT.sub("", draft.content).rstrip()
        content = (
            f"{bare} (until {when:%Y-%m}: {former.translate(_PLAIN_BRACKETS)})"
        )
        # What another tool has put there may be what the gate lets not pass.
        with suppress(WriteRefused):
            return await store.update(
                memory, replace(draft, content=content), source
            )
    return await store.update(memory, draft, source)
