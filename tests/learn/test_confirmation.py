"""What the user is asked: which memories go, and which suggestions are kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from adaptive.answer.suggestions import Suggestions, suggestion_digest
from adaptive.core.kept import Suggestion, WaitingSuggestion
from adaptive.core.model import Draft, Memory, Operation, Turn
from adaptive.host.page import PageDialog
from adaptive.learn.confirmation import (
    CHANGED_MEANWHILE,
    DECLINED,
    UNANSWERED,
    answered_deletions,
    delete_confirmed,
    offer_suggestions,
)
from adaptive.learn.lesson import Lesson, LessonResources, learn_turn, new_findings
from tests.answer.listed_suggestions import ListedSuggestions
from tests.fakes import SOURCE, ListedMemories, ScriptedModel, hook_settings, memory, turn
from tests.learn.storerooms import WrittenAudit
from tests.learn.work_in_hand import Work, lesson_room
from tests.rates import over

NOW = datetime(2026, 11, 21, 9, 5, tzinfo=UTC)
SAID = "I drink green tea every morning."
DRINKS_TEA = "User drinks green tea every morning."
TEA = Suggestion(
    "preference", "drinks green tea every morning", "Personal", ("preference",), DRINKS_TEA
)
DOG = "User has a dog called Rex."

# --- deletions ------------------------------------------------------------------------------------


def memories(count: int) -> list[Memory]:
    """That many memories."""
    return [memory(f"m-{number}", f"User owns cat {number}.") for number in range(1, count + 1)]


def page(answer: str | Callable[[], str] | None) -> PageDialog:
    """A page whose user answers so."""

    async def called(_: dict[str, Any]) -> object:
        return answer() if callable(answer) else answer

    return PageDialog(called)


async def test_question() -> None:
    """The question names at most ten memories in short lines, and how to answer."""
    asked: list[dict[str, Any]] = []

    async def called(event: dict[str, Any]) -> object:
        asked.append(event)
        return None

    rows = [memory(f"m-{number}", "long\nwords " * 100) for number in range(30)]
    room = lesson_room(ListedMemories(*rows), ScriptedModel())
    await delete_confirmed(room, turn("Forget it"), PageDialog(called), rows)
    told = str(asked)
    assert "Delete memories?" in told
    assert "Your message would delete" in told
    assert "11. " not in told
    assert "… and 20 more" in told
    assert "Anything else deletes nothing." in told
    assert len(told) < 2500


@dataclass(frozen=True)
class Answer:
    """An answer to a question about some memories; which of them may go, or why none may."""

    id: str
    count: int
    answer: str | None
    chosen: tuple[int, ...] = ()
    reason: str = DECLINED


NO_ANSWERS = ["yes", "no", "all but 2", "not all", "4", "0", "-1", "1 x", "1 plus 2?", "9" * 5000]
ANSWERS = [
    Answer("unanswered", 3, None, reason=UNANSWERED),
    Answer("nothing typed", 3, " "),
    Answer("all in capitals", 3, "ALL", (1, 2, 3)),
    Answer("all of more than are shown", 12, "all", tuple(range(1, 13))),
    Answer("some, in any order and twice", 3, "3,1, 3", (1, 3)),
    Answer("not shown", 12, "11"),
    *(Answer(answer[:12], 3, answer) for answer in NO_ANSWERS),
]


@over("case", ANSWERS)
def test_answer(case: Answer) -> None:
    """What is wholly understood is allowed, and everything else stays, with its reason."""
    rows = memories(case.count)
    now = {one.id: one.content for one in rows}
    operations, outcomes = answered_deletions(rows, case.answer, now)
    assert operations == [Operation("DELETE", f"m-{one}") for one in case.chosen]
    kept = [one.content for number, one in enumerate(rows, 1) if number not in case.chosen]
    assert [one.content for one in outcomes] == kept
    assert {(one.status, one.reason) for one in outcomes} <= {("kept", case.reason)}


async def test_store_changed_meanwhile() -> None:
    """What says something else by the time of the answer stays; what is gone is no matter."""
    rows, audit = memories(3), WrittenAudit()
    store = ListedMemories(rows[0], memory("m-2", "User owns a dog."))
    room = lesson_room(store, ScriptedModel(), audit=audit)
    line = (await delete_confirmed(room, turn("Forget my cats"), page("all"), rows)).line
    kept = f"Not deleted: User owns a dog. ({CHANGED_MEANWHILE})"
    assert line == f"Deleted: User owns cat 1. · {kept}"
    assert store.contents == ["User owns a dog."]
    assert audit.told() == [("deleted", "m-1")]


# --- suggestions ----------------------------------------------------------------------------------


def extracted(*operations: dict[str, Any]) -> str:
    """A reply to the extraction."""
    return json.dumps({"operations": operations})


def new(content: str, *tags: str, evidence: str = SAID) -> dict[str, Any]:
    """An operation that adds a fact."""
    labels = {"tags": list(tags), "memory_bank": "Personal", "about": "user", "kind": "FACT"}
    return {"operation": "NEW", "content": content, "evidence": evidence, **labels}


FOUND_TEA = extracted(new(DRINKS_TEA, "preference"))


class House:
    """A user's memories and suggestions, and the model that is asked."""

    def __init__(self, *script: str | Exception, store: ListedMemories | None = None) -> None:
        self.store = ListedMemories() if store is None else store
        self.model, self.table, self.audit = (
            ScriptedModel(*script),
            ListedSuggestions(),
            WrittenAudit(),
        )
        self.suggestions = Suggestions(self.table, lambda: 7.0)
        self.rooms = 0

    async def room(self, *, can_ask: bool = True) -> LessonResources:
        """What learning needs."""
        self.rooms += 1
        settings = hook_settings(save_mode="suggest", allowed_memory_banks="Personal, General")
        parts = {"settings": settings, "proposer": self.suggestions, "audit": self.audit}
        return lesson_room(self.store, self.model, can_ask=can_ask, **parts)

    async def lesson(self, said: Turn, work: Work | None = None, *, can_ask: bool = True) -> str:
        """The line of a lesson in suggest mode."""
        room = await self.room(can_ask=can_ask)
        return (await learn_turn(room, said, NOW, work or Work())).line

    async def offer(self, answer: str | Callable[[], str] | None, chat_id: str = "c-2") -> Lesson:
        """Offer what waits to a page that answers so."""
        return await offer_suggestions(self.suggestions, self.room, page(answer), "ada", chat_id)

    @property
    def waiting(self) -> list[Suggestion]:
        """What waits."""
        return [one.suggestion for one in self.table.rows.values()]


