"""The call after the answer: notes of the chat without memories, what may come next, and facts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from adaptive.conversation.chat_notes import categorised_notes
from adaptive.conversation.postprocess import (
    AnsweredTurn,
    Postprocessing,
    Postprocessor,
    PostprocessRules,
    read_postprocessing,
)
from adaptive.conversation.preprocess import Preprocessing
from adaptive.conversation_ports import ChatNotes
from adaptive.errors import ModelBusy, ModelRejected, ReplyUnusable
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Completion, Draft, Operation
from tests.fakes import ScriptedModel, memory

NOTES = ChatNotes("travel", "The user plans a holiday.", ("holiday",))
TURN = AnsweredTurn(
    "Can you recommend a vet for my cat?",
    "Ask at the clinic by the river.",
    NOTES,
    (memory("a", "User lives in Porto and is allergic to peanuts."),),
)
RULES = PostprocessRules(deadline=30, names=("identity", "Work"), default_bank="General")
WHOLE = {
    "chat_summary": "The user plans a holiday. The user asked for a vet for a cat.",
    "chat_tags": ["holiday", "vet"],
    "harmful_response": 1,
    "follow_up_suggestions": ["What does it cost?"],
    "new_chat_suggestions": ["How do I feed a cat?"],
    "new_learnings": ["User has a cat."],
    "relevant_memory_categories": ["Identity", "weather"],
}


def reply(**changed: Any) -> Completion:
    """A model's reply with other values; ``None`` leaves a field out."""
    fields = {name: value for name, value in {**WHOLE, **changed}.items() if value is not None}
    return Completion(json.dumps(fields))


def read(turn: AnsweredTurn = TURN, **changed: Any) -> Postprocessing:
    """What is read of it."""
    return read_postprocessing(reply(**changed), turn, RULES)


async def test_asked_once() -> None:
    """One question with summary, tags, message and answer, and no memory; then all its fields."""
    model = ScriptedModel(reply())
    found = await Postprocessor(model, AnswerFormats(), RULES).postprocessed(TURN)
    assert found == Postprocessing(
        ChatNotes("travel", WHOLE["chat_summary"], ("holiday", "vet")),
        1,
        ("What does it cost?",),
        ("How do I feed a cat?",),
        (Operation("NEW", draft=Draft("User has a cat.", bank="General")),),
        ("identity",),
    )
    (request,) = model.requests
    assert request.system.startswith("# Postprocess\n")
    assert "$" not in request.system
    for part in (NOTES.summary, "holiday", TURN.words, TURN.answer):
        assert part in request.user
    assert "peanuts" not in request.user


@pytest.mark.parametrize(
    "answers",
    [
        [ModelRejected("no", 401)],
        [ReplyUnusable("empty")],
        ["No."],
        ['{"chat_summary": "The us'],
    ],
    ids=["rejected", "empty", "prose", "half"],
)
async def test_failed(answers: list[Any]) -> None:
    """A call that fails or brings rubbish has no result."""
    model = ScriptedModel(*answers)
    assert await Postprocessor(model, AnswerFormats(), RULES).postprocessed(TURN) is None


async def test_late() -> None:
    """A model that hangs is left behind at the deadline, tries included."""
    model = ScriptedModel(ModelBusy("busy"), reply())
    rules = replace(RULES, deadline=0.01)
    assert await Postprocessor(model, AnswerFormats(), rules).postprocessed(TURN) is None
    assert len(model.requests) == 1


LEAKS = [
    "The user lives in Porto and is allergic to peanuts.",
    "The user, who is allergic to peanuts, asked for a vet.",
    "The assistant named clinics in Porto.",
    "Allergic to peanuts, living in Porto.",
]


@pytest.mark.parametrize("leak", LEAKS)
def test_memories_stay_out(leak: str) -> None:
    """A sentence that tells an injected memory is left out of the summary, the others stay."""
    found = read(chat_summary=f"The user asked for a vet for a cat. {leak}")
    assert found.notes.summary == "The user asked for a vet for a cat."
    assert read(chat_summary=leak).notes.summary == NOTES.summary


def test_memories_stay_out_of_tags() -> None:
    """So is a tag."""
    assert read(chat_tags=["vet", "Porto", "peanut allergy"]).notes.tags == ("vet",)
    assert read(chat_tags=["Porto"]).notes.tags == NOTES.tags


def test_what_was_said_here_is_no_secret() -> None:
    """What the user said in this chat, now or before, may stand in its notes."""
    words = "I live in Porto and I am allergic to peanuts. Where do I eat?"
    said = replace(TURN, words=words)
    summary = "The user lives in Porto and is allergic to peanuts."
    assert read(said, chat_summary=summary).notes.summary == summary
    before = replace(TURN, notes=ChatNotes("", summary, ()))
    assert read(before, chat_summary=summary).notes.summary == summary


@pytest.mark.parametrize("value", [None, 7, "", "x" * 1001, "<2 or 3 sentences>"])
def test_former_notes_stay(value: Any) -> None:
    """Without a usable summary or tag the former ones stay."""
    found = read(chat_summary=value, chat_tags=value)
    assert found.notes.summary == NOTES.summary
    assert found.notes.tags == NOTES.tags


def test_bounds() -> None:
    """Tags are ten, suggestions six, facts ten, of a bounded length."""
    many = [f"entry {number}" for number in range(30)]
    found = read(
        chat_tags=many, follow_up_suggestions=many, new_chat_suggestions=many, new_learnings=many
    )
    assert len(found.notes.tags) == len(found.new_learnings) == 10
    assert len(found.follow_ups) == len(found.new_chat_suggestions) == 6
    assert read(follow_up_suggestions=["x" * 300, "Why?"]).follow_ups == ("Why?",)


@pytest.mark.parametrize(
    "value",
    [["User has a cat."], "User has a cat.", [{"content": "User has a cat."}, 7, {"x": 1}, None]],
    ids=["list", "text", "objects"],
)
def test_learnings(value: Any) -> None:
    """Facts come as sentences or as objects with a content."""
    assert [one.draft.content for one in read(new_learnings=value).new_learnings] == [
        "User has a cat."
    ]


def test_flag() -> None:
    """Only a plainly harmful answer is flagged."""
    assert [bool(read(harmful_response=one).flag()) for one in (0, 7, 8, "9/10", 90)] == [
        False,
        False,
        True,
        True,
        False,
    ]


def test_category_is_kept() -> None:
    """The category of the first message is noted once and for all."""
    first = categorised_notes(ChatNotes(), Preprocessing(category="travel", tags=("sea",)))
    assert (first.category, first.tags) == ("travel", ("sea",))
    assert categorised_notes(first, Preprocessing(category="food", tags=("tea",))) == first
    assert categorised_notes(first, None) == first
