"""The stand-in as a server that speaks the OpenAI protocol on the loopback interface."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from aiohttp import web

from demo.standin.answers import answer
from demo.standin.extraction import operations
from demo.standin.tasks import host_task, task_answer
from demo.standin.words import overlap, question_words

MODEL = "stand-in"
_KNOWN = ("Rules:\n", "Known:\n")

# A page that sees words arrive looks like the real thing; a longer pause only delays tests.
_PAUSE_BETWEEN_WORDS = 0.01

Json = dict[str, Any]


def _object(
    made: Callable[[str], object], name: str
) -> Callable[[str, str], str]:
    """A role that answers with an object of one field, made of the request."""
    return lambda _system, request: json.dumps(
        {name: made(request)}, ensure_ascii=False
    )


def _scores(request: str) -> list[Json]:
    """A score for each memory that the request lists: 1 where it shares telling words, else 0."""
    before, _, message = request.rpartition("## Message of the user\n")
    wanted = question_words(message)
    listed = re.findall(r"^- id=(\S+) \| (.+)$", before, re.MULTILINE)
    return [
        {"id": one, "score": float(overlap(wanted, text) > 0)}
        for one, text in listed
    ]


def _lines(request: str) -> list[str]:
    """What a request lists, without headings and without what an assistant said."""
    lines = (
        line.strip() for line in request.partition("\n## ")[0].splitlines()
    )
    return [
        line.lstrip("-* \t")
        for line in lines
        if line and not line.startswith("#") and " assistant: " not in line
    ]


def _summary(_system: str, request: str) -> str:
    """One memory for several: their subject is said once, which makes it shorter than they are."""
    first, *others = _lines(request) or [""]
    kept = [first, *(re.sub(r"^User (?=\w)", "", line) for line in others)]
    joined = " ".join(line[:1].upper() + line[1:] for line in kept)
    return json.dumps(
        {"summary": joined, "complete": True}, ensure_ascii=False
    )


def _sentences(request: str) -> list[Json]:
    """A sentence for each numbered memory: as it stands."""
    listed = re.findall(r"^(\d+)\. (.+)$", request, re.MULTILINE)
    return [
        {"subject": "You", "sentence": text, "memories": [int(number)]}
        for number, text in listed
    ]


# By the title of Adaptive Memory's internal prompts; what is no task of the host's is a chat.
ROLES: Mapping[str, Callable[[str, str], str]] = {
    "# Extract memories": _object(operations, "operations"),
    "# Score relevance": _object(_scores, "scores"),
    "# Summarise memories": _summary,
    "# Summarise history": _object(
        lambda request: " ".join(_lines(request))[:1000], "summary"
    ),
    # It has no notion of what hangs together, of harm, or of what may come next.
    "# Check what no longer holds": _object(lambda _request: [], "outdated"),
    "# Preprocess": _object(lambda _request: "", "search_query"),
    "# Postprocess": _object(lambda _request: "", "chat_summary"),
    "# About you": _object(_sentences, "about"),
}


def completion(messages: Sequence[Mapping[str, Any]]) -> str:
    """The stand-in's text for a list of chat messages."""
    system = "\n".join(
        _text_of(message)
        for message in messages
        if message.get("role") in ("system", "developer")
    )
    said = [
        _text_of(message)
        for message in messages
        if message.get("role") == "user"
    ]
    newest = said[-1] if said else ""
    task = host_task(system, newest)
    if task:
        return task_answer(task, newest)
    title = system.lstrip().partition("\n")[0].strip()
    if said[-2:-1] and said[-2].startswith(_KNOWN):
        # What an extraction knows stands in a turn of its own.
        newest = f"{said[-2]}\n\n{newest}"
    return ROLES.get(title, answer)(system, newest)


def _text_of(message: Mapping[str, Any]) -> str:
    """The words of a message, whose content is a string or a list of parts."""
    content: Any = message.get("content")
    parts: list[Any] = (
        content if isinstance(content, list) else [{"text": content}]
    )
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


@asynccontextmanager
async def serving_stand_in() -> AsyncIterator[str]:
    """Run the stand-in on a free port while the context lasts; yields its ``/v1`` address."""
    application = web.Application(client_max_size=64 * 2**20)
    application.router.add_get("/v1/models", _list_models)
    application.router.add_post("/v1/chat/completions", _complete)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def _list_models(_request: web.Request) -> web.Response:
    model = {
        "id": MODEL,
        "name": "Stand-in (not a real model)",
        "object": "model",
        "created": 0,
    }
    return web.json_response({"object": "list", "data": [model]})


async def _complete(request: web.Request) -> web.StreamResponse:
    try:
        body = cast("Json", await request.json())
        messages = cast("list[Json]", body["messages"])
        text = completion(messages)
        # Words for tokens: near enough for a page that shows them.
        counted = [
            sum(len(_text_of(one).split()) for one in messages),
            len(text.split()),
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        reason = f"not a chat completion request: {error!r}"
        problem = {"message": reason, "type": "invalid_request_error"}
        return web.json_response({"error": problem}, status=400)
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage: Json = dict(zip(names, [*counted, sum(counted)], strict=True))
    head = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "created": int(time.time()),
        "model": MODEL,
    }
    if body.get("stream"):
        return await _stream(
            request, text, {**head, "object": "chat.completion.chunk"}, usage
        )
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    reply = {
        **head,
        "object": "chat.completion",
        "choices": choices,
        "usage": usage,
    }
    return web.json_response(reply)


async def _stream(
    request: web.Request, text: str, head: Json, usage: Json
) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={
            "Content-Type": "text/event-stream",
            "Cache-Control": "no-cache",
        }
    )

    async def send(
        delta: Json, finish_reason: str | None = None, **more: Json
    ) -> None:
        choices = [
            {"index": 0, "delta": delta, "finish_reason": finish_reason}
        ]
        chunk = json.dumps(
            {**head, "choices": choices, **more}, ensure_ascii=False
        )
        await response.write(f"data: {chunk}\n\n".encode())

    # Who stops an answer closes the connection; nobody is left to be told.
    with contextlib.suppress(ConnectionError):
        await response.prepare(request)
        for piece in re.findall(r"\S+\s*|\s+", text):
            await send({"role": "assistant", "content": piece})
            await asyncio.sleep(_PAUSE_BETWEEN_WORDS)
        await send({}, "stop", usage=usage)
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
    return response
