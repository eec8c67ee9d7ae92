"""What a scripted model can do with a request: answer it, or fail in one of many ways."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aiohttp import web

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with this text, if wanted slowly enough for somebody to press Stop.

    ``finish_reason`` is ``length`` for an answer that the length limit ended. ``tool_call`` is the
    name and the arguments of a tool that is asked for; what follows it is the next reply of a
    sequence.
    """

    text: str = "Understood."
    seconds_per_word: float = 0
    finish_reason: str = "stop"
    tool_call: tuple[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """Refuse with an HTTP error."""

    status: int = 500
    message: str = "The scripted model was told to fail."


@dataclass(frozen=True, slots=True)
class Hang:
    """Hold the request that long, then answer; ``release``, ``reset`` and ``stop`` end that earlier."""

    seconds: float = 3600
    then: Reply = field(default_factory=Say)


@dataclass(frozen=True, slots=True)
class Raw:
    """Answer with this body, JSON unless it is bytes."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class BreakOff:
    """Close the connection in the middle of an answer."""


Reply: TypeAlias = Say | Fail | Hang | Raw | BreakOff

# A string is said, a mapping is said as JSON, a callable is asked with the request's body, and of
# a sequence each matching request takes the next one, the last one staying.
Answer: TypeAlias = (
    Reply
    | str
    | Mapping[str, Any]
    | Sequence["Answer"]
    | Callable[[Body], "Answer"]
)


def call_tool(name: str, **arguments: Any) -> Say:
    """Ask for one tool call."""
    return Say("", finish_reason="tool_calls", tool_call=(name, arguments))


@dataclass(slots=True)
class Script:
    """An answer together with how often it was given, which decides the place in a sequence."""

    answer: Answer
    used: int = 0

    def next_reply(self, body: Body) -> Reply:
        """The reply for this request body."""
        answer = self.answer
        if isinstance(answer, Sequence) and not isinstance(answer, str):
            answer = answer[min(self.used, len(answer) - 1)]
        self.used += 1
        while not isinstance(answer, Say | Fail | Hang | Raw | BreakOff):
            if callable(answer):
                answer = answer(body)
            else:
                answer = Say(
                    answer if isinstance(answer, str) else json.dumps(answer)
                )
        return answer


async def _write_raw(
    http: web.Request, reply: Raw | BreakOff
) -> web.StreamResponse:
    """Answer with a body as it is, or with the beginning of one."""
    if isinstance(reply, Raw):
        raw = reply.body
        if not isinstance(raw, bytes):
            raw = json.dumps(raw).encode()
        return web.Response(
            body=raw,
            status=reply.status,
            headers={"Content-Type": "application/json", **reply.headers},
        )
    broken = web.StreamResponse(headers={"Content-Length": "1000"})
    await broken.prepare(http)
    await broken.write(b'{"choices": [')
    if http.transport is not None:
        http.transport.close()
    return broken


async def write_reply(
    http: web.Request, body: Body, reply: Say | Fail | Raw | BreakOff
) -> web.StreamResponse:
    """Give the reply to a chat completion request, as one object or as events, as it asks for."""
    if isinstance(reply, Raw | BreakOff):
        return await _write_raw(http, reply)
    if isinstance(reply, Fail):
        error = {
            "message": reply.message,
            "type": "scripted",
            "code": reply.status,
        }
        return web.json_response({"error": error}, status=reply.status)
    words = re.findall(r"\S+\s*|\s+", reply.text)
    if len(words) >= 500:  # long texts in big pieces, for speed
        words = [
            reply.text[at : at + 1000]
            for at in range(0, len(reply.text), 1000)
        ]
    deltas: list[Body] = [{"content": word} for word in words]
    if reply.tool_call:
        name, arguments = reply.tool_call
        function = {"name": name, "arguments": json.dumps(dict(arguments))}
        call = {
            "index": 0,
            "id": f"call_{name}",
            "type": "function",
            "function": function,
        }
        deltas.append({"tool_calls": [call]})
    head: Body = {
        "id": "chatcmpl-scripted",
        "created": int(time.time()),
        "model": body["model"],
    }
    count = len(words)
    usage = {
        "prompt_tokens": 1,
        "completion_tokens": count,
        "total_tokens": count + 1,
    }
    if not body.get("stream"):
        await asyncio.sleep(reply.seconds_per_word * count)
        said: Body = {"role": "assistant", "content": reply.text}
        message = {**deltas[-1], **said} if reply.tool_call else said
        choice: Body = {
            "index": 0,
            "message": message,
            "finish_reason": reply.finish_reason,
        }
        head |= {"object": "chat.completion", "usage": usage}
        return web.json_response({**head, "choices": [choice]})
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream"}
    )
    await response.prepare(http)
    head["object"] = "chat.completion.chunk"
    for delta in [*deltas, None]:
        choice = {
            "index": 0,
            "delta": {},
            "finish_reason": reply.finish_reason,
        }
        if delta:
            await asyncio.sleep(reply.seconds_per_word)
            choice |= {
                "delta": {"role": "assistant", **delta},
                "finish_reason": None,
            }
        chunk = {
            **head,
            "choices": [choice],
            **({} if delta else {"usage": usage}),
        }
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response
