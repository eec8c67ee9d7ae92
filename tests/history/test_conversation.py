"""Past conversation as a turn asks for it: in time, of the user alone, and forgotten."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from adaptive.errors import HostError, ModelBusy
from adaptive.history.conversation import PastConversation, PastQuestion
from adaptive.history.indexing import index_chat
from adaptive.history.section import HistorySection
from adaptive.llm.ask import AnswerFormats
from adaptive.model import ConversationKind
from tests.fakes import ScriptedModel
from tests.history.world import START, Notes, World, chat_of, no_nulls
from tests.learn.storerooms import HeldLeases

SECTION = "### Relevant past conversation"
ASKED = "What is my boat called?"


class Room(World):
    """Two indexed chats of Ada's, and a new one."""

    def __init__(self) -> None:
        super().__init__(
            boat=chat_of("boat", "My boat is called Freya.", "A splendid boat!"),
            dog=chat_of("dog", "My dog is called Rex.", "Good dog."),
            new=chat_of("new", ASKED),
        )
        self.history = PastConversation(
            AnswerFormats(), Notes(), HeldLeases(), no_nulls, self.vectors, self.chats
        )

    async def indexed(self, *chat_ids: str) -> Room:
        """The same with these chats in the index."""
        for chat_id in chat_ids or ("boat", "dog"):
            await index_chat(self.past, chat_id, START)
        return self

    async def recalled(
        self,
        text: str = ASKED,
        complete: Callable[[], Awaitable[str]] | None = None,
        previous: str = "",
        *,
        first: bool = True,
        **valves: Any,
    ) -> HistorySection:
        """What a new chat's message is given."""
        turn = self.turn(**valves)
        question = PastQuestion(text, [], previous, first, complete)
        return await self.history.recalled(turn, question, self.embedder)


async def test_recalled() -> None:
    """A message is given what was said before, and the line says how much it is."""
    room = await Room().indexed()
    found = await room.recalled()
    assert found.text.startswith(SECTION)
    assert "- User: My boat is called Freya.\n- Assistant: A splendid boat!" in found.text
    assert found.note.endswith("past messages recalled")
    assert "- Similar chat: boat" in found.text
    assert "Similar" not in (await room.recalled(first=False)).text
    assert "Freya" in (await room.recalled("And when was that?", None, ASKED, first=False)).text
    assert (await room.recalled(history_recall_default="chat")).text == ""


async def test_complete_question() -> None:
    """A follow-up that a model has made complete finds what it is about; else its words serve."""

    async def complete() -> str:
        return f"And its name?\n{ASKED}"

    async def fails() -> str:
        return ""

    async def late() -> str:
        await asyncio.sleep(60)
        return ASKED

    room = await Room().indexed()
    assert "Freya" in (await room.recalled("And its name?", complete)).text
    for rewriter in (None, fails, late):
        found = await room.recalled("And its name?", rewriter, inlet_timeout_seconds=1)
        assert "Freya" not in found.text
        assert "left out" not in found.note


@pytest.mark.parametrize(
    ("kind", "valves", "recalls", "keeps"),
    [
        ("saved", {}, True, True),
        ("saved", {"history_recall_default": "off"}, False, False),
        ("saved", {"history_recall": "off"}, False, False),
        ("api", {}, False, False),
        ("channel", {}, False, False),
        ("temporary", {}, False, False),
        ("temporary", {"inject_in_temporary_chats": True}, True, False),
    ],
)
def test_whom_it_serves(
    kind: ConversationKind, valves: dict[str, Any], recalls: bool, keeps: bool
) -> None:
    """It is for saved chats where it is on; a temporary one is given the past, and is not kept."""
    room = Room()
    turn = room.turn(kind=kind, **valves)
    assert (room.history.recalls(turn), room.history.keeps(turn)) == (recalls, keeps)


