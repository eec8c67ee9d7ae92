"""Asking a model for what a question needs of the past."""

from __future__ import annotations

import asyncio

import pytest

from adaptive.errors import ModelBusy, ReplyUnusable
from adaptive.history.summaries import HistorySummariser, read_history_summary
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Completion
from tests.fakes import ScriptedModel
from tests.history.world import START, said

FOUND = [said("b", "The Wolves!", "assistant", said_at=START + 1), said("a", "Which\nteam?")]


async def test_asked_in_order() -> None:
    """The model gets the messages in their order with dates and roles, and the question."""
    model = ScriptedModel('{"summary": "The  Wolves."}', '{"summary": "A team."}')
    summariser = HistorySummariser(model, AnswerFormats(), 5)
    assert await summariser.summary(FOUND, 500, "Who was it?") == "The Wolves."
    request = model.requests[0]
    assert request.system.startswith("# Summarise history")
    assert "at most 300 words" in request.system
    assert "- 2023-11-14 user: Which team?\n- 2023-11-14 assistant: The Wolves!" in request.user
    assert request.user.endswith("## Newest message of the user\nWho was it?")
    await summariser.summary(FOUND, 500)
    assert "Newest message" not in model.requests[1].user


async def test_bounded() -> None:
    """Of a very long past the model gets its beginning and its end, each message cut."""
    model = ScriptedModel('{"summary": ""}')
    past = [said(str(at), f"message {at} " + "word " * 900) for at in range(400)]
    assert await HistorySummariser(model, AnswerFormats(), 5).summary(past, 140) == ""
    asked = model.requests[0].user
    assert len(asked) < 50_000
    assert "message 0 " in asked
    assert "message 399" in asked


async def test_deadline() -> None:
    """A model that hangs is not waited for."""
    model = ScriptedModel("{}")
    model.gate = asyncio.Event()
    with pytest.raises(ModelBusy):
        await HistorySummariser(model, AnswerFormats(), 0.01).summary(FOUND, 500, "Who?")


def test_replies() -> None:
    """The summary is found behind thinking and in a fence; it may be empty."""
    fenced = '<think>{"x": 1}</think>\n```json\n{"summary": "Yes {really}"}\n```'
    assert read_history_summary(Completion(fenced)) == "Yes {really}"
    assert read_history_summary(Completion('{"summary": ""}')) == ""
    for text in ("", "rubbish", '{"summary": 5}', '{"summary": "cut', "{" * 5000):
        with pytest.raises(ReplyUnusable):
            read_history_summary(Completion(text))
