"""Proposing memories and saving the accepted ones: what waits, what is told, what is written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi import FastAPI, Request

from adaptive.answer.suggestions import Suggestions, suggestion_digest
from adaptive.errors import (
    AdaptiveMemoryError,
    LeaseLost,
    MemoryUnavailable,
    ModelRejected,
    TablesUnavailable,
)
from adaptive.filter import Filter
from adaptive.host.dialog import PageDialog
from adaptive.host.hook import Hook
from adaptive.learn.archive import AuditTrail, UserStore
from adaptive.learn.lesson import Lesson, LessonResources
from adaptive.learn.proposals import offered_lesson, propose_findings, proposed_lesson
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Draft, Operation, Turn
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.suggestion_ports import Suggestion, WaitingSuggestion
from tests.answer.listed_suggestions import ListedSuggestions
from tests.fakes import (
    SOURCE,
    ListedMemories,
    ScriptedModel,
    ShelvedVectors,
    WordEmbedder,
    hook_settings,
    memory,
    turn,
)
from tests.learn.storerooms import ArchivedRows, CountedRecalls, WrittenAudit
from tests.learn.work_in_hand import NoPrefilter, Work, always

NOW = datetime(2026, 11, 21, 9, 5, tzinfo=UTC)
SETTINGS: dict[str, Any] = {
    "save_mode": "suggest",
    "allowed_memory_banks": "Personal, General",
    "retry_delay": 0,
    "max_retries": 0,
}
SAID = "I drink green tea every morning."
DRINKS_TEA = "User drinks green tea every morning."
TEA = Suggestion(
    "preference", "drinks green tea every morning", "Personal", ("preference",), DRINKS_TEA
)
DOG = "User has a dog called Rex."
PAGE = {"chat_id": "chat-2", "session_id": "s", "user_message_id": "m-2"}


def extracted(*operations: dict[str, Any]) -> str:
    """A reply to the extraction."""
    return json.dumps({"operations": operations})


def new(content: str, *tags: str, evidence: str = SAID, **fields: Any) -> dict[str, Any]:
    """An operation that adds a fact."""
    proof = {"evidence": evidence, "about": "user", "kind": "FACT"}
    labels = {"tags": list(tags), "memory_bank": "Personal"}
    return {"operation": "NEW", "content": content, **proof, **labels, **fields}


FOUND_TEA = extracted(new(DRINKS_TEA, "preference"))


class House:
    """A user's memories and suggestions, and the model that is asked."""

    def __init__(self, *script: str | Exception, store: ListedMemories | None = None) -> None:
        self.store = ListedMemories() if store is None else store
        self.model = ScriptedModel(*script)
        self.table = ListedSuggestions()
        self.audit = WrittenAudit()
        self.suggestions = Suggestions(self.table, lambda: 7.0)
        self.rooms = 0

    async def room(self, **parts: Any) -> LessonResources:
        """What learning needs."""
        self.rooms += 1
        trail = AuditTrail(self.audit)
        fresh: dict[str, Any] = {
            "may_ask": always,
            "can_ask": True,
            "prefilter": NoPrefilter(),
            **parts,
        }
        return LessonResources(
            sources=Sources("ada", self.store, WordEmbedder(), ShelvedVectors()),
            indexes=MemoryIndexes(),
            completer=self.model,
            formats=AnswerFormats(),
            storeroom=UserStore("ada", self.store, ArchivedRows(), CountedRecalls(), trail),
            **fresh,
        )

    async def lesson(
        self,
        said: Turn,
        work: Work | None = None,
        valves: dict[str, Any] | None = None,
        **parts: Any,
    ) -> Lesson:
        """A lesson in suggest mode."""
        settings = hook_settings(**SETTINGS, **(valves or {}))
        room = await self.room(**parts)
        return await proposed_lesson(self.suggestions, room, said, settings, NOW, work or Work())

    async def offer(self, answer: str | Callable[[], str] | None, chat_id: str = "c-2") -> Lesson:
        """Offer what waits to a page that answers so."""

        async def called(_: dict[str, Any]) -> object:
            return answer() if callable(answer) else answer

        dialog, settings = PageDialog(called), hook_settings(**SETTINGS)
        return await offered_lesson(self.suggestions, self.room, dialog, "ada", chat_id, settings)

    @property
    def waiting(self) -> list[Suggestion]:
        """What waits."""
        return [one.suggestion for one in self.table.rows.values()]


