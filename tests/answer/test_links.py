"""Links found, asked on real local servers with every way into our network closed, corrected."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from adaptive.answer import correction
from adaptive.answer.correction import (
    AnswerCorrection,
    broken_links,
    corrected_links,
    is_public_site,
    links_to_check,
)
from tests.answer.hooks import Shelf, a_hook
from tests.rates import over

GONE = "https://example.com/gone"
SEARCH = "https://duckduckgo.com/?q="
# All of 127/8 is this machine: one address plays the internet, the others are loopback.
OUTSIDE, INSIDE = "127.77.0.1", "127.77.0.2"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def as_internet(address: str, port: int) -> bool:
    """What is public in these tests: one loopback address, and what really is."""
    return address == OUTSIDE or is_public_site(address, port)


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

    def link(self, status: int) -> str:
        """A link that says the status it is answered with."""
        return f"[{status}]({self.url(f'/{status}', OUTSIDE)})"


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
    runner = web.AppRunner(
        app, shutdown_timeout=0.1, handler_cancellation=True, access_log=None
    )
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    running.port = runner.addresses[0][1]
    try:
        yield running
    finally:
        await runner.cleanup()


@over(
    "text, number",
    [
        (f"See [the docs]({GONE}).", 1),
        (f'[a]({GONE} "Title") [b](<{GONE}>)', 2),
        (f"[a](https://example.com/Tea_(drink)) [`code`]({GONE})", 2),
        (f"[a [b] c]({GONE}) [d\\]e]({GONE})", 2),
        ("[HTTP](HTTP://EXAMPLE.com)", 1),
        (f"![picture]({GONE})", 0),
        (f"`[a]({GONE})`\n```\n[a]({GONE})\n```", 0),
        (
            "[a](#here) [b](mailto:ada@example.com) [c](/path) [d](javascript:x)",
            0,
        ),
        (f"[a] ({GONE}) {GONE}", 0),
    ],
)
def test_links(text: str, number: int) -> None:
    """Links to the web are found; pictures, code and other links are not."""
    found = links_to_check(text)
    assert bool(found) is bool(number)
    assert corrected_links(text, found).count(SEARCH) == number


def test_first_targets() -> None:
    """Each address once, up to a number; none that holds a secret or personal data."""
    text = " ".join(
        f"[x](https://example.com/{number % 50})" for number in range(100)
    )
    assert links_to_check(text) == tuple(
        f"https://example.com/{n}" for n in range(20)
    )
    for told in (
        "ana@example.org",
        "ana%40example.org",
        "&token=8f3kdJ29slwPq0aZx81LmNv4",
    ):
        assert links_to_check(f"[x](https://example.com/?to={told})") == ()


def test_corrected() -> None:
    """A broken link leads to a search for its text; every other sign of the answer stays."""
    text = f'a [**The** docs?]({GONE} "T") b [ok](https://example.com/ok) `[c]({GONE})` '
    corrected = corrected_links(text, {GONE})
    assert corrected == text.replace(GONE, f"{SEARCH}The+docs%3F", 1)
    assert corrected_links(text, ()) == text
    assert corrected_links(corrected, {GONE}) == corrected
    assert "example.com%2Fgone" in corrected_links(f"[→]({GONE})", {GONE})


class Names(AbstractResolver):
    """A resolver that answers as scripted: what a name has next, the last one for good."""

    def __init__(self, **names: Sequence[Sequence[str]]) -> None:
        self.names = {
            name.replace("_", "."): list(answers)
            for name, answers in names.items()
        }

    async def resolve(
        self, host: str, port: int = 0, family: Any = 0
    ) -> list[ResolveResult]:
        if not (answers := self.names.get(host)):
            raise OSError("unknown name")
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        families = [
            socket.AF_INET6 if ":" in one else socket.AF_INET for one in found
        ]
        told: dict[str, Any] = {
            "hostname": host,
            "port": port,
            "proto": 0,
            "flags": 0,
        }
        return [
            ResolveResult(**told, host=one, family=family)
            for one, family in zip(found, families, strict=True)
        ]

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(autouse=True)
def internet(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let ``site.test`` be the outside server; what is brought tells what other names lead to."""

    def lead(**names: Sequence[Sequence[str]]) -> None:
        """Make names lead there."""
        resolver = Names(**{"site_test": [[OUTSIDE]], **names})
        monkeypatch.setattr(aiohttp, "ThreadedResolver", lambda: resolver)

    monkeypatch.setattr(correction, "is_public_site", as_internet)
    monkeypatch.setattr(correction, "_STORED_SECONDS", 0)
    lead()
    return lead


async def is_broken(target: str) -> bool:
    """Whether one address leads nowhere."""
    return bool(await broken_links([target], asyncio.Semaphore(2)))


async def checked(shelf: Shelf) -> None:
    """Let the links of an answer be checked as the outlet does it."""
    await AnswerCorrection().correct_links(a_hook(shelf=shelf))


async def test_broken_links_become_searches() -> None:
    """4xx leads to a search then, but for what passes, stored and shown once; others stay."""
    async with site() as there:
        rest = " ".join(map(there.link, (200, 204, 408, 429, 500)))
        shelf = Shelf(
            " ".join([*map(there.link, (403, 404, 410)), rest, "\n\n*By us.*"])
        )
        await checked(shelf)
        assert len(there.asked) == 8
        # What carries credentials, or is no address, is not asked.
        credentials = there.url("/404", "ada:secret@site.test")
        for target in (credentials, "http://site.test:99999/", "http://["):
            assert not await is_broken(target)
        assert len(there.asked) == 8
    broken = " ".join(
        f"[{status}]({SEARCH}{status})" for status in (403, 404, 410)
    )
    assert shelf.message["content"] == f"{broken} {rest} \n\n*By us.*"
    shown = {"id": "a", "content": shelf.message["content"]}
    assert shelf.events == [
        {"type": "chat:outlet", "data": {"messages": [shown]}}
    ]


