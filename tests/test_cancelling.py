"""Stop: what runs for an answer ends at once, leaves no task behind, and harms no later turn."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from adaptive.core.cache import UserCache
from adaptive.core.errors import EmbeddingError
from adaptive.core.model import Memory
from adaptive.core.table_ports import Sources
from adaptive.llm.ask import AnswerFormats
from adaptive.privacy.redaction import RedactingCompleter
from adaptive.recall.chat_block import ChatStates
from adaptive.recall.judge import RelevanceJudge
from adaptive.recall.question import Question
from adaptive.recall.recollection import Library, recollect
from adaptive.search.indexes import MemoryIndexes
from tests.fakes import (
    ListedMemories,
    ScriptedModel,
    ShelvedChats,
    ShelvedVectors,
    WordEmbedder,
    hook_settings,
    memory,
)

CAT = "User has a cat called Miso."
QUESTION = Question("What shall my cat Miso eat?", "", "chat")
REPLY = json.dumps({"scores": [{"id": "m-1", "score": 0.9}]})
VALVES: dict[str, Any] = {"inlet_timeout_seconds": 60, "vector_similarity_threshold": 0.0}


@pytest_asyncio.fixture(autouse=True)
async def _nothing_is_left() -> AsyncIterator[None]:
    """No task runs on after a test, and the loop was told of no error that nobody looked at."""
    told: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: told.append(context))
    before = asyncio.all_tasks()
    gc.freeze()  # what is older than the test need not be looked through afterwards
    yield
    for _ in range(20):
        await asyncio.sleep(0)
    gc.collect()
    gc.unfreeze()
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    assert not [task for task in left if "_embed" not in str(task.get_coro())]
    assert told == []


@dataclass
class Person:
    """A user's library with a model that judges and an embedder; both can be held up."""

    library: Library
    model: ScriptedModel
    embedder: WordEmbedder

    async def recalled(self) -> tuple[str, ...]:
        """What fits the question."""
        found = await recollect(self.library, QUESTION, hook_settings(**VALVES))
        return tuple(one.memory.content for one in found.fitting)


async def person(*script: str | Exception, memories: tuple[Memory, ...] = ()) -> Person:
    """A user whose memory is embedded already."""
    memories = memories or (memory("m-1", CAT), memory("m-2", "User owns a boat."))
    model, embedder = ScriptedModel(*script), WordEmbedder()
    sources = Sources("ada", ListedMemories(*memories), embedder, ShelvedVectors())
    redacting, indexes = RedactingCompleter(model, personal_data=True), MemoryIndexes()
    judge = RelevanceJudge(redacting, AnswerFormats(), UserCache[float](99), deadline=30)
    states = ChatStates(ShelvedChats(), write_after=0)
    library = Library(sources, indexes, states, judge)
    assert (await indexes.current(sources, patience=60)).ready
    return Person(library, model, embedder)


async def stopped(work: asyncio.Task[Any], reached: Callable[[], bool]) -> None:
    """Cancel a task when it has come so far; it ends within one turn of the loop or so."""
    while not reached():
        await asyncio.sleep(0.001)
    work.cancel()
    done, _ = await asyncio.wait({work}, timeout=5)
    assert done
    assert work.cancelled()


async def test_judge() -> None:
    """A call of the judging model is cut off; the next turn asks anew and is served."""
    ada = await person(REPLY)
    ada.model.gate.clear()
    await stopped(asyncio.create_task(ada.recalled()), lambda: ada.model.running == 1)
    assert ada.model.running == 0
    ada.model.gate.set()
    assert await ada.recalled() == (CAT,)
    assert len(ada.model.requests) == 2


async def test_embedding() -> None:
    """Nobody waits for the vector of a message that was stopped; the next one has its own."""
    ada = await person(REPLY)
    ada.embedder.gate.clear()
    asked = len(ada.embedder.queries)
    work = asyncio.create_task(ada.recalled())
    await stopped(work, lambda: len(ada.embedder.queries) > asked)
    ada.embedder.gate.set()
    assert await ada.recalled() == (CAT,)


@pytest.mark.parametrize("failing", [False, True], ids=["goes on", "fails"])
async def test_reading_for_several_turns(failing: bool) -> None:
    """What a stopped turn shares with others goes on for them, and may fail unseen."""
    ada = await person(REPLY, REPLY)
    sources, indexes = ada.library.sources, ada.library.indexes
    indexes.forget("ada")
    gate = asyncio.Event()
    reading = sources.store.read
    reads: list[None] = []

    async def slow() -> tuple[Memory, ...]:
        reads.append(None)
        await gate.wait()
        if failing:
            raise EmbeddingError("the store is down")
        return await reading()

    object.__setattr__(sources.store, "read", slow)
    work = asyncio.create_task(ada.recalled())
    await stopped(work, lambda: bool(reads))
    gate.set()
    object.__setattr__(sources.store, "read", reading)
    assert await ada.recalled() == (CAT,)
    assert len(reads) == 1
