"""What follows an answered turn, with everything but the host's own tables and pages."""

from __future__ import annotations

import asyncio
import json
import logging
import types
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from fastapi import FastAPI, Request

from adaptive.answer.postprocessing import AnsweredTurn, Postprocessor, answered_turn
from adaptive.conversation_ports import ChatNotes
from adaptive.errors import HostError, ModelBusy, TablesUnavailable
from adaptive.filter import Filter
from adaptive.host.hook import Hook
from adaptive.host.locked_chat import MessageChange
from adaptive.learn.archive import AuditTrail
from adaptive.llm.ask import AnswerFormats
from adaptive.model import ConversationKind, Draft, Memory, Operation, Turn
from adaptive.ports import Completer
from adaptive.turn_state import turn_state
from adaptive.valves import Valves
from tests.fakes import ScriptedModel, hook_settings, memory, turn
from tests.learn.storerooms import WrittenAudit
from tests.rates import over

SAVED = {"chat_id": "c", "session_id": "s", "message_id": "a", "user_message_id": "m"}
WORDS = "I live in Porto and I want to cook."
PORTO = "User lives in Porto."
SUMMARY = "The user wanted to cook. A soup was found."
NUTS = memory("m-1", "User is allergic to peanuts and lives in Lisbon.")


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


class OwnChatHook(Hook):
    """A hook whose chat is the user's own, without a host."""

    async def kind(self) -> ConversationKind:
        """The kind that metadata tells."""
        return self.told_kind


class OthersChatHook(Hook):
    """A hook in a chat that somebody else owns."""

    async def kind(self) -> ConversationKind:
        """Not the user's own."""
        return "shared"


class World:
    """One user's turn with everything that it may change."""

    def __init__(self, *script: str | Exception, **valves: Any) -> None:
        self.model = ScriptedModel(*script)
        self.valves = {"enable_postprocessing": True, **valves}
        self.audit, self.notes = WrittenAudit(), ListedNotes()
        self.memories: dict[str, Memory] | Exception = {NUTS.id: NUTS}
        self.found: list[Sequence[Operation]] = []
        self.events: list[dict[str, Any]] = []
        self.follow_ups: list[tuple[str, str, list[str]]] = []
        self.learned = asyncio.Event()
        self.learned.set()
        self.processor = Postprocessor(
            AnswerFormats(),
            self.notes,
            AuditTrail(self.audit).record,
            asyncio.Semaphore(1),
            self._model_for,
            self._learn,
            self._store_follow_ups,
        )

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
    ) -> str:
        if not is_wanted():
            return ""
        self.found.append(findings)
        return f"Memory saved: {findings[0].draft.content}"

    def hook(self, metadata: dict[str, Any] | None = None) -> Hook:
        """A hook of Ada's on a host that suggests nothing itself."""
        app = FastAPI()
        app.state.config = types.SimpleNamespace(ENABLE_FOLLOW_UP_GENERATION=False)
        request = Request({"type": "http", "headers": [], "app": app})
        settings = hook_settings(**self.valves)
        metadata = dict(SAVED) if metadata is None else metadata
        return OwnChatHook(settings, {"id": "ada"}, metadata, request, self._emit, None)

    async def process(self, *injected: str, hook: Hook | None = None) -> None:
        """Look back at a turn."""
        said = AnsweredTurn(hook or self.hook(), WORDS, "Try a soup.", injected, turn(WORDS))
        await self.processor.process(said, self.learned)

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


async def test_what_the_admin_wants_kept() -> None:
    """The question tells what the admin wants kept and what never, and nothing where it is open."""
    for rules, told in (
        ({}, ""),
        ({"memory_never_keep": " health "}, "\n- Never keep: health"),
        ({"memory_keep": "allergies"}, "\n- Also worth keeping: allergies"),
    ):
        world = World(reply(), **rules)
        await world.process()
        (asked,) = world.model.requests
        assert asked.system.split("Mostly there are none: [].")[1].split("\n\nAnswer with")[0] == (
            told or "\n"
        )


async def test_chat_is_noted() -> None:
    """Summary and tags are noted for the chat, and shown to the model with the next turn."""
    world = World(reply(), reply(chat_summary="A cake came next.", chat_tags=["cake"]))
    await world.process()
    assert world.noted == ChatNotes(SUMMARY, ("soup",))
    await world.process()
    assert world.noted == ChatNotes("A cake came next.", ("cake",))
    assert f"## Summary so far\n{SUMMARY}" in world.model.requests[1].user
    assert "## Last answer\nTry a soup." in world.model.requests[1].user
    assert world.notes.dropped == [("ada", "c")] * 2
    assert (world.statuses, world.audit.entries) == ([], [])


