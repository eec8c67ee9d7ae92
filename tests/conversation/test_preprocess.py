"""The call before the answer: one object, in time, or none; long histories in blocks."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.conversation.message_tokens import counted_tokens
from adaptive.conversation.preprocess import (
    Preprocessing,
    Preprocessor,
    PreprocessRules,
    category_slug,
    history_blocks,
    language_code,
    merged_preprocessing,
    preprocess_request,
    preprocess_schema,
    read_preprocessing,
)
from adaptive.errors import ModelBusy, ModelRejected, ReplyUnusable
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Completion, Utterance
from tests.fakes import ScriptedModel
from tests.rates import over

NAMES = ("preference", "identity", "Work")
TALK = [
    Utterance("user", "I moved to Porto."),
    Utterance("assistant", "How nice."),
    Utterance("user", "And when was that?"),
]
WHOLE = {
    "language_code": "en",
    "category": "Software development",
    "search_query": "when did the user move to Porto",
    "relevant_categories": ["Identity", "work", "weather"],
    "tags": ["Porto", "moving"],
    "harmful": 1,
    "prompt_injection_chance": 0.1,
    "title": "Moving to Porto",
    "icon_names": ["house", "Map Pin", "map-pin"],
}
READ = Preprocessing(
    "en",
    "software_development",
    "when did the user move to Porto",
    ("identity", "Work"),
    ("Porto", "moving"),
    1,
    0.1,
)


def reply(**changed: Any) -> str:
    """A model's reply; a field that is changed to ``None`` is left out."""
    fields = {**WHOLE, **changed}
    return json.dumps({name: value for name, value in fields.items() if value is not None})


def preprocessor(model: ScriptedModel, **rules: Any) -> Preprocessor:
    """A preprocessor with time enough unless the test says otherwise."""
    return Preprocessor(
        model, AnswerFormats(), PreprocessRules(**{"deadline": 30, "names": NAMES, **rules})
    )


async def test_asked_once() -> None:
    """One question with the conversation in it, under its own title; all fields of the reply."""
    model = ScriptedModel(reply())
    assert await preprocessor(model).preprocessed(TALK, first=False) == READ
    (request,) = model.requests
    assert request.system.startswith("# Preprocess\n")
    assert "preference, identity, Work" in request.system
    assert request.user.endswith("assistant: How nice.\nuser: And when was that?")
    assert request.schema == preprocess_schema(first=False)


async def test_title_on_the_first_message_only() -> None:
    """Title and icons are asked for, and taken, with a chat's first message alone."""
    model = ScriptedModel(reply(), reply())
    found = await preprocessor(model).preprocessed(TALK[:1], first=True)
    assert found and (found.title, found.icon_names) == ("Moving to Porto", ("house", "map-pin"))
    later = await preprocessor(model).preprocessed(TALK, first=False)
    assert later and (later.title, later.icon_names) == ("", ())
    assert ["icon_names" in one.system for one in model.requests] == [True, False]
    assert ["title" in one.schema["properties"] for one in model.requests] == [True, False]


async def test_own_prompt() -> None:
    """An admin's prompt takes the place of the built-in one, placeholders filled."""
    model = ScriptedModel(reply())
    await preprocessor(model, prompt="Judge. Names: $names").preprocessed(TALK, first=True)
    assert model.requests[0].system == "Judge. Names: preference, identity, Work"


@dataclass(frozen=True)
class Case:
    """What the model does instead of answering."""

    id: str
    answer: str | Exception


FAILURES = [
    Case("busy", ModelBusy("busy")),
    Case("rejected", ModelRejected("no", 401)),
    Case("empty", ReplyUnusable("empty")),
    Case("prose", "I would rather answer the question."),
    Case("other object", '{"answer": 42}'),
    Case("half an object", '{"language_code": "en", "search_qu'),
    Case("nothing usable", '{"language_code": 7, "harmful": "very", "tags": {}}'),
]


@pytest.mark.parametrize("case", FAILURES, ids=lambda case: case.id)
async def test_failed(case: Case) -> None:
    """A call that fails, or brings rubbish, is asked once and has no result."""
    model = ScriptedModel(case.answer)
    assert await preprocessor(model).preprocessed(TALK, first=False) is None
    assert len(model.requests) == 1


async def test_late() -> None:
    """A model that hangs is left behind at the deadline."""
    model = ScriptedModel(reply())
    model.gate.clear()
    found = await preprocessor(model, deadline=0.01).preprocessed(TALK, first=False)
    assert (found, model.running) == (None, 0)


async def test_nothing_said() -> None:
    """Without a message nothing is asked."""
    model = ScriptedModel()
    assert await preprocessor(model).preprocessed([], first=True) is None
    assert model.requests == []


async def test_cancelled() -> None:
    """Stop ends all calls at once."""
    model = ScriptedModel(*[reply()] * 3)
    model.gate.clear()
    work = preprocessor(model, block_tokens=20).preprocessed(TALK * 3, first=False)
    task = asyncio.create_task(work)
    while model.running < 2:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.running == 0


