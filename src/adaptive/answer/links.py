"""Links of an answer: found, asked without being led into our own network, turned into searches.

Each connection is refused at its socket where the address is not public, be it named, linked,
redirected to or what a name's owner answers the second time (DNS rebinding). Nothing is sent but
the request: no cookies, no credentials, to no proxy; and no body is read.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import compress
from typing import Any
from urllib.parse import quote_plus, unquote_plus

import aiohttp
from yarl import URL

from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.scanning import spliced
from adaptive.privacy.secrets import find_secrets

_SEARCH = "https://duckduckgo.com/?q="
_LONGEST_SEARCH = 200
# Of one answer.
MOST_LINKS = 20
_MOST_REDIRECTS = 5
# For one address, redirects included.
_SECONDS = 8.0
_WEB_PORTS = (80, 443)
# Statuses below 500 that may be others the next time.
_MAY_PASS = (408, 429)
_HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; link check)"}
# Of IPv6 only global unicast; and what Python takes for global, but leads elsewhere: relays and
# protocol assignments (IANA special-purpose registries), a cloud's own (Azure), 6to4 (RFC 3056).
_IPV6_SITES = ipaddress.ip_network("2000::/3")
_NO_IPV4 = "192.88.99.0/24 192.0.0.0/24 168.63.129.16/32"
_NO_IPV6 = "2001::/23 2001:db8::/32 2002::/16 3fff::/20"
_NO_SITES = [
    ipaddress.ip_network(one) for one in f"{_NO_IPV4} {_NO_IPV6}".split()
]
# A link on one line; addresses may hold up to three pairs of brackets, texts one level.
_LINK = re.compile(
    r"(?<![!\\])\[(?P<text>(?:[^\[\]\\\n]|\\.|\[[^\[\]\\\n]{0,200}\]){1,300})\]"
    r"\([ \t]{0,9}<?(?P<target>https?:[^\s()<>]{1,2000}(?:\([^\s()]{0,500}\)[^\s()<>]{0,500}){0,3})"
    r">?(?:[ \t]{1,9}(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'))?[ \t]{0,9}\)",
    re.IGNORECASE,
)
# Fences as in CommonMark 0.31 (4.5), whatever quotes and indentation stand before them, and with a
# model's end mark glued to them; lines that are indented by four; code spans (6.1).
_FENCE_INDENT = r"[ \t>]{0,80}"
_CODE = re.compile(
    rf"^{_FENCE_INDENT}(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]{{1,4}})?"
    r"(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*(?P<body>[\s\S]*?)"
    rf"(?:\n{_FENCE_INDENT}(?P=fence)[`~]*(?=[ \t]*(?:$|</|<\|))|\Z)"
    r"|^(?: {4}|\t)[^\n]*$"
    rf"|(?<![\\`])(?P<ticks>`+)(?!`)(?:(?!\n{_FENCE_INDENT}(?:\n|```|~~~))[\s\S]){{1,1000}}?"
    r"(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE,
)


def masked_code(text: str) -> str:
    """The text with each sign of code replaced by a letter, so that all places stay the same."""
    return _CODE.sub(lambda code: "x" * len(code[0]), text)


def links_to_check(text: str) -> tuple[str, ...]:
    """The first different addresses that a text links to and that tell nothing of anybody.

    Pictures and code are left out. To ask an address that holds a secret or personal data would
    hand it over, as a text from a stranger may intend.
    """
    links = _LINK.finditer(masked_code(text))
    targets = dict.fromkeys(link["target"] for link in links)
    first = [*targets][:MOST_LINKS]
    return tuple(target for target in first if not _tells_of_somebody(target))


def _tells_of_somebody(target: str) -> bool:
    """Whether an address holds a secret or personal data."""
    text = f"{target} {unquote_plus(target)}"
    return bool(find_secrets(text)) or bool(find_personal_data(text))


def corrected_links(text: str, broken: Collection[str]) -> str:
    """The text with each broken link leading to a search for what it says, all else untouched."""
    pieces: list[tuple[int, int, str]] = []
    for link in _LINK.finditer(masked_code(text)):
        if link["target"] not in broken:
            continue
        words = re.sub(r"[*_`~\\\[\]]", "", text[slice(*link.span("text"))])
        if not any(map(str.isalnum, words)):
            words = link["target"]
        query = quote_plus(
            " ".join(words.split())[:_LONGEST_SEARCH], errors="replace"
        )
        pieces.append((*link.span("target"), f"{_SEARCH}{query}"))
    return spliced(text, pieces)


def is_public_site(address: str, port: int) -> bool:
    """Whether an IP address belongs to the public internet, and the port to its web."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if port not in _WEB_PORTS or not ip.is_global:
        return False
    if (
        ip.is_multicast
        or ip.is_reserved
        or any(ip in network for network in _NO_SITES)
    ):
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        return ip in _IPV6_SITES and not ip.scope_id
    return True


async def broken_links(
    targets: Sequence[str], turns: asyncio.Semaphore
) -> frozenset[str]:
    """Those of the addresses that lead nowhere, asked in ``turns``; raises nothing of the web's."""
    connector = aiohttp.TCPConnector(
        resolver=aiohttp.ThreadedResolver(),
        use_dns_cache=False,
        force_close=True,
        socket_factory=_public_socket,
    )
    client = aiohttp.ClientSession(
        connector=connector,
        headers=_HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    )
    async with client as session:
        checks = [_is_broken(session, turns, target) for target in targets]
        broken = await asyncio.gather(*checks)
    return frozenset(compress(targets, broken))


def _public_socket(address_info: tuple[Any, ...]) -> socket.socket:
    """A socket for an address; raises ``OSError`` where nobody may ask.

    Whatever names, disguises, or redirects to an address, it comes to this.
    """
    family, kind, protocol, _, (address, port, *_) = address_info
    if not is_public_site(address, port):
        raise OSError(
            f"{address!r} is not public, or port {port} is another service's"
        )
    return socket.socket(family, kind, protocol)


async def _is_broken(
    session: aiohttp.ClientSession, turns: asyncio.Semaphore, target: str
) -> bool:
    """Whether an address, redirects followed, is answered with 4xx.

    A time-out (408), too many requests (429), 5xx and no answer may pass. One that carries
    credentials is not asked.
    """
    # A host name may be too long for the resolver's code, which is a ``ValueError``.
    with suppress(aiohttp.ClientError, OSError, ValueError):
        async with turns, asyncio.timeout(_SECONDS):
            url = URL(target)
            if url.raw_user is not None or url.raw_password is not None:
                return False
            async with session.get(
                url, max_redirects=_MOST_REDIRECTS + 1
            ) as response:
                return (
                    400 <= response.status < 500
                    and response.status not in _MAY_PASS
                )
    return False
