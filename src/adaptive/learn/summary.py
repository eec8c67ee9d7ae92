"""One memory in the place of several related ones: which, what the model is asked, what is lost.

What a summary may not lose is told by form, in any language that writes names with a capital
letter. Where the form leaves a doubt, as with the word that opens a sentence, it must be kept: a
summary that is refused costs a model call, one that lost a fact costs the fact.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from adaptive.learn.archive import is_core, said_at_of
from adaptive.learn.duplicates import NEGATIONS, counted_words
from adaptive.llm.prompts import render_prompt
from adaptive.llm.reply import read_object
from adaptive.model import Completion, CompletionRequest, Draft, Memory, Provenance
from adaptive.ports import Vectors
from adaptive.privacy.escaping import escaped_entry
from adaptive.search.index import MemoryIndex
from adaptive.search.tokens import tokens
from adaptive.search.vectors import normalised
from adaptive.settings import Settings

_CLUSTER_DAY_SECONDS = 24 * 3600
# Cosines less the store's mean, in null spreads (``search/fusion.py``), from which two memories are
# related, whatever the embedding model. Of 59 memories in 12 invented topics, among 20
# of no topic, 0.69 are found, and 0.98 of what is found stands with its own topic; at 4 these are
# 0.66 and 0.80, at 6 0.59 and 0.94 (all-MiniLM-L6-v2, clusters of 4 and more).
_RELATED_FROM = 5.0
# More than a dozen facts in one, or a dozen long ones, are no longer read as facts.
LARGEST_CLUSTER = 12
_LONGEST_SUMMARISED = 250
# Of a large store this many are compared in one run, those first that rest for longest.
_MOST_COMPARED = 1000

# Of the telling words of each memory this share must stand in the summary.
_KEPT_WORDS = 0.6
_SUMMARY_WORDS = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+")
_DIGIT = re.compile(r"\d")
# A word that opens a sentence has its capital letter from there.
_OPENINGS = re.compile(r"(?:^|[.!?:…。] )[^\W\d_]+\b")


def related_clusters(
    index: MemoryIndex, settings: Settings, now: float, left_out: Set[str] = frozenset()
) -> list[tuple[Memory, ...]]:
    """Clusters of old memories of one bank and one end date, the most related first.

    Left out are core facts, memories without a vector, those whose names no check could find
    again, and the ids in ``left_out``. There are none until the index is calibrated.
    """
    unchanged_since = now - settings.summarization_min_memory_age_days * _CLUSTER_DAY_SECONDS
    members = [
        memory
        for place, memory in enumerate(index.memories)
        if index.embedded[place]
        and len(memory.content) <= _LONGEST_SUMMARISED
        and memory.updated_at <= unchanged_since
        and memory.id not in left_out
        and not is_core(memory, settings)
        and _has_capitals(memory.content)
    ]
    if not index.calibrated or not members:
        return []
    members = sorted(members, key=lambda one: one.updated_at)[:_MOST_COMPARED]
    places = [index.places[one.id] for one in members]
    apart = normalised((index.shelf.vectors[places] - index.shelf.centre).astype(np.float32))
    nearness: Vectors = apart @ apart.T / index.shelf.unit
    kinds = np.asarray([f"{one.until}/{one.bank.casefold()}" for one in members], dtype=str)
    near = (nearness >= _RELATED_FROM) & (kinds[:, None] == kinds[None, :])
    np.fill_diagonal(near, False)
    clusters: list[tuple[Memory, ...]] = []
    # Each grows from the memory with the most near ones left, by what is near to all on average.
    least = settings.summarization_min_cluster_size
    while (degree := near.sum(axis=1)).max() + 1 >= least:
        seed = int(degree.argmax())
        cluster = [seed]
        for at in np.argsort(-nearness[seed]).tolist():
            if near[seed, at] and nearness[at][cluster].mean() >= _RELATED_FROM:
                cluster.append(at)
        cluster = cluster[:LARGEST_CLUSTER]
        near[seed] = False
        if len(cluster) >= least:
            near[:, cluster] = near[cluster] = False
            clusters.append(tuple(members[at] for at in sorted(cluster)))
    return clusters


def _has_capitals(text: str) -> bool:
    """Whether names can be told by their capitals: not in Chinese, Arabic, Hindi and others."""
    letters = [letter for letter in text if letter.isalpha()]
    return bool(letters) and all(letter.lower() != letter.upper() for letter in letters)


def summary_request(cluster: Sequence[Memory], prompt: str) -> CompletionRequest:
    """The question to the model; ``prompt`` replaces the built-in one unless it is empty.

    Dates are left out: a model that saw them would write them into the summary.
    """
    lines = [f"- {escaped_entry(' '.join(memory.content.split()))}" for memory in cluster]
    schema = {
        "type": "object",
        "properties": {"summary": {"type": "string"}, "complete": {"type": "boolean"}},
        "required": ["summary", "complete"],
    }
    system = render_prompt("summarise_memories", prompt, {})
    return CompletionRequest(system, "\n".join(["## Memories", *lines]), "memory_summary", schema)


def read_summary(text: str) -> str:
    """The last summary in a model's reply; empty where the model says that it isn't complete.

    Raises:
        ReplyUnusable: there is no whole object with a summary.
    """
    reply = Completion(text)
    fields = read_object(reply, "summary", lambda one: isinstance(one.get("summary"), str))
    return " ".join(fields["summary"].split()) if fields.get("complete") is True else ""


def refusal_of(summary: str, cluster: Sequence[Memory]) -> str:
    """Why a summary may not stand for its originals, in a few words; empty if it may."""
    originals = [memory.content for memory in cluster]
    if not summary:
        return "the model could not keep every fact"
    if len(summary) >= sum(map(len, originals)):
        return "it is not shorter than the memories"
    said, known = _words(summary), _words(" ".join(originals))
    marks = [_words(one, marks=True) for one in originals]
    for mark, times in sum(marks, Counter[str]()).items():
        # Numbers of four digits are years, longer ones amounts: several facts share them.
        each = mark == "not" or (mark.isdigit() and len(mark) < 4)
        if said[mark] < (times if each else 1):
            return "a name, number or negation is missing"
    added = _words(_OPENINGS.sub(" ", summary), marks=True).keys() - known.keys()
    if added or said["not"] > known["not"]:
        return "it says more than the memories do"
    kept = set(tokens(summary))
    for telling in (set(tokens(one)) for one in originals):
        if len(kept & telling) < _KEPT_WORDS * len(telling):
            return "a memory is left out"
    return ""


def _words(text: str, *, marks: bool = False) -> Counter[str]:
    """Words in small letters, and how many negations there are as "not".

    With ``marks`` only those with a digit or a capital letter, but for "I", and "not" once.
    """
    words = _SUMMARY_WORDS.findall(unicodedata.normalize("NFKC", text))
    if marks:
        words = [one for one in words if (one != one.lower() and one != "I") or _DIGIT.search(one)]
    counted = Counter(map(str.casefold, words))
    negations = sum(word in NEGATIONS for word in counted_words(text))
    counted["not"] = min(negations, 1) if marks else negations
    return +counted


def summary_row(text: str, cluster: Sequence[Memory]) -> tuple[Draft, Provenance, dict[str, Any]]:
    """The row for a cluster: as important as its weightiest original, as sure as its weakest.

    It was said when the newest was, in no one chat; its meta names them all.
    """
    top = max(cluster, key=lambda one: one.importance)
    confidence = min(memory.confidence for memory in cluster)
    draft = Draft(text, top.tags, top.bank, confidence, top.importance, top.until)
    originals = [{"id": one.id, "said_at": said_at_of(one)} for one in cluster]
    return draft, Provenance("", "", max(map(said_at_of, cluster))), {"summary_of": originals}
