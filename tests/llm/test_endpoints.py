"""Models outside the host, against a real server on loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from email.utils import formatdate
from typing import Any

import pytest

from adaptive.errors import ModelBusy, ModelRejected, ReplyUnusable
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from adaptive.model import Completion, CompletionRequest
from adaptive.retry import RetryPolicy
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


async def test_openai_cut(server: Loopback) -> None:
    """An answer that ended at the token limit says so."""
    server.will_answer(openai_reply("Hi", "length"))
    model = OpenAICompleter(server.url, "gpt")
    assert await model.complete(REQUEST, "text") == Completion("Hi", cut=True)


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


async def test_ollama_formats(server: Loopback) -> None:
    """The looser formats are Ollama's own words for them."""
    server.will_answer(ollama_reply("Hi"))
    model = OllamaCompleter(f"{server.url}/api/chat", "llama3")
    await model.complete(REQUEST, "json_object")
    await model.complete(REQUEST, "text")
    assert [request.path for request in server.received] == ["/api/chat"] * 2
    assert [request.body.get("format") for request in server.received] == ["json", None]


async def test_ollama_cut(server: Loopback) -> None:
    """An answer that ended at Ollama's limit says so."""
    server.will_answer(ollama_reply("Hi", done_reason="length"))
    model = OllamaCompleter(server.url, "llama3")
    assert await model.complete(REQUEST, "text") == Completion("Hi", cut=True)


@pytest.mark.parametrize(
    "body", [{}, {"error": "model not found"}, {"message": None}, {"message": {"content": ""}}]
)
async def test_ollama_without_text(server: Loopback, body: dict[str, Any]) -> None:
    """An answer of Ollama's without text is told as such."""
    server.will_answer(Answer(body))
    with pytest.raises(ReplyUnusable, match="holds no text"):
        await OllamaCompleter(server.url, "llama3").complete(REQUEST, "text")


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
async def test_retry_after_a_date(server: Loopback, kind: Endpoint) -> None:
    """A date to come back at is counted from the completer's clock."""
    headers = {"Retry-After": formatdate(NOW + 5, usegmt=True)}
    server.will_answer(Answer(status=429, headers=headers))
    with pytest.raises(ModelBusy) as raised:
        await kind(server.url, "m", now=lambda: NOW).complete(REQUEST, "text")
    assert raised.value.retry_after == 5


@BOTH
@pytest.mark.parametrize(
    ("url", "model", "valve"),
    [(" ", "m", "llm_api_endpoint_url"), ("http://127.0.0.1", " ", "llm_model_name")],
)
async def test_empty_valve(kind: Endpoint, url: str, model: str, valve: str) -> None:
    """An empty valve is named, and not tried again in another format."""
    with pytest.raises(ModelRejected, match=f"`{valve}` is empty"):
        await ask(kind(url, model), REQUEST, AnswerFormats(), RetryPolicy(3, 60), timeout=5)


def test_keys_differ() -> None:
    """Provider, address and model tell models apart."""
    keys = {
        kind(url, name).key
        for kind in (OpenAICompleter, OllamaCompleter)
        for url in ("http://a", "http://b")
        for name in ("m", "n")
    }
    assert len(keys) == 8


async def test_whole_question(server: Loopback) -> None:
    """Busy, then without schemas, then an answer: the question finds its way through all three."""
    server.will_answer(
        Answer(status=429, headers={"Retry-After": "0"}),
        Answer({"error": "response_format is not supported"}, 400),
        openai_reply(json.dumps({"operations": []})),
    )
    model = OpenAICompleter(server.url, "gpt")
    completion = await ask(model, REQUEST, AnswerFormats(), RetryPolicy(2, 0), timeout=10)
    assert completion.text == '{"operations": []}'
    formats = [one.body.get("response_format", {}).get("type") for one in server.received]
    assert formats == ["json_schema", "json_schema", "json_object"]


async def test_deadline_over_a_slow_endpoint(server: Loopback) -> None:
    """A slow endpoint is given up at the deadline."""
    server.will_answer(Answer(delay=60))
    with pytest.raises(ModelBusy, match=r"did not answer within 0\.2 s"):
        model = OpenAICompleter(server.url, "gpt")
        await ask(model, REQUEST, AnswerFormats(), RetryPolicy(2, 0), timeout=0.2)
