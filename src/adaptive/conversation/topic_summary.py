"""A finished topic, summarised by a model so that it can be found again."""

from __future__ import annotations

from dataclasses import dataclass

from adaptive.clock import local_time
from adaptive.conversation.history_summary import HISTORY_SUMMARY_SCHEMA, read_history_summary
from adaptive.conversation.topics import Topic
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.prompts import render_prompt
from adaptive.messages import head_and_tail
from adaptive.model import CompletionRequest
from adaptive.ports import Completer
from adaptive.retry import RetryPolicy

# The prompt has the title of the other one that summarises the past, and asks for the same reply.
# A shorter topic is found by its messages themselves.
FEWEST_SUMMARISED = 4
_LONGEST_TOPIC_MESSAGE = 1000
_LONGEST_TOPIC = 24_000
_TOPIC_WORDS = "80"
_TOPIC_TRIES = RetryPolicy(retries=0)


@dataclass(frozen=True, slots=True)
class TopicSummariser:
    """A model that summarises topics within ``deadline`` seconds each."""

    completer: Completer
    formats: AnswerFormats
    deadline: float

    async def summary(self, topic: Topic, zone: str = "") -> str:
        """What a topic was about, on one line; empty where it was about nothing.

        Raises:
            ModelError: no usable reply in time.
        """
        request = topic_request(topic, zone)
        completion = await ask(self.completer, request, self.formats, _TOPIC_TRIES, self.deadline)
        return read_history_summary(completion)


def topic_request(topic: Topic, zone: str = "") -> CompletionRequest:
    """The question to the model: the topic's day, and its messages in their order, bounded."""
    day = local_time(topic.messages[0].said_at, zone).date().isoformat()
    lines = [
        f"- {one.role}: {' '.join(head_and_tail(one.text, _LONGEST_TOPIC_MESSAGE).split())}"
        for one in topic.messages
    ]
    told = head_and_tail("\n".join(lines), _LONGEST_TOPIC)
    prompt = render_prompt("summarise_topic", "", {"words": _TOPIC_WORDS})
    user = f"## Conversation of {day}\n{told}"
    return CompletionRequest(prompt, user, "topic_summary", HISTORY_SUMMARY_SCHEMA)
