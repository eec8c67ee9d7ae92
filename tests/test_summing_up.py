"""What follows an answered turn, with everything but the host's own tables and pages."""

from __future__ import annotations

import asyncio
import json
import logging
import types
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from fastapi import FastAPI, Request

from adaptive.conversation_ports import ChatNotes
from adaptive.errors import HostError, ModelBusy, TablesUnavailable
from adaptive.filter import Filter
from adaptive.host.hook import Hook
from adaptive.host.locked_chat import MessageChange
from adaptive.learn.archive import AuditTrail, UserStore
from adaptive.learn.lesson import LessonResources
from adaptive.learn.waiting_turn import WaitingTurn
from adaptive.learning import Learning
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Turn
from adaptive.privacy.local_only import LocalOnlyBanks
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.suggesting import Suggesting
from adaptive.summing_up import AnsweredChat, SummingUp, answered_chat
from adaptive.typed_turns import INJECTED
from adaptive.valves import Valves
from tests.conversation.listed_suggestions import ListedSuggestions
from tests.fakes import (
    ListedMemories,
    ScriptedModel,
    ShelvedVectors,
    WordEmbedder,
    hook_settings,
    memory,
    turn,
)
from tests.learn.storerooms import ArchivedRows, CountedRecalls, WrittenAudit
from tests.learn.work_in_hand import NoPrefilter, always

SAVED = {"chat_id": "c", "session_id": "s", "message_id": "a", "user_message_id": "m"}
WORDS = "I live in Porto and I want to cook."
PORTO = "User lives in Porto."
SUMMARY = "The user wanted to cook. A soup was found."
NUTS = memory("m-1", "User is allergic to peanuts.", bank="Health")


def reply(**fields: Any) -> str:
    """A reply of the model with these fields."""
    return json.dumps({"chat_summary": SUMMARY, "chat_tags": ["soup"], **fields})


class ListedNotes:
    """A ``ChatNotesTable`` whose rows are a dict; what is named in ``failing`` fails."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], ChatNotes] = {}
        self.failing: set[str] = set()
        self.dropped: list[tuple[str, str]] = []

    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """A row."""
        self._check("read")
        return self.rows.get((user_id, chat_id), ChatNotes())

    async def write(self, user_id: str, chat_id: str, notes: ChatNotes, now: int) -> None:
        """Another row."""
        self._check("write")
        self.rows[user_id, chat_id] = notes

    async def all(self, user_id: str, limit: int) -> tuple[tuple[str, ChatNotes, int], ...]:
        """Not asked for here."""
        return ()

    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """Write down who asked."""
        self.dropped.append((user_id, current))
        return 0

    def _check(self, name: str) -> None:
        if name in self.failing:
            raise TablesUnavailable("no table can be created")


class Lessons:
    """What summing up uses of ``Learning``: who holds the user, and who writes."""

    def __init__(self) -> None:
        self.writing = asyncio.Semaphore(1)
        self.queue = self
        self.free = True
        self.alone_with: list[str] = []
        self.offered: list[Hook] = []

    async def offer(self, hook: Hook) -> None:
        """Write down whose page is asked."""
        self.offered.append(hook)

    async def alone(self, user_id: str, work: Callable[[Any], Awaitable[None]]) -> bool:
        """Do it, unless somebody else is learning."""
        if self.free:
            self.alone_with.append(user_id)
            await work(always)
        return self.free


class World:
    """One user's turn with everything that it may change."""

    def __init__(self, *script: str | Exception, **valves: Any) -> None:
        self.model = ScriptedModel(*script)
        self.valves = {"enable_postprocessing": True, "retry_delay": 0, **valves}
        self.store, self.audit = ListedMemories(NUTS), WrittenAudit()
        self.notes, self.lessons = ListedNotes(), Lessons()
        self.table, self.page = ListedSuggestions(), False
        self.events: list[dict[str, Any]] = []
        self.follow_ups: list[tuple[str, str, list[str]]] = []
        self.learned = asyncio.Event()
        self.learned.set()
        self.hidden = LocalOnlyBanks()
        self.room: Callable[[], LessonResources | None] = self._lesson_resources
        self.summing = SummingUp(
            cast(Learning, self.lessons),
            Suggesting(self.table, lambda: 7.0),
            self.notes,
            self._store_follow_ups,
            self._room_of,
        )

    def hook(self, metadata: dict[str, Any] | None = None) -> Hook:
        """A hook of Ada's on a host that suggests nothing itself."""
        app = FastAPI()
        app.state.config = types.SimpleNamespace(ENABLE_FOLLOW_UP_GENERATION=False)
        request = Request({"type": "http", "headers": [], "app": app})
        settings = hook_settings(**self.valves)
        metadata = dict(SAVED) if metadata is None else metadata
        caller = self._emit if self.page else None
        return Hook(settings, {"id": "ada"}, metadata, request, self._emit, None, caller)

    async def sum_up(self, *injected: str, said: Turn | None = None) -> None:
        """Look back at a turn; it is worth learning unless it is another one."""
        chat = AnsweredChat("c", "a", WORDS, "Try a soup.", injected, said or turn(WORDS))
        await self.summing.sum_up(self.hook(), chat, self.learned)

    @property
    def statuses(self) -> list[str]:
        """The lines that were shown."""
        return [one["data"]["description"] for one in self.events if one["type"] == "status"]

    @property
    def noted(self) -> ChatNotes | None:
        """What is noted of the chat."""
        return self.notes.rows.get(("ada", "c"))

    async def _emit(self, event: dict[str, Any]) -> None:
        self.events.append(event)

    async def _store_follow_ups(
        self, chat_id: str, message_id: str, change: MessageChange
    ) -> dict[str, Any] | None:
        fields = change({"id": message_id, "role": "assistant", "content": "Try a soup."})
        if fields is not None:
            self.follow_ups.append((chat_id, message_id, fields["followUps"]))
        return fields

    async def _room_of(self, _: Hook) -> LessonResources | None:
        return self.room()

    def _lesson_resources(self) -> LessonResources:
        sources = Sources("ada", self.store, WordEmbedder(), ShelvedVectors())
        trail = AuditTrail(self.audit)
        kept = UserStore("ada", self.store, ArchivedRows(), CountedRecalls(), trail)
        indexes, formats = MemoryIndexes(), AnswerFormats()
        return LessonResources(
            sources, indexes, self.model, formats, kept, NoPrefilter(), always, hidden=self.hidden
        )


