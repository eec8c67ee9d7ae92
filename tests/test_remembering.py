"""Past conversation beside memories: below them, in time, of the user alone, and forgotten."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI, Request

from adaptive.conversation.history_indexing import IndexingSources
from adaptive.conversation.history_keeping import KeptTurn
from adaptive.conversation_ports import ChatNotes, OutlinedMessage
from adaptive.errors import HostError
from adaptive.host.hook import Hook
from adaptive.llm.ask import AnswerFormats
from adaptive.ports import Embedder, Vectors
from adaptive.privacy.local_only import LocalOnlyBanks
from adaptive.recall.block import CLOSE_MARKER, OPEN_MARKER, with_block
from adaptive.recall.question import Question
from adaptive.recall.recollection import Recollection
from adaptive.recall.rewriting import Rewrite, Rewriter
from adaptive.remembering import HISTORY_PREAMBLE, AskedPast, Remembering, with_past
from adaptive.user_valves import UserValves
from tests.conversation.history_world import START, NearestUnits, StoredChats, chat_of
from tests.fakes import WordEmbedder, hook_settings
from tests.learn.storerooms import HeldLeases

SAVED: dict[str, Any] = {"chat_id": "new", "session_id": "s", "user_message_id": "n0"}
BLOCK = f"{OPEN_MARKER}\nabout\n\n- User lives in Porto.\n{CLOSE_MARKER}"
SECTION = "### Relevant past conversation"


class Units(NearestUnits):
    """``KeptUnits``; each search waits for ``gate``."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = 0

    async def holds(self, user_id: str) -> bool:
        """Whether there is a row."""
        self.asked += 1
        await self.gate.wait()
        self._check()
        return bool(self.rows.get(user_id))


class Chats(StoredChats):
    """``OutlinedChats``."""

    async def outline(self, user_id: str, chat_id: str) -> tuple[OutlinedMessage, ...]:
        """Of the stored messages."""
        found = await self.messages(user_id, chat_id)
        return tuple(
            OutlinedMessage(str(one["id"]), str(one["parentId"] or ""), str(one["role"]))
            for one in found
        )


class Notes:
    """``ChatNotesTable`` that is only read."""

    def __init__(self, **notes: ChatNotes) -> None:
        self.notes = notes

    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """Of one chat."""
        return self.notes.get(chat_id, ChatNotes())

    async def write(self, user_id: str, chat_id: str, notes: ChatNotes, now: int) -> None:
        """Nobody does."""
        raise NotImplementedError

    async def all(self, user_id: str, limit: int) -> tuple[tuple[str, ChatNotes, int], ...]:
        """Of all chats."""
        return tuple((chat_id, told, START) for chat_id, told in self.notes.items())

    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """None."""
        return 0


class Room:
    """Two indexed chats of Ada's, and a new one."""

    def __init__(self, **notes: ChatNotes) -> None:
        self.vectors, self.embedder = Units(), WordEmbedder()
        self.chats = Chats(
            boat=chat_of("boat", "My boat is called Freya.", "A splendid boat!"),
            dog=chat_of("dog", "My dog is called Rex.", "Good dog."),
            new=chat_of("new", "What is my boat called?"),
        )
        self.lines: list[str] = []
        self.remembering = Remembering(
            AnswerFormats(),
            Notes(**notes),
            HeldLeases(),
            self.tell,
            no_nulls,
            self.vectors,
            self.chats,
        )
        self.sources = IndexingSources("ada", self.embedder, self.vectors, self.chats)

    async def tell(self, hook: Hook, line: str) -> None:
        """Show a line."""
        self.lines.append(line)

    async def indexed(self, *chat_ids: str) -> Room:
        """The same with these chats in the index."""
        for chat_id in chat_ids or ("boat", "dog"):
            turn = KeptTurn(chat_id, "", START)
            await self.remembering._keeper.keep(self.sources, turn, None)
        return self

    async def recalled(
        self,
        text: str = "What is my boat called?",
        block: str = BLOCK,
        banks: LocalOnlyBanks | None = None,
        metadata: dict[str, Any] | None = None,
        messages: int = 1,
        rewriter: Rewriter | None = None,
        **valves: Any,
    ) -> Recollection:
        """What a new chat's first message is given, with memories or without."""
        hook = a_hook(metadata, **valves)
        question = Question(text, first=messages == 1)
        sent = [{"role": "user", "content": text}] * messages
        embedder = self.remembering.embedder(hook, self.embedder)
        hidden = banks or LocalOnlyBanks()
        asked = AskedPast(hook.request, None, embedder, question, sent, hidden, rewriter)

        async def found() -> Recollection:
            await embedder.embed([text], query=True)
            return Recollection(block, count=1)

        return await self.remembering.beside(hook, asked, found())


