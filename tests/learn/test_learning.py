"""From the outlet to the line below the answer: the whole of learning, the host in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from adaptive.core.embedding import Sources
from adaptive.core.marks import Place
from adaptive.core.model import Draft, Proposal, Utterance
from adaptive.core.providers import Completion, ModelRejected
from adaptive.core.runtime import USER_ID, Foreground
from adaptive.host.dialog import PageDialog
from adaptive.host.page import PageNotifier
from adaptive.learn.addressing import NOT_CONFIRMED
from adaptive.learn.confirmation import UNANSWERED
from adaptive.learn.learning import Learning
from adaptive.learn.queue import MOST_ATTEMPTS
from adaptive.learn.turns import typed_turn
from adaptive.llm.ask import AnswerFormats
from adaptive.memory.tables import CostTable
from adaptive.memory.turn_table import QueuedTurn
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.hook import Hook, StatusLines
from adaptive.settings.merged import HiddenMemories
from tests.fakes import (
    ScriptedModel,
    ShelvedVectors,
    hook_settings,
    memory,
    turn,
)
from tests.learn.listed_turns import ListedTurns
from tests.learn.world import (
    World,
    reply,
)
from tests.rates import over

PORTO = {
    "operation": "NEW",
    "content": "User lives in Porto.",
    "evidence": "I live in Porto",
}
VIOLIN = "User plays the violin."
SAID = "I live in Porto and I play the violin."
# Read here: the first look at a zone reads a file, which the loop may not wait for.
ZONE = ZoneInfo("Pacific/Kiritimati")


class House(World):
    """A world with the queue that outlives a process."""

    def __init__(self, *script: str, **store: Any) -> None:
        super().__init__(*store.pop("rows", ()), script=script, **store)
        self.pending, self.tasks = ListedTurns(), set[asyncio.Task[None]]()
        self.everybody = self.memories()
        self.costs = CostTable(self.entries)

    def learning(self) -> Learning:
        """A process."""
        return Learning(
            indexes=MemoryIndexes(),
            pending=self.pending,
            memories=self.everybody,
            leases=self.leases,
            costs=self.costs,
            formats=AnswerFormats(),
            start=self.start,
            suggestions=self.suggestions,
            foreground=Foreground(),
            status=StatusLines(),
        )

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run it behind."""
        self.tasks.add(asyncio.create_task(work))


class Page:
    """A ``Hook`` of ada's chat that notes what is shown; ``others`` wrote in the chat, too."""

    user_id, chat_id, answer_id, told_kind = "ada", "chat-1", "answer", "saved"
    time_zones = ("", "", "")
    chat_model_id, is_direct = "here", False
    can_ask = others = False
    machine_name = ""
    question_id = "m-1"
    former: frozenset[str] = frozenset()
    known_kind: str | Exception = "saved"
    dialog: Any = None
    place = Place()
    folders: frozenset[str] = frozenset()

    def __init__(self, house: House, **valves: Any) -> None:
        self.house, self.state, self.shown = (
            house,
            dict[str, Any](),
            list[str](),
        )
        self.model = house.model
        self.settings = hook_settings(extraction_debounce_seconds=0, **valves)
        self.replies = self.stored_answer = self
        self.notifier = (
            self if self.settings.show_status else PageNotifier(None)
        )
        self.noted, self.lists = list[str](), list[str]()
        self.typed_to_models = list[tuple[str, bool]]()

    def __getattr__(self, name: str) -> Any:
        answers = {
            "kind": self.known_kind,
            "other_authors": self.others,
            "former_versions": self.former,
            "wants_memory": True,
            "sources": Sources(
                "ada",
                self.house.store,
                self.house.embedder,
                ShelvedVectors(),
                self.place,
            ),
            "completer": self.model,
            "hidden_from": HiddenMemories(place=self.place),
            "standing_folders": self.folders,
            "machine": self.machine_name,
            "of_answer": self,
        }

        async def answer(*_: Any) -> Any:
            if isinstance(answers[name], Exception):
                raise answers[name]
            return answers[name]

        return answer

    async def typed_to(self, model_id: str, *, is_direct: bool) -> Page:
        """Itself, as the hook of another chat's model; one of "gone" has none."""
        self.typed_to_models.append((model_id, is_direct))
        if model_id != "gone":
            return self
        page = Page(self.house)
        page.shown = self.shown
        page.model = ScriptedModel(
            ModelRejected("the model is not there now", 0)
        )
        return page

    async def status(self, text: str) -> None:
        self.shown.append(text)

    async def source(
        self, name: str, documents: list[str], metadata: list[Any]
    ) -> None:
        assert name == metadata[0]["name"] == "What changed in memory"
        self.lists += documents

    async def add_note(self, line: str) -> bool:
        self.noted.append(line)
        return True

    @property
    def hook(self) -> Hook:
        """Itself, of which no more is used than is here."""
        return cast(Hook, self)

    async def learn(
        self, said: str = SAID, *earlier: Utterance, **waiting: Any
    ) -> None:
        """What the filter does behind an answer."""
        learning = self.house.learning()
        waiting = {"message_id": "m-1", "answer_id": "answer", **waiting}
        told = turn(said, *earlier, **waiting)
        await learning.learn(
            self.hook, await learning.put(self.hook, told), asyncio.Event()
        )