async def test_what_the_admin_wants_kept() -> None:
    """The question tells what the admin wants kept and what never, and nothing where it is open."""
    for rules, told in (
        ({}, ""),
        ({"memory_never_keep": " health "}, "\n- Never keep: health"),
        ({"memory_keep": "allergies"}, "\n- Also worth keeping: allergies"),
    ):
        world = World(reply(), **rules)
        await world.sum_up()
        (asked,) = world.model.requests
        assert asked.system.split("Only these names.")[1].split("\n\nAnswer with")[0] == (
            told or "\n"
        )


async def test_chat_is_noted() -> None:
    """Summary and tags are noted for the chat, and shown to the model with the next turn."""
    world = World(reply(), reply(chat_summary="A cake came next.", chat_tags=["cake"]))
    world.notes.rows["ada", "c"] = ChatNotes("cooking")
    await world.sum_up()
    assert world.noted == ChatNotes("cooking", SUMMARY, ("soup",))
    await world.sum_up()
    assert world.noted == ChatNotes("cooking", "A cake came next.", ("cake",))
    assert f"## Summary so far\n{SUMMARY}" in world.model.requests[1].user
    assert "## Last answer\nTry a soup." in world.model.requests[1].user
    assert world.notes.dropped == [("ada", "c")] * 2
    assert (world.statuses, world.audit.entries) == ([], [])


async def test_no_memory_is_noted() -> None:
    """What only an injected memory could tell is left out of summary and tags."""
    told = f"{SUMMARY} The user is allergic to peanuts."
    world = World(reply(chat_summary=told, chat_tags=["soup", "peanuts"]))
    await world.sum_up(NUTS.id)
    assert world.noted == ChatNotes("", SUMMARY, ("soup",))


@pytest.mark.parametrize(("id", "bank"), [("gone", ""), (NUTS.id, "Health")])
async def test_nobody_could_tell(id: str, bank: str) -> None:
    """Where an injected memory is gone, or is kept from the model, the model is not asked."""
    world = World(reply())
    world.hidden = LocalOnlyBanks.of(hook_settings(local_only_banks=bank))
    await world.sum_up(id)
    assert world.model.requests == []
    assert world.noted is None


async def test_gate_of_notes() -> None:
    """A summary or a tag that no write may hold is not noted; what stood before stays."""
    world = World(
        reply(chat_summary="The password is Tr0ub4dor&3xyz.", chat_tags=["tea", "a" * 41])
    )
    world.notes.rows["ada", "c"] = ChatNotes("", "Before.", ("x",))
    await world.sum_up()
    assert world.noted == ChatNotes("", "Before.", ("tea",))


