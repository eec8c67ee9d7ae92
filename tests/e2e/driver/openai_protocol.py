"""How a scripted reply is written to the client: as one JSON object or as a stream of events."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from typing import Any, TypeAlias

from aiohttp import web

from tests.e2e.driver.replies import (
    CallTool,
    CutOff,
    Fail,
    Say,
    Slow,
)

# What can be written at once; ``Hang`` is waited for before.
Writable: TypeAlias = Say | Slow | CutOff | CallTool | Fail
Spoken: TypeAlias = Say | Slow | CutOff | CallTool

Body = dict[str, Any]


async def write_reply(http: web.Request, body: Body, reply: Writable) -> web.StreamResponse:
    """Give the reply to a chat completion request in the form that its body asks for."""
    if isinstance(reply, Fail):
        return _failure(reply)
    write = _stream if body.get("stream") else _whole
    return await write(http, body, reply)


def _failure(reply: Fail) -> web.Response:
    headers = {} if reply.retry_after is None else {"Retry-After": f"{reply.retry_after:g}"}
    error = {"error": {"message": reply.message, "type": "scripted", "code": reply.status}}
    return web.json_response(error, status=reply.status, headers=headers)


async def _whole(http: web.Request, body: Body, reply: Spoken) -> web.StreamResponse:
    """Answer a request that asked for one JSON object."""
    if isinstance(reply, Slow):
        await asyncio.sleep(reply.seconds_per_word * len(_words(reply.text)))
    message: Body = {"role": "assistant", "content": _text(reply)}
    if isinstance(reply, CallTool):
        message = {"role": "assistant", "content": None, "tool_calls": [_tool_call(reply)]}
    answer = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": _finish_reason(reply)}],
        "usage": _usage(reply),
    }
    return web.json_response(answer)


async def _stream(http: web.Request, body: Body, reply: Spoken) -> web.StreamResponse:
    """Answer as server-sent events, word by word."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(http)
    async for delta, finish_reason in _deltas(reply):
        chunk: Body = {
            "id": "chatcmpl-scripted",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": body.get("model"),
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        }
        if finish_reason:
            chunk["usage"] = _usage(reply)
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response


async def _deltas(
    reply: Spoken,
) -> AsyncIterator[tuple[Body, str | None]]:
    if isinstance(reply, CallTool):
        yield {"role": "assistant", "tool_calls": [{"index": 0, **_tool_call(reply)}]}, None
    for word in _words(_text(reply)):
        if isinstance(reply, Slow):
            await asyncio.sleep(reply.seconds_per_word)
        yield {"role": "assistant", "content": word}, None
    yield {}, _finish_reason(reply)


def _words(text: str) -> list[str]:
    """The text cut so that joining gives it back; long texts in big pieces, for speed."""
    words = re.findall(r"\S+\s*|\s+", text)
    return words if len(words) < 500 else [text[i : i + 1000] for i in range(0, len(text), 1000)]


def _text(reply: Spoken) -> str:
    return "" if isinstance(reply, CallTool) else reply.text


def _finish_reason(reply: Spoken) -> str:
    return {CutOff: "length", CallTool: "tool_calls"}.get(type(reply), "stop")


def _tool_call(reply: CallTool) -> Body:
    return {
        "id": f"call_{reply.name}",
        "type": "function",
        "function": {"name": reply.name, "arguments": json.dumps(dict(reply.arguments))},
    }


def _usage(reply: Spoken) -> dict[str, int]:
    words = len(_words(_text(reply)))
    return {"prompt_tokens": 1, "completion_tokens": words, "total_tokens": words + 1}