async def test_edited_meanwhile() -> None:
    """If the answer was changed while its links are asked, it stays so."""
    shelf = Shelf()

    async def changing(request: web.Request) -> web.StreamResponse:
        shelf.message["content"] += " And milk."
        return web.Response(status=404)

    async with site(changing) as there:
        shelf.message["content"] = f"See {there.link(404)}."
        await checked(shelf)
        assert shelf.message["content"] == f"See {there.link(404)}. And milk."
    assert shelf.events == []


async def test_redirects(
    monkeypatch: pytest.MonkeyPatch, internet: Callable[..., None]
) -> None:
    """What five redirects lead to counts; nothing of ours is sent, and no proxy is asked."""
    monkeypatch.setenv("http_proxy", f"http://{INSIDE}:9")

    async def onwards(request: web.Request) -> web.StreamResponse:
        """Two steps to what is not there, or round and round."""
        steps = {
            "/a": "b",
            "/b": f"http://other.test:{request.url.port}/404",
            "/loop": "/loop",
        }
        headers = (
            {"Location": steps[request.path]} if request.path in steps else {}
        )
        response = web.Response(
            status=307 if headers else 404, headers=headers
        )
        response.set_cookie("track", "me")
        return response

    internet(other_test=[[OUTSIDE]])
    async with site(onwards) as there:
        assert await is_broken(there.url("/a"))
        assert there.asked == ["/a", "/b", "/404"]
        assert not await is_broken(there.url("/loop"))
        assert there.asked[3:] == ["/loop"] * 6
        assert not there.headers & {
            "cookie",
            "authorization",
            "referer",
            "x-forwarded-for",
        }


INNER = [
    "http://127.0.0.1:{port}/404",
    "http://localhost:{port}/404",
    "http://[::1]:{port}/404",
    "http://[::ffff:127.0.0.1]:{port}/404",
    "http://0x7f000001:{port}/404",
    "http://①②⑦.⓪.⓪.①:{port}/404",
    "http://mixed.test:{port}/404",
    "http://six.test:{port}/404",
]
INNER_NAMES: dict[str, Any] = {
    "mixed_test": [[OUTSIDE, "127.0.0.1"]],
    "six_test": [["::ffff:127.0.0.1"], ["::1"]],
    "localhost": [["127.0.0.1", "::1"]],
}


@over("address", INNER)
async def test_no_way_inside(
    address: str, internet: Callable[..., None]
) -> None:
    """No spelling of an inner address is connected to, be it linked or redirected to."""
    internet(**INNER_NAMES)
    for listening in ("127.0.0.1", "::1"):
        async with site(statused, listening) as inner:
            target = address.format(port=inner.port)

            async def astray(
                _: web.Request, target: str = target
            ) -> web.StreamResponse:
                """Send the visitor inside."""
                location = target.encode("ascii", "replace").decode()
                return web.Response(status=302, headers={"Location": location})

            async with site(astray) as there:
                for one in (target, there.url()):
                    assert not await is_broken(one)
            assert inner.asked == []


async def test_rebinding(internet: Callable[..., None]) -> None:
    """A name is looked up, and checked, for each request, and the connection goes to just that."""

    async def again(request: web.Request) -> web.StreamResponse:
        """Send the visitor to the same host."""
        return web.Response(status=301, headers={"Location": "/404"})

    internet(site_test=[[OUTSIDE], [INSIDE]])
    async with (
        site(again) as there,
        site(statused, INSIDE, there.port) as inner,
    ):
        assert not await is_broken(there.url())
        assert (there.asked, inner.asked) == (["/"], [])


async def test_slow_and_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who never answers is not waited for, and a body is not read."""

    async def trouble(request: web.Request) -> web.StreamResponse:
        """Nothing at all, or a beginning without an end."""
        if request.path == "/endless":
            headers = {"Content-Length": str(2**30)}
            await web.StreamResponse(status=404, headers=headers).prepare(
                request
            )
        await asyncio.Event().wait()
        raise AssertionError

    async with site(trouble) as there:
        assert await is_broken(there.url("/endless"))
        monkeypatch.setattr(correction, "_SECONDS", 0.3)
        assert not await is_broken(there.url("/silent"))


NOT_PUBLIC = [
    "127.0.0.1", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.7",
    "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.88.99.1", "192.0.0.192",
    "168.63.129.16", "::ffff:168.63.129.16", "::", "::1", "::127.0.0.1", "::ffff:10.0.0.1",
    "64:ff9b::127.0.0.1", "64:ff9b:1::8.8.8.8", "2002:808:808::1", "2001::1", "2001:db8::1",
    "2001:20::1", "3fff::1", "fc00::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1",
    "5f00::1", "::ffff:0:127.0.0.1", "2606:4700::1%1", "", "localhost", "127.1", "0x7f000001",
]  # fmt: skip


@over("address", NOT_PUBLIC)
def test_not_public(address: str) -> None:
    """Loopback, private, link-local, reserved ones are not public, in whatever form they come."""
    assert not is_public_site(address, 443)


@over(
    "address",
    [
        "93.184.216.34",
        "8.8.8.8",
        "2606:4700::1111",
        "2a00:1450:4001:82a::200e",
    ],
)
def test_public(address: str) -> None:
    """Addresses of the internet are, on the ports of the web."""
    assert is_public_site(address, 80)
    assert not is_public_site(address, 22)
