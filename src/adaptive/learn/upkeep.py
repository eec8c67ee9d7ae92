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
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass

from adaptive.errors import AdaptiveMemoryError, ModelError, TablesUnavailable
from adaptive.learn.archive import UserStore, put_into_archive, remove_archived
from adaptive.learn.summary import (
    read_summary,
    refusal_of,
    related_clusters,
    summary_request,
    summary_row,
)
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.model import Memory
from adaptive.ports import Completer
from adaptive.privacy.gate import Refused, gate, gate_policy
from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.privacy.origin import made_of
from adaptive.retry import RetryPolicy
from adaptive.search.index import MemoryIndex
from adaptive.search.tokens import comparable
from adaptive.settings import Settings
from adaptive.table_ports import ArchivedMemory, AuditEntry, Leases

log_upkeep = logging.getLogger("adaptive_memory.learn")

# Each is a model call, which an admin pays for.
_CLUSTERS_PER_RUN = 3
# After a run that left something undone or was killed; longer than any run takes.
_UPKEEP_AGAIN_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class UpkeepResources:
    """What upkeep works with.

    ``current`` brings the user's index as the store stands now. ``writing`` opens what keeps
    lessons of the same user out while the store is changed; it is not held while the model thinks.
    The model is not shown the memories of ``hidden``: clusters with them are left alone.
    """

    user: UserStore
    current: Callable[[], Awaitable[MemoryIndex]]
    completer: Completer
    formats: AnswerFormats
    leases: Leases
    writing: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    hidden: LocalOnlyBanks = NOTHING_HIDDEN


async def upkeep_when_due(
    resources: UpkeepResources, settings: Settings, owner: str, now: float
) -> Counter[str] | None:
    """Summarise some clusters if the interval has passed; ``None`` if it has not.

    What was done, and what was left and why, is counted by words. ``owner`` names this very call,
    over all workers; ``now`` is in epoch seconds. Raises nothing of ours.
    """
    name, acquire = f"upkeep:{resources.user.user_id}", resources.leases.acquire
    report = Counter[str]()
    try:  # without a lease two workers would do it twice
        if not await acquire(name, owner, now, _UPKEEP_AGAIN_SECONDS):
            return None
        left_out = await _finish_broken_off(resources, int(now), report)
        index = await resources.current()
        found = await asyncio.to_thread(related_clusters, index, settings, now, left_out)
        clusters = [cluster for cluster in found if not any(map(resources.hidden.holds, cluster))]
        report["left alone: for local models only"] = len(found) - len(clusters)
        report["clusters"] = len(clusters)
        # Others each time, so that failing ones keep none waiting.
        for cluster in random.sample(clusters, min(len(clusters), _CLUSTERS_PER_RUN)):
            report[await _replaced(resources, settings, cluster, int(now), report)] += 1
        if not any(words.startswith("failed") for words in +report):
            await acquire(name, owner, now, float(settings.summarization_interval))
    except AdaptiveMemoryError as error:
        report[_failure(error)] += 1
    report = +report
    told = ", ".join(f"{words} {count}" for words, count in sorted(report.items()))
    log_upkeep.info("upkeep: %s", told or "nothing to do")
    return report


def _failure(error: AdaptiveMemoryError) -> str:
    log_upkeep.warning("upkeep left something undone: %s", error)
    return f"failed: {type(error).__name__}"


async def _finish_broken_off(
    resources: UpkeepResources, now: int, report: Counter[str]
) -> set[str]:
    """Delete originals beside their summary, which is known by its words.

    Returned are the ids of what is not to be summarised: summaries, originals, what was restored.
    """
    user = resources.user
    archived = {one.memory.id: one for one in await user.archive.read(user.user_id) if one.summary}
    texts = {comparable(one.summary) for one in archived.values()}
    async with resources.writing():
        rows = await user.store.read()
        by_words = {comparable(row.content): row for row in rows if row.id not in archived}
        left_out = {one.id for one in rows if made_of(one) or comparable(one.content) in texts}
        for row in rows:
            copy = archived.get(row.id)
            summary = by_words.get(comparable(copy.summary)) if copy else None
            if copy and summary and copy.memory == row:
                left_out.add(row.id)
                await _remove_originals(user, summary, [row], now, report)
    return left_out


async def _replaced(
    resources: UpkeepResources,
    settings: Settings,
    cluster: Sequence[Memory],
    now: int,
    report: Counter[str],
) -> str:
    """Put a summary in the place of a cluster, or leave it alone; which and why, for the report."""
    user, request = resources.user, summary_request(cluster, settings.memory_summarization_prompt)
    policy = RetryPolicy(settings.max_retries, settings.retry_delay)
    timeout = settings.llm_timeout_seconds
    try:
        completion = await ask(resources.completer, request, resources.formats, policy, timeout)
        text = read_summary(completion.text)
    except ModelError as error:
        return _failure(error)
    if refusal := refusal_of(text, cluster):
        return f"left alone: {refusal}"
    # Before it is archived with its originals: a run that broke off knows the row by its words.
    verdict = await asyncio.to_thread(gate, text, gate_policy(settings))
    if isinstance(verdict, Refused):
        return f"left alone: {verdict.reason}"
    copies = [ArchivedMemory(memory, "summarised", now, verdict.text) for memory in cluster]
    async with resources.writing():
        rows = {row.id: row for row in await user.store.read()}
        if any(rows.get(memory.id) != memory for memory in cluster):
            return "left alone: a memory was changed meanwhile"
        await put_into_archive(user, copies)
        row = await user.store.add(*summary_row(verdict.text, cluster))
        reason = f"a summary of {len(cluster)} memories"
        entry = AuditEntry("saved", row.id, now, after=row.content, reason=reason)
        await user.trail.record(user.user_id, [entry], now)
        await _remove_originals(user, row, cluster, now, report)
    return "summarised"


async def _remove_originals(
    user: UserStore, row: Memory, originals: Sequence[Memory], now: int, report: Counter[str]
) -> None:
    """Delete archived originals in favour of their summary, which stands."""
    removed = await remove_archived(user, originals)
    report["originals archived"] += len(removed)
    report["failed: originals kept"] += len(originals) - len(removed)
    where = (row.content, f"now {row.id}")
    entries = [AuditEntry("summarised", one.id, now, one.content, *where) for one in removed]
    await user.trail.record(user.user_id, entries, now)
    with suppress(TablesUnavailable):  # recalls only
        await user.usage.merge(user.user_id, [memory.id for memory in removed], row.id)
