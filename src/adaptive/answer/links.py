"""Links of an answer: found, asked without being led into our own network, turned into searches.

A name is looked up once for each request, all of its addresses must be public, and the connection
goes to just these: what the name's owner answers later (DNS rebinding) does not count. A redirect
is another address, to which all of this applies again. Nothing is sent but the request: no cookies,
no credentials, to no proxy; and no body is read.
"""

from __future__ import annotations

import asyncio
import ipaddress
import itertools
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote_plus, unquote_plus

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from adaptive.answer.cleaning import masked_code
from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.secrets import find_secrets

LinkState = Literal["fine", "broken", "unknown"]

_LONGEST_SEARCH = 200
_LONGEST_ADDRESS = 2000
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_WEB_PORTS = frozenset({80, 443})
_FIRST_FREE_PORT = 1024
_HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; link check)"}
# Of IPv6 only global unicast; and what Python takes for global, but leads elsewhere: relays and
# protocol assignments (IANA special-purpose registries), a cloud's own (Azure), 6to4 (RFC 3056).
_IPV6_SITES = ipaddress.ip_network("2000::/3")
_NO_IPV4 = "192.88.99.0/24 192.0.0.0/24 168.63.129.16/32"
_NO_IPV6 = "2001::/23 2001:db8::/32 2002::/16 3fff::/20"
_NO_SITES = [ipaddress.ip_network(one) for one in f"{_NO_IPV4} {_NO_IPV6}".split()]
# A link on one line; addresses may hold up to three pairs of brackets, texts one level.
_LINK = re.compile(
    r"(?<![!\\])\[(?P<text>(?:[^\[\]\\\n]|\\.|\[[^\[\]\\\n]{0,200}\]){1,300})\]"
    r"\([ \t]{0,9}<?(?P<target>https?:[^\s()<>]{1,2000}(?:\([^\s()]{0,500}\)[^\s()<>]{0,500}){0,3})"
    r">?(?:[ \t]{1,9}(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'))?[ \t]{0,9}\)",
    re.IGNORECASE,
)


def links_to_check(text: str, most: int) -> tuple[str, ...]:
    """The first so many different addresses that a text links to and that tell nothing of anybody.

    Pictures and code are left out. To ask an address that holds a secret or personal data would
    hand it over, as a text from a stranger may intend.
    """
    different = dict.fromkeys(link["target"] for link in _LINK.finditer(masked_code(text)))
    return tuple(itertools.islice(filter(_tells_nothing, different), most))


def _tells_nothing(target: str) -> bool:
    read = (target, unquote_plus(target))
    return not any(find_secrets(text) or find_personal_data(text) for text in read)


def corrected_links(text: str, states: Mapping[str, LinkState], search_address: str) -> str:
    """The text with each broken link leading to a search for what it says, all else untouched.

    The query takes the place of ``%s`` in the search's address, or stands at its end.
    """
    kept: list[str] = []
    position = 0
    for link in _LINK.finditer(masked_code(text)):
        if states.get(link["target"]) != "broken":
            continue
        words = re.sub(r"[*_`~\\\[\]]", "", text[slice(*link.span("text"))])
        words = words if any(sign.isalnum() for sign in words) else link["target"]
        query = quote_plus(" ".join(words.split())[:_LONGEST_SEARCH], errors="replace")
        whole = search_address if "%s" in search_address else f"{search_address}%s"
        kept += [text[position : link.start("target")], whole.replace("%s", query)]
        position = link.end("target")
    return "".join([*kept, text[position:]])


def is_public_address(address: str) -> bool:
    """Whether an IP address belongs to the public internet."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address) and (found.scope_id or found not in _IPV6_SITES):
        return False
    odd = found.is_multicast or found.is_reserved or any(found in net for net in _NO_SITES)
    return found.is_global and not odd


def is_foreign_address(address: str) -> bool:
    """Whether an address is public, and not one of this machine, which could be bound.

    What listens on a public address of ours may be shut to the outside by a firewall that does not
    stand between us and ourselves.
    """
    if not is_public_address(address):
        return False
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as unused:
            unused.bind((address, 0))
    except OSError:
        return True
    return False


@dataclass(frozen=True, slots=True)
class LinkRules:
    """How addresses are asked: seconds per request with its redirects, and how many at a time.

    Few are, as a slow name holds one of the threads in which the host does its work. ``names``
    makes a resolver of aiohttp's; it and ``is_public`` are there for tests.
    """

    seconds: float = 8.0
    most: int = 20
    at_once: int = 2
    names: Callable[[], AbstractResolver] = aiohttp.ThreadedResolver
    is_public: Callable[[str], bool] = is_foreign_address


class PublicResolver(AbstractResolver):
    """Gives aiohttp the addresses of a host, and none where one of them is not public."""

    def __init__(self, names: AbstractResolver, is_public: Callable[[str], bool]) -> None:
        self._names, self._is_public = names, is_public

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses; raises ``OSError`` where nobody may ask."""
        found = await self._names.resolve(host, port, family)
        if not all(self._is_public(one["host"]) for one in found):
            raise OSError(f"{host!r} has an address that is not public")
        return found

    async def close(self) -> None:
        """Let go of what the names are looked up with."""
        await self._names.close()


