"""Upkeep of a user's store: clusters of old memories become one memory each, now and then.

It is begun after a turn, never by a clock of its own, and does a bounded piece of work: one lease
per user tells both that no other worker is at it and that the interval has not passed yet. For
each cluster the originals are archived, the summary is written, and only then are they deleted.
A run that broke off in between is finished by the next one: the archive tells what is left.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace

from adaptive.errors import AdaptiveMemoryError, MemoryUnavailable, TablesUnavailable
from adaptive.learn.archive import UserStore, put_into_archive, remove_archived
from adaptive.learn.clusters import related_clusters
from adaptive.learn.summary import (
    originals_of,
    read_summary,
    refusal_of,
    summary_draft,
    summary_meta,
    summary_provenance,
    summary_request,
)
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.model import Memory
from adaptive.ports import Completer
from adaptive.privacy.gate import Refused, gate
from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.privacy.policy import gate_policy
from adaptive.retry import RetryPolicy
from adaptive.search.index import MemoryIndex
from adaptive.search.tokens import comparable
from adaptive.settings import Settings
from adaptive.table_ports import ArchivedMemory, AuditEntry, Leases

log_upkeep = logging.getLogger("adaptive_memory.learn")

# Each is a model call, which an admin pays for.
_CLUSTERS_PER_RUN = 3
# What a run may take beside its model calls: some forty deletions, each with a read of the store.
_WRITING_SECONDS = 600.0
# After a run that left something undone.
_RETRY_AFTER_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class UpkeepResources:
    """What upkeep works with.

    ``current`` brings the user's index as the store stands now. ``writing`` opens what keeps
    lessons of the same user out while the store is changed; it is not held while the model thinks.
    The model is not shown the memories of ``hidden``: clusters with them are left alone.
    """

    room: UserStore
    current: Callable[[], Awaitable[MemoryIndex]]
    completer: Completer
    formats: AnswerFormats
    leases: Leases
    writing: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    hidden: LocalOnlyBanks = NOTHING_HIDDEN


class UpkeepReport(Counter[str]):
    """What a run did, and what it left and why, counted by words."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left that another try may do."""
        return not any(words.startswith(("failed", "originals kept")) for words in +self)

    def __str__(self) -> str:
        counted = [f"{words} {count}" for words, count in sorted((+self).items())]
        return ", ".join(counted) or "nothing to do"


async def upkeep_when_due(
    resources: UpkeepResources, settings: Settings, owner: str, clock: Callable[[], float]
) -> UpkeepReport | None:
    """Summarise some clusters if the interval has passed; ``None`` if it has not.

    ``owner`` names this very call, over all workers; ``clock`` tells epoch seconds. Raises nothing
    of ours: failures are counted and logged.
    """
    if not settings.enable_summarization_task:
        return None
    name = f"upkeep:{resources.room.user_id}"
    longest = _WRITING_SECONDS + _CLUSTERS_PER_RUN * settings.llm_timeout_seconds
    report = UpkeepReport()
    try:  # without a lease two workers would do it twice
        if not await resources.leases.acquire(name, owner, clock(), longest):
            return None
        await _run_upkeep(resources, settings, clock, report)
        interval = float(settings.summarization_interval)
        rest = interval if report.complete else min(interval, _RETRY_AFTER_SECONDS)
        await resources.leases.acquire(name, owner, clock(), rest)
    except TablesUnavailable as error:
        log_upkeep.debug("upkeep may come again too soon, or not at all: %s", error)
        return report if report else None
    log_upkeep.info("upkeep: %s", report)
    return report


async def _run_upkeep(
    resources: UpkeepResources, settings: Settings, clock: Callable[[], float], report: UpkeepReport
) -> None:
    """Finish what a run left that broke off, then put summaries in the place of some clusters."""
    try:
        index, left_out = await _finished_index(resources, int(clock()), report)
        found = await asyncio.to_thread(related_clusters, index, settings, clock(), left_out)
    except AdaptiveMemoryError as error:
        _failed(report, error)
        return
    clusters = [cluster for cluster in found if not any(map(resources.hidden.holds, cluster))]
    report["left alone: for local models only"] += len(found) - len(clusters)
    report["clusters"] += len(clusters)
    # Others each time, so that failing ones keep none waiting.
    for cluster in random.sample(clusters, min(len(clusters), _CLUSTERS_PER_RUN)):
        try:
            why = await _replace_cluster(resources, settings, cluster, clock, report)
            report[f"left alone: {why}" if why else "summarised"] += 1
        except AdaptiveMemoryError as error:
            _failed(report, error)
            if isinstance(error, MemoryUnavailable):
                return


