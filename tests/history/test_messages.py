"""Which messages of a chat are recalled, what of their text, and which belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from adaptive.history.messages import (
    MOST_MESSAGES,
    past_messages,
    recalled_text,
    secretless,
    topics_of,
    unseen_messages,
)
from tests.history.world import DAY, START, chat_of, said
from tests.rates import over

NOW = START + 5000


def test_oldest_first_with_dates() -> None:
    """Messages come in the order of the parent chain, with roles and times."""
    found = past_messages("c", reversed(chat_of("c", "Hello", "Hi", "And you?")), NOW)
    assert [(one.id, one.role, one.said_at) for one in found] == [
        ("c0", "user", START),
        ("c1", "assistant", START + 60),
        ("c2", "user", START + 120),
    ]


def test_one_branch() -> None:
    """Of a regenerated answer the newer one counts, unless the other ends the branch."""
    stored = chat_of("c", "A name?", "Tom")
    stored.append({**stored[1], "id": "other", "content": "Tim", "timestamp": START + 90})
    assert [one.text for one in past_messages("c", stored, NOW)] == ["A name?", "Tim"]
    assert [one.text for one in past_messages("c", stored, NOW, "c1")] == ["A name?", "Tom"]


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "system"},
        {"role": "tool"},
        {"done": False},
        {"error": {"content": "no answer"}},
        {"content": "  "},
        {"content": "!?"},
    ],
    ids=lambda fields: str(fields),
)
def test_left_out(fields: dict[str, Any]) -> None:
    """Other roles, unfinished and failed answers, and messages without words are not recalled."""
    stored = chat_of("c", "A name?", "Tom")
    stored[1].update(fields)
    assert [one.id for one in past_messages("c", stored, NOW)] == ["c0"]


def test_chain_with_a_loop_ends() -> None:
    """A chain of parents that leads back into itself is read once."""
    stored = chat_of("c", "One", "Two")
    stored[0]["parentId"] = "c1"
    found = past_messages("c", stored, NOW, "c1")
    assert [one.id for one in found] == ["c0", "c1"]
    assert past_messages("c", [], NOW) == ()


def test_no_time_is_now() -> None:
    """A message without a usable time is dated by the caller."""
    stored = chat_of("c", "One")
    stored[0]["timestamp"] = None
    assert past_messages("c", stored, NOW)[0].said_at == NOW


@dataclass(frozen=True)
class Case:
    """A stored message and what is recalled of it."""

    id: str
    message: dict[str, Any]
    text: str


CASES = [
    Case("plain", {"content": "It rains."}, "It rains."),
    Case("thinking", {"content": "<think>Hm, rain?</think>\n\nIt rains."}, "It rains."),
    Case("reasoning", {"content": "<REASONING>a</REASONING>b <think>c"}, "b <think>c"),
    Case(
        "details",
        {"content": '<details type="tool_calls" done="true">x</details>\nIt rains.'},
        "It rains.",
    ),
    Case("block", {"content": "<adaptive_memory>\nx\n</adaptive_memory>\nYes"}, "Yes"),
    Case(
        "output items",
        {
            "content": "",
            "output": [
                {"type": "reasoning", "content": [{"type": "output_text", "text": "secret"}]},
                {"type": "message", "content": [{"type": "output_text", "text": "It rains."}]},
                {"type": "function_call", "name": "weather"},
            ],
        },
        "It rains.",
    ),
    Case("parts", {"content": [{"type": "text", "text": "A"}, {"type": "image_url"}]}, "A"),
]


@over("case", CASES)
def test_recalled_text(case: Case) -> None:
    """Thinking, tool results and what a filter put in are no part of what was said."""
    assert recalled_text(case.message) == case.text


def test_beyond_the_window() -> None:
    """Everything before the oldest question that is sent is unseen; a branch that was left not."""
    chat = chat_of("c", *"abcdefg")
    branch = {"id": "x", "parentId": "c1", "role": "user"}
    assert unseen_messages(chat, "c6", 4) == frozenset()
    assert unseen_messages(chat, "c6", 2) == {"c0", "c1", "c2", "c3"}
    assert unseen_messages([*chat, branch], "x", 1) == {"c0", "c1"}
    for newest, seen in (("c6", 9), ("c6", 0), ("unknown", 1)):
        assert unseen_messages(chat, newest, seen) == frozenset()


def test_secrets() -> None:
    """Each secret has a mark in its place, also beside odd signs; other messages stay."""
    key = "AKIA" + "QWERTYUIOPASDFGH"
    messages = [
        said("a", f"The key is {key}."),
        said("b", "Fine\n\n\x1f\n\nthen"),
        said("c", "Rain"),
    ]
    bare = secretless(messages)
    assert [one.text for one in bare] == ["The key is [secret removed].", messages[1].text, "Rain"]
    assert bare[2] is messages[2]
    assert secretless(messages[::2])[0].text == "The key is [secret removed]."


def test_topics() -> None:
    """A pause or too many messages close a topic; a clock that was set back opens none."""
    chat = [said("a", "x"), said("b", "x"), said("c", "x", said_at=START + DAY)]
    first, last = topics_of(chat, START + DAY)
    assert [one.id for one in first.messages] == ["a", "b"]
    assert (first.closed, last.closed, first.id) == (True, False, "a")
    assert topics_of(chat, START + 2 * DAY)[1].closed
    assert len(topics_of([*chat[:2], said("d", "x", said_at=START - DAY)], START)) == 1
    many = topics_of([said(str(at), "x") for at in range(MOST_MESSAGES + 1)], START)
    assert [(len(one.messages), one.closed) for one in many] == [(MOST_MESSAGES, True), (1, False)]
    assert topics_of([], START) == ()
    edited = topics_of([said("a", "y"), said("b", "x")], START)[0]
    assert edited.digest != first.digest
