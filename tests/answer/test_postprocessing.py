"""What follows an answered turn, with everything but the host's own tables and pages."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from adaptive.answer.postprocessing import (
    AnsweredTurn,
    Postprocessor,
    answered_turn,
)
from adaptive.core.model import Draft, HostError, Memory, Proposal, Turn
from adaptive.core.providers import Completer
from adaptive.llm.ask import AnswerFormats
from adaptive.memory.tables import ChatNotes
from adaptive.settings.hook import Hook, StatusLines
from tests.answer.hooks import SAVED, Shelf, a_hook
from tests.fakes import ListedEntries, ScriptedModel, chat_notes, memory, turn
from tests.rates import over

WORDS = "I live in Porto and I want to cook."
PORTO = "User lives in Porto."
SUMMARY = "The user wanted to cook. A soup was found."
NUTS = memory("m-1", "User is allergic to peanuts and lives in Lisbon.")


def reply(**fields: Any) -> str:
    """A reply of the model with these fields."""
    return json.dumps(
        {"chat_summary": SUMMARY, "chat_tags": ["soup"], **fields}
    )


class World:
    """One user's turn with everything that it may change."""

    def __init__(
        self, *script: str | Exception, shared: bool = False, **valves: Any
    ) -> None:
        self.model, self.shelf = ScriptedModel(*script), Shelf("Try a soup.")
        valves = {"enable_postprocessing": True, **valves}
        self.hook = a_hook(shelf=self.shelf, shared=shared, **valves)
        self.notes = chat_notes(ListedEntries())
        self.memories: dict[str, Memory] | Exception = {NUTS.id: NUTS}
        self.found: list[Sequence[Proposal]] = []
        self.learned = asyncio.Event()
        self.learned.set()
        status = StatusLines()
        self.processor = Postprocessor(
            AnswerFormats(), self.notes, self, status
        )

    async def model_for(
        self, hook: Hook, memory_ids: Sequence[str]
    ) -> tuple[Completer, tuple[Memory, ...]] | None:
        if isinstance(self.memories, Exception):
            raise self.memories
        if not set(memory_ids) <= self.memories.keys():
            return None
        return self.model, tuple(self.memories[one] for one in memory_ids)

    async def learn_findings(
        self,
        hook: Hook,
        turn: Turn,
        findings: Sequence[Proposal],
        is_wanted: Callable[[], bool],
    ) -> None:
        if is_wanted():
            self.found.append(findings)

    async def process(self, *injected: str) -> ChatNotes:
        """Look back at a turn; what is noted of the chat then."""
        self.hook.state["injected"] = [*injected]
        said = AnsweredTurn(self.hook, WORDS, "Try a soup.", turn(WORDS))
        await self.processor.process(said, self.learned)
        return await self.notes.read("ada", "c")


@over(
    "leak",
    [
        "The user, who is allergic to peanuts, asked for a soup.",
        "The assistant named shops in Lisbon.",
    ],
)
async def test_no_memory_is_noted(leak: str) -> None:
    """What only an injected memory could tell is left out of summary and tags, and not shown."""
    world = World(
        reply(chat_summary=f"{SUMMARY} {leak}", chat_tags=["soup", "peanuts"])
    )
    assert await world.process(NUTS.id) == ChatNotes(SUMMARY, ("soup",))
    assert "peanuts" not in world.model.requests[0].user


async def test_what_was_said_may_be_noted() -> None:
    """What the user said in this chat is no secret in it, and Chinese sentences are told apart."""
    world = World(
        reply(chat_summary="The user lives in Porto and wants to cook.")
    )
    world.memories = {"m-2": memory("m-2", PORTO)}
    assert "Porto" in (await world.process("m-2")).summary
    world = World(reply(chat_summary="用户问了汤。用户住在波尔图市中心。"))
    world.memories = {"m-2": memory("m-2", "用户住在波尔图市中心")}
    assert await world.process("m-2") == ChatNotes("用户问了汤。", ("soup",))


async def test_gate_of_notes() -> None:
    """A summary or a tag that no write may hold is not noted; what stood before stays."""
    summary = "The password is Tr0ub4dor&3xyz."
    world = World(
        reply(chat_summary=summary, chat_tags=["tea", "a" * 41, "Tea"])
    )
    await world.notes.write("ada", "c", ChatNotes("Before.", ("x",)), 0)
    noted = await world.process()
    assert noted == ChatNotes("Before.", ("tea",))


async def test_harmful_answer(caplog: pytest.LogCaptureFixture) -> None:
    """It is flagged in status and log, by its ids and its score alone; a calm one is not."""
    world = World(reply(harmful_response=9), reply(harmful_response=7))
    with caplog.at_level(logging.WARNING):
        await world.process()
        await world.process()
    assert world.shelf.statuses == ["The answer may be harmful (9 of 10)"]
    assert caplog.text.count("flagged of user") == 1
    assert "chat c, message a" in caplog.text
    assert "soup" not in caplog.text


async def test_findings_are_learned() -> None:
    """They are handed over as new facts of the default bank behind the lesson, which tells them."""
    world = World(reply(new_learnings=[PORTO]))
    world.learned.clear()
    task = asyncio.create_task(world.process())
    while await world.notes.read("ada", "c") == ChatNotes():
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    assert world.found == []
    world.learned.set()
    await task
    assert world.found == [
        [Proposal("NEW", draft=Draft(PORTO, bank="General"))]
    ]


async def test_nobody_is_asked() -> None:
    """Not in others' chats, nor where the host fails, or a memory is hidden.

    Nor does anything follow where a reply is of no use.
    """
    singing = World(*["I would rather sing."] * 5)
    assert (await singing.process(), singing.shelf.events) == (ChatNotes(), [])
    shared, failing, hidden = World(shared=True), World(), World()
    failing.memories = HostError("the host knows no user")
    await shared.process()
    await failing.process()
    await hidden.process("gone")
    assert all(one.model.requests == [] for one in (shared, failing, hidden))


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
    left = (
        await task == ChatNotes(),
        world.found == [],
        "followUps" not in world.shelf.message,
    )
    assert left == (forgotten == "ada",) * 3


def test_nothing_to_look_back_at() -> None:
    """Only saved chats are looked back at, with words and an answer, where the admin wants it."""
    thinking = {
        "id": "a",
        "role": "assistant",
        "content": "<details>thinking</details>",
    }
    answer = {**thinking, "content": "<details>thinking</details>Try a soup."}

    def answered(
        said: dict[str, Any],
        words: str = WORDS,
        chat_id: str = "c",
        on: bool = True,
    ) -> str:
        hook = a_hook({**SAVED, "chat_id": chat_id}, enable_postprocessing=on)
        question = {"id": "m", "role": "user", "content": words}
        found = answered_turn(hook, [question, said], None)
        return found.answer if found else ""

    assert answered(answer) == "Try a soup."
    spoken_on = {**answer, "role": "user"}
    assert (
        answered(thinking)
        == answered(spoken_on)
        == answered(answer, "…")
        == ""
    )
    for chat_id in ("local:1", "channel:1"):
        assert answered(answer, chat_id=chat_id) == ""
    assert answered(answer, on=False) == ""
