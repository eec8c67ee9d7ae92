"""Asking the web whether addresses still lead somewhere, without being led into our own network.

Each address is resolved first, every result must be public, and the connection goes to just these
results: what the name's owner answers later (DNS rebinding) does not count. A redirect is another
address, to which all of this applies again. Nothing is sent but the request: no cookies, no
credentials, to no proxy; and no body is read.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

from yarl import URL

from adaptive.conversation.links import LinkState, link_state
from adaptive.conversation.public_address import imitates_address, is_public_address
from adaptive.conversation.response_head import asked_head

log_links = logging.getLogger("adaptive_memory.conversation")

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
IsPublic = Callable[[str], bool]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_LONGEST_ADDRESS = 2000
_WEB_PORTS = frozenset({80, 443})
_FIRST_FREE_PORT = 1024
# A resolver may take half a minute over a name whose owner wants that, and can't be stopped.
_LOOKUPS_AT_ONCE = 4


async def looked_up(host: str, port: int) -> Sequence[str]:
    """The addresses of a host as this machine's resolver knows them.

    Raises:
        OSError: there are none.
    """
    loop = asyncio.get_running_loop()
    asked = (host, port, socket.AF_UNSPEC, socket.SOCK_STREAM)
    found = await loop.run_in_executor(_lookups(), socket.getaddrinfo, *asked)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@cache
def _lookups() -> ThreadPoolExecutor:
    """Threads of our own: slow names must not take those in which the host does its work."""
    return ThreadPoolExecutor(_LOOKUPS_AT_ONCE, thread_name_prefix="adaptive-memory-lookup")


def is_foreign_address(address: str) -> bool:
    """Whether an address is public, and not one of this machine.

    What listens on a public address of ours may be shut to the outside by a firewall that does not
    stand between us and ourselves.
    """
    return is_public_address(address) and not is_own_address(address)


def is_own_address(address: str) -> bool:
    """Whether this machine has an address: only such a one can be bound.

    Where the system allows any (``ip_nonlocal_bind``), every one counts as ours.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as unused:
            unused.bind((address, 0))
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ProbeRules:
    """How addresses are asked: seconds per request with its redirects, and how many at a time.

    ``lookup`` and ``is_public`` are there for tests.
    """

    seconds: float = 8.0
    most: int = 20
    at_once: int = 5
    lookup: Lookup = looked_up
    is_public: IsPublic = is_foreign_address


async def link_states(targets: Sequence[str], rules: ProbeRules) -> dict[str, LinkState]:
    """What is known of the first addresses, by address; raises nothing of the network's."""
    turns = asyncio.Semaphore(max(rules.at_once, 1))

    async def state_in_turn(target: str) -> LinkState:
        """The state of one of them, when it is its turn."""
        async with turns:
            return await probed_link(target, rules)

    chosen = list(dict.fromkeys(targets))[: rules.most]
    states = await asyncio.gather(*(state_in_turn(target) for target in chosen))
    return dict(zip(chosen, states, strict=True))


async def probed_link(target: str, rules: ProbeRules) -> LinkState:
    """The state of one address: by HEAD, and where that brings no success, by GET.

    A time-out of HEAD is one of the site's; GET is not tried then.
    """
    state: LinkState = "unknown"
    for method in ("HEAD", "GET"):
        try:
            async with asyncio.timeout(rules.seconds):
                status = await _final_status(method, target, rules)
        except TimeoutError:
            log_links.debug("a link was not answered within %g s", rules.seconds)
            return "unknown"
        except (OSError, UnicodeError) as error:
            # Some servers hang up on HEAD; a host name may be too long for the resolver's code.
            log_links.debug("a link did not answer: %s", type(error).__name__)
            state = "unknown"
            continue
        if status is None:
            log_links.debug("a link leads to where nobody may ask")
            return "unknown"
        state = link_state(status)
        if state == "fine":
            break
    return state


async def _final_status(method: str, target: str, rules: ProbeRules) -> int | None:
    """The status at the end of the redirects; ``None`` if the way leads where it may not.

    Raises:
        OSError, UnicodeError: there is no answer.
    """
    url = web_address(target)
    for _ in range(_MOST_REDIRECTS + 1):
        addresses = await _public_addresses(url, rules) if url else ()
        if url is None or not addresses:
            return None
        head = await asked_head(method, url, addresses)
        if head.status not in _REDIRECTS or not head.location:
            return head.status
        url = web_address(head.location, url)
    return None


def web_address(target: str, base: URL | None = None) -> URL | None:
    """The address as it will be used; ``None`` of one that must not be asked.

    That is one which is not of the web, carries credentials, goes to another service's port, or
    disguises its host. A relative one counts from ``base``.
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
    disguised = imitates_address(host) or "%" in host
    return None if disguised else url.with_fragment(None)


async def _public_addresses(url: URL, rules: ProbeRules) -> tuple[str, ...]:
    """The addresses of a host; none where one of them is not public.

    Raises:
        OSError, UnicodeError: the host can't be looked up.
    """
    host, port = url.raw_host or "", url.port or 0
    try:
        addresses: Sequence[str] = [str(ipaddress.ip_address(host.strip("[]")))]
    except ValueError:
        addresses = await rules.lookup(host, port)
    return tuple(addresses) if all(map(rules.is_public, addresses)) else ()
