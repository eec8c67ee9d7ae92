"""From the outlet to the line below the answer: the whole of learning, the host in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any, cast

from adaptive.answer.suggestions import Suggestions
from adaptive.core.model import Draft, Operation, Utterance
from adaptive.core.table_ports import Sources
from adaptive.learn.learning import Learning
from adaptive.learn.turns import WaitingTurn
from adaptive.llm.ask import AnswerFormats
from adaptive.privacy.gate import AuditTrail
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.hook import Hook
from adaptive.settings.local_only import NOTHING_HIDDEN
from tests.answer.listed_suggestions import ListedSuggestions
from tests.fakes import (
    ListedMemories,
    ScriptedModel,
    ShelvedVectors,
    WordEmbedder,
    hook_settings,
    memory,
    turn,
)
from tests.learn.listed_turns import ListedTurns
from tests.learn.storerooms import ArchivedRows, CountedRecalls, HeldLeases, WrittenAudit
from tests.learn.work_in_hand import NoPrefilter

PORTO = {"operation": "NEW", "content": "User lives in Porto.", "evidence": "I live in Porto"}
VIOLIN = "User plays the violin."
SAID = "I live in Porto and I play the violin."


class Page:
    """A ``Hook`` of ada's chat that notes what is shown; ``others`` wrote in the chat, too."""

    user_id, chat_id, answer_id, told_kind = "ada", "chat-1", "answer", "saved"
    time_zones = ("", "", "")
    can_ask = others = False
    wants = True

    def __init__(self, house: House, **valves: Any) -> None:
        self.house, self.state, self.shown = house, dict[str, Any](), list[str]()
        self.settings = hook_settings(extraction_debounce_seconds=0, **valves)
        self.notifier = self
        self.noted: list[str] = []
        self.lists: list[str] = []

    def __getattr__(self, name: str) -> Any:
        answers = {
            "kind": "saved",
            "other_authors": self.others,
            "wants_memory": self.wants,
            "sources": Sources("ada", self.house.store, WordEmbedder(), ShelvedVectors()),
            "completer": self.house.model,
            "hidden_from": NOTHING_HIDDEN,
            "of_answer": self,
        }

        async def answer(*_: Any) -> Any:
            return answers[name]

        return answer

    async def status(self, text: str) -> None:
        """Show a line."""
        self.shown.append(text)

    async def source(self, name: str, documents: list[str], metadata: list[Any]) -> None:
        """Show a source."""
        assert name == metadata[0]["name"] == "What changed in memory"
        self.lists += documents

    async def add_note(self, line: str) -> bool:
        """Write a line below the answer."""
        self.noted.append(line)
        return True


class House:
    """A user's store, the model, and the queue that outlives a process."""

    def __init__(self, *script: str, store: ListedMemories | None = None) -> None:
        self.store, self.model = store or ListedMemories(), ScriptedModel(*script)
        self.pending, self.tasks = ListedTurns(), set[asyncio.Task[None]]()

    def learning(self) -> Learning:
        """A process."""
        tables = self.pending, ArchivedRows(), CountedRecalls(), HeldLeases()
        trail, proposer = AuditTrail(WrittenAudit()), Suggestions(ListedSuggestions())
        learning = Learning(MemoryIndexes(), *tables, AnswerFormats(), self.start, trail, proposer)
        learning._prefilter = NoPrefilter()
        return learning

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run it behind."""
        self.tasks.add(asyncio.create_task(work))

    async def learn(self, page: Page, said: str = SAID) -> None:
        """What the filter does behind an answer."""
        learning, hook = self.learning(), cast(Hook, page)
        pending = await learning.put(hook, WaitingTurn(turn(said), answer_id="answer"))
        await learning.learn(hook, pending)


def reply(*operations: dict[str, Any]) -> str:
    """A reply to the extraction."""
    return json.dumps({"operations": operations})


BOTH = reply(PORTO, {**PORTO, "content": VIOLIN, "evidence": "I play the violin"})


async def test_told_in_one_line() -> None:
    """What was learned stands before what was recalled, the full list in a source or the note."""
    house = House(BOTH)
    page = Page(house)
    page.state["recalled"] = "1 memory recalled"
    await house.learn(page)
    assert page.shown == ["Saved (2): User lives in Porto. … · 1 memory recalled"]
    assert page.lists == [f"Saved: User lives in Porto.\nSaved: {VIOLIN}"]
    house = House(BOTH)
    page = Page(house, confirmation="message")
    await house.learn(page)
    assert (page.shown, page.lists) == ([], [])
    assert page.noted == [f"Saved: User lives in Porto. · Saved: {VIOLIN}"]


async def test_nothing_new_stands_behind_what_was_recalled() -> None:
    """The beginning of the line says what matters; one fact alone needs no list."""
    for script, line in (
        (reply(), "1 memory recalled · Nothing new to remember"),
        (reply(PORTO), "Saved: User lives in Porto. · 1 memory recalled"),
    ):
        house = House(script)
        page = Page(house)
        page.state["recalled"] = "1 memory recalled"
        await house.learn(page)
        assert (page.shown, page.lists) == ([line], [])


async def test_left_by_another_process() -> None:
    """A turn that another process has put is learned, and told with its own answer."""
    house = House(reply(PORTO))
    page = Page(house)
    hook, waiting = cast(Hook, page), WaitingTurn(turn(SAID), answer_id="answer")
    await house.learning().put(hook, waiting)
    await house.learning().learn(hook, None)
    assert page.shown == ["Saved: User lives in Porto."]
    assert house.pending.turns == {}


async def test_findings() -> None:
    """What was found elsewhere is learned behind the lesson, once, without a model call."""
    house = House(reply(PORTO))
    page = Page(house)
    await house.learn(page)
    findings = [Operation("NEW", draft=Draft(one)) for one in (VIOLIN, "User lives in Porto.")]
    said, learning = turn(SAID), house.learning()
    for wanted in (False, True, True):
        await learning.learn_findings(cast(Hook, page), said, findings, lambda w=wanted: w)
    assert page.shown == [f"Saved: {one}" for one in ("User lives in Porto.", VIOLIN)]
    assert house.store.contents == ["User lives in Porto.", VIOLIN]
    assert len(house.model.requests) == 1


async def test_what_others_said_is_no_past() -> None:
    """In a chat in which others write, only the user's own message goes to the model."""
    house = House(reply())
    page = Page(house)
    page.others = True
    learning, hook = house.learning(), cast(Hook, page)
    said = turn(SAID, Utterance("user", "I live in Rome."))
    pending = await learning.put(hook, WaitingTurn(said, answer_id="answer"))
    await learning.learn(hook, pending)
    assert "Earlier turns" not in house.model.requests[0].user


async def test_not_allowed() -> None:
    """Where the host allows no memories a chat is told once, and nothing is tried again."""
    house = House(store=ListedMemories(memory("m-1", "x"), refusal="you lack the permission"))
    page, learning = Page(house), house.learning()
    for message in ("m-1", "m-2"):
        waiting = WaitingTurn(turn(SAID, message_id=message), answer_id="answer")
        hook = cast(Hook, page)
        await learning.learn(hook, await learning.put(hook, waiting))
    assert page.shown == ["Nothing saved: you lack the permission"]
    assert house.pending.turns == {}
