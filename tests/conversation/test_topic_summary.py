"""Finished topics, summarised by a model."""

from __future__ import annotations

import pytest

from adaptive.conversation.topic_summary import TopicSummariser, topic_request
from adaptive.conversation.topics import topics_of
from adaptive.errors import ReplyUnusable
from adaptive.llm.ask import AnswerFormats
from tests.conversation.history_world import DAY, START, said
from tests.fakes import ScriptedModel

TOPIC = topics_of([said("a", "Which\nteam?"), said("b", "The Wolves!", "assistant")], START + DAY)[
    0
]


def test_request() -> None:
    """The model is shown the day and the messages with their roles, each on a line, bounded."""
    request = topic_request(TOPIC)
    assert request.system.startswith("# Summarise history\n")
    assert request.user.endswith("2023-11-14\n- user: Which team?\n- assistant: The Wolves!")
    long = topics_of([said(str(at), "x " * 2000) for at in range(300)], START)[0]
    assert len(topic_request(long).user) < 25_000


async def test_summary() -> None:
    """The summary is one line; a reply without one is an error."""
    model = ScriptedModel('{"summary": "A team\\nfor the user."}', "nothing")
    summariser = TopicSummariser(model, AnswerFormats(), 5)
    assert await summariser.summary(TOPIC) == "A team for the user."
    with pytest.raises(ReplyUnusable):
        await summariser.summary(TOPIC)