class Program(Page):
    """A ``Hook`` of a program that calls the API, and names neither message nor answer."""

    chat_id = answer_id = question_id = ""
    told_kind = "api"


BOTH = reply(
    PORTO, {**PORTO, "content": VIOLIN, "evidence": "I play the violin"}
)
DOGS = "User lives in Porto with 37 dogs."
LIST = [f"Saved: User lives in Porto.\nSaved: {VIOLIN}"]


@pytest.mark.parametrize(
    ("script", "line", "lists"),
    [
        (
            BOTH,
            "Saved (2): User lives in Porto. … · /undo takes it back · 1 memory recalled",
            LIST,
        ),
        (reply(), "1 memory recalled · Nothing new to remember", []),
    ],
    ids=["several", "nothing"],
)
async def test_told_in_one_line(
    script: str, line: str, lists: list[str]
) -> None:
    """The line begins with what matters, and several facts stand in a source."""
    page = Page(House(script))
    page.state["recalled"] = "1 memory recalled"
    await page.learn()
    assert (page.shown, page.lists) == ([line], lists)


async def test_calls_of_one_second() -> None:
    """Two calls of the API that come in one second, and say when, are both learned from."""
    violin = {**PORTO, "content": VIOLIN, "evidence": "I play the violin"}
    house = House(reply(PORTO, violin))
    program = Program(house, learn_from_api_calls=True)
    learning = house.learning()
    for said in ("I live in Porto", "I play the violin"):
        messages = [{"role": "user", "content": said, "timestamp": 1e9}]
        typed = typed_turn(program.hook, messages, messages)
        assert typed is not None
        queued = await learning.put(program.hook, typed)
    await learning.learn(program.hook, queued, asyncio.Event())
    assert set(house.contents) == {"User lives in Porto.", VIOLIN}


@dataclass(frozen=True)
class Left:
    """A turn that another process has left, and the chat model that it is learned by, if any."""

    model: str
    chat: str = "chat-1"
    is_direct: bool = False
    typed_to: tuple[tuple[str, bool], ...] = ()


@over(
    "left",
    [
        Left("local", typed_to=(("local", False),)),
        Left("local", "another", typed_to=(("local", False),)),
        Left("mine", is_direct=True, typed_to=(("mine", True),)),
        # What an earlier build has queued does not say it.
        Left(""),
        Left("", "another", typed_to=(("", False),)),
    ],
)
async def test_left_turns_are_learned_by_their_own_model(left: Left) -> None:
    """What was typed to a model is learned by its own chat's, whatever chat serves."""
    house = House(reply(PORTO))
    page = Page(house)
    said = turn(
        SAID,
        chat_id=left.chat,
        chat_model=left.model,
        is_direct=left.is_direct,
    )
    await house.learning().put(page.hook, said)
    await house.learning().learn(page.hook, None, asyncio.Event())
    assert tuple(page.typed_to_models) == left.typed_to
    assert house.store.contents == ["User lives in Porto."]


async def test_model_that_is_gone() -> None:
    """A turn whose model is gone waits and says so, and its neighbours are learned all the same."""
    violin = {**PORTO, "content": VIOLIN, "evidence": "I play the violin"}
    house = House(reply(PORTO), reply(violin))
    page, learning = Page(house), house.learning()
    for message, said, model in (
        ("a", SAID, "here"),
        ("b", SAID, "gone"),
        ("c", VIOLIN, "here"),
    ):
        words = said.replace("User plays", "I play")
        await house.learning().put(
            page.hook, turn(words, message_id=message, chat_model=model)
        )
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            await learning.learn(page.hook, None, asyncio.Event())
    assert [model for model, _ in page.typed_to_models] == [
        "here",
        "gone",
        "here",
    ]
    assert house.store.contents == ["User lives in Porto.", VIOLIN]
    assert (
        "Nothing saved: the model is not there now; it will be tried again"
        in page.shown
    )
    assert set(house.pending.turns) == {
        ("ada", "a"),
        ("ada", "b"),
        ("ada", "c"),
    }


