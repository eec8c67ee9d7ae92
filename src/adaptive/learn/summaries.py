"""One memory in the place of several related ones, now and then.

The originals are archived, the summary is written, and only then are they deleted.
"""

import asyncio
import random
import re
from collections.abc import Sequence, Set

import numpy as np
from pydantic import BaseModel

from adaptive.core import (
    CompletionRequest,
    Memory,
    StoreError,
    WriteRefused,
    is_core,
    log,
    normalised_text,
    with_detail,
)
from adaptive.learn.duplicates import NEGATIONS, counted_words
from adaptive.learn.lesson import LessonResources
from adaptive.llm.ask import Line, ask_fields, fields_schema, render_prompt
from adaptive.memory import Leases
from adaptive.privacy import escaped_entry
from adaptive.search import MemoryIndex, tokens

_INTERVAL_SECONDS = 86_400.0
_CLUSTERS_PER_RUN = 3  # each is a model call, which an admin pays for
# Memories that rest for so long are summarised, from so many related ones on.
_LEAST_AGE_SECONDS = 30 * 24 * 3600
_SMALLEST_CLUSTER = 4
# Products of two vectors without the store's mean, in null spreads (``search/fusion.py``), from which
# two memories are related.
_RELATED_FROM = 2.2
# More facts in one, or long ones, are no longer read as facts
LARGEST_CLUSTER = 12
_LONGEST_SUMMARISED = 250
_MOST_COMPARED = 1000  # in one run, those first that rest for longest
_KEPT_WORDS = 0.6  # of the telling words of each memory
_SUMMARY_WORDS = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+")
_DIGIT = re.compile(r"\d")
# A word that opens a sentence has its capital letter from there.
_OPENINGS = re.compile(r"(?:^|[.!?:…。] )[^\W\d_]+\b")


class MemorySummary(BaseModel):
    """What a model writes in the place of several memories, and whether each fact is in it."""

    summary: Line = ""
    complete: bool = False


async def summarise_when_due(
    room: LessonResources, leases: Leases, now: float
) -> None:
    """Summarise some clusters if the interval has passed; may raise any ``AdaptiveMemoryError``."""
    lease = f"upkeep:{room.memory.user_id}"
    if room.completer is None or not await leases.acquire(
        lease, now, _INTERVAL_SECONDS
    ):
        return
    left_out = await room.memory.summaries()
    related = await asyncio.to_thread(
        related_clusters, await room.index(), now, left_out
    )
    clusters = [
        cluster
        for cluster in related
        if not any(map(room.hidden.holds, cluster))
    ]
    # Others each time, so that failing ones keep none waiting.
    random.shuffle(clusters)
    for cluster in clusters[:_CLUSTERS_PER_RUN]:
        written = await ask_fields(
            room.completer,
            room.formats,
            MemorySummary,
            summary_request(cluster),
            room.settings.llm_timeout_seconds,
        )
        if not (written.complete and is_faithful(written.summary, cluster)):
            continue
        try:
            await room.memory.summarise(cluster, written.summary)
        except (StoreError, WriteRefused) as refusal:
            log.info(
                "%d memories stay as they are: %s",
                len(cluster),
                with_detail(refusal),
            )


def related_clusters(
    index: MemoryIndex, now: float, left_out: Set[str] = frozenset()
) -> list[tuple[Memory, ...]]:
    """Clusters of old memories of one bank, one place and one end date, the largest first."""
    members = [
        memory
        for memory, is_embedded in zip(
            index.memories, index.embedded, strict=True
        )
        if is_embedded
        and memory.updated_at <= now - _LEAST_AGE_SECONDS
        and memory.id not in left_out
        and _may_be_summarised(memory)
    ]
    if not index.ranking.levels or not members:
        return []
    members.sort(key=lambda memory: memory.updated_at)
    members = members[:_MOST_COMPARED]
    places = [index.places[memory.id] for memory in members]
    ranking = index.ranking
    apart = ranking.vectors[places] - ranking.centre
    kinds = np.array(
        [
            f"{memory.until}/{memory.scope}/{memory.bank.casefold()}"
            for memory in members
        ]
    )
    nearness = apart @ apart.T / ranking.unit
    nearness[kinds[:, None] != kinds] = 0.0
    clusters: list[tuple[Memory, ...]] = []
    while True:
        # Around the memory with the most near ones that are in no cluster yet.
        is_near = nearness >= _RELATED_FROM
        around = nearness[is_near.sum(axis=1).argmax()]
        nearest = np.argsort(-around)[:LARGEST_CLUSTER]
        cluster = nearest[around[nearest] >= _RELATED_FROM]
        if len(cluster) < _SMALLEST_CLUSTER:
            return clusters
        nearness[cluster] = 0.0
        nearness[:, cluster] = 0.0
        joined: list[int] = sorted(cluster.tolist())
        clusters.append(tuple(members[place] for place in joined))


def _may_be_summarised(memory: Memory) -> bool:
    """Whether a memory is one of many, short, and of a script in which names have capitals."""
    letters = filter(str.isalpha, memory.content)
    return (
        len(memory.content) <= _LONGEST_SUMMARISED
        and not is_core(memory)
        and not memory.is_pinned
        and not memory.is_quiet
        and all(letter.lower() != letter.upper() for letter in letters)
    )


def summary_request(cluster: Sequence[Memory]) -> CompletionRequest:
    """The question to the model, without dates: it would write them into the summary."""
    lines = [
        f"- {escaped_entry(' '.join(memory.content.split()))}"
        for memory in cluster
    ]
    return CompletionRequest(
        render_prompt("summarise_memories", {}),
        "\n".join(["## Memories", *lines]),
        "memory_summary",
        fields_schema(MemorySummary),
    )


def is_faithful(summary: str, cluster: Sequence[Memory]) -> bool:
    """Whether a summary is shorter than its originals, and says all that they do and no more."""
    originals = [memory.content for memory in cluster]
    together = " ".join(originals)
    negations = [_negations(original) for original in originals]
    added_marks = _words(_OPENINGS.sub(" ", summary), marks=True)
    kept = set(tokens(summary))
    telling = [set(tokens(original)) for original in originals]
    return (
        0 < len(summary) < len(together)
        and all(
            len(kept & words) >= _KEPT_WORDS * len(words) for words in telling
        )
        and _words(together, marks=True) <= _words(summary)
        and added_marks <= _words(together)
        and sum(map(bool, negations)) <= _negations(summary) <= sum(negations)
    )


def _negations(text: str) -> int:
    """How often a text says "not" or the like."""
    return sum(word in NEGATIONS for word in counted_words(text))


def _words(text: str, *, marks: bool = False) -> set[str]:
    """Words in small letters, or only those with a digit or a capital letter, but for "I"."""
    words = _SUMMARY_WORDS.findall(normalised_text(text, "NFKC"))
    if marks:
        words = [
            word
            for word in words
            if (word != word.lower() and word != "I") or _DIGIT.search(word)
        ]
    return set(map(str.casefold, words))
