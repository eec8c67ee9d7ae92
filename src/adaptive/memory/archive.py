"""The archive: memories that were taken out of the store, whole, and their way back.

A row is deleted only after its archived copy was read back, and only if it still is what was
archived. So whatever fails in between, every memory is in the store, in the archive, or in both.
"""

from __future__ import annotations

import time
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from adaptive.core.model import (
    HostError,
    Memory,
    NewMemory,
    Proposal,
    Provenance,
    TablesUnavailable,
    WriteRefused,
    has_ended,
    is_core,
    log_failure,
)
from adaptive.memory.audit import AuditEntry, ChangeKind, UserStore
from adaptive.memory.erasure import made_of
from adaptive.memory.gate import draft_of
from adaptive.memory.tables import ArchivedMemory
from adaptive.search.tokens import comparable
from adaptive.settings.merged import Settings

_PRUNED_PER_TURN = 25  # the host reads the whole store for each row it deletes
_NOWHERE = Provenance("", "", 0)


def memories_counted(number: int) -> str:
    """A number of memories in words."""
    return f"{number} {'memory' if number == 1 else 'memories'}"


async def put_into_archive(
    user: UserStore, archived: Sequence[ArchivedMemory]
) -> None:
    """Archive memories and read them back."""
    await user.archive.put(user.user_id, archived)
    stored = await user.archive.read(
        user.user_id, [copy.memory.id for copy in archived]
    )
    if any(copy not in stored for copy in archived):
        raise TablesUnavailable(
            "the archive does not hold what was written into it"
        )


async def move_into_archive(
    user: UserStore,
    archived: Sequence[ArchivedMemory],
    kind: ChangeKind,
    source: Provenance,
) -> list[AuditEntry]:
    """Archive memories, and delete those that are as they were archived; the changes."""
    await put_into_archive(user, archived)
    rows = {row.id: row for row in await user.store.read()}
    moving = [
        copy for copy in archived if rows.get(copy.memory.id) == copy.memory
    ]
    try:
        if moving:
            await user.store.write(gone=[copy.memory for copy in moving])
    except HostError as error:
        log_failure("archived memories stay in the store", error)
        standing = {row.id for row in await user.store.read()}
        moving = [copy for copy in moving if copy.memory.id not in standing]
    return [_archived_change(copy, kind, source) for copy in moving]


def _archived_change(
    copy: ArchivedMemory,
    kind: ChangeKind,
    source: Provenance = _NOWHERE,
    step: str = "",
) -> AuditEntry:
    """The change by which a memory went into the archive."""
    return AuditEntry(
        kind=kind,
        memory_id=copy.memory.id,
        before=copy.memory,
        reason=copy.reason,
        chat_id=source.chat_id,
        message_id=source.message_id,
        archived=copy,
        step=step,
    )


# --- pruning ---


