"""Requests of our own, apart from the running turn's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI, Request

from adaptive.host.requests import accepted_arguments, isolated_request, process_state


def running_request(**state: Any) -> Request:
    """The request of a turn, with what the host keeps on it."""
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/chat/completions",
        "headers": [(b"authorization", b"Bearer x"), (b"cookie", b"a=b")],
        "app": FastAPI(),
        "state": state,
    }
    return Request(scope)


def test_state_is_not_inherited() -> None:
    """Nothing that the host keeps for the turn reaches a call of ours but the session token."""
    turn = running_request(metadata={"chat_id": "c"}, direct=True, token="t")
    ours = isolated_request(turn)
    assert ours.state.token == "t"
    assert not hasattr(ours.state, "metadata")
    assert not hasattr(ours.state, "direct")


def test_state_is_not_changed() -> None:
    """What a call of ours leaves on its request does not reach the turn."""
    turn = running_request(metadata={"chat_id": "c"})
    isolated_request(turn).state.metadata = {"chat_id": "other"}
    assert turn.state.metadata == {"chat_id": "c"}


def test_without_token() -> None:
    """A request without a token gets none."""
    assert not hasattr(isolated_request(running_request()).state, "token")


def test_app_and_headers_are_the_same() -> None:
    """The call runs in the same app, with the headers and cookies of the user's request."""
    turn = running_request()
    ours = isolated_request(turn)
    assert ours.app is turn.app
    assert ours.headers == turn.headers
    assert ours.cookies == {"a": "b"}


def test_process_state() -> None:
    """One mapping lives on the app, for every request and every load of the plug-in."""
    turn = running_request()
    process_state(turn)["loaded"] = 1
    assert process_state(isolated_request(turn)) == {"loaded": 1}
    assert process_state(running_request()) == {}


@pytest.mark.parametrize("left_behind", [None, [], "text", SimpleNamespace()])
def test_process_state_that_is_none(left_behind: Any) -> None:
    """What stands in its place by accident gives way."""
    turn = running_request()
    turn.app.state.adaptive_memory = left_behind
    assert process_state(turn) == {}


def test_accepted_arguments() -> None:
    """Of the arguments those are passed on that the function of this release takes."""

    def of_0_9(memory_id: str, user: str) -> None: ...

    def of_0_12(memory_id: str, request: str, user: str, db: Any = None) -> None: ...

    arguments = {"memory_id": "m", "request": "r", "user": "u", "db": None}
    assert accepted_arguments(of_0_9, arguments) == {"memory_id": "m", "user": "u"}
    assert accepted_arguments(of_0_12, arguments) == arguments