async def waits(house: House, suggestion: Suggestion = TEA) -> WaitingSuggestion:
    """Let a suggestion wait."""
    one = WaitingSuggestion(suggestion_digest(suggestion), suggestion, SOURCE)
    await house.table.put("ada", [one], 0)
    return one


# --- what is proposed -----------------------------------------------------------------------------


async def test_proposed() -> None:
    """What the extraction finds waits and nothing is written; it is one model call."""
    house, work = House(FOUND_TEA), Work()
    assert await house.lesson(turn(SAID), work) == Lesson("")
    assert (house.waiting, house.store.contents, work.calls) == ([TEA], [], 1)
    (row,) = house.table.rows.values()
    assert row.source.message_id == "m"


async def test_nobody_to_ask() -> None:
    """Where nobody can be asked it waits, and the line says so."""
    lesson = await House(FOUND_TEA).lesson(turn(SAID), can_ask=False)
    assert lesson.line == "1 suggestion waits for your answer"


@dataclass(frozen=True, slots=True)
class Case:
    """A turn of which nothing is proposed, and the line that is shown."""

    id: str
    line: str
    script: tuple[str, ...] = (FOUND_TEA,)
    words: str = SAID
    held: str = ""
    valves: tuple[tuple[str, Any], ...] = ()


CASES = [
    Case("no fact", "Nothing new to remember", (extracted(),), "Thank you!"),
    Case("known", f"Already known: {TEA.content}", held=TEA.content),
    Case(
        "blacklist",
        f"Not saved: {TEA.content} (it holds a word that your admin has ruled out)",
        valves=(("blacklist_topics", "tea"),),
    ),
    Case(
        "short",
        f"Not saved: {TEA.content} (shorter than 90 characters)",
        valves=(("min_memory_length", 90),),
    ),
    Case(
        "secret",
        "Not saved: it holds what looks like a password; secrets are never remembered",
        (extracted(new("User's password is hunter2-Xk29!vQ.")),),
        "My password is hunter2-Xk29!vQ.",
    ),
    Case(
        "not said",
        "Not saved: User plays the cello. (it is not in your message)",
        (extracted(new("User plays the cello.", evidence="I play the cello")),),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_nothing_is_proposed(case: Case) -> None:
    """What is known or may not be kept is not proposed, and the line says why."""
    held = [memory("m-1", case.held)] if case.held else []
    house = House(*case.script, store=ListedMemories(*held))
    lesson = await house.lesson(turn(case.words), valves=dict(case.valves))
    assert lesson.line == case.line
    assert (house.waiting, len(house.store.contents)) == ([], len(held))


async def test_rejected_before() -> None:
    """What was rejected once is not proposed; what waits already is not put down twice."""
    house = House(FOUND_TEA)
    house.table.digests.add(suggestion_digest(TEA))
    assert (await house.lesson(turn(SAID))).line == "Nothing new to remember"
    house = House(FOUND_TEA)
    await waits(house)
    await house.lesson(turn(SAID))
    assert house.waiting == [TEA]


async def never(_: int) -> bool:
    """There is no model call left."""
    return False


async def test_what_the_admin_wants_kept() -> None:
    """The question tells what the admin wants kept and what never."""
    house = House(FOUND_TEA)
    rules = {"memory_keep": "allergies", "memory_never_keep": "health"}
    await house.lesson(turn(SAID), valves=rules)
    told = "\n- Also worth keeping: allergies\n- Never keep: health\n"
    assert [told in one.system for one in house.model.requests] == [True]


async def test_limit() -> None:
    """At the limit of model calls none is made, and the line says so."""
    house = House()
    lesson = await house.lesson(turn(SAID), may_ask=never)
    assert "the limit of" in lesson.line
    assert house.model.requests == []


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ((ModelRejected("no credits", 402),), "no credits"),
        (("I would remember the tea.", "Sure!"), "no usable JSON"),
    ],
    ids=["refused", "prose"],
)
async def test_model_trouble(script: tuple[str | Exception, ...], error: str) -> None:
    """Where the model is of no use the turn waits for another try, and nothing else happens."""
    house = House(*script)
    with pytest.raises(AdaptiveMemoryError, match=error):
        await house.lesson(turn(SAID))
    assert (house.waiting, house.store.contents) == ([], [])


