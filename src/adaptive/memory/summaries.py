"""One memory in the place of several: the originals are archived, and go when it stands.

A run that broke off in between is finished by the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from adaptive.core.model import (
    Draft,
    Memory,
    Provenance,
    TablesUnavailable,
    WriteRefused,
)
from adaptive.memory.archive import (
    put_into_archive,
    remove_archived,
    said_at_of,
)
from adaptive.memory.audit import AuditEntry
from adaptive.memory.erasure import made_of
from adaptive.memory.tables import ArchivedMemory
from adaptive.memory.user_store import UserStore
from adaptive.search.tokens import comparable


async def finish_summaries(user: UserStore, now: int) -> frozenset[str]:
    """Delete originals that stand beside their summary; the ids of summaries."""
    archived = [
        one for one in await user.archive.read(user.user_id) if one.summary
    ]
    texts = {comparable(one.summary) for one in archived}
    rows = {row.id: row for row in await user.store.read()}
    by_words = {comparable(row.content): row for row in rows.values()}
    for one in archived:
        summary = by_words.get(comparable(one.summary))
        if (
            summary
            and summary.id != one.memory.id
            and rows.get(one.memory.id) == one.memory
        ):
            await _remove_originals(user, summary, [one], now)
    return frozenset(
        row.id
        for row in rows.values()
        if made_of(row) or comparable(row.content) in texts
    )


async def replace_by_summary(
    user: UserStore, cluster: Sequence[Memory], text: str, now: int
) -> None:
    """Put a summary in the place of memories, or leave them alone where one was changed.

    Raises:
        WriteRefused: the summary may not be written, and nothing is.
    """
    rows = {row.id: row for row in await user.store.read()}
    if any(rows.get(memory.id) != memory for memory in cluster):
        raise WriteRefused("a memory of them was changed meanwhile")
    # As important as its weightiest original, as sure as its weakest.
    top = max(cluster, key=lambda one: one.importance)
    draft = Draft(
        content=text,
        tags=top.tags,
        bank=top.bank,
        confidence=min(memory.confidence for memory in cluster),
        importance=top.importance,
        until=top.until,
    )
    # Before it is archived with its originals: a run that broke off knows the row by its words.
    passed = await user.store.passed(draft)
    archived = [
        ArchivedMemory(one, "summarised", now, passed.content)
        for one in cluster
    ]
    await put_into_archive(user, archived)
    originals = [{"id": one.id, "said_at": said_at_of(one)} for one in cluster]
    source = Provenance("", "", max(map(said_at_of, cluster)))
    row = await user.store.add(passed, source, {"summary_of": originals})
    entry = AuditEntry(
        kind="saved",
        memory_id=row.id,
        changed_at=now,
        after=row.content,
        reason=f"a summary of {len(cluster)} memories",
        step=row.id,
    )
    await user.trail.record(user.user_id, [entry], now)
    await _remove_originals(user, row, archived, now)


async def _remove_originals(
    user: UserStore,
    summary: Memory,
    archived: Sequence[ArchivedMemory],
    now: int,
) -> None:
    """Delete archived originals in favour of their summary, which stands."""
    removed = await remove_archived(user, [one.memory for one in archived])
    changes = [
        AuditEntry(
            kind="summarised",
            memory_id=one.memory.id,
            changed_at=now,
            before=one.memory,
            reason="one memory says it now",
            archived=one,
            step=summary.id,
        )
        for one in archived
        if one.memory in removed
    ]
    await user.trail.record(user.user_id, changes, now)
    with suppress(TablesUnavailable):  # recalls only
        await user.usage.merge(
            user.user_id, [memory.id for memory in removed], summary.id
        )
