"""One HTTP request whose answer is read no further than its head, in bounded memory.

A general client would read on: interim answers without end, which cost it the event loop, bodies,
cookies, redirects. Here the connection goes to addresses that the caller has checked, no name is
looked up, and what a server may make us take in is known beforehand.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from yarl import URL

# The head of an answer; common servers send less, and refuse requests of more than 8 to 32 KB.
_HEAD_BYTES = 65_536
# 100 and 103 come before the answer itself (RFC 9110, 15.2; RFC 8297).
_MOST_INTERIM = 8
_SWITCHING = 101
_MOST_ADDRESSES = 4
_CONNECT_SECONDS = 3.0
_REQUEST_FIELDS = (
    "User-Agent: Mozilla/5.0 (compatible; link check)",
    "Accept: */*",
    "Connection: close",
)


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """What an answer says before its body; ``location`` is empty where there is none."""

    status: int
    location: str


async def asked_head(
    method: str, url: URL, addresses: Sequence[str], issuers: ssl.SSLContext | None = None
) -> ResponseHead:
    """Ask a web server at one of its addresses; the caller bounds the time.

    Certificates are verified against the host's name, by this machine's list of issuers unless
    another one is given. Nothing goes out but the request.

    Raises:
        OSError: there is no connection, or no answer that is one of HTTP/1.
        UnicodeError: the host can't be named in a certificate.
    """
    request = _request(method, url)
    reader, writer = await _connected(url, addresses, issuers)
    try:
        writer.write(request)
        await writer.drain()
        for _ in range(_MOST_INTERIM + 1):
            head = _read_head(await reader.readuntil(b"\r\n\r\n"))
            if head.status >= 200 or head.status == _SWITCHING:
                return head
        raise OSError("nothing but interim answers")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise OSError(f"no head of an answer: {type(error).__name__}") from None
    finally:
        writer.transport.abort()


def _request(method: str, url: URL) -> bytes:
    """The request as it is sent.

    Raises:
        OSError: the address has signs that have no place in one.
    """
    target, host = url.raw_path_qs, url.host_port_subcomponent or ""
    if not _printed().fullmatch(target) or not _printed().fullmatch(host):
        raise OSError("an address with odd signs")
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *_REQUEST_FIELDS, "", ""]
    return "\r\n".join(lines).encode("ascii")


async def _connected(
    url: URL, addresses: Sequence[str], issuers: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the first address that takes one; those of IPv4, which every site has, first.

    Raises:
        OSError: none does.
    """
    secure = url.scheme == "https"
    name = (url.raw_host or "").rstrip(".") if secure else None
    failure = OSError("no address")
    for address in sorted(addresses, key=lambda one: ":" in one)[:_MOST_ADDRESSES]:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                return await asyncio.open_connection(
                    address,
                    url.port,
                    ssl=(issuers or _verifying()) if secure else None,
                    server_hostname=name,
                    limit=_HEAD_BYTES,
                )
        except OSError as error:  # a time-out is one
            failure = error
    raise failure


def _read_head(head: bytes) -> ResponseHead:
    status = _status_line().match(head)
    if status is None:
        raise OSError("no answer of HTTP/1")
    location = _location_field().search(head)
    told = location[1].decode("utf-8", "replace").strip() if location else ""
    return ResponseHead(int(status[1]), told)


@cache
def _verifying() -> ssl.SSLContext:
    """How certificates are verified; reading the machine's list of issuers takes some 10 ms."""
    return ssl.create_default_context()


@cache
def _printed() -> re.Pattern[str]:
    return re.compile(r"[!-~]+")


@cache
def _status_line() -> re.Pattern[bytes]:
    return re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?=[ \r])")


@cache
def _location_field() -> re.Pattern[bytes]:
    return re.compile(rb"\r\nlocation:([^\r\n]*)\r\n", re.IGNORECASE)
