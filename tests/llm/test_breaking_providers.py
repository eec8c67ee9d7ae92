"""Providers that break in the ways that real ones do, each of which a model is asked behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from adaptive.core.providers import (
    CompletionRequest,
    ModelBusy,
    ModelRejected,
)
from adaptive.llm.ask import AnswerFormats, Line, ask_fields, fields_schema
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from tests.loopback import Answer, Loopback

Body = Mapping[str, Any]


class City(BaseModel):
    """What is asked for."""

    city: Line = ""


PORTO = '{"city": "Porto"}'
REQUEST = CompletionRequest(
    "Where?", "I live in Porto.", "city", fields_schema(City)
)


@dataclass(frozen=True)
class Case:
    """A provider by what it answers, and how often it is asked at the first and second question."""

    name: str
    behaviour: Callable[[Body], Answer]
    calls: tuple[int, int]
    completer: type[OpenAICompleter] | type[OllamaCompleter] = OpenAICompleter


def says(content: Any, reason: str = "stop", **fields: Any) -> Answer:
    """A chat completion."""
    message = {"role": "assistant", "content": content, **fields}
    return Answer({"choices": [{"message": message, "finish_reason": reason}]})


def ollama_says(content: str, reason: str = "stop", **fields: Any) -> Answer:
    """An answer of Ollama's own API."""
    return Answer(
        {"message": {"content": content, **fields}, "done_reason": reason}
    )


def form_of(body: Body) -> str:
    """The kind of answer that is asked for."""
    return str(body.get("response_format", {}).get("type", "text"))


def under_schema(trouble: Answer) -> Callable[[Body], Answer]:
    """A provider that breaks where it is given a schema."""
    return lambda body: (
        trouble if form_of(body) == "json_schema" else says(PORTO)
    )


def under_json(trouble: Answer) -> Callable[[Body], Answer]:
    """A provider that breaks where it is asked for JSON."""
    return lambda body: trouble if form_of(body) != "text" else says(PORTO)


def always(answer: Answer) -> Callable[[Body], Answer]:
    """A provider that gives one answer."""
    return lambda _: answer


def thinks(body: Body) -> Answer:
    """VLLM with a model that thinks up to the limit, unless its template is told not to."""
    if body.get("chat_template_kwargs") == {"enable_thinking": False}:
        return says(PORTO)
    if "max_tokens" in body:
        return says("", "length", reasoning="Let me see. " * 20)
    return says(PORTO, reasoning="Let me see. " * 2000)


def thinks_and_refuses(body: Body) -> Answer:
    """A service with such a model, which knows no such switch."""
    if "chat_template_kwargs" in body:
        return Answer({"error": {"message": "Unrecognized argument"}}, 400)
    return thinks(body)


def refuses_limits(body: Body) -> Answer:
    """A reasoning model that takes neither a limit nor a temperature."""
    if "max_tokens" in body or "temperature" in body:
        return Answer({"error": {"message": "Unsupported parameter"}}, 400)
    return says(PORTO)


def ollama_without_grammar(body: Body) -> Answer:
    """Ollama with a model whose vocabulary it can make no grammar of."""
    if "format" in body:
        return Answer({"error": "failed to load model vocabulary"}, 500)
    return ollama_says(PORTO)


def older_ollama(body: Body) -> Answer:
    """A proxy of Ollama's API that knows no thinking."""
    if "think" in body:
        return Answer({"error": "unknown field think"}, 400)
    return ollama_says(PORTO)


