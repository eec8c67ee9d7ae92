"""The archive: memories that were taken out of the store, whole, and their way back.

A row is deleted only after its archived copy was read back, and only if it still is what was
archived. So whatever fails in between, every memory is in the store, in the archive, or in both.
"""

import time
import uuid
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from adaptive.core import (
    CHANGED_MEANWHILE,
    HostError,
    Memory,
    NewMemory,
    Proposal,
    Provenance,
    StoreError,
    TablesUnavailable,
    has_ended,
    is_core,
    log_failure,
    phrase,
    text_field,
)
from adaptive.memory.audit import AuditEntry, ChangeKind, UserStore
from adaptive.memory.gate import draft_of
from adaptive.memory.tables import ArchivedMemory
from adaptive.search import comparable
from adaptive.settings import Settings

_PRUNED_PER_TURN = 25
# Why a memory is archived that comes back as one that is known everywhere.
FOLDER_IS_GONE = "its folder was deleted"


async def exchange(
    user: UserStore,
    *new: NewMemory,
    back: Sequence[Memory] = (),
    gone: Sequence[Memory] = (),
    into_archive: Sequence[ArchivedMemory] = (),
    out_of_archive: Sequence[str] = (),
) -> Sequence[Memory]:
    """Write, put back and remove rows, and move memories into the archive and out of it.

    What is written passes the gate.

    Raises:
        HostError: something has failed, or a row that was to go says something else by now; every
            memory is in the store, in the archive, or in both.
        WriteRefused: what is written may not stand in the store, and nothing is done.
    """
    passed = [await user.gate.passed(memory) for memory in new]
    allowed = await user.gate.allowed(*back)
    if into_archive:
        await user.archive.put(user.user_id, into_archive)
        stored = await user.archive.read(
            user.user_id, [copy.memory.id for copy in into_archive]
        )
        if any(copy not in stored for copy in into_archive):
            raise TablesUnavailable(detail="the archive lacks what went in")
    rows: Sequence[Memory] = ()
    if gone:
        standing = await user.store.read([memory.id for memory in gone])
        if any(memory not in standing for memory in gone):
            archived_ids = [copy.memory.id for copy in into_archive]
            await user.archive.discard(user.user_id, archived_ids)
            raise StoreError(CHANGED_MEANWHILE)
    if new or back or gone:
        rows = await user.store.write(*passed, back=allowed, gone=gone)
    if out_of_archive:
        # What is done is done, and is written down; the next try finds it in the store.
        with suppress(TablesUnavailable):
            await user.archive.discard(user.user_id, out_of_archive)
    return rows


async def archive_memories(
    user: UserStore,
    memories: Sequence[Memory],
    reason: str,
    source: Provenance,
) -> None:
    """Take memories out of the store into the archive, and write that down; raises ``HostError``."""
    now = int(time.time())
    archived = [ArchivedMemory(memory, reason, now) for memory in memories]
    await exchange(user, gone=memories, into_archive=archived)
    changes = [_archived_change(copy, "pruned") for copy in archived]
    await user.record(*changes, source=source)


def _archived_change(copy: ArchivedMemory, kind: ChangeKind) -> AuditEntry:
    """The change by which a memory went into the archive."""
    return AuditEntry(
        kind=kind,
        memory_id=copy.memory.id,
        before=copy.memory,
        reason=copy.reason,
        archived=copy,
    )


# --- pruning ---


async def prune_store(
    user: UserStore, settings: Settings, source: Provenance, fresh: Set[str]
) -> list[Proposal]:
    """Archive and delete what is too much, what has ended first, nothing pinned or ``fresh``."""
    limit = settings.max_total_memories
    reason = f"more than {limit} memories; the least important go first"
    try:
        if not limit or (await user.store.stamp()).count <= limit:
            return []
        memories = await user.store.read()
        too_many = min(max(len(memories) - limit, 0), _PRUNED_PER_TURN)
        candidates = [
            memory
            for memory in memories
            if memory.id not in fresh and not memory.is_pinned
        ]
        leaving = leaving_first(candidates, int(time.time()))[:too_many]
        await archive_memories(user, leaving, reason, source)
    except HostError as error:
        log_failure("nothing is pruned", error)
        return []
    return [
        Proposal(
            "END",
            memory.id,
            draft=draft_of(memory),
            before=memory.content,
        ).decided("archived", reason)
        for memory in leaving
    ]


