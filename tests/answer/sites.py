"""Servers on loopback addresses, one of which plays the internet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from adaptive.answer.links import is_public_address

# All of 127/8 is this machine: one address plays the internet, the others are loopback.
OUTSIDE, INSIDE = "127.77.0.1", "127.77.0.2"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def as_internet(address: str) -> bool:
    """What is public in these tests: one loopback address, and what really is."""
    return address == OUTSIDE or is_public_address(address)


async def statused(request: web.Request) -> web.StreamResponse:
    """The status that stands in the path."""
    return web.Response(status=int(request.path.strip("/") or 200))


@dataclass
class Site:
    """A running server, the paths it was asked for, and the headers that came."""

    port: int = 0
    asked: list[str] = field(default_factory=list[str])
    headers: set[str] = field(default_factory=set[str])

    def url(self, path: str = "/", host: str = "site.test") -> str:
        """An address on it."""
        return f"http://{host}:{self.port}{path}"

    def link(self, status: int, host: str = OUTSIDE) -> str:
        """A link that says the status it is answered with."""
        return f"[{status}]({self.url(f'/{status}', host)})"


@asynccontextmanager
async def site(
    answer: Handler = statused, host: str = OUTSIDE, port: int = 0
) -> AsyncIterator[Site]:
    """A server on one loopback address until the end of the block."""
    running = Site()

    async def noted(request: web.Request) -> web.StreamResponse:
        """Note the request, then answer."""
        running.asked.append(request.path)
        running.headers.update(name.lower() for name in request.headers)
        return await answer(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", noted)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    running.port = runner.addresses[0][1]
    try:
        yield running
    finally:
        await runner.cleanup()
