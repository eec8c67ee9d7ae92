"""The entries of a chat's block stay in place from turn to turn, and what is kept for that."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.recall.chat_block import ChatEntries, ChatStates, placed_entries, read_entries
from adaptive.recall.layout import BlockEntry
from tests.fakes import ShelvedChats, memory
from tests.rates import over

# One letter is one memory, the older the nearer to "a"; each costs 10.
LETTERS = "abcdefghij"
STORE = {
    letter: BlockEntry(memory(letter, f"Fact {letter}.", created_at=age), f"Fact {letter}.", 10)
    for age, letter in enumerate(LETTERS)
}


def state_of(letters: str) -> ChatEntries:
    """A chat in which these stand, the later the more recently used."""
    return {letter: used for used, letter in enumerate(letters)}


@dataclass(frozen=True)
class Case:
    """What stood there, what fits now, what there is room for, and what stands there then."""

    id: str
    former: str
    fitting: str
    placed: str
    room: int = 60
    deleted: str = ""


CASES = [
    Case("first message", "", "cab", "abc"),
    Case("nothing yet, nothing fits", "", "", ""),
    Case("the same again", "ca", "ac", "ca"),
    Case("nothing fits now", "ca", "", "ca"),
    Case("appended by age", "ca", "db", "cabd"),
    Case("partly new", "ca", "ba", "cab"),
    Case("deleted", "cab", "b", "cb", deleted="a"),
    Case("all deleted", "ca", "", "", deleted="ca"),
    Case("full, nothing new", "abcdef", "fa", "abcdef"),
    Case("rebuilt", "abcdef", "g", "g"),
    Case("rebuilt with a recent one", "abcdefgh", "i", "hi", room=80),
    Case("rebuilt, one of the former fits", "abcdef", "ag", "ag"),
    Case("rebuilt with many that fit", "abcdef", "jihga", "aghij"),
    Case("room shrank", "abcdef", "", "", room=20),
    Case("no room", "ab", "c", "", room=-5),
    Case("more fit than there is room", "", "abcdefgh", "abcdef"),
    Case("twice in the list", "c", "aaca", "ca"),
]


@over("case", CASES)
def test_placed_entries(case: Case) -> None:
    """Former entries stay, new ones are appended, and only a full block is built anew."""
    existing = {letter: one for letter, one in STORE.items() if letter not in case.deleted}
    placed, state = placed_entries(state_of(case.former), case.fitting, existing, case.room)
    assert "".join(one.memory.id for one in placed) == case.placed
    assert "".join(state) == case.placed


@over("state", ["", "{", "null", "5", "[1]", '{"a": "x"}', "[" * 100_000])
def test_unusable_state(state: str) -> None:
    """Whatever stands in the column, what is not understood counts as nothing."""
    assert read_entries(state) == {}


letters = st.sampled_from(LETTERS)
rankings = st.lists(letters, max_size=12)
prices = st.fixed_dictionaries({letter: st.integers(1, 40) for letter in LETTERS})


@settings(deadline=None)
@given(st.lists(rankings, max_size=8), st.integers(0, 150), prices)
def test_through_a_chat(turns: list[list[str]], room: int, table: dict[str, int]) -> None:
    """Turn by turn the budget is kept, and a list begins with the former one or is new.

    The same candidates again bring the same list and the same state, also through the database.
    """
    existing = {letter: replace(one, tokens=table[letter]) for letter, one in STORE.items()}
    state: ChatEntries = {}
    for fitting in turns:
        placed, after = placed_entries(state, fitting, existing, room)
        assert sum(one.tokens for one in placed) <= room
        new = [one for one in fitting if one not in state]
        if sum(table[one] for one in {*state, *new}) <= room:
            assert list(after)[: len(state)] == list(state)
        best = next((one for one in fitting if table[one] <= room), None)
        assert best is None or best in after
        kept = read_entries(json.dumps(after))
        assert placed_entries(kept, fitting, existing, room) == (placed, after)
        state = kept


async def test_state_is_written_after_a_moment() -> None:
    """The next turn has a state before it is written, and only the newest one is written."""
    table = ShelvedChats()
    states = ChatStates(table, write_after=0.05)
    first = asyncio.create_task(states.keep("ada", "c", "first", 1))
    await asyncio.sleep(0)
    assert await states.read("ada", "c") == "first"
    assert await states.read("bob", "c") == await states.read("ada", "") == ""
    await asyncio.sleep(0.02)
    second = asyncio.create_task(states.keep("ada", "c", "second", 2))
    await first
    assert table.rows == {}
    assert await states.read("ada", "c") == "second"
    await second
    assert table.rows == {("ada", "c"): "second"}
    table.rows["ada", "c"] = "by another worker"
    assert await states.read("ada", "c") == "by another worker"


async def test_without_a_table() -> None:
    """Where no table can be created, this process keeps each chat's state; a user's can go."""
    states = ChatStates(ShelvedChats(unavailable=True), write_after=0)
    for user_id in ("ada", "bob"):
        await states.keep(user_id, "c", "s", 1)
    assert (await states.read("ada", "c"), await states.read("ada", "d")) == ("s", "")
    states.forget("ada")
    assert (await states.read("ada", "c"), await states.read("bob", "c")) == ("", "s")