async def test_told_below_the_answer() -> None:
    """With confirmation as a message the full list is a note below the answer, and no line."""
    page = Page(House(BOTH), confirmation="message")
    await page.learn()
    assert (page.shown, page.lists) == ([], [])
    assert page.noted == [f"Saved: User lives in Porto. · Saved: {VIOLIN}"]


async def test_findings() -> None:
    """What another process has left is told with its answer, and what was found elsewhere once.

    Findings cost no model call.
    """
    house = House(reply(PORTO))
    page, said, learning = (
        Page(house),
        turn(SAID, answer_id="answer"),
        house.learning(),
    )
    await house.learning().put(page.hook, said)
    await learning.learn(page.hook, None, asyncio.Event())
    assert page.shown == ["Saved: User lives in Porto. · /undo takes it back"]
    assert house.pending.turns == {}
    findings = [
        Proposal("NEW", draft=Draft(one))
        for one in (VIOLIN, "User lives in Porto.")
    ]
    for wanted in (False, True, True):
        await learning.learn_findings(
            page.hook, said, findings, lambda w=wanted: w
        )
    hint = " · /undo takes it back"
    assert page.shown == [
        f"Saved: {one}{hint}" for one in ("User lives in Porto.", VIOLIN)
    ]
    assert house.store.contents == ["User lives in Porto.", VIOLIN]
    assert len(house.model.requests) == 1


@pytest.mark.parametrize(
    ("chosen", "language"), [("", "Danish"), ("German", "German")]
)
async def test_what_a_turn_is_learned_with(chosen: str, language: str) -> None:
    """Memories are in the language that was found unless the admin chose one, and dated there.

    What others wrote in the chat does not go to the model. A figure in place of the one that the
    user named is refused, also where the admin has facts translated.
    """
    said = "I live in Porto with 2 dogs."
    dogs = {"kind": "NEW", "content": DOGS, "evidence": said}
    house = House(reply(dogs))
    page = Page(house, memory_language=chosen)
    page.others = True
    rome = Utterance("user", "I live in Rome.")
    await page.learn(said, rome, time_zones=(ZONE.key,), language="Danish")
    (asked,) = house.model.requests
    assert f"- Write in {language}." in asked.earlier[-2]
    assert "Newest message, Wednesday, 15 November 2023:" in asked.user
    assert "Rome" not in asked.user
    assert house.store.contents == []


@pytest.mark.parametrize(
    ("can_ask", "line", "left"),
    [
        (True, "Deleted (4): User owns cat 0. … · /undo takes it back", 0),
        (False, f"Not deleted (4): User owns cat 0. ({NOT_CONFIRMED}) …", 4),
    ],
)
async def test_many_deletions_are_asked_about(
    can_ask: bool, line: str, left: int
) -> None:
    """What deletes much of a store is asked about in the page, and done by the answer.

    What came of it is told to whoever wants no lines; so where nobody can be asked.
    """

    async def answering(_: dict[str, Any]) -> str:
        return "all"

    rows = [
        memory(f"m-{number}", f"User owns cat {number}.")
        for number in range(4)
    ]
    forget = {"operation": "DELETE", "evidence": "Forget my cats"}
    house = House(
        reply(*({**forget, "id": one.id} for one in rows)), rows=rows
    )
    page = Page(house, show_status=False, confirmation="off")
    page.state["recalled"] = "4 memories recalled"
    page.can_ask, page.dialog = can_ask, PageDialog(answering)
    await page.learn("Forget my cats.")
    await asyncio.gather(*house.tasks)
    assert len(house.contents) == left
    assert page.shown == [line]


HOW_TO_TAKE_BACK = "You changed that message. Only its former words said: "
EDITED = [
    # What the new words say as well stays without a question.
    (
        True,
        "all",
        "Deleted: User plays the violin. · /undo takes it back",
        "User lives in Porto.",
    ),
    (
        True,
        None,
        f"Not deleted: {VIOLIN} ({UNANSWERED})",
        f"User lives in Porto. {VIOLIN}",
    ),
    (
        False,
        None,
        f"{HOW_TO_TAKE_BACK}{VIOLIN} · /forget",
        f"User lives in Porto. {VIOLIN}",
    ),
]