LEAKS = [
    "The user lives in Lisbon and is allergic to peanuts.",
    "The user, who is allergic to peanuts, asked for a soup.",
    "The assistant named shops in Lisbon.",
]


@over("leak", LEAKS)
async def test_no_memory_is_noted(leak: str) -> None:
    """What only an injected memory could tell is left out of summary and tags."""
    world = World(reply(chat_summary=f"{SUMMARY} {leak}", chat_tags=["soup", "peanuts"]))
    await world.process(NUTS.id)
    assert world.noted == ChatNotes(SUMMARY, ("soup",))


async def test_what_was_said_may_be_noted() -> None:
    """What the user said in this chat is no secret in it, and Chinese sentences are told apart."""
    world = World(reply(chat_summary="The user lives in Porto and wants to cook."))
    world.memories = {"m-2": memory("m-2", "User lives in Porto.")}
    await world.process("m-2")
    assert world.noted is not None
    assert "Porto" in world.noted.summary
    world = World(reply(chat_summary="用户问了汤。用户住在波尔图市中心。"))
    world.memories = {"m-2": memory("m-2", "用户住在波尔图市中心")}
    await world.process("m-2")
    assert world.noted == ChatNotes("用户问了汤。", ("soup",))


async def test_nobody_could_tell() -> None:
    """Where an injected memory is gone, or is kept from the model, the model is not asked."""
    world = World(reply())
    await world.process("gone")
    assert world.model.requests == []
    assert world.noted is None


async def test_memories_are_not_shown() -> None:
    """The model is asked without the memories that the answer was given."""
    world = World(reply())
    await world.process(NUTS.id)
    (request,) = world.model.requests
    assert "peanuts" not in f"{request.system}{request.user}"
    assert "$" not in request.system


@pytest.mark.parametrize("value", ["", None, 7, "x" * 3000, "<2 or 3 sentences>"])
async def test_former_notes_stay(value: object) -> None:
    """Without a usable summary or tag the former ones stay."""
    world = World(reply(chat_summary=value, chat_tags=value))
    world.notes.rows["ada", "c"] = ChatNotes("Before.", ("x",))
    await world.process()
    assert world.noted == ChatNotes("Before.", ("x",))


async def test_bounds() -> None:
    """Tags are ten, suggestions six, facts ten."""
    many = [f"entry {number}" for number in range(30)]
    fields = {"chat_tags": many, "follow_up_suggestions": many, "new_learnings": many}
    world = World(reply(**fields))
    await world.process()
    assert world.noted is not None
    assert (len(world.noted.tags), len(world.found[0])) == (10, 10)
    assert len(world.follow_ups[0][2]) == 6


async def test_gate_of_notes() -> None:
    """A summary or a tag that no write may hold is not noted; what stood before stays."""
    world = World(
        reply(chat_summary="The password is Tr0ub4dor&3xyz.", chat_tags=["tea", "a" * 41])
    )
    world.notes.rows["ada", "c"] = ChatNotes("Before.", ("x",))
    await world.process()
    assert world.noted == ChatNotes("Before.", ("tea",))


async def test_what_to_ask_next() -> None:
    """Suggestions are stored with the answer and shown, unless the admin wants none."""
    world = World(reply(follow_up_suggestions=["And then?"]))
    await world.process()
    assert world.follow_ups == [("c", "a", ["And then?"])]
    assert [one["type"] for one in world.events] == ["chat:message:follow_ups"]
    world = World(reply(follow_up_suggestions=["And then?"]), suggest_follow_ups=False)
    await world.process()
    assert (world.follow_ups, world.events) == ([], [])


async def test_harmful_answer(caplog: pytest.LogCaptureFixture) -> None:
    """It is flagged in status, log and audit, by its ids and its score alone."""
    world = World(reply(harmful_response=9))
    with caplog.at_level(logging.WARNING):
        await world.process()
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
    await world.process()
    assert (world.statuses, world.audit.entries) == ([], [])


