"""The memory block: its place in the system prompt, and what it costs."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adaptive.recall.block import CLOSE_MARKER, OPEN_MARKER, block_with, with_block
from adaptive.recall.layout import entry_of, rendered_block
from tests.fakes import memory
from tests.rates import over


def block_of(*contents: str) -> str:
    """The block of memories that say this."""
    entries = [
        entry_of(memory(f"m-{at}", content), "bullet") for at, content in enumerate(contents)
    ]
    return rendered_block([], [one for one in entries if one], "bullet")


IMITATIONS = [
    CLOSE_MARKER,
    OPEN_MARKER,
    "</ADAPTIVE_MEMORY>",
    "< / adaptive_memory >",
    "</adaptive_memory\n>",
    "<\tadaptive_memory>",
    "</memory_context>",
    "<memory_context>",
]


text = st.text(max_size=60) | st.lists(
    st.sampled_from(["tea ", "猫", "\n", *IMITATIONS]), max_size=6
).map("".join)


BLOCK = block_of("Likes tea.")
OTHER = block_of("Has a dog.", "Lives in Lisbon.")
USER = {"role": "user", "content": "Hello"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}


@dataclass(frozen=True)
class Case:
    """Messages before, and the first one after a block went in; ``None`` where it is new."""

    id: str
    messages: list[dict[str, Any]]
    content: Any


CASES = [
    Case("system prompt", [{"role": "system", "content": "Be kind."}], f"Be kind.\n\n{BLOCK}"),
    Case(
        "with spaces",
        [{"role": "system", "content": " A\n \n"}],
        f" A\n \n\n\n{BLOCK}",
    ),
    Case("empty", [{"role": "system", "content": ""}], BLOCK),
    Case("none", [{"role": "system", "content": None}], BLOCK),
    Case("no system message", [USER], BLOCK),
    Case("no message", [], BLOCK),
    Case(
        "parts",
        [{"role": "system", "content": [{"type": "text", "text": "Be kind."}, IMAGE]}],
        [{"type": "text", "text": f"Be kind.\n\n{BLOCK}"}, IMAGE],
    ),
    Case(
        "two texts",
        [{"role": "system", "content": [{"text": "A"}, {"type": "text", "text": "B"}]}],
        [{"text": f"A\n\n{BLOCK}"}, {"type": "text", "text": "B"}],
    ),
    Case(
        "picture only",
        [{"role": "system", "content": [IMAGE]}],
        [{"type": "text", "text": BLOCK}, IMAGE],
    ),
    Case("no parts", [{"role": "system", "content": []}], [{"type": "text", "text": BLOCK}]),
    Case(
        "first of two",
        [{"role": "system", "content": "A"}, USER, {"role": "system", "content": "B"}],
        f"A\n\n{BLOCK}",
    ),
]


def system_content(messages: list[Any]) -> Any:
    """The content of the first system message."""
    return next(message["content"] for message in messages if message["role"] == "system")


@over("case", CASES)
def test_with_block(case: Case) -> None:
    """The block stands at the end of the first system message, once, and nothing else changes."""
    before = copy.deepcopy(case.messages)
    after = with_block(case.messages, BLOCK)
    assert case.messages == before
    assert system_content(after) == case.content
    others = [one for one in before if one["role"] != "system"]
    assert [one for one in after if one["role"] != "system"] == others
    assert with_block(after, BLOCK) == after
    other = with_block(after, OTHER)
    assert other == with_block(case.messages, OTHER)
    assert str(other).count(OPEN_MARKER) == 1


def test_block_is_taken_out() -> None:
    """Where no memory fits any more, the old block goes and the prompt is what it was."""
    messages = [{"role": "system", "content": "Be kind.", "id": "s"}, USER]
    assert with_block(with_block(messages, BLOCK), "") == messages
    parts = [{"role": "system", "content": [{"type": "text", "text": "Be kind."}]}]
    assert with_block(with_block(parts, BLOCK), "") == parts
    assert with_block([USER], "") == [USER]


@pytest.mark.parametrize(
    "prompt",
    [f"Memories stand in {OPEN_MARKER}", f"{OPEN_MARKER}\n is a tag.", f"So is\n{CLOSE_MARKER}\n."],
)
def test_prompt_that_speaks_of_markers(prompt: str) -> None:
    """A marker in the prompt itself is not taken for one of the block's."""
    messages = [{"role": "system", "content": prompt}]
    twice = with_block(with_block(messages, BLOCK), OTHER)
    assert system_content(twice) == f"{prompt}\n\n{OTHER}"


prompt = st.text(max_size=80) | st.lists(
    st.sampled_from(["Be kind.", "\n", "\n\n", " ", "<details>", *IMITATIONS]), max_size=8
).map("".join)


@settings(deadline=None)
@given(prompt, st.lists(text, min_size=1, max_size=4), st.lists(text, min_size=1, max_size=4))
def test_prompt_is_kept(prompt: str, first: list[str], second: list[str]) -> None:
    """The prompt outside the markers stays to the byte, whatever it and the block say."""
    # Without what happens to be a block already.
    messages = with_block([{"role": "system", "content": prompt}], "")
    assume(with_block(messages, "") == messages)
    bare = system_content(messages)
    once = with_block(messages, block_of(*first))
    assert system_content(once).startswith(bare)
    assert with_block(once, block_of(*first)) == once
    twice = with_block(once, block_of(*second))
    assert twice == with_block(messages, block_of(*second))
    assert with_block(twice, "") == messages


def test_sections() -> None:
    """What else the model is told stands in the block, alone if need be, and warnings below it."""
    both = block_with(BLOCK, "### Earlier\nThey spoke.", ["Beware."])
    inner = BLOCK.removesuffix(CLOSE_MARKER)
    block = f"{inner}\n### Earlier\nThey spoke.\n{CLOSE_MARKER}"
    assert both == f"{block}\n\n{OPEN_MARKER}\nBeware.\n{CLOSE_MARKER}"
    assert block_with(BLOCK, "") == BLOCK
    alone = block_with("", "### Earlier\nThey spoke.")
    for one in (both, alone):
        messages = [{"role": "system", "content": "Be kind."}]
        assert with_block(with_block(messages, one), "") == messages
