"""Links found, asked on real local servers with every way into our network closed, corrected."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from adaptive.answer.links import (
    LinkRules,
    broken_links,
    corrected_links,
    is_foreign_address,
    is_public_address,
    links_to_check,
)
from tests.answer.sites import INSIDE, OUTSIDE, as_internet, site, statused
from tests.rates import over

GONE = "https://example.com/gone"
SEARCH = "https://duckduckgo.com/?q="


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
        ("[a](#here) [b](mailto:ada@example.com) [c](/path) [d](javascript:x)", 0),
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
    text = " ".join(f"[x](https://example.com/{number % 50})" for number in range(100))
    assert links_to_check(text) == tuple(f"https://example.com/{n}" for n in range(20))
    for told in ("ana@example.org", "ana%40example.org", "&token=8f3kdJ29slwPq0aZx81LmNv4"):
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
        self.names = {name.replace("_", "."): list(answers) for name, answers in names.items()}

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        """The next addresses of a host."""
        if not (answers := self.names.get(host)):
            raise OSError("unknown name")
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        families = [socket.AF_INET6 if ":" in one else socket.AF_INET for one in found]
        told: dict[str, Any] = {"hostname": host, "port": port, "proto": 0, "flags": 0}
        return [
            ResolveResult(**told, host=one, family=family)
            for one, family in zip(found, families, strict=True)
        ]

    async def close(self) -> None:
        """Nothing is open."""


def rules(seconds: float = 8.0, **names: Sequence[Sequence[str]]) -> LinkRules:
    """Rules under which ``site.test`` is the outside server, unless a test says otherwise."""
    resolver = Names(**{"site_test": [[OUTSIDE]], **names})
    return LinkRules(seconds, lambda: resolver, as_internet)


async def is_broken(target: str, rules: LinkRules) -> bool:
    """Whether one address leads nowhere."""
    return bool(await broken_links([target], rules))


@pytest.mark.parametrize("status", [200, 204, 403, 404, 408, 410, 429, 500, 503])
async def test_states(status: int) -> None:
    """4xx is broken, but for what passes; 5xx is not."""
    async with site() as there:
        broken = await is_broken(there.url(f"/{status}"), rules())
        assert broken is (status in (403, 404, 410))
        assert there.asked == [f"/{status}"]


async def test_redirects(monkeypatch: pytest.MonkeyPatch) -> None:
    """What five redirects lead to counts; nothing of ours is sent, and no proxy is asked."""
    monkeypatch.setenv("http_proxy", f"http://{INSIDE}:9")

    async def onwards(request: web.Request) -> web.StreamResponse:
        """Two steps to what is not there, or round and round."""
        steps = {"/a": "b", "/b": f"http://other.test:{request.url.port}/404", "/loop": "/loop"}
        headers = {"Location": steps[request.path]} if request.path in steps else {}
        response = web.Response(status=307 if headers else 404, headers=headers)
        response.set_cookie("track", "me")
        return response

    async with site(onwards) as there:
        assert await is_broken(there.url("/a"), rules(other_test=[[OUTSIDE]]))
        assert there.asked == ["/a", "/b", "/404"]
        assert not await is_broken(there.url("/loop"), rules())
        assert there.asked[3:] == ["/loop"] * 6
        assert not there.headers & {"cookie", "authorization", "referer", "x-forwarded-for"}


INNER = [
    "http://127.0.0.1:{port}/404",
    "http://localhost:{port}/404",
    "http://[::1]:{port}/404",
    "http://[::ffff:127.0.0.1]:{port}/404",
    "http://[64:ff9b::7f00:1]:{port}/404",
    "http://[2002:7f00:1::]:{port}/404",
    "http://[fe80::1%25lo]:{port}/404",
    "http://0.0.0.0:{port}/404",
    "http://169.254.169.254/latest/meta-data/",
    "http://2130706433:{port}/404",
    "http://0x7f000001:{port}/404",
    "http://0177.0.0.1:{port}/404",
    "http://127.1:{port}/404",
    "http://127.0.0.1.:{port}/404",
    "http://127.0.0.1%2e:{port}/404",
    "http://①②⑦.⓪.⓪.①:{port}/404",
    "http://127。0。0。1:{port}/404",
    "http://168.63.129.16/?comp=versions",
    "http://inner.test:{port}/404",
    "http://mixed.test:{port}/404",
    "http://six.test:{port}/404",
]
INNER_NAMES: dict[str, Any] = {
    "inner_test": [["127.0.0.1"]],
    "mixed_test": [[OUTSIDE, "127.0.0.1"]],
    "six_test": [["::ffff:127.0.0.1"], ["::1"]],
    "localhost": [["127.0.0.1", "::1"]],
}


@over("address", INNER)
async def test_no_way_inside(address: str) -> None:
    """No spelling of an inner address is connected to, be it linked or redirected to."""
    for listening in ("127.0.0.1", "::1"):
        async with site(statused, listening) as inner:
            target = address.format(port=inner.port)

            async def astray(_: web.Request, target: str = target) -> web.StreamResponse:
                """Send the visitor inside."""
                location = target.encode("ascii", "replace").decode()
                return web.Response(status=302, headers={"Location": location})

            async with site(astray) as there:
                for one in (target, there.url()):
                    assert not await is_broken(one, rules(**INNER_NAMES))
            assert inner.asked == []


async def test_rebinding() -> None:
    """A name is looked up, and checked, for each request, and the connection goes to just that."""

    async def again(request: web.Request) -> web.StreamResponse:
        """Send the visitor to the same host."""
        return web.Response(status=301, headers={"Location": "/404"})

    async with site(again) as there, site(statused, INSIDE, there.port) as inner:
        assert not await is_broken(there.url(), rules(site_test=[[OUTSIDE], [INSIDE]]))
        assert (there.asked, inner.asked) == (["/"], [])


async def test_slow_and_endless() -> None:
    """Who never answers, or never ends, is not waited for; a body is not read."""
    sent = 0

    async def trouble(request: web.Request) -> web.StreamResponse:
        """Nothing, or more than anybody wants."""
        nonlocal sent
        if request.path == "/silent":
            await asyncio.Event().wait()
        response = web.StreamResponse(status=404, headers={"Content-Length": str(100 * 2**20)})
        await response.prepare(request)
        try:
            for _ in range(1600):
                await response.write(b"x" * 2**16)
                sent += 2**16
        except ConnectionError:
            pass
        return response

    async with site(trouble) as there:
        assert await is_broken(there.url(), rules())
        assert not await is_broken(there.url("/silent"), rules(1.0))
    assert sent < 16 * 2**20


async def test_not_asked() -> None:
    """Other services' ports, and what carries credentials or is no address, are not asked."""
    async with site() as there:
        credentials = there.url("/404", "ada:secret@site.test")
        for target in (credentials, "http://site.test:22/", "http://site.test:99999/", "http://["):
            assert not await is_broken(target, rules())
        assert there.asked == []


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
    assert not is_public_address(address)
    assert not is_foreign_address(address)


@over("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "2a00:1450:4001:82a::200e"])
def test_public(address: str) -> None:
    """Addresses of the internet are, where they are not this machine's."""
    assert is_public_address(address)
    assert is_foreign_address(address)