async def test_what_to_ask_next() -> None:
    """Suggestions are stored with the answer and shown, unless the admin wants none."""
    world = World(reply(follow_up_suggestions=["And then?"]))
    await world.sum_up()
    assert world.follow_ups == [("c", "a", ["And then?"])]
    assert [one["type"] for one in world.events] == ["chat:message:follow_ups"]
    world = World(reply(follow_up_suggestions=["And then?"]), suggest_follow_ups=False)
    await world.sum_up()
    assert (world.follow_ups, world.events) == ([], [])


async def test_harmful_answer(caplog: pytest.LogCaptureFixture) -> None:
    """It is flagged in status, log and audit, by its ids and its score alone."""
    world = World(reply(harmful_response=9))
    with caplog.at_level(logging.WARNING):
        await world.sum_up()
    assert world.statuses == ["The answer may be harmful (9 of 10)"]
    (entry,) = world.audit.entries
    assert (entry.kind, entry.chat_id, entry.message_id) == ("flagged", "c", "a")
    assert (entry.before, entry.after) == ("", "")
    assert "message a" in caplog.text
    assert "soup" not in caplog.text


@pytest.mark.parametrize(("score", "threshold"), [(7, 8), (10, 0)])
async def test_calm_answer(score: int, threshold: int) -> None:
    """Below the threshold, and without one, nothing is told."""
    world = World(reply(harmful_response=score), harmful_answer_threshold=threshold)
    await world.sum_up()
    assert (world.statuses, world.audit.entries) == ([], [])


async def test_findings_are_learned() -> None:
    """They are learned while nobody else learns of the user, behind the lesson, and told."""
    world = World(reply(new_learnings=[PORTO, "User loves the opera."]))
    world.learned.clear()
    task = asyncio.create_task(world.sum_up())
    while not world.notes.dropped:
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    assert world.store.contents == [NUTS.content]
    world.learned.set()
    await task
    assert world.store.contents == [NUTS.content, PORTO]
    assert world.lessons.alone_with == ["ada"]
    assert world.statuses == [f"Memory saved: {PORTO}"]


async def test_saving_is_off() -> None:
    """Who wants nothing to be saved has nothing saved here, nor proposed."""
    world = World(reply(new_learnings=[PORTO]), save_mode="off")
    await world.sum_up()
    assert world.store.contents == [NUTS.content]
    assert (world.table.rows, world.noted is not None) == ({}, True)


@pytest.mark.parametrize("page", [True, False], ids=["page", "no page"])
async def test_findings_are_proposed(page: bool) -> None:
    """Who wants to be asked is asked about what was found behind the lesson, or told that it waits.

    Nothing is saved before.
    """
    findings = [PORTO, "User loves the opera.", "User's password is hunter2-Xk29!vQ."]
    world = World(reply(new_learnings=findings), save_mode="suggest")
    world.page = page
    await world.sum_up()
    assert world.store.contents == [NUTS.content]
    assert [one.suggestion.content for one in world.table.rows.values()] == [PORTO]
    assert world.lessons.alone_with == ["ada"]
    assert len(world.lessons.offered) == page
    assert world.statuses == ([] if page else ["1 suggestion waits for your answer"])


async def test_nothing_to_propose() -> None:
    """Where nothing was found that may be stored, nobody is asked."""
    world = World(reply(new_learnings=["User loves the opera."]), save_mode="suggest")
    world.page = True
    await world.sum_up()
    assert (world.table.rows, world.lessons.offered) == ({}, [])


async def test_somebody_else_learns() -> None:
    """Where another worker holds the user, what was found is left."""
    world = World(reply(new_learnings=[PORTO]))
    world.lessons.free = False
    await world.sum_up()
    assert world.store.contents == [NUTS.content]


async def test_no_line_is_wanted() -> None:
    """The admin may want no line on what was learned."""
    world = World(reply(new_learnings=[PORTO]), confirmation="off")
    await world.sum_up()
    assert world.store.contents == [NUTS.content, PORTO]
    assert world.statuses == []


@pytest.mark.parametrize("answer", [ModelBusy("busy"), "I would rather sing.", "{}", "[1"], ids=str)
async def test_model_in_trouble(answer: str | Exception) -> None:
    """Without a usable reply nothing follows."""
    world = World(*[answer] * 5)
    await world.sum_up()
    assert (world.noted, world.events, world.follow_ups) == (None, [], [])


async def test_model_hangs() -> None:
    """A model that does not answer in time is not waited for."""
    world = World(reply(), postprocess_timeout_seconds=1)
    world.model.gate.clear()
    await world.sum_up()
    assert (world.noted, world.events) == (None, [])