@pytest.mark.parametrize("keeps_meta", [True, False], ids=["meta", "audit"])
@pytest.mark.parametrize(("can_ask", "answer", "line", "left"), EDITED)
async def test_edited_message(
    can_ask: bool, answer: str | None, line: str, left: str, keeps_meta: bool
) -> None:
    """What only a former version of a message said is asked about once the new one is learned.

    Where nobody can be asked, the line tells how to take it back. In a message of another branch
    there is nothing to ask about.
    """
    asked = list[dict[str, Any]]()

    async def answering(event: dict[str, Any]) -> str | None:
        asked.append(event["data"])
        return answer

    house = House(BOTH, reply(), reply(), keeps_meta=keeps_meta)
    page = Page(house)
    page.can_ask, page.dialog = can_ask, PageDialog(answering)
    await page.learn()
    page.former, page.question_id = frozenset({"m-1"}), "m-2"
    await page.learn("I live in Porto.", message_id="m-2")
    await asyncio.gather(*house.tasks)
    assert line in page.shown
    assert " ".join(house.store.contents) == left
    assert len(asked) == can_ask
    assert all("Only its former words said" in one["message"] for one in asked)
    page.former, page.question_id = frozenset(), "m-3"
    await page.learn("How are you?", message_id="m-3")
    await asyncio.gather(*house.tasks)
    assert len(asked) == can_ask


async def test_edited_message_that_was_undone() -> None:
    """What a message had changed, and its user has taken back since, is not asked about."""
    update = {
        "operation": "UPDATE",
        "id": "1",
        "content": "User lives in Lisbon.",
        "evidence": "I live in Lisbon",
    }
    house = House(reply(PORTO), reply(update), reply())
    page = Page(house)
    await page.learn("I live in Porto.", message_id="m-1")
    await page.learn("I live in Lisbon now.", message_id="m-2")
    assert house.store.contents == ["User lives in Lisbon."]
    memory_of_ada = house.resources().memory
    await memory_of_ada.undo((await memory_of_ada.steps())[0])
    assert house.store.contents == ["User lives in Porto."]
    page.former, page.question_id = frozenset({"m-2"}), "m-3"
    await page.learn("I like Lisbon.", message_id="m-3")
    await asyncio.gather(*house.tasks)
    assert not any(HOW_TO_TAKE_BACK in line for line in page.shown)


async def test_not_allowed() -> None:
    """Where the host allows no memories a chat is told once, and nothing is tried again."""
    house = House(refusal="you lack the permission")
    page, learning = Page(house), house.learning()
    for message in ("m-1", "m-2"):
        said = turn(SAID, message_id=message, answer_id="answer")
        await learning.learn(
            page.hook, await learning.put(page.hook, said), asyncio.Event()
        )
    assert page.shown == ["Nothing saved: you lack the permission"]
    assert house.pending.turns == {}


async def test_nobody_waits_for_somebody_else() -> None:
    """While another user's write hangs, a fact is learned and its line is shown."""
    house = House(reply(PORTO))
    page, learning = Page(house), house.learning()
    bob = replace(await page.hook.sources(), user_id="bob")
    async with house.everybody.over(bob, page.settings).lock:
        queued = await learning.put(page.hook, turn(SAID, answer_id="answer"))
        await learning.learn(page.hook, queued, asyncio.Event())
    assert page.shown == ["Saved: User lives in Porto. · /undo takes it back"]


async def test_commands_do_not_wait_for_embedding() -> None:
    """What a user says to remember is saved soon though the embedder hangs; its vector follows."""
    house = House()
    page, learning = Page(house), house.learning()
    addition = Proposal(
        "NEW", "", Draft("User has a boat."), fact_kind="ASKED"
    )
    other = Proposal("NEW", "", Draft("User has a kite."), fact_kind="ASKED")
    await learning.do(page.hook, [addition])
    house.embedder.gate.clear()
    assert await learning.do(page.hook, [other]) == "Saved: User has a kite."
    house.embedder.gate.set()


async def test_side_by_side() -> None:
    """Of two models that answer one message, the one learns whose turn waits, before its answer."""
    house = House()
    local, remote = Page(house), Page(house)
    learning = house.learning()
    queued: list[QueuedTurn] = []
    for page, name in ((local, "local"), (remote, "remote")):
        page.answer_id = page.chat_model_id = name
        page.model = ScriptedModel(reply(PORTO))
        before = Utterance("assistant", f"What the {name} model said.")
        said = turn(
            SAID, before, message_id="m-1", answer_id=name, chat_model=name
        )
        queued.append(await learning.put(page.hook, said))
    # The other one's answer ends first.
    for page, waiting in ((remote, queued[1]), (local, queued[0])):
        await learning.learn(page.hook, waiting, asyncio.Event())
    assert "What the local model said." in str(local.model.requests)
    assert remote.model.requests == []
    assert local.shown == ["Saved: User lives in Porto. · /undo takes it back"]
    assert remote.shown == []


