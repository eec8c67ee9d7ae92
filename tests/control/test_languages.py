"""Answers in the language of who asks: nothing that a command tells stands in the code in English."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from adaptive.core.model import Memory
from adaptive.memory.audit import AuditEntry
from adaptive.search.history_ports import ListedChat
from tests.control.test_commands import ChatPage, House, named
from tests.fakes import hook_settings
from tests.learn.world import NOW
from tests.wordless import english_in, wordless

__all__ = ["wordless"]

TEA = "お茶が好き"
COMMANDS = [
    "/memory",
    "/memory find お茶",
    "/memory find",
    "/memory log",
    "/memory log 3",
    "/undo そう",
    "/undo 1",
    "/undo 1",
    "/undo",
    "/undo 77",
    "/remember 紅茶も好き",
    "/remember sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6",
    "/memory change",
    "/memory change 77 紅茶",
    "/memory pin 2",
    "/memory pin 2",
    "/memory unpin 2",
    "/memory quiet 2",
    "/memory loud 2",
    "/memory pin",
    "/memory pin 77",
    "/memory",
    "/forget",
    "/forget 77",
    "/forget everything",
    "/memory restore",
    "/memory export",
    "/memory import",
    "/memory import - 緑茶も好き",
    "/memory learn stop",
    "/memory learn そう",
    "/memory learn start",
    "/memory here",
    "/memory here only",
    "/memory here そう",
    "/memory here model",
    "/memory everywhere",
    "/memory move",
    "/memory move 2 here",
    "/memory move 2 everywhere",
    "/memory chats",
    "/memory chats お茶",
    "/memory chats 2026-10",
    "/memory chats on",
    "/memory chats off",
    "/memory cost",
    "/memory off",
    "/memory on",
]


def test_english_is_found() -> None:
    """What is no name and no command is seen."""
    assert english_in("Nothing was done to お茶") == [
        "Nothing",
        "was",
        "done",
        "to",
    ]
    assert english_in("`/memory log` [お茶](/c/c1)") == []


@pytest.mark.usefixtures("wordless")
async def test_answers() -> None:
    """No answer to a command holds a word of English, whatever becomes of the command."""
    house = House(page=ChatPage(settings=hook_settings(save_mode="suggest")))
    await house.learn(TEA, "犬がいる")
    row = Memory("m", TEA, 1, 1)
    house.named = [named(row)]
    house.past.stop.return_value = False
    house.past.estimate.return_value = ""
    house.past.start.return_value = ""
    house.finder.titled.return_value = [ListedChat("c1", "お茶", NOW)]
    house.finder.about.return_value = []
    house.learner.do.return_value = ""
    house.learner.ask_deletion.return_value = ""
    refused = AuditEntry("refused", "", NOW, reason="it is imagined or played")
    await house.world.room().trail.record("ada", [refused])
    await house.costs.add("ada", Counter(calls=1), NOW)
    told = {typed: await house.answer(typed) for typed in COMMANDS}
    found = {
        typed: words
        for typed, answer in told.items()
        if (words := english_in(answer))
    }
    assert found == {}
    assert sum("ん" in answer for answer in told.values()) > 40
    (page,) = house.page.embedded[-1:]
    shown = re.sub(
        r"(?s)<style>.*?</style>|<script>.*?</script>|<[^>]+>", "", page
    )
    assert english_in(shown) == []
