"""Models outside the host, against a real server on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adaptive.core.errors import ModelBusy, ModelRejected, ReplyUnusable
from adaptive.core.http import RetryPolicy
from adaptive.core.model import Completion, CompletionRequest
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from tests.loopback import Answer, Loopback, serving

SCHEMA = {"type": "object", "properties": {"operations": {"type": "array"}}}
REQUEST = CompletionRequest("Be brief.", "Hello", "greeting", SCHEMA, max_tokens=50)
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
NOW = 1_700_000_000.0

Endpoint = type[OpenAICompleter] | type[OllamaCompleter]
BOTH = pytest.mark.parametrize("kind", [OpenAICompleter, OllamaCompleter])


@pytest.fixture
async def server() -> AsyncIterator[Loopback]:
    """A server whose answers the test chooses."""
    async with serving() as loopback:
        yield loopback


def openai_reply(text: str, finish_reason: str = "stop") -> Answer:
    """An answer as OpenAI gives it."""
    message = {"role": "assistant", "content": text}
    return Answer({"choices": [{"message": message, "finish_reason": finish_reason}]})


def ollama_reply(text: str, **fields: Any) -> Answer:
    """An answer as Ollama gives it."""
    return Answer({"message": {"role": "assistant", "content": text}, "done": True, **fields})


async def test_openai(server: Loopback) -> None:
    """An OpenAI-compatible endpoint gets the schema and the key, and its text comes back."""
    server.will_answer(openai_reply("Hi"))
    model = OpenAICompleter(f"{server.url}/v1/", "gpt", "secret")
    assert await model.complete(REQUEST, "json_schema") == Completion("Hi")
    (request,) = server.received
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == "Bearer secret"
    assert request.body["model"] == "gpt"
    assert request.body["messages"] == MESSAGES
    assert request.body["response_format"]["json_schema"]["schema"] == SCHEMA


async def test_openai_error_in_a_success(server: Loopback) -> None:
    """An error that arrives as a success, as OpenRouter sends it, is told in its own words."""
    server.will_answer(Answer({"error": {"message": "no credits left", "code": 402}}))
    with pytest.raises(ReplyUnusable, match="no credits left"):
        await OpenAICompleter(server.url, "gpt").complete(REQUEST, "text")


async def test_ollama(server: Loopback) -> None:
    """Ollama's own API gets the options that keep it from cutting the prompt silently."""
    server.will_answer(ollama_reply("Hi"))
    model = OllamaCompleter(server.url, "llama3")
    assert await model.complete(REQUEST, "json_schema") == Completion("Hi")
    (request,) = server.received
    assert request.path == "/api/chat"
    assert "Authorization" not in request.headers
    assert request.body == {
        "model": "llama3",
        "messages": MESSAGES,
        "stream": False,
        "options": {"temperature": 0, "num_predict": 50, "num_ctx": 16384},
        "format": SCHEMA,
    }


async def test_ollama_cut(server: Loopback) -> None:
    """An answer that ended at Ollama's limit says so."""
    server.will_answer(ollama_reply("Hi", done_reason="length"))
    model = OllamaCompleter(server.url, "llama3")
    assert await model.complete(REQUEST, "text") == Completion("Hi", cut=True)


@BOTH
async def test_failures(server: Loopback, kind: Endpoint) -> None:
    """Statuses, a closed connection and a page instead of JSON become errors of ours."""
    model = kind(server.url, "m")
    server.will_answer(
        Answer({"error": "bad key"}, 401), Answer(status=503), Answer(hangs_up=True), Answer(b"<p>")
    )
    for error, text in (
        (ModelRejected, "HTTP 401.*bad key"),
        (ModelBusy, "HTTP 503"),
        (ModelBusy, "no answer"),
        (ReplyUnusable, "no JSON"),
    ):
        with pytest.raises(error, match=text):
            await model.complete(REQUEST, "text")


@BOTH
@pytest.mark.parametrize(
    ("url", "model", "valve"),
    [(" ", "m", "llm_api_endpoint_url"), ("http://127.0.0.1", " ", "llm_model_name")],
)
async def test_empty_valve(kind: Endpoint, url: str, model: str, valve: str) -> None:
    """An empty valve is named, and not tried again in another format."""
    with pytest.raises(ModelRejected, match=f"`{valve}` is empty"):
        await ask(kind(url, model), REQUEST, AnswerFormats(), RetryPolicy(3, 60), timeout=5)
