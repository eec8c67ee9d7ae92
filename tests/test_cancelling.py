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

from adaptive.answer.preprocessing import Preprocessor
from adaptive.core.embedding import Sources
from adaptive.core.model import EmbeddingError, Memory
from adaptive.llm.ask import AnswerFormats
from adaptive.privacy.redaction import RedactingCompleter
from tests.answer.hooks import a_hook
from tests.fakes import (
    ListedMemories,
    ScriptedModel,
    ShelvedVectors,
    WordEmbedder,
    memory,
)
from tests.recall.test_recall import House

CAT = "User has a cat called Miso."
BOAT = "User owns a boat."
QUESTION = "What shall my cat Miso eat?"
REPLY = json.dumps({"scores": [{"id": "1", "score": 0.9}]})
VALVES: dict[str, Any] = {
    "inlet_timeout_seconds": 60,
    "vector_similarity_threshold": 0.0,
}


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
    """A user with a model that judges and an embedder; both can be held up."""

    home: House
    model: ScriptedModel
    embedder: WordEmbedder

    async def recalled(self) -> tuple[str, ...]:
        """What of the memories stands in the prompt for the question."""
        redacting = RedactingCompleter(self.model, personal_data=True)
        turn = self.home.turn(
            model=redacting, use_llm_for_relevance=True, **VALVES
        )
        block = await self.home.block(turn, QUESTION)
        return tuple(one for one in (CAT, BOAT) if one in block)


async def person(*script: str) -> Person:
    """A user whose memory is embedded already."""
    home, model, embedder = House(), ScriptedModel(*script), WordEmbedder()
    store = ListedMemories(memory("m-1", CAT), memory("m-2", BOAT))
    home.sources = Sources("ada", store, embedder, ShelvedVectors())
    assert (await home.indexes.current(home.sources, patience=60)).ready
    return Person(home, model, embedder)


async def stopped(
    work: asyncio.Task[Any], reached: Callable[[], bool]
) -> None:
    """Cancel a task when it has come so far; it ends within some turns of the loop."""
    while not reached():
        await asyncio.sleep(0.001)
    work.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    assert work.cancelled()


async def test_preprocessing() -> None:
    """The call before an answer is cut off at once, though its own time is not over."""
    hook = a_hook(
        model=ScriptedModel("{}"),
        enable_preprocessing=True,
        inlet_timeout_seconds=60,
    )
    hook.model.gate.clear()
    preprocessor = Preprocessor(AnswerFormats())
    messages = [{"role": "user", "content": QUESTION}]

    async def asking() -> None:
        async with preprocessor.beside(
            hook, messages, QUESTION, first=True
        ) as found:
            assert found is not None
            await found()

    await stopped(
        asyncio.create_task(asking()), lambda: hook.model.running == 1
    )
    assert hook.model.running == 0


@pytest.mark.parametrize("held_up", ["model", "embedder"])
async def test_recall(held_up: str) -> None:
    """Nobody waits for what a stopped message asked for; the next turn asks anew and is served."""
    ada = await person(REPLY)
    gate: asyncio.Event = getattr(ada, held_up).gate
    gate.clear()
    calls = {
        "model": lambda: ada.model.running,
        "embedder": lambda: len(ada.embedder.queries),
    }
    before = calls[held_up]()
    work = asyncio.create_task(ada.recalled())
    await stopped(work, lambda: calls[held_up]() > before)
    assert ada.model.running == 0
    gate.set()
    assert await ada.recalled() == (CAT,)


@pytest.mark.parametrize("failing", [False, True], ids=["goes on", "fails"])
async def test_reading_for_several_turns(failing: bool) -> None:
    """What a stopped turn shares with others goes on for them, and may fail unseen."""
    ada = await person(REPLY, REPLY)
    sources, indexes = ada.home.sources, ada.home.indexes
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
