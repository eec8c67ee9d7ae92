"""The entries of a chat's block stay in place from turn to turn."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.model import Memory
from adaptive.recall.continuity import (
    ChatEntries,
    EntryRoom,
    PlacedEntry,
    Placement,
    content_digest,
    place_entries,
)
from tests.fakes import memory
from tests.rates import over

# One letter is one memory, the older the nearer to "a"; each costs 10.
LETTERS = "abcdefghij"
STORE = {
    letter: memory(letter, f"Fact {letter}.", created_at=age) for age, letter in enumerate(LETTERS)
}
ROOM = EntryRoom(tokens=60, entries=6)


def price(_: Memory) -> int:
    """What each entry costs."""
    return 10


def state_of(letters: str) -> ChatEntries:
    """A chat in which these stand, the later the more recently used."""
    return ChatEntries(
        tuple(
            PlacedEntry(letter, content_digest(f"Fact {letter}."), used)
            for used, letter in enumerate(letters)
        )
    )


def ids(placement: Placement) -> str:
    """The ids of a placement as one word."""
    return "".join(one.id for one in placement.memories)


@dataclass(frozen=True)
class Case:
    """What stood there, what fits now, what there is room for, and what stands there then."""

    id: str
    former: str
    fitting: str
    placed: str
    unchanged: int
    rebuilt: bool = False
    room: EntryRoom = ROOM
    deleted: str = ""


CASES = [
    Case("first message", "", "cab", "abc", 0),
    Case("nothing yet, nothing fits", "", "", "", 0),
    Case("the same again", "ca", "ac", "ca", 2),
    Case("nothing fits now", "ca", "", "ca", 2),
    Case("appended by age", "ca", "db", "cabd", 2),
    Case("partly new", "ca", "ba", "cab", 2),
    Case("deleted", "cab", "b", "cb", 1, deleted="a"),
    Case("deleted between ranking and injection", "c", "ab", "cb", 1, deleted="a"),
    Case("all deleted", "ca", "", "", 0, deleted="ca"),
    Case("full, nothing new", "abcdef", "fa", "abcdef", 6),
    Case("full, nothing fits", "fedcba", "", "fedcba", 6),
    Case("rebuilt by tokens", "abcdef", "g", "efg", 0, rebuilt=True),
    Case("rebuilt, one of the former fits", "abcdef", "ag", "afg", 1, rebuilt=True),
    Case("rebuilt with many that fit", "abcdef", "jihga", "aghij", 1, rebuilt=True),
    Case(
        "rebuilt by count",
        "abcd",
        "e",
        "de",
        0,
        rebuilt=True,
        room=EntryRoom(tokens=900, entries=4),
    ),
    Case("room shrank", "abcdef", "", "f", 0, rebuilt=True, room=EntryRoom(20, 6)),
    Case(
        "refilled to the brim", "abcdef", "g", "bcdefg", 0, rebuilt=True, room=EntryRoom(60, 6, 1)
    ),
    Case("no room", "ab", "c", "", 0, rebuilt=True, room=EntryRoom(5, 6)),
    Case("negative room", "ab", "c", "", 0, rebuilt=True, room=EntryRoom(-5, 6)),
    Case("more fit than there is room", "", "abcdefgh", "abcdef", 0),
    Case("more fit, again", "abcdef", "abcdefgh", "abcdef", 6),
    Case("twice in the list", "c", "aaca", "ca", 1),
]


@over("case", CASES)
def test_place_entries(case: Case) -> None:
    """Former entries stay, new ones are appended, and only a full block is built anew."""
    existing = {letter: one for letter, one in STORE.items() if letter not in case.deleted}
    placement = place_entries(state_of(case.former), case.fitting, existing, case.room, price)
    assert ids(placement) == case.placed
    assert placement.unchanged == case.unchanged
    assert placement.rebuilt == case.rebuilt
    assert "".join(one.id for one in placement.state.entries) == case.placed


def test_edited_in_place() -> None:
    """An edited memory keeps its place with its new content, and the prefix ends before it."""
    edited = replace(STORE["a"], content="Other.", updated_at=99)
    placement = place_entries(state_of("cab"), "", {**STORE, "a": edited}, ROOM, price)
    assert placement.memories == (STORE["c"], edited, STORE["b"])
    assert placement.unchanged == 1
    again = place_entries(placement.state, "", {**STORE, "a": edited}, ROOM, price)
    assert again.unchanged == 3


def test_edited_beyond_the_room() -> None:
    """An edit that makes the block too long has it built anew."""
    edited = replace(STORE["a"], content="x" * 60)
    placement = place_entries(
        state_of("abc"), "b", {**STORE, "a": edited}, ROOM, lambda one: len(one.content)
    )
    assert ids(placement) == "bc"
    assert placement.rebuilt


def test_too_long_to_ever_fit() -> None:
    """A memory that is longer than the whole room never has the block built anew."""
    huge = {**STORE, "b": replace(STORE["b"], content="x" * 999)}
    placement = place_entries(
        state_of("ca"), "bd", huge, ROOM, lambda one: 10 * (1 + len(one.content) // 99)
    )
    assert ids(placement) == "cad"
    assert not placement.rebuilt


def test_most_recently_used_survive() -> None:
    """What messages asked for last is what a rebuilt block keeps of the former entries."""
    state = ChatEntries()
    for fitting in ("ab", "cd", "ef", "a"):
        state = place_entries(state, fitting, STORE, ROOM, price).state
    assert ids(place_entries(state, "g", STORE, ROOM, price)) == "aeg"


def test_room_for_the_next_turn() -> None:
    """A block that was built anew can take new entries without being built anew again at once."""
    rebuilt = place_entries(state_of("abcdef"), "g", STORE, ROOM, price)
    after = place_entries(rebuilt.state, "h", STORE, ROOM, price)
    assert (ids(after), after.rebuilt) == ("efgh", False)


UNUSABLE: list[Any] = [
    None,
    "",
    {},
    5,
    [5],
    [[]],
    [["a"]],
    [["a", "b", "c"]],
    [["a", 1, 1]],
    [[1, "b", 1]],
    [["a", "b", 1, 2]],
    [{"a": 1}],
]


@over("value", UNUSABLE)
def test_unusable_state(value: Any) -> None:
    """Whatever stands in the column, what is not understood counts as nothing."""
    assert ChatEntries.of_list(value) == ChatEntries()


def test_doubled_state() -> None:
    """An id that stands in the column twice is taken once."""
    assert ChatEntries.of_list([["a", "x", 0], ["b", "y", 1], ["a", "z", 2]]) == ChatEntries(
        (PlacedEntry("a", "x", 0), PlacedEntry("b", "y", 1))
    )


def test_state_is_short() -> None:
    """A state of fifty entries with UUIDs fits into a few kilobytes."""
    entries = [PlacedEntry("0" * 36, content_digest("x"), 50) for _ in range(50)]
    assert len(json.dumps(ChatEntries(tuple(entries)).as_list())) < 4096


letters = st.sampled_from(LETTERS)
rankings = st.lists(letters, max_size=12)
rooms = st.builds(EntryRoom, st.integers(0, 150), st.integers(0, 12), st.floats(0, 1))
prices = st.fixed_dictionaries({letter: st.integers(1, 40) for letter in LETTERS})
chats = st.lists(letters, unique=True).flatmap(
    lambda chosen: st.tuples(*(st.integers(0, 9) for _ in chosen)).map(
        lambda uses: ChatEntries(
            tuple(
                PlacedEntry(letter, content_digest(f"Fact {letter}."), used)
                for letter, used in zip(chosen, uses, strict=True)
            )
        )
    )
)


def cost_of(table: dict[str, int]) -> Any:
    """A function that reads the cost of a memory in a table."""
    return lambda one: table[one.id]


def is_prefix(first: Sequence[Memory], second: Iterable[Memory]) -> bool:
    """Whether the second begins with the first."""
    return list(second)[: len(first)] == list(first)


@settings(deadline=None)
@given(chats, rankings, st.sets(letters), rooms, prices)
def test_always(
    former: ChatEntries,
    fitting: list[str],
    deleted: set[str],
    room: EntryRoom,
    table: dict[str, int],
) -> None:
    """Budget and counts are kept, nothing doubled or deleted, what stood stays unless rebuilt."""
    existing = {letter: one for letter, one in STORE.items() if letter not in deleted}
    placement = place_entries(former, fitting, existing, room, cost_of(table))
    placed = [one.id for one in placement.memories]
    assert len(placed) == len(set(placed)) <= room.entries
    assert sum(table[one] for one in placed) <= room.tokens
    assert not set(placed) & deleted
    assert set(placed) <= {one.id for one in former.entries} | set(fitting)
    standing = [STORE[one.id] for one in former.entries if one.id not in deleted]
    assert placement.rebuilt or is_prefix(standing, placement.memories)
    assert placement == place_entries(former, fitting, existing, room, cost_of(table))
    best = next((one for one in fitting if one in existing and table[one] <= room.tokens), None)
    assert best is None or room.entries == 0 or best in placed


@settings(deadline=None)
@given(chats, rankings, rooms, prices)
def test_idempotent(
    former: ChatEntries, fitting: list[str], room: EntryRoom, table: dict[str, int]
) -> None:
    """The same candidates again bring the same list and the same state, all of it unchanged."""
    first = place_entries(former, fitting, STORE, room, cost_of(table))
    second = place_entries(first.state, fitting, STORE, room, cost_of(table))
    assert second.memories == first.memories
    assert second.state == first.state
    assert second.unchanged == len(first.memories)
    assert not second.rebuilt


@settings(deadline=None)
@given(st.lists(rankings, max_size=8), rooms, prices)
def test_through_a_chat(turns: list[list[str]], room: EntryRoom, table: dict[str, int]) -> None:
    """Turn by turn, through the database's column, a list begins with the former one or is new."""
    state = ChatEntries()
    former: tuple[Memory, ...] = ()
    for fitting in turns:
        placement = place_entries(state, fitting, STORE, room, cost_of(table))
        assert placement.rebuilt or is_prefix(former, placement.memories)
        assert placement.unchanged == len(former) or placement.rebuilt
        state = ChatEntries.of_list(json.loads(json.dumps(placement.state.as_list())))
        assert state == placement.state
        former = placement.memories