async def test_findings_are_learned() -> None:
    """They are handed over as new facts of the default bank behind the lesson, and told."""
    world = World(reply(new_learnings=[PORTO]))
    world.learned.clear()
    task = asyncio.create_task(world.process())
    while not world.notes.dropped:
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    assert world.found == []
    world.learned.set()
    await task
    assert world.found == [(Operation("NEW", draft=Draft(PORTO, bank="General")),)]
    assert world.statuses == [f"Memory saved: {PORTO}"]


@pytest.mark.parametrize(("valve", "found"), [("save_mode", 0), ("confirmation", 1)])
async def test_nothing_is_told(valve: str, found: int) -> None:
    """Who wants nothing to be saved has nothing saved; the admin may want no line on what was."""
    world = World(reply(new_learnings=[PORTO]), **{valve: "off"})
    await world.process()
    assert (len(world.found), world.statuses, world.noted is not None) == (found, [], True)


@pytest.mark.parametrize("answer", [ModelBusy("busy"), "I would rather sing.", "{}", "[1"], ids=str)
async def test_model_in_trouble(answer: str | Exception) -> None:
    """Without a usable reply nothing follows."""
    world = World(*[answer] * 5)
    await world.process()
    assert (world.noted, world.events, world.follow_ups) == (None, [], [])


async def test_model_hangs() -> None:
    """A model that does not answer in time is not waited for."""
    world = World(reply(), postprocess_timeout_seconds=1)
    world.model.gate.clear()
    await world.process()
    assert (world.noted, world.events) == (None, [])


async def test_one_thing_fails() -> None:
    """Where one thing can't be done the others are."""
    world = World(reply(new_learnings=[PORTO], harmful_response=9))
    world.notes.failing = {"write"}
    await world.process()
    assert world.noted is None
    assert len(world.found) == 1
    assert len(world.statuses) == 2
    world = World(reply())
    world.notes.failing = {"read"}
    await world.process()
    assert world.model.requests == []


async def test_nobody_is_asked() -> None:
    """Nothing is asked in a chat of somebody else's, nor where the host does not answer."""
    world = World(reply())
    own = world.hook()
    parts = (own.settings, own.user, own.metadata, own.request, None, None)
    await world.process(hook=OthersChatHook(*parts))
    world.memories = HostError("the host knows no user")
    await world.process()
    assert world.model.requests == []


async def test_turns_of_a_chat_one_by_one() -> None:
    """The later turn of a chat sees what was noted of the former one."""
    world = World(reply(), reply(chat_summary="A cake came next."))
    await asyncio.gather(world.process(), world.process())
    assert world.model.most_running == 1
    assert f"## Summary so far\n{SUMMARY}" in world.model.requests[1].user


async def test_erased_meanwhile() -> None:
    """What was under way when its user had everything erased leaves nothing; others' goes on."""
    for forgotten in ("ada", "bob"):
        world = World(reply(new_learnings=[PORTO], follow_up_suggestions=["And?"]))
        world.model.gate.clear()
        task = asyncio.create_task(world.process())
        while not world.model.requests:
            await asyncio.sleep(0)
        world.processor.forget(forgotten)
        world.model.gate.set()
        await task
        assert (world.noted is None) == (forgotten == "ada")
        assert (world.found == []) == (forgotten == "ada")


QUESTION = {"id": "m", "role": "user", "content": WORDS}
ANSWER = {"id": "a", "role": "assistant", "content": "<details>thinking</details>Try a soup."}


def answered(
    *messages: dict[str, Any],
    words: str = WORDS,
    metadata: dict[str, Any] | None = None,
    **valves: Any,
) -> AnsweredTurn | None:
    """What there is to look back at."""
    hook = World(**valves).hook({**SAVED, **(metadata or {})})
    turn_state(hook.metadata)["injected"] = ["m-1"]
    return answered_turn(hook, messages or (QUESTION, ANSWER), words, TURN)


TURN = turn(WORDS)


def test_answered() -> None:
    """The user's words, the answer without thinking, and what was injected."""
    for found in (
        answered(),
        answered(QUESTION, {**ANSWER, "id": "other"}, metadata={"message_id": ""}),
    ):
        assert found is not None
        assert (found.words, found.answer) == (WORDS, "Try a soup.")
        assert (found.injected, found.turn) == (["m-1"], TURN)


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
    assert answered(words="…") is None
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
    assert ("an unexpected error while post-processing a turn" in caplog.text) is wanted
