"""What calls of the host need, apart from the running turn's own request."""

from __future__ import annotations

import importlib.util
from typing import Any

from fastapi import FastAPI, Request

from adaptive.host.requests import (
    host_is_supported,
    host_request,
    isolated_request,
    process_state,
)


def running_request(**state: Any) -> Request:
    """The request of a turn, with what the host keeps on it."""
    headers = [(b"authorization", b"Bearer x"), (b"cookie", b"a=b")]
    return Request({"type": "http", "headers": headers, "app": FastAPI(), "state": state})


async def test_no_host() -> None:
    """Without Open WebUI, as here, none is supported or running, and nothing is raised."""
    assert importlib.util.find_spec("open_webui") is None
    assert host_is_supported() is False
    assert host_request() is None


def test_isolated_request() -> None:
    """A call of ours has the app, headers and token of the turn, and shares no state with it."""
    turn = running_request(metadata={"chat_id": "c"}, direct=True, token="t")
    ours = isolated_request(turn)
    assert (ours.app, ours.headers, ours.cookies) == (turn.app, turn.headers, {"a": "b"})
    assert ours.scope["state"] == {"token": "t"}
    ours.state.metadata = {"chat_id": "other"}
    assert turn.state.metadata == {"chat_id": "c"}


def test_process_state() -> None:
    """One mapping lives on the app, for every request and load."""
    turn = running_request()
    process_state(turn)["loaded"] = 1
    assert process_state(isolated_request(turn)) == {"loaded": 1}
    assert process_state(running_request()) == {}
