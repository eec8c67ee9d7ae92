"""Which proposed facts are known already, and which replace a stored one; no model is asked.

How two facts stand to each other is told by ``learn.relation``. What is the same is not stored;
what refines or contradicts a stored fact becomes the new content of its row, whose history keeps
the former one; everything else is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from adaptive.learn.attribute import Relation, found_by
from adaptive.learn.relation import (
    Likeness,
    believable,
    likeness_of,
    relation,
    unrelated_cosine,
    was_so,
)
from adaptive.learn.statement import Statement, read_statement, strong, without_former
from adaptive.measures import staged
from adaptive.model import Draft, Memory, Operation, Outcome
from adaptive.ports import Vectors
from adaptive.search.index import MemoryIndex
from adaptive.search.meanings import spellings
from adaptive.search.text_similarity import token_set_ratio
from adaptive.search.tokens import tokens
from adaptive.search.vectors import products
from adaptive.settings import Settings
from adaptive.shapes import listing, mapping

# More deletions in one turn than these are to be asked for first.
MOST_DELETIONS = 3
LARGEST_DELETED_SHARE = 0.2
# How many stored facts a new one is compared with: nearest by vector, and by words.
_NEAREST_BY_VECTOR = 20
_NEAREST_BY_WORDS = 60

# What a new fact rather is to a stored one, where it is something to several.
_PREFERENCE: tuple[Relation, ...] = ("same", "refines", "contradicts")
_PLAIN_BRACKETS = str.maketrans("()", "[]")

KNOWN_ALREADY = "already known"
REPLACED_IN_BATCH = "replaced by what was said after it"


@dataclass(frozen=True, slots=True)
class Reconciled:
    """Operations to carry out, in their order, and the outcomes of those that are not."""

    operations: tuple[Operation, ...]
    outcomes: tuple[Outcome, ...]


@staged("reconcile")
def reconciled(
    operations: Sequence[Operation],
    index: MemoryIndex,
    vectors: Vectors | None,
    settings: Settings,
) -> Reconciled:
    """Hold the accepted operations of one reply against the store and against each other.

    ``vectors`` has a normalised row for the content of each operation, of zeros where there is
    none; ``None`` where the embedder failed: then words alone decide. The order of the rows in the
    store does not matter; of two that fit alike the newest is replaced. Within the batch what was
    said later wins.
    """
    batch = _Batch(index, settings)
    last = {operation.id: place for place, operation in enumerate(operations) if operation.id}
    batch.addressed = set(last)
    for place, operation in enumerate(operations):
        vector = vectors[place] if vectors is not None and vectors[place].any() else None
        if operation.id and last[operation.id] != place:
            batch.leave(operation, REPLACED_IN_BATCH)
        else:
            batch.take(operation, vector)
    return Reconciled(tuple(entry.operation for entry in batch.entries), tuple(batch.outcomes))


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    operation: Operation
    vector: Vectors | None

    @property
    def content(self) -> str:
        return self.operation.draft.content


class _Batch:
    """The operations of one reply, as far as they have been reconciled."""

    def __init__(self, index: MemoryIndex, settings: Settings) -> None:
        self.entries: list[_Entry] = []
        self.outcomes: list[Outcome] = []
        self.addressed: set[str] = set()
        self._index = index
        self._unrelated = unrelated_cosine(index.nulls)
        self._active = settings.deduplicate_memories
        self._threshold = settings.similarity_threshold

    def leave(self, operation: Operation, reason: str) -> None:
        """Do not carry out an operation."""
        content = operation.draft.content
        if not content and (memory := self._index.memory(operation.id)):
            content = memory.content
        self.outcomes.append(Outcome("unchanged", content, reason))

    def take(self, operation: Operation, vector: Vectors | None) -> None:
        """Add an operation, or what becomes of it."""
        entry = _Entry(operation, vector)
        if operation.kind == "UPDATE":
            entry = self._believed(entry)
        if entry.operation.kind == "NEW" and self._active:
            placed = None if self._is_history(entry.content) else self._placed(entry)
            if placed is None:
                return self.leave(operation, KNOWN_ALREADY)
            entry = placed
        if entry.operation.kind == "DELETE" or not self._active:
            self.entries.append(entry)
            return None
        return self._join(entry)

    def _believed(self, entry: _Entry) -> _Entry:
        """An UPDATE, or a NEW fact if it has nothing to do with the row it names."""
        operation = entry.operation
        memory = self._index.memory(operation.id)
        if memory is None:
            return entry
        likeness = likeness_of(self._cosine(memory, entry.vector), self._unrelated)
        if believable(memory.content, entry.content, likeness):
            return entry
        self.addressed.discard(operation.id)
        return replace(entry, operation=Operation("NEW", "", operation.draft))

    def _is_history(self, content: str) -> bool:
        """Whether a content only tells what the history of a row holds, or is about to hold."""
        if "past" not in read_statement(content).times:
            return False
        contents = [
            str(former.get("content", ""))
            for memory in self._index.memories
            for former in map(mapping, listing(memory.meta.get("history")))
        ]
        updated = [one.operation.id for one in self.entries if one.operation.kind == "UPDATE"]
        contents += [one.content for one in map(self._index.memory, updated) if one]
        return any(was_so(former, content) for former in contents)

    def _placed(self, entry: _Entry) -> _Entry | None:
        """A NEW fact as it is, or as UPDATE of the row it replaces; ``None`` if it is known."""
        found: list[tuple[int, tuple[int, int, str], Memory]] = []
        for memory in self._candidates(entry):
            near = self._near(memory, entry)
            kind = relation(memory.content, entry.content, near)
            if kind != "different":
                newest = (memory.updated_at, memory.created_at, memory.id)
                found.append((_PREFERENCE.index(kind), newest, memory))
        if not found:
            return entry
        best = min(rank for rank, _, _ in found)
        if _PREFERENCE[best] == "same":
            return None
        memory = max((newest, memory) for rank, newest, memory in found if rank == best)[1]
        self.addressed.add(memory.id)
        return replace(entry, operation=_update(entry.operation.draft, memory))

    def _join(self, entry: _Entry) -> None:
        """Add an entry to the batch; nothing in it may double or contradict it."""
        operation = entry.operation
        for other in [one for one in self.entries if one.operation.kind != "DELETE"]:
            near = self._likeness(_product(other.vector, entry.vector), other.content, entry)
            kind = relation(other.content, entry.content, near)
            if kind == "different":
                continue
            place = self.entries.index(other)
            if kind == "same":
                if operation.kind == "UPDATE" and other.operation.kind == "NEW":
                    kept = replace(operation, draft=other.operation.draft)
                    self.entries[place] = replace(other, operation=kept)
                return self.leave(operation, KNOWN_ALREADY)
            if operation.kind == "NEW" and other.operation.kind == "UPDATE":
                operation = replace(other.operation, draft=operation.draft)
                entry = replace(entry, operation=operation)
            self.leave(self.entries.pop(place).operation, REPLACED_IN_BATCH)
        self.entries.append(entry)
        return None

    def _candidates(self, entry: _Entry) -> list[Memory]:
        """The stored facts nearest to a new one that no operation of the batch changes.

        Of a small store all of them: "single" is near to "married to Ines" by no measure.
        """
        if len(self._index.memories) <= _NEAREST_BY_WORDS:
            return [one for one in self._index.memories if one.id not in self.addressed]
        shelf = self._index.shelf
        words = {*tokens(entry.content), *_spelt(read_statement(entry.content))}
        places = set(_highest(shelf.keywords.scores(words), _NEAREST_BY_WORDS, self._index))
        if entry.vector is not None and len(entry.vector) == self._index.dimension:
            cosines = products(shelf.vectors, entry.vector)
            places |= set(_highest(cosines, _NEAREST_BY_VECTOR, self._index))
        memories = (self._index.memories[place] for place in places)
        return [memory for memory in memories if memory.id not in self.addressed]

    def _near(self, memory: Memory, entry: _Entry) -> Likeness:
        return self._likeness(self._cosine(memory, entry.vector), memory.content, entry)

    def _likeness(self, cosine: float | None, known: str, entry: _Entry) -> Likeness:
        if not self._threshold:
            return Likeness(likeness_of(cosine, self._unrelated))
        if cosine is None:  # words can make a sameness doubtful, not prove it
            return Likeness(token_set_ratio(known, entry.content), 2.0, self._threshold)
        return Likeness(cosine, self._threshold, self._threshold)

    def _cosine(self, memory: Memory, vector: Vectors | None) -> float | None:
        place = self._index.places[memory.id]
        own = self._index.shelf.vectors[place] if self._index.embedded[place] else None
        return _product(own, vector)


def _update(draft: Draft, memory: Memory) -> Operation:
    """The update of a row by a new fact; where the row stands, and how much it counts, it keeps."""
    kept = replace(
        draft,
        tags=draft.tags or memory.tags,
        bank=memory.bank or draft.bank,
        importance=max(draft.importance, memory.importance),
    )
    return Operation("UPDATE", memory.id, kept)


def _product(one: Vectors | None, other: Vectors | None) -> float | None:
    if one is None or other is None or len(one) != len(other):
        return None
    return float(one @ other)


def _highest(scores: Vectors, limit: int, index: MemoryIndex) -> list[int]:
    """Places of the highest scores above 0; among equals the newest, whatever their order."""
    limit = min(limit, len(scores))
    if not limit:
        return []
    least = max(float(np.partition(scores, -limit)[-limit]), 1e-9)
    places = [int(place) for place in np.flatnonzero(scores >= least)]
    rows = index.memories
    places.sort(key=lambda at: (scores[at], rows[at].updated_at, rows[at].id), reverse=True)
    return places[:limit]


def _spelt(statement: Statement) -> set[str]:
    """Search words for what a statement is about, in other spellings and languages."""
    meant = {word.meaning for word in strong(statement.words) if not word.figure}
    return {token for one in meant | found_by(statement) for token in spellings(one)}


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

    Only for a place that keeps no history; ``read_statement`` does not read the addition. Of the
    former content its own addition is dropped, so that the text does not grow.
    """
    before = without_former(former).strip().rstrip(".。").translate(_PLAIN_BRACKETS)
    return f"{without_former(content).rstrip()} (until {now:%Y-%m}: {before})"
