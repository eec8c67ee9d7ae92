"""JSON over HTTP: what comes back, what is tried again and how long between."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from adaptive.core.errors import ModelBusy, ModelError, ModelRejected, ReplyUnusable
from adaptive.core.http import RetryPolicy, endpoint, failure, post_json, with_retry
from tests.loopback import Answer, Loopback, serving
from tests.rates import over

BODY = {"model": "m", "text": "žluťoučký 🐕"}
BUSY = ModelBusy("busy")


class Attempts:
    """A call that fails with each of ``failures`` in turn, then succeeds."""

    def __init__(self, *failures: Exception) -> None:
        self.calls = 0
        self._failures = list(failures)

    async def call(self) -> str:
        """One try."""
        self.calls += 1
        if self._failures:
            raise self._failures.pop(0)
        return "done"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses, which take no time and are as long as they may be."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(random, "uniform", max)
    return slept


@dataclass(frozen=True)
class Case:
    """How busy the model is, and the pauses that come of it."""

    id: str
    failures: tuple[ModelBusy, ...]
    policy: RetryPolicy
    pauses: list[float]


CASES = [
    Case("at once", (), RetryPolicy(3, 1.0), []),
    Case("doubling, 30 s at most", (BUSY,) * 5, RetryPolicy(5, 4.0), [4, 8, 16, 30, 30]),
    Case("asked for more", (ModelBusy("b", 60.0),), RetryPolicy(1, 1.0), [60]),
    Case("asked for less", (ModelBusy("b", 0.1),), RetryPolicy(1, 1.0), [1]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_pauses(case: Case, pauses: list[float]) -> None:
    """Pauses double from the first on; what the provider asks for is a minimum."""
    assert await with_retry(Attempts(*case.failures).call, case.policy) == "done"
    assert pauses == case.pauses


@pytest.mark.parametrize("last", [BUSY, ModelRejected("no", 400), ReplyUnusable("prose")])
async def test_last_failure_is_raised(last: ModelError, pauses: list[float]) -> None:
    """What is not busy is never tried again, and what stays busy is the caller's in the end."""
    attempts = Attempts(BUSY, BUSY, last)
    with pytest.raises(type(last)):
        await with_retry(attempts.call, RetryPolicy(2, 1.0))
    assert (attempts.calls, pauses) == (3, [1, 2])


async def test_cancelled_pause() -> None:
    """A time limit ends the pause at once, and nothing is tried after it."""
    attempts = Attempts(BUSY, BUSY)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await with_retry(attempts.call, RetryPolicy(5, 60.0))
    assert attempts.calls == 1


@pytest.mark.parametrize("base", [" https://x.test/v1 ", "https://x.test/v1/chat/completions/"])
def test_endpoint(base: str) -> None:
    """The address that an admin pastes leads to the same place, whole or not."""
    assert endpoint(base, "chat/completions") == "https://x.test/v1/chat/completions"


@over("status", [400, 401, 402, 403, 404, 408, 409, 413, 422, 425, 429, 500, 501, 503, 529])
def test_status(status: int) -> None:
    """What may be over soon is worth another try; what would fail again tells its status."""
    error = failure(status, "no", "7")
    if status in (408, 409, 425, 429) or (status >= 500 and status != 501):
        assert isinstance(error, ModelBusy)
        assert error.retry_after == 7
    else:
        assert isinstance(error, ModelRejected)
        assert error.status == status


@pytest.fixture
async def server() -> AsyncIterator[Loopback]:
    """A server whose answers the test chooses."""
    async with serving() as loopback:
        yield loopback


async def test_object_goes_and_comes(server: Loopback) -> None:
    """An object arrives as it was sent, with the key, and the answer is read."""
    server.will_answer(Answer({"said": "žluťoučký 🐕"}))
    assert await post_json(f"{server.url}/v1/x", BODY, "secret") == {"said": "žluťoučký 🐕"}
    (request,) = server.received
    assert (request.path, request.body) == ("/v1/x", BODY)
    assert request.headers["Authorization"] == "Bearer secret"


async def test_busy_provider(server: Loopback) -> None:
    """A busy provider's words are quoted, and the pause is the one that it asks for."""
    server.will_answer(Answer({"error": "overloaded"}, 503, {"Retry-After": "20"}))
    with pytest.raises(ModelBusy, match=r"HTTP 503: .*overloaded") as raised:
        await post_json(server.url, BODY, "")
    assert raised.value.retry_after == 20


@pytest.mark.parametrize(
    "answer", [Answer(hangs_up=True), Answer(b'{"a": ', breaks_off=True)], ids=["before", "within"]
)
async def test_closed_connection(server: Loopback, answer: Answer) -> None:
    """A connection that ends before or within the answer is worth another try."""
    server.will_answer(answer)
    with pytest.raises(ModelBusy, match="no answer from"):
        await post_json(server.url, BODY, "")


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>Sign in</html>", b"[]", b"\xff\xfe\x00", b"[" * 100_000],
    ids=["empty", "page", "list", "no text", "deep"],
)
async def test_no_object(server: Loopback, body: bytes) -> None:
    """A body that is no JSON object is told as such."""
    server.will_answer(Answer(body))
    with pytest.raises(ReplyUnusable, match="sent no JSON"):
        await post_json(server.url, BODY, "")


async def test_huge_reply(server: Loopback) -> None:
    """More than 32 MB are not read into the host's memory."""
    server.will_answer(Answer(b" " * (32 * 2**20 + 1)))
    with pytest.raises(ReplyUnusable, match="more than 33554432 bytes"):
        await post_json(server.url, BODY, "")


@pytest.mark.parametrize(
    "url", ["", "nowhere", "ftp://127.0.0.1/", "http://", "http://[::1", "//x"]
)
async def test_no_address(url: str) -> None:
    """What is no address of HTTP is told as such, and not tried again."""
    with pytest.raises(ReplyUnusable, match="can't call"):
        await post_json(url, BODY, "")


async def test_slow_reply_can_be_cancelled(server: Loopback) -> None:
    """A caller's time limit ends a slow answer at once."""
    server.will_answer(Answer(delay=60))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await post_json(server.url, BODY, "")
