"""Who gives way first when memories, past conversation and recent turns exceed a budget."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.conversation.history_budget import ContextNeeds, ContextShares, shared_context
from tests.rates import over

NEEDS = ContextNeeds(fixed=100, memories=50, history=80, turns=(30, 30, 30, 30))


@dataclass(frozen=True)
class Case:
    """A budget and the shares."""

    id: str
    tokens: int
    shares: ContextShares


CASES = [
    Case("no limit", 0, ContextShares(50, 80, 0)),
    Case("enough", 350, ContextShares(50, 80, 0)),
    Case("oldest turns first", 349, ContextShares(50, 80, 1)),
    Case("down to the newest two", 290, ContextShares(50, 80, 2)),
    Case("then past conversation", 270, ContextShares(50, 60, 2)),
    Case("all of it", 210, ContextShares(50, 0, 2)),
    Case("then memories", 200, ContextShares(40, 0, 2)),
    Case("down to nothing", 10, ContextShares(0, 0, 2)),
]


@over("case", CASES)
def test_order_of_giving_way(case: Case) -> None:
    """Recent turns give way first, then past conversation, then memories."""
    assert shared_context(NEEDS, case.tokens) == case.shares


@given(
    st.integers(0, 500),
    st.integers(0, 500),
    st.integers(0, 500),
    st.lists(st.integers(0, 200), max_size=8),
    st.integers(1, 2000),
)
def test_within_the_budget(
    fixed: int, memories: int, history: int, turns: list[int], tokens: int
) -> None:
    """The shares keep the budget unless what never gives way exceeds it alone."""
    shares = shared_context(ContextNeeds(fixed, memories, history, turns), tokens)
    left = turns[shares.dropped_turns :]
    assert 0 <= shares.memories <= memories
    assert 0 <= shares.history <= history
    total = fixed + shares.memories + shares.history + sum(left)
    assert total <= max(tokens, fixed + sum(turns[-2:]))
