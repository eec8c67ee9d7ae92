"""One memory in the place of several related ones, now and then.

The originals are archived, the summary is written, and only then are they deleted; a run that broke
off in between is finished by the next one.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
import uuid
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import replace

import numpy as np

from adaptive.core.characters import normalised_text
from adaptive.core.errors import TablesUnavailable
from adaptive.core.model import Completion, CompletionRequest, Draft, Memory, Provenance, is_core
from adaptive.core.ports import Vectors
from adaptive.learn.apply import put_into_archive, remove_archived, said_at_of
from adaptive.learn.duplicates import NEGATIONS, counted_words
from adaptive.learn.lesson import LessonResources
from adaptive.llm.ask import render_prompt
from adaptive.llm.reply import read_object
from adaptive.privacy.changes import UserStore
from adaptive.privacy.erasure import made_of
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.gate import Refused, gate, gate_policy
from adaptive.privacy.kept import ArchivedMemory, AuditEntry
from adaptive.privacy.pending import Leases
from adaptive.search.index import MemoryIndex
from adaptive.search.tokens import comparable, tokens
from adaptive.search.vectors import normalised

log_summaries = logging.getLogger("adaptive_memory.learn")

_INTERVAL_SECONDS = 86_400.0
_CLUSTERS_PER_RUN = 3  # each is a model call, which an admin pays for
# Memories that rest for so long are summarised, from so many related ones on.
_LEAST_AGE_SECONDS = 30 * 24 * 3600
_SMALLEST_CLUSTER = 4
# Cosines less the store's mean, in null spreads (``search/fusion.py``), from which two memories are
# related. Of 59 memories in 12 invented topics, among 20 of none, 0.69 are found, and 0.98 of these
# stand with their own topic; at 4 it is 0.66 and 0.80, at 6 0.59 and 0.94 (all-MiniLM-L6-v2).
_RELATED_FROM = 5.0
LARGEST_CLUSTER = 12  # more facts in one, or long ones, are no longer read as facts
_LONGEST_SUMMARISED = 250
_MOST_COMPARED = 1000  # in one run, those first that rest for longest
_KEPT_WORDS = 0.6  # of the telling words of each memory
_SUMMARY_WORDS = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+")
_DIGIT = re.compile(r"\d")
# A word that opens a sentence has its capital letter from there.
_OPENINGS = re.compile(r"(?:^|[.!?:…。] )[^\W\d_]+\b")


async def summarise_when_due(room: LessonResources, leases: Leases, now: float) -> None:
    """Summarise some clusters if the interval has passed; may raise any ``AdaptiveMemoryError``."""
    name, owner = f"upkeep:{room.user_store.user_id}", uuid.uuid4().hex
    if not await leases.acquire(name, owner, now, _INTERVAL_SECONDS):
        return
    left_out = await _finish_broken_off(room, int(now))
    found = await asyncio.to_thread(related_clusters, await room.index(), now, left_out)
    clusters = [cluster for cluster in found if not any(map(room.hidden.holds, cluster))]
    # Others each time, so that failing ones keep none waiting.
    for cluster in random.sample(clusters, min(len(clusters), _CLUSTERS_PER_RUN)):
        await _replaced(room, cluster, int(now))


async def _finish_broken_off(room: LessonResources, now: int) -> set[str]:
    """Delete originals beside their summary; return the ids of what is not to be summarised."""
    user = room.user_store
    archived = [one for one in await user.archive.read(user.user_id) if one.summary]
    texts = {comparable(one.summary) for one in archived}
    async with room.writing:
        rows = {row.id: row for row in await user.store.read()}
        by_words = {comparable(row.content): row for row in rows.values()}
        for one in archived:
            summary = by_words.get(comparable(one.summary))
            if summary and summary.id != one.memory.id and rows.get(one.memory.id) == one.memory:
                await _remove_originals(user, summary, [one], now)
    return {id for id, row in rows.items() if made_of(row) or comparable(row.content) in texts}


async def _replaced(room: LessonResources, cluster: Sequence[Memory], now: int) -> None:
    """Put a summary in the place of a cluster, or leave it alone."""
    user = room.user_store
    text = read_summary((await room.ask(summary_request(cluster))).text)
    # Before it is archived with its originals: a run that broke off knows the row by its words.
    verdict = await asyncio.to_thread(gate, text, gate_policy(room.settings))
    async with room.writing:
        rows = {row.id: row for row in await user.store.read()}
        is_changed = any(rows.get(memory.id) != memory for memory in cluster)
        if is_changed or isinstance(verdict, Refused) or not is_faithful(text, cluster):
            log_summaries.info("%d memories stay as they are", len(cluster))
            return
        archived = [ArchivedMemory(memory, "summarised", now, verdict) for memory in cluster]
        await put_into_archive(user, archived)
        # As important as its weightiest original, as sure as its weakest.
        top = max(cluster, key=lambda one: one.importance)
        confidence = min(memory.confidence for memory in cluster)
        draft = Draft(verdict, top.tags, top.bank, confidence, top.importance, top.until)
        originals = [{"id": one.id, "said_at": said_at_of(one)} for one in cluster]
        source = Provenance("", "", max(map(said_at_of, cluster)))
        row = await user.store.add(draft, source, {"summary_of": originals})
        reason = f"a summary of {len(cluster)} memories"
        entry = AuditEntry("saved", row.id, now, None, row.content, reason, step=row.id)
        await user.trail.record(user.user_id, [entry], now)
        await _remove_originals(user, row, archived, now)


async def _remove_originals(
    user: UserStore, row: Memory, archived: Sequence[ArchivedMemory], now: int
) -> None:
    """Delete archived originals in favour of their summary, which stands."""
    removed = await remove_archived(user, [one.memory for one in archived])
    told = AuditEntry("summarised", "", now, reason="one memory says it now", step=row.id)
    entries = [
        replace(told, memory_id=one.memory.id, before=one.memory, archived=one)
        for one in archived
        if one.memory in removed
    ]
    await user.trail.record(user.user_id, entries, now)
    with suppress(TablesUnavailable):  # recalls only
        await user.usage.merge(user.user_id, [memory.id for memory in removed], row.id)


def related_clusters(
    index: MemoryIndex, now: float, left_out: Set[str] = frozenset()
) -> list[tuple[Memory, ...]]:
    """Clusters of old memories of one bank and one end date, the most related first."""
    unchanged_since = now - _LEAST_AGE_SECONDS
    members = [
        memory
        for memory, is_embedded in zip(index.memories, index.embedded, strict=True)
        if is_embedded
        and len(memory.content) <= _LONGEST_SUMMARISED
        and memory.updated_at <= unchanged_since
        and memory.id not in left_out
        and not is_core(memory)
        and all(one.lower() != one.upper() for one in memory.content if one.isalpha())
    ]
    if not index.ranking.levels or not members:
        return []
    members = sorted(members, key=lambda one: one.updated_at)[:_MOST_COMPARED]
    places = [index.places[one.id] for one in members]
    apart = normalised((index.ranking.vectors[places] - index.ranking.centre).astype(np.float32))
    nearness: Vectors = apart @ apart.T / index.ranking.unit
    kinds = np.asarray([f"{one.until}/{one.bank.casefold()}" for one in members], dtype=str)
    near = (nearness >= _RELATED_FROM) & (kinds[:, None] == kinds[None, :])
    np.fill_diagonal(near, False)
    clusters: list[tuple[Memory, ...]] = []
    # Each grows from the memory with the most near ones left, by what is near to all on average.
    while (degree := near.sum(axis=1)).max() + 1 >= _SMALLEST_CLUSTER:
        seed = int(degree.argmax())
        cluster = [seed]
        for at in np.argsort(-nearness[seed]).tolist():
            if near[seed, at] and nearness[at][cluster].mean() >= _RELATED_FROM:
                cluster.append(at)
        cluster = cluster[:LARGEST_CLUSTER]
        near[seed] = False
        if len(cluster) >= _SMALLEST_CLUSTER:
            near[:, cluster] = near[cluster] = False
            clusters.append(tuple(members[at] for at in sorted(cluster)))
    return clusters


def summary_request(cluster: Sequence[Memory]) -> CompletionRequest:
    """The question to the model, without dates: it would write them into the summary."""
    lines = [f"- {escaped_entry(' '.join(memory.content.split()))}" for memory in cluster]
    types = {"summary": {"type": "string"}, "complete": {"type": "boolean"}}
    schema = {"type": "object", "properties": types, "required": list(types)}
    system = render_prompt("summarise_memories", "", {})
    return CompletionRequest(system, "\n".join(["## Memories", *lines]), "memory_summary", schema)


def read_summary(text: str) -> str:
    """The last summary in a model's reply; empty where the model says that it isn't complete."""
    reply = Completion(text)
    fields = read_object(reply, "summary", lambda one: isinstance(one.get("summary"), str))
    return " ".join(fields["summary"].split()) if fields.get("complete") is True else ""


def is_faithful(summary: str, cluster: Sequence[Memory]) -> bool:
    """Whether a summary is shorter than its originals, and says all that they do and no more."""
    originals = [memory.content for memory in cluster]
    said, known, kept = _words(summary), _words(" ".join(originals)), set(tokens(summary))
    marks = set[str]().union(*(_words(one, marks=True) for one in originals))
    added = _words(_OPENINGS.sub(" ", summary), marks=True) - known
    negations = [sum(word in NEGATIONS for word in counted_words(one)) for one in originals]
    negated = sum(word in NEGATIONS for word in counted_words(summary))
    telling = [set(tokens(one)) for one in originals]
    return (
        0 < len(summary) < sum(map(len, originals))
        and marks <= said
        and not added
        and sum(map(bool, negations)) <= negated <= sum(negations)
        and all(len(kept & one) >= _KEPT_WORDS * len(one) for one in telling)
    )


def _words(text: str, *, marks: bool = False) -> set[str]:
    """Words in small letters, or only those with a digit or a capital letter, but for "I"."""
    words = _SUMMARY_WORDS.findall(normalised_text(text, "NFKC"))
    if marks:
        words = [one for one in words if (one != one.lower() and one != "I") or _DIGIT.search(one)]
    return set(map(str.casefold, words))
