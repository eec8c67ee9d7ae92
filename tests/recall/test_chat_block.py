"""The entries of a chat's block stay in place from turn to turn, and what is kept for that."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.recall.block import BlockEntry, placed_entries
from tests.fakes import memory
from tests.rates import over
from tests.recall.test_recall import House

# One letter is one memory, the older the nearer to "a"; each costs 10.
LETTERS = "abcdefghij"
STORE = {
    letter: BlockEntry(
        memory(letter, f"Fact {letter}.", created_at=age),
        f"Fact {letter}.",
        10,
    )
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


TEA, INK = memory("tea", "green tea"), memory("ink", "blue ink")


async def test_state_is_out_of_reach() -> None:
    """Where it can't be read what stood in the chat, its block is made anew."""
    home = House(TEA, INK)
    await home.block(home.turn(), "green tea")
    home.entries.unavailable = True
    assert await home.block(home.turn(), "Hi", "sort") == ""


letters = st.sampled_from(LETTERS)
rankings = st.lists(letters, max_size=12)
prices = st.fixed_dictionaries(
    {letter: st.integers(1, 40) for letter in LETTERS}
)


@settings(deadline=None)
@given(st.lists(rankings, max_size=8), st.integers(0, 150), prices)
def test_through_a_chat(
    turns: list[list[str]], room: int, table: dict[str, int]
) -> None:
    """Turn by turn the budget is kept, and a list begins with the former one or is new.

    The same candidates again bring the same list.
    """
    existing = {
        letter: replace(one, tokens=table[letter])
        for letter, one in STORE.items()
    }
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
    """What was given to a chat stands there on its next turn, and in no other one."""
    home = House(TEA, INK)
    await home.block(home.turn(), "green tea")
    assert "green tea" in await home.block(home.turn(), "Hi", "sort")
    for other in ({"chat_id": "d"}, {"user_id": "bob"}, {"told_kind": "api"}):
        assert await home.block(home.turn(**other), "Hi", "sort") == ""
    assert await home.block(home.turn(), "sort") == ""