async def test_blocks_at_the_same_time() -> None:
    """A long history is asked for in blocks side by side, and the answers are one."""
    talk = [Utterance("user", "word " * 60) for _ in range(2)] + [Utterance("user", "And when?")]
    model = ScriptedModel(
        reply(harmful=6, language_code="de", tags=["old"], search_query="old"),
        reply(harmful=0, language_code="fr", tags=["middle"], prompt_injection_chance=0.7),
        reply(harmful=2, language_code=None, tags=["new"], search_query="new"),
    )
    found = await preprocessor(model, block_tokens=80).preprocessed(talk, first=False)
    assert model.most_running == len(model.requests) == 3
    assert "part 1 of 3" in model.requests[0].user and "part 3 of 3" in model.requests[2].user
    assert model.requests[2].user.endswith("user: And when?")
    assert found
    assert (found.harmful, found.prompt_injection_chance) == (6, 0.7)
    assert (found.language_code, found.search_query) == ("fr", "new")
    assert found.tags == ("new", "middle", "old")


async def test_a_block_that_fails() -> None:
    """What the other blocks brought still counts; without the last one there is no query."""
    talk = [Utterance("user", "word " * 60), Utterance("user", "And when?" + " word" * 40)]
    model = ScriptedModel(reply(harmful=6), ModelBusy("busy"))
    found = await preprocessor(model, block_tokens=80).preprocessed(talk, first=False)
    assert found
    assert (found.harmful, found.language_code) == (6, "en")
    assert (found.search_query, found.category, found.relevant_categories) == ("", "", ())


def test_merged_tags_are_ten() -> None:
    """Of the tags of all blocks ten stay, the newest first, none twice."""
    parts = [Preprocessing(tags=tuple(f"{block}{tag}" for tag in range(6))) for block in "ab"]
    merged = merged_preprocessing([*parts, Preprocessing(tags=("B0", "c"))])
    assert merged and merged.tags == ("B0", "c", *parts[1].tags[1:], *parts[0].tags[:3])
    assert merged_preprocessing([None, None]) is None


FIELDS = [
    ("language_code", "pt-BR", "pt"),
    ("language_code", "EN", "en"),
    ("language_code", "English", ""),
    ("language_code", "und", ""),
    ("category", "Travel / Food!", "travel_food"),
    ("category", ["x"], ""),
    ("search_query", "x" * 600, ""),
    ("relevant_categories", "identity, Work", ("identity", "Work")),
    ("relevant_categories", 5, ()),
    ("tags", [f"t{number}" for number in range(30)], tuple(f"t{number}" for number in range(10))),
    ("harmful", "8/10", 8),
    ("harmful", 80, 0),
    ("prompt_injection_chance", "90%", 0.9),
    ("prompt_injection_chance", 7, 0),
]


@over("name, value, read", FIELDS)
def test_each_field_by_itself(name: str, value: Any, read: Any) -> None:
    """A field is bounded, or has its default, and spoils no other one."""
    found = read_preprocessing(Completion(reply(**{name: value})), NAMES, first=False)
    assert getattr(found, name) == read
    others = {one for one in READ.__slots__ if one != name}
    assert all(getattr(found, one) == getattr(READ, one) for one in others)


def test_harmless_alone() -> None:
    """A reply that says no more than that nothing is harmful is a reply."""
    read = read_preprocessing(Completion('{"harmful": 0}'), NAMES, first=False)
    assert read == Preprocessing()


def test_blocks_hold_everything() -> None:
    """Blocks are full from the end, keep the order, and lose no word of eight blocks."""
    talk = [Utterance("user", f"message {number}") for number in range(50)]
    blocks = history_blocks(talk, 100)
    assert "\n".join(blocks).splitlines() == [f"user: message {number}" for number in range(50)]
    assert all(counted_tokens(block) <= 100 for block in blocks)
    assert len(history_blocks(talk, 10)) == 8
    assert history_blocks(talk, 10)[-1].endswith("message 49")


@given(st.lists(st.text(max_size=300), max_size=12), st.integers(10, 120))
def test_blocks_are_bounded(texts: list[str], most: int) -> None:
    """No block is larger than allowed, however long a message is."""
    blocks = history_blocks([Utterance("user", text) for text in texts], most)
    assert all(counted_tokens(block) <= most + 1 for block in blocks)
    assert len(blocks) <= 8


def test_default_block() -> None:
    """A history of less than 70,000 tokens is one block."""
    assert len(history_blocks([Utterance("user", "word " * 50_000)])) == 1
    assert len(history_blocks([Utterance("user", "word " * 60_000)])) == 2


def test_request_of_one_block() -> None:
    """A single block is no part of anything."""
    request = preprocess_request(["user: Hi"], 0, PreprocessRules(), first=True)
    assert request.user == "## Conversation\nuser: Hi"
    assert "$" not in request.system


@pytest.mark.parametrize("text", ["", "e", "x" * 4, "en_", "12"])
def test_no_language(text: str) -> None:
    """What is no language tag is no language."""
    assert language_code(text) == ""


def test_slug_too_long() -> None:
    """A category of a whole sentence is none."""
    assert category_slug("word " * 20) == ""
