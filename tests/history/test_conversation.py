"""Past conversation as a turn asks for it: what fits comes back, in time, of the user alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adaptive.core.marks import Place, PlaceChoice
from adaptive.core.providers import ModelBusy
from adaptive.history.conversation import PastConversation
from adaptive.history.section import HistorySection
from adaptive.llm.ask import AnswerFormats
from adaptive.search.history_ports import PastQuestion
from tests.fakes import ScriptedModel
from tests.history.world import DAY, KEY, START, World, chat_of

ASKED = "What is my boat called?"
LONG = ["My boat is called Freya, and she is splendid. " * 18] * 12


class Room(World):
    """Two chats of Ada's, and a new one."""

    def __init__(self, **notes: str) -> None:
        super().__init__(
            boat=chat_of(
                "boat", "My boat is called Freya.", "A splendid boat!"
            ),
            dog=chat_of(
                "dog", "My dog is called Rex.", "Good dog.", start=START + DAY
            ),
            new=chat_of("new", ASKED),
        )
        self.note(**notes)
        self.past = PastConversation(
            vectors=self.vectors,
            chats=self.chats,
            notes=self.notes,
            formats=AnswerFormats(),
            nulls=self.null_vectors,
        )

    async def indexed(self, *chat_ids: str) -> Room:
        """The same with these chats in the index."""
        for chat_id in chat_ids or ("boat", "dog"):
            await self.index(chat_id)
        return self

    async def recalled(
        self, text: str = ASKED, hook: Any = None, **question: Any
    ) -> HistorySection:
        told = {
            "previous": "",
            "first": False,
            "messages": [],
            "complete": None,
            "tokens": 2000,
        }
        asked = PastQuestion(text, **(told | question))
        return await self.past.recalled(
            hook or self.hook(), asked, self.embedder
        )


async def test_recalled() -> None:
    """What was said comes with day, role and neighbours, at once and with keywords; told, too."""
    room = await Room().indexed()
    found = await room.recalled()
    assert found.text.splitlines()[2:6] == [
        "### Relevant past conversation",
        "2023-11-14",
        "- User: My boat is called Freya.",
        "- Assistant: A splendid boat!",
    ]
    assert found.note.endswith(" past messages recalled")
    room.chats.rows["violin"] = chat_of("violin", "The violin is old")
    await room.indexed("violin")
    assert (await room.recalled("the old violin")).messages[0].id == "violin0"
    assert (
        await room.recalled("Prove my theorem on Fermat primes")
        == HistorySection()
    )
    for text in ("?!", "thanks!"):
        assert await room.recalled(text) == HistorySection()


async def test_what_it_is_searched_with() -> None:
    """A follow-up brings its question along; a complete question serves."""
    room = await Room().indexed()
    found = await room.recalled("And when was that?", previous=ASKED)
    assert "Freya" in found.text

    async def complete() -> str:
        return "What is my dog called?"

    assert (await room.recalled(complete=complete)).messages[
        0
    ].chat_id == "dog"


def test_kinds() -> None:
    """Saved chats recall and are kept, temporary ones recall where memories go in, none if off."""
    room = Room()

    def kinds(hook: Any) -> tuple[bool, bool]:
        return room.past.recalls(hook), room.history.keeps(hook)

    hook = room.hook()
    assert kinds(hook) == (True, True)
    assert kinds(room.hook(history_recall_default="off")) == (False, False)
    hook.told_kind = "temporary"
    assert kinds(hook) == (False, False)
    allowed = room.hook(inject_in_temporary_chats=True)
    allowed.told_kind = "temporary"
    assert kinds(allowed) == (True, False)


async def test_slow_or_failing(caplog: pytest.LogCaptureFixture) -> None:
    """Without vectors nothing comes; what can't be read, or not in time, is told."""
    room = await Room().indexed()
    room.embedder.failing = True
    assert await room.recalled() == HistorySection()
    room.embedder.failing = False
    room.vectors.failing = True
    away = "past conversation left out: the vector database is away"
    assert (await room.recalled()).note == away
    room.vectors.failing = False
    room.chats.failing = True
    away = "past conversation left out: the database is away"
    assert (await room.recalled()).note == away

    async def hangs(*_: Any, **__: Any) -> Any:
        await asyncio.sleep(60)

    room.chats.current = hangs  # type: ignore[method-assign]
    found = await room.recalled(hook=room.hook(inlet_timeout_seconds=0.2))
    assert found == HistorySection(
        note="past conversation left out: it took too long"
    )
    assert "left out: it took too long" in caplog.text


