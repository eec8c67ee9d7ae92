"""What is asked: the newest words, and those of a model where they come."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from fastapi import Request

from adaptive.host.hook import HostHook
from adaptive.recall.question import Complete, Question, completed, question_of
from adaptive.search.query import query_vectors
from tests.fakes import WordEmbedder, hook_settings

TEXT = "Remind me when that happened, please"
FULL = f"{TEXT}\nWhen did the user sail to the Azores?"


def says(text: str) -> Complete:
    """Somebody who says the question like this."""

    async def answered() -> str:
        return text

    return answered


@dataclass(frozen=True)
class Case:
    """What a model makes of it, how the provider fares, and what is embedded for it."""

    id: str
    text: str
    embedded: bool = True
    failing: bool = False
    hanging: bool = False
    asked: tuple[str, ...] = ()


CASES = [
    Case("no help", ""),
    Case("the same words", TEXT),
    Case("more words", FULL, asked=(FULL,)),
    Case("no vector in time", FULL, hanging=True, asked=(FULL,)),
    Case("the provider fails", FULL, failing=True, asked=(FULL,)),
    Case("no vectors at all", FULL, embedded=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_completed(case: Case) -> None:
    """The new text is embedded once where it differs; failing, it serves by its words."""
    embedder = WordEmbedder()
    first = await query_vectors(embedder, [TEXT, "before"], 30) if case.embedded else None
    embedder.queries.clear()
    embedder.failing = case.failing
    if case.hanging:
        embedder.gate.clear()
    question, patience = Question(TEXT, "before", "c"), 0 if case.hanging else 1
    changed, vectors = await completed(question, first, embedder, says(case.text), patience)
    assert changed == replace(question, text=case.text or TEXT)
    assert [text for call in embedder.queries for text in call] == list(case.asked)
    if first is None or not case.asked or case.failing or case.hanging:
        assert vectors is first
    else:
        assert vectors is not None
        assert np.array_equal(vectors[1], first[1])
        assert not np.array_equal(vectors[0], first[0])


def asked(*words: str, **metadata: Any) -> Question:
    """The question of a saved chat in which the user said this."""
    told = {"chat_id": "c", "session_id": "s", **metadata}
    request = Request({"type": "http", "headers": []})
    hook = HostHook(hook_settings(), {"id": "ada"}, told, request, None, None)
    return question_of(hook, [{"role": "user", "content": one} for one in words])


def test_question_of() -> None:
    """The newest message is asked, with the one before it; nothing is kept in place elsewhere."""
    found = asked("And then?")
    assert (found.text, found.previous, found.chat_id, found.first) == ("And then?", "", "c", True)
    found = asked("Hi", "And then?", session_id="")
    assert (found.previous, found.chat_id, found.first) == ("Hi", "", False)
    assert asked().text == ""


def test_answer_made_anew() -> None:
    """Where an answer is made anew, what it is about is the message, not how to change it."""
    told = {"regeneration_message_id": "a", "user_message": {"content": "What is my dog called?"}}
    assert asked("make it shorter", **told).text == "What is my dog called?"
