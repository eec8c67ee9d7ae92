"""Reading chat messages as the host passes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.messages import (
    earlier_utterances,
    head_and_tail,
    message_text,
    newest_user_message,
    said_at,
    spoken_text,
)
from adaptive.model import Utterance
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """Something to read, and the text in it."""

    id: str
    given: Any
    text: str


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}

CONTENTS = [
    Case("text", "Hello", "Hello"),
    Case("empty", "", ""),
    Case("none", None, ""),
    Case("number", 5, ""),
    Case("parts", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
    Case("image between", [{"type": "text", "text": "a"}, IMAGE], "a"),
    Case("image alone", [IMAGE], ""),
    Case("part without type", [{"text": "a"}], "a"),
    Case("part without text", [{"type": "text"}, {"type": "text", "text": None}], ""),
    Case("parts of another shape", ["a", None, 3, ["b"]], ""),
    Case("empty list", [], ""),
]


@over("case", CONTENTS)
def test_message_text(case: Case) -> None:
    """Text is taken from a content of any shape, pictures are not."""
    assert message_text({"role": "user", "content": case.given}) == case.text


def test_message_without_content() -> None:
    """A message that holds only tool calls has no text."""
    assert message_text({"role": "assistant", "tool_calls": []}) == ""


def output(*texts: str) -> list[dict[str, Any]]:
    """Output items as release 0.10 stores them, tool calls and reasoning between the texts."""
    items: list[dict[str, Any]] = [{"type": "reasoning", "content": [{"text": "hm"}]}]
    for text in texts:
        items.append({"type": "message", "content": [{"type": "output_text", "text": text}]})
        items.append({"type": "function_call", "name": "f"})
    return items


OUTPUTS = [
    Case("one", {"content": "", "output": output("Hi")}, "Hi"),
    Case("several", {"content": "", "output": output("Hi", "there")}, "Hi\nthere"),
    Case("no content", {"output": output("Hi")}, "Hi"),
    Case("content counts", {"content": "Hello", "output": output("Hi")}, "Hello"),
    Case("parts count", {"content": [{"text": "Hello"}], "output": output("Hi")}, "Hello"),
    Case("no text", {"content": "", "output": output()}, ""),
    Case("another shape", {"content": "", "output": [None, "Hi", {"type": "message"}]}, ""),
    Case("no list", {"content": "", "output": "Hi"}, ""),
]


@over("case", OUTPUTS)
def test_text_in_the_output(case: Case) -> None:
    """An answer whose content is empty says what its output items say, without reasoning."""
    assert message_text(case.given) == case.text


SPOKEN = [
    Case("plain", "  I live in Lisbon. \n", "I live in Lisbon."),
    Case(
        "reasoning",
        '<details type="reasoning" done="true">\n> thinking\n</details>\nHello',
        "Hello",
    ),
    Case("several", "a <details>x</details>b <DETAILS open>y</DETAILS>c", "a b c"),
    Case("our block", "Hi <adaptive_memory>\n- x\n</adaptive_memory> there", "Hi there"),
    Case("the host's block", "<memory_context>x</memory_context>Hi", "Hi"),
    Case("unclosed block", "<adaptive_memory> is a tag", "<adaptive_memory> is a tag"),
    Case("unclosed details", "a <details> b", "a <details> b"),
    Case("another tag", "<detailsx>a</detailsx>", "<detailsx>a</detailsx>"),
    Case("nothing but blocks", "<details>a</details>\n", ""),
    Case("block within details", "<details><adaptive_memory></details>a", "a"),
]


@over("case", SPOKEN)
def test_spoken_text(case: Case) -> None:
    """What the host or a filter put into a message is no part of what was said."""
    assert spoken_text(case.given) == case.text


PATHOLOGICAL = [
    "<details>" * 20_000,
    "<details" * 25_000,
    "<details " + "x" * 200_000,
    "<details>" + "</details" * 20_000,
    "</details>" * 20_000,
    "</details>" + " " * 200_000 + "x",
    "<adaptive_memory>" * 12_000,
    "<memory_context>" * 12_000,
    "[" * 200_000,
    "```" * 50_000,
    "> " * 100_000,
    ">" * 100_000 + "<details>",
]


@pytest.mark.timeout(120)
@over("text", PATHOLOGICAL)
def test_spoken_text_in_linear_time(text: str) -> None:
    """200 kB of marks are read in no time, so that nobody can stop the host with a message."""
    assert len(spoken_text(text)) <= len(text)


def test_newest_user_message() -> None:
    """The last message of the user counts, wherever it stands."""
    first, last = {"role": "user", "content": "a"}, {"role": "user", "content": "b"}
    answer = {"role": "assistant", "content": "c"}
    assert newest_user_message([first, last, answer]) is last
    assert newest_user_message([answer]) is None
    assert newest_user_message([]) is None


CONVERSATION = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "<details>hm</details>Hi"},
    {"role": "tool", "content": "42"},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "I live in Lisbon."},
    {"role": "assistant", "content": "Nice."},
]


def test_earlier_utterances() -> None:
    """What user and assistant said before a message, oldest first, without what nobody said."""
    assert earlier_utterances(CONVERSATION, CONVERSATION[5], 10) == (
        Utterance("user", "Hello"),
        Utterance("assistant", "Hi"),
    )


def test_earlier_utterances_are_limited() -> None:
    """Of many the last ones are taken; none when none are wanted."""
    assert earlier_utterances(CONVERSATION, CONVERSATION[5], 1) == (Utterance("assistant", "Hi"),)
    assert earlier_utterances(CONVERSATION, CONVERSATION[5], 0) == ()


def test_equal_message_is_not_the_message() -> None:
    """A message that says the same is told apart: only the very message ends the search."""
    messages = [{"role": "user", "content": "Yes"}, {"role": "user", "content": "Yes"}]
    assert earlier_utterances(messages, messages[1], 5) == (Utterance("user", "Yes"),)


@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="…")), st.integers(min_value=1, max_value=50))
def test_head_and_tail(text: str, limit: int) -> None:
    """A short text stays as it is; of a long one beginning and end stay, up to the limit."""
    kept = head_and_tail(text, limit)
    if len(text) <= limit:
        assert kept == text
    else:
        head, tail = kept.split("\n[…]\n")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head + tail) == limit


@over(
    "stamp, expected",
    [
        (1_700_000_000, 1_700_000_000),
        (1_700_000_000.7, 1_700_000_000),
        (1_700_000_000_123, 1_700_000_000),
        (None, 5),
        ("soon", 5),
        (True, 5),
        (-1, 5),
        (float("nan"), 5),
        (1e300, 5),
    ],
)
def test_said_at(stamp: Any, expected: int) -> None:
    """A message's time is its timestamp in seconds or milliseconds, and now where it is neither."""
    assert said_at({"timestamp": stamp}, 5.9) == expected
