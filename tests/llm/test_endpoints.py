"""Models outside the host, against a real server on loopback, and OpenAI's format."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive.core.model import with_detail
from adaptive.core.providers import (
    Completion,
    CompletionRequest,
    ModelRejected,
    ReplyUnusable,
)
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.endpoints import (
    OllamaCompleter,
    OpenAICompleter,
    chat_text,
    ollama_options,
)
from tests.loopback import Answer, Loopback
from tests.rates import over

SCHEMA = {"type": "object", "properties": {"operations": {"type": "array"}}}
REQUEST = CompletionRequest(
    "Be brief.", "Hello", "greeting", SCHEMA, max_tokens=50
)
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello"},
]

Endpoint = type[OpenAICompleter] | type[OllamaCompleter]


def said(content: Any, **choice: Any) -> dict[str, Any]:
    """A chat completion with one message."""
    return {
        "choices": [
            {"message": {"role": "assistant", "content": content}, **choice}
        ]
    }


async def test_openai(server: Loopback) -> None:
    """An endpoint gets the schema, the key and bounds, and its text and tokens come back."""
    usage = {"prompt_tokens": 7, "completion_tokens": 1}
    server.will_answer(
        Answer({**said("Hi", finish_reason="stop"), "usage": usage})
    )
    model = OpenAICompleter(f"{server.url}/v1/", "gpt", "secret")
    assert await model.complete(REQUEST, "json_schema") == Completion(
        "Hi", tokens=(7, 1)
    )
    (request,) = server.received
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == "Bearer secret"
    assert request.body == {
        "model": "gpt",
        "messages": MESSAGES,
        "stream": False,
        "temperature": 0,
        "max_tokens": 50,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "greeting", "schema": SCHEMA},
        },
    }


async def test_ollama(server: Loopback) -> None:
    """Ollama's own API gets the schema and no wish for thinking, and tells a cut answer."""
    reply = {
        "message": {"role": "assistant", "content": "Hi"},
        "prompt_eval_count": 7,
    }
    server.will_answer(
        Answer(reply),
        Answer({**reply, "done_reason": "length", "eval_count": 1}),
    )
    model = OllamaCompleter(server.url, "llama3")
    assert await model.complete(REQUEST, "json_schema") == Completion("Hi")
    assert await model.complete(REQUEST, "text") == Completion(
        "Hi", cut=True, tokens=(7, 1)
    )
    request = server.received[0]
    assert request.path == "/api/chat"
    assert "Authorization" not in request.headers
    assert request.body == {
        "model": "llama3",
        "messages": MESSAGES,
        "stream": False,
        "options": {"temperature": 0, "num_predict": 50},
        "think": False,
        "format": SCHEMA,
    }


@over("words, window", [(2000, None), (5000, 8192), (9000, 16384)])
def test_window_of_ollama(words: int, window: int | None) -> None:
    """A short prompt leaves the model as it is loaded; a long one gets a window that it fits in."""
    request = CompletionRequest("Be brief.", "abc " * words, "greeting")
    options = ollama_options(request, "limited_text")
    assert options.get("num_ctx") == window


@pytest.mark.parametrize("kind", [OpenAICompleter, OllamaCompleter])
@pytest.mark.parametrize(
    ("url", "model", "valve"),
    [
        (" ", "m", "llm_api_endpoint_url"),
        ("http://127.0.0.1", " ", "llm_model_name"),
    ],
)
async def test_empty_valve(
    kind: Endpoint, url: str, model: str, valve: str
) -> None:
    """An empty valve is named, and not tried again in another format."""
    with pytest.raises(ModelRejected, match=f"`{valve}` is empty"):
        await ask(
            kind(url, model), REQUEST, AnswerFormats(), 5, str, retries=3
        )


@over(
    "reply, completion",
    [
        (said("Hi"), Completion("Hi")),
        (said("Hi", finish_reason="length"), Completion("Hi", cut=True)),
        (
            said(
                [
                    {"type": "text", "text": "H"},
                    {"type": "image"},
                    {"text": "i"},
                ]
            ),
            Completion("Hi"),
        ),
        (
            {
                "choices": [
                    {"message": {"content": None, "reasoning_content": "Hi"}}
                ]
            },
            Completion("Hi", reasoned=True),
        ),
        ([said("Hi")], Completion("Hi")),
        ("Hi", Completion("Hi")),  # as pipes answer
    ],
)
def test_chat_text(reply: Any, completion: Completion) -> None:
    """The text is found wherever providers and pipes put it."""
    assert chat_text(reply) == completion


@over(
    "reply, reason",
    [
        (None, "be used"),
        ([said("a"), said("b")], "be used"),
        ({"choices": None}, "be used"),
        ({"choices": [{"message": "text"}]}, "be used"),
        ({"error": {"message": "no credits left"}}, "no credits left"),
    ],
)
def test_no_text(reply: Any, reason: str) -> None:
    """Anything else is told as unusable, with the provider's own words where there are some."""
    with pytest.raises(ReplyUnusable) as unusable:
        chat_text(reply)
    assert reason in with_detail(unusable.value)
