"""Links asked on real local servers, and every way into our own network closed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from adaptive.answer.links import (
    LinkRules,
    LinkState,
    is_foreign_address,
    is_public_address,
    link_states,
    web_address,
)
from tests.rates import over

# All of 127/8 is this machine: one address plays the internet, the others are loopback.
OUTSIDE, INSIDE = "127.77.0.1", "127.77.0.2"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Site:
    """A running server and what it was asked: method, path, headers."""

    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    sent: int = 0

    def url(self, path: str = "/", host: str = "site.test") -> str:
        """An address on it."""
        return f"http://{host}:{self.port}{path}"


@asynccontextmanager
async def site(answer: Handler, host: str = OUTSIDE, port: int = 0) -> AsyncIterator[Site]:
    """A server on one loopback address until the end of the block."""
    running = Site()

    async def noted(request: web.Request) -> web.StreamResponse:
        """Note the request, then answer."""
        running.asked.append((request.method, request.path))
        running.headers.append(dict(request.headers))
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


class Names(AbstractResolver):
    """A resolver that answers as scripted: what a name has next, the last one for good."""

    def __init__(self, **names: Sequence[Sequence[str]]) -> None:
        self.names = {name.replace("_", "."): list(answers) for name, answers in names.items()}
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        """The next addresses of a host."""
        self.asked.append(host)
        answers = self.names.get(host)
        if not answers:
            raise OSError("unknown name")
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            ResolveResult(
                hostname=host,
                host=one,
                port=port,
                family=socket.AF_INET6 if ":" in one else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for one in found
        ]

    async def close(self) -> None:
        """Nothing is open."""


def as_internet(address: str) -> bool:
    """What is public in these tests: one loopback address, and what really is."""
    return address == OUTSIDE or is_public_address(address)


def rules(names: AbstractResolver | None = None, **changed: Any) -> LinkRules:
    """Rules whose names lead to the outside server."""
    names = names or Names(site_test=[[OUTSIDE]])
    return replace(LinkRules(names=lambda: names, is_public=as_internet), **changed)


async def probed_link(target: str, rules: LinkRules) -> LinkState:
    """What is known of one address."""
    return (await link_states([target], rules))[target]


async def statused(request: web.Request) -> web.StreamResponse:
    """The status that stands in the path."""
    return web.Response(status=int(request.path.strip("/") or 200))


@pytest.mark.parametrize(
    ("status", "state", "methods"),
    [
        (200, "fine", ["HEAD"]),
        (204, "fine", ["HEAD"]),
        (404, "broken", ["HEAD", "GET"]),
        (410, "broken", ["HEAD", "GET"]),
        (403, "broken", ["HEAD", "GET"]),
        (429, "unknown", ["HEAD", "GET"]),
        (500, "unknown", ["HEAD", "GET"]),
        (503, "unknown", ["HEAD", "GET"]),
    ],
)
async def test_states(status: int, state: str, methods: list[str]) -> None:
    """4xx is broken, 5xx is not, and GET has the last word."""
    async with site(statused) as there:
        assert await probed_link(there.url(f"/{status}"), rules()) == state
        assert [method for method, _ in there.asked] == methods


async def test_server_without_head() -> None:
    """A page that refuses HEAD, or hangs up on it, is fine if GET says so."""

    async def only_get(request: web.Request) -> web.StreamResponse:
        """Answer GET alone."""
        if request.method == "HEAD" and request.path == "/abort":
            assert request.transport
            request.transport.abort()
        return web.Response(status=405 if request.method == "HEAD" else 200)

    async with site(only_get) as there:
        assert await probed_link(there.url("/x"), rules()) == "fine"
        assert await probed_link(there.url("/abort"), rules()) == "fine"


async def test_nothing_of_ours_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cookie that a site sets comes back, no credentials go out, no proxy is asked."""
    monkeypatch.setenv("http_proxy", f"http://{INSIDE}:9")
    monkeypatch.setenv("HTTP_PROXY", f"http://{INSIDE}:9")

    async def cookie(request: web.Request) -> web.StreamResponse:
        """Set a cookie and go on."""
        response = web.Response(status=302 if request.path == "/" else 200)
        response.set_cookie("track", "me")
        response.headers["Location"] = "/next"
        return response

    async with site(cookie) as there:
        assert await probed_link(there.url(), rules()) == "fine"
        assert there.asked == [("HEAD", "/"), ("HEAD", "/next")]
        told = {name.lower() for headers in there.headers for name in headers}
        assert not told & {"cookie", "authorization", "referer", "x-forwarded-for"}


