"""Scripted conversations: what is known after each is what a person would remember of it."""

from __future__ import annotations

from datetime import datetime

import pytest

from adaptive.core.model import Memory
from tests.learn.conversation_replay import (
    Dialogue,
    Replay,
    load_dialogues,
)
from tests.minilm import MINILM
from tests.rates import over

DIALOGUES = load_dialogues()


def former(row: Memory, dialogue: Dialogue) -> dict[str, str]:
    """Former contents of a row, each with the date until which it held."""
    return {
        one["content"]: f"{datetime.fromtimestamp(one['until'], dialogue.zone):%Y-%m-%d}"
        for one in row.meta.get("history", [])
    }


def check_store(replay: Replay, dialogue: Dialogue) -> None:
    """Exactly the expected rows are there, each with its expected fields and history."""
    rows = replay.store.rows.values()
    assert sorted(replay.store.contents) == sorted(one["content"] for one in dialogue.store)
    by_content = {row.content: row for row in rows}
    for expected in dialogue.store:
        row = by_content[expected["content"]]
        assert former(row, dialogue) == expected.get("history", {})
        assert list(row.tags) == expected.get("tags", list(row.tags))
        assert row.bank == expected.get("bank", row.bank)


@pytest.mark.timeout(600)
@over("dialogue", DIALOGUES, at_least=0.9)
async def test_dialogue(dialogue: Dialogue) -> None:
    """After the last turn the store is the expected one, and each turn's line tells the truth."""
    replay = Replay(dialogue, MINILM)
    for said in dialogue.turns:
        told = await replay.learn(said)
        assert set(told.kinds) == set(said.tells), told.line
        for kind, fragments in said.tells.items():
            for fragment in fragments:
                assert fragment in told.kinds[kind]
        assert told.unused_replies == 0
        for fragment in said.prompt:
            assert fragment in "\n".join(told.prompts)
    check_store(replay, dialogue)