async def link_states(targets: Sequence[str], rules: LinkRules) -> dict[str, LinkState]:
    """What is known of addresses, by address; raises nothing of the network's."""
    turns = asyncio.Semaphore(rules.at_once)
    resolver = PublicResolver(rules.names(), rules.is_public)
    connector = aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True)
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=_HEADERS,
        auto_decompress=False,
    ) as session:

        async def state_in_turn(target: str) -> LinkState:
            """How one link stands, two being asked at a time."""
            async with turns:
                return await _link_state(session, target, rules)

        return dict(zip(targets, await asyncio.gather(*map(state_in_turn, targets)), strict=True))


async def _link_state(session: aiohttp.ClientSession, target: str, rules: LinkRules) -> LinkState:
    """The state of one address: by HEAD, and where that brings no success, by GET.

    4xx is broken but for what passes: time-out (408) and too many requests (429). So may 5xx. A
    time-out of HEAD is one of the site's; GET is not tried then.
    """
    state: LinkState = "unknown"
    for method in ("HEAD", "GET"):
        try:
            async with asyncio.timeout(rules.seconds):
                status = await _final_status(session, method, target, rules)
        except TimeoutError:
            return "unknown"
        except (aiohttp.ClientError, OSError, ValueError):
            # Some servers hang up on HEAD; a host name may be too long for the resolver's code.
            state = "unknown"
            continue
        if status < 400:
            return "fine" if status >= 200 else "unknown"
        state = "broken" if status < 500 and status not in (408, 429) else "unknown"
    return state


async def _final_status(
    session: aiohttp.ClientSession, method: str, target: str, rules: LinkRules
) -> int:
    """The status at the end of the redirects; 0 if the way leads where it may not.

    Raises:
        aiohttp.ClientError, OSError, ValueError: there is no answer.
    """
    url = web_address(target, rules.is_public)
    for _ in range(_MOST_REDIRECTS + 1):
        if url is None:
            return 0
        async with session.request(method, url, allow_redirects=False) as response:
            location = response.headers.get("Location", "")
            if response.status not in _REDIRECTS or not location:
                return response.status
            url = web_address(location, rules.is_public, url)
    return 0


def web_address(
    target: str, is_public: Callable[[str], bool] = is_foreign_address, base: URL | None = None
) -> URL | None:
    """The address as it will be used; ``None`` of one that must not be asked.

    That is one which is not of the web, carries credentials, goes to another service's port, or
    names or disguises an address that is not public. A relative one counts from ``base``.
    """
    if len(target) > _LONGEST_ADDRESS:
        return None
    try:
        url = URL(target) if base is None else base.join(URL(target))
        host, port = url.raw_host, url.port
    except ValueError:
        return None
    if url.scheme not in ("http", "https") or not host or port is None:
        return None
    if url.raw_user is not None or url.raw_password is not None:
        return None
    if port not in _WEB_PORTS and port < _FIRST_FREE_PORT:
        return None
    return url.with_fragment(None) if _may_be_asked(host, is_public) else None


def _may_be_asked(host: str, is_public: Callable[[str], bool]) -> bool:
    """Whether a host is a name, or an address in the usual form that is public.

    Resolvers take ``127.1``, ``2130706433``, ``0x7f000001`` and ``017700000001`` for addresses, too
    (WHATWG URL, "ends in a number").
    """
    try:
        return is_public(str(ipaddress.ip_address(host.strip("[]"))))
    except ValueError:
        last = host.rstrip(".").rpartition(".")[2]
        return not (":" in host or "%" in host or re.fullmatch(r"\d+|0[xX][\da-fA-F]*", last))
