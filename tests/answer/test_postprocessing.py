"""What follows an answered turn, with everything but the host's own tables and pages."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from adaptive.answer.postprocessing import AnsweredTurn, Postprocessor, answered_turn
from adaptive.core.errors import HostError, ModelBusy, TablesUnavailable
from adaptive.core.kept import ChatNotes
from adaptive.core.model import Draft, Memory, Operation, Turn
from adaptive.core.ports import Completer
from adaptive.llm.ask import AnswerFormats
from adaptive.settings.hook import Hook
from tests.answer.hooks import SAVED, AnswerHook, ListedChanges, Shelf, a_hook
from tests.fakes import ScriptedModel, memory, turn
from tests.rates import over

WORDS = "I live in Porto and I want to cook."
PORTO = "User lives in Porto."
SUMMARY = "The user wanted to cook. A soup was found."
NUTS = memory("m-1", "User is allergic to peanuts and lives in Lisbon.")


def reply(**fields: Any) -> str:
    """A reply of the model with these fields."""
    return json.dumps({"chat_summary": SUMMARY, "chat_tags": ["soup"], **fields})


class World:
    """One user's turn with everything that it may change; what is named in ``failing`` fails."""

    def __init__(self, *script: str | Exception, shared: bool = False, **valves: Any) -> None:
        self.model, self.shelf = ScriptedModel(*script), Shelf("Try a soup.")
        valves = {"enable_postprocessing": True, **valves}
        self.hook = a_hook(shelf=self.shelf, shared=shared, **valves)
        self.audit, self.failing = ListedChanges(), set[str]()
        self.rows: dict[tuple[str, str], ChatNotes] = {}
        self.memories: dict[str, Memory] | Exception = {NUTS.id: NUTS}
        self.found: list[Sequence[Operation]] = []
        self.learned = asyncio.Event()
        self.learned.set()
        self.processor = Postprocessor(
            AnswerFormats(),
            self,
            self.audit.record,
            asyncio.Semaphore(1),
            self._model_for,
            self._learn,
        )

    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """Notes of a chat."""
        self._check("read")
        return self.rows.get((user_id, chat_id), ChatNotes())

    async def write(self, user_id: str, chat_id: str, notes: ChatNotes, now: int) -> None:
        """Other notes."""
        self._check("write")
        self.rows[user_id, chat_id] = notes

    def _check(self, name: str) -> None:
        if name in self.failing:
            raise TablesUnavailable("no table can be created")

    async def _model_for(
        self, hook: Hook, memory_ids: Sequence[str]
    ) -> tuple[Completer, tuple[Memory, ...]] | None:
        if isinstance(self.memories, Exception):
            raise self.memories
        if not set(memory_ids) <= self.memories.keys():
            return None
        return self.model, tuple(self.memories[one] for one in memory_ids)

    async def _learn(
        self, hook: Hook, said: Turn, findings: Sequence[Operation], is_wanted: Callable[[], bool]
    ) -> None:
        if is_wanted():
            self.found.append(findings)

    async def process(self, *injected: str) -> ChatNotes | None:
        """Look back at a turn; what is noted of the chat then."""
        said = AnsweredTurn(self.hook, WORDS, "Try a soup.", injected, turn(WORDS))
        await self.processor.process(said, self.learned)
        return self.rows.get(("ada", "c"))


async def test_chat_is_noted() -> None:
    """Summary and tags are noted for the chat, and shown to the model with the next turn."""
    cake = reply(chat_summary="A cake came next.", chat_tags=["cake"])
    world = World(reply(), cake, memory_keep="allergies")
    assert await world.process(NUTS.id) == ChatNotes(SUMMARY, ("soup",))
    assert await world.process() == ChatNotes("A cake came next.", ("cake",))
    first, second = world.model.requests
    assert first.system.startswith("# Postprocess\n")
    assert "peanuts" not in f"{first.system}{first.user}"
    assert "\n- Also worth keeping: allergies\n" in first.system
    assert f"## Summary so far\n{SUMMARY}" in second.user
    assert "## Last answer\nTry a soup." in second.user
    assert (world.shelf.statuses, world.audit.entries) == ([], [])


@over(
    "leak",
    [
        "The user lives in Lisbon and is allergic to peanuts.",
        "The user, who is allergic to peanuts, asked for a soup.",
        "The assistant named shops in Lisbon.",
    ],
)
async def test_no_memory_is_noted(leak: str) -> None:
    """What only an injected memory could tell is left out of summary and tags."""
    world = World(reply(chat_summary=f"{SUMMARY} {leak}", chat_tags=["soup", "peanuts"]))
    assert await world.process(NUTS.id) == ChatNotes(SUMMARY, ("soup",))