async def waits(house: House, suggestion: Suggestion = TEA) -> None:
    """Let a suggestion wait."""
    one = WaitingSuggestion(suggestion_digest(suggestion), suggestion, SOURCE)
    await house.table.put("ada", [one], 0)


async def test_proposed() -> None:
    """What the extraction finds waits and nothing is written; it is one model call."""
    house, work = House(FOUND_TEA), Work()
    assert await house.lesson(turn(SAID), work) == ""
    assert (house.waiting, house.store.contents, work.calls) == ([TEA], [], 1)
    line = await House(FOUND_TEA).lesson(turn(SAID), can_ask=False)
    assert line == "1 suggestion waits for your answer"


@dataclass(frozen=True)
class Case:
    """A turn of which nothing is proposed, and the line that is shown."""

    id: str
    line: str
    reply: str = FOUND_TEA
    known: tuple[Memory, ...] = ()
    rejected: bool = False


CASES = [
    Case("no fact", "Nothing new to remember", extracted()),
    Case("known", f"Already known: {DRINKS_TEA}", known=(memory("m-1", DRINKS_TEA),)),
    Case("rejected before", "Nothing new to remember", rejected=True),
    Case(
        "not said",
        "Not saved: User plays the cello. (it is not in your message)",
        extracted(new("User plays the cello.", evidence="I play the cello")),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_nothing_is_proposed(case: Case) -> None:
    """What is known, was rejected or may not be kept is not proposed, and the line says why."""
    house = House(case.reply, store=ListedMemories(*case.known))
    if case.rejected:
        house.table.digests.add(suggestion_digest(TEA))
    assert await house.lesson(turn(SAID)) == case.line
    assert house.waiting == []


async def test_changed() -> None:
    """A change waits with the row that it is of, which a yes changes."""
    update = {"operation": "UPDATE", "id": "m-1", "content": "User lives in Lisbon."}
    update["evidence"] = "I live in Lisbon now"
    porto = memory("m-1", "User lives in Porto.", tags=("identity",))
    house = House(extracted(update), store=ListedMemories(porto, memory("m-2", DOG)))
    await house.lesson(turn("I live in Lisbon now."))
    assert house.store.contents == [porto.content, DOG]
    assert (await house.offer("1")).line == "Updated: User lives in Lisbon."
    assert house.store.rows["m-1"].content == "User lives in Lisbon."


async def test_accepted() -> None:
    """A yes saves the memory with bank, tags and the message it came from, and it waits no more."""
    house = House()
    await waits(house)
    assert await house.offer("1") == Lesson(f"Saved: {DRINKS_TEA}")
    (row,) = house.store.rows.values()
    assert (row.content, row.bank, row.tags) == (DRINKS_TEA, "Personal", ("preference",))
    assert row.meta["message_id"] == SOURCE.message_id
    assert house.waiting == []
    assert [(one.kind, one.chat_id) for one in house.audit.entries] == [("saved", SOURCE.chat_id)]
    await waits(house)
    assert (await house.offer("1", "c-3")).line == f"Already known: {DRINKS_TEA}"


@pytest.mark.parametrize("refused", [False, True], ids=["broken", "refused"])
async def test_accepted_but_not_saved(*, refused: bool) -> None:
    """What could not be saved waits on, and the line says why."""
    refusal = "memories are switched off" if refused else ""
    house = House(store=ListedMemories(refusal=refusal, broken=[DRINKS_TEA]))
    await waits(house)
    lesson = await house.offer("1")
    assert lesson.line.startswith(f"Could not be saved: {DRINKS_TEA} (")
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
    """Without an answer, or a table, it waits; a no leaves nothing to tell."""
    house = House()
    await waits(house)
    house.table.unavailable = True
    assert await house.offer("1") == Lesson("")
    house.table.unavailable = False
    lesson = await house.offer(None)
    assert lesson == Lesson("1 suggestion waits for your answer", complete=False)
    assert await house.offer("-1", "c-3") == Lesson("")
    assert (house.waiting, house.rooms) == ([], 0)


async def test_one_dialog_at_a_time() -> None:
    """While a question stands in the page, for suggestions or a deletion, no other is asked."""
    house, over_now = House(), asyncio.Event()
    await waits(house)
    question = asyncio.create_task(house.suggestions.asking("ada", over_now.wait()))
    await asyncio.sleep(0)
    assert await house.offer("1") == Lesson("")
    over_now.set()
    await question
    assert (await house.offer("1")).line.startswith("Saved")


@pytest.mark.parametrize("answer", ["", "1", "-1"])
async def test_found_after_it_was_proposed(answer: str) -> None:
    """What a lesson has proposed is no finding, whatever has become of it meanwhile."""
    house, said = House(FOUND_TEA), turn(f"{SAID} And I play the violin.")
    await house.lesson(said)
    await house.offer(answer)
    facts = ("User drinks green tea every morning", "User plays the violin.")
    findings = [Operation("NEW", draft=Draft(fact)) for fact in facts]
    found = await new_findings(await house.room(), said, findings)
    assert [one.draft.content for one in found.operations] == ["User plays the violin."]
