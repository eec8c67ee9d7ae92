"""What becomes of an answer: cleaned before it is stored, its broken links corrected behind it.

Cleaning takes out what a model left in by mistake: marks of its template, and JSON that it repeats.
Code stays as it is, and so does a mark that is spoken of.

Links are asked without being led into our own network. Each connection is refused at its socket
where the address is not public, be it named, linked, redirected to or what a name's owner answers
the second time (DNS rebinding). Nothing is sent but the request: no cookies, no credentials, to no
proxy; and no body is read.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from itertools import compress
from urllib.parse import quote_plus, unquote_plus

import aiohttp
from yarl import URL

from adaptive.core import (
    JsonMapping,
    JsonObject,
    closing_answer,
    compiled_patterns,
    log,
    message_text,
    messages_of,
    rewritten_answer,
    spoken_text,
)
from adaptive.privacy import find_personal_data, find_secrets, spliced
from adaptive.settings import Hook

_FORMS = compiled_patterns("answer_forms")
# Links that this process asks at a time: a slow name holds one of the host's worker threads.
_ASKED_AT_ONCE = 2
# The host stores what the outlets made of the answer, and other filters' outlets may be slow.
_STORED_SECONDS = 1.0
# A model that repeats itself is stopped within an object, mostly; rows that a user asks for are
# whole, and few.
_MOST_WANTED = 12
_LONGEST_REPEATED = 1000
_BETWEEN_OBJECTS = " \t\n,;"
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
_NO_SITES = (
    "224.0.0.0/3 192.88.99.0/24 192.0.0.0/24 168.63.129.16/32 "
    "::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20"
)
_CLOSED = [ipaddress.ip_network(network) for network in _NO_SITES.split()]


class AnswerCorrection:
    """Cleans and corrects answers; nothing in it belongs to one user."""

    def __init__(self) -> None:
        self._asking = asyncio.Semaphore(_ASKED_AT_ONCE)

    async def cleaned(self, hook: Hook, body: JsonObject) -> JsonObject:
        """An outlet's body whose answer is clean; the same object where it was, or none is wanted.

        The host stores what it gets back, and tells the page. What was wrong is counted in the
        turn's state and logged, without any text.
        """
        answer = closing_answer(messages_of(body))
        if not hook.settings.clean_answers or not answer:
            return body
        # In a thread: a long answer takes tens of milliseconds, and other chats go on.
        fields = await asyncio.to_thread(
            rewritten_answer, answer, cleaned_answer
        )
        clean = {**answer, **fields}
        # Up to 0.9 the content holds reasoning and calls of tools, too.
        is_empty = not spoken_text(message_text(clean))
        anomalies = ["sanitised"] if fields else []
        if is_empty:
            anomalies.append("empty_response")
        if anomalies:
            log.info("anomalies of an answer: %s", ", ".join(anomalies))
        if not fields:
            return body
        return {**body, "messages": [*body["messages"][:-1], clean]}

    def has_links(self, hook: Hook, body: JsonMapping) -> bool:
        """Whether an answer holds links that are to be checked; only stored ones are."""
        wanted = hook.settings.validate_links and hook.told_kind == "saved"
        return wanted and "](" in message_text(
            closing_answer(messages_of(body))
        )

    async def correct_links(self, hook: Hook) -> None:
        """Check the links of an answer that was given, and turn broken ones into searches.

        One correction is written, and only if the answer still says what it said when its links
        were checked. Nobody is told but the pages that show it.
        """
        await asyncio.sleep(_STORED_SECONDS)
        stored = hook.stored_answer
        said = await stored.said() or ""
        targets = await asyncio.to_thread(links_to_check, said)
        broken = await broken_links(targets, self._asking)
        if broken:
            await stored.rewrite(said, partial(corrected_links, broken=broken))


def cleaned_answer(text: str) -> str:
    """The answer without stray marks and runaway JSON."""
    return _without_runaway_json(_without_marks(text))


def _without_marks(text: str) -> str:
    """A text without its stray marks, and without the space that they would leave.

    A tag that is one of a pair is none (``<s>crossed out</s>`` is HTML). A single mark that is a
    word of its line is spoken of.
    """
    tags = {
        (tag[1], tag[2].lower())
        for tag in _FORMS["tag"].finditer(_FORMS["code"].sub("", text))
    }
    paired = {name for slash, name in tags if slash and ("", name) in tags}

    def cleaned(marks: re.Match[str]) -> str:
        """What stays of code, or of marks with the space around them."""
        names = {tag[2].lower() for tag in _FORMS["tag"].finditer(marks[0])}
        if marks["kept"] or names & paired:
            return marks[0]
        before = marks["before"] or ""
        after = marks["after"]
        if not marks.start() or marks.end() == len(text):
            return ""
        if before and not marks["more"] and "\n" not in before + after:
            return marks[0]
        return max(after, before, key=_line_breaks)

    return _FORMS["marks"].sub(cleaned, text)


def _line_breaks(space: str) -> int:
    """How many lines end in a space."""
    return space.count("\n")


def _without_runaway_json(text: str) -> str:
    """A text without the JSON that a model repeats until it is stopped, but for the first.

    It ends with equal objects, in prose or each in a fence of its own, and nothing but space and
    commas between them: it stops within one, or there are very many.
    """
    end_of_text = max(0, len(text) - 3 * _LONGEST_REPEATED)
    runs = [*_FORMS["repeated"].finditer(text, end_of_text)]
    if not runs:
        return text
    block = runs[-1]["object"]
    last_end = runs[-1].end()
    place = last_end
    first_end = place
    repeated = 0
    while text.endswith(block, 0, place):
        first_end = place
        place -= len(block)
        repeated += 1
        while place and text[place - 1] in _BETWEEN_OBJECTS:
            place -= 1
    rest = text[last_end:].strip(_BETWEEN_OBJECTS)
    is_runaway = block.startswith(rest) and (rest or repeated > _MOST_WANTED)
    repetition = slice(place, last_end)
    is_code = masked_code(text)[repetition] != text[repetition]
    if is_runaway and (block[0] == "`" or not is_code):
        return text[:first_end]
    return text


def masked_code(text: str) -> str:
    """The text with each sign of code replaced by a letter, so that all places stay the same."""
    return _FORMS["code"].sub(lambda code: "x" * len(code[0]), text)


def links_to_check(text: str) -> tuple[str, ...]:
    """The first different addresses that a text links to and that tell nothing of anybody.

    Pictures and code are left out. To ask an address that holds a secret or personal data would
    hand it over, as a text from a stranger may intend.
    """
    links = _FORMS["link"].finditer(masked_code(text))
    targets = dict.fromkeys(link["target"] for link in links)
    checked: list[str] = []
    for target in [*targets][:MOST_LINKS]:
        told = f"{target} {unquote_plus(target)}"
        if not (find_secrets(told) or find_personal_data(told)):
            checked.append(target)
    return tuple(checked)


def corrected_links(text: str, broken: Collection[str]) -> str:
    """The text with each broken link leading to a search for what it says, all else untouched."""
    pieces: list[tuple[int, int, str]] = []
    for link in _FORMS["link"].finditer(masked_code(text)):
        if link["target"] not in broken:
            continue
        label = text[slice(*link.span("text"))]
        words = _FORMS["word"].findall(label)
        searched = " ".join(words) or link["target"]
        query = quote_plus(searched[:_LONGEST_SEARCH], errors="replace")
        pieces.append((*link.span("target"), f"{_SEARCH}{query}"))
    return spliced(text, pieces)


def is_public_site(address: str, port: int) -> bool:
    """Whether an IP address belongs to the public internet, and the port to its web."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    is_open = ip.is_global and not any(ip in network for network in _CLOSED)
    # An address with a zone (RFC 4007) is of a network of ours.
    return is_open and port in _WEB_PORTS and "%" not in address


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


# What ``socket.getaddrinfo`` says of an address: family, kind, protocol, name, and where it is.
_AddressInfo = tuple[
    int, int, int, str, tuple[str, int] | tuple[str, int, int, int]
]


def _public_socket(address_info: _AddressInfo) -> socket.socket:
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
