"""Past conversation in a few sentences, by a model: finished topics, and what is too long to quote.

A topic is summarised so that it can be found again, what was retrieved against the question. The
model is asked once: a second try would mostly cost the user the rest of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive.clock import local_time
from adaptive.history.messages import PastMessage
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.prompts import render_prompt
from adaptive.llm.reply import read_object
from adaptive.messages import head_and_tail
from adaptive.model import Completion, CompletionRequest
from adaptive.ports import Completer
from adaptive.privacy.secrets import without_secrets
from adaptive.retry import RetryPolicy

HISTORY_SUMMARY_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
}
_LONGEST_QUESTION = 4000
_LONGEST_MESSAGE = 1000
_LONGEST_PAST = 48_000
_WORDS_PER_TOKEN = 0.6
_ONE_TRY = RetryPolicy(retries=0)


@dataclass(frozen=True, slots=True)
class HistorySummariser:
    """A model that summarises past conversation within ``deadline`` seconds.

    ``prompt`` replaces the built-in one unless it is empty. ``zone`` is the user's time zone.
    """

    completer: Completer
    formats: AnswerFormats
    deadline: float
    zone: str = ""
    prompt: str = ""

    async def summary(
        self, messages: Sequence[PastMessage], tokens: int, question: str = ""
    ) -> str:
        """What the messages say that the question needs, without one what they are about.

        It has about so many tokens and one line, no secrets, and is empty where there is nothing.

        Raises:
            ModelError: no usable reply in time.
        """
        words = str(max(int(tokens * _WORDS_PER_TOKEN), 20))
        prompt = render_prompt("summarise_history", self.prompt, {"words": words})
        request = history_summary_request(prompt, messages, question, self.zone)
        completion = await ask(self.completer, request, self.formats, _ONE_TRY, self.deadline)
        return without_secrets(read_history_summary(completion))


def history_summary_request(
    prompt: str, messages: Sequence[PastMessage], question: str = "", zone: str = ""
) -> CompletionRequest:
    """The question to the model; the messages come in the order in which they were said."""
    ordered = sorted(messages, key=lambda one: (one.said_at, one.role == "assistant"))
    lines = [
        f"- {local_time(one.said_at, zone).date().isoformat()} {one.role}: "
        f"{' '.join(head_and_tail(one.text, _LONGEST_MESSAGE).split())}"
        for one in ordered
    ]
    parts = ["## Past messages", head_and_tail("\n".join(lines), _LONGEST_PAST)]
    if question:
        asked = head_and_tail(question, _LONGEST_QUESTION)
        parts += ["", "## Newest message of the user", asked]
    return CompletionRequest(prompt, "\n".join(parts), "history_summary", HISTORY_SUMMARY_SCHEMA)


def read_history_summary(completion: Completion) -> str:
    """The summary in a model's reply, on one line.

    Raises:
        ReplyUnusable: there is none, or the reply was cut before its end.
    """
    found = read_object(completion, "summary", lambda item: isinstance(item.get("summary"), str))
    return " ".join(str(found["summary"]).split())
