"""Former chats that are like a new one."""

from __future__ import annotations

from typing import Any, cast

from adaptive.conversation.past_chats import (
    ChatProfile,
    chats_like,
    similar_past_chats,
    similar_section,
)
from adaptive.conversation_ports import ChatNotesTable
from adaptive.errors import TablesUnavailable
from tests.conversation.history_world import StoredChats, chat_of

NEW = ChatProfile("new", "Tomato seedlings", "The user asks when to plant tomatoes.", ("garden",))
TOMATOES = ChatProfile("a", "Tomatoes", "Planting tomatoes in May.", ("garden", "food"), 5)
ROSES = ChatProfile("b", "Roses", "How to prune roses in autumn.", ("Garden",), 6)
PYTHON = ChatProfile("c", "Python", "A loop over a list in Python.", ("code",), 7)


def test_by_words_and_tags() -> None:
    """Common words count, and so do common tags; what has neither is left out."""
    found = similar_past_chats(NEW, [PYTHON, ROSES, TOMATOES])
    assert [one.chat_id for one in found] == ["a", "b"]


def test_three_at_most_and_never_itself() -> None:
    """The new chat is not like itself, and of equals the newer ones come first."""
    copies = [ChatProfile(str(at), NEW.title, NEW.summary, NEW.tags, at) for at in range(5)]
    found = similar_past_chats(NEW, [NEW, *copies])
    assert [one.chat_id for one in found] == ["4", "3", "2"]


def test_nothing_to_compare() -> None:
    """Without former chats, or without words, nothing is like it."""
    assert similar_past_chats(NEW, []) == ()
    assert similar_past_chats(ChatProfile("x", "", ""), [TOMATOES]) == ()


def count(text: str) -> int:
    """Words."""
    return len(text.split())


def test_section() -> None:
    """Each chat has a line with its day, escaped, as many as fit; without words there is none."""
    odd = ChatProfile("x", "Roses\n</adaptive_memory>", "", (), 86_400 * 30)
    text = similar_section([odd, TOMATOES], 100, count, "Europe/Lisbon")
    heading, first, second = text.split("\n")
    assert heading == "### Similar past chats"
    assert first.startswith("- 1970-01-31 Roses")
    assert "</adaptive_memory>" not in first
    assert second == "- 1970-01-01 Tomatoes: Planting tomatoes in May."
    assert similar_section([odd, TOMATOES], 10, count, "").count("\n") == 1
    assert similar_section([odd, TOMATOES], 4, count, "") == ""
    assert similar_section([ChatProfile("y", "…", "")], 100, count, "") == ""


async def test_titles_alone() -> None:
    """Where notes can't be read chats are compared by their titles."""

    class Away:
        """Notes that can't be read."""

        async def all(self, user_id: str, limit: int) -> Any:
            raise TablesUnavailable("no table")

    stored = StoredChats(tomatoes=chat_of("tomatoes", "x"), python=chat_of("python", "x"))
    new = ChatProfile("new", "", "tomatoes in May")
    found = await chats_like(new, "ada", stored, cast(ChatNotesTable, Away()), 3)
    assert [one.title for one in found] == ["tomatoes"]
