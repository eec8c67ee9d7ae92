"""JSON over HTTP: what comes back, and what may be tried again."""

from __future__ import annotations

import pytest

from adaptive.core.providers import (
    ModelBusy,
    ModelError,
    ModelRejected,
    ReplyUnusable,
    endpoint,
    failure,
    post_json,
)
from tests.loopback import Answer, Loopback
from tests.rates import over

BODY = {"model": "m", "text": "žluťoučký 🐕"}


@pytest.mark.parametrize(
    "base", [" https://x.test/v1 ", "https://x.test/v1/chat/completions/"]
)
def test_endpoint(base: str) -> None:
    """The address that an admin pastes leads to the same place, whole or not."""
    assert (
        endpoint(base, "chat/completions")
        == "https://x.test/v1/chat/completions"
    )


@over(
    "status", [400, 401, 404, 408, 409, 413, 422, 425, 429, 500, 501, 503, 529]
)
def test_status(status: int) -> None:
    """What may be over soon is worth another try; what would fail again tells its status."""
    error = failure(status, "no", {"Retry-After": "7"})
    if status in (408, 409, 425, 429) or (status >= 500 and status != 501):
        assert isinstance(error, ModelBusy)
        assert error.retry_after == 7
    else:
        assert isinstance(error, ModelRejected)
        assert error.status == status


async def test_object_goes_and_comes(server: Loopback) -> None:
    """An object arrives as it was sent, with the key, and the answer is read, or why none came."""
    busy = Answer({"error": "overloaded"}, 503, {"Retry-After": "20"})
    server.will_answer(Answer({"said": "žluťoučký 🐕"}), busy)
    assert await post_json(f"{server.url}/v1/x", BODY, "secret") == {
        "said": "žluťoučký 🐕"
    }
    (request,) = server.received
    assert (request.path, request.body) == ("/v1/x", BODY)
    assert request.headers["Authorization"] == "Bearer secret"
    with pytest.raises(ModelBusy, match=r"an error \(HTTP 503\)$") as raised:
        await post_json(server.url, BODY, "")
    assert "overloaded" in raised.value.detail
    assert raised.value.retry_after == 20


@pytest.mark.parametrize(
    ("answer", "error", "reason"),
    [
        (Answer(hangs_up=True), ModelBusy, "does not answer"),
        (Answer(b'{"a": ', breaks_off=True), ModelBusy, "does not answer"),
        (Answer(b"<html>Sign in</html>"), ReplyUnusable, "can't be used"),
        (Answer(b"[]"), ReplyUnusable, "can't be used"),
        (Answer(b"\xff\xfe\x00"), ReplyUnusable, "can't be used"),
        (Answer(b"[" * 100_000), ReplyUnusable, "can't be used"),
    ],
    ids=["closed before", "closed within", "page", "list", "no text", "deep"],
)
async def test_no_answer(
    server: Loopback, answer: Answer, error: type[ModelError], reason: str
) -> None:
    """A connection that ends is worth another try; a body that is no JSON object is told."""
    server.will_answer(answer)
    with pytest.raises(error, match=reason):
        await post_json(server.url, BODY, "")


@pytest.mark.parametrize(
    "url", ["", "ftp://127.0.0.1/", "http://", "http://[::1"]
)
async def test_no_address(url: str) -> None:
    """What is no address of HTTP is told as such, and not tried again."""
    with pytest.raises(ReplyUnusable, match="does not answer"):
        await post_json(url, BODY, "")