async def test_what_was_said_may_be_noted() -> None:
    """What the user said in this chat is no secret in it, and Chinese sentences are told apart."""
    world = World(reply(chat_summary="The user lives in Porto and wants to cook."))
    world.memories = {"m-2": memory("m-2", PORTO)}
    noted = await world.process("m-2")
    assert noted is not None
    assert "Porto" in noted.summary
    world = World(reply(chat_summary="用户问了汤。用户住在波尔图市中心。"))
    world.memories = {"m-2": memory("m-2", "用户住在波尔图市中心")}
    assert await world.process("m-2") == ChatNotes("用户问了汤。", ("soup",))


async def test_gate_of_notes() -> None:
    """A summary or a tag that no write may hold is not noted; what stood before stays."""
    summary = "The password is Tr0ub4dor&3xyz."
    world = World(reply(chat_summary=summary, chat_tags=["tea", "a" * 41, "Tea"]))
    world.rows["ada", "c"] = ChatNotes("Before.", ("x",))
    noted = await world.process()
    assert noted == ChatNotes("Before.", ("tea",))


async def test_harmful_answer(caplog: pytest.LogCaptureFixture) -> None:
    """It is flagged in status, log and audit, by its ids and its score alone; a calm one is not."""
    world = World(reply(harmful_response=9), reply(harmful_response=7))
    with caplog.at_level(logging.WARNING):
        await world.process()
        await world.process()
    assert world.shelf.statuses == ["The answer may be harmful (9 of 10)"]
    (entry,) = world.audit.entries
    assert (entry.kind, entry.chat_id, entry.message_id) == ("flagged", "c", "a")
    assert (entry.before, entry.after) == ("", "")
    assert "message a" in caplog.text
    assert "soup" not in caplog.text


async def test_findings_are_learned() -> None:
    """They are handed over as new facts of the default bank behind the lesson, which tells them."""
    world = World(reply(new_learnings=[PORTO]))
    world.learned.clear()
    task = asyncio.create_task(world.process())
    while not world.rows:
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    assert world.found == []
    world.learned.set()
    await task
    assert world.found == [(Operation("NEW", draft=Draft(PORTO, bank="General")),)]


@pytest.mark.parametrize("answer", [ModelBusy("busy"), "I would rather sing.", "{}"], ids=str)
async def test_model_in_trouble(answer: str | Exception) -> None:
    """Without a usable reply nothing follows."""
    world = World(*[answer] * 5)
    assert (await world.process(), world.shelf.events) == (None, [])


async def test_nobody_is_asked() -> None:
    """Not in others' chats, nor where the host fails, a memory is hidden or notes can't be read."""
    shared, failing, hidden, unread = World(shared=True), World(), World(), World()
    failing.memories = HostError("the host knows no user")
    unread.failing = {"read"}
    for world in (shared, failing, unread):
        await world.process()
    await hidden.process("gone")
    assert all(one.model.requests == [] for one in (shared, failing, hidden, unread))


@pytest.mark.parametrize("forgotten", ["ada", "bob"])
async def test_erased_meanwhile(forgotten: str) -> None:
    """What was under way when its user had everything erased leaves nothing; others' goes on."""
    world = World(reply(new_learnings=[PORTO], follow_up_suggestions=["And?"]))
    world.model.gate.clear()
    task = asyncio.create_task(world.process())
    while not world.model.requests:
        await asyncio.sleep(0)
    world.processor.forget(forgotten)
    world.model.gate.set()
    left = (await task is None, world.found == [], "followUps" not in world.shelf.message)
    assert left == (forgotten == "ada",) * 3


QUESTION = {"id": "m", "role": "user", "content": WORDS}
ANSWER = {"id": "a", "role": "assistant", "content": "<details>thinking</details>Try a soup."}


def answered(
    *messages: dict[str, Any],
    words: str = WORDS,
    metadata: dict[str, Any] | None = None,
    wanted: bool = True,
) -> AnsweredTurn | None:
    """What there is to look back at."""
    hook: AnswerHook = a_hook({**SAVED, **(metadata or {})}, enable_postprocessing=wanted)
    hook.state["injected"] = ["m-1"]
    return answered_turn(hook, messages or (QUESTION, ANSWER), words, turn(WORDS))


def test_nothing_to_look_back_at() -> None:
    """Only saved chats are looked back at, with words and an answer, where the admin wants it."""
    for metadata in ({"chat_id": "local:1"}, {"chat_id": "channel:1"}, {"internal": True}):
        assert answered(metadata=metadata) is None
    assert answered(QUESTION, {**ANSWER, "content": " "}) is None
    assert answered(QUESTION) is None
    assert answered(words="…") is None
    assert answered(wanted=False) is None