def leaving_first(memories: Sequence[Memory], now: int) -> list[Memory]:
    """Memories in the order in which they leave a full store: what has ended, the rest, the core.

    Of each the least important come first, of the same importance the longest unchanged.
    """
    today = str(datetime.fromtimestamp(now, UTC).date())

    def order(memory: Memory) -> tuple[bool, bool, int, int]:
        """Where a memory stands in the order."""
        holds = not has_ended(memory, today)
        return (
            holds,
            holds and is_core(memory),
            memory.importance,
            memory.updated_at,
        )

    return sorted(memories, key=order)


# --- the way back ---


async def restore_memory(
    user: UserStore, memory_id: str, step: str = ""
) -> bool:
    """Put an archived memory back as it stood, unless the store says it; whether it came back.

    Raises:
        WriteRefused: by the rules of today it may not stand in the store.
    """
    archived = await user.archive.read(user.user_id, [memory_id])
    if not archived:
        return False
    copy = archived[0]
    memory = copy.memory
    said = _said(copy)
    for row in await user.store.read():
        if row.id == memory_id or said == (row.scope, comparable(row.content)):
            await exchange(user, out_of_archive=[memory_id])
            return False
    scope = restored_scope(copy)
    if scope == memory.scope:
        await exchange(user, back=[memory], out_of_archive=[memory_id])
    else:
        moved = NewMemory(
            draft=replace(draft_of(memory), tags=memory.tags_in(scope)),
            source=source_of(memory),
            extra=memory.meta,
            id=memory_id,
        )
        await exchange(user, moved, out_of_archive=[memory_id])
    change = AuditEntry(
        kind="restored",
        memory_id=memory_id,
        after=memory.content,
        archived=copy,
        step=step,
    )
    await user.record(change)
    return True


def restored_scope(copy: ArchivedMemory) -> str:
    """The scope that an archived memory has when it comes back."""
    return "" if copy.reason == FOLDER_IS_GONE else copy.memory.scope


def _said(copy: ArchivedMemory) -> tuple[str, str]:
    """What an archived memory says, and where it would say it."""
    return restored_scope(copy), comparable(copy.memory.content)


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
    said = {(row.scope, comparable(row.content)) for row in rows}
    standing = {row.id for row in rows}
    # A summary that was archived itself comes back in the place of its originals.
    summaries = standing.union(copy.memory.id for copy in archived)
    coming: list[Memory] = []
    for copy in newest_first:
        is_known = copy.memory.id in standing or _said(copy) in said
        if not is_known and copy.summary_id not in summaries:
            coming.append(copy.memory)
            said.add(_said(copy))
    chosen = coming[: max(limit - len(rows), 0)] if limit else coming
    reason = phrase("same_known")
    if len(chosen) < len(coming):
        reason = phrase("limit_is", n=limit)
    staying = len(archived) - len(chosen)
    told = ""
    if staying:
        told = phrase("still_archived", n=staying, reason=reason)
    return chosen, told


# --- summaries: one memory in the place of several ---


async def replace_by_summary(
    user: UserStore, cluster: Sequence[Memory], text: str
) -> None:
    """Put a summary in the place of memories.

    Raises:
        HostError: one of them was changed meanwhile, or something has failed.
        WriteRefused: the summary may not be written, and nothing is.
    """
    # As important as its weightiest original, as sure as its weakest.
    top = max(cluster, key=lambda memory: memory.importance)
    draft = replace(
        draft_of(top),
        content=text,
        confidence=min(memory.confidence for memory in cluster),
        passed="",
    )
    summary_id = str(uuid.uuid4())
    said_at = max(memory.said_at for memory in cluster)
    source = Provenance("", "", said_at, step=summary_id)
    summary = NewMemory(draft, source, id=summary_id)
    now = int(time.time())
    archived = [
        ArchivedMemory(memory, "one memory says it now", now, summary_id)
        for memory in cluster
    ]
    (row,) = await exchange(user, summary, gone=cluster, into_archive=archived)
    change = AuditEntry(
        kind="saved",
        memory_id=summary_id,
        after=row.content,
        reason=f"a summary of {len(cluster)} memories",
    )
    gone = [_archived_change(copy, "summarised") for copy in archived]
    await user.record(change, *gone, source=source)


def source_of(memory: Memory) -> Provenance:
    """Where a memory was said, as far as it is known, and when, else when it was made."""
    return Provenance(
        chat_id=text_field(memory.meta, "chat_id"),
        message_id=text_field(memory.meta, "message_id"),
        said_at=memory.said_at,
    )
