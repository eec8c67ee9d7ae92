"""Summaries of topics: from whom they come, and that two workers don't ask for the same one."""

from __future__ import annotations

import json

import pytest
from fastapi import FastAPI, Request

from adaptive.conversation.topics import Topic
from adaptive.conversation_ports import ChatNotes, PastMessage
from adaptive.errors import LeaseLost, TablesUnavailable
from adaptive.host.hook import Hook
from adaptive.llm.ask import AnswerFormats
from adaptive.topic_summaries import TopicSummaries
from tests.fakes import ScriptedModel, hook_settings
from tests.learn.storerooms import HeldLeases

SUMMARY = "A boat was bought."
SAID = tuple(
    PastMessage(f"m-{number}", "c", "user", f"My boat is called Freya {number}.", number)
    for number in range(4)
)
TOPIC = Topic(SAID, closed=True)


class Noted:
    """Notes of which only the summary is read."""

    def __init__(self, summary: str = "") -> None:
        self.summary = summary

    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """The summary."""
        return ChatNotes(summary=self.summary)

    async def write(self, user_id: str, chat_id: str, notes: ChatNotes, now: int) -> None:
        """Not used."""

    async def all(self, user_id: str, limit: int) -> tuple[tuple[str, ChatNotes, int], ...]:
        """Not used."""
        return ()

    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """Not used."""
        return 0


class Loads:
    """Loads of the plug-in that share a model and a table of leases."""

    def __init__(self, noted: str = "") -> None:
        self.model = ScriptedModel(*[json.dumps({"summary": SUMMARY})] * 3)
        self.leases, self.notes = HeldLeases(), Noted(noted)

    def load(self, owner: str) -> TopicSummaries:
        """One of them."""
        request = Request({"type": "http", "headers": [], "app": FastAPI()})
        hook = Hook(hook_settings(), {"id": "ada"}, {}, request, None, None)
        formats = AnswerFormats()
        return TopicSummaries(
            hook, request, self._completer, self.notes, formats, self.leases, owner
        )

    async def _completer(self) -> ScriptedModel:
        return self.model


async def test_one_load_asks() -> None:
    """While one load of the plug-in summarises a user's topics, another one asks no model."""
    loads = Loads()
    first, second = loads.load("first"), loads.load("second")
    assert SUMMARY in await first.of_topic(TOPIC, alone=False)
    with pytest.raises(LeaseLost):
        await second.of_topic(TOPIC, alone=False)
    assert len(loads.model.requests) == 1
    assert SUMMARY in await first.of_topic(TOPIC, alone=False)
    assert list(loads.leases.rows) == ["topics:ada"]


async def test_noted_chat() -> None:
    """A chat of one topic has its own summary, for which nobody needs a lease or a model."""
    loads = Loads("They spoke.")
    assert await loads.load("first").of_topic(TOPIC, alone=True) == "They spoke."
    assert (loads.model.requests, loads.leases.rows) == ([], {})


async def test_no_leases() -> None:
    """Where no table can be had, topics are summarised all the same."""
    loads = Loads()

    async def unavailable(*_: object) -> bool:
        raise TablesUnavailable("no table can be created")

    loads.leases.acquire = unavailable  # type: ignore[method-assign]
    assert SUMMARY in await loads.load("first").of_topic(TOPIC, alone=False)
