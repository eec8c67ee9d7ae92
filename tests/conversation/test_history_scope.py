"""What of a chat is beyond the window."""

from __future__ import annotations

from adaptive.conversation.history_scope import unseen_messages
from adaptive.conversation_ports import OutlinedMessage

CHAT = tuple(
    OutlinedMessage(f"m{at}", f"m{at - 1}" if at else "", "assistant" if at % 2 else "user")
    for at in range(7)
)
BRANCH = OutlinedMessage("x", "m1", "user")


def test_what_is_cut() -> None:
    """Everything before the oldest question that is sent is beyond the window."""
    assert unseen_messages(CHAT, "m6", 4) == frozenset()
    assert unseen_messages(CHAT, "m6", 2) == {"m0", "m1", "m2", "m3"}
    assert unseen_messages(CHAT, "m6", 9) == frozenset()


def test_branches() -> None:
    """A branch that was left is not beyond the window, but gone."""
    assert unseen_messages((*CHAT, BRANCH), "x", 1) == {"m0", "m1"}


def test_odd_chats() -> None:
    """Of a message that is not stored, and of a chain without end, nothing is said."""
    assert unseen_messages(CHAT, "unknown", 1) == frozenset()
    loop = (OutlinedMessage("a", "b", "user"), OutlinedMessage("b", "a", "user"))
    assert unseen_messages(loop, "a", 5) == frozenset()
