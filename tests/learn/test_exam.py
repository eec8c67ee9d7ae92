"""The exam of a model that learns: its questions can be answered, and its verdict is right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from unittest.mock import AsyncMock

import pytest

from adaptive.core.providers import ModelBusy
from adaptive.core.texts import titled_parts
from adaptive.learn import exam
from adaptive.learn.exam import (
    ExamQuestion,
    exam_questions,
    examination,
    is_good_enough,
)
from tests.learn.world import World, reply
from tests.rates import over

LANGUAGES = [*titled_parts("exam")]


def right_answer(question: ExamQuestion) -> dict[str, Any]:
    """What a model says that copies the part of the message that tells something."""
    parts = re.split(r"(?<=[.?!。？،])\s*", question.message)
    said = next(
        part
        for part in parts
        if question.spellings[0].casefold() in part.casefold()
    )
    answer = {"operation": "NEW", "content": said, "evidence": said}
    if question.memory:
        answer |= {"operation": "UPDATE", "id": "exam"}
    return answer


async def examined(
    script: Sequence[Any], language: str = "en-US"
) -> tuple[str, str, list[str]]:
    """The verdict on a model with a script, and what the page was told meanwhile."""
    world = World(script=script)
    shown = list[str]()

    async def tell(line: str) -> None:
        shown.append(line)

    level, found = await examination(
        AsyncMock(return_value=world.resources()), language, tell
    )
    assert (world.contents, world.audit.entries) == ([], [])
    return level, found, shown


@over("language", LANGUAGES)
async def test_right_answers(language: str) -> None:
    """Each question can be answered, in every language, the user's own before English."""
    questions = exam_questions(f"{language}-XX")
    assert len(questions) == 6
    assert any(question.memory for question in questions)
    own = titled_parts("exam")[language]
    assert all(question.message in own for question in questions[:3])
    script = [reply(right_answer(question)) for question in questions]
    level, found, shown = await examined(script, language)
    assert found == "6 of 6 facts learned, 0 invented, 0 s each"
    assert level == "ok"
    assert shown[-1] == "The model is examined: message 6 of 6"


@over("language", ["", "tlh", "EN"])
def test_unknown_language(language: str) -> None:
    """Who has a page in a language of which there are no questions is asked in English."""
    assert exam_questions(language) == exam_questions("en-GB")


async def test_poor_model() -> None:
    """What is invented and stands, and what is left out, tell against a model; prose is no fact."""
    questions = exam_questions("en")
    said = questions[1].message
    wrong = {"operation": "NEW", "content": "User is a vet.", "evidence": said}
    stranger = {
        "operation": "NEW",
        "content": "Cats need more water.",
        "evidence": "cats need more water",
    }
    script = [
        reply(right_answer(questions[0])),
        reply(wrong, stranger),
        *["Take honey, and see a doctor."] * 4,
        *[reply()] * 3,
    ]
    level, found, _ = await examined(script)
    assert level == "note"
    assert re.match(r"1 of 6 facts learned, \d invented, ", found)
    assert "choose another model" in found


@pytest.mark.usefixtures("no_pauses")
async def test_model_that_fails() -> None:
    """A model that does not answer ends the exam at once, with its reason."""
    busy = ModelBusy("the provider is down", detail="http://10.0.0.1")
    level, found, _ = await examined([busy] * 3)
    assert (level, found) == ("problem", "the provider is down")
    first = reply(right_answer(exam_questions("en")[0]))
    level, found, _ = await examined([first, *[busy] * 3])
    assert found.startswith("1 of 1 facts learned, 0 invented")
    assert "; the provider is down; choose another model" in found
    assert level == "note"


async def test_slow_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is too slow is examined for a bounded time."""
    monkeypatch.setattr(exam, "_MOST_SECONDS", 0.05)
    world = World(script=[reply()])
    world.model.gate.clear()

    async def tell(_: str) -> None:
        """Nobody listens."""

    level, found = await examination(
        AsyncMock(return_value=world.resources()), "", tell
    )
    assert (level, found) == ("problem", "it took too long")


def test_verdict() -> None:
    """Two thirds are enough, with one invention at most."""
    assert is_good_enough(4, 1)
    assert not is_good_enough(3, 0)
    assert not is_good_enough(6, 2)
