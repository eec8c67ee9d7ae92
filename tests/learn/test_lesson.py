"""A whole lesson: a turn goes in, changed memories and a line for the user come out."""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from adaptive.errors import MemoryUnavailable, ModelBusy, ModelRejected, ReplyUnusable
from adaptive.learn.claims import TurnClaims
from adaptive.learn.lesson import Classroom, learn_turn
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Turn
from adaptive.search.indexes import MemoryIndexes, Sources
from tests.fakes import (
    HeldClaims,
    ListedMemories,
    ScriptedModel,
    ShelvedVectors,
    WordEmbedder,
    hook_settings,
    memory,
    turn,
)

NOW = datetime(2026, 11, 21, 9, 5, tzinfo=UTC)
TEA = memory("m-1", "User likes tea.")
SETTINGS = hook_settings(retry_delay=0, max_retries=1)
LISBON = {"operation": "NEW", "content": "User lives in Lisbon."}


def reply(*operations: dict[str, Any]) -> str:
    """A reply with these operations."""
    return json.dumps({"operations": list(operations)})


def classroom(store: ListedMemories, model: ScriptedModel, **parts: Any) -> Classroom:
    """A room with this store and model, and new everything else but for the named parts."""
    sources = Sources("ada", store, parts.pop("embedder", WordEmbedder()), ShelvedVectors())
    fresh = {
        "indexes": MemoryIndexes(),
        "tables": HeldClaims(),
        "claims": TurnClaims(),
        "formats": AnswerFormats(),
    }
    return Classroom(sources=sources, completer=model, **{**fresh, **parts})


async def learn(room: Classroom, said: Turn) -> str | None:
    """A lesson with time enough."""
    return await learn_turn(room, said, SETTINGS, NOW)


async def test_saved() -> None:
    """A fact is saved, and the line names it."""
    store, model = ListedMemories(), ScriptedModel(reply(LISBON))
    line = await learn(classroom(store, model), turn("I live in Lisbon."))
    assert line == "Memory saved: User lives in Lisbon."
    assert store.contents == ["User lives in Lisbon."]
    assert model.requests[0].user.endswith("I live in Lisbon.")


async def test_corrected_and_forgotten() -> None:
    """Existing memories are shown with their ids, and can be changed and removed by them."""
    dog = memory("m-2", "User has a dog.", created_at=0)
    store = ListedMemories(TEA, dog)
    update = {"operation": "UPDATE", "id": "m-1", "content": "User likes black tea."}
    model = ScriptedModel(reply(update, {"operation": "DELETE", "id": "m-2"}))
    line = await learn(classroom(store, model), turn("I like black tea now. And forget the dog."))
    assert line == "Memory updated: User likes black tea. · Memory deleted: User has a dog."
    assert store.contents == ["User likes black tea."]
    assert "- id=m-2 | User has a dog.\n- id=m-1 | User likes tea." in model.requests[0].user


async def test_nothing() -> None:
    """A turn without a fact says so, and is not learned again."""
    room = classroom(ListedMemories(), ScriptedModel(reply()))
    assert await learn(room, turn("What time is it?")) == "Nothing new to remember"
    assert await learn(room, turn("What time is it?")) is None


async def test_known_already() -> None:
    """A fact that is known is not doubled, and the line says so."""
    store = ListedMemories(TEA)
    model = ScriptedModel(reply({"operation": "NEW", "content": "user likes tea"}))
    line = await learn(classroom(store, model), turn("I like tea."))
    assert line == "Already known: user likes tea"
    assert store.contents == [TEA.content]


async def test_second_answer_to_a_message() -> None:
    """A regenerated answer, or that of a second model, learns nothing and says nothing."""
    store, model = ListedMemories(), ScriptedModel(reply(LISBON))
    room = classroom(store, model)
    lines = await asyncio.gather(*(learn(room, turn("I live in Lisbon.")) for _ in range(2)))
    assert sorted(lines, key=str) == ["Memory saved: User lives in Lisbon.", None]
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    "failure",
    [ModelRejected("no credits", 402), ReplyUnusable("the model's answer holds no text")],
    ids=["rejected", "no text"],
)
async def test_failing_model(failure: Exception) -> None:
    """A model that fails is the reason; the repeated turn is learned."""
    tries = 2 if isinstance(failure, ReplyUnusable) else 1
    store, model = ListedMemories(), ScriptedModel(*[failure] * tries, reply(LISBON))
    room = classroom(store, model)
    with pytest.raises(type(failure)):
        await learn(room, turn("I live in Lisbon."))
    assert store.contents == []
    assert await learn(room, turn("I live in Lisbon.")) == "Memory saved: User lives in Lisbon."