async def test_not_allowed_or_lost() -> None:
    """Without permission no model is asked; what another worker has by now is not put."""
    house = House(store=ListedMemories(refusal="memories are switched off"))
    with pytest.raises(MemoryUnavailable):
        await house.lesson(turn(SAID))
    assert house.model.requests == []
    house = House(FOUND_TEA)
    with pytest.raises(LeaseLost):
        await house.lesson(turn(SAID), Work(losing=0))
    house.table.unavailable = True
    house.model = ScriptedModel(FOUND_TEA)
    with pytest.raises(TablesUnavailable):
        await house.lesson(turn(SAID))


# --- what is asked for ----------------------------------------------------------------------------


async def test_remember() -> None:
    """What is to be remembered is proposed like any other fact."""
    said = "Remember that I have a dog called Rex."
    house = House(extracted(new(DOG, "possession", evidence=said)))
    assert await house.lesson(turn(said)) == Lesson("")
    assert [one.content for one in house.waiting] == [DOG]
    assert house.store.contents == []


async def test_changed() -> None:
    """A change waits with the row that it is of, which a yes changes; no other is checked."""
    porto = memory("m-1", "User lives in Porto.", tags=("identity",))
    update = {
        "operation": "UPDATE",
        "id": "m-1",
        "content": "User lives in Lisbon.",
        "evidence": "I live in Lisbon now",
    }
    house = House(extracted(update), store=ListedMemories(porto, memory("m-2", DOG)))
    await house.lesson(turn("I live in Lisbon now."))
    assert house.store.contents == [porto.content, DOG]
    assert len(house.model.requests) == 1
    assert (await house.offer("1")).line == "Memory updated: User lives in Lisbon."
    assert house.store.rows["m-1"].content == "User lives in Lisbon."


async def test_forget() -> None:
    """What is to be forgotten goes as ever; other changes that the model finds wait."""
    rows = [memory("m-1", DOG), memory("m-2", "User lives in Porto.")]
    house = House(
        extracted({"operation": "DELETE", "id": "m-1", "evidence": "Forget my dog called Rex"}),
        store=ListedMemories(*rows),
    )
    lesson = await house.lesson(turn("Forget my dog called Rex."))
    assert lesson.line == f"Memory deleted: {DOG}"
    assert house.store.contents == ["User lives in Porto."]


# --- what is accepted -----------------------------------------------------------------------------


async def test_accepted() -> None:
    """A yes saves the memory with bank, tags and the message it came from, and it waits no more."""
    house = House()
    await waits(house)
    lesson = await house.offer("1")
    assert lesson == Lesson(f"Memory saved: {TEA.content}")
    (row,) = house.store.rows.values()
    assert (row.content, row.bank, row.tags) == (TEA.content, "Personal", ("preference",))
    assert row.meta["message_id"] == SOURCE.message_id
    assert house.waiting == []
    (entry,) = house.audit.entries
    assert (entry.kind, entry.chat_id) == ("saved", SOURCE.chat_id)


async def test_accepted_but_known() -> None:
    """What has become known meanwhile is not doubled, and waits no more."""
    house = House(store=ListedMemories(memory("m-1", TEA.content)))
    await waits(house)
    assert (await house.offer("1")).line == f"Already known: {TEA.content}"
    assert (len(house.store.rows), house.waiting) == (1, [])


@pytest.mark.parametrize("refused", [False, True], ids=["broken", "refused"])
async def test_accepted_but_not_saved(*, refused: bool) -> None:
    """What could not be saved waits on, and the line says why."""
    refusal = "memories are switched off" if refused else ""
    house = House(store=ListedMemories(refusal=refusal, broken=[TEA.content]))
    await waits(house)
    lesson = await house.offer("1")
    assert lesson.line.startswith("Nothing saved: memories" if refused else "Could not be saved")
    assert (house.waiting, house.table.busy) == ([TEA], set())


async def test_erased_while_asked() -> None:
    """What the user has erased while the question stood is not saved."""
    house = House()
    await waits(house)

    def erased() -> str:
        house.table.rows.clear()
        return "1"

    assert await house.offer(erased) == Lesson("")
    assert house.store.contents == []