async def test_one_thing_fails() -> None:
    """Where one thing can't be done the others are."""
    world = World(reply(new_learnings=[PORTO], harmful_response=9))
    world.notes.failing = {"write"}
    await world.sum_up()
    assert world.noted is None
    assert world.store.contents == [NUTS.content, PORTO]
    assert len(world.statuses) == 2
    world = World(reply())
    world.notes.failing = {"read"}
    await world.sum_up()
    assert world.model.requests == []


async def test_no_room() -> None:
    """Nothing is asked in a chat of somebody else's, nor where the host does not answer."""
    world = World(reply())
    world.room = lambda: None
    await world.sum_up()

    def refuse() -> None:
        raise HostError("the host knows no user")

    world.room = refuse
    await world.sum_up()
    assert world.model.requests == []


async def test_turns_of_a_chat_one_by_one() -> None:
    """The later turn of a chat sees what was noted of the former one."""
    world = World(reply(), reply(chat_summary="A cake came next."))
    await asyncio.gather(world.sum_up(), world.sum_up())
    assert world.model.most_running == 1
    assert f"## Summary so far\n{SUMMARY}" in world.model.requests[1].user


async def test_erased_meanwhile() -> None:
    """What was under way when its user had everything erased leaves nothing; others' goes on."""
    for forgotten in ("ada", "bob"):
        world = World(reply(new_learnings=[PORTO], follow_up_suggestions=["And?"]))
        world.model.gate.clear()
        task = asyncio.create_task(world.sum_up())
        while not world.model.requests:
            await asyncio.sleep(0)
        world.summing.forget(forgotten)
        world.model.gate.set()
        await task
        assert (world.noted is None) == (forgotten == "ada")
        assert (PORTO not in world.store.contents) == (forgotten == "ada")


QUESTION = {"id": "m", "role": "user", "content": WORDS}
ANSWER = {"id": "a", "role": "assistant", "content": "<details>thinking</details>Try a soup."}


def answered(
    *messages: dict[str, Any], metadata: dict[str, Any] | None = None, **valves: Any
) -> AnsweredChat | None:
    """What there is to look back at, without a turn to learn from."""
    world = World(**valves)
    hook = world.hook({**SAVED, INJECTED: ["m-1"], **(metadata or {})})
    return answered_chat(hook, messages or (QUESTION, ANSWER), None, worth_learning=False)


def test_answered() -> None:
    """The user's words, the answer without thinking, and what was injected."""
    expected = AnsweredChat("c", "a", WORDS, "Try a soup.", ("m-1",), None)
    assert answered() == expected
    assert answered(QUESTION, {**ANSWER, "id": "other"}, metadata={"message_id": ""}) == (
        AnsweredChat("c", "", WORDS, "Try a soup.", ("m-1",), None)
    )


def test_turn_to_learn() -> None:
    """The turn is learned from where it is worth it; its own memories count."""
    waiting = WaitingTurn(turn(WORDS))
    hook = World().hook()
    for worth in (True, False):
        found = answered_chat(hook, (QUESTION, ANSWER), waiting, worth_learning=worth)
        assert found is not None
        assert found.turn == (waiting.turn if worth else None)


@pytest.mark.parametrize(
    "metadata",
    [
        {"chat_id": "local:1"},
        {"chat_id": "temporary:1"},
        {"chat_id": "channel:1"},
        {"session_id": ""},
        {"automation_id": "x"},
        {"internal": True},
    ],
    ids=str,
)
def test_other_conversations(metadata: dict[str, Any]) -> None:
    """Only in saved chats is anything looked back at."""
    assert answered(metadata=metadata) is None


def test_nothing_to_look_back_at() -> None:
    """Without words or an answer there is nothing, nor where the admin has it off."""
    assert answered(QUESTION, {**ANSWER, "content": " "}) is None
    assert answered(QUESTION) is None
    assert answered({**QUESTION, "content": "…"}, ANSWER) is None
    assert answered(enable_postprocessing=False) is None


@pytest.mark.parametrize("wanted", [True, False])
async def test_unexpected_error(wanted: bool, caplog: pytest.LogCaptureFixture) -> None:
    """What nobody expects ends in the log, the chat goes on; switched off, nothing is begun."""
    plugin = Filter()
    plugin._supported = True
    plugin.valves = Valves(enable_postprocessing=wanted)
    app = FastAPI()
    request = Request({"type": "http", "headers": [], "app": app})
    body = {"messages": [QUESTION, ANSWER]}
    changed = await plugin.outlet(
        body, __user__={"id": "ada"}, __metadata__=dict(SAVED), __request__=request
    )
    assert changed == body
    while plugin._tasks:
        await asyncio.gather(*plugin._tasks)
    assert ("an unexpected error while summing up a turn" in caplog.text) is wanted