def _failed(report: UpkeepReport, error: AdaptiveMemoryError) -> None:
    log_upkeep.warning("upkeep left something undone: %s", error)
    report[f"failed: {type(error).__name__}"] += 1


async def _finished_index(
    resources: UpkeepResources, now: int, report: UpkeepReport
) -> tuple[MemoryIndex, set[str]]:
    """The index, and the ids in it that are no originals: summaries, and what they stand for.

    Originals that a run which broke off has left beside their summary are deleted here.
    """
    index, room = await resources.current(), resources.room
    archived = [one for one in await room.archive.read(room.user_id) if one.summary]
    texts = {comparable(one.summary) for one in archived}
    left_out = {
        row.id for row in index.memories if originals_of(row) or comparable(row.content) in texts
    }
    if archived:
        async with resources.writing():
            for row, originals in left_beside_summary(archived, await room.store.read()):
                left_out |= {memory.id for memory in originals}
                await _remove_originals(room, row, originals, now, report)
    return index, left_out


async def _replace_cluster(
    resources: UpkeepResources,
    settings: Settings,
    cluster: tuple[Memory, ...],
    clock: Callable[[], float],
    report: UpkeepReport,
) -> str:
    """Put a summary in the place of a cluster; why it is left alone, or nothing.

    Raises:
        ModelError: the model brought nothing.
        HostError: store or archive refused; nothing was deleted.
    """
    request = summary_request(cluster, settings.memory_summarization_prompt)
    policy = RetryPolicy(settings.max_retries, settings.retry_delay)
    completion = await ask(
        resources.completer, request, resources.formats, policy, settings.llm_timeout_seconds
    )
    summary = read_summary(completion.text)
    if refusal := refusal_of(summary, cluster):
        return refusal
    # Before it is archived with its originals: a run that broke off knows the row by its words.
    verdict = await asyncio.to_thread(gate, summary.text, gate_policy(settings))
    if isinstance(verdict, Refused):
        return verdict.reason
    summary = replace(summary, text=verdict.text)
    room = resources.room
    async with resources.writing():
        now = int(clock())
        rows = {row.id: row for row in await room.store.read()}
        if any(rows.get(memory.id) != memory for memory in cluster):
            return "a memory was changed meanwhile"
        await put_into_archive(
            room, [ArchivedMemory(memory, "summarised", now, summary.text) for memory in cluster]
        )
        row = await room.store.add(
            summary_draft(summary, cluster),
            summary_provenance(cluster),
            summary_meta(cluster, now),
        )
        reason = f"a summary of {len(cluster)} memories"
        entry = AuditEntry("saved", row.id, now, after=row.content, reason=reason)
        await room.trail.record(room.user_id, [entry], now)
        await _remove_originals(room, row, cluster, now, report)
    return ""


def left_beside_summary(
    archived: Sequence[ArchivedMemory], rows: Sequence[Memory]
) -> list[tuple[Memory, list[Memory]]]:
    """Summaries in the store with those of their originals that stand there, too, unchanged.

    A summary is known by its meta, or by its content, as releases before 0.10 have no meta. An
    original that says word for word what the summary was to say is not taken for it.
    """
    ids = {one.memory.id for one in archived if one.summary}
    by_id = {row.id: row for row in rows}
    by_content = {comparable(row.content): row for row in rows if row.id not in ids}
    by_original = {one: row for row in rows for one in originals_of(row)}
    found: dict[str, tuple[Memory, list[Memory]]] = {}
    for one in archived:
        row = by_original.get(one.memory.id) or by_content.get(comparable(one.summary))
        if one.summary and row and by_id.get(one.memory.id) == one.memory:
            found.setdefault(row.id, (row, []))[1].append(one.memory)
    return list(found.values())


async def _remove_originals(
    room: UserStore, row: Memory, originals: Sequence[Memory], now: int, report: UpkeepReport
) -> None:
    """Delete archived originals in favour of their summary, which stands.

    Raises:
        HostError: the store could not be read; nothing was deleted.
    """
    removed = await remove_archived(room, originals)
    report["originals archived"] += len(removed)
    report["originals kept"] += len(originals) - len(removed)
    entries = [
        AuditEntry("summarised", memory.id, now, memory.content, row.content, f"now {row.id}")
        for memory in removed
    ]
    await room.trail.record(room.user_id, entries, now)
    try:
        await room.usage.merge(room.user_id, [memory.id for memory in removed], row.id)
    except TablesUnavailable as error:
        log_upkeep.debug("recalls of summarised memories are not handed over: %s", error)
