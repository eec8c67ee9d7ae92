"""Blocks that wait for the hook behind the host's tasks: each turn gets its own, and no other."""

from __future__ import annotations

from typing import Any, cast

import pytest

from adaptive.core.messages import message_text
from adaptive.core.runtime import TurnState, turn_state
from adaptive.recall import prompt as prompts
from adaptive.recall.block import CLOSE_MARKER, OPEN_MARKER
from adaptive.recall.prompt import (
    MessageBlock,
    PromptBlocks,
    TurnBlocks,
    with_message_blocks,
)
from adaptive.search.vectors import content_hash
from adaptive.settings.hook import Hook
from tests.fakes import TurnHook, WordEmbedder, hook_settings

Body = dict[str, Any]


def block_of(text: str) -> str:
    """A block that says this."""
    return f"{OPEN_MARKER}\n{text}\n{CLOSE_MARKER}"


def kept(blocks: TurnBlocks, user_id: str, text: str) -> Body:
    """The metadata of a turn for which a block waits."""
    metadata: Body = {"user_id": user_id}

    class Turn(TurnHook):
        @property
        def state(self) -> TurnState:
            """The state of the turn."""
            return turn_state(metadata)

    hook = Turn(hook_settings(), WordEmbedder(), user_id=user_id)
    said = MessageBlock(said=content_hash("Hi"), block=block_of("coffee too"))
    added = PromptBlocks(system=block_of(text), messages=[said])
    blocks.keep(cast(Hook, hook), added)
    return metadata


def asking(system: str = "Be kind.") -> Body:
    """A request to the model."""
    said = [
        {"role": "system", "content": system},
        {"role": "user", "content": "Hi"},
    ]
    return {"model": "gpt", "messages": said}


def prompt(body: Body) -> str:
    """Its system prompt."""
    return body["messages"][0]["content"]


def test_each_round_of_a_turn() -> None:
    """Each request of a turn gets the block once, at its end, whether it holds it already."""
    blocks = TurnBlocks()
    metadata = kept(blocks, "ada", "green tea")
    first = blocks.added(asking(), metadata)
    assert prompt(first) == f"Be kind.\n\n{block_of('green tea')}"
    assert first["messages"][1]["content"] == f"Hi\n\n{block_of('coffee too')}"
    assert blocks.added(first, metadata) == first
    cited = asking(f"{prompt(first)}\nCite your sources.")
    again = blocks.added(cited, metadata)
    assert (
        prompt(again)
        == f"Be kind.\nCite your sources.\n\n{block_of('green tea')}"
    )
    blocks.let_go(metadata)
    assert blocks.added(asking(), metadata) == asking()


def test_turns_never_mix() -> None:
    """Another turn, another user with the same mark, and a made-up mark are given nothing."""
    blocks = TurnBlocks()
    ada = kept(blocks, "ada", "green tea")
    bob = kept(blocks, "bob", "black coffee")
    assert "coffee" in prompt(blocks.added(asking(), bob))
    stolen = {**bob, "user_id": "ada"}
    for metadata in (
        {},
        {"user_id": "ada"},
        stolen,
        {"adaptive_memory": {"block_mark": "x"}},
    ):
        assert blocks.added(asking(), metadata) == asking()
    blocks.forget("ada")
    assert blocks.added(asking(), ada) == asking()
    assert "coffee" in prompt(blocks.added(asking(), bob))


def test_messages_without_words() -> None:
    """A message without a text is its block alone, once, in each round of a turn."""
    picture = {"type": "image_url", "image_url": {"url": "x"}}
    blocks = [MessageBlock(said=content_hash(""), block=block_of("tea"))]
    for content in ("", None, [picture]):
        asked: list[Body] = [{"role": "user", "content": content}]
        sent = with_message_blocks(asked, blocks)
        assert message_text(sent[0]) == block_of("tea")
        assert with_message_blocks(sent, blocks) == sent


def test_turn_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was kept for a turn that never ended is forgotten after a while."""
    monkeypatch.setattr(prompts, "_LONGEST_TURN_SECONDS", 0.0)
    blocks = TurnBlocks()
    assert blocks.added(asking(), kept(blocks, "ada", "green tea")) == asking()
