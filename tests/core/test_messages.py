"""Reading chat messages as the host passes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.core.messages import (
    earlier_utterances,
    head_and_tail,
    local_time,
    message_text,
    said_at,
    spoken_text,
)
from adaptive.core.model import Utterance
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
    Case("none", None, ""),
    Case("parts", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
    Case("image between", [{"type": "text", "text": "a"}, IMAGE], "a"),
    Case("image alone", [IMAGE], ""),
    Case("parts of another shape", ["a", None, 3, ["b"]], ""),
]


@over("case", CONTENTS)
def test_message_text(case: Case) -> None:
    """Text is taken from a content of any shape, pictures are not."""
    assert message_text({"role": "user", "content": case.given}) == case.text


def output(*texts: str) -> list[dict[str, Any]]:
    """Output items as release 0.10 stores them, tool calls and reasoning between the texts."""
    items: list[dict[str, Any]] = [{"type": "reasoning", "content": [{"text": "hm"}]}]
    for text in texts:
        items.append({"type": "message", "content": [{"type": "output_text", "text": text}]})
        items.append({"type": "function_call", "name": "f"})
    return items


OUTPUTS = [
    Case("one", {"content": "", "output": output("Hi")}, "Hi"),
    Case("content counts", {"content": "Hello", "output": output("Hi")}, "Hello"),
    Case("another shape", {"content": "", "output": [None, "Hi", {"type": "message"}]}, ""),
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
    Case("our block", "Hi <adaptive_memory>\n- x\n</adaptive_memory> there", "Hi there"),
    Case("the host's block", "<memory_context>x</memory_context>Hi", "Hi"),
    Case("unclosed block", "<adaptive_memory> is a tag", "<adaptive_memory> is a tag"),
]


@over("case", SPOKEN)
def test_spoken_text(case: Case) -> None:
    """What the host or a filter put into a message is no part of what was said."""
    assert spoken_text(case.given) == case.text


PATHOLOGICAL = [
    "<details>" * 20_000,
    "<details " + "x" * 200_000,
    "<details>" + "</details" * 20_000,
    "</details>" + " " * 200_000 + "x",
    "<adaptive_memory>" * 12_000,
]


@pytest.mark.timeout(120)
@over("text", PATHOLOGICAL)
def test_spoken_text_in_linear_time(text: str) -> None:
    """200 kB of marks are read in no time, so that nobody can stop the host with a message."""
    assert len(spoken_text(text)) <= len(text)


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


NOON = datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp()


@over(
    "names, local",
    [
        (("", "  ", "Atlantis/Capital", "Asia/Tokyo"), "2026-07-01 21:00:00+09:00"),
        (("Europe", "Europe/Lisbon"), "2026-07-01 13:00:00+01:00"),
        (("Asia/\0Tokyo",), "2026-07-01 12:00:00+00:00"),
        ((), "2026-07-01 12:00:00+00:00"),
    ],
)
def test_local_time(names: tuple[str, ...], local: str) -> None:
    """The first zone that exists gives the time, UTC where none does."""
    assert str(local_time(NOON, *names)) == local


@settings(deadline=None)
@given(st.lists(st.text(), max_size=3))
def test_any_zones(names: list[str]) -> None:
    """Whatever a browser or a user calls a time zone, there is a time: the same moment."""
    assert local_time(NOON, *names).timestamp() == NOON
