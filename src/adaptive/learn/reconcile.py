"""Which of the proposed operations say what is known already; no model is asked.

What is the same as a stored fact, or as another one of the same reply, is not stored
(``learn.duplicates``); everything else is carried out as the model proposed it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from adaptive.learn.duplicates import (
    calibrated_likeness,
    same_fact,
    unrelated_likeness,
)
from adaptive.learn.operations import repeats
from adaptive.measures import staged
from adaptive.model import Draft, Memory, Operation, Outcome
from adaptive.ports import Vectors
from adaptive.search.index import MemoryIndex
from adaptive.search.text_similarity import token_set_ratio
from adaptive.search.tokens import tokens
from adaptive.search.vectors import products
from adaptive.settings import Settings

# More deletions in one turn than these are to be asked for first.
MOST_DELETIONS = 3
LARGEST_DELETED_SHARE = 0.2
# How many stored facts a new one is compared with: nearest by vector, and by words.
_NEAREST_BY_VECTOR = 20
_NEAREST_BY_WORDS = 60

_PLAIN_BRACKETS = str.maketrans("()", "[]")
_FORMER_CONTENT = re.compile(r"\s*\(until \d{4}-\d\d: [^()]*\)\s*$")

KNOWN_ALREADY = "already known"
REPLACED_IN_BATCH = "replaced by what was said after it"


@dataclass(frozen=True, slots=True)
class Reconciled:
    """Operations to carry out, in their order, and the outcomes of those that are not."""

    operations: tuple[Operation, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Statement:
    content: str
    vector: Vectors | None = None


@staged("reconcile")
def reconciled(
    operations: Sequence[Operation],
    index: MemoryIndex,
    vectors: Vectors | None,
    settings: Settings,
) -> Reconciled:
    """Hold the accepted operations of one reply against the store and against each other.

    ``vectors`` has a normalised row for the content of each operation, of zeros where there is
    none; ``None`` where the embedder failed: then words alone decide. Of several operations on one
    row the last is carried out. A row that the reply changes or deletes makes nothing known.
    """
    last = {operation.id: place for place, operation in enumerate(operations) if operation.id}
    rows = [None] * len(operations) if vectors is None else vectors
    found = [
        _Statement(operation.draft.content, None if row is None or not row.any() else row)
        for operation, row in zip(operations, rows, strict=True)
    ]
    unrelated, threshold = unrelated_likeness(index.nulls), settings.similarity_threshold
    told = [found[place] for place in last.values() if found[place].content]
    taken: list[Operation] = []
    outcomes: list[Outcome] = []
    for place, operation in enumerate(operations):
        memory = index.memory(operation.id)
        reason = ""
        if operation.id:
            replaced = last[operation.id] != place
            unchanged = operation.kind == "UPDATE" and memory and _repeats(operation.draft, memory)
            reason = REPLACED_IN_BATCH if replaced else KNOWN_ALREADY if unchanged else ""
        elif settings.deduplicate_memories:
            stored = _stored_candidates(found[place], index, last.keys())
            if any(_same(one, found[place], unrelated, threshold) for one in (*told, *stored)):
                reason = KNOWN_ALREADY
            told.append(found[place])
        if reason:
            content = operation.draft.content or (memory.content if memory else "")
            outcomes.append(Outcome("unchanged", content, reason))
        else:
            taken.append(operation)
    return Reconciled(tuple(taken), tuple(outcomes))


def _repeats(draft: Draft, memory: Memory) -> bool:
    """Whether an update says its row word for word, with the labels and the end that it has."""
    labels = (draft.tags or memory.tags, draft.bank or memory.bank)
    return repeats(draft, memory) and labels == (memory.tags, memory.bank)


def _same(known: _Statement, said: _Statement, unrelated: float | None, threshold: float) -> bool:
    """Whether two statements say the same; a ``threshold`` for their cosine is an admin's wish."""
    bare = _FORMER_CONTENT.sub("", known.content)
    one, other, cosine = known.vector, said.vector, None
    if one is not None and other is not None and len(one) == len(other):
        cosine = float(one @ other)
    if not threshold:
        return same_fact(bare, said.content, calibrated_likeness(cosine, unrelated))
    nearness = token_set_ratio(bare, said.content) if cosine is None else cosine
    return nearness >= threshold and same_fact(bare, said.content, cosine, threshold)


def _stored_candidates(
    said: _Statement, index: MemoryIndex, addressed: Set[str]
) -> Iterator[_Statement]:
    """All rows of a small store; of another those nearest by words and by vector."""
    shelf, places = index.shelf, set(range(len(index.memories)))
    if len(places) > _NEAREST_BY_WORDS:
        scores = shelf.keywords.scores(set(tokens(said.content)))
        places = set(np.argpartition(-scores, _NEAREST_BY_WORDS)[:_NEAREST_BY_WORDS].tolist())
        if said.vector is not None and len(said.vector) == index.dimension:
            cosines = products(shelf.vectors, said.vector)
            places.update(np.argsort(-cosines)[:_NEAREST_BY_VECTOR].tolist())
    for place in sorted(places):
        memory = index.memories[place]
        if memory.id not in addressed:
            vector = shelf.vectors[place] if index.embedded[place] else None
            yield _Statement(memory.content, vector)


@dataclass(frozen=True, slots=True)
class Deletions:
    """Operations to carry out now, and deletions to ask the user about first."""

    operations: tuple[Operation, ...]
    to_ask: tuple[Operation, ...]


def allowed_deletions(operations: Sequence[Operation], store_size: int) -> Deletions:
    """Hold back all deletions of a turn if they are too many to be meant.

    Too many are more than ``MOST_DELETIONS``, or more than one and over ``LARGEST_DELETED_SHARE``
    of the store: whoever has two memories may forget one.
    """
    deletions = tuple(one for one in operations if one.kind == "DELETE")
    many = len(deletions) > MOST_DELETIONS
    much = len(deletions) > 1 and len(deletions) > LARGEST_DELETED_SHARE * store_size
    if not (many or much):
        return Deletions(tuple(operations), ())
    return Deletions(tuple(one for one in operations if one.kind != "DELETE"), deletions)


def with_former(content: str, former: str, now: datetime) -> str:
    """A content that also tells what it replaced: "User lives in Rome (until 2026-11: ...)".

    Only for a place that keeps no history. Of the former content its own addition is dropped, so
    that the text does not grow.
    """
    before = _FORMER_CONTENT.sub("", former).strip().rstrip(".。").translate(_PLAIN_BRACKETS)
    return f"{_FORMER_CONTENT.sub('', content).rstrip()} (until {now:%Y-%m}: {before})"
