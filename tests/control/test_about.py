"""The page on what is known about a user: what it shows, and on what its sentences rest."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import AsyncMock

from adaptive.control.about import AboutPage, read_about
from adaptive.core.model import Draft, Memory, NewMemory
from adaptive.core.providers import Completion, CompletionRequest
from adaptive.llm.ask import AnswerFormats
from adaptive.settings.merged import NOTHING_HIDDEN, HiddenMemories
from tests.control.page import Page
from tests.fakes import SOURCE, hook_settings
from tests.learn.world import World
from tests.rates import Rate, labelled_set

HEALTH = HiddenMemories(frozenset({"health"}), "general")


@dataclass
class Writer:
    """A model that answers with the sentences that it is given."""

    sentences: list[dict[str, Any]]
    asked: list[CompletionRequest] = field(
        default_factory=list[CompletionRequest]
    )
    key: str = "writer"

    async def complete(
        self, request: CompletionRequest, response_format: str
    ) -> Completion:
        """Ask once."""
        self.asked.append(request)
        return Completion(json.dumps({"about": self.sentences}), tokens=(7, 3))


@dataclass
class AskedPage(Page):
    """A page whose chat and whose model for learning may not see some banks."""

    writer: Writer = field(default_factory=lambda: Writer([]))
    hidden: HiddenMemories = NOTHING_HIDDEN
    hidden_from_writer: HiddenMemories = NOTHING_HIDDEN

    async def completer(self) -> Writer:
        """The model for learning."""
        return self.writer

    async def hidden_from(self, completer: Any = None) -> HiddenMemories:
        """What the chat's model may not see, or the one for learning."""
        return self.hidden_from_writer if completer else self.hidden


@dataclass
class House:
    """Ada's memories, and the page on them."""

    page: AskedPage = field(default_factory=AskedPage)
    world: World = field(default_factory=World)
    count_costs: AsyncMock = field(default_factory=AsyncMock)

    async def answer(self, *said: dict[str, Any]) -> str:
        """The page that a model has written with these sentences."""
        self.page.store = self.world.store
        self.page.writer.sentences = [*said]
        about = AboutPage(
            self.world.memories(), AnswerFormats(), self.count_costs
        )
        return await about.answer(self.page.hook)

    async def know(self, *drafts: Draft) -> list[Memory]:
        """Store memories, and give them their numbers in this order."""
        rows = await self.world.store.write(
            *[NewMemory(draft, SOURCE) for draft in drafts]
        )
        await self.world.memory().numbers(rows)
        return [*rows]


def said(
    sentence: str, memories: Any, subject: str = "Home"
) -> dict[str, Any]:
    """A sentence of a reply."""
    return {"subject": subject, "sentence": sentence, "memories": memories}


async def test_sentences_name_what_they_rest_on() -> None:
    """A sentence that rests on nothing shown is left out; a number that is off is put right."""
    house = House()
    await house.know(
        Draft("User lives in Porto"),
        Draft("User is a nurse"),
        Draft("User flies to Oslo on 2 March", until="2099-03-02"),
    )
    page = await house.answer(
        said("You live in Porto.", [1, 2, 3]),
        said("You have a dog.", [1]),
        said("You live in Porto, too.", [9]),
        said("You live in Porto, they say.", None),
        said("You are a *nurse*.", "[1]", "Work"),
        said("You fly to Oslo on 2 March.", ["3"], "Travel"),
    )
    assert page.split("\n\n") == [
        "What is known about you (3 memories)",
        "**Coming up**",
        "- You fly to Oslo on 2 March. [3]",
        "**Home**",
        "- You live in Porto. [1]",
        "**Work**",
        "- You are a \\*nurse\\*. [2]",
        "`/memory` lists them by these numbers.",
    ]
    (request,) = house.page.writer.asked
    assert request.system.startswith("# About you")
    assert (
        "3. User flies to Oslo on 2 March (until 2099-03-02)" in request.user
    )
    assert len(house.world.store.rows) == 3


async def test_nobody_is_shown_what_is_kept_from_them() -> None:
    """The model is shown what neither it nor the chat's model may not see, and told no other."""
    house = House()
    await house.know(
        Draft("User has asthma", bank="Health"), Draft("User lives in Porto")
    )
    for page in (
        AskedPage(hidden=HEALTH),
        AskedPage(hidden_from_writer=HEALTH),
    ):
        house.page = page
        answer = await house.answer(
            said("You have asthma.", [1]), said("You live in Porto.", [2])
        )
        assert "asthma" not in answer + page.writer.asked[0].user
        assert "- You live in Porto. [2]" in answer
        assert "1 memory left out" in answer


async def test_important_and_new_ones_have_room_first() -> None:
    """Of a large store the most important are shown, then the newest, and the rest is counted."""
    house = House(AskedPage(settings=hook_settings(max_injected_tokens=50)))
    rows = [Draft(f"User owns boat number {n}") for n in range(20)]
    await house.know(Draft("User is called Ada", importance=9), *rows)
    answer = await house.answer(said("You are called Ada.", [1]))
    (request,) = house.page.writer.asked
    shown = request.user.splitlines()
    assert shown[0] == "1. User is called Ada"
    assert 2 < len(shown) < 8
    assert f"{21 - len(shown)} memories left out" in answer


async def test_a_long_one_takes_no_room_from_others() -> None:
    """What is too long for the model is left out alone; where nothing fits no model is asked."""
    house = House(AskedPage(settings=hook_settings(max_injected_tokens=50)))
    await house.know(Draft("User owns " + "boats, " * 300, importance=9))
    assert "Nothing was found" in await house.answer()
    assert not house.page.writer.asked
    await house.know(Draft("User is called Ada"))
    answer = await house.answer(said("You are called Ada.", [2]))
    assert "- You are called Ada. [2]" in answer
    assert "1 memory left out" in answer


def test_numbers_of_nine_digits_at_most() -> None:
    """A part of a longer number names no memory."""
    shown = {12: Memory("m", "User lives in Porto", 1, 1)}
    reply = json.dumps([said("You live in Porto.", [12345678912])])
    assert not read_about(Completion(reply), shown, "2026-11-22")


async def test_what_is_not_asked() -> None:
    """No model is asked while memory is off, nor about nothing; what it cost is counted."""
    house = House()
    assert "Nothing was found" in await house.answer()
    await house.know(Draft("User lives in Porto"))
    house.page.settings = hook_settings(enabled=False)
    assert "memory is off in your settings" in await house.answer()
    assert not house.page.writer.asked
    house.page.settings = hook_settings()
    assert "rests on your memories" in await house.answer()
    house.count_costs.assert_awaited_once_with("ada")


def test_what_capable_models_write_stays() -> None:
    """Sentences in other words stay with the memories that they name, also if more are named."""
    kept = Rate()
    for case in labelled_set("about_pages"):
        shown = {
            number: Memory(str(number), content, 1, 1)
            for number, content in enumerate(case["memories"], start=1)
        }
        for each in case["sentences"]:
            for cited in (each["memories"], [*shown]):
                reply = json.dumps([said(each["sentence"], cited)])
                with kept.trying(f"{each['sentence']} {cited}"):
                    page = read_about(Completion(reply), shown, "2026-11-22")
                    (line,) = page["Home"]
                    assert line.endswith(f" {each['memories']}")
    kept.at_least(0.9)
