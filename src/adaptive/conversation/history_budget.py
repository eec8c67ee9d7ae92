"""One budget for what recall adds to a prompt: memories, past conversation and recent turns.

Where they exceed it they give way in this order:

1. the oldest of the recent turns, down to the newest ones that are always kept (those that fill
   half of the window, see ``windowing``): past conversation brings back what matters of them;
2. past conversation, down to nothing;
3. memories that were retrieved, down to nothing.

Core memories, the newest turns and the message itself never give way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContextNeeds:
    """What each part would take, in tokens; ``turns`` are the recent ones, oldest first.

    ``fixed`` is what never gives way besides the newest turns: system prompt, core memories, and
    the message itself.
    """

    fixed: int
    memories: int
    history: int
    turns: Sequence[int]


@dataclass(frozen=True, slots=True)
class ContextShares:
    """What each part may take; ``dropped_turns`` counts recent turns that go, the oldest first."""

    memories: int
    history: int
    dropped_turns: int


def shared_context(needs: ContextNeeds, tokens: int, kept_turns: int = 2) -> ContextShares:
    """The shares within so many tokens; 0 means without limit.

    The ``kept_turns`` newest turns stay in any case, so the whole may still exceed the budget.
    """
    if tokens <= 0:
        return ContextShares(needs.memories, needs.history, 0)
    over = needs.fixed + needs.memories + needs.history + sum(needs.turns) - tokens
    dropped = 0
    while over > 0 and dropped < len(needs.turns) - kept_turns:
        over -= needs.turns[dropped]
        dropped += 1
    history = max(needs.history - max(over, 0), 0)
    over -= needs.history - history
    return ContextShares(max(needs.memories - max(over, 0), 0), history, dropped)
