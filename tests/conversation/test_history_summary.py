"""Asking a model for what a question needs of the past."""

from __future__ import annotations

import asyncio

import pytest

from adaptive.conversation.history_summary import HistorySummariser, read_history_summary
from adaptive.errors import ModelBusy, ReplyUnusable
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Completion
from tests.conversation.history_world import START, said
from tests.fakes import ScriptedModel

FOUND = [said("b", "The Wolves!", "assistant", said_at=START + 1), said("a", "Which\nteam?")]


async def test_asked_in_order() -> None:
    """The model gets the messages in their order with dates and roles, and the question."""
    model = ScriptedModel('{"summary": "The  Wolves."}')
    summariser = HistorySummariser(model, AnswerFormats(), 5)
    assert await summariser.summary("Who was it?", FOUND, 500) == "The Wolves."
    request = model.requests[0]
    assert request.system.startswith("# Summarise history")
    assert "at most 300 words" in request.system
    assert "- 2023-11-14 user: Which team?\n- 2023-11-14 assistant: The Wolves!" in request.user
    assert request.user.endswith("Who was it?")


async def test_deadline() -> None:
    """A model that hangs is not waited for."""
    model = ScriptedModel("{}")
    model.gate = asyncio.Event()
    with pytest.raises(ModelBusy):
        await HistorySummariser(model, AnswerFormats(), 0.01).summary("Who?", FOUND, 500)


def test_replies() -> None:
    """The summary is found behind thinking and in a fence; it may be empty."""
    fenced = '<think>{"x": 1}</think>\n```json\n{"summary": "Yes {really}"}\n```'
    assert read_history_summary(Completion(fenced)) == "Yes {really}"
    assert read_history_summary(Completion('{"summary": ""}')) == ""
    for text in ("", "rubbish", '{"summary": 5}', '{"summary": "cut', "{" * 5000):
        with pytest.raises(ReplyUnusable):
            read_history_summary(Completion(text))