async def test_what_fails_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That a fact could not be saved is told at the first attempt and at the last one."""
    monkeypatch.setattr("adaptive.learn.queue._NEAR_SECONDS", -1.0)
    house = House(
        *[reply(PORTO)] * MOST_ATTEMPTS, broken=["User lives in Porto."]
    )
    page, learning = Page(house), house.learning()
    queued = await learning.put(page.hook, turn(SAID, answer_id="answer"))
    await learning.learn(page.hook, queued, asyncio.Event())
    for day in range(1, 1 + MOST_ATTEMPTS):
        now = time.time() + day * 24 * 3600
        learning._queue._clock = partial(float, now)
        await learning.learn(page.hook, None, asyncio.Event())
    assert len(house.model.requests) == MOST_ATTEMPTS
    failed = "Could not be saved: User lives in Porto."
    assert [line[: len(failed)] for line in page.shown] == [failed, failed]


async def answered(learning: Learning, hook: Hook, end: asyncio.Event) -> None:
    """What the host does with a message: its inlet, and all until its answer has come."""
    learning.foreground.begin_answer(await hook.machine())
    await end.wait()


async def lesson_beside_a_message(
    page: Page, machine: str, end: asyncio.Event
) -> asyncio.Task[None]:
    """A lesson whose model was asked when somebody sent a message to a machine."""
    learning = page.house.learning()
    page.house.model.gate.clear()
    told = turn(SAID, message_id="m-1", answer_id="answer")
    queued = await learning.put(page.hook, told)
    lesson = asyncio.create_task(
        learning.learn(page.hook, queued, asyncio.Event())
    )
    while not page.house.model.running:
        await asyncio.sleep(0)
    bob = Page(page.house)
    bob.machine_name = machine
    page.house.start(answered(learning, bob.hook, end))
    await asyncio.sleep(0.1)
    return lesson


async def test_call_that_gives_way() -> None:
    """A call that is closed for somebody's message is taken up again; nothing is told of it."""
    page, end = Page(House(BOTH)), asyncio.Event()
    page.machine_name = "gpu"
    lesson = await lesson_beside_a_message(page, "gpu", end)
    assert (page.house.model.running, page.shown) == (0, [])
    (waiting,) = page.house.pending.turns.values()
    assert waiting.attempts == 0
    page.house.model.gate.set()
    end.set()
    await lesson
    assert page.house.contents == ["User lives in Porto.", VIOLIN]
    assert page.shown[0].startswith("Saved (2)")
    assert len(page.house.model.requests) == 2


async def test_message_to_another_machine() -> None:
    """A hosted model, and one on another machine, go on while somebody is answered."""
    for machine in ("", "gpu"):
        page, end = Page(House(BOTH)), asyncio.Event()
        page.machine_name = machine
        lesson = await lesson_beside_a_message(page, "nas", end)
        assert page.house.model.running == 1
        page.house.model.gate.set()
        await lesson
        assert len(page.house.model.requests) == 1
        end.set()


async def test_second_part_of_a_lesson() -> None:
    """Where two models learn a chat's turns, the second one's call is not closed.

    The first one's turns would be learned twice.
    """
    page, end = Page(House(reply(PORTO), reply())), asyncio.Event()
    page.machine_name = "gpu"
    learning = page.house.learning()
    turns = [
        turn(SAID, message_id=name, answer_id=name, chat_model=name)
        for name in ("m-1", "m-2")
    ]
    queued = [await learning.put(page.hook, one) for one in turns]
    lesson = asyncio.create_task(
        learning.learn(page.hook, queued[1], asyncio.Event())
    )
    while not page.house.contents:
        await asyncio.sleep(0)
    page.house.start(answered(learning, page.hook, end))
    await lesson
    assert len(page.house.model.requests) == 2
    assert page.house.pending.turns == {}
    end.set()


async def test_cost_of_a_lesson() -> None:
    """What a lesson has asked the model for is counted for its user, on the day that it was."""
    tokens = Completion(BOTH, tokens=(600, 40))
    page = Page(House(tokens, reply()))
    whose = USER_ID.set("ada")
    await page.learn()
    await page.learn(message_id="m-2", answer_id="answer-2")
    USER_ID.reset(whose)
    [(day, spent)] = (await page.house.costs.days("ada")).items()
    assert day == time.strftime("%Y-%m-%d", time.gmtime())
    assert (spent["calls"], spent["tokens_in"]) == (2, 600)
    assert spent["tokens_out"] == 40
    assert await page.house.costs.days("bob") == {}