async def test_this_chat_beyond_the_window() -> None:
    """With ``chat`` nothing but what of this chat is not sent to the model any more."""
    room = Room()
    texts = ("My boat is called Freya.", "Splendid!", "My dog is Rex.", "Good.", "What is it?")
    room.chats.add("new", *texts)
    await room.indexed("boat", "new")
    turn = replace(room.turn(history_recall_default="chat"), question_id="new4")
    for questions, recalled in ((3, False), (2, True)):
        sent = [{"role": "user", "content": ASKED}] * questions
        found = await room.history.recalled(turn, PastQuestion(ASKED, sent), room.embedder)
        assert ("Freya" in found.text) is recalled
        assert "Rex" not in found.text
        assert "splendid boat" not in found.text


async def test_nothing_there() -> None:
    """Another user is given nothing, nor is anybody where a narrow window leaves no tokens."""
    room = await Room().indexed()
    question = PastQuestion(ASKED, [])
    bob = replace(room.turn(), user_id="bob")
    narrow = room.turn()
    narrow = replace(narrow, settings=narrow.settings.model_copy(update={"history_tokens": 0}))
    for turn in (bob, narrow):
        assert await room.history.recalled(turn, question, room.embedder) == HistorySection()


async def test_slow_or_failing(caplog: pytest.LogCaptureFixture) -> None:
    """A vector database that fails, or does not answer in time, is told, and costs no more."""
    room = await Room().indexed()
    room.vectors.failing = True
    found = await room.recalled()
    assert found == HistorySection(note="past conversation left out: the vector database is away")

    async def hangs(_: str) -> bool:
        await asyncio.sleep(60)
        return True

    room.vectors.holds = hangs  # type: ignore[method-assign]
    with caplog.at_level(logging.WARNING):
        found = await room.recalled(inlet_timeout_seconds=0.2)
    assert found == HistorySection(note="past conversation left out: it took longer than 0.14 s")
    assert "it took longer than 0.14 s" in caplog.text


async def test_summarising_models() -> None:
    """A model sums up what is too much, unless there is none, or it may not see the past."""
    room = Room()
    room.chats.add(
        "boat", *("My boat is called Freya, and she is splendid. " * 9 for _ in range(6))
    )
    await room.indexed()
    valves = {"enable_history_summary": True, "history_tokens": 200}
    assert "Summary" not in (await room.recalled(**valves)).text
    room.model = ScriptedModel('{"summary": "Freya the Great."}')
    assert "- Summary: Freya the Great." in (await room.recalled(**valves)).text

    async def unknown() -> None:
        raise ModelBusy("no model is known")

    turn = replace(room.turn(**valves), completer=unknown)
    found = await room.history.recalled(turn, PastQuestion(ASKED, []), room.embedder)
    assert "Freya, and she is splendid" in found.text


async def test_kept_behind_the_answer() -> None:
    """A turn's chat is indexed, past ones on request, unless the chat or the wish is not there."""
    room = Room()
    turn = room.turn("boat")

    async def shared() -> ConversationKind:
        return "shared"

    await room.history.keep(replace(turn, kind=shared))
    room.wanted = [False]
    await room.history.keep(turn)
    assert room.vectors.rows == {}
    room.wanted = [True]
    await room.history.keep(turn)
    assert {message for _, message in room.vectors.kinds()} == {"boat0", "boat1"}
    asked = turn.settings.model_copy(update={"index_past_chats": True})
    await room.history.keep(replace(turn, settings=asked))
    assert room.lines[-1] == "Past chats indexed: 3"


async def test_erased() -> None:
    """The index of a user goes, or a chat's part of it, and with it what is recalled."""
    room = await Room().indexed()
    history = room.history
    assert [await history.held("ada"), await history.held("ada", "boat")] == [2, 1]
    assert await history.erase("ada", "boat") == 1
    assert "Freya" not in (await room.recalled()).text
    keeping = asyncio.create_task(history.keep(room.turn("boat")))
    await asyncio.sleep(0)
    assert await history.erase("ada") == 1
    assert keeping.cancelled()
    assert room.vectors.rows == {}
    assert await history.erase("ada") == 0
    assert await room.recalled() == HistorySection()
    await room.indexed()

    async def refuses(_: str) -> None: ...

    room.vectors.delete_all = refuses  # type: ignore[method-assign]
    with pytest.raises(HostError, match="still holds"):
        await history.erase("ada")
