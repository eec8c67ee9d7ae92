"""JSON over HTTP, against a real server that behaves and misbehaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from email.utils import formatdate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.errors import ModelBusy, ModelRejected, ReplyUnusable
from adaptive.transport import endpoint, failure, post_json
from tests.loopback import Answer, Loopback, serving
from tests.rates import over

NOW = 1_700_000_000.0
BODY = {"model": "m", "words": "Biscuit 🐕", "half": "\ud800"}


@pytest.fixture
async def server() -> AsyncIterator[Loopback]:
    """A server whose answers the test chooses."""
    async with serving() as loopback:
        yield loopback


@pytest.mark.parametrize(
    "base",
    [
        "https://openrouter.ai/api/v1",
        "https://openrouter.ai/api/v1/",
        " https://openrouter.ai/api/v1// ",
        "https://openrouter.ai/api/v1/chat/completions",
        "https://openrouter.ai/api/v1/chat/completions/",
    ],
)
def test_endpoint(base: str) -> None:
    """The address that an admin pastes leads to the same place, whole or not."""
    whole = "https://openrouter.ai/api/v1/chat/completions"
    assert endpoint(base, "chat/completions") == whole


@over("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 524, 529, 599])
def test_busy(status: int) -> None:
    """What may be over soon is worth another try."""
    assert isinstance(failure(status, "later"), ModelBusy)


@over("status", [400, 401, 402, 403, 404, 413, 415, 422, 451, 501])
def test_rejected(status: int) -> None:
    """What would fail again is not, and tells its status."""
    error = failure(status, "never")
    assert isinstance(error, ModelRejected)
    assert error.status == status


@dataclass(frozen=True)
class Case:
    """A header ``Retry-After``, and the seconds that it means."""

    id: str
    header: str | None
    seconds: float | None


WAITS = [
    Case("none", None, None),
    Case("empty", "", None),
    Case("seconds", "7", 7),
    Case("fraction", "0.5", 0.5),
    Case("spaces", " 7 ", 7),
    Case("negative", "-3", 0),
    Case("date", formatdate(NOW + 90, usegmt=True), 90),
    Case("date that is over", formatdate(NOW - 90, usegmt=True), 0),
    Case("words", "in a while", None),
    Case("no number", "nan", 0),
]


@over("case", WAITS)
def test_retry_after(case: Case) -> None:
    """``Retry-After`` is read as seconds or as a date; what is neither is left out."""
    error = failure(429, "slow down", case.header, NOW)
    assert isinstance(error, ModelBusy)
    assert error.retry_after == case.seconds


@settings(deadline=None)
@given(st.text())
def test_any_retry_after(header: str) -> None:
    """No header makes reading it fail, or wait for less than no time."""
    error = failure(503, "busy", header, NOW)
    assert isinstance(error, ModelBusy)
    assert error.retry_after is None or error.retry_after >= 0


def test_failure_quotes_the_provider() -> None:
    """The text tells status and what the provider said, in bounds."""
    text = str(failure(402, "You have no credits left. " * 100))
    assert text.startswith("the model answered HTTP 402: 'You have no credits left.")
    assert len(text) < 300


async def test_object_goes_and_comes(server: Loopback) -> None:
    """An object arrives as it was sent, with the key, and the answer is read."""
    server.will_answer(Answer({"said": "žluťoučký 🐕"}))
    reply = await post_json(f"{server.url}/v1/x", BODY, "secret", NOW)
    assert reply == {"said": "žluťoučký 🐕"}
    (request,) = server.received
    assert (request.path, request.body) == ("/v1/x", BODY)
    assert request.headers["Authorization"] == "Bearer secret"


async def test_no_key_no_header(server: Loopback) -> None:
    """Without a key nothing is said about one: local servers refuse an empty one."""
    server.will_answer(Answer())
    await post_json(server.url, BODY, "", NOW)
    assert "Authorization" not in server.received[0].headers


async def test_status_with_retry_after(server: Loopback) -> None:
    """A busy provider's date is counted from the given time, and its words are quoted."""
    headers = {"Retry-After": formatdate(NOW + 20, usegmt=True)}
    server.will_answer(Answer({"error": "overloaded"}, 503, headers))
    with pytest.raises(ModelBusy, match=r"HTTP 503: .*overloaded") as raised:
        await post_json(server.url, BODY, "", NOW)
    assert raised.value.retry_after == 20


async def test_status_of_refusal(server: Loopback) -> None:
    """A refusal keeps its status, even with a body that is no text."""
    server.will_answer(Answer(b"\xff\xfe", 401))
    with pytest.raises(ModelRejected, match="HTTP 401") as raised:
        await post_json(server.url, BODY, "", NOW)
    assert raised.value.status == 401


@pytest.mark.parametrize(
    "answer", [Answer(hangs_up=True), Answer(b'{"a": ', breaks_off=True)], ids=["before", "within"]
)
async def test_closed_connection(server: Loopback, answer: Answer) -> None:
    """A connection that ends before or within the answer is worth another try."""
    server.will_answer(answer)
    with pytest.raises(ModelBusy, match="no answer from"):
        await post_json(server.url, BODY, "", NOW)


async def test_nobody_listens(unused_tcp_port: int) -> None:
    """A provider that is down is worth another try."""
    with pytest.raises(ModelBusy, match="no answer from"):
        await post_json(f"http://127.0.0.1:{unused_tcp_port}", BODY, "", NOW)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Sign in</html>",
        b"[]",
        b'"text"',
        b"null",
        b"{",
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
    ids=["empty", "page", "list", "text", "null", "half", "no text", "deep"],
)
async def test_no_object(server: Loopback, body: bytes) -> None:
    """A body that is no JSON object is told as such."""
    server.will_answer(Answer(body))
    with pytest.raises(ReplyUnusable, match="sent no JSON"):
        await post_json(server.url, BODY, "", NOW)


async def test_huge_reply(server: Loopback) -> None:
    """More than 32 MB are not read into the host's memory."""
    server.will_answer(Answer(b" " * (32 * 2**20 + 1)))
    with pytest.raises(ReplyUnusable, match="more than 33554432 bytes"):
        await post_json(server.url, BODY, "", NOW)


@pytest.mark.parametrize(
    "url", ["", "nowhere", "ftp://127.0.0.1/", "http://", "http://[::1", "//x"]
)
async def test_no_address(url: str) -> None:
    """What is no address of HTTP is told as such, and not tried again."""
    with pytest.raises(ReplyUnusable, match="can't call"):
        await post_json(url, BODY, "", NOW)


async def test_key_with_line_break(server: Loopback) -> None:
    """A key that was pasted with a line break in it can't smuggle a header in."""
    server.will_answer(Answer())
    with pytest.raises(ReplyUnusable, match="can't call"):
        await post_json(server.url, BODY, "secret\r\nX-Other: 1", NOW)
    assert server.received == []


async def test_slow_reply_can_be_cancelled(server: Loopback) -> None:
    """A caller's time limit ends a slow answer at once."""
    server.will_answer(Answer(delay=60))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await post_json(server.url, BODY, "", NOW)
