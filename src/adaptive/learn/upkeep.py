"""Upkeep of a user's store: clusters of old memories become one memory each, now and then.

It is begun after a turn, never by a clock of its own, and does a bounded piece of work: one lease
per user tells both that no other worker is at it and that the interval has not passed yet. For
each cluster the originals are archived, the summary is written, and only then are they deleted.
A run that broke off in between is finished by the next one: the archive tells what is left.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace

from adaptive.errors import AdaptiveMemoryError, MemoryUnavailable, TablesUnavailable
from adaptive.learn.archive import Storeroom, put_into_archive, remove_archived
from adaptive.learn.clusters import ClusterRules, related_clusters
from adaptive.learn.screen import comparable
from adaptive.learn.summary import (
    Summary,
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
from adaptive.settings import Settings
from adaptive.table_ports import ArchivedMemory, AuditEntry, Leases

log_upkeep = logging.getLogger("adaptive_memory.learn")

# Each is a model call, which an admin pays for.
_CLUSTERS_PER_RUN = 3
# What a run may take beside its model calls: some forty deletions, each with a read of the store.
_WRITING_SECONDS = 600.0
# After a run that left something undone.
_RETRY_AFTER_SECONDS = 3600.0
_SUMMARISED = "summarised"


@dataclass(frozen=True, slots=True)
class Workshop:
    """What upkeep works with.

    ``current`` brings the user's index as the store stands now. ``writing`` opens what keeps
    lessons of the same user out while the store is changed; it is not held while the model thinks.
    The model is not shown the memories of ``hidden``: clusters with them are left alone.
    """

    room: Storeroom
    current: Callable[[], Awaitable[MemoryIndex]]
    completer: Completer
    formats: AnswerFormats
    leases: Leases
    writing: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    hidden: LocalOnlyBanks = NOTHING_HIDDEN


@dataclass(slots=True)
class UpkeepReport:
    """What runs did, counted by words; reports can be added up.

    ``complete`` is false when something is left undone that another try may do.
    """

    counts: Counter[str] = field(default_factory=Counter[str])
    complete: bool = True

    def add(self, other: UpkeepReport) -> None:
        """Count another run's work, too."""
        self.counts.update(other.counts)
        self.complete = self.complete and other.complete

    def count(self, words: str, number: int = 1) -> None:
        """Count something that was done or left."""
        if number:
            self.counts[words] += number

    def failed(self, error: AdaptiveMemoryError) -> None:
        """Count a failure by its kind."""
        self.count(f"failed: {type(error).__name__}")
        self.complete = False

    def __str__(self) -> str:
        counted = ", ".join(f"{words} {count}" for words, count in sorted(self.counts.items()))
        return counted or "nothing to do"


async def upkeep_when_due(
    shop: Workshop, settings: Settings, owner: str, clock: Callable[[], float]
) -> UpkeepReport | None:
    """Summarise some clusters if the interval has passed; ``None`` if it has not.

    ``owner`` names this very call, over all workers; ``clock`` tells epoch seconds. Raises nothing
    of ours: failures are counted and logged.
    """
    if not settings.enable_summarization_task:
        return None
    name = f"upkeep:{shop.room.user_id}"
    longest = _WRITING_SECONDS + _CLUSTERS_PER_RUN * settings.llm_timeout_seconds
    try:
        if not await shop.leases.acquire(name, owner, clock(), longest):
            return None
    except TablesUnavailable as error:  # without a lease two workers would do it twice
        log_upkeep.debug("no upkeep: %s", error)
        return None
    report = UpkeepReport()
    try:
        await _run_upkeep(shop, settings, clock, report)
    except AdaptiveMemoryError as error:
        log_upkeep.warning("upkeep broke off: %s", error)
        report.failed(error)
    interval = float(settings.summarization_interval)
    rest = interval if report.complete else min(interval, _RETRY_AFTER_SECONDS)
    try:
        await shop.leases.acquire(name, owner, clock(), rest)
    except TablesUnavailable as error:
        log_upkeep.debug("upkeep may come again too soon: %s", error)
    log_upkeep.info("upkeep: %s", report)
    return report


async def _run_upkeep(
    shop: Workshop, settings: Settings, clock: Callable[[], float], report: UpkeepReport
) -> None:
    index = await shop.current()
    archived = await shop.room.archive.read(shop.room.user_id)
    done = await _finish_former_run(shop, archived, clock, report)
    rules = ClusterRules.of(settings, clock(), done | _summary_ids(index.memories, archived))
    found = await asyncio.to_thread(related_clusters, index, settings, rules)
    clusters = [cluster for cluster in found if not any(map(shop.hidden.holds, cluster))]
    report.count("left alone: for local models only", len(found) - len(clusters))
    report.count("clusters", len(clusters))
    for cluster in _clusters_in_turn(clusters, clock(), settings.summarization_interval):
        try:
            await _replace_cluster(shop, settings, cluster, clock, report)
        except MemoryUnavailable:
            raise
        except AdaptiveMemoryError as error:
            log_upkeep.warning("a cluster is left alone: %s", error)
            report.failed(error)


