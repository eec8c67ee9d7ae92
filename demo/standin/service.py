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
from demo.standin.relevance import scores

MODEL = "stand-in"

# A page that sees words arrive looks like the real thing; a longer pause only delays tests.
_PAUSE_BETWEEN_WORDS = 0.01
_LARGEST_REQUEST = 64 * 2**20

Json = dict[str, Any]


def _extraction(_system: str, request: str) -> str:
    return json.dumps({"operations": operations(request)}, ensure_ascii=False)


def _always(reply: Json) -> Callable[[str, str], str]:
    text = json.dumps(reply)
    return lambda _system, _request: text


def _object(made: Callable[[str], object], name: str) -> Callable[[str, str], str]:
    """A role that answers with an object of one field, made of the request."""
    return lambda _system, request: json.dumps({name: made(request)}, ensure_ascii=False)


def _lines(request: str) -> list[str]:
    """What a request lists, without headings."""
    lines = (line.strip() for line in request.splitlines())
    return [line.lstrip("-* \t") for line in lines if line and not line.startswith("#")]


def _retold(request: str) -> str:
    """A summary that loses nothing: the lines themselves."""
    return " ".join(_lines(request))[:1000]


def _summary(_system: str, request: str) -> str:
    """One memory for several: their subject is said once, which makes it shorter than they are."""
    first, *others = _lines(request) or [""]
    kept = [first, *(re.sub(r"^User (?=\w)", "", line) for line in others)]
    joined = " ".join(line[:1].upper() + line[1:] for line in kept)
    return json.dumps({"summary": joined, "complete": True}, ensure_ascii=False)


# By the title of Adaptive Memory's internal prompts; everything else is a chat.
ROLES: Mapping[str, Callable[[str, str], str]] = {
    "# Extract memories": _extraction,
    "# Score relevance": _object(scores, "scores"),
    "# Summarise memories": _summary,
    "# Summarise history": _object(_retold, "summary"),
    # It has no notion of what hangs together.
    "# Check what no longer holds": _always({"outdated": []}),
    "# Preprocess": _always(
        {
            "language_code": "en",
            "search_query": "",
            "harmful": 0,
            "prompt_injection_chance": 0.0,
            "title": "",
        }
    ),
    "# Postprocess": _always(
        {
            "chat_summary": "",
            "chat_tags": [],
            "harmful_response": 0,
            "follow_up_suggestions": [],
            "new_learnings": [],
        }
    ),
}


def completion(messages: Sequence[Mapping[str, Any]]) -> str:
    """The stand-in's text for a list of chat messages."""
    system = "\n".join(
        _text_of(message) for message in messages if message.get("role") in ("system", "developer")
    )
    newest = next(
        (_text_of(message) for message in reversed(messages) if message.get("role") == "user"), ""
    )
    title = system.lstrip().partition("\n")[0].strip()
    return ROLES.get(title, answer)(system, newest)


def _text_of(message: Mapping[str, Any]) -> str:
    """The words of a message, whose content is a string or a list of parts."""
    content: object = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = cast("list[object]", content)
    texts = [cast("Json", part).get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


@asynccontextmanager
async def serving_stand_in() -> AsyncIterator[str]:
    """Run the stand-in on a free port while the context lasts; yields its ``/v1`` address."""
    application = web.Application(client_max_size=_LARGEST_REQUEST)
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
        "owned_by": "adaptive-memory",
    }
    return web.json_response({"object": "list", "data": [model]})


async def _complete(request: web.Request) -> web.StreamResponse:
    try:
        body = cast("Json", await request.json())
        text = completion(body["messages"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        reason = f"not a chat completion request: {error!r}"
        problem = {"message": reason, "type": "invalid_request_error"}
        return web.json_response({"error": problem}, status=400)
    usage = _usage(body["messages"], text)
    if body.get("stream"):
        return await _stream(request, text, usage)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return web.json_response({**_head("chat.completion"), "choices": [choice], "usage": usage})


async def _stream(request: web.Request, text: str, usage: Json) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
    )
    head = _head("chat.completion.chunk")
    # Who stops an answer closes the connection; nobody is left to be told.
    with contextlib.suppress(ConnectionError):
        await response.prepare(request)
        for piece in re.findall(r"\S+\s*|\s+", text):
            await response.write(_event({**head, "choices": [_delta({"content": piece}, None)]}))
            await asyncio.sleep(_PAUSE_BETWEEN_WORDS)
        await response.write(
            _event({**head, "choices": [_delta({}, "stop")], "usage": usage}) + b"data: [DONE]\n\n"
        )
        await response.write_eof()
    return response


def _head(kind: str) -> Json:
    identity = f"chatcmpl-{uuid.uuid4().hex}"
    return {"id": identity, "object": kind, "created": int(time.time()), "model": MODEL}


def _delta(delta: Json, finish_reason: str | None) -> Json:
    return {
        "index": 0,
        "delta": {"role": "assistant", **delta},
        "finish_reason": finish_reason,
    }


def _event(chunk: Json) -> bytes:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


def _usage(messages: Sequence[Mapping[str, Any]], text: str) -> Json:
    """Words for tokens: near enough for a page that shows them."""
    read = sum(len(_text_of(message).split()) for message in messages)
    written = len(text.split())
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
    }