async def no_nulls(embedder: Embedder) -> Vectors:
    """Vectors of no null prompts."""
    return np.zeros((0, 1), dtype=np.float32)


def a_hook(metadata: dict[str, Any] | None = None, user_id: str = "ada", **valves: Any) -> Hook:
    """A hook of somebody who recalls all chats unless said otherwise."""
    settings = hook_settings(**{"history_recall_default": "all", **valves})
    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    return Hook(settings, {"id": user_id}, dict(metadata or SAVED), request, None, None)


async def test_below_the_memories() -> None:
    """The section stands in the block below the memories, and the vector is made once."""
    room = await Room().indexed()
    found = await room.recalled()
    head, _, section = found.block.partition(SECTION)
    assert head.startswith(BLOCK.removesuffix(CLOSE_MARKER))
    assert "- User: My boat is called Freya.\n- Assistant: A splendid boat!" in section
    assert section.endswith(f"\n{CLOSE_MARKER}")
    assert found.note.endswith("past messages recalled")
    assert room.embedder.queries == [["What is my boat called?"]]


async def test_complete_question() -> None:
    """A follow-up that a model has made complete finds what it is about; else its words serve."""

    async def complete() -> Rewrite | None:
        return Rewrite("And its name?\nWhat is my boat called?")

    async def fails() -> Rewrite | None:
        return None

    async def late() -> Rewrite | None:
        await asyncio.sleep(60)
        return None

    room = await Room().indexed()
    follow_up = "And its name?"
    assert "Freya" in (await room.recalled(follow_up, rewriter=complete)).block
    for rewriter in (None, fails, late):
        found = await room.recalled(follow_up, rewriter=rewriter, inlet_timeout_seconds=1)
        assert "Freya" not in found.block
        assert "left out" not in found.note


async def test_without_memories() -> None:
    """Where no memory fits the section has a block of its own, which a later one replaces."""
    room = await Room().indexed()
    found = await room.recalled(block="")
    assert found.block.startswith(f"{OPEN_MARKER}\n{HISTORY_PREAMBLE}\n\n###")
    messages = with_block([{"role": "system", "content": "Be kind."}], found.block)
    assert with_block(messages, "") == [{"role": "system", "content": "Be kind."}]


def test_nothing_past() -> None:
    """Without sections a block stays as it is, be it empty."""
    assert with_past(BLOCK, ()) == BLOCK
    assert with_past("", ()) == ""


@pytest.mark.parametrize(
    "valves",
    [
        {"history_recall_default": "off"},
        {"history_recall": "off"},
        {"metadata": {"chat_id": "", "session_id": None}},
        {"metadata": {"chat_id": "temporary:x", "session_id": "s"}},
        {"metadata": {"chat_id": "channel:x", "session_id": "s"}},
    ],
)
async def test_off(valves: dict[str, Any]) -> None:
    """Where it is off, and in conversations of other kinds, nothing is even asked for."""
    room = await Room().indexed()
    room.vectors.asked = 0
    assert (await room.recalled(**valves)) == Recollection(BLOCK, count=1)
    assert room.vectors.asked == 0


async def test_temporary_chat() -> None:
    """A temporary chat is given the past where it is given memories, and is not kept itself."""
    room = await Room().indexed()
    metadata = {"chat_id": "temporary:x", "session_id": "s"}
    found = await room.recalled(metadata=metadata, inject_in_temporary_chats=True)
    assert "Freya" in found.block
    assert not room.remembering.keeps(a_hook(metadata))
    assert room.remembering.keeps(a_hook())
    assert not room.remembering.keeps(a_hook(history_recall_default="off"))


async def test_this_chat_beyond_the_window() -> None:
    """With ``chat`` nothing but what of this chat is not sent to the model any more."""
    room = Room()
    texts = ("My boat is called Freya.", "Splendid!", "My dog is Rex.", "Good.", "What is it?")
    room.chats.rows["new"][:] = chat_of("new", *texts)
    await room.indexed("boat", "new")
    metadata = {**SAVED, "user_message_id": "new4"}
    own = {"metadata": metadata, "history_recall_default": "chat"}
    seen = await room.recalled("What is my boat called?", messages=3, **own)
    assert SECTION not in seen.block
    cut = await room.recalled("What is my boat called?", messages=2, **own)
    assert "Freya" in cut.block
    assert "Rex" not in cut.block
    assert "splendid boat" not in cut.block


async def test_other_users() -> None:
    """Another user is given nothing of it, whatever is asked."""
    room = await Room().indexed()
    hook = a_hook(user_id="bob")
    embedder = room.remembering.embedder(hook, room.embedder)
    sent = [{"role": "user", "content": "My boat Freya"}]
    asked = AskedPast(
        hook.request, None, embedder, Question("My boat Freya"), sent, LocalOnlyBanks()
    )

    async def found() -> Recollection:
        return Recollection()

    assert await room.remembering.beside(hook, asked, found()) == Recollection()


