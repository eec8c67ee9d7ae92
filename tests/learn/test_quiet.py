"""The wish that something is never brought up: a model proposes it, and its user decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from adaptive.core.marks import Place
from adaptive.learn.confirmation import offer_suggestions
from adaptive.learn.suggestions import suggestion_digest
from adaptive.memory.gate import draft_of
from adaptive.settings.hook import Hook
from tests.fakes import hook_settings, memory
from tests.learn.test_suggestions import AnsweringUser
from tests.learn.world import World, reply

DIVORCE = memory(
    "m-1", "User is divorced.", tags=("relationship", "pinned"), bank="General"
)
WORDS = "Please don't mention my divorce again, I was divorced in May."
WISH = {
    "operation": "QUIET",
    "id": "m-1",
    "evidence": ["don't mention my divorce again, I was divorced in May"],
}
REPLIES = [reply(WISH), "1 #1 quiet", "1 #1 Quiet."]


class Page:
    """A page that shows a dialog; as a hook of Ada's."""

    user_id = "ada"
    chat_id = "c"
    place = Place()

    def __init__(self, answer: Sequence[int] | None) -> None:
        self.dialog = AnsweringUser(answer)


async def offered(
    world: World, answer: Sequence[int] | None
) -> tuple[Page, str]:
    """What Ada is asked about all that waits, and what she is told then."""
    page = Page(answer)

    async def room() -> Any:
        return world.resources()

    report = await offer_suggestions(world.suggestions, room, cast(Hook, page))
    return page, report.line


@pytest.mark.parametrize("answer", REPLIES)
@pytest.mark.parametrize("save_mode", ["auto", "suggest"])
async def test_asked_about(answer: str, save_mode: str) -> None:
    """Nothing is quiet until its user has said so; then it is, in the place of a pin, undoably."""
    world = World(DIVORCE, script=[answer])
    settings = hook_settings(save_mode=save_mode)
    lesson = await world.lesson(WORDS, settings=settings, can_ask=True)
    assert [each.status for each in lesson.outcomes] == ["suggested"]
    assert world.store.rows["m-1"] == DIVORCE
    page, told = await offered(world, (1,))
    (question,) = page.dialog.asked
    assert question.title == "Is this what you want?"
    assert question.entries == ["Never bring up: User is divorced."]
    assert question.preset == 1
    assert told == "Not brought up any more: User is divorced."
    quiet = world.store.rows["m-1"]
    assert quiet.tags == ("relationship", "quiet")
    ada = world.memory()
    (step,) = await ada.steps()
    await ada.undo(step)
    assert world.store.rows["m-1"].tags == DIVORCE.tags


@pytest.mark.parametrize("declined", [(), None, (2,)])
async def test_declined(declined: Sequence[int] | None) -> None:
    """Who declines, or does not answer, is told nothing, and all stays as it is."""
    world = World(DIVORCE, script=[REPLIES[0]])
    await world.lesson(WORDS, can_ask=True)
    _, told = await offered(world, declined)
    assert "Not brought up" not in told
    assert world.store.rows["m-1"] == DIVORCE


async def test_quiet_already() -> None:
    """Of what is quiet already nobody is asked, and it is shown so that it is not learned twice."""
    quiet = replace(DIVORCE, tags=("relationship", "quiet"))
    again = {
        "operation": "NEW",
        "content": "User is divorced.",
        "evidence": ["I was divorced in May"],
    }
    world = World(quiet, script=[reply(WISH, again)])
    lesson = await world.lesson(WORDS, can_ask=True)
    assert [each.status for each in lesson.outcomes] == [
        "superseded",
        "unchanged",
    ]
    assert "User is divorced." in str(world.model.requests[0].earlier)
    assert await world.suggestions.left("ada") == ""


async def test_not_named() -> None:
    """A wish that the message does not bear out, or of no memory, is asked about by nobody."""
    unsaid = {**WISH, "evidence": ["never talk of it"]}
    other = {**WISH, "id": "m-9"}
    world = World(DIVORCE, script=[reply(unsaid, other)])
    words = "I moved to Porto with my cat and my aunt."
    lesson = await world.lesson(words, can_ask=True)
    assert {each.status for each in lesson.outcomes} == {"rejected"}
    assert await world.suggestions.left("ada") == ""


async def test_a_rejected_fact_can_be_quiet() -> None:
    """Who did not want a fact to be saved is asked all the same whether it is to be quiet."""
    world = World(DIVORCE, script=[REPLIES[0]])
    draft = replace(DIVORCE, tags=("relationship",))
    digest = suggestion_digest(draft_of(draft))
    await world.table.reject("ada", digest, 0)
    lesson = await world.lesson(WORDS, can_ask=True)
    assert [each.status for each in lesson.outcomes] == ["suggested"]