async def test_unanswered() -> None:
    """Without an answer it waits and the line counts; a no leaves nothing to tell."""
    house = House()
    await waits(house)
    await waits(house, replace(TEA, title="Other", content="User likes jazz."))
    lesson = await house.offer(None)
    assert lesson == Lesson("2 suggestions wait for your answer", complete=False)
    assert await house.offer("-1, -2", "c-3") == Lesson("")
    assert (house.waiting, house.rooms) == ([], 0)


async def test_one_dialog_at_a_time() -> None:
    """While a question stands in the page, for suggestions or a deletion, no other is asked."""
    house, over = House(), asyncio.Event()
    await waits(house)
    question = asyncio.create_task(house.suggestions.asking("ada", over.wait()))
    await asyncio.sleep(0)
    assert await house.offer("1") == Lesson("")
    over.set()
    await question
    assert (await house.offer("1")).line.startswith("Memory saved")


class Faulty(dict[str, Any]):
    """Metadata that can't be read the first time."""

    read = False

    def get(self, key: str, default: Any = None) -> Any:
        """Fail as a bug of ours would."""
        if not self.read:
            self.read = True
            raise RuntimeError("a bug")
        return super().get(key, default)


async def test_bug_while_asking() -> None:
    """An unexpected error behind the lesson ends nothing, and the user is told."""
    lines: list[str] = []

    async def shown(event: dict[str, Any]) -> None:
        lines.append(event["data"]["description"])

    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    settings = hook_settings(**SETTINGS)
    hook = Hook(settings, {"id": "ada"}, Faulty(), request, shown, None, shown)
    await Filter()._offered(hook)
    assert lines == ["Nothing saved: an unexpected error; the server's log tells more"]


async def test_table_is_gone() -> None:
    """Where the table can't be had nobody is asked, and nothing fails."""
    house = House()
    house.table.unavailable = True
    assert await house.offer("1") == Lesson("")


# --- what was found beside the lesson -------------------------------------------------------------

FOUND = "User drinks green tea every morning."
VIOLIN = "User plays the violin."
BOTH = "I drink green tea every morning and I play the violin."


async def found_in(house: House, *facts: str, words: str = BOTH) -> int:
    """Propose facts that were found behind a lesson."""
    room, settings = await house.room(), hook_settings(**SETTINGS)
    findings = [Operation("NEW", draft=Draft(fact)) for fact in facts]
    return await propose_findings(house.suggestions, room, turn(words), findings, settings, always)


async def test_found() -> None:
    """A fact that was found waits like any other, unless the user has not said it."""
    house = House()
    assert await found_in(house, VIOLIN, "User loves the opera.") == 1
    (one,) = house.waiting
    expected = Suggestion("fact", "plays the violin", "General", (), VIOLIN)
    assert one == expected
    assert house.store.contents == []


@pytest.mark.parametrize("answer", ["unanswered", "accepted", "rejected"])
async def test_found_after_it_was_proposed(answer: str) -> None:
    """What the lesson has proposed is not proposed again, whatever has become of it meanwhile."""
    house = House(FOUND_TEA)
    await house.lesson(turn(BOTH))
    if answer != "unanswered":
        await house.offer("1" if answer == "accepted" else "-1")
    assert await found_in(house, FOUND, VIOLIN) == 1
    assert house.waiting[-1].content == VIOLIN


async def test_found_and_rejected() -> None:
    """What was rejected is not found again in another chat, or by another worker."""
    house = House()
    await found_in(house, VIOLIN)
    await house.offer("-1")
    other = House()
    other.table = house.table
    other.suggestions = Suggestions(house.table, lambda: 7.0)
    assert await found_in(other, "User plays the violin") == 0
    assert other.waiting == []


async def test_lease_of_findings() -> None:
    """What was found waits only while nobody else works on the user."""

    async def lost() -> bool:
        return False

    house, settings = House(), hook_settings(**SETTINGS)
    finding = Operation("NEW", draft=Draft(VIOLIN))
    with pytest.raises(LeaseLost):
        room = await house.room()
        await propose_findings(house.suggestions, room, turn(BOTH), [finding], settings, lost)
    assert house.waiting == []