@pytest.mark.parametrize("text", ["Sure, noted!", "", '{"operations": [{"operation": "NEW", "con'])
async def test_unusable_reply(text: str) -> None:
    """Prose or half a reply stores nothing; the repeated turn is learned."""
    store = ListedMemories()
    room = classroom(store, ScriptedModel(text, text, reply(LISBON)))
    with pytest.raises(ReplyUnusable):
        await learn(room, turn("I live in Lisbon."))
    assert store.contents == []
    assert await learn(room, turn("I live in Lisbon.")) is not None


async def test_busy_model_is_asked_again() -> None:
    """The valves say how often a busy model is asked again."""
    room = classroom(ListedMemories(), ScriptedModel(ModelBusy("b"), reply(LISBON)))
    assert await learn(room, turn("I live in Lisbon.")) == "Memory saved: User lives in Lisbon."
    room = classroom(ListedMemories(), ScriptedModel(ModelBusy("b"), ModelBusy("still")))
    with pytest.raises(ModelBusy, match="still"):
        await learn(room, turn("I live in Lisbon."))


async def test_hanging_model() -> None:
    """A model that hangs is given up at the valve's time, and the turn can be repeated."""
    store, model = ListedMemories(), ScriptedModel("never")
    model.gate.clear()
    room = classroom(store, model)
    hasty = hook_settings(llm_timeout_seconds=1)
    with pytest.raises(ModelBusy, match="did not answer within 1 s"):
        await learn_turn(room, turn("I live in Lisbon."), hasty, NOW)
    assert await room.claims.claim(room.tables, "ada", "m", 0)


async def test_cancelled_lesson() -> None:
    """A lesson that is cancelled gives its claim and its turn at the user's lock back."""
    model = ScriptedModel("never")
    model.gate.clear()
    room = classroom(ListedMemories(), model)
    task = asyncio.create_task(learn(room, turn("I live in Lisbon.")))
    while not model.running:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not room.claims.lock("ada").locked()
    assert await room.claims.claim(room.tables, "ada", "m", 0)


async def test_memories_not_allowed() -> None:
    """Where the host allows no memories, the model is not even asked."""
    model = ScriptedModel()
    room = classroom(ListedMemories(refusal="you lack the permission"), model)
    with pytest.raises(MemoryUnavailable, match="you lack the permission"):
        await learn(room, turn("I live in Lisbon."))
    assert model.requests == []


async def test_partial_failure() -> None:
    """A fact that could not be written is told beside one that was, and learned the next time."""
    store = ListedMemories(broken=["User has a dog."])
    both = reply(LISBON, {"operation": "NEW", "content": "User has a dog."})
    room = classroom(store, ScriptedModel(both, both))
    assert await learn(room, turn("I live in Lisbon with my dog.")) == (
        "Memory saved: User lives in Lisbon. · "
        "Could not be saved: User has a dog. (the table is locked for 'User has a dog.')"
    )
    store.broken = frozenset()
    assert await learn(room, turn("I live in Lisbon with my dog.")) == (
        "Memory saved: User has a dog. · Already known: User lives in Lisbon."
    )


async def test_written_while_the_model_thought() -> None:
    """What the chat model's own tools saved meanwhile is seen, and not doubled."""
    store, model = ListedMemories(), ScriptedModel(reply(LISBON))
    model.gate.clear()
    task = asyncio.create_task(learn(classroom(store, model), turn("I live in Lisbon.")))
    while not model.running:
        await asyncio.sleep(0)
    store.rows["tool"] = memory("tool", "User lives in Lisbon.")
    model.gate.set()
    assert await task == "Already known: User lives in Lisbon."


async def test_deleted_while_the_model_thought() -> None:
    """A memory that the user deleted meanwhile does not come back."""
    store = ListedMemories(TEA)
    model = ScriptedModel(reply({"operation": "UPDATE", "id": "m-1", "content": "User hates tea."}))
    model.gate.clear()
    task = asyncio.create_task(learn(classroom(store, model), turn("I hate tea.")))
    while not model.running:
        await asyncio.sleep(0)
    store.rows.clear()
    model.gate.set()
    assert await task == "Not saved: User hates tea. (the memory is gone meanwhile)"
    assert store.contents == []


async def test_one_lesson_of_a_user_at_a_time() -> None:
    """Two turns of one user are learned one after the other: the second sees the first's fact."""
    store, model = ListedMemories(), ScriptedModel(reply(LISBON), reply(LISBON))
    room = classroom(store, model)
    lines = await asyncio.gather(
        learn(room, turn("I live in Lisbon.", message_id="m-1")),
        learn(room, turn("As I said, in Lisbon.", message_id="m-2")),
    )
    assert lines == [
        "Memory saved: User lives in Lisbon.",
        "Already known: User lives in Lisbon.",
    ]
    assert model.most_running == 1
    assert "User lives in Lisbon." in model.requests[1].user
    assert len(store.rows) == 1