def _clusters_in_turn(
    clusters: Sequence[tuple[Memory, ...]], now: float, interval: int
) -> list[tuple[Memory, ...]]:
    """The clusters of this run: others each time, so that failing ones keep none waiting."""
    start = int(now // interval) * _CLUSTERS_PER_RUN % len(clusters) if clusters else 0
    return [*clusters[start:], *clusters[:start]][:_CLUSTERS_PER_RUN]


async def _replace_cluster(
    shop: Workshop,
    settings: Settings,
    cluster: tuple[Memory, ...],
    clock: Callable[[], float],
    report: UpkeepReport,
) -> None:
    """Put a summary in the place of a cluster, or leave it alone with a reason.

    Raises:
        ModelError: the model brought nothing.
        HostError: store or archive refused; nothing was deleted.
    """
    request = summary_request(cluster, settings.memory_summarization_prompt)
    policy = RetryPolicy(settings.max_retries, settings.retry_delay)
    completion = await ask(
        shop.completer, request, shop.formats, policy, settings.llm_timeout_seconds
    )
    summary = read_summary(completion.text)
    refusal = refusal_of(summary, cluster)
    if refusal:
        report.count(f"left alone: {refusal}")
        return
    # Before it is archived with its originals: a run that broke off knows the row by its words.
    verdict = await asyncio.to_thread(gate, summary.text, gate_policy(settings))
    if isinstance(verdict, Refused):
        report.count(f"left alone: {verdict.reason}")
        return
    summary = replace(summary, text=verdict.text)
    async with shop.writing():
        await _write_summary(shop.room, summary, cluster, int(clock()), report)


async def _write_summary(
    room: Storeroom,
    summary: Summary,
    cluster: tuple[Memory, ...],
    now: int,
    report: UpkeepReport,
) -> None:
    rows = {row.id: row for row in await room.store.read()}
    if any(rows.get(memory.id) != memory for memory in cluster):
        report.count("left alone: a memory was changed meanwhile")
        return
    await put_into_archive(
        room, [ArchivedMemory(memory, _SUMMARISED, now, summary.text) for memory in cluster]
    )
    row = await room.store.add(
        summary_draft(summary, cluster), summary_provenance(cluster), summary_meta(cluster, now)
    )
    report.count("summarised")
    reason = f"a summary of {len(cluster)} memories"
    entry = AuditEntry("saved", row.id, now, after=row.content, reason=reason)
    await room.trail.record(room.user_id, [entry], now)
    await _remove_originals(room, row, cluster, now, report)


async def _finish_former_run(
    shop: Workshop,
    archived: Sequence[ArchivedMemory],
    clock: Callable[[], float],
    report: UpkeepReport,
) -> set[str]:
    """Delete originals that a former run has left beside their summary; the ids it dealt with."""
    if not any(one.summary for one in archived):
        return set()
    async with shop.writing():
        left = left_beside_summary(archived, await shop.room.store.read())
        for row, originals in left:
            await _remove_originals(shop.room, row, originals, int(clock()), report)
    return {memory.id for _, originals in left for memory in originals}


def left_beside_summary(
    archived: Sequence[ArchivedMemory], rows: Sequence[Memory]
) -> list[tuple[Memory, tuple[Memory, ...]]]:
    """Summaries in the store with those of their originals that stand there, too, unchanged.

    A summary is known by its meta, or by its content, as releases before 0.10 have no meta. An
    original that says word for word what the summary was to say is not taken for it.
    """
    by_id = {row.id: row for row in rows}
    by_content = {comparable(row.content): row for row in rows}
    by_original = {one: row for row in rows for one in originals_of(row)}
    batches: dict[str, list[Memory]] = {}
    for one in archived:
        if one.summary:
            batches.setdefault(comparable(one.summary), []).append(one.memory)
    found: list[tuple[Memory, tuple[Memory, ...]]] = []
    for words, originals in batches.items():
        ids = {memory.id for memory in originals}
        known = (by_original.get(memory.id) for memory in originals)
        row = next((row for row in known if row), by_content.get(words))
        standing = tuple(memory for memory in originals if by_id.get(memory.id) == memory)
        if row is not None and row.id not in ids and standing:
            found.append((row, standing))
    return found


def _summary_ids(rows: Sequence[Memory], archived: Sequence[ArchivedMemory]) -> set[str]:
    """Ids of the summaries in the store: what was made of many facts is not made of once more."""
    texts = {comparable(one.summary) for one in archived if one.summary}
    return {row.id for row in rows if originals_of(row) or comparable(row.content) in texts}


async def _remove_originals(
    room: Storeroom, row: Memory, originals: Sequence[Memory], now: int, report: UpkeepReport
) -> None:
    """Delete archived originals in favour of their summary, which stands.

    Raises:
        HostError: the store could not be read; nothing was deleted.
    """
    removal = await remove_archived(room, originals)
    report.count("originals archived", len(removal.removed))
    for _, why in removal.kept:
        log_upkeep.warning("an original stays beside its summary: %s", why)
        report.count("originals kept")
        report.complete = False
    entries = [
        AuditEntry("summarised", memory.id, now, memory.content, row.content, f"now {row.id}")
        for memory in removal.removed
    ]
    await room.trail.record(room.user_id, entries, now)
    try:
        await room.usage.merge(room.user_id, [memory.id for memory in removal.removed], row.id)
    except TablesUnavailable as error:
        log_upkeep.debug("recalls of summarised memories are not handed over: %s", error)
