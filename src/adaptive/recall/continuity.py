"""Keeping the memory block of a chat in place, so that a provider's prompt cache keeps its prefix.

What a chat was given stays where it stands, and new entries are appended, until they no longer
fit: then the block is built anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from adaptive.model import Memory
from adaptive.shapes import listing

EntryCost = Callable[[Memory], int]


@dataclass(frozen=True, slots=True)
class PlacedEntry:
    """One injected memory; ``used`` is greater the more recently a message asked for it."""

    id: str
    digest: str
    used: int


@dataclass(frozen=True, slots=True)
class ChatEntries:
    """What was injected earlier in a chat, in the order in which it stands in the block."""

    entries: tuple[PlacedEntry, ...] = ()

    def as_list(self) -> list[list[str | int]]:
        """A short value for a database column, which JSON can hold."""
        return [[one.id, one.digest, one.used] for one in self.entries]

    @classmethod
    def of_list(cls, value: object) -> Self:
        """What ``as_list`` made; what is not understood is left out."""
        found: dict[str, PlacedEntry] = {}
        for item in listing(value):
            entry = _entry_of(listing(item))
            if entry is not None:
                found.setdefault(entry.id, entry)
        return cls(tuple(found.values()))


@dataclass(frozen=True, slots=True)
class EntryRoom:
    """What all entries together may take.

    ``refill`` is the share of it up to which a block that is built anew takes former entries along:
    one that were full again at once would have to be rebuilt on the next turn, too.
    """

    tokens: int
    entries: int
    refill: float = 0.5


@dataclass(frozen=True, slots=True)
class Placement:
    """The memories to inject, in order, and the chat's state to keep.

    ``unchanged`` counts the entries from the first on that stand as they stood before: the share of
    the block that a prompt cache can use. ``rebuilt`` says that the order was made anew.
    """

    memories: tuple[Memory, ...]
    state: ChatEntries
    unchanged: int
    rebuilt: bool


def place_entries(
    former: ChatEntries,
    fitting: Sequence[str],
    existing: Mapping[str, Memory],
    room: EntryRoom,
    cost: EntryCost,
) -> Placement:
    """The entries of the chat's block for a message that ``fitting`` (ids, best first) fit.

    ``existing`` holds every memory that may stand there, by id: what is missing in it drops out,
    and what was edited changes in its place. Former entries stay, also when no memory fits this
    message, and those that fit but do not stand there yet are appended, oldest first. Where that
    exceeds the room, the block is made of the fitting ones (best first, as many as there is room
    for) and then of former ones, most recently used first (see ``EntryRoom``), oldest first.

    The same ids again bring the same list and the same state.
    """
    standing = [existing[one.id] for one in former.entries if one.id in existing]
    candidates = [existing[one] for one in dict.fromkeys(fitting) if one in existing]
    wanted = _filled_up([], candidates, room, cost)
    here = {memory.id for memory in standing}
    order = [*standing, *_by_age(memory for memory in wanted if memory.id not in here)]
    rebuilt = not _fits(order, room, cost)
    if rebuilt:
        share = EntryRoom(int(room.tokens * room.refill), int(room.entries * room.refill))
        order = _by_age(_filled_up(wanted, _recent_first(former, existing), share, cost))
    state = _next_state(former, order, {memory.id for memory in wanted})
    return Placement(tuple(order), state, _unchanged(former, state), rebuilt)


def content_digest(text: str) -> str:
    """A short digest that tells contents of one memory apart."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=6).hexdigest()


def _filled_up(
    taken: Sequence[Memory], more: Iterable[Memory], room: EntryRoom, cost: EntryCost
) -> list[Memory]:
    """What is taken, and of the rest, one after the other, what there is room for."""
    chosen = list(taken)
    held = {memory.id for memory in chosen}
    spent = sum(map(cost, chosen))
    for memory in more:
        price = cost(memory)
        free = len(chosen) < room.entries and spent + price <= room.tokens
        if free and memory.id not in held:
            chosen.append(memory)
            spent += price
    return chosen


def _fits(memories: Sequence[Memory], room: EntryRoom, cost: EntryCost) -> bool:
    return len(memories) <= room.entries and sum(map(cost, memories)) <= room.tokens


def _by_age(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (memory.created_at, memory.id))


def _recent_first(former: ChatEntries, existing: Mapping[str, Memory]) -> list[Memory]:
    ordered = sorted(former.entries, key=lambda one: -one.used)
    return [existing[one.id] for one in ordered if one.id in existing]


def _next_state(former: ChatEntries, order: Sequence[Memory], used: set[str]) -> ChatEntries:
    """The chat's state; uses are numbered from 0 on without gaps, so that it does not drift."""
    before = {one.id: one.used for one in former.entries}
    now = max(before.values(), default=0) + 1
    turns = {one.id: now if one.id in used else before[one.id] for one in order}
    ranks = {turn: rank for rank, turn in enumerate(sorted(set(turns.values())))}
    return ChatEntries(
        tuple(
            PlacedEntry(one.id, content_digest(one.content), ranks[turns[one.id]]) for one in order
        )
    )


def _unchanged(former: ChatEntries, state: ChatEntries) -> int:
    pairs = zip(former.entries, state.entries, strict=False)
    same = [(old.id, old.digest) == (new.id, new.digest) for old, new in pairs]
    return [*same, False].index(False)


def _entry_of(fields: Sequence[Any]) -> PlacedEntry | None:
    match fields:
        case [str(id_), str(digest), int(used)]:
            return PlacedEntry(id_, digest, used)
        case _:
            return None
