"""Past conversation that exceeds its budget, summarised against the question by a model."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive.clock import local_time
from adaptive.conversation_ports import PastMessage
from adaptive.errors import ReplyUnusable
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.prompts import render_prompt
from adaptive.messages import head_and_tail
from adaptive.model import Completion, CompletionRequest
from adaptive.ports import Completer
from adaptive.retry import RetryPolicy
from adaptive.shapes import mapping

HISTORY_SUMMARY_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
}
_LONGEST_QUESTION = 4000
_LONGEST_PAST_MESSAGE = 1500
_WORDS_PER_TOKEN = 0.6
_MOST_REPLY_OBJECTS = 50
# A second try would mostly cost the user the rest of the time.
_ONE_SUMMARY_TRY = RetryPolicy(retries=0)


@dataclass(frozen=True, slots=True)
class HistorySummariser:
    """A model that summarises past conversation within ``deadline`` seconds.

    ``prompt`` replaces the built-in one unless it is empty.
    """

    completer: Completer
    formats: AnswerFormats
    deadline: float
    prompt: str = ""

    async def summary(
        self, question: str, found: Sequence[PastMessage], tokens: int, zone: str = ""
    ) -> str:
        """What the messages say that the question needs, in about so many tokens; may be empty.

        Raises:
            ModelError: no usable reply in time.
        """
        words = str(max(int(tokens * _WORDS_PER_TOKEN), 20))
        prompt = render_prompt("summarise_history", self.prompt, {"words": words})
        request = history_summary_request(prompt, question, found, zone)
        completion = await ask(
            self.completer, request, self.formats, _ONE_SUMMARY_TRY, self.deadline
        )
        return read_history_summary(completion)


def history_summary_request(
    prompt: str, question: str, found: Sequence[PastMessage], zone: str = ""
) -> CompletionRequest:
    """The question to the model; the messages come in the order in which they were said."""
    ordered = sorted(found, key=lambda one: (one.said_at, one.role == "assistant"))
    lines = [
        f"- {local_time(one.said_at, zone).date().isoformat()} {one.role}: "
        f"{' '.join(head_and_tail(one.text, _LONGEST_PAST_MESSAGE).split())}"
        for one in ordered
    ]
    sections = [
        "## Past messages\n" + "\n".join(lines),
        "## Newest message of the user\n" + head_and_tail(question, _LONGEST_QUESTION),
    ]
    return CompletionRequest(
        prompt, "\n\n".join(sections), "history_summary", HISTORY_SUMMARY_SCHEMA
    )


def read_history_summary(completion: Completion) -> str:
    """The last summary in a model's reply, on one line.

    Raises:
        ReplyUnusable: there is none, or the reply was cut before its end.
    """
    said: str | None = None
    position = 0
    for _ in itertools.repeat(None, _MOST_REPLY_OBJECTS):
        position = completion.text.find("{", position)
        if position < 0:
            break
        try:
            value, position = json.JSONDecoder().raw_decode(completion.text, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        text = mapping(value).get("summary")
        said = text if isinstance(text, str) else said
    if said is None:
        raise ReplyUnusable("the model's reply holds no summary of past conversation")
    return " ".join(said.split())
