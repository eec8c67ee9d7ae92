"""Reading chat messages as the host passes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.core.messages import (
    earlier_utterances,
    local_time,
    message_text,
    said_at,
    spoken_text,
)
from adaptive.core.texts import head_and_tail
from tests.rates import over

IMAGE = {
    "type": "image_url",
    "image_url": {"url": "data:image/png;base64,AAAA"},
}
# As release 0.10 stores answers.
OUTPUT = [
    {"type": "reasoning", "content": [{"text": "hm"}]},
    {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
    {"type": "function_call", "name": "f"},
]


@over(
    "content, output, text",
    [
        ("Hello", None, "Hello"),
        (
            [
                {"type": "text", "text": "a"},
                IMAGE,
                {"type": "text", "text": "b"},
            ],
            None,
            "a\nb",
        ),
        ("", OUTPUT, "Hi"),
        ("", [None, "Hi", {"type": "message"}], ""),
        # Halves of characters, and NUL.
        ("a\ud83db\ude00\U0001f600", None, "a?b?\U0001f600"),
        ([{"type": "text", "text": "a\0\ud83d"}], None, "a??"),
    ],
)
def test_message_text(content: Any, output: Any, text: str) -> None:
    """Text comes from a content of any shape, or else the output, no picture or reasoning."""
    assert (
        message_text({"role": "user", "content": content, "output": output})
        == text
    )


@given(st.text(st.characters(categories=("L", "Cc", "Cs"))))
def test_any_message_can_be_stored(sent: str) -> None:
    """Whatever is sent is read as a text that databases take; of most texts nothing changes."""
    text = message_text({"content": sent})
    assert "\0" not in text
    text.encode()
    if sent.isprintable():
        assert text == sent


def test_earlier_utterances() -> None:
    """The last of what user and assistant said before a message, those without words left out."""
    said = [
        "Hi",
        "Hello",
        "",
        "I live in Porto.",
        "Nice!",
        "And I have a cat.",
    ]
    roles = ["user", "assistant", "user", "user", "assistant", "user"]
    messages = [
        {"role": role, "content": text}
        for role, text in zip(roles, said, strict=True)
    ]
    messages.insert(3, {"role": "tool", "content": "21 degrees"})
    earlier = earlier_utterances(messages, messages[-1], 3)
    assert [one.text for one in earlier] == [
        "Hello",
        "I live in Porto.",
        "Nice!",
    ]


@over(
    "text, spoken",
    [
        ("  I live in Lisbon. \n", "I live in Lisbon."),
        (
            '<details type="reasoning" done="true">\n> thinking\n</details>\nHello',
            "Hello",
        ),
        ("Hi <adaptive_memory>\n- x\n</adaptive_memory> there", "Hi there"),
        ("<memory_context>x</memory_context>Hi", "Hi"),
        ("<adaptive_memory> is a tag", "<adaptive_memory> is a tag"),
    ],
)
def test_spoken_text(text: str, spoken: str) -> None:
    """What the host or a filter put into a message is no part of what was said."""
    assert spoken_text(text) == spoken


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_characters="…")),
    st.integers(min_value=1, max_value=50),
)
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
        (1_700_000_000.7, 1_700_000_000),
        (None, 5),
        (float("nan"), 5),
        (1e300, 5),
    ],
)
def test_said_at(stamp: Any, expected: int) -> None:
    """A message's time is its timestamp, and now where that is no usable one."""
    assert said_at({"timestamp": stamp}, 5.9) == expected


NOON = datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp()


@over(
    "names, local",
    [
        (
            ("", "  ", "Atlantis/Capital", "Asia/Tokyo"),
            "2026-07-01 21:00:00+09:00",
        ),
        (("Europe", "Europe/Lisbon"), "2026-07-01 13:00:00+01:00"),
        (("Asia/\0Tokyo",), "2026-07-01 12:00:00+00:00"),
        (("a/b" * 1000,), "2026-07-01 12:00:00+00:00"),
        ((), "2026-07-01 12:00:00+00:00"),
    ],
)
def test_local_time(names: tuple[str, ...], local: str) -> None:
    """The first zone that exists gives the time, UTC where none does."""
    assert str(local_time(NOON, *names)) == local


@over("seconds, year", [(1.7e12, 5138), (10**18, 5138), (-(10**15), 1970)])
def test_times_of_no_year(seconds: float, year: int) -> None:
    """Milliseconds, or what else another tool has noted, are a time all the same."""
    assert local_time(seconds, "Europe/Berlin").year == year
    assert local_time(seconds).year == year