INNER = [
    "http://127.0.0.1:{port}/",
    "http://localhost:{port}/",
    "http://[::1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[64:ff9b::7f00:1]:{port}/",
    "http://[2002:7f00:1::]:{port}/",
    "http://[fc00::1]:{port}/",
    "http://[fe80::1]:{port}/",
    "http://[fe80::1%25lo]:{port}/",
    "http://[::]:{port}/",
    "http://0.0.0.0:{port}/",
    "http://10.0.0.1:{port}/",
    "http://192.168.0.1:{port}/",
    "http://172.16.0.1:{port}/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.64.0.1:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://017700000001:{port}/",
    "http://0x7f.0.0.1:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://127.1:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://127.0.0.1%2e:{port}/",
    "http://①②⑦.⓪.⓪.①:{port}/",
    "http://１２７.0.0.1:{port}/",
    "http://127。0。0。1:{port}/",
    "http://[v1.fe::1]:{port}/",
    "http://192.0.0.192:{port}/opc/v1/instance/",
    "http://168.63.129.16/?comp=versions",
    "http://inner.test:{port}/",
    "http://mixed.test:{port}/",
    "http://six.test:{port}/",
]


@over("address", INNER)
@over("listening", ["127.0.0.1", "::1"])
async def test_no_way_inside(address: str, listening: str) -> None:
    """No spelling of an inner address is ever connected to; nothing is said of such a link."""
    names = Names(
        inner_test=[["127.0.0.1"]],
        mixed_test=[[OUTSIDE, "127.0.0.1"]],
        six_test=[["::ffff:127.0.0.1"], ["::1"]],
        localhost=[["127.0.0.1", "::1"]],
    )
    async with site(statused, listening) as there:
        target = address.format(port=there.port)
        assert await probed_link(target, rules(names)) == "unknown"
        assert there.asked == []


@over("address", INNER)
async def test_no_redirect_inside(address: str) -> None:
    """Nor does a redirect lead there, from HEAD or from GET."""
    async with site(statused, "127.0.0.1") as inner:

        async def astray(_: web.Request) -> web.StreamResponse:
            """Send the visitor inside."""
            location = address.format(port=inner.port)
            return web.Response(
                status=302, headers={"Location": location.encode("ascii", "replace").decode()}
            )

        async with site(astray) as there:
            names = Names(
                site_test=[[OUTSIDE]],
                inner_test=[["127.0.0.1"]],
                mixed_test=[[OUTSIDE, "127.0.0.1"]],
                six_test=[["::1"]],
                localhost=[["127.0.0.1"]],
            )
            assert await probed_link(there.url(), rules(names)) == "unknown"
        assert inner.asked == []


async def test_rebinding() -> None:
    """A name is looked up once per request, and the connection goes to what was checked."""
    async with site(statused) as there, site(statused, INSIDE, there.port) as inner:
        names = Names(site_test=[[OUTSIDE], [INSIDE]])
        assert await probed_link(there.url("/404"), rules(names)) == "unknown"
        assert (len(there.asked), inner.asked) == (1, [])
        assert names.asked == ["site.test"] * 2