CALLED = [{"function": {"name": "answer", "arguments": PORTO}}]
OLLAMA_CALLED = [
    {"function": {"name": "city", "arguments": {"city": "Porto"}}}
]
CASES = (
    Case("500", under_schema(Answer(b"oops", 500)), (2, 1)),
    Case("502", under_json(Answer(b"<html>", 502)), (3, 1)),
    Case("400", under_schema(Answer({"error": "?"}, 400)), (2, 1)),
    Case("unprocessable", under_json(Answer({}, 422)), (3, 1)),
    Case("empty", under_schema(says("")), (2, 1)),
    Case("null", under_json(says(None)), (3, 1)),
    Case("prose", under_schema(says("It is a nice town.")), (2, 1)),
    Case("cut", under_schema(says('{"ci' + " " * 90, "length")), (2, 1)),
    Case("other object", under_schema(says('{"town": 1}')), (2, 1)),
    Case("no JSON", under_schema(Answer(b"data: {}\n\n")), (2, 1)),
    Case(
        "200 with an error",
        under_schema(Answer({"error": {"code": 400, "message": "schema"}})),
        (2, 1),
    ),
    Case("thinks to the limit", thinks, (2, 1)),
    Case("thinks, no switch", thinks_and_refuses, (4, 1)),
    Case(
        "unfinished thinking",
        under_json(says("<think>Let me see", "length")),
        (4, 1),
    ),
    Case("refuses limits", refuses_limits, (3, 1)),
    Case("reasoning", always(says("", reasoning=PORTO)), (1, 1)),
    Case("content", always(says(None, reasoning_content=PORTO)), (1, 1)),
    Case(
        "details",
        always(says("", reasoning_details=[{"text": PORTO}])),
        (1, 1),
    ),
    Case("tool call", always(says(None, tool_calls=CALLED)), (1, 1)),
    Case("no grammar", ollama_without_grammar, (3, 1), OllamaCompleter),
    Case("think unknown", older_ollama, (3, 1), OllamaCompleter),
    Case(
        "thinking",
        always(ollama_says("", thinking=PORTO)),
        (1, 1),
        OllamaCompleter,
    ),
    Case(
        "Ollama's tool call",
        always(ollama_says("", tool_calls=OLLAMA_CALLED)),
        (1, 1),
        OllamaCompleter,
    ),
)


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_answer_behind_a_broken_form(
    case: Case, server: Loopback
) -> None:
    """The first question is answered, by the form that works; the second is asked in it at once."""
    server.will_behave(case.behaviour)
    model = case.completer(server.url, "m")
    formats = AnswerFormats()
    calls: list[int] = []
    for _ in range(2):
        before = len(server.received)
        answer = await ask_fields(model, formats, City, REQUEST, 30)
        assert answer.city == "Porto"
        calls.append(len(server.received) - before)
    assert tuple(calls) == case.calls


async def test_thinking_that_is_no_use(server: Loopback) -> None:
    """A model that thinks before a right answer is asked not to from the second question on."""
    server.will_behave(always(says(PORTO, reasoning="Let me see.")))
    model, formats = OpenAICompleter(server.url, "m"), AnswerFormats()
    for _ in range(2):
        await ask_fields(model, formats, City, REQUEST, 30)
    asked = ["chat_template_kwargs" in one.body for one in server.received]
    assert asked == [False, True]


@pytest.mark.parametrize(
    "error",
    [
        {"code": "context_length_exceeded", "message": "too many tokens"},
        {"type": "exceed_context_size_error", "n_ctx": 4096},
        "This model's maximum context length is 4096 tokens.",
    ],
    ids=str,
)
async def test_context_too_short(error: object, server: Loopback) -> None:
    """A prompt that a model has no room for is told as such, and sent once."""
    server.will_answer(Answer({"error": error}, 400))
    model = OpenAICompleter(server.url, "m")
    with pytest.raises(ModelRejected, match="context is too short"):
        await ask_fields(model, AnswerFormats(), City, REQUEST, 30, 2)
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"error": "daily limit"}, 429, {"Retry-After": "30000"}),
        Answer({}, 429, {"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}),
        Answer({}, 429, {"X-RateLimit-Reset": "4102444800000"}),
        Answer({}, 429, {"x-ratelimit-reset-requests": "8h20m"}),
        Answer(
            {
                "error": {
                    "code": 429,
                    "metadata": {
                        "headers": {"X-RateLimit-Reset": "4102444800000"}
                    },
                }
            }
        ),
    ],
    ids=["seconds", "date", "milliseconds", "duration", "quoted"],
)
async def test_daily_quota(answer: Answer, server: Loopback) -> None:
    """A quota that is back hours later is tried once, by whomever the model is asked."""
    server.will_answer(answer)
    formats = AnswerFormats()
    for _ in range(3):
        model = OpenAICompleter(server.url, "m")
        with pytest.raises(ModelBusy, match="quota is spent") as spent:
            await ask_fields(model, formats, City, REQUEST, 30, 2)
        assert (spent.value.retry_after or 0) > 29_000
    assert len(server.received) == 1