async def test_users_do_not_wait_for_each_other() -> None:
    """Two users' turns are learned at the same time, each into its own store."""
    model = ScriptedModel(reply(LISBON), reply(LISBON))
    shared = {"claims": TurnClaims(), "tables": HeldClaims()}
    stores = {"ada": ListedMemories(), "bob": ListedMemories()}
    await asyncio.gather(
        *(
            learn(classroom(store, model, **shared), turn("I live in Lisbon.", user_id=user))
            for user, store in stores.items()
        )
    )
    assert model.most_running == 2
    assert [store.contents for store in stores.values()] == [["User lives in Lisbon."]] * 2


def many() -> ListedMemories:
    """A store of 50 memories, one of which is about tea."""
    rows = [memory(f"m-{n}", f"Fact number {n}.", created_at=n) for n in range(49)]
    return ListedMemories(*rows, memory("tea", "User likes green tea.", created_at=0))


async def test_large_store_offers_the_nearest() -> None:
    """Of many memories the model is shown the twenty nearest to the message."""
    model = ScriptedModel(reply())
    await learn(classroom(many(), model), turn("green tea is what the user likes"))
    offered = [line for line in model.requests[0].user.splitlines() if line.startswith("- id=")]
    assert len(offered) == 20
    assert offered[0] == "- id=tea | User likes green tea."


async def test_large_store_without_embedding(caplog: pytest.LogCaptureFixture) -> None:
    """When embedding fails and no word fits, the newest are shown, and the fact is learned."""
    embedder = WordEmbedder()
    embedder.failing = True
    store, model = many(), ScriptedModel(reply(LISBON))
    with caplog.at_level(logging.WARNING):
        line = await learn(classroom(store, model, embedder=embedder), turn("I live in Lisbon."))
    assert line == "Memory saved: User lives in Lisbon."
    offered = [row for row in model.requests[0].user.splitlines() if row.startswith("- id=")]
    assert len(offered) == 20
    assert offered[0].startswith("- id=m-48 ")
    assert "a message is searched by its keywords only: the provider is down" in caplog.text


async def test_memory_that_was_not_shown() -> None:
    """An id that the model makes up, or that is another user's, changes nothing."""
    store = ListedMemories(TEA)
    made_up = reply({"operation": "DELETE", "id": "m-2"})
    line = await learn(classroom(store, ScriptedModel(made_up, made_up)), turn("Not tea any more."))
    assert line == "Not saved: m-2 (the model named a memory that it was not shown)"
    assert store.contents == [TEA.content]


async def test_tables_are_unavailable() -> None:
    """Where no table can be created, a turn is learned, and once only within the process."""
    store = ListedMemories()
    room = classroom(store, ScriptedModel(reply(LISBON)), tables=HeldClaims(unavailable=True))
    assert await learn(room, turn("I live in Lisbon.")) == "Memory saved: User lives in Lisbon."
    assert await learn(room, turn("I live in Lisbon.")) is None


async def test_messages_stay_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Neither the user's words nor the facts stand in the log above DEBUG."""
    store = ListedMemories(broken=["User lives in Lisbon."])
    with caplog.at_level(logging.INFO):
        await learn(classroom(store, ScriptedModel(reply(LISBON))), turn("I live in Lisbon."))
    assert "NEW failed" in caplog.text


async def test_large_store_without_embedding_by_keywords() -> None:
    """When embedding fails, what shares words with the message is shown before the newest."""
    embedder = WordEmbedder()
    embedder.failing = True
    model = ScriptedModel(reply())
    await learn(classroom(many(), model, embedder=embedder), turn("I am done with green tea."))
    offered = [row for row in model.requests[0].user.splitlines() if row.startswith("- id=")]
    assert offered[0] == "- id=tea | User likes green tea."


async def test_hanging_embedding() -> None:
    """A small store is shown whole, so a lesson does not wait for a provider that hangs."""
    embedder = WordEmbedder()
    embedder.gate.clear()
    room = classroom(ListedMemories(TEA), ScriptedModel(reply(LISBON)), embedder=embedder)
    line = await learn(room, turn("I live in Lisbon."))
    assert line == "Memory saved: User lives in Lisbon."
    embedder.gate.set()


async def test_next_message_finds_the_vectors_ready() -> None:
    """What a lesson wrote is embedded at its end, and not again by the next message."""
    embedder = WordEmbedder()
    room = classroom(ListedMemories(TEA), ScriptedModel(reply(LISBON)), embedder=embedder)
    await learn(room, turn("I live in Lisbon."))
    while room.indexes.embedding("ada"):
        await asyncio.sleep(0)
    assert sorted(embedder.embedded) == [TEA.content, "User lives in Lisbon."]
    index = await room.indexes.current(room.sources, SETTINGS.index_cache_bytes, 10)
    assert index.complete
    assert len(embedder.embedded) == 2