async def test_never_indexed() -> None:
    """A chat that was never indexed is not recalled by its words either."""
    room = await Room().indexed("dog")
    for _ in range(2):
        found = await room.recalled("boat called Freya")
        assert "Freya" not in found.block
        await room.remembering._indexes.made("ada")


async def test_slow_vector_database(caplog: pytest.LogCaptureFixture) -> None:
    """A vector database that does not answer costs a share of the time, and no memory."""
    room = await Room().indexed()
    room.vectors.gate.clear()
    with caplog.at_level(logging.WARNING):
        found = await room.recalled(inlet_timeout_seconds=0.2)
    assert found.block == BLOCK
    assert found.note == "past conversation left out: it took longer than 0.14 s"
    assert found.note in caplog.text.replace("is left out", "left out")


async def test_failing_vector_database() -> None:
    """What fails is told, and memories stay."""
    room = await Room().indexed()
    room.vectors.failing = True
    found = await room.recalled()
    assert found.block == BLOCK
    assert found.note == "past conversation left out: the vector database is away"


async def test_unexpected_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A fault of ours in the past leaves the memories alone, too."""
    room = await Room().indexed()

    async def broken(*_: object) -> bool:
        raise RuntimeError("a bug")

    monkeypatch.setattr(room.vectors, "holds", broken)
    found = await room.recalled()
    assert found.block == BLOCK
    assert "unexpected error" in found.note
    assert "a bug" in caplog.text


async def test_memories_fail() -> None:
    """Where memories can't be read the past is not waited for."""
    room = await Room().indexed()
    room.vectors.gate.clear()
    hook = a_hook()
    asked = AskedPast(hook.request, None, room.embedder, Question("x"), (), LocalOnlyBanks())

    async def failing() -> Recollection:
        raise HostError("the database is away")

    with pytest.raises(HostError):
        await room.remembering.beside(hook, asked, failing())


async def test_model_that_may_not_see_everything() -> None:
    """A model that some banks are kept from is shown no past, in which their facts may stand."""
    room = await Room().indexed()
    banks = LocalOnlyBanks(frozenset({"health"}))
    assert (await room.recalled(banks=banks)).block == BLOCK


async def test_no_room() -> None:
    """Where a narrow window leaves no tokens for the past there is none."""
    room = await Room().indexed()
    hook = a_hook()
    narrow = replace(hook, settings=hook.settings.model_copy(update={"history_tokens": 0}))
    asked = AskedPast(
        hook.request, None, room.embedder, Question("boat Freya"), (), LocalOnlyBanks()
    )

    async def found() -> Recollection:
        return Recollection(BLOCK)

    assert (await room.remembering.beside(narrow, asked, found())).block == BLOCK


async def test_similar_chats() -> None:
    """A new chat is told of former ones like it, by notes and titles, secrets left out."""
    key = "AKIA" + "QWERTYUIOPASDFGH"
    room = await Room(dog=ChatNotes("", f"Walking the dog, key {key}.", ("dogs",))).indexed()
    found = await room.recalled("walking dog")
    part = found.block.partition("### Similar past chats")[2].partition(SECTION)[0]
    assert "dog: Walking the dog" in part
    assert key not in part
    later = await room.recalled("walking dog", messages=2)
    assert "Similar past chats" not in later.block
    none = await room.recalled("walking dog", similar_past_chats=0)
    assert "Similar past chats" not in none.block
    chat = await room.recalled("walking dog", history_recall_default="chat")
    assert "Similar past chats" not in chat.block


async def test_erased() -> None:
    """The index of a user goes, or a chat's part of it, and with it what is recalled."""
    room = await Room().indexed()
    assert await room.remembering.held("ada") == 2
    assert await room.remembering.held("ada", "boat") == 1
    assert await room.remembering.erase("ada", "boat") == 1
    assert "Freya" not in (await room.recalled()).block
    assert await room.remembering.erase("ada") == 1
    assert room.vectors.rows == {}
    assert await room.remembering.erase("ada") == 0
    assert (await room.recalled()).block == BLOCK


async def test_left_over() -> None:
    """Where something stays in the index, that is told."""
    room = await Room().indexed()

    async def refuses(_: str) -> None: ...

    room.vectors.delete_all = refuses  # type: ignore[method-assign]
    with pytest.raises(HostError, match="still holds"):
        await room.remembering.erase("ada")


def test_users_choice() -> None:
    """A user may switch on what the admin allows, and off in any case."""
    hook = a_hook()
    chosen = hook_settings(UserValves(history_recall="off"), history_recall_default="all")
    assert not Room().remembering.keeps(replace(hook, settings=chosen))
