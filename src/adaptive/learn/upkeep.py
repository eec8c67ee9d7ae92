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
from adaptive.privacy.gate import Refused, gate
from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.privacy.policy import gate_policy
from adaptive.privacy.retention import made_of
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
    """Delete originals beside a summary, which is known by its words.

    Returned are the ids of what is not to be summarised: summaries, originals, what was restored.
    """
    user = resources.user
    archived = await user.archive.read(user.user_id)
    async with resources.writing():
        rows = await user.store.read()
        said = {comparable(row.content): row.id for row in rows}
        written = [one for one in archived if one.summary and comparable(one.summary) in said]
        for summary in {one.summary for one in written}:
            copies = [one for one in written if one.summary == summary]
            await _carry_out(user, copies, rows, now, report)
    left_out = {said[comparable(one.summary)] for one in written}
    left_out |= {one.memory.id for one in written} | {row.id for row in rows if made_of(row)}
    return left_out


async def _replaced(
    resources: UpkeepResources,
    settings: Settings,
    cluster: Sequence[Memory],
    now: int,
    report: Counter[str],
) -> str:
    """Put a summary in the place of a cluster, or leave it alone; which and why, for the report."""
    request = summary_request(cluster, settings.memory_summarization_prompt)
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
        rows = await resources.user.store.read()
        if not await _carry_out(resources.user, copies, rows, now, report):
            return "left alone: a memory was changed meanwhile"
    return "summarised"


async def _carry_out(
    user: UserStore,
    copies: Sequence[ArchivedMemory],
    rows: Sequence[Memory],
    now: int,
    report: Counter[str],
) -> bool:
    """Put a summary in the place of its originals, as far as a former run has not done so.

    Unless it stands there nothing is done where one of the originals was changed or is gone.

    Raises:
        HostError: store or archive refused; what was not archived was not deleted.
    """
    originals = {one.memory.id: one.memory for one in copies}
    standing = [row for row in rows if originals.get(row.id) == row]
    words = comparable(copies[0].summary)
    same = (row for row in rows if row.id not in originals and comparable(row.content) == words)
    if not standing:
        return False
    if not (summary := next(same, None)):
        if len(standing) < len(copies):
            return False
        await put_into_archive(user, copies)
        summary = await user.store.add(*summary_row(copies[0].summary, standing))
        reason = f"a summary of {len(copies)} memories"
        entry = AuditEntry("saved", summary.id, now, after=summary.content, reason=reason)
        await user.trail.record(user.user_id, [entry], now)
    removed = await remove_archived(user, standing)
    report["originals archived"] += len(removed)
    report["failed: originals kept"] += len(standing) - len(removed)
    where = (summary.content, f"now {summary.id}")
    entries = [AuditEntry("summarised", one.id, now, one.content, *where) for one in removed]
    await user.trail.record(user.user_id, entries, now)
    with suppress(TablesUnavailable):  # recalls only
        await user.usage.merge(user.user_id, [memory.id for memory in removed], summary.id)
    return True
