"""Which messages of a chat are recalled, and what of their text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from adaptive.conversation.past_messages import past_messages, recalled_text
from tests.conversation.history_world import START, chat_of
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
