"""The entries of a chat's block stay in place from turn to turn, and what is kept for that."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.memory.tables import ChatTable
from adaptive.recall.block import BlockEntry, placed_entries
from adaptive.recall.recollection import former_entries
from tests.fakes import ListedEntries, memory
from tests.rates import over

# One letter is one memory, the older the nearer to "a"; each costs 10.
LETTERS = "abcdefghij"
STORE = {
    letter: BlockEntry(memory(letter, f"Fact {letter}.", created_at=age), f"Fact {letter}.", 10)
    for age, letter in enumerate(LETTERS)
}


@over(
    "former, fitting, placed",
    [
        ("ca", "bda", "cabd"),
        ("czb", "b", "cb"),  # one was deleted
        ("abcdef", "jihga", "aghij"),
        ("", "abcdefgh", "abcdef"),
        ("c", "aaca", "ca"),
        ("abcde", "abfghij", "abcdef"),  # no room for what fits less
        ("abcd", "abcij", "abcdi"),
        ("abcd", "abcdi", "abcdi"),
    ],
)
def test_placed_entries(former: str, fitting: str, placed: str) -> None:
    """Former entries stay, new ones are appended by age, a full block is made anew for the best."""
    found = placed_entries(former, fitting, STORE, 60)
    assert "".join(one.memory.id for one in found) == placed


@over("state", ["", "{", "null", "[1]", '{"a": 1}', "[" * 100_000])
async def test_unusable_state(state: str) -> None:
    """Whatever stands in the column, what is not understood counts as nothing, nor can be read."""
    entries = ListedEntries()
    table = ChatTable(entries)
    await table.write("ada", "c", state, 1)
    assert await former_entries(table, "ada", "c") == []
    entries.unavailable = True
    assert await former_entries(table, "ada", "c") == []


letters = st.sampled_from(LETTERS)
rankings = st.lists(letters, max_size=12)
prices = st.fixed_dictionaries({letter: st.integers(1, 40) for letter in LETTERS})


@settings(deadline=None)
@given(st.lists(rankings, max_size=8), st.integers(0, 150), prices)
def test_through_a_chat(turns: list[list[str]], room: int, table: dict[str, int]) -> None:
    """Turn by turn the budget is kept, and a list begins with the former one or is new.

    The same candidates again bring the same list.
    """
    existing = {letter: replace(one, tokens=table[letter]) for letter, one in STORE.items()}
    state: list[str] = []
    for fitting in turns:
        placed = placed_entries(state, fitting, existing, room)
        after = [one.memory.id for one in placed]
        assert sum(one.tokens for one in placed) <= room
        new = [one for one in fitting if one not in state]
        if sum(table[one] for one in {*state, *new}) <= room:
            assert after[: len(state)] == state
        best = next((one for one in fitting if table[one] <= room), None)
        assert best is None or best in after
        state = after
        assert placed_entries(state, fitting, existing, room) == placed


async def test_state_is_kept() -> None:
    """A state is that of one user's chat."""
    table = ChatTable(ListedEntries())
    await table.write("ada", "c", '["a", "b"]', 1)
    assert await former_entries(table, "ada", "c") == ["a", "b"]
    assert await former_entries(table, "bob", "c") == await former_entries(table, "ada", "") == []
