"""One memory in the place of several related ones, now and then.

The originals are archived, the summary is written, and only then are they deleted.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
import uuid
from collections.abc import Sequence, Set

import numpy as np

from adaptive.core.messages import normalised_text
from adaptive.core.model import (
    Memory,
    Vectors,
    WriteRefused,
    is_core,
    with_detail,
)
from adaptive.core.providers import Completion, CompletionRequest
from adaptive.core.queued_turns import Leases
from adaptive.learn.duplicates import NEGATIONS, counted_words
from adaptive.learn.lesson import LessonResources
from adaptive.llm.ask import render_prompt
from adaptive.llm.reply import read_object
from adaptive.privacy.injection import escaped_entry
from adaptive.search.index import MemoryIndex
from adaptive.search.tokens import tokens
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
# More facts in one, or long ones, are no longer read as facts
LARGEST_CLUSTER = 12
_LONGEST_SUMMARISED = 250
_MOST_COMPARED = 1000  # in one run, those first that rest for longest
_KEPT_WORDS = 0.6  # of the telling words of each memory
_SUMMARY_WORDS = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+")
_DIGIT = re.compile(r"\d")
# A word that opens a sentence has its capital letter from there.
_OPENINGS = re.compile(r"(?:^|[.!?:…。] )[^\W\d_]+\b")


async def summarise_when_due(
    room: LessonResources, leases: Leases, now: float
) -> None:
    """Summarise some clusters if the interval has passed; may raise any ``AdaptiveMemoryError``."""
    name, owner = f"upkeep:{room.memory.user_id}", uuid.uuid4().hex
    if not await leases.acquire(name, owner, now, _INTERVAL_SECONDS):
        return
    left_out = await room.memory.summaries()
    found = await asyncio.to_thread(
        related_clusters, await room.index(), now, left_out
    )
    clusters = [
        cluster
        for cluster in found
        if not any(map(room.hidden.holds, cluster))
    ]
    # Others each time, so that failing ones keep none waiting.
    for cluster in random.sample(
        clusters, min(len(clusters), _CLUSTERS_PER_RUN)
    ):
        text = await room.ask(summary_request(cluster), read_summary)
        try:
            if is_faithful(text, cluster):
                await room.memory.summarise(cluster, text)
        except WriteRefused as refusal:
            log_summaries.info(
                "%d memories stay as they are: %s",
                len(cluster),
                with_detail(refusal),
            )


def related_clusters(
    index: MemoryIndex, now: float, left_out: Set[str] = frozenset()
) -> list[tuple[Memory, ...]]:
    """Clusters of old memories of one bank and one end date, the most related first."""
    unchanged_since = now - _LEAST_AGE_SECONDS
    members = [
        memory
        for memory, is_embedded in zip(
            index.memories, index.embedded, strict=True
        )
        if is_embedded
        and len(memory.content) <= _LONGEST_SUMMARISED
        and memory.updated_at <= unchanged_since
        and memory.id not in left_out
        and not is_core(memory)
        and all(
            one.lower() != one.upper()
            for one in memory.content
            if one.isalpha()
        )
    ]
    if not index.ranking.levels or not members:
        return []
    members = sorted(members, key=lambda one: one.updated_at)[:_MOST_COMPARED]
    places = [index.places[one.id] for one in members]
    apart = normalised(
        (index.ranking.vectors[places] - index.ranking.centre).astype(
            np.float32
        )
    )
    nearness: Vectors = apart @ apart.T / index.ranking.unit
    kinds = np.asarray(
        [f"{one.until}/{one.bank.casefold()}" for one in members], dtype=str
    )
    near = (nearness >= _RELATED_FROM) & (kinds[:, None] == kinds[None, :])
    np.fill_diagonal(near, False)
    clusters: list[tuple[Memory, ...]] = []
    # Each grows from the memory with the most near ones left, by what is near to all on average.
    while (degree := near.sum(axis=1)).max() + 1 >= _SMALLEST_CLUSTER:
        seed = int(degree.argmax())
        cluster = [seed]
        for at in np.argsort(-nearness[seed]).tolist():
            if (
                near[seed, at]
                and nearness[at][cluster].mean() >= _RELATED_FROM
            ):
                cluster.append(at)
        cluster = cluster[:LARGEST_CLUSTER]
        near[seed] = False
        if len(cluster) >= _SMALLEST_CLUSTER:
            near[:, cluster] = near[cluster] = False
            clusters.append(tuple(members[at] for at in sorted(cluster)))
    return clusters


def summary_request(cluster: Sequence[Memory]) -> CompletionRequest:
    """The question to the model, without dates: it would write them into the summary."""
    lines = [
        f"- {escaped_entry(' '.join(memory.content.split()))}"
        for memory in cluster
    ]
    types = {"summary": {"type": "string"}, "complete": {"type": "boolean"}}
    schema = {"type": "object", "properties": types, "required": list(types)}
    system = render_prompt("summarise_memories", "", {})
    return CompletionRequest(
        system, "\n".join(["## Memories", *lines]), "memory_summary", schema
    )


def read_summary(reply: Completion) -> str:
    """The last summary in a model's reply; empty where the model says that it isn't complete."""
    fields = read_object(
        reply, "summary", lambda one: isinstance(one.get("summary"), str)
    )
    return (
        " ".join(fields["summary"].split())
        if fields.get("complete") is True
        else ""
    )


def is_faithful(summary: str, cluster: Sequence[Memory]) -> bool:
    """Whether a summary is shorter than its originals, and says all that they do and no more."""
    originals = [memory.content for memory in cluster]
    said, known, kept = (
        _words(summary),
        _words(" ".join(originals)),
        set(tokens(summary)),
    )
    marks = set[str]().union(*(_words(one, marks=True) for one in originals))
    added = _words(_OPENINGS.sub(" ", summary), marks=True) - known
    negations = [
        sum(word in NEGATIONS for word in counted_words(one))
        for one in originals
    ]
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
        words = [
            one
            for one in words
            if (one != one.lower() and one != "I") or _DIGIT.search(one)
        ]
    return set(map(str.casefold, words))