async def test_rebinding_on_a_redirect() -> None:
    """A redirect to the same name is looked up, and checked, anew."""

    async def again(_: web.Request) -> web.StreamResponse:
        """Send the visitor to the same host."""
        return web.Response(status=301, headers={"Location": "/secret"})

    async with site(again) as there, site(statused, INSIDE, there.port) as inner:
        names = Names(site_test=[[OUTSIDE], [INSIDE]])
        assert await probed_link(there.url(), rules(names)) == "unknown"
        assert inner.asked == []


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_redirects_are_followed(code: int) -> None:
    """What a redirect leads to counts, relative or on another host."""

    async def onwards(request: web.Request) -> web.StreamResponse:
        """Two steps to what is not there."""
        steps = {"/a": "b", "/b": f"http://other.test:{request.url.port}/404"}
        if request.path in steps:
            return web.Response(status=code, headers={"Location": steps[request.path]})
        return web.Response(status=404)

    async with site(onwards) as there:
        names = Names(site_test=[[OUTSIDE]], other_test=[[OUTSIDE]])
        assert await probed_link(there.url("/a"), rules(names)) == "broken"
        assert [path for _, path in there.asked] == ["/a", "/b", "/404"] * 2


async def test_endless_redirects() -> None:
    """Five redirects are enough."""

    async def loop(_: web.Request) -> web.StreamResponse:
        """Round and round."""
        return web.Response(status=302, headers={"Location": "/"})

    async with site(loop) as there:
        assert await probed_link(there.url(), rules()) == "unknown"
        assert len(there.asked) == 6


async def test_large_body() -> None:
    """Of a body of 100 MB next to nothing is taken in."""
    sent = 0

    async def flood(request: web.Request) -> web.StreamResponse:
        """100 MB, as fast as they are taken."""
        nonlocal sent
        if request.method == "HEAD":
            return web.Response(status=405)
        response = web.StreamResponse(headers={"Content-Length": str(100 * 2**20)})
        await response.prepare(request)
        try:
            for _ in range(1600):
                await response.write(b"x" * 2**16)
                sent += 2**16
        except ConnectionError:
            pass
        return response

    async with site(flood) as there:
        assert await probed_link(there.url(), rules()) == "fine"
        await asyncio.sleep(0)
    assert sent < 16 * 2**20


async def test_slow_body() -> None:
    """A body that never ends is not waited for."""
    gone = asyncio.Event()

    async def drip(request: web.Request) -> web.StreamResponse:
        """A byte now and then."""
        if request.method == "HEAD":
            return web.Response(status=501)
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b".")
                await asyncio.sleep(0.01)
        finally:
            gone.set()

    async with site(drip) as there:
        assert await probed_link(there.url(), rules()) == "fine"
        async with asyncio.timeout(60):
            await gone.wait()


async def test_slow_answer() -> None:
    """A server that never answers is given up; the link stays, and GET is not tried."""

    async def silent(_: web.Request) -> web.StreamResponse:
        """Nothing."""
        await asyncio.Event().wait()
        raise AssertionError

    async with site(silent) as there:
        assert await probed_link(there.url(), rules(seconds=1.5)) == "unknown"
        assert [method for method, _ in there.asked] == ["HEAD"]


async def test_slow_name() -> None:
    """Looking a name up is within the time, too."""

    class Never(Names):
        async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
            """No answer."""
            await asyncio.Event().wait()
            return []

    assert await probed_link("http://site.test/", rules(Never(), seconds=0.01)) == "unknown"


