"""A model of the host: what comes back from it, and which one is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi import Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from adaptive.errors import ModelBusy, ModelRejected, ReplyUnusable
from adaptive.host.completion import HostCompleter, _body_of, learning_model

REQUEST = Request({"type": "http", "headers": []})


@pytest.mark.parametrize("reply", [{"choices": []}, [{"a": 1}], "text", None])
def test_plain_reply(reply: Any) -> None:
    """What is no response is the body itself."""
    assert _body_of(reply) is reply


def test_response() -> None:
    """A response's body is read as JSON, whatever its type says."""
    body = {"choices": [{"message": {"content": "Hi"}}]}
    assert _body_of(JSONResponse(body)) == body
    assert _body_of(PlainTextResponse(json.dumps(body))) == body


def test_response_of_a_busy_provider() -> None:
    """A provider's status comes back as a response; what it asks to wait is kept."""
    response = JSONResponse({"error": "slow down"}, 429, headers={"Retry-After": "7"})
    with pytest.raises(ModelBusy, match=r"HTTP 429.*slow down") as raised:
        _body_of(response)
    assert raised.value.retry_after == 7


def test_response_of_a_refusing_provider() -> None:
    """A refusal keeps its status, by which the format is changed."""
    with pytest.raises(ModelRejected, match="HTTP 400") as raised:
        _body_of(JSONResponse({"error": "response_format"}, 400))
    assert raised.value.status == 400


def test_stream() -> None:
    """A model that streams although it was asked not to has no usable answer."""
    with pytest.raises(ReplyUnusable, match="streams"):
        _body_of(StreamingResponse(iter([b"data: {}"])))


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff\xfe", b"[" * 100_000])
def test_response_without_json(body: bytes) -> None:
    """A page in the place of JSON is told as such."""
    with pytest.raises(ReplyUnusable, match="no JSON"):
        _body_of(Response(body))


async def test_chosen_model() -> None:
    """The valve's model is asked, whatever the chat's is."""
    chat_model = {"id": "gpt"}
    assert await learning_model(REQUEST, " small ", chat_model, direct=True) == "small"


def test_key() -> None:
    """The host's models are told apart from those of endpoints, and from each other."""
    keys = {HostCompleter(REQUEST, None, name).key for name in ("a", "b")}
    assert len(keys) == 2
    assert all(key.startswith("host:") for key in keys)
