"""Tokens that a provider counts, read from its replies; what is no count counts as absent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adaptive.llm.openai_wire import chat_text, token_usage
from adaptive.model import TokenUsage
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """The ``usage`` of a reply, and what is read from it."""

    id: str
    told: Any
    read: TokenUsage | None


CASES = [
    Case("told", {"prompt_tokens": 70, "completion_tokens": 8}, TokenUsage(70, 8)),
    Case("nothing sent", {"prompt_tokens": 0, "completion_tokens": 8}, TokenUsage(0, 8)),
    Case("absent", None, None),
    Case("a list", [70, 8], None),
    Case("a half", {"prompt_tokens": 70}, None),
    Case("texts", {"prompt_tokens": "70", "completion_tokens": "8"}, None),
    Case("below zero", {"prompt_tokens": -1, "completion_tokens": 8}, None),
]


@over("case", CASES)
def test_usage_of_a_reply(case: Case) -> None:
    """The provider's counts come with the text, and a strange one spoils nothing."""
    reply = {"choices": [{"message": {"content": "Hi"}}], "usage": case.told}
    completion = chat_text(reply)
    assert (completion.text, completion.usage) == ("Hi", case.read)


def test_usage_of_ollama() -> None:
    """Ollama leaves out the count of a prompt that it had in its cache: then both are estimated."""
    assert token_usage(None, 8) is None
    assert token_usage(70, 8) == TokenUsage(70, 8)
