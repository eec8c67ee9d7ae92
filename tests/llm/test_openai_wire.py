"""The OpenAI chat-completion format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from adaptive.core.errors import ReplyUnusable
from adaptive.core.model import Completion, CompletionRequest
from adaptive.llm.openai_wire import chat_body, chat_text
from tests.rates import over

REQUEST = CompletionRequest("Be brief.", "Hello", "greeting", {"type": "object"}, max_tokens=50)


def test_schema_body() -> None:
    """The strictest format carries the schema, and asks for a steady, bounded answer."""
    assert chat_body("m", REQUEST, "json_schema") == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
        ],
        "stream": False,
        "temperature": 0,
        "max_tokens": 50,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "greeting", "schema": {"type": "object"}},
        },
    }


def said(content: Any, **choice: Any) -> dict[str, Any]:
    """A chat completion with one message."""
    return {"choices": [{"message": {"role": "assistant", "content": content}, **choice}]}


@dataclass(frozen=True)
class Case:
    """A reply, and what the model said in it."""

    id: str
    reply: Any
    completion: Completion


CASES = [
    Case("text", said("Hi"), Completion("Hi")),
    Case("ended by itself", said("Hi", finish_reason="stop"), Completion("Hi")),
    Case("ended at the limit", said("Hi", finish_reason="length"), Completion("Hi", cut=True)),
    Case("parts", said([{"type": "text", "text": "H"}, {"text": "i"}]), Completion("Hi")),
    Case("parts without text", said([{"type": "image"}, {"text": "Hi"}]), Completion("Hi")),
    Case(
        "only reasoning",
        {"choices": [{"message": {"content": None, "reasoning_content": "Hi"}}]},
        Completion("Hi"),
    ),
    Case("list of one", [said("Hi")], Completion("Hi")),
    Case("bare text, as pipes answer", "Hi", Completion("Hi")),
    Case("error beside an answer", {**said("Hi"), "error": None}, Completion("Hi")),
]


@over("case", CASES)
def test_chat_text(case: Case) -> None:
    """The text is found wherever providers and pipes put it."""
    assert chat_text(case.reply) == case.completion


@over(
    "reply, reason",
    [
        (None, "is a NoneType"),
        (5, "is a int"),
        ([], "is a list"),
        ([said("a"), said("b")], "is a list"),
        ({}, "no message"),
        ({"choices": []}, "no message"),
        ({"choices": None}, "no message"),
        ({"choices": [None]}, "no message"),
        ({"choices": ["text"]}, "no message"),
        ({"choices": [{"delta": {}}]}, "no message"),
        ({"choices": [{"message": None}]}, "holds no text"),
        ({"choices": [{"message": "text"}]}, "holds no text"),
        (said(""), "holds no text"),
        (said(None), "holds no text"),
        (said([]), "holds no text"),
        (said(5), "holds no text"),
        ({"error": {"message": "overloaded"}}, "overloaded"),
        ({"error": "overloaded", "choices": []}, "overloaded"),
    ],
)
def test_no_text(reply: Any, reason: str) -> None:
    """Anything else is told as unusable, with the provider's own words where there are some."""
    with pytest.raises(ReplyUnusable, match=reason):
        chat_text(reply)
