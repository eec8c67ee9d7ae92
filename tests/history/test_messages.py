"""Which messages of a chat are recalled, what of their text, and which belong together."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive.history.messages import (
    MOST_MESSAGES,
    past_messages,
    topics_of,
    unseen_messages,
)
from tests.history.world import DAY, START, chat_of, said

NOW = START + 5000


def test_standing_branch() -> None:
    """Messages come along the parent chain; of a regenerated answer the newer or named one."""
    stored = chat_of("c", "A name?", "Tom")
    stored.append(
        {**stored[1], "id": "other", "content": "Tim", "timestamp": START + 90}
    )
    found = past_messages("c", reversed(stored), NOW, rememberable=list)
    assert [(one.text, one.role, one.said_at) for one in found] == [
        ("A name?", "user", START),
        ("Tim", "assistant", START + 90),
    ]
    assert [
        one.text
        for one in past_messages(
            "c", stored, NOW, rememberable=list, newest_id="c1"
        )
    ] == ["A name?", "Tom"]
    stored[0] |= {"parentId": "c1", "timestamp": None}
    looped = past_messages("c", stored, NOW, rememberable=list, newest_id="c1")
    assert [(one.id, one.said_at) for one in looped] == [
        ("c0", NOW),
        ("c1", START + 60),
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
    found = [
        one.text for one in past_messages("c", stored, NOW, rememberable=list)
    ]
    assert found == ["A name?", *([text] if text else [])]


def test_beyond_the_window() -> None:
    """Everything before the oldest question that is sent is unseen; a branch that was left not."""
    chat = chat_of("c", *"abcdefg")
    branch = {"id": "x", "parentId": "c1", "role": "user"}
    assert unseen_messages(chat, "c6", 2) == {"c0", "c1", "c2", "c3"}
    assert unseen_messages([*chat, branch], "x", 1) == {"c0", "c1"}
    for newest, seen in (("c6", 4), ("c6", 9), ("c6", 0), ("unknown", 1)):
        assert unseen_messages(chat, newest, seen) == frozenset()


def test_topics() -> None:
    """A pause or too many messages close a topic; a clock that was set back opens none."""
    chat = [
        said("a", "x"),
        said("b", "x"),
        said("c", "x", said_at=START + DAY),
    ]
    first, last = topics_of(chat, START + DAY)
    assert [one.id for one in first.messages] == ["a", "b"]
    assert (first.closed, last.closed, first.id) == (True, False, "a")
    assert topics_of(chat, START + 2 * DAY)[1].closed
    assert (
        len(topics_of([*chat[:2], said("d", "x", said_at=START - DAY)], START))
        == 1
    )
    many = topics_of(
        [said(str(at), "x") for at in range(MOST_MESSAGES + 1)], START
    )
    assert [(len(one.messages), one.closed) for one in many] == [
        (MOST_MESSAGES, True),
        (1, False),
    ]
    assert (
        topics_of([said("a", "y"), said("b", "x")], START)[0].digest
        != first.digest
    )


def test_edited_within_the_second() -> None:
    """Of two branches that end in the same second that one stands which was stored last."""
    stored = [
        {"id": id, "role": "user", "content": id, "timestamp": NOW}
        for id in ("former", "edited")
    ]
    assert [
        one.text for one in past_messages("c", stored, NOW, rememberable=list)
    ] == ["edited"]
