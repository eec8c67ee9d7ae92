"""Former chats that are like a new one."""

from __future__ import annotations

from adaptive.conversation.past_chats import ChatProfile, similar_past_chats

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