async def test_no_server_and_no_name() -> None:
    """No answer, no name and garbage for an answer leave a link as it is."""

    async def garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Something that is not HTTP."""
        writer.write(b"SSH-2.0-tea\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(garbage, OUTSIDE, 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert await probed_link(f"http://site.test:{port}/", rules()) == "unknown"
    assert await probed_link(f"http://site.test:{port}/", rules()) == "unknown"
    assert await probed_link("http://nowhere.test/", rules()) == "unknown"
    own = replace(rules(), names=aiohttp.ThreadedResolver)
    assert await probed_link(f"http://{'x' * 70}.test/", own) == "unknown"


@over(
    "target",
    [
        "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "//example.com", "",
        "http://", "http://ada:secret@example.com/", "http://ada@example.com/", "http://[::1",
        "http://example.com:22/", "http://example.com:25/", "http://example.com:0/",
        "http://example.com:99999/", "http://example.com/" + "x" * 2000, "http://%31%32%37.0.0.1/",
    ],
)  # fmt: skip
def test_not_of_the_web(target: str) -> None:
    """Other schemes, credentials, other services' ports and what can't be read are refused."""
    assert web_address(target) is None


@pytest.mark.parametrize(
    "target",
    ["http://example.com", "https://example.com:8443/a?b=c#d", "http://münchen.example/",
     "http://93.184.216.34/", "http://[2606:4700::1111]/"],
)  # fmt: skip
def test_of_the_web(target: str) -> None:
    """Common addresses are taken; the fragment is not sent."""
    url = web_address(target)
    assert url is not None and not url.fragment


async def test_a_few_at_a_time() -> None:
    """Of many addresses a few are asked at a time."""
    running = most = 0

    async def counted(_: web.Request) -> web.StreamResponse:
        """Count who is there."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return web.Response()

    async with site(counted) as there:
        targets = [there.url(f"/{number}") for number in range(8)]
        assert await link_states(targets, rules(at_once=3)) == dict.fromkeys(targets, "fine")
        assert (len(there.asked), most <= 3) == (8, True)
    assert await link_states([], rules()) == {}


async def test_cancelled() -> None:
    """Stopping the check stops every request."""

    async def silent(_: web.Request) -> web.StreamResponse:
        """Nothing."""
        await asyncio.Event().wait()
        raise AssertionError

    async with site(silent) as there:
        task = asyncio.create_task(link_states([there.url("/a"), there.url("/b")], rules()))
        while len(there.asked) < 2:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_endless_interim_answers() -> None:
    """A server that is always about to answer keeps nobody busy."""
    connections = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Interim answers until nobody listens."""
        nonlocal connections
        connections += 1
        try:
            while True:
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)
                await writer.drain()
        except OSError:
            writer.close()

    server = await asyncio.start_server(flood, OUTSIDE, 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert await probed_link(f"http://site.test:{port}/", rules(seconds=1)) == "unknown"
    assert connections == 1


async def test_this_machines_resolver() -> None:
    """Without a resolver of a test the machine's own one is asked; localhost is refused."""
    assert await probed_link("http://localhost:8080/", LinkRules()) == "unknown"


def test_own_addresses() -> None:
    """An address of this machine is not asked, nor one that is not public."""
    assert not is_foreign_address("127.0.0.1")
    assert not is_foreign_address("10.0.0.1")
    assert is_foreign_address("93.184.216.34")
    assert is_foreign_address("2606:4700::1111")


NOT_PUBLIC = [
    "127.0.0.1", "127.8.9.1", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255",
    "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.0.1", "192.0.2.1",
    "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1",
    "255.255.255.255", "192.88.99.1", "192.0.0.192", "168.63.129.16", "::ffff:168.63.129.16",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe",
    "64:ff9b::127.0.0.1", "64:ff9b::10.1.2.3", "64:ff9b::a9fe:a9fe", "64:ff9b:1::8.8.8.8",
    "2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:0:7f00:1::", "2001:db8::1",
    "2001:10::1", "2001:20::1", "3fff::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0",
    "fec0::1", "ff02::1", "100::1", "5f00::1", "::ffff:0:127.0.0.1", "2606:4700::1%1",
    "", "localhost", "127.1", "2130706433", "0x7f000001", "017700000001", "127.0.0.01",
]  # fmt: skip


@over("address", NOT_PUBLIC)
def test_not_public(address: str) -> None:
    """Loopback, private, link-local, reserved ones are not public, in whatever form they come."""
    assert not is_public_address(address)


@over("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "2a00:1450:4001:82a::200e"])
def test_public(address: str) -> None:
    """Addresses of the internet are."""
    assert is_public_address(address)


@over(
    "host",
    ["127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "017700000001", "0177.0.0.1",
     "1.2.3.4.5", "example.0x", "999.1.1.1"],
)  # fmt: skip
def test_disguised(host: str) -> None:
    """A number that a resolver takes for an address is refused."""
    assert web_address(f"http://{host}/") is None