async def test_similar_chats() -> None:
    """A new chat is told of former ones like it, with their notes where chats are noted."""
    room = await Room(boat=f"They talk about boats, key {KEY}.").indexed()
    noting = room.hook(enable_postprocessing=True)
    opened = (await room.recalled(hook=noting, first=True)).text
    assert "- Similar chat: boat: They talk about boats" in opened
    assert KEY not in opened
    opened = (await room.recalled(first=True)).text
    assert "- Similar chat: boat\n" in opened
    assert "Similar" not in (await room.recalled()).text
    hook = room.hook(history_recall_default="chat")
    assert "Similar" not in (await room.recalled(hook=hook, first=True)).text
    room.entries.unavailable = True
    opened = (await room.recalled(hook=noting, first=True)).text
    assert "- Similar chat: boat\n" in opened
    del room.chats.rows["boat"]
    assert "boat" not in (await room.recalled(first=True)).text


async def test_summed_up_where_it_is_too_much() -> None:
    """A model sums up what exceeds the budget, unless it can't, may not, or says nothing."""
    room = Room()
    room.model = ScriptedModel(
        '{"summary": "Freya  the Great."}',
        ModelBusy("down"),
        '{"summary": ""}',
        *['{"x": 1}'] * 3,
    )
    valves: dict[str, Any] = {"enable_history_summary": True}
    await room.indexed()
    assert (
        "Summary" not in (await room.recalled(hook=room.hook(**valves))).text
    )
    assert room.model.requests == []
    room.chats.rows["boat"] = chat_of("boat", *LONG)
    await room.indexed("boat")
    found = await room.recalled(hook=room.hook(**valves))
    assert found.text.endswith(
        "\n\n### Relevant past conversation\n- Summary: Freya the Great."
    )
    request = room.model.requests[0]
    assert request.system.startswith("# Summarise history")
    assert "\n2023-11-14\n- User: My boat is called Freya" in request.user
    assert request.user.endswith(f"## Newest message of the user\n{ASKED}")
    for _ in range(3):
        assert (
            "- User: " in (await room.recalled(hook=room.hook(**valves))).text
        )
    hook = room.hook(**valves)
    hook.hidden = frozenset({"work"})
    assert "- User: " in (await room.recalled(hook=hook)).text
    assert len(room.model.requests) == 6
    room.model = ModelBusy("no model is known")
    assert "- User: " in (await room.recalled(hook=room.hook(**valves))).text


async def test_what_was_quoted() -> None:
    """A text stands while every message that it tells of stands, word for word."""
    room = await Room(boat="They talk about boats.").indexed()
    answers = ('{"summary": "A boat."}',) * 2
    valves: dict[str, Any] = {"enable_history_summary": True}
    for opens, hook in (
        (True, room.hook()),
        (False, room.hook()),
        (False, room.hook(**valves)),
    ):
        room.chats.rows["boat"] = chat_of("boat", *LONG)
        await room.indexed("boat")
        room.model = hook.model = ScriptedModel(*answers)
        found = await room.recalled(hook=hook, first=opens)
        quoted = frozenset(found.quoted)
        assert quoted
        assert await room.past.standing(hook, quoted) == quoted
        for place, message in enumerate(room.chats.rows["boat"]):
            room.chats.rows["boat"][place] = {**message, "content": "Edited."}
        standing = await room.past.standing(hook, quoted)
        assert {chat_id for chat_id, _, _ in quoted - standing} == {"boat"}
        del room.chats.rows["boat"]
        assert await room.past.standing(hook, quoted) == standing


async def test_erased() -> None:
    """What is erased from the index is not recalled, whichever worker erased it."""
    room = await Room().indexed()
    await room.history.erase("ada", "boat")
    assert "Freya" not in (await room.recalled()).text
    room.vectors.rows.clear()
    assert await room.recalled() == HistorySection()


@pytest.mark.parametrize(
    ("folder", "choice", "quoted"),
    [
        ("boat", "here", True),
        ("new", "here", False),
        ("dog", "here only", False),
        ("boat", "here only", True),
    ],
)
async def test_folders(folder: str, choice: PlaceChoice, quoted: bool) -> None:
    """A chat of a folder that is kept apart is quoted in its chats alone, neither anew nor still."""
    room = await Room().indexed()
    seen = await room.recalled()
    boat = {one.quotation for one in seen.messages if one.chat_id == "boat"}
    hook = room.hook()
    choices: dict[str, PlaceChoice] = {"folder=boat": "here"}
    hook.place = Place(f"folder={folder}", choices=choices)
    choices[f"folder={folder}"] = choice
    found = await room.recalled(hook=hook)
    assert ("Freya" in found.text) == quoted
    assert await room.past.standing(hook, boat) == (boat if quoted else set())
