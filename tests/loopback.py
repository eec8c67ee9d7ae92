"""A real HTTP server on loopback that answers what a test tells it to, well or badly."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

LOOPBACK_ADDRESS = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: ``body`` is sent as JSON unless it is bytes.

    ``hangs_up`` closes the connection before the first byte, ``breaks_off`` after the body, of
    which more was promised; ``delay`` is slept before, in seconds.
    """

    body: object = field(default_factory=dict[str, Any])
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0
    hangs_up: bool = False
    breaks_off: bool = False


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it arrived."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]


class Loopback:
    """The running server: where it is, what it got, and what it will answer."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.received: list[Received] = []
        self._answers: deque[Answer] = deque()
        self._behaviour: Callable[[dict[str, Any]], Answer] | None = None

    def will_behave(
        self, behaviour: Callable[[dict[str, Any]], Answer]
    ) -> None:
        """Answer each request by its body."""
        self._behaviour = behaviour

    def will_answer(self, *answers: Answer) -> None:
        """Answer with these in turn; the last one stays."""
        self._answers = deque(answers)

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        body = json.loads(await request.read())
        self.received.append(Received(request.path, body, request.headers))
        if self._behaviour is not None:
            answer = self._behaviour(body)
        elif len(self._answers) > 1:
            answer = self._answers.popleft()
        else:
            answer = self._answers[0]
        await asyncio.sleep(answer.delay)
        assert request.transport
        if answer.hangs_up:
            request.transport.abort()
            return web.Response()
        sent = (
            answer.body
            if isinstance(answer.body, bytes)
            else json.dumps(answer.body).encode()
        )
        response = web.StreamResponse(
            status=answer.status, headers=dict(answer.headers)
        )
        response.content_length = len(sent) + (
            1000 if answer.breaks_off else 0
        )
        await response.prepare(request)
        await response.write(sent)
        if answer.breaks_off:
            request.transport.close()
        return response


@asynccontextmanager
async def serving() -> AsyncIterator[Loopback]:
    """A server on a free port, until the end of the block."""
    app = web.Application(client_max_size=2**26)
    runner = web.AppRunner(
        app, shutdown_timeout=0.1, handler_cancellation=True, access_log=None
    )
    # The address is only known when it listens; routes must stand before.
    server = Loopback("")
    app.router.add_route("*", "/{path:.*}", server.respond)
    await runner.setup()
    site = web.TCPSite(runner, LOOPBACK_ADDRESS, 0)
    await site.start()
    server.url = f"http://{LOOPBACK_ADDRESS}:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
