"""Which messages of a chat are recalled, and what of their text."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive.history.section import past_messages, unseen_messages
from tests.history.world import START, chat_of

NOW = START + 5000


def test_standing_branch() -> None:
    """Messages come along the parent chain; of a regenerated answer the newer or named one.

    A chat may have gone on behind the named one.
    """
    stored = chat_of("c", "A name?", "Tom")
    stored.append(
        {**stored[1], "id": "other", "content": "Tim", "timestamp": START + 90}
    )
    found = past_messages("c", reversed(stored), list)
    assert [(one.text, one.role, one.said_at) for one in found] == [
        ("A name?", "user", START),
        ("Tim", "assistant", START + 90),
    ]
    assert [one.text for one in past_messages("c", stored, list, "c1")] == [
        "A name?",
        "Tom",
    ]
    stored += chat_of("c", *"xx", "And hers?", "Ann")[2:]
    gone_on = past_messages("c", stored, list, "c1")
    assert [one.id for one in gone_on] == ["c0", "c1", "c2", "c3"]
    stored[0] |= {"parentId": "c3", "timestamp": None}
    looped = past_messages("c", stored, list, "c1")
    assert sorted(one.id for one in looped) == [
        "c0",
        "c1",
        "c2",
        "c3",
        "other",
    ]


THINKING = (
    '<think>Hm.</think><details type="tool_calls">x</details>\nIt rains.'
)
OUTPUT = [
    {
        "type": "message",
        "content": [{"type": "output_text", "text": "It rains."}],
    }
]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"content": THINKING}, "It rains."),
        ({"content": "", "output": OUTPUT}, "It rains."),
        ({"role": "system"}, ""),
        ({"done": False}, ""),
        ({"error": {"content": "no answer"}}, ""),
        ({"content": "!?"}, ""),
    ],
)
def test_recalled_text(fields: dict[str, Any], text: str) -> None:
    """Of an answer counts what was said in it, where it stands there whole and in words."""
    stored = chat_of("c", "A name?", "Tom")
    stored[1].update(fields)
    found = [one.text for one in past_messages("c", stored, list)]
    assert found == ["A name?", *([text] if text else [])]


def test_beyond_the_window() -> None:
    """Everything before the oldest question that is sent is unseen; a branch that was left not."""
    chat = chat_of("c", *"abcdefg")
    branch = {"id": "x", "parentId": "c1", "role": "user"}
    assert unseen_messages(chat, "c6", 2) == {"c0", "c1", "c2", "c3"}
    assert unseen_messages([*chat, branch], "x", 1) == {"c0", "c1"}
    for newest, seen in (("c6", 4), ("c6", 9), ("c6", 0), ("unknown", 1)):
        assert unseen_messages(chat, newest, seen) == frozenset()


def test_edited_within_the_second() -> None:
    """Of two branches that end in the same second that one stands which was stored last."""
    stored = [
        {"id": id, "role": "user", "content": id, "timestamp": NOW}
        for id in ("former", "edited")
    ]
    assert [one.text for one in past_messages("c", stored, list)] == ["edited"]