async def prune_store(
    user: UserStore, settings: Settings, source: Provenance, fresh: Set[str]
) -> list[Proposal]:
    """Archive and delete what is too much, first what has ended; what is ``fresh`` stays."""
    limit = settings.max_total_memories
    strategy = settings.pruning_strategy
    reason = f"more than {limit} memories; the {strategy.replace('_', ' ')} go first"
    now = int(time.time())
    try:
        if not limit or (await user.store.stamp()).count <= limit:
            return []
        memories = await user.store.read()
        weights: dict[str, int] = {}
        if strategy == "least_recalled":
            recalls = await user.usage.read(user.user_id)
            for memory in memories:
                # A summary has the recalls of what it stands for.
                ids = {memory.id, *made_of(memory)}
                weights[memory.id] = sum(recalls.get(id, 0) for id in ids)
        elif strategy == "least_important":
            weights = {memory.id: memory.importance for memory in memories}
        too_many = min(max(len(memories) - limit, 0), _PRUNED_PER_TURN)
        candidates = [memory for memory in memories if memory.id not in fresh]
        leaving = leaving_first(candidates, weights, now)[:too_many]
        archived = [ArchivedMemory(memory, reason, now) for memory in leaving]
        changes = await move_into_archive(user, archived, "pruned", source)
    except HostError as error:
        log_failure("nothing is pruned", error)
        return []
    await user.record(*changes)
    ids = {change.memory_id for change in changes}
    return [
        Proposal("END", memory.id, before=memory.content).decided(
            "archived", reason
        )
        for memory in leaving
        if memory.id in ids
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
        return (
            holds,
            holds and is_core(memory),
            weights.get(memory.id, 0),
            memory.updated_at,
            memory.created_at,
            memory.id,
        )

    return sorted(memories, key=place)


# --- the way back ---


async def restore_memory(
    user: UserStore, memory_id: str, step: str = ""
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
            said_at=_said_at(memory),
        )
        meta = {**memory.meta, "restored_from": memory.id}
        restored = NewMemory(draft_of(memory), source, meta)
        (row,) = await user.store.write(restored)
        change = AuditEntry(
            kind="restored",
            memory_id=row.id,
            after=row.content,
            archived=archived[0],
            step=step,
        )
        await user.record(change)
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


def _said_at(memory: Memory) -> int:
    """When a memory was said, in epoch seconds, else when it was made."""
    said = memory.meta.get("said_at")
    return said if isinstance(said, int) and said > 0 else memory.created_at


def plan_restoration(
    archived: Sequence[ArchivedMemory], rows: Sequence[Memory], limit: int
) -> tuple[list[Memory], str]:
    """What would come back into a store of these rows, and a sentence on what would not, if any.

    Nothing comes back that would say a fact twice: what the store says already, be it in other
    words since, and what a summary stands for. The last archived come first, of the same time the
    most important; a ``limit`` of 0 is none.
    """
    newest_first = sorted(
        archived, key=lambda copy: (-copy.archived_at, -copy.memory.importance)
    )
    said = {comparable(row.content) for row in rows}
    # A summary that was archived itself comes back in the place of its originals.
    everything = [*rows, *(copy.memory for copy in archived)]
    summaries = {comparable(memory.content) for memory in everything}
    repeated = {row.id for row in rows}.union(*map(made_of, everything))
    coming = [
        copy.memory
        for copy in newest_first
        if copy.memory.id not in repeated
        and comparable(copy.memory.content) not in said
        and comparable(copy.summary) not in summaries
    ]
    chosen = coming[: max(limit - len(rows), 0)] if limit else coming
    reason = "the same, a later version or a summary is remembered"
    if len(chosen) < len(coming):
        reason = f"the limit is {memories_counted(limit)}"
    staying = len(archived) - len(chosen)
    told = f"Still archived: {staying} ({reason})." if staying else ""
    return chosen, told


# --- summaries: one memory in the place of several ---


async def replace_by_summary(
    user: UserStore, cluster: Sequence[Memory], text: str
) -> None:
    """Put a summary in the place of memories, or leave them alone where one was changed.

    Raises:
        WriteRefused: the summary may not be written, and nothing is.
    """
    # As important as its weightiest original, as sure as its weakest.
    top = max(cluster, key=lambda memory: memory.importance)
    sureness = min(memory.confidence for memory in cluster)
    draft = replace(
        draft_of(top), content=text, confidence=sureness, passed=""
    )
    originals = [
        {"id": memory.id, "said_at": _said_at(memory)} for memory in cluster
    ]
    source = Provenance("", "", max(map(_said_at, cluster)))
    # Archived with its originals as it comes out of the gate: 0.9 knows its row by these words.
    passed = await user.store.passed(
        NewMemory(draft, source, {"summary_of": originals})
    )
    now = int(time.time())
    archived = [
        ArchivedMemory(
            memory, "one memory says it now", now, passed.draft.content
        )
        for memory in cluster
    ]
    await put_into_archive(user, archived)
    ids = [memory.id for memory in cluster]
    rows = await user.store.read(ids)
    if any(memory not in rows for memory in cluster):
        await user.archive.discard(user.user_id, ids)
        raise WriteRefused("a memory of them was changed meanwhile")
    (row,) = await user.store.write(passed, gone=cluster)
    change = AuditEntry(
        kind="saved",
        memory_id=row.id,
        after=row.content,
        reason=f"a summary of {len(cluster)} memories",
        step=row.id,
    )
    gone = [
        _archived_change(copy, "summarised", step=row.id) for copy in archived
    ]
    await user.record(change, *gone)
